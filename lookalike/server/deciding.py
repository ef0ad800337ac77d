"""Deciding: what the user says of sets and people, kept in the gallery and told back in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from lookalike import judging, naming
from lookalike.collection.gallery import Gallery
from lookalike.decision import Decision
from lookalike.errors import NotFound
from lookalike.judging import Judged, Person
from lookalike.naming import Named
from lookalike.ordering import natural_order
from lookalike.server.batches import BatchPage, batch_of, batched
from lookalike.server.browsing import Browsing, title
from lookalike.server.catalogue import Catalogue, key_of
from lookalike.server.models import (
    DecisionView,
    History,
    Mentioned,
    Moment,
    NameAsk,
    PeopleMade,
    PeopleView,
    PersonMade,
    PersonPage,
    PersonView,
)
from lookalike.server.models import Judged as JudgedView
from lookalike.server.wording import counted

VERDICTS: Final = {
    "same": "shows the same person as",
    "different": "shows somebody else than",
    "unsure": "may or may not show the person of",
}


NO_TITLES: Final[Mapping[str, str]] = MappingProxyType({})


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

    def batches(self, offset: int, limit: int) -> BatchPage:
        """What was decided, the newest first; what was said in one request is together."""
        whole = batched(self._gallery.decisions())[::-1]
        some = whole[offset : offset + limit]
        views = iter(self._views([one for batch in some for one in batch[::-1]]))
        shown = [batch_of([next(views) for _ in batch]) for batch in some]
        return BatchPage(len(whole), offset, limit, shown)

    # People.

    def people(self) -> PeopleView:
        """All named people, by name."""
        catalogue, known = self._browsing.catalogue(), self._browsing.known()
        by_name = sorted(
            known.people.values(), key=lambda one: (natural_order(one.name.casefold()), one.number)
        )
        return PeopleView(people=[self._person(catalogue, one) for one in by_name])

    def person(self, number: int) -> PersonPage:
        """One person with all sets, and when they are seen in films."""
        catalogue, known = self._browsing.catalogue(), self._browsing.known()
        if number not in known.people:
            raise NotFound("there is no such person: they were merged, or their name was undone")
        return self._page(catalogue, known, known.people[number])

    def name(self, ask: NameAsk) -> PersonMade:
        """Give sets a name."""
        catalogue = self._catalogue(ask.sets)
        ids = [catalogue.id(key) for key in ask.sets]
        return self._shown(naming.name(self._gallery, ids, ask.name, ask.person))

    def rename(self, number: int, name: str) -> PersonMade:
        """Call a person something else."""
        return self._shown(naming.rename(self._gallery, number, name))

    def merge(self, number: int, into: int) -> PersonMade:
        """Say that a person is the same as another."""
        return self._shown(naming.merge(self._gallery, number, into))

    def split(self, number: int, sets: Sequence[str], name: str) -> PeopleMade:
        """Take sets away from a person."""
        catalogue = self._catalogue(sets)
        made = naming.split(self._gallery, number, [catalogue.id(key) for key in sets], name)
        return PeopleMade(people=self.people().people, new=made.new)

    def _catalogue(self, keys: Sequence[str]) -> Catalogue:
        """A version of the catalogue that has heard of some keys, if there is one."""
        catalogue = self._browsing.catalogue()
        known = all(key in catalogue.ids for key in keys)
        return catalogue if known else self._browsing.catalogue(at_once=True)

    def _shown(self, named: Named[Person]) -> PersonMade:
        page = self._page(self._browsing.catalogue(), self._browsing.known(), named.person)
        return PersonMade(person=page.person, sets=page.sets, timeline=page.timeline, new=named.new)

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
            timeline=sorted(moments, key=lambda one: (natural_order(one.film), one.start)),
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
        log, facts = self._gallery.decisions(), self._browsing.catalogue().facts
        # One that was added a moment ago may not be in the catalogue yet.
        titles = {one: title(facts[one]) if one in facts else one for each in made for one in each.sets}
        names: dict[int, str] = {}
        former: dict[int, str] = {}
        for one in log:
            number = one.number if one.makes_person else one.person
            if one.kind == "rename":
                former[one.number] = names.get(number or 0, "")
            # More sets for somebody who is there, in whatever letters, is no other name.
            if number is not None and not one.undone and (one.makes_person or one.kind == "rename"):
                names[number] = one.name
        undone = {one.number for one in log if one.undone}
        return [
            DecisionView(
                number=one.number,
                made=one.made,
                kind=one.kind,
                words=in_words(one, names, former.get(one.number, ""), titles),
                sets=[Mentioned(key=key_of(each), id=each, title=titles[each]) for each in one.sets],
                person=one.number if one.makes_person else one.person,
                name=one.name,
                undone=one.number in undone,
            )
            for one in made
        ]


def in_words(
    one: Decision, names: Mapping[int, str], former: str = "", titles: Mapping[str, str] = NO_TITLES
) -> str:
    """A decision as a sentence.

    Parameters
    ----------
    one : Decision
    names : mapping of int to str
        Those of people, by number.
    former : str
        The name before a rename.
    titles : mapping of str to str
        What sets are called, if not by their ids.
    """
    if one.kind in VERDICTS:
        query, target = (titles.get(each, each) for each in one.sets)
        return f"{target} {VERDICTS[one.kind]} {query}."
    who = names.get(one.person or 0, "somebody")
    many = counted(len(one.sets), "clip")
    shows, was, is_now = ("shows", "was", "is") if len(one.sets) == 1 else ("show", "were", "are")
    sentences = {
        "name": f"{many} {shows} {one.name if one.makes_person else who}.",
        "rename": f"{former or 'Somebody'} is called {one.name} now.",
        "merge": f"{who} is the same person as {names.get(one.other or 0, 'somebody')}.",
        "split": f"{many} {was} taken out of {who}"
        + (f" and {is_now} called {one.name} now." if one.name else "."),
        "undo": f"Decision {one.other} was undone.",
    }
    return sentences.get(one.kind, one.kind)
