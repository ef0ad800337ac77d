"""A large world of short descriptors, drawn in bulk: as many sets as a broadcaster has."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

# Shares of people with 1, 2, ... sets: those of YouTube Faces.
SHARES = np.array([591, 471, 307, 167, 51, 8]) / 1595
# How far a set strays from its person, and a face from its set, in units of how far people are apart.
SET, FACE = 0.8, 0.5
# Sets drawn at a time.
CHUNK = 10_000


def draw_people(count: int, seed: int = 0) -> NDArray[np.int64]:
    """Who is on each of ``count`` sets, in random order."""
    rng = np.random.default_rng(seed)
    each = rng.choice(np.arange(1, 7), size=count, p=SHARES)
    return rng.permutation(np.repeat(np.arange(count), each)[:count])


def draw_faces(
    people: NDArray[np.int64], faces: int, dimension: int, seed: int = 0
) -> Iterator[NDArray[np.float32]]:
    """The faces (faces, dimension) of each set: person + set + face, with a few strong directions.

    Descriptors of trained networks are like that: their variance falls off from one direction to the next.
    """
    strength = (1 / np.sqrt(1 + np.arange(dimension) / 16)).astype(np.float32)
    rng = np.random.default_rng([seed, 1])
    centres = rng.standard_normal((people.max() + 1, dimension), dtype=np.float32)
    for start in range(0, len(people), CHUNK):
        who = people[start : start + CHUNK]
        sets = centres[who] + SET * rng.standard_normal((len(who), dimension), dtype=np.float32)
        drawn = FACE * rng.standard_normal((len(who), faces, dimension), dtype=np.float32)
        yield from (sets[:, None] + drawn) * strength
