"""Dropped: one upload, who is in it, and what they are called."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from lookalike.collection.gallery import Gallery
from lookalike.faceset import FaceSet
from lookalike.server.browsing import when
from lookalike.server.jobs import Job
from lookalike.server.photos import Photo
from lookalike.server.wording import counted

LONGEST_ORIGIN: Final = 1000


@dataclass
class Upload:
    """What was dropped: what its file is called, the job that looks through it, who is in it.

    Of each of them the files are known in which they are seen, by our own names and, in `names`, by theirs.
    What the gallery needs to keep them is remembered too, the ids that they were kept by, in their order, and
    those that were new, with what these hold. Files of which nothing was taken have a sentence each that says
    why; the remark is about all. Photos that show several faces are remembered small.
    """

    key: str
    title: str
    job: Job | None = None
    people: list[FaceSet] = field(default_factory=list)
    photos: list[Photo] = field(default_factory=list)
    files: list[tuple[str, ...]] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    descriptor: str = ""
    model_file: str = ""
    apart: list[tuple[int, int]] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    added: dict[str, str] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    remark: str = ""

    def called(self, number: int) -> str:
        """What somebody in it is called: the file, when in a film, and which face if that is not enough."""
        titles = [self._seen_in(place) for place in range(len(self.people))]
        own = titles[number]
        alike = titles.count(own)
        return own if alike == 1 else f"{own}, face {1 + titles[:number].count(own)} of {alike}"

    def origin(self, number: int) -> str:
        """The files in which somebody is seen."""
        return ", ".join(self.names[one] for one in self.files[number])[:LONGEST_ORIGIN]

    @property
    def found(self) -> str:
        """What there is in it, as a sentence: one person may be there more than once."""
        films = [place for place, one in enumerate(self.people) if span(one) != (None, None)]
        photos = [place for place in range(len(self.people)) if place not in films]
        said = [counted(len(films), "appearance")] if films else []
        if photos:
            faces = sum(len(self.people[place]) for place in photos)
            files = {file for place in photos for file in self.files[place]}
            said.append(f"{counted(faces, 'face')} on {counted(len(files), 'photo')}")
        if not said:
            return "Nobody was found in what you gave."
        was = "was" if said[0].startswith("1 ") and len(said) == 1 else "were"
        again = " One person may be among them more than once." if len(self.people) > 1 else ""
        return f"{' and '.join(said)} {was} found in what you gave.{again}"

    def free_id(self, number: int, gallery: Gallery, taken: Collection[str]) -> str:
        """An id for somebody in it that is not taken, after the name of the file."""
        bases = [self._base(place) for place in range(len(self.people))]
        base, copies = bases[number], 1
        which = 1 + bases[:number].count(base)
        while (found := f"{base}#{which}") in gallery or found in taken:
            copies += 1
            base = f"{bases[number]}~{copies}"
        return found

    def _base(self, number: int) -> str:
        files = self.files[number]
        return self.names[files[0]] if len(files) == 1 else self.title

    def _seen_in(self, number: int) -> str:
        """The file of somebody, or the first of several; and when, if there are others in the film."""
        first, *others = (self.names[one] for one in self.files[number])
        name = f"{first} and {counted(len(others), 'other')}" if others else first
        seen = when(*span(self.people[number]))
        return f"{name}, {seen}" if seen and len(self.people) > 1 else name


def span(one: FaceSet) -> tuple[float | None, float | None]:
    """When somebody is first and last seen in a film; None of photos."""
    times = [seen.time for seen in one.sightings if seen.time is not None]
    return (min(times), max(times)) if times else (None, None)


def files_of(one: FaceSet) -> tuple[str, ...]:
    """The files that the faces of a set are from, each once."""
    return tuple(dict.fromkeys(source.partition(" at ")[0] for source in one.sources))


def renamed(one: FaceSet, set_id: str, origin: str, names: dict[str, str]) -> FaceSet:
    """A set under another name, whose faces are from files by their shown names."""
    sources = []
    for source in one.sources:
        own, at, time = source.partition(" at ")
        sources.append(f"{names[own]}{at}{time}")
    return FaceSet(set_id, one.faces, origin, sources, one.pictures, one.sightings)


def in_shown_names(words: str, folder: Path, stored: dict[str, str]) -> str:
    """A sentence without our own names and places, which say nothing to whoever dropped the files."""
    words = words.replace(f"{folder}/", "").replace(str(folder), "the upload")
    return re.sub("|".join(map(re.escape, stored)), lambda own: stored[own[0]], words)


def how_many(left_out: Sequence[str]) -> str:
    """How many files were left out, as a sentence; empty if none was."""
    if len(left_out) == 1:
        return "1 file was left out."
    return f"{len(left_out)} files were left out." if left_out else ""
