"""Galleries in the shapes that people have, drawn from photos of known people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.stages_data import Case
from lookalike import FaceSet, index
from lookalike.indexing.transform import prepare_sets

Numbers = NDArray[np.int64]

# How many sets each person has.
SHAPES: dict[str, tuple[int, ...]] = {
    "tv": (75, 60, 45, 30, 20, *[5] * 10, *[1] * 20),
    "family": (70, 50, 40, 25, 12, 6, 4, 3, *[2] * 4, *[1] * 15),
    "3x30": (30,) * 3,
    "5x75": (75,) * 5,
    "8x40": (40,) * 8,
    "20x12": (12,) * 20,
    "40x4": (4,) * 40,
    "one40": (75, *[3] * 37),
    "singletons": (*[3] * 7, *[1] * 40),
    "small": (5,) * 6,
}
WORDS = {
    "tv": "a series: 5 leads with 20 to 75 sets, 10 guests with 5, 20 extras",
    "family": "a family: 70, 50, 40, 25, 12 sets, fewer of others, 15 people once",
    "3x30": "3 people, 30 sets each",
    "5x75": "5 people, 75 sets each",
    "8x40": "8 people, 40 sets each",
    "20x12": "20 people, 12 sets each",
    "40x4": "40 people, 4 sets each",
    "one40": "one person has 40 %, 37 others 3 sets each",
    "singletons": "40 people once, 7 people 3 times",
    "small": "6 people, 5 sets each",
}
# Photos in a set.
FACES = (1, 3)
DRAWS = 5
SEED = 100
ACTORS = "actors_dev.npz"


class Photos(NamedTuple):
    """Photos that were described, and who is on each."""

    vectors: NDArray[np.float32]
    people: NDArray[np.str_]

    @classmethod
    def read(cls, path: Path) -> Photos:
        """Embeddings in a file; people go by their numbers."""
        with np.load(path, allow_pickle=False) as arrays:
            return cls(arrays["embeddings"].astype(np.float32), arrays["person"].astype(str))


class Drawn(NamedTuple):
    """One gallery of a shape, not yet compared."""

    shape: str
    faces: int  # photos in a set
    draw: int
    sets: list[FaceSet]
    labels: dict[str, str]

    @property
    def name(self) -> str:
        """Shape, photos in a set and draw."""
        return f"{self.shape} of {self.faces}, draw {self.draw}"

    def without(self, share: float, rng: np.random.Generator) -> Drawn:
        """The same gallery with a random share of its sets left out."""
        stay = np.sort(rng.choice(len(self.sets), round((1 - share) * len(self.sets)), replace=False))
        sets = [self.sets[number] for number in stay.tolist()]
        return self._replace(sets=sets, labels={one.id: self.labels[one.id] for one in sets})

    def case(self, preparation: str = "none") -> Case:
        """Prepare and compare its sets; a preparation learns from this gallery alone."""
        learnt = prepare_sets(self.sets, preparation)
        ready = [FaceSet(one.id, learnt.apply(one.faces)) for one in self.sets]
        return Case(self.name, index(ready, preparation="none"), self.labels)


def galleries(
    photos: Photos, shape: str, counts: Sequence[int], number: int, faces: int, draws: int
) -> Iterator[Drawn]:
    """Draws of one shape, which has a number of its own, so that shapes do not share their draws."""
    for place in range(draws):
        yield draw(photos, shape, counts, faces, place, np.random.default_rng([SEED, place, number]))


def draw(
    photos: Photos, shape: str, counts: Sequence[int], faces: int, place: int, rng: np.random.Generator
) -> Drawn:
    """Give every share of a shape to a random person who has photos enough; no photo is taken twice.

    Where nobody has so many, whoever has most gives all of them.
    """
    shuffled = rng.permutation(len(photos.people))
    own = {person: shuffled[photos.people[shuffled] == person] for person in np.unique(photos.people)}
    waiting = rng.permutation(list(own)).tolist()
    chosen: list[tuple[str, Numbers]] = []
    for count in sorted(counts, reverse=True)[: len(waiting)]:
        enough = (person for person in waiting if len(own[person]) >= count * faces)
        person = next(enough, None) or max(waiting, key=lambda one: len(own[one]))
        waiting.remove(person)
        whole = min(count, len(own[person]) // faces)
        chosen += [(person, part) for part in own[person][: whole * faces].reshape(whole, faces)]
    # Ids decide ties: they must not tell who is who.
    ids = [f"set-{number:04d}" for number in rng.permutation(len(chosen))]
    sets = [FaceSet(id, photos.vectors[part]) for id, (_, part) in zip(ids, chosen, strict=True)]
    labels = {id: person for id, (person, _) in zip(ids, chosen, strict=True)}
    return Drawn(shape, faces, place, sets, labels)
