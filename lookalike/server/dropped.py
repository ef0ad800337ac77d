"""Dropped: one upload, who is in it, and what they are called."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from lookalike.collection.gallery import Gallery
from lookalike.faceset import FaceSet
from lookalike.server.jobs import Job

LONGEST_ORIGIN: Final = 1000


@dataclass
class Upload:
    """What was dropped: what its file is called, the job that looks through it, who is in it.

    What the gallery needs to keep them is remembered too, and the ids that they were kept by, in their order.
    Files of which nothing was taken have a sentence each that says why; the remark is about all.
    """

    key: str
    title: str
    job: Job | None = None
    people: list[FaceSet] = field(default_factory=list)
    descriptor: str = ""
    model_file: str = ""
    apart: list[tuple[int, int]] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    remark: str = ""

    def called(self, one: FaceSet) -> str:
        """What somebody in it is called: the file, and who of it if there are several."""
        if len(self.people) == 1:
            return self.title
        return f"{self.title}, person {1 + self.people.index(one)}"

    def free_id(self, one: FaceSet, gallery: Gallery) -> str:
        """An id for somebody in it that is not taken, after the name of the file."""
        number = 1 + self.people.index(one)
        base, copies = self.title, 1
        while f"{base}#{number}" in gallery:
            copies += 1
            base = f"{self.title}~{copies}"
        return f"{base}#{number}"


def renamed(one: FaceSet, set_id: str, stored: dict[str, str]) -> FaceSet:
    """A set under another name, whose faces are from files by their shown names."""
    sources = []
    for source in one.sources:
        own, at, time = source.partition(" at ")
        sources.append(f"{stored.get(own, own)}{at}{time}")
    origin = ", ".join(stored.values())[:LONGEST_ORIGIN]
    return FaceSet(set_id, one.faces, origin, sources, one.pictures, one.sightings)


def in_shown_names(words: str, folder: Path, stored: dict[str, str]) -> str:
    """A sentence without our own names and places, which say nothing to whoever dropped the files."""
    words = words.replace(f"{folder}/", "").replace(str(folder), "the upload")
    return re.sub("|".join(map(re.escape, stored)), lambda own: stored[own[0]], words)


def counted(left_out: Sequence[str]) -> str:
    """How many files were left out, as a sentence; empty if none was."""
    if len(left_out) == 1:
        return "1 file was left out."
    return f"{len(left_out)} files were left out." if left_out else ""
