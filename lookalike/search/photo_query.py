"""Several photos as one question, and which face of each is meant.

Photos that are given together show one person. In each the face is taken that is most like those taken in
the others, on average; a photo whose face is less like them than different people often are is left out. The
faces that are taken are one set, which is compared as any other: nothing is averaged.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput, readable
from lookalike.faceset import FaceSet
from lookalike.gallery.gallery import Gallery
from lookalike.ingest.add import holds_crops
from lookalike.ingest.describe import choose_descriptor
from lookalike.ingest.files import find_files
from lookalike.ingest.seen import Settings
from lookalike.ingest.sources import is_footage
from lookalike.progress import Track, silent
from lookalike.search.query import Several
from lookalike.search.question import joined, look_at, read_query

# A person is looked for from the faces of so many photos, those with the fewest: who is in more than half of
# all photos is in one of these.
STARTS: Final = 5
# Choices of faces settle in two or three rounds.
ROUNDS: Final = 10
# So many files are named in a sentence.
NAMED: Final = 5


class Pictured(NamedTuple):
    """A photo, or something else that is asked with: what it is called, and who is seen, from the left."""

    name: str
    people: Sequence[FaceSet]


@dataclass(frozen=True)
class Together:
    """One question made of several photos."""

    asked: FaceSet  # the faces that were taken
    # What each photo is called, which of its faces was taken, from 1 on the left, and how many it shows.
    taken: tuple[tuple[str, int, int], ...]
    # What each photo is called of which nothing was taken, and why, in words.
    left_out: tuple[tuple[str, str], ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as ``--json`` prints them."""
        return {
            "asked_with": [{"file": name, "face": face, "of": of} for name, face, of in self.taken],
            "left_out": [{"file": name, "reason": reason} for name, reason in self.left_out],
        }


def read_together(
    gallery: Gallery, paths: Sequence[Path], at: float | None = None, track: Track = silent
) -> Together:
    """Read several photos, folders of them, and videos as one question, described as the gallery is.

    Of a video that shows several people one has to be chosen by the time (`at`, in seconds); sets of crops
    and arrays, as for `read_query`, count as one picture each. Raise Several if they do not agree on one
    person; BadInput, NotFound or Conflict if none shows a face, or one cannot be read.
    """
    crops, photos, others = bool(holds_crops(gallery)), [], []
    left_out: list[tuple[str, str]] = []
    for path in paths:
        if not is_footage(path, crops):
            others.append(path)
            continue
        found = find_files(path)
        left_out += [(readable(one), str(reason)) for one, reason in found.failed]
        photos += [file for file in found.media if file.media.kind == "photo"]
        others += [file.path for file in found.media if file.media.kind != "photo"]
    if at is not None and not others:
        raise BadInput("photos have no times: leave --at out, or give a video too")
    part = choose_descriptor(gallery.descriptor, None, gallery.hint("model_file"))
    pictured = [Pictured(readable(path), [read_query(gallery, path, at=at)]) for path in others]
    if photos:
        seen = look_at(part, photos, Settings(), track)
        left_out += [(readable(photos[place].path), str(why)) for place, why in seen.failed.items()]
        left_out += [(readable(file.path), "no face was found in it") for file in seen.faceless]
        shown = [(file, people) for file, people in zip(photos, seen.by_file, strict=True) if people]
        pictured += [Pictured(readable(file.path), _from_left(people)) for file, people in shown]
    if not pictured and not left_out:
        raise BadInput(
            f"{readable(paths[0])!r} holds no photo and no video: give a photo, or a folder of some"
        )
    if not pictured:
        first = f": {left_out[0][1]}" if left_out else ""
        raise BadInput(f"none of {len(left_out)} files shows a face to search with{first}")
    return agree(pictured, part.may_be_same, left_out)


