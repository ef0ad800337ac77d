"""Any history of decisions says what a plain model of it says, is refused where that contradicts itself."""

from __future__ import annotations

import logging
import shutil
import tempfile
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from lookalike import Gallery
from lookalike.errors import BadInput, Conflict, NotFound
from lookalike.gallery import decisions
from lookalike.gallery.decision_log import VERDICTS, Decision
from tests.gallery.samples import QUICK, a_file, a_set, raw
from tests.plain_verdicts import Contradiction, PlainVerdicts

IDS = ("b", "a", "ä/1", "Z 9", "名", "c")
SETS = st.sampled_from(IDS)
SEVERAL = st.lists(SETS, min_size=1, max_size=3, unique=True)
# Long and strange enough to be found nowhere else in the file.
NAMES = st.sampled_from(["Xanthippe-of-K", "xanthippe-OF-K", "Quillon-Zweig", "Ömer-Vander", "=1+1-Yrsa"])


class DecisionHistories(RuleBasedStateMachine):
    """Decisions in a gallery, beside a plain model that is worked out from scratch."""

    @initialize(pairs=st.lists(st.tuples(SETS, SETS).filter(lambda pair: pair[0] != pair[1]), max_size=2))
    def start(self, pairs: list[tuple[str, str]]) -> None:
        self.folder = Path(tempfile.mkdtemp(dir=QUICK))
        self.path = self.folder / "x.gallery"
        self.gallery = Gallery(self.path, create=True)
        self.gallery.keep_file(a_file(), [a_set(id, number) for number, id in enumerate(IDS)], apart=pairs)
        self.given: set[str] = set()

    # What the model makes of it.

    def apart(self) -> list[frozenset]:
        return [frozenset(pair) for pair in self.gallery.apart()]

    def model(self, *more: Decision) -> PlainVerdicts:
        return PlainVerdicts([*self.gallery.decisions(), *more])

    def fits(self, *more: Decision) -> bool:
        """Whether new decisions contradict neither the others nor what was seen side by side."""
        before = self.model()
        try:
            after = self.model(*more)
        except Contradiction:
            return False
        return not any(after.are_one(*pair) and not before.are_one(*pair) for pair in self.apart())

    def attempt(self, act: Callable[[], object], *expected: Decision) -> None:
        log = self.gallery.decisions()
        if self.fits(*expected):
            act()
        else:
            with pytest.raises(Conflict, match=r"\w"):
                act()
            assert self.gallery.decisions() == log

    def next(self) -> int:
        """Any number that no decision has."""
        return max((one.number for one in self.gallery.decisions()), default=0) + 1

    def people(self) -> list[int]:
        return sorted(decisions.judged(self.gallery).people)

    # Rules.

    @rule(query=SETS, answers=SEVERAL, verdict=st.sampled_from(VERDICTS))
    def judge(self, query: str, answers: list[str], verdict: str) -> None:
        present = {query, *answers} <= set(self.gallery.ids())
        if query in answers or not present:
            with pytest.raises((BadInput, NotFound)):
                decisions.judge(self.gallery, query, answers, verdict)
            return
        given = [Decision(self.next() + n, "", verdict, (query, id)) for n, id in enumerate(answers)]
        standing = self.model().said
        new = [one for one in given if standing.get(frozenset(one.sets)) != verdict]
        self.attempt(lambda: decisions.judge(self.gallery, query, answers, verdict), *new)

    @rule(sets=SEVERAL, called=NAMES)
    def name(self, sets: list[str], called: str) -> None:
        if not set(sets) <= set(self.gallery.ids()):
            with pytest.raises(NotFound):
                decisions.name(self.gallery, sets, called)
            return
        people = self.model().people()
        known = next((n for n, (name, _) in people.items() if name.casefold() == called.casefold()), None)
        self.given.add(called)
        self.attempt(
            lambda: decisions.name(self.gallery, sets, called),
            Decision(self.next(), "", "name", tuple(sets), known, called),
        )

    @precondition(lambda self: self.people())
    @rule(data=st.data(), called=NAMES)
    def rename(self, data: st.DataObject, called: str) -> None:
        person = data.draw(st.sampled_from(self.people()))
        others = {name.casefold() for n, (name, _) in self.model().people().items() if n != person}
        if called.casefold() in others:
            with pytest.raises(Conflict, match="already"):
                decisions.rename(self.gallery, person, called)
        else:
            self.given.add(called)
            assert decisions.rename(self.gallery, person, called).name == called

    @precondition(lambda self: len(self.people()) > 1)
    @rule(data=st.data())
    def merge(self, data: st.DataObject) -> None:
        person, into = data.draw(st.permutations(self.people()))[:2]
        self.attempt(
            lambda: decisions.merge(self.gallery, person, into),
            Decision(self.next(), "", "merge", (), person, "", into),
        )

    @precondition(lambda self: self.people())
    @rule(data=st.data(), called=st.one_of(st.just(""), NAMES))
    def split(self, data: st.DataObject, called: str) -> None:
        person = data.draw(st.sampled_from(self.people()))
        own = decisions.judged(self.gallery).people[person].sets
        sets = data.draw(st.lists(st.sampled_from(own), min_size=1, unique=True))
        taken = called.casefold() in {name.casefold() for name, _ in self.model().people().values()}
        if len(sets) == len(own) or taken:
            with pytest.raises((BadInput, Conflict)):
                decisions.split(self.gallery, person, sets, called)
        else:
            self.given.add(called)
            decisions.split(self.gallery, person, sets, called)

    @precondition(lambda self: self.gallery.decisions())
    @rule(data=st.data(), last=st.booleans())
    def undo(self, data: st.DataObject, last: bool) -> None:
        log = self.gallery.decisions()
        standing = [one for one in log if one.kind != "undo" and not one.undone]
        if last:
            expected = standing[-1] if standing else None
            assert decisions.undo(self.gallery) == expected
            return
        one = data.draw(st.sampled_from(log))
        if one not in standing:
            with pytest.raises(Conflict):
                decisions.undo(self.gallery, one.number)
            return
        try:
            PlainVerdicts(each for each in log if each != one)
        except Contradiction:
            with pytest.raises(Conflict, match="builds on"):
                decisions.undo(self.gallery, one.number)
        else:
            decisions.undo(self.gallery, one.number)

    @rule(ids=st.lists(SETS, min_size=1, max_size=2, unique=True))
    def remove(self, ids: list[str]) -> None:
        """What is left says the same of the sets that are left, but for what followed through those gone."""
        if not set(ids) < set(self.gallery.ids()):
            return
        shorter = [
            Decision(
                one.number,
                one.made,
                one.kind,
                tuple(id for id in one.sets if id not in ids),
                one.person,
                one.name,
                one.other,
                one.undone,
            )
            for one in self.gallery.decisions()
            if one.kind not in VERDICTS or not set(one.sets) & set(ids)
        ]
        self.gallery.remove(ids)
        expected, found = PlainVerdicts(shorter), self.model()
        assert found.people() == expected.people()
        assert (found.said, found.different) == (expected.said, expected.different)
        content = raw(self.path)
        left = "\n".join(one.name for one in self.gallery.decisions())
        for name in self.given - {""}:
            assert (name.encode() in content) == (name in left), name

    @rule(number=st.integers(0, 5))
    def add_back(self, number: int) -> None:
        if IDS[number] not in self.gallery.ids():
            self.gallery.add(a_set(IDS[number], number))

    @rule()
    def reopen(self) -> None:
        self.gallery.close()
        self.gallery = Gallery(self.path)

    # Always.

    @invariant()
    def says_what_the_model_says(self) -> None:
        judged, model, apart = decisions.judged(self.gallery), self.model(), self.apart()
        found = {number: (one.name, set(one.sets)) for number, one in judged.people.items()}
        assert found == model.people()
        for one, other in combinations(self.gallery.ids(), 2):
            assert (
                judged.verdict(one, other) == judged.verdict(other, one) == model.verdict(one, other, apart)
            )
        for id in self.gallery.ids():
            confirmed, others = model.sets(id) - {id}, model.others(id, apart)
            assert (judged.confirmed(id), judged.rejected(id)) == (sorted(confirmed), sorted(others))

    @invariant()
    def is_stored(self) -> None:
        with Gallery(self.path) as other:
            assert other.decisions() == self.gallery.decisions()

    def teardown(self) -> None:
        if hasattr(self, "gallery"):
            self.gallery.close()
            shutil.rmtree(self.folder)


@pytest.fixture(autouse=True)
def _nothing_is_passed_over(caplog: pytest.LogCaptureFixture):
    yield
    assert not [each for each in caplog.records if each.levelno >= logging.WARNING]


TestDecisionHistories = DecisionHistories.TestCase
TestDecisionHistories.settings = settings(
    max_examples=60,
    stateful_step_count=25,
    deadline=None,
    derandomize=True,
    report_multiple_bugs=False,
    suppress_health_check=[HealthCheck.too_slow],
)
