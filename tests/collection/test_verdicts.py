"""Small histories worked by hand: who hangs together with whom, and what is refused."""

from __future__ import annotations

import re

import pytest

from lookalike.collection.judged import Judged, Person, folded
from lookalike.collection.verdicts import Verdicts
from lookalike.decision import Decision
from lookalike.errors import Conflict


def log(*said: tuple) -> list[Decision]:
    """Decisions 1, 2, ... from (kind, sets, person, name, other); sets are letters."""
    return [Decision(number, "", one[0], tuple(one[1]), *one[2:]) for number, one in enumerate(said, 1)]


def taken(*said: tuple, apart: tuple = ()) -> Verdicts:
    found = Verdicts(apart)
    for one in log(*said):
        found.take(one)
    return found


def refused(before: list[tuple], last: tuple, apart: tuple = ()) -> str:
    """What the refusal says; nothing has changed by it."""
    verdicts, number = taken(*before, apart=apart), len(before) + 1
    state = repr(vars(verdicts))
    with pytest.raises(Conflict) as error:
        verdicts.take(Decision(number, "", last[0], tuple(last[1]), *last[2:]), new=True)
    names = ("names", "into", "direct")
    assert [repr(getattr(verdicts, name)) for name in names] == [
        repr(getattr(taken(*before), name)) for name in names
    ]
    assert all(verdicts.sets(each) == taken(*before).sets(each) for each in "abcd"), state
    return str(error.value)


def test_what_was_said_is_a_chain() -> None:
    judged = Judged(log(("same", "ab"), ("same", "bc"), ("different", "cd")))
    assert (judged.verdict("a", "c"), judged.verdict("c", "d"), judged.verdict("a", "d")) == (
        "same",
        "different",
        "different",
    )
    assert judged.confirmed("a") == ["b", "c"]
    assert judged.rejected("a") == ["d"]
    assert judged.rejected("d") == ["a", "b", "c"]
    assert (judged.people, judged.person_of("a"), judged.confirmed("x")) == ({}, None, [])


def test_the_last_word_on_a_pair_counts() -> None:
    assert Judged(log(("same", "ab"), ("different", "ba"))).verdict("a", "b") == "different"
    assert Judged(log(("different", "ab"), ("same", "ba"))).verdict("a", "b") == "same"
    assert Judged(log(("same", "ab"), ("unsure", "ab"))).confirmed("a") == []
    judged = Judged(log(("unsure", "ab"), ("same", "ac"), ("same", "cb")))
    assert judged.verdict("a", "b") == "same"


def test_a_name_reaches_along_the_chain() -> None:
    judged = Judged(
        log(("same", "ab"), ("name", "b", None, "Anna"), ("same", "cb"), ("name", "d", 2, "Anna"))
    )
    assert judged.people == {2: Person(2, "Anna", ("a", "b", "c", "d"))}
    assert judged.person_of("c") == judged.people[2]
    assert judged.verdict("a", "d") == "same"


def test_merged_people_are_one_under_the_second_name() -> None:
    said = [("name", "a", None, "Anna"), ("name", "b", None, "Bea"), ("merge", "", 1, "", 2)]
    verdicts = taken(*said, ("name", "c", 1, "x"), ("rename", "", 1, "Bee"))
    assert (verdicts.person("a"), verdicts.person("c"), verdicts.names[2]) == (2, 2, "Bee")
    assert Judged(log(*said)).people == {2: Person(2, "Bea", ("a", "b"))}


def test_who_is_split_off_takes_only_themselves() -> None:
    """c hung on Anna only through b, and stays; the tie of b and d, who leave together, stays too."""
    said = [("same", "ab"), ("same", "bc"), ("same", "bd"), ("name", "a", None, "Anna")]
    judged = Judged(log(*said, ("split", "bd", 4, "")))
    assert judged.people == {4: Person(4, "Anna", ("a", "c"))}
    assert (judged.verdict("b", "d"), judged.verdict("a", "b")) == ("same", None)
    judged = Judged(log(*said, ("split", "bd", 4, "Dora"), ("same", "de")))
    assert judged.people == {4: Person(4, "Anna", ("a", "c")), 5: Person(5, "Dora", ("b", "d", "e"))}


def test_seen_side_by_side() -> None:
    judged = Judged(log(("same", "ab")), [("a", "c"), ("b", "d"), ("a", "b")])
    assert judged.rejected("a") == judged.rejected("b") == ["c", "d"]
    assert (judged.verdict("a", "c"), judged.verdict("b", "c"), judged.verdict("a", "b")) == (
        "different",
        "different",
        "same",  # what was decided counts for more
    )


def test_an_undone_decision_says_nothing() -> None:
    undone = Decision(1, "", "same", ("a", "b"), undone=True)
    assert Judged([undone, Decision(2, "", "undo", other=1)]).verdict("a", "b") is None


NAMED = [("name", "a", None, "Anna"), ("name", "b", None, "Bea")]
REFUSED = [
    ([("same", "ab"), ("different", "bc")], ("same", "ac"), "'b' and 'c' were said to be .* in decision 2"),
    ([("same", "ab"), ("same", "bc")], ("different", "ac"), "one person by decision 1 and 2: undo one"),
    ([("same", "ab"), ("same", "bc")], ("unsure", "ac"), "one person by decision 1 and 2"),
    ([("same", "ab"), ("same", "bc"), ("same", "ac")], ("different", "ac"), "one person by decision 1 and 2"),
    ([("name", "ab", None, "Anna")], ("different", "ab"), "both belong to 'Anna' .person 1.: split one"),
    (NAMED, ("same", "ab"), "'a' belongs to 'Anna' .person 1. and 'b' to 'Bea' .person 2.: merge"),
    (NAMED, ("name", "ac", None, "Cora"), "'a' belongs to 'Anna' .person 1. already: rename"),
    (NAMED, ("name", "b", 1, "Anna"), "belongs to .*: merge these two people"),
    ([*NAMED, ("different", "ab")], ("merge", "", 1, "", 2), "different people in decision 3: undo"),
    ([*NAMED, ("merge", "", 1, "", 2)], ("merge", "", 1, "", 2), "merged into person 2 already"),
    ([("different", "ab")], ("name", "ab", None, "Anna"), "different people in decision 1"),
    ([], ("rename", "", 7, "Anna"), "no person 7"),
]


@pytest.mark.parametrize(("before", "last", "why"), REFUSED)
def test_contradictions_are_refused(before: list[tuple], last: tuple, why: str) -> None:
    assert re.search(why, refused(before, last))


def test_side_by_side_is_held_against_new_decisions_only() -> None:
    assert "seen at the same time" in refused([("same", "ab")], ("same", "ac"), (("b", "c"),))
    assert taken(("same", "ab"), ("same", "bc"), apart=(("a", "c"),)).sets("a") == ["a", "b", "c"]


def test_a_stranger_s_log_is_read_as_far_as_it_makes_sense(caplog: pytest.LogCaptureFixture) -> None:
    found = folded(log(("same", "ab"), ("rename", "", 7, "x"), ("split", "a", 9, ""), ("same", "bc")))
    assert found.sets("a") == ["a", "b", "c"]
    assert "decision 2 is passed over" in caplog.text
