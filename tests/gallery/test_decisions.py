"""What the verbs of deciding return and refuse; any history of them is in `test_judging_histories`."""

from __future__ import annotations

import csv
import gc
import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from lookalike import Gallery
from lookalike.errors import BadInput, Conflict, NotFound
from lookalike.gallery import decisions
from lookalike.gallery.decision_log import Decision, OpenLog, draft
from lookalike.gallery.decisions import (
    accept,
    as_csv,
    decision_lines,
    judge,
    judged,
    merge,
    name,
    part,
    people_table,
    reject,
    rename,
    split,
    undo,
    undo_all,
)
from lookalike.gallery.people import Person
from tests.gallery.samples import a_file, a_set, sightings


@pytest.fixture
def gallery(tmp_path: Path) -> Iterator[Gallery]:
    with Gallery(tmp_path / "g", create=True) as opened:
        opened.keep_file(a_file(), [a_set(id, ord(id)) for id in "abcdef"], apart=[("e", "f")])
        yield opened


def test_one_decision_for_each_answer(gallery: Gallery) -> None:
    made = judge(gallery, "a", ["c", "b", "c"], "same")
    assert [(one.number, one.sets, new) for one, new in made] == [
        (1, ("a", "c"), True),
        (2, ("a", "b"), True),
    ]
    again = judge(gallery, "b", ["a", "d"], "same")
    assert [(one.number, new) for one, new in again] == [(2, False), (3, True)]
    assert judged(gallery).confirmed("a") == ["b", "c", "d"]


def test_another_verdict_replaces_the_first(gallery: Gallery) -> None:
    judge(gallery, "a", ["b"], "different")
    judge(gallery, "b", ["a"], "same")
    judge(gallery, "a", ["b"], "unsure")
    assert judged(gallery).verdict("a", "b") == "unsure"
    undo(gallery)
    assert judged(gallery).verdict("a", "b") == "same"


def test_all_or_none(gallery: Gallery) -> None:
    judge(gallery, "b", ["c"], "different")
    with pytest.raises(Conflict, match="undo that decision first"):
        judge(gallery, "a", ["b", "c", "d"], "same")
    with pytest.raises(NotFound, match="no set 'x'"):
        judge(gallery, "a", ["b", "x"], "same")
    assert len(gallery.decisions()) == 1


def test_seen_side_by_side(gallery: Gallery) -> None:
    with pytest.raises(Conflict, match="seen at the same time"):
        judge(gallery, "e", ["a", "f"], "same")
    assert judged(gallery).verdict("e", "f") == "different"
    assert judged(gallery).rejected("e") == ["f"]
    judge(gallery, "e", ["a"], "same")
    assert judged(gallery).rejected("a") == ["f"]


@pytest.mark.parametrize(
    ("act", "error", "why"),
    [
        (lambda g: judge(g, "a", ["a"], "same"), BadInput, "with itself"),
        (lambda g: judge(g, "a", [], "same"), BadInput, "one set at least"),
        (lambda g: judge(g, "a", "b", "same"), BadInput, "must come as a list"),
        (lambda g: judge(g, "a", ["b"], "maybe"), BadInput, "one of same, different, unsure, got 'maybe'"),
        (lambda g: judge(g, "x", ["b"], "same"), NotFound, "no set 'x'"),
        (lambda g: judge(g, "a", ["\ud800"], "same"), NotFound, "no set"),
        (lambda g: name(g, ["a"], "  "), BadInput, "from 1 to 200"),
        (lambda g: name(g, [], "Anna"), BadInput, "one set at least"),
        (lambda g: name(g, ["x"], "Anna"), NotFound, "no set 'x'"),
        (lambda g: name(g, ["a"], "", 7), NotFound, "no person 7"),
        (lambda g: rename(g, 7, "Anna"), NotFound, "no person 7"),
        (lambda g: merge(g, 7, 8), NotFound, "no person 7"),
        (lambda g: split(g, 7, ["a"]), NotFound, "no person 7"),
        (lambda g: undo(g, 7), NotFound, "no decision 7"),
        (lambda g: undo(g, 0), NotFound, "no decision 0"),
    ],
)
def test_refusals_leave_nothing(gallery: Gallery, act, error: type[Exception], why: str) -> None:
    with pytest.raises(error, match=why):
        act(gallery)
    assert gallery.decisions() == []


