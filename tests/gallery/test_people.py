"""Small histories worked by hand: who hangs together with whom, what is refused, what is left."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.errors import Conflict
from lookalike.gallery.decision_log import Decision
from lookalike.gallery.people import Judged, Person, Ties, Verdicts, folded, without_sets

# Ties.


POINTS = st.sampled_from(["a", "b", "c", "d", 1, 2])
STEPS = st.lists(st.tuples(st.booleans(), POINTS, POINTS).filter(lambda step: step[1] != step[2]))


def test_a_way_is_told_by_its_ties() -> None:
    ties = Ties()
    for number, (one, other) in enumerate(["ab", "bc", "cd", "da"], 1):
        ties.tie(one, other, number)
    assert ties.way("a", "c") in ([1, 2], [3, 4])
    assert ties.cut("a", "d") == 4
    assert ties.cut("a", "d") is None
    assert ties.way("a", "d") == [1, 2, 3]
    ties.tie("a", "b", 9)
    assert ties.of("a") == {"b": 9}


def test_somebody() -> None:
    ties = Ties()
    assert (ties.somebody("a"), ties.somebody(3), ties.together("a")) == (None, 3, {"a"})
    ties.tie("a", "b", 1)
    ties.tie("b", 3, 2)
    assert (ties.somebody("a"), ties.somebody("c")) == (3, None)
    ties.cut("b", "a")
    assert (ties.somebody("a"), ties.somebody("b"), sorted(map(str, ties.points()))) == (
        None,
        3,
        ["3", "a", "b"],
    )


@given(STEPS)
def test_groups_are_what_ties_lead_to(steps) -> None:
    """Held against a walk along all ties, after any ties and cuts."""
    ties, plain = Ties(), set()
    for number, (is_tie, one, other) in enumerate(steps):
        if is_tie:
            ties.tie(one, other, number)
            plain.add(frozenset((one, other)))
        else:
            assert (ties.cut(one, other) is not None) == (frozenset((one, other)) in plain)
            plain.discard(frozenset((one, other)))
        for point in ("a", "b", "c", "d", 1, 2):
            found = {point}
            while more := set().union(*(tie for tie in plain if tie & found), set()) - found:
                found |= more
            assert ties.together(point) == found
            people = {each for each in found if isinstance(each, int)}
            assert (ties.somebody(point) in people) if people else ties.somebody(point) is None


# Verdicts.


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


# Forgetting; `test_judging_histories` tries any history.


def left(said: list[tuple], gone: str) -> list[tuple]:
    """Number, kind, sets, person and name of what is left."""
    found = without_sets(log(*said), set(gone))
    return [(one.number, one.kind, "".join(one.sets), one.person, one.name) for one in found]


ANNA = ("name", "a", None, "Anna")


@pytest.mark.parametrize(
    ("said", "gone", "expected"),
    [
        # Verdicts go with either set.
        ([("same", "ab"), ("different", "bc"), ("unsure", "cd")], "b", [(3, "unsure", "cd", None, "")]),
        # Lists of sets get shorter, a person without any goes.
        ([("name", "ab", None, "Anna")], "a", [(1, "name", "b", None, "Anna")]),
        ([ANNA, ("rename", "", 1, "Ann"), ("name", "b", None, "Bea")], "a", [(3, "name", "b", None, "Bea")]),
        # The person stays for a set that was added later, or that hangs on them.
        ([ANNA, ("name", "b", 1, "Anna")], "a", [(1, "name", "", None, "Anna"), (2, "name", "b", 1, "Anna")]),
        ([ANNA, ("name", "b", 1, "Anna")], "b", [(1, "name", "a", None, "Anna")]),
        ([ANNA, ("same", "ab")], "a", []),
        # Who was merged goes with those they became.
        ([ANNA, ("name", "b", None, "Bea"), ("merge", "", 1, "", 2)], "ab", []),
        # Bea was split off from Anna: she is a person without Anna too.
        (
            [("name", "ab", None, "Anna"), ("split", "b", 1, "Bea")],
            "a",
            [(2, "split", "b", None, "Bea")],
        ),
        ([("name", "ab", None, "Anna"), ("split", "b", 1, "Bea")], "b", [(1, "name", "a", None, "Anna")]),
        # Bea has gone, but b still hangs together with no one.
        (
            [("same", "bc"), ("name", "abc", None, "Anna"), ("split", "b", 2, "")],
            "a",
            [(1, "same", "bc", None, ""), (2, "name", "bc", None, "Anna"), (3, "split", "b", 2, "")],
        ),
    ],
)
def test_what_is_left(said: list[tuple], gone: str, expected: list[tuple]) -> None:
    assert left(said, gone) == expected


def test_what_was_undone_goes_with_its_undoing() -> None:
    given = [
        Decision(1, "", "name", ("a",), None, "Anna", undone=True),
        Decision(2, "", "undo", other=1),
        Decision(3, "", "same", ("a", "b"), undone=True),
        Decision(4, "", "undo", other=3),
        Decision(5, "", "same", ("b", "c")),
    ]
    assert without_sets(given, {"a"}) == given[4:]
    assert without_sets(given, {"c"}) == given[:4]
