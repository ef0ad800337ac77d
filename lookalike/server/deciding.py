"""Deciding: what the user says of sets and people, kept in the gallery and told back in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from lookalike import judging
from lookalike.collection.gallery import Gallery
from lookalike.decision import Decision
from lookalike.errors import NotFound
from lookalike.judging import Judged, Person
from lookalike.server.browsing import Browsing
from lookalike.server.catalogue import Catalogue, key_of
from lookalike.server.models import (
    DecisionView,
    History,
    Mentioned,
    Moment,
    NameAsk,
    PeopleView,
    PersonPage,
    PersonView,
)
from lookalike.server.models import Judged as JudgedView

VERDICTS: Final = {
    "same": "shows the same person as",
    "different": "shows somebody else than",
    "unsure": "may or may not show the person of",
}


class Deciding:
    """Records decisions and shows people.

    Parameters
    ----------
    gallery : Gallery
    browsing : Browsing
    """

    def __init__(self, gallery: Gallery, browsing: Browsing) -> None:
        self._gallery, self._browsing = gallery, browsing

    # Decisions.

    def judge(self, query: str, targets: Sequence[str], verdict: str) -> JudgedView:
        """Say whether some sets show the person of another; keys."""
        catalogue = self._catalogue([query, *targets])
        made = judging.judge(
            self._gallery, catalogue.id(query), [catalogue.id(one) for one in targets], verdict
        )
        return JudgedView(
            decisions=self._views([one.decision for one in made]),
            new=[one.decision.number for one in made if one.is_new],
        )

    def undo(self, numbers: Sequence[int]) -> list[DecisionView]:
        """Take decisions back, all of them or none; without numbers the last one, if there is any."""
        return self._views(judging.undo_all(self._gallery, numbers or None))

    def history(self, offset: int, limit: int) -> History:
        """What was decided, the newest first; that something was undone stands at what was undone."""
        log = [one for one in self._gallery.decisions() if one.kind != "undo"]
        newest = log[::-1][offset : offset + limit]
        return History(total=len(log), offset=offset, limit=limit, decisions=self._views(newest))

    # People.

    def people(self) -> PeopleView:
        """All named people, by name."""
        catalogue, known = self._browsing.catalogue(), self._browsing.known()
        by_name = sorted(known.people.values(), key=lambda one: (one.name.casefold(), one.number))
        return PeopleView(people=[self._person(catalogue, one) for one in by_name])

    def person(self, number: int) -> PersonPage:
        """One person with all sets, and when they are seen in films."""
        catalogue, known = self._browsing.catalogue(), self._browsing.known()
        if number not in known.people:
            raise NotFound("there is no such person: they were merged, or their name was undone")
        return self._page(catalogue, known, known.people[number])

    def name(self, ask: NameAsk) -> PersonPage:
        """Give sets a name."""
        catalogue = self._catalogue(ask.sets)
        ids = [catalogue.id(key) for key in ask.sets]
        return self._shown(judging.name(self._gallery, ids, ask.name, ask.person))

    def rename(self, number: int, name: str) -> PersonPage:
        """Call a person something else."""
        return self._shown(judging.rename(self._gallery, number, name))

    def merge(self, number: int, into: int) -> PersonPage:
        """Say that a person is the same as another."""
        return self._shown(judging.merge(self._gallery, number, into))

    def split(self, number: int, sets: Sequence[str], name: str) -> PeopleView:
        """Take sets away from a person."""
        catalogue = self._catalogue(sets)
        judging.split(self._gallery, number, [catalogue.id(key) for key in sets], name)
        return self.people()

    def _catalogue(self, keys: Sequence[str]) -> Catalogue:
        """A version of the catalogue that has heard of some keys, if there is one."""
        catalogue = self._browsing.catalogue()
        known = all(key in catalogue.ids for key in keys)
        return catalogue if known else self._browsing.catalogue(at_once=True)

    def _shown(self, person: Person) -> PersonPage:
        return self._page(self._browsing.catalogue(), self._browsing.known(), person)

    def _page(self, catalogue: Catalogue, known: Judged, person: Person) -> PersonPage:
        sets = [self._browsing.show(catalogue, known, one) for one in person.sets if one in catalogue.facts]
        moments = [
            Moment(
                film=one.origin,
                key=one.key,
                start=one.start,
                end=one.end,
                length=round(one.end - one.start, 3),
            )
            for one in sets
            if one.start is not None and one.end is not None
        ]
        return PersonPage(
            person=self._person(catalogue, person),
            sets=sets,
            timeline=sorted(moments, key=lambda one: (one.film, one.start)),
        )

    def _person(self, catalogue: Catalogue, person: Person) -> PersonView:
        shown = [one for one in person.sets if one in catalogue.facts]
        cover = None
        if shown:
            # The middle of the set with most faces.
            best = max(shown, key=lambda one: catalogue.facts[one].faces)
            cover = self._browsing.glance(catalogue, best, catalogue.facts[best].faces // 2)
        return PersonView(number=person.number, name=person.name, sets=len(person.sets), cover=cover)

    def _views(self, made: Sequence[Decision]) -> list[DecisionView]:
        log = self._gallery.decisions()
        names: dict[int, str] = {}
        for one in log:
            number = one.number if one.makes_person else one.person
            if one.name and number is not None and not one.undone:
                names[number] = one.name
        undone = {one.number for one in log if one.undone}
        return [
            DecisionView(
                number=one.number,
                made=one.made,
                kind=one.kind,
                words=in_words(one, names),
                sets=[Mentioned(key=key_of(set_id), id=set_id) for set_id in one.sets],
                person=one.number if one.makes_person else one.person,
                name=one.name,
                undone=one.number in undone,
            )
            for one in made
        ]


def in_words(one: Decision, names: dict[int, str]) -> str:
    """A decision as a sentence; names are those of people by number."""
    if one.kind in VERDICTS:
        query, target = one.sets
        return f"{target} {VERDICTS[one.kind]} {query}."
    who = names.get(one.person or 0, "somebody")
    many = "1 set" if len(one.sets) == 1 else f"{len(one.sets)} sets"
    sentences = {
        "name": f"{many} {'shows' if len(one.sets) == 1 else 'show'} {one.name or who}.",
        "rename": f"A person is called {one.name}.",
        "merge": f"{who} is the same person as {names.get(one.other or 0, 'somebody')}.",
        "split": f"{many} taken away from {who}" + (f", now called {one.name}." if one.name else "."),
        "undo": f"Decision {one.other} was undone.",
    }
    return sentences.get(one.kind, one.kind)