def test_naming_takes_whoever_was_confirmed(gallery: Gallery) -> None:
    judge(gallery, "a", ["b"], "same")
    assert name(gallery, ["a", "c"], "  Anna ") == Person(2, "Anna", ("a", "b", "c"))
    undo(gallery, 1)
    assert judged(gallery).people[2].sets == ("a", "b", "c")


def test_the_same_name_is_the_same_person(gallery: Gallery) -> None:
    anna = name(gallery, ["a"], "Anna")
    assert name(gallery, ["b"], "ANNA") == Person(anna.number, "Anna", ("a", "b"))
    assert name(gallery, ["c"], "", anna.number).sets == ("a", "b", "c")
    assert name(gallery, ["c"], "anna").sets == ("a", "b", "c")
    assert len(gallery.decisions()) == 3  # the last said nothing new
    with pytest.raises(Conflict, match="belongs to 'Anna'"):
        name(gallery, ["b"], "Bea")


def test_renaming(gallery: Gallery) -> None:
    anna, bea = name(gallery, ["a"], "Anna"), name(gallery, ["b"], "Bea")
    assert rename(gallery, anna.number, "ANNA").name == "ANNA"
    with pytest.raises(Conflict, match="called 'bea' already: merge"):
        rename(gallery, anna.number, "bea")
    rename(gallery, bea.number, "Bea")
    assert len(gallery.decisions()) == 3


def test_merging_and_splitting(gallery: Gallery) -> None:
    anna, bea = name(gallery, ["a", "b"], "Anna"), name(gallery, ["c"], "Bea")
    assert merge(gallery, anna.number, bea.number) == Person(bea.number, "Bea", ("a", "b", "c"))
    with pytest.raises(NotFound, match="was merged into person 2"):
        rename(gallery, anna.number, "x")
    with pytest.raises(BadInput, match="merged with itself"):
        merge(gallery, bea.number, bea.number)
    with pytest.raises(BadInput, match="all sets of 'Bea'"):
        split(gallery, bea.number, ["a", "b", "c"], "Cora")
    with pytest.raises(NotFound, match="'Bea' has no set 'd'"):
        split(gallery, bea.number, ["d"])
    with pytest.raises(Conflict, match="called 'bea' already"):
        split(gallery, bea.number, ["a"], "bea")
    cora = split(gallery, bea.number, ["b", "a"], "Cora")
    assert cora == Person(4, "Cora", ("a", "b"))
    assert split(gallery, 4, ["b"]) is None
    assert judged(gallery).person_of("b") is None
    undo(gallery)
    undo(gallery)
    assert undo(gallery).kind == "merge"
    assert set(judged(gallery).people.values()) == {anna, bea}


def test_undoing(gallery: Gallery) -> None:
    assert undo(gallery) is None
    first, second = (one for one, _ in judge(gallery, "a", ["b", "c"], "same"))
    assert undo(gallery, first.number) == first
    with pytest.raises(Conflict, match="undone already"):
        undo(gallery, first.number)
    with pytest.raises(Conflict, match="is final"):
        undo(gallery, 3)
    assert undo(gallery) == second
    assert undo(gallery) is None
    assert [one.undone for one in gallery.decisions()] == [True, True, False, False]


