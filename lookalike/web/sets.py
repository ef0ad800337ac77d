"""Sets to browse: those of a gallery as strips of faces, filtered, sorted and cut into pages."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cache
from itertools import chain, zip_longest
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import TypeAdapter

from lookalike.faceset import Sighting, natural_order, timecode
from lookalike.gallery.gallery import Gallery
from lookalike.gallery.media import MediaFile
from lookalike.gallery.people import Judged, Person, said
from lookalike.gallery.set_rows import SetFacts
from lookalike.web.catalogue import Catalogue, Catalogues, Rows
from lookalike.web.films import FILM, SET, Latest, Pictures, film_among
from lookalike.web.models import FaceView, PersonName, SetPage, SetsAsk, SetView

STRIP = 10
# Faces whose views are remembered, and those of which it is known how they were seen: about 1 kB each.
REMEMBERED = 50_000
FACES = TypeAdapter(list[FaceView])


class Browsing:
    """Shows the sets of a gallery."""

    def __init__(self, gallery: Gallery, pictures: Pictures) -> None:
        self._gallery, self._pictures = gallery, pictures
        self._catalogues = Catalogues(gallery)
        self._seen: Latest[Sequence[Sighting]] = Latest(REMEMBERED, len)
        self._strips: Latest[list[FaceView]] = Latest(REMEMBERED, len)

    def catalogue(self, at_once: bool = False) -> Catalogue:
        """The sets as they are now; see `Catalogues.now`."""
        return self._catalogues.now(at_once)

    def catalogue_of(self, keys: Sequence[str]) -> Catalogue:
        """A version of the sets that has heard of some keys, if there is one."""
        catalogue = self.catalogue()
        return catalogue if all(key in catalogue.ids for key in keys) else self.catalogue(at_once=True)

    def known(self) -> Judged:
        """What all decisions together say, without who was seen side by side: that grows with the films."""
        return said(self._gallery)

    def page(self, ask: SetsAsk) -> SetPage:
        """Some of the sets that a filter lets through."""
        catalogue, known = self.catalogue(), self.known()
        found = self._filtered(catalogue, known, ask)
        shown = found[ask.offset : ask.offset + ask.limit]
        return SetPage(
            total=len(found),
            offset=ask.offset,
            limit=ask.limit,
            sets=list(self.show_all(catalogue, known, [catalogue.names[row] for row in shown]).values()),
        )

    def view(self, key: str, whole: bool = False) -> SetView:
        """The set of a key, with some or all of its faces."""
        catalogue = self.catalogue_of([key])
        return self.show(catalogue, self.known(), catalogue.id(key), None if whole else STRIP)

    def show(self, catalogue: Catalogue, known: Judged, set_id: str, strip: int | None = STRIP) -> SetView:
        """One set with so many of its faces, evenly spread, or all of them with how they were seen."""
        return self.show_all(catalogue, known, [set_id], strip)[set_id]

    def show_all(
        self, catalogue: Catalogue, known: Judged, ids: Collection[str], strip: int | None = STRIP
    ) -> dict[str, SetView]:
        """As `show`, of several sets by id; their files are read from the gallery at once."""
        # A set that was removed a moment ago has none.
        files = self._gallery.files_of_sets(ids)
        lying = cache(film_among)  # many sets are of one film
        return {
            set_id: self._show(catalogue, known, set_id, strip, files.get(set_id, []), lying)
            for set_id in ids
        }

    def _show(
        self,
        catalogue: Catalogue,
        known: Judged,
        set_id: str,
        strip: int | None,
        files: list[MediaFile],
        lying: Callable[[tuple[MediaFile, ...]], Path | None],
    ) -> SetView:
        facts, key, person = catalogue.facts[set_id], catalogue.keys[set_id], known.person_of(set_id)
        if len(files) > 1:
            files = sorted(files, key=lambda one: natural_order(one.path))
        is_there = facts.start is not None and lying(tuple(files)) is not None
        return SetView(
            key=key,
            id=set_id,
            title=title(facts),
            origin=facts.origin,
            files=[file.path for file in files],
            captured=[file.captured or None for file in files],
            kind=kind(facts),
            start=facts.start,
            end=facts.end,
            when=when(facts.start, facts.end),
            faces=facts.faces,
            good=facts.good,
            added=facts.added,
            person=None if person is None else PersonName(number=person.number, name=person.name),
            strip=self.faces(catalogue, set_id, range(facts.faces))
            if strip is None
            else self._strip(facts, key, min(strip, facts.faces)),
            film=f"/films/{self._pictures.token(FILM, key)}" if is_there else None,
        )

    def _strip(self, facts: SetFacts, key: str, count: int) -> list[FaceView]:
        """Pictures alone: to read how the faces of fifty sets were seen takes longer than to find them."""
        name = (key, facts.faces, facts.pictures, count)
        found = self._strips.get(name)
        if found is None:
            numbers = [place * facts.faces // count for place in range(count)]
            shown = sum(number < facts.pictures for number in numbers)  # all have a picture, or none has
            pictures = [f"/pictures/{token}" for token in self._pictures.tokens(SET, key, numbers[:shown])]
            faces = zip_longest(numbers, pictures)
            # All at once, which takes half as long as one by one.
            found = FACES.validate_python([{"face": face, "picture": picture} for face, picture in faces])
            self._strips.put(name, found)
        return found

    def glance(self, catalogue: Catalogue, set_id: str, number: int) -> FaceView:
        """One face of a set, without how it was seen."""
        facts, key = catalogue.facts[set_id], catalogue.keys[set_id]
        return FaceView(face=number, picture=self._address(facts, key, number))

    def _address(self, facts: SetFacts, key: str, number: int) -> str | None:
        token = self._pictures.token(SET, key, 0, number) if number < facts.pictures else None
        return None if token is None else f"/pictures/{token}"

    def faces(self, catalogue: Catalogue, set_id: str, numbers: Sequence[int]) -> list[FaceView]:
        """Some faces of a set, with how they were seen."""
        facts, key = catalogue.facts[set_id], catalogue.keys[set_id]
        seen = self.sightings(catalogue, set_id)
        return [
            face_view(number, self._address(facts, key, number), seen[number] if number < len(seen) else None)
            for number in numbers
        ]

    def sightings(self, catalogue: Catalogue, set_id: str) -> Sequence[Sighting]:
        """How the faces of a set were seen; nothing where that is not known."""
        facts = catalogue.facts[set_id]
        if facts.good is None and facts.start is None:
            return ()
        name = (set_id, catalogue.contents[set_id])
        seen = self._seen.get(name)
        if seen is None:
            seen = self._gallery.get(set_id).sightings
            self._seen.put(name, seen)
        return seen

    def _filtered(self, catalogue: Catalogue, known: Judged, ask: SetsAsk) -> Rows:
        """The rows that are let through, in order."""
        let = []
        if ask.person is not None:
            person = known.people.get(ask.person)
            let.append(catalogue.are(person.sets if person else ()))
        if ask.named != "any":
            named = catalogue.are(one for person in known.people.values() for one in person.sets)
            let.append(named if ask.named == "named" else ~named)
        if ask.source:
            let.append(catalogue.from_place(ask.source.casefold()))
        if ask.since or ask.until:
            let.append(catalogue.added_between(ask.since, ask.until))
        if ask.quality == "good":
            let.append(catalogue.mostly_clear())
        for word in ask.text.casefold().split():
            called = [person for person in known.people.values() if word in person.name.casefold()]
            theirs = catalogue.are(one for person in called for one in person.sets)
            let.append(catalogue.called(word) | theirs | catalogue.from_place(word))
        found = _ordered(catalogue, known, ask.sort)
        return found[np.logical_and.reduce(let)[found]] if let else found


def _ordered(catalogue: Catalogue, known: Judged, sort: str) -> Rows:
    if sort != "person":
        return getattr(catalogue, {"added": "newest", "faces": "largest"}.get(sort, "natural"))
    # Named people first, by name; then everybody else.
    people = by_name(known)
    named = [catalogue.those(sorted(person.sets, key=natural_order)) for person in people]
    others = catalogue.natural[
        ~catalogue.are(one for person in people for one in person.sets)[catalogue.natural]
    ]
    return np.concatenate([np.array(list(chain(*named)), dtype=np.int32), others])


def by_name(known: Judged) -> list[Person]:
    """Everybody who has a name, as people order names."""
    return sorted(known.people.values(), key=lambda one: (natural_order(one.name.casefold()), one.number))


def face_view(number: int, picture: str | None, seen: Sighting | None) -> FaceView:
    """One face, with what is known of how it was seen."""
    time = None if seen is None else seen.time
    return FaceView(
        face=number,
        picture=picture,
        time=time,
        timecode=None if time is None else timecode(time),
        weaknesses=() if seen is None else seen.weaknesses,
    )


def kind(facts: SetFacts) -> Literal["film", "photo", "album", "set"]:
    """What a set is from, in a word."""
    if facts.start is not None:
        return "film"
    if facts.good is None:
        return "set"
    return "photo" if facts.faces == 1 else "album"


def title(facts: SetFacts) -> str:
    """What people call a set: its name, which no other has, and when it is seen in its film."""
    base, _, number = facts.id.rpartition("#")
    name = f"{base} #{number}" if kind(facts) != "set" and base and number.isdecimal() else facts.id
    return name if facts.start is None else f"{name}, {timecode(facts.start)[:-2]}"


def when(start: float | None, end: float | None) -> str:
    """From when to when, in words; nothing for what is in no film."""
    return "" if start is None or end is None else f"{timecode(start)[:-2]} to {timecode(end)[:-2]}"