def agree(
    pictured: Sequence[Pictured], least: float | None, left_out: Sequence[tuple[str, str]] = ()
) -> Together:
    """Make one question of what several photos show.

    Beginning at each face of a few photos, the face of every photo is taken that is most like those taken in
    the others, on average, until nothing changes. As long as the mean cosine of the least alike is below
    ``least``, its photo is left out, and the faces are chosen anew; None, where a descriptor cannot tell
    people, leaves out no photo. Of all beginnings the one counts that leaves most photos in, then the one
    whose faces are most alike. Raise Several if no more than half of the photos agree on somebody, or they
    agree on two people.
    """
    if len(pictured) == 1 and len(pictured[0].people) > 1:
        raise Several(
            f"{pictured[0].name} shows several people, and no other photo says who is meant: search with it "
            f"alone and --face, or give another photo of the person",
            Path(pictured[0].name),
        )
    faces = _Faces(pictured)
    chosen = faces.person(least)
    if 2 * len(chosen) <= len(pictured):
        names = ", ".join(one.name for one in pictured[:NAMED]) + (", ..." if len(pictured) > NAMED else "")
        raise Several(
            f"these photos do not show one person: of {len(pictured)} ({names}) no more than {len(chosen)} "
            f"agree; search with one of them, or with each separately (--each)",
            Path(pictured[0].name),
        )
    second = faces.person(least, without=set(chosen.values()))
    if len(second) >= len(chosen) > 1:
        raise Several(
            f"these photos show two people together in {len(chosen)} of {len(pictured)}: give one more "
            f"photo, of the person alone, or search with one photo and --face",
            Path(pictured[0].name),
        )
    asked, taken, others = [], [], list(left_out)
    for place, one in enumerate(pictured):
        if place in chosen:
            face = chosen[place] - faces.first[place]
            asked.append(one.people[face])
            taken.append((one.name, face + 1, len(one.people)))
        else:
            others.append((one.name, "it shows somebody else than the other photos do"))
    called = asked[0].id if len(asked) == 1 else f"{asked[0].id} and {len(asked) - 1} more"
    return Together(joined(called, asked), tuple(taken), tuple(others))


class _Faces:
    """Everybody in some photos, numbered photo by photo, and how alike they are."""

    def __init__(self, pictured: Sequence[Pictured]) -> None:
        counts = [len(one.people) for one in pictured]
        self.photo: NDArray[np.int64] = np.repeat(np.arange(len(counts)), counts)
        self.first = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(int).tolist()
        units = [_unit(one.faces) for each in pictured for one in each.people]
        # As sets are compared: by the two faces that are most alike.
        starts = np.concatenate([[0], np.cumsum([len(one) for one in units])[:-1]]).astype(int)
        every = np.concatenate(units)
        rows = np.maximum.reduceat(every @ every.T, starts, axis=0)
        self.alike = np.maximum.reduceat(rows, starts, axis=1)

    def person(self, least: float | None, without: Collection[int] = ()) -> dict[int, int]:
        """Who is in most photos: the number of a face for each of these photos."""
        free = np.ones(len(self.photo), dtype=bool)
        free[list(without)] = False
        photos, counts = np.unique(self.photo[free], return_counts=True)
        few = photos[np.argsort(counts, kind="stable")[:STARTS]]
        starts = np.flatnonzero(free & np.isin(self.photo, few))
        found = [self._from(int(start), photos.tolist(), free, least) for start in starts]
        return max(found, key=lambda one: (len(one), self._agreement(one)), default={})

    def _from(
        self, start: int, photos: Sequence[int], free: NDArray[np.bool_], least: float | None
    ) -> dict[int, int]:
        """The face of each photo that agrees with the others, beginning at one."""
        taken = self._best(dict.fromkeys(photos, start), free, {int(self.photo[start]): start})
        while len(taken) > 1:
            for _ in range(ROUNDS):
                better = self._best(taken, free, taken)
                if better == taken:
                    break
                taken = better
            support = {photo: self._support(face, taken) for photo, face in taken.items()}
            worst = min(support, key=lambda photo: (support[photo], photo))
            if least is None or support[worst] >= least:
                break
            del taken[worst]
        # Whoever left while others who did not belong were still there may come back.
        back = self._best(dict.fromkeys(photos, start), free, taken)
        for photo, face in back.items():
            if photo not in taken and least is not None and self._support(face, taken) >= least:
                taken[photo] = face
        return taken

    def _best(self, photos: Iterable[int], free: NDArray[np.bool_], others: dict[int, int]) -> dict[int, int]:
        """The face of each photo that is most like those of the other photos, on average."""
        found = {}
        for photo in photos:
            own = np.flatnonzero(free & (self.photo == photo))
            beside = [face for other, face in others.items() if other != photo]
            if not beside:
                found[photo] = others.get(photo, int(own[0]))
            else:
                found[photo] = int(own[self.alike[own][:, beside].mean(axis=1).argmax()])
        return found

    def _support(self, face: int, taken: dict[int, int]) -> float:
        """How like a face those of other photos are, on average."""
        beside = [other for photo, other in taken.items() if photo != self.photo[face]]
        return float(self.alike[face, beside].mean()) if beside else 1.0

    def _agreement(self, taken: dict[int, int]) -> float:
        return float(np.mean([self._support(face, taken) for face in taken.values()]))


def _from_left(people: Sequence[FaceSet]) -> list[FaceSet]:
    """The faces of a photo as `--face` counts them."""
    return sorted(people, key=lambda one: one.sightings[0].box)


def _unit(faces: NDArray[np.float32]) -> NDArray[np.float64]:
    return faces / np.maximum(np.linalg.norm(faces.astype(np.float64), axis=1, keepdims=True), 1e-12)