def test_undoing_several_is_all_or_none(gallery: Gallery) -> None:
    judge(gallery, "a", ["b", "c", "d"], "same")
    anna = name(gallery, ["e"], "Anna")
    rename(gallery, anna.number, "Ann")
    for numbers, error, why in (
        ([1, 7], NotFound, "no decision 7"),
        ([1, 4], Conflict, "decision 5 builds on one of decisions 1, 4: undo 5 first"),
    ):
        with pytest.raises(error, match=why):
            undo_all(gallery, numbers)
        assert len(gallery.decisions()) == 5
    assert [one.number for one in undo_all(gallery, [4, 5, 1, 4])] == [5, 4, 1]
    assert judged(gallery).confirmed("a") == ["c", "d"]
    assert [one.number for one in undo_all(gallery, None)] == [3]
    assert judged(gallery).confirmed("a") == ["c"]
    with pytest.raises(Conflict, match="undone already"):
        undo_all(gallery, [2, 3])
    assert judged(gallery).confirmed("a") == ["c"]


def test_whoever_is_rejected_is_rejected_with_everybody_tied_to_them(gallery: Gallery) -> None:
    judge(gallery, "a", ["b"], "different")
    judge(gallery, "b", ["c"], "same")
    judge(gallery, "f", ["d"], "same")
    known = judged(gallery)
    assert (known.rejected("a"), known.rejected("c"), known.rejected("e")) == (["b", "c"], ["a"], ["d", "f"])
    assert known.verdict("a", "c") == known.verdict("c", "a") == known.verdict("d", "e") == "different"
    with pytest.raises(Conflict):
        judge(gallery, "a", ["c"], "same")


def test_what_is_new_is_what_was_stored(gallery: Gallery) -> None:
    def new(verb, *given) -> list[int]:
        with gallery.deciding() as log:
            verb(log, *given)
        return [one.number for one in log.new]

    assert new(name, ["a", "b"], "Ada") == [1]
    assert new(name, ["c"], "Bea") == [2]
    assert new(name, ["b"], "ada") == []
    assert new(rename, 2, "Bee") == [3]
    assert new(rename, 2, "Bee") == []
    assert new(merge, 2, 1) == [4]
    assert new(split, 1, ["c"]) == [5]
    assert new(judge, "c", ["d", "e"], "same") == [6, 7]
    assert new(judge, "c", ["e", "f"], "unsure") == [8, 9]
    assert new(undo_all, [9, 8]) == [10, 11]
    assert [one.number for one in gallery.decisions()] == list(range(1, 12))


def test_verbs_on_an_open_log_are_stored_together_or_not_at_all(gallery: Gallery) -> None:
    with gallery.deciding() as log:
        anna = name(log, ["a"], "Anna")
        judge(log, "a", ["b"], "same")
        assert rename(log, anna.number, "Ann") == Person(anna.number, "Ann", ("a", "b"))
    assert judged(gallery).people == {1: Person(1, "Ann", ("a", "b"))}

    def contradict() -> None:
        with gallery.deciding() as log:
            name(log, ["c"], "Cora")
            judge(log, "e", ["f"], "same")

    with pytest.raises(Conflict, match="at the same time"):
        contradict()
    assert len(gallery.decisions()) == 3
    assert judged(gallery).person_of("c") is None


def test_nothing_is_stored_of_a_name_that_nobody_can_see(gallery: Gallery) -> None:
    name(gallery, ["a", "b"], "Ada")
    for verb, given in ((name, (["c"], "\u200b")), (rename, (1, "\u2800")), (split, (1, ["b"], "\u3164"))):
        with pytest.raises(BadInput, match="can be seen"):
            verb(gallery, *given)  # type: ignore[operator]
    assert len(gallery.decisions()) == 1


