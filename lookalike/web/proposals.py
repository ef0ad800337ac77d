"""Proposals: who is in the collection though nobody said so, and what the user says to that."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from lookalike.errors import BadInput
from lookalike.faceset import natural_order
from lookalike.gallery import decisions
from lookalike.gallery.decision_log import OpenLog
from lookalike.gallery.gallery import Gallery
from lookalike.gallery.people import Judged, Person
from lookalike.indexing.people import Census, Identity, Question, counted
from lookalike.ranking import percent
from lookalike.web import wording
from lookalike.web.catalogue import Catalogue
from lookalike.web.models import SearchAsk, SetView
from lookalike.web.people import moments
from lookalike.web.people_models import CensusView, GroupAsk, GroupMade, IdentityPage, IdentityView, PairView
from lookalike.web.search import Searches, method_of
from lookalike.web.sets import Browsing, by_name

# The way of searching by whose tables people are proposed, which is that of every search unless chosen.
USUAL: Final = method_of(SearchAsk().similarity, SearchAsk().reranker, None)
# Pairs that are asked about at a time, sets that may belong to somebody, and files that are named of each.
MOST_PAIRS, MOST_UNSURE, MOST_FILES = 6, 12, 3
# People whom the page proposes at a time.
MOST_PROPOSED: Final = 50


@dataclass(frozen=True)
class PeoplePage:
    """Some of the people who are known, and the first of those who wait for an answer."""

    offset: int
    limit: int
    total: int
    named: list[Person]
    nameless: list[IdentityView]
    waiting: int
    proposed: list[IdentityView]
    pairs: list[PairView]


class Proposing:
    """Finds people and takes answers to what is proposed."""

    def __init__(self, gallery: Gallery, browsing: Browsing, searches: Searches) -> None:
        self._gallery, self._browsing, self._searches = gallery, browsing, searches
        self._lock = threading.Lock()
        self._last: tuple[object, object, Census] | None = None

    def is_ready(self) -> bool:
        """Whether people are found at once; if not, the collection has to be made ready first."""
        return self._searches.is_ready(USUAL, self._browsing.catalogue())

    def census(self) -> tuple[Census, Catalogue]:
        """Everybody by what is searched and decided now; quick if neither has changed."""
        ready, catalogue = self._searches.ready(USUAL, self._browsing.catalogue)
        known = self._browsing.known()
        with self._lock:
            if self._last is None or self._last[0] is not ready.search or self._last[1] is not known:
                found = counted(self._gallery, ready.search.tables, ready.search.reranker)
                self._last = ready.search, known, found
            return self._last[2], catalogue

    def view(self) -> CensusView:
        """Everybody, and whom to compare."""
        if not self._browsing.catalogue().facts:
            return CensusView(people=[], pairs=[])
        census, catalogue = self.census()
        return self._view(catalogue, census.people, census.questions[:MOST_PAIRS])

    def page(self, offset: int, limit: int, ready: bool) -> PeoplePage:
        """Who is proposed first, then who is known, page by page; without proposals unless these are ready.

        What is read grows with the people that are shown, not with those that there are.
        """
        census, catalogue = Census((), ()), self._browsing.catalogue()
        if catalogue.facts and ready:
            census, catalogue = self.census()
        named = by_name(self._browsing.known())
        nameless = [one for one in census.people if one.number is None and not one.proposed]
        waiting = [one for one in census.people if one.proposed or one.likely]
        those = named[offset : offset + limit]
        others = nameless[max(0, offset - len(named)) :][: limit - len(those)]
        # Further pages are of those who are known.
        proposed, pairs = ([], ()) if offset else (waiting[:MOST_PROPOSED], census.questions[:MOST_PAIRS])
        asked = {handle for pair in pairs for handle in (pair.one, pair.other)}
        shown = [*others, *proposed, *(one for one in census.people if one.handle in asked)]
        found = self._view(catalogue, shown, pairs)
        views = {one.handle: one for one in found.people}
        return PeoplePage(
            offset=offset,
            limit=limit,
            total=len(named) + len(nameless),
            named=those,
            nameless=[views[catalogue.keys[one.handle]] for one in others],
            waiting=len(waiting),
            proposed=[views[catalogue.keys[one.handle]] for one in proposed],
            pairs=found.pairs,
        )

    def _view(
        self, catalogue: Catalogue, people: Sequence[Identity], pairs: Sequence[Question]
    ) -> CensusView:
        shown = self._shown(catalogue, self._browsing.known(), people)
        told = [
            PairView(
                one=shown[pair.one],
                other=shown[pair.other],
                probability=pair.probability,
                sure=percent(pair.probability),
            )
            for pair in pairs
        ]
        return CensusView(people=list(shown.values()), pairs=told)

    def of(self, key: str) -> IdentityPage:
        """Whoever a set shows, by its key."""
        census, catalogue = self.census()
        one, known = census.of(catalogue.id(key)), self._browsing.known()
        there = [[each for each in some if each in catalogue.facts] for some in (one.sets, one.likely)]
        sets, likely = (list(self._browsing.show_all(catalogue, known, some).values()) for some in there)
        return IdentityPage(
            person=self._shown(catalogue, known, [one])[one.handle],
            sets=sets,
            likely=likely,
            timeline=moments([*sets, *likely]),
        )

    def answer(self, ask: GroupAsk, by: str = "") -> GroupMade:
        """Answer a proposal by one decision, which a program signs by what its key is called."""
        catalogue = self._browsing.catalogue(at_once=True)
        sets, others = ([catalogue.id(key) for key in keys] for keys in (ask.sets, ask.others))
        if ask.answer == "yes" and others:
            raise BadInput("who is the same has no others: give them all as one list of sets")
        with self._gallery.deciding(by) as log:
            known = Judged(log.decisions, log.apart)
            if ask.answer == "yes":
                _join(log, known, sets, ask.name)
            elif not others:
                decisions.reject(log, sets)
            elif _is_known(known, sets) and _is_known(known, others):
                decisions.judge(log, sets[0], others[:1], "different")
            else:
                decisions.part(log, others, sets)
        return GroupMade(new=[decision.number for decision in log.new])

    def _shown(
        self, catalogue: Catalogue, known: Judged, people: Sequence[Identity]
    ) -> dict[str, IdentityView]:
        """People by their handles; all sets that are shown of them are read at once."""
        unsure = {
            one.handle: [each for each in one.unsure if each in catalogue.facts][:MOST_UNSURE]
            for one in people
        }
        every = dict.fromkeys(each for some in unsure.values() for each in some)
        views = self._browsing.show_all(catalogue, known, every)
        return {
            one.handle: self._one(catalogue, one, [views[each] for each in unsure[one.handle]])
            for one in people
        }

    def _one(self, catalogue: Catalogue, one: Identity, unsure: list[SetView]) -> IdentityView:
        return IdentityView(
            handle=catalogue.keys[one.handle],
            name=one.name,
            number=one.number,
            proposed=one.proposed,
            sets=[catalogue.keys[each] for each in one.sets if each in catalogue.keys],
            likely=[catalogue.keys[each] for each in one.likely if each in catalogue.keys],
            unsure=unsure,
            probability=one.probability,
            sure=percent(one.probability),
            faces=[
                self._browsing.glance(catalogue, face.set, face.face)
                for face in one.faces
                if face.set in catalogue.facts
            ],
            where=self._where(catalogue, (*one.sets, *one.likely)),
        )

    def _where(self, catalogue: Catalogue, ids: Sequence[str]) -> str:
        """The films, albums and photos of some sets, those with most first, and from when to when."""
        seen: dict[str, list[float]] = {}
        for one in ids:
            facts = catalogue.facts.get(one)
            if facts is not None:
                times = seen.setdefault(facts.origin, [])
                times += [time for time in (facts.start, facts.end) if time is not None]
        by_name = sorted(seen, key=lambda origin: (-len(seen[origin]), natural_order(origin)))
        told = [wording.place(origin, seen[origin]) for origin in by_name[:MOST_FILES]]
        more = len(by_name) - len(told)
        return "; ".join(told) + (f"; and {wording.counted(more, 'more file')}" if more else "")


def _join(log: OpenLog, known: Judged, sets: Sequence[str], name: str) -> None:
    """Say that sets are one person by one decision: that of a name, of two people, or of none."""
    people = {person.number for one in sets if (person := known.person_of(one)) is not None}
    if name.strip():
        decisions.name(log, sets, name)
    elif len(people) == 2 and all(known.person_of(one) for one in sets):
        decisions.merge(log, max(people), min(people))
    elif len(people) == 1:
        decisions.name(log, sets, "", min(people))
    else:
        decisions.accept(log, sets)


def _is_known(known: Judged, sets: Sequence[str]) -> bool:
    """Whether it was decided that sets are one person."""
    return all(known.verdict(sets[0], one) == "same" for one in sets)
