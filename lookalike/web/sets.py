"""Browsing: the sets of a gallery as strips of faces, filtered, sorted and cut into pages."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Literal

from lookalike.errors import NotFound
from lookalike.faceset import Sighting, natural_order, timecode
from lookalike.gallery.gallery import Gallery
from lookalike.gallery.media import MediaFile
from lookalike.gallery.people import Judged, said
from lookalike.gallery.set_rows import SetFacts
from lookalike.web.films import FILM, SET, Latest, Pictures, film_among
from lookalike.web.models import FaceView, PersonName, SetPage, SetsAsk, SetView

STRIP = 10
# Faces whose views are remembered, and those of which it is known how they were seen: about 1 kB each.
REMEMBERED = 50_000
# Seconds after which the gallery is looked at again, at the earliest; longer where looking takes long.
OFTEN = 0.25
RESTS = 5


def key_of(set_id: str) -> str:
    """The opaque key of a set: the same in every run, and nothing can be read from it."""
    return hashlib.sha256(set_id.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Catalogue:
    """One version of the list of sets.

    Parameters
    ----------
    version : str
        Fingerprint of the gallery.
    facts : mapping
        What is known of each set, by id and in the order of ids.
    contents : mapping
        Content hash of each set by id.
    keys, ids : mappings
        Key of each id, and id of each key.
    """

    version: str
    facts: Mapping[str, SetFacts]
    contents: Mapping[str, str]
    keys: Mapping[str, str]
    ids: Mapping[str, str]

    @cached_property
    def faces(self) -> int:
        """How many faces there are in all sets."""
        return sum(one.faces for one in self.facts.values())

    def id(self, key: str) -> str:
        """The set of a key; raise NotFound if there is none."""
        if key not in self.ids:
            raise NotFound(
                "there is no such clip or photo in the collection: it was removed, or the address is wrong"
            )
        return self.ids[key]


class Catalogues:
    """Keeps up with a gallery that others may be changing.

    Parameters
    ----------
    gallery : Gallery
    """

    def __init__(self, gallery: Gallery) -> None:
        self._gallery = gallery
        self._lock = threading.Lock()
        self._now = Catalogue("", {}, {}, {}, {})
        self._next = 0.0

    def now(self, at_once: bool = False) -> Catalogue:
        """The newest version; a change of somebody else may be missed for a moment, unless asked at once."""
        # Who comes while somebody is looking takes what there was, except at the very beginning.
        if not at_once and self._now.version and (time.monotonic() < self._next or self._lock.locked()):
            return self._now
        with self._lock:
            if at_once or time.monotonic() >= self._next:
                began = time.monotonic()
                self._look()
                ended = time.monotonic()
                self._next = ended + max(OFTEN, RESTS * (ended - began))
            return self._now

    def _look(self) -> None:
        # One version, however fast others add: looking again until nothing changed might never end.
        found = self._gallery.snapshot(self._now.version)
        if found is None:
            return
        facts = {one.id: one for one in found.listing}
        old = self._now.keys
        keys = {set_id: old.get(set_id) or key_of(set_id) for set_id in facts}
        ids = {key: set_id for set_id, key in keys.items()}
        self._now = Catalogue(found.fingerprint, facts, found.contents, keys, ids)


class Browsing:
    """Shows the sets of a gallery.

    Parameters
    ----------
    gallery : Gallery
    pictures : Pictures
        Makes the addresses of faces.
    """

    def __init__(self, gallery: Gallery, pictures: Pictures) -> None:
        self._gallery, self._pictures = gallery, pictures
        self._catalogues = Catalogues(gallery)
        self._seen: Latest[Sequence[Sighting]] = Latest(REMEMBERED, len)
        self._strips: Latest[list[FaceView]] = Latest(REMEMBERED, len)
        self._sorted: Latest[list[SetFacts]] = Latest(4)
        self._paths: Latest[dict[str, list[str]]] = Latest(1)

    def catalogue(self, at_once: bool = False) -> Catalogue:
        """The sets as they are now; see `Catalogues.now`."""
        return self._catalogues.now(at_once)

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
            sets=list(self.show_all(catalogue, known, [one.id for one in shown]).values()),
        )

    def view(self, key: str, whole: bool = False) -> SetView:
        """The set of a key, with some or all of its faces."""
        catalogue = self.catalogue()
        if key not in catalogue.ids:
            catalogue = self.catalogue(at_once=True)
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
            else self._strip(catalogue, set_id, min(strip, facts.faces)),
            film=f"/films/{self._pictures.token(FILM, key)}" if is_there else None,
        )

    def _strip(self, catalogue: Catalogue, set_id: str, count: int) -> list[FaceView]:
        """Pictures alone: to read how the faces of fifty sets were seen takes longer than to find them."""
        facts, key = catalogue.facts[set_id], catalogue.keys[set_id]
        name = (key, facts.faces, facts.pictures, count)
        found = self._strips.get(name)
        if found is None:
            places = (place * facts.faces // count for place in range(count))
            found = [FaceView(face=number, picture=self._address(facts, key, number)) for number in places]
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
            face_view(
                number,
                self._address(facts, key, number),
                seen[number] if number < len(seen) else None,
            )
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

    def _filtered(self, catalogue: Catalogue, known: Judged, ask: SetsAsk) -> Sequence[SetFacts]:
        found = self._ordered(catalogue, known, ask.sort)
        text, source = ask.text.casefold().split(), ask.source.casefold()
        if ask.person is not None:
            person = known.people.get(ask.person)
            members: Collection[str] = set(person.sets) if person else ()
            found = [one for one in found if one.id in members]
        if ask.named != "any":
            wanted = ask.named == "named"
            found = [one for one in found if (known.person_of(one.id) is not None) == wanted]
        if source:
            found = [one for one in found if source in self._places(catalogue, one)]
        if ask.since or ask.until:
            last = ask.until or "9"
            # Times are written in UTC, year first: their texts are in the order of time.
            found = [one for one in found if one.added[:10] >= ask.since and one.added[:10] <= last]
        if ask.quality == "good":
            found = [one for one in found if one.good is not None and 2 * one.good >= one.faces]
        if text:
            found = [one for one in found if self._mentions(catalogue, one, known, text)]
        return found

    def _mentions(self, catalogue: Catalogue, facts: SetFacts, known: Judged, words: Sequence[str]) -> bool:
        person = known.person_of(facts.id)
        name = f"{facts.id}\n{person.name if person else ''}".casefold()
        whole = f"{name}\n{self._places(catalogue, facts)}"
        return all(word in whole for word in words)

    def _places(self, catalogue: Catalogue, facts: SetFacts) -> str:
        """Where a set is from, with all of its photos, in small letters."""
        paths = self._paths.get(catalogue.version)
        if paths is None:
            paths = self._gallery.paths()
            self._paths.put(catalogue.version, paths)
        return "\n".join((facts.origin, *paths.get(facts.id, ()))).casefold()

    def _ordered(self, catalogue: Catalogue, known: Judged, sort: str) -> list[SetFacts]:
        if sort == "person":
            # Named people first, by name; then everybody else.
            by_id = self._ordered(catalogue, known, "id")
            return sorted(by_id, key=lambda one: _by_person(known, one.id))
        name = (catalogue.version, sort)
        found = self._sorted.get(name)
        if found is None:
            found = sorted(catalogue.facts.values(), key=lambda one: natural_order(one.id))
            if sort == "added":
                found.sort(key=lambda one: one.added, reverse=True)
            elif sort == "faces":
                found.sort(key=lambda one: -one.faces)
            self._sorted.put(name, found)
        return found


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


def _by_person(known: Judged, set_id: str) -> tuple[object, ...]:
    person = known.person_of(set_id)
    return (True,) if person is None else (False, natural_order(person.name.casefold()), person.number)