def test_who_is_told_of_a_person_does_not_stumble_over_others(
    gallery: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is decided is undone by somebody else before the verb returns."""
    deciding = gallery.deciding

    @contextmanager
    def meddled() -> Iterator[OpenLog]:
        with deciding() as log:
            yield log
        for one in reversed(log.new):
            with deciding() as later:
                later.add([draft("undo", other=one.number)])

    anna, bea = name(gallery, ["a", "b"], "Anna"), name(gallery, ["c"], "Bea")
    monkeypatch.setattr(gallery, "deciding", meddled)
    assert name(gallery, ["d"], "Cora") == Person(3, "Cora", ("d",))
    assert name(gallery, ["d"], "anna") == Person(anna.number, "Anna", ("a", "b", "d"))
    assert rename(gallery, anna.number, "Ann") == Person(anna.number, "Ann", ("a", "b"))
    assert merge(gallery, anna.number, bea.number) == Person(bea.number, "Bea", ("a", "b", "c"))
    cora = split(gallery, anna.number, ["b"], "Cora")
    assert cora is not None
    assert (cora.name, cora.sets) == ("Cora", ("b",))
    assert set(judged(gallery).people) == {anna.number, bea.number}


def test_undoing_what_others_build_on(gallery: Gallery) -> None:
    anna = name(gallery, ["a"], "Anna")
    rename(gallery, anna.number, "Ann")
    with pytest.raises(Conflict, match="decision 2 builds on decision 1: undo 2 first"):
        undo(gallery, 1)
    judge(gallery, "b", ["c"], "different")
    judge(gallery, "b", ["c"], "same")
    judge(gallery, "c", ["d"], "same")
    undo(gallery, 4)
    assert judged(gallery).verdict("b", "c") == "different"


def test_tables(gallery: Gallery) -> None:
    judge(gallery, "a", ["b"], "same")
    name(gallery, ["a"], "=Anna")
    rows = decisions.decisions_table(gallery)
    assert [row["what"] for row in rows] == ["same", "name", "name"]
    assert decisions.as_csv(rows).splitlines()[1].startswith("1,20")
    people = decisions.people_table(gallery)
    assert [(row["person"], row["name"], row["set"]) for row in people] == [
        (2, "=Anna", "a"),
        (2, "=Anna", "b"),
    ]
    assert "2,'=Anna,a," in decisions.as_csv(people)


def test_asking_again_is_free(gallery: Gallery) -> None:
    judge(gallery, "a", ["b"], "same")
    before = judged(gallery)
    assert judged(gallery) is before
    gallery.add(a_set("new", 99))
    assert judged(gallery) is before
    judge(gallery, "a", ["c"], "same")
    assert judged(gallery) is not before


def test_a_closed_gallery_is_let_go(tmp_path: Path) -> None:
    gc.collect()  # those of other tests
    with Gallery(tmp_path / "other", create=True) as opened:
        judged(opened)
        before = len(decisions._LAST)
    del opened
    gc.collect()
    assert len(decisions._LAST) == before - 1


# Tables.


def test_a_row_for_each_set_of_a_decision() -> None:
    log = [
        Decision(1, "now", "same", ("a", "b"), undone=True),
        Decision(2, "now", "name", ("a", "c"), None, "Anna"),
        Decision(3, "now", "split", ("c",), 2, "Bea"),
        Decision(4, "now", "merge", (), 3, "", 2),
        Decision(5, "now", "undo", other=1),
    ]
    found = [
        [row[key] for key in ("number", "what", "query", "target", "person", "name")]
        for row in decision_lines(log)
    ]
    assert found == [
        [1, "same", "a", "b", None, None],
        [2, "name", None, "a", 2, "Anna"],
        [2, "name", None, "c", 2, "Anna"],
        [3, "split", None, "c", 2, "Bea"],
        [4, "merge", None, None, 3, None],
        [5, "undo", None, None, None, None],
    ]
    assert [row["undone"] for row in decision_lines(log)] == [True] + 5 * [False]
    assert [row["other"] for row in decision_lines(log)] == [None, None, None, None, 2, 1]


def test_people_by_name_with_times(tmp_path: Path) -> None:
    with Gallery(tmp_path / "g", create=True) as gallery:
        film = a_set("film", 1)
        seen = sightings(len(film))
        gallery.add(replace(film, origin="a film", sightings=seen))
        gallery.add(a_set("other", 2))
        name(gallery, ["other"], "bea")
        name(gallery, ["film"], "Anna")
        rows = [tuple(row.values()) for row in people_table(gallery)]
        times = [float(one.time) for one in seen if one.time is not None]
        assert rows == [
            (2, "Anna", "film", "a film", min(times), max(times)),
            (1, "bea", "other", "", None, None),
        ]


@pytest.mark.parametrize(
    "bad", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "  =1", "＝1", "－1"]
)
def test_nothing_is_a_formula(bad: str) -> None:
    rows = list(csv.reader(io.StringIO(as_csv([{"name": bad, "x": -1}]), newline="")))
    assert rows == [["name", "x"], [f"'{bad}", "-1"]]


@pytest.mark.parametrize("text", ['a,"b"', "two\nlines", "ä 名", "'=1", "1-2"])
def test_other_text_is_kept(text: str) -> None:
    assert list(csv.reader(io.StringIO(as_csv([{"name": text}]), newline="")))[1] == [text]


def test_no_rows_no_text() -> None:
    assert as_csv([]) == ""


# Proposed people.


def test_an_accepted_proposal_ties_all_its_sets(gallery: Gallery) -> None:
    decision = accept(gallery, ["c", "a", "b", "a"])
    assert decision is not None
    assert (decision.number, decision.kind, decision.sets) == (1, "join", ("a", "b", "c"))
    assert judged(gallery).confirmed("b") == ["a", "c"]
    assert accept(gallery, ["b", "c"]) is None
    with pytest.raises(Conflict, match="one person by decision 1: undo"):
        judge(gallery, "b", ["c"], "different")
    assert name(gallery, ["b"], "Ann").sets == ("a", "b", "c")
    undo_all(gallery, [2, 1])
    assert judged(gallery).confirmed("b") == []


def test_a_proposal_that_something_contradicts_is_refused(gallery: Gallery) -> None:
    with pytest.raises(Conflict, match="seen at the same time"):
        accept(gallery, ["a", "e", "f"])
    judge(gallery, "a", ["b"], "different")
    with pytest.raises(Conflict, match="different people in decision 1"):
        accept(gallery, ["a", "b", "c"])
    name(gallery, ["c"], "Ann")
    name(gallery, ["d"], "Bob")
    with pytest.raises(Conflict, match="merge these two people"):
        accept(gallery, ["c", "d"])
    with pytest.raises(BadInput, match="two sets at least"):
        accept(gallery, ["a"])
    with pytest.raises(NotFound):
        accept(gallery, ["a", "nowhere"])
    assert len(gallery.decisions()) == 3


def test_parted_sets_are_rejected_for_those_that_stay(gallery: Gallery) -> None:
    assert part(gallery, ["b", "a"], ["d", "c"]).sets == ("a", "b", "c", "d")
    known = judged(gallery)
    assert known.rejected("a") == ["c", "d"]
    assert known.verdict("b", "d") == "different"
    assert known.verdict("a", "b") is None
    accept(gallery, ["a", "b"])
    with pytest.raises(Conflict, match="undo"):
        part(gallery, ["a"], ["b", "e"])
    with pytest.raises(BadInput, match="either leaves or stays"):
        part(gallery, ["a"], ["a", "e"])
    undo(gallery, 1)
    assert judged(gallery).rejected("a") == []


def test_what_is_forgotten_leaves_answers_to_proposals(gallery: Gallery) -> None:
    accept(gallery, ["a", "b"])
    reject(gallery, ["a", "b", "c"])
    part(gallery, ["a", "c"], ["d", "e"])
    gallery.remove(["a"])
    left = gallery.decisions()
    assert [(one.kind, one.sets) for one in left] == [("reject", ("b", "c")), ("part", ("c", "d", "e"))]
    assert left[1].sides == (("c",), ("d", "e"))
    gallery.remove(["c"])
    assert gallery.decisions() == []
