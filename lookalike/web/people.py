"""People: what the user says of sets and people, its history in sentences, and who is seen when."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Final

from lookalike.errors import NotFound
from lookalike.faceset import natural_order, timecode
from lookalike.gallery import decisions as judge
from lookalike.gallery.decision_log import VERDICTS, Decision
from lookalike.gallery.gallery import Gallery
from lookalike.gallery.people import Judged, Person
from lookalike.web.catalogue import Catalogue, key_of
from lookalike.web.models import SetView
from lookalike.web.people_models import (
    MOST_AT_ONCE,
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
from lookalike.web.people_models import Judged as JudgedView
from lookalike.web.sets import Browsing, by_name, title
from lookalike.web.wording import counted

# What a verdict says of one clip and its query, and of many.
SAID: Final = {
    "same": ("shows the same person as", "show the same person as"),
    "different": ("shows somebody else than", "show somebody else than"),
    "unsure": 2 * ("may or may not show the person of",),
}
NO_TITLES: Final[Mapping[str, str]] = MappingProxyType({})


class Deciding:
    """Records decisions and shows people. What a program decides is signed by what its key is called."""

    def __init__(self, gallery: Gallery, browsing: Browsing) -> None:
        self._gallery, self._browsing = gallery, browsing

    # Decisions.

    def judge(self, query: str, targets: Sequence[str], verdict: str, by: str = "") -> JudgedView:
        """Say whether some sets show the person of another; keys."""
        catalogue = self._browsing.catalogue_of([query, *targets])
        asked, answers = catalogue.id(query), [catalogue.id(key) for key in targets]
        with self._gallery.deciding(by) as log:
            made = judge.judge(log, asked, answers, verdict)
        return JudgedView(
            decisions=self._views([judgement.decision for judgement in made]),
            new=[judgement.decision.number for judgement in made if judgement.is_new],
        )

    def undo(self, numbers: Sequence[int], by: str = "") -> list[DecisionView]:
        """Take decisions back, all of them or none; without numbers the last one, if there is any."""
        with self._gallery.deciding(by) as log:
            undone = judge.undo_all(log, numbers or None)
        return self._views(undone)

    def history(self, offset: int, limit: int) -> History:
        """What was decided, the newest first; that something was undone stands at what was undone."""
        log = [decision for decision in self._gallery.decisions() if decision.kind != "undo"]
        newest = log[::-1][offset : offset + limit]
        return History(total=len(log), offset=offset, limit=limit, decisions=self._views(newest))

    def batches(self, offset: int, limit: int) -> BatchPage:
        """What was decided, the newest first; what was said in one request is together."""
        whole = batched(self._gallery.decisions())[::-1]
        some = whole[offset : offset + limit]
        views = {view.number: view for view in self._views([one for batch in some for one in batch])}
        shown = [batch_of([views[decision.number] for decision in batch[::-1]]) for batch in some]
        return BatchPage(len(whole), offset, limit, shown)

    # People.

    def people(self) -> PeopleView:
        """All named people, by name."""
        return PeopleView(people=self.views(self.named()))

    def named(self) -> list[Person]:
        """All named people, by name, without how they are shown."""
        return by_name(self._browsing.known())

    def views(self, people: Iterable[Person]) -> list[PersonView]:
        """Some named people as they are shown."""
        catalogue = self._browsing.catalogue()
        return [self._person(catalogue, one) for one in people]

    def person(self, number: int) -> PersonPage:
        """One person with all sets, and when they are seen in films."""
        catalogue, known = self._browsing.catalogue(), self._browsing.known()
        if number not in known.people:
            raise NotFound("there is no such person: they were merged, or their name was undone")
        return self._page(catalogue, known, known.people[number])

    def name(self, ask: NameAsk, by: str = "") -> PersonMade:
        """Give sets a name."""
        catalogue = self._browsing.catalogue_of(ask.sets)
        ids = [catalogue.id(key) for key in ask.sets]
        with self._gallery.deciding(by) as log:
            person = judge.name(log, ids, ask.name, ask.person)
        return self._shown(person, log.new)

    def rename(self, number: int, name: str, by: str = "") -> PersonMade:
        """Call a person something else."""
        with self._gallery.deciding(by) as log:
            person = judge.rename(log, number, name)
        return self._shown(person, log.new)

    def merge(self, number: int, into: int, by: str = "") -> PersonMade:
        """Say that a person is the same as another."""
        with self._gallery.deciding(by) as log:
            person = judge.merge(log, number, into)
        return self._shown(person, log.new)

    def split(self, number: int, sets: Sequence[str], name: str, by: str = "") -> PeopleMade:
        """Take sets away from a person."""
        catalogue = self._browsing.catalogue_of(sets)
        with self._gallery.deciding(by) as log:
            judge.split(log, number, [catalogue.id(key) for key in sets], name)
        return PeopleMade(people=self.people().people, new=[decision.number for decision in log.new])

    def _shown(self, person: Person, new: Sequence[Decision]) -> PersonMade:
        page = self._page(self._browsing.catalogue(), self._browsing.known(), person)
        numbers = [decision.number for decision in new]
        return PersonMade(person=page.person, sets=page.sets, timeline=page.timeline, new=numbers)

    def _page(self, catalogue: Catalogue, known: Judged, person: Person) -> PersonPage:
        there = sorted((set_id for set_id in person.sets if set_id in catalogue.facts), key=natural_order)
        sets = list(self._browsing.show_all(catalogue, known, there).values())
        return PersonPage(person=self._person(catalogue, person), sets=sets, timeline=moments(sets))

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
                by=one.by,
            )
            for one in made
        ]


def in_words(
    decision: Decision, names: Mapping[int, str], former: str = "", titles: Mapping[str, str] = NO_TITLES
) -> str:
    """A decision as a sentence, with the names of people by number, and the former name before a rename.

    Sets are called by their titles, or by their ids.
    """
    if decision.kind in SAID:
        query, target = (titles.get(each, each) for each in decision.sets)
        return f"{target} {SAID[decision.kind][0]} {query}."
    who = names.get(decision.person or 0, "somebody")
    many = counted(len(decision.sets), "clip")
    leaving, staying = decision.sides
    shows, was, is_now = ("shows", "was", "is") if len(decision.sets) == 1 else ("show", "were", "are")
    sentences = {
        "name": f"{many} {shows} {decision.name if decision.makes_person else who}.",
        "rename": f"{former or 'Somebody'} is called {decision.name} now.",
        "merge": f"{who} is the same person as {names.get(decision.other or 0, 'somebody')}.",
        "split": f"{many} {was} taken out of {who}"
        + (f" and {is_now} called {decision.name} now." if decision.name else "."),
        "join": f"{many} {shows} one person.",
        "reject": f"{many} {'is' if len(decision.sets) == 1 else 'are'} not one person.",
        "part": f"{counted(len(leaving), 'clip')} and {counted(len(staying), 'other')} are different people.",
        "undo": f"Decision {decision.other} was undone.",
    }
    return sentences.get(decision.kind, decision.kind)


# The history: what was said in one request, about many clips at once, is one row.


@dataclass(frozen=True)
class Batch:
    """Decisions made together, in words, the newest first: one, or verdicts of one kind on one query."""

    decisions: list[DecisionView]
    words: str

    @property
    def standing(self) -> list[int]:
        """The numbers of those that were not taken back."""
        return [one.number for one in self.decisions if not one.undone]

    @property
    def undone(self) -> int:
        """How many were taken back."""
        return len(self.decisions) - len(self.standing)

    @property
    def mentioned(self) -> list[Mentioned]:
        """The sets that are spoken of: those of one decision, or the query of many."""
        sets = self.decisions[0].sets
        return sets if len(self.decisions) == 1 else sets[:1]


@dataclass(frozen=True)
class BatchPage:
    """Some batches, the newest first, out of so many."""

    total: int
    offset: int
    limit: int
    batches: list[Batch]


def batched(log: Iterable[Decision]) -> list[list[Decision]]:
    """Put decisions together that were made in one request, as far as a gallery tells; undos are left out.

    It keeps the time to the second and no mark of a request. Verdicts that follow one another, of one
    kind on one query in the same second, are one batch: faster than that nobody goes from clip to clip.
    One key made all of a batch, or none.
    """
    found: list[list[Decision]] = []
    last: tuple[object, ...] | None = None
    for decision in log:
        # An undo stands between two requests.
        mark = None
        if decision.kind in VERDICTS:
            mark = (decision.made, decision.by, decision.kind, decision.sets[0])
        if mark is not None and mark == last and len(found[-1]) < MOST_AT_ONCE:
            found[-1].append(decision)
        elif decision.kind != "undo":
            found.append([decision])
        last = mark
    return found


def batch_of(views: Sequence[DecisionView]) -> Batch:
    """The decisions of one request, in words."""
    if len(views) == 1:
        return Batch(list(views), views[0].words)
    query = views[0].sets[0].title
    return Batch(list(views), f"{counted(len(views), 'clip')} {SAID[views[0].kind][1]} {query}.")


# Time lines: when people are seen, film by film and year by year, as bars that lead to what is seen.


def moments(sets: Iterable[SetView]) -> list[Moment]:
    """When some sets are seen in films, film by film."""
    found = [
        Moment(
            film=one.origin, key=one.key, start=one.start, end=one.end, length=round(one.end - one.start, 3)
        )
        for one in sets
        if one.start is not None and one.end is not None
    ]
    return sorted(found, key=lambda one: (natural_order(one.film), one.start))


# The width of a drawing of moments, and the least width of a bar: one that can be seen and pressed.
WIDTH, LEAST = 1000.0, 14.0


@dataclass(frozen=True)
class Bar:
    """One moment, drawn: its set, its film if that can be played, where the bar lies, the times in words."""

    key: str
    film: str | None
    start: float
    left: float
    width: float
    when: str


@dataclass(frozen=True)
class Line:
    """A film or a year with its moments: what it is in full, what it is called beside the others."""

    title: str
    name: str
    moments: list[Bar]


@dataclass(frozen=True)
class TimeLine:
    """When sets are seen: in films, whose lines all end at `until`, and in years, as far as files say."""

    films: list[Line]
    years: list[Line]
    until: str

    def __bool__(self) -> bool:
        return bool(self.films or self.years)


def timeline(sets: Sequence[SetView]) -> TimeLine:
    """Lay out when sets are seen: in films by name, which end at the last moment of any, and in years."""
    seen = moments(sets)
    last = max((one.end for one in seen), default=0.0)
    return TimeLine(_films(sets, seen, last or 1.0), _years(sets), timecode(last))


def _films(sets: Sequence[SetView], seen: Sequence[Moment], last: float) -> list[Line]:
    playable = {one.key: one.film for one in sets}
    names = {one.film: PurePosixPath(one.film.replace("\\", "/")).name or one.film for one in seen}
    alike = Counter(names.values())
    films: dict[str, Line] = {}
    for one in seen:
        width = max(LEAST, WIDTH * (one.end - one.start) / last)
        left = min(WIDTH * one.start / last, WIDTH - width)
        when = f"{timecode(one.start)} to {timecode(one.end)}"
        bar = Bar(one.key, playable.get(one.key), one.start, round(left, 1), round(width, 1), when)
        # Two films of one name are told apart by their folders.
        name = names[one.film] if alike[names[one.film]] == 1 else one.film
        films.setdefault(one.film, Line(one.film, name, [])).moments.append(bar)
    return list(films.values())


def _years(sets: Sequence[SetView]) -> list[Line]:
    """The days on which sets were taken, one bar a day, which leads to the first set of that day."""
    days: dict[date, list[SetView]] = {}
    for one in sets:
        for day in sorted({date.fromisoformat(said[:10]) for said in one.captured if said}):
            days.setdefault(day, []).append(one)
    years: dict[int, Line] = {}
    for day, those in sorted(days.items(), key=lambda pair: pair[0]):
        place = (day - date(day.year, 1, 1)).days / 366
        left = min(WIDTH * place, WIDTH - LEAST)
        words = f"{day.day} {day:%B} {day.year}"
        when = (
            words
            if len(those) == 1
            else f"{words}: {counted(len(those), 'clip or photo', 'clips and photos')}"
        )
        bar = Bar(those[0].key, None, 0.0, round(left, 1), LEAST, when)
        years.setdefault(day.year, Line(str(day.year), str(day.year), [])).moments.append(bar)
    return list(years.values())
