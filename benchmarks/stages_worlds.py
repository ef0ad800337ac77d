"""Drawn worlds: galleries of vectors in the shapes that real collections may have, and ours have not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike import FaceSet

Numbers = NDArray[np.int64]

# Faces of a set, numbers of a face, and how far faces of a set are from each other, people being at 1.
FACES, DIMENSION, WITHIN = 5, 64, 0.6
# How far sets of a person are from each other: a strong, a middling and a weak descriptor.
NOISES = (0.7, 1.0, 1.3)
# Two sources are so far apart, and two copies of a set.
OFFSET, COPY = 2.0, 1e-3
SEED = 5


class World(NamedTuple):
    """A gallery, and sets that are asked from outside if nobody in it has a match."""

    name: str
    noise: float
    sets: list[FaceSet]
    queries: list[FaceSet]
    labels: dict[str, str]


class Shape(NamedTuple):
    """Who is on each set, which sets are copies of which, and which come from another source."""

    persons: Numbers
    copies: tuple[tuple[int, int], ...] = ()
    source: Numbers | None = None
    outside: int = 0  # so many last sets are queries


def shapes() -> dict[str, Shape]:
    """Every shape by its name."""
    rng = np.random.default_rng(SEED)
    few = np.repeat(np.arange(200), rng.integers(1, 4, 200))
    many = np.repeat(np.arange(30), rng.integers(12, 25, 30))
    some = np.repeat(np.arange(80), rng.integers(5, 9, 80))
    pairs = tuple((place, place + 1) for place in range(0, 100, 2))
    doubled = few.copy()
    for first, second in pairs:
        doubled[second] = doubled[first]
    # Ten people have a set, seven copies of it and two others; the rest have two sets.
    tens = np.concatenate([np.repeat(np.arange(10), 10), 10 + np.repeat(np.arange(200), 2)])
    eights = tuple((10 * person, 10 * person + place) for person in range(10) for place in range(1, 8))
    return {
        "1-3 sets a person": Shape(few),
        "5-8 sets a person": Shape(some),
        "12-24 sets a person": Shape(many),
        "50 sets a person": Shape(np.repeat(np.arange(12), 50)),
        "4 people, 12 sets each": Shape(np.repeat(np.arange(4), 12)),
        "3 people, 30 sets each": Shape(np.repeat(np.arange(3), 30)),
        "one person has 40 %": Shape(np.concatenate([np.zeros(200, int), 1 + np.repeat(np.arange(150), 2)])),
        "nobody twice": Shape(np.concatenate([np.arange(400), np.arange(100)]), outside=100),
        "copies, in pairs": Shape(doubled, pairs),
        "copies, eight of a set": Shape(tens, eights),
        "two sources mixed": Shape(few, source=rng.integers(0, 2, len(few))),
    }


def worlds(noises: tuple[float, ...] = NOISES) -> Iterator[World]:
    """Every shape at every noise."""
    for name, shape in shapes().items():
        for noise in noises:
            yield draw(name, shape, noise)


def draw(name: str, shape: Shape, noise: float) -> World:
    """Faces around sets, sets around people; directions differ in how much they matter."""
    rng = np.random.default_rng(SEED)
    persons, total = shape.persons, len(shape.persons)
    spread = 1 / np.sqrt(1 + np.arange(DIMENSION) / 8)
    people = rng.normal(size=(persons.max() + 1, DIMENSION)) * spread
    centres = people[persons] + noise * rng.normal(size=(total, DIMENSION)) * spread
    faces = centres[:, None] + WITHIN * rng.normal(size=(total, FACES, DIMENSION)) * spread
    if shape.source is not None:
        faces += shape.source[:, None, None] * OFFSET * rng.normal(size=DIMENSION) * spread
    for first, second in shape.copies:
        faces[second] = faces[first] + COPY * rng.normal(size=(FACES, DIMENSION))
    ids = [f"set-{place:04d}" for place in range(total)]
    # Ids decide ties: they must not tell who is who.
    shuffled = rng.permutation(total)
    sets = [FaceSet(ids[shuffled[place]], faces[place]) for place in range(total)]
    labels = {one.id: f"person-{person}" for one, person in zip(sets, persons, strict=True)}
    inside = total - shape.outside
    return World(name, noise, sets[:inside], sets[inside:], labels)
