"""A world of descriptors only, in the shape of YouTube Faces: fast enough for thousands of sets.

A face is a table of histograms, one for each cell of a grid over the face. Its logarithm is a sum:

    common + visible(yaw) * person + style(video) + path(time) + grain

Styles (lamp, camera, pose) are few and shared by strangers, which makes look-alikes; turning the head hides
the cells of one side, so two videos of a person may have no view in common but share one with a third.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput
from lookalike.faceset import FaceSet

YTF_COUNTS: Final[Mapping[int, int]] = {1: 591, 2: 471, 3: 307, 4: 167, 5: 51, 6: 8}
BINS: Final = 59  # uniform local binary patterns of 8 points
COLUMNS: Final = 5  # of the grid of cells

_PERSON_TRAITS: Final = 48
_NUISANCES: Final = 20
_STYLES: Final = 60
_OVERLAP: Final = 0.35  # share of the nuisance that looks like identity
_PERSON_STRENGTH: Final = 0.42
_STYLE_STRENGTH: Final = 0.62
_OWN_STYLE: Final = 0.45  # how far a video strays from its style
_PATH: Final = 0.35  # how far a face strays within its video
_GRAIN: Final = 0.30
_HABIT: Final = 0.4  # share of a person's videos made in the one style that they often appear in
_SIDES: Final = 1.6  # how strongly a turned head hides the cells of one side

_WORLD, _PERSON, _VIDEO, _ORDER = 1, 2, 3, 4

Table = NDArray[np.float32]


def vector_world(
    seed: int = 0, counts: Mapping[int, int] = YTF_COUNTS, faces: int = 10, dimension: int = 1770
) -> Iterator[tuple[FaceSet, int]]:
    """Make sets of descriptors one by one, in the order of their ids.

    Parameters
    ----------
    seed : int
        Which world.
    counts : mapping of int to int
        How many people have that many sets: ``{1: 591, 2: 471}`` is 591 people with one set, 471 with two.
    faces : int
        Faces in a set.
    dimension : int
        Numbers in a descriptor, a multiple of `BINS`: one histogram that sums to 1 for each cell.

    Yields
    ------
    FaceSet, int
        The set, and the index of its person.
    """
    if seed < 0:
        raise BadInput(f"a seed is 0 or more, got {seed}: any such number names a world")
    if faces < 1:
        raise BadInput(f"a set has 1 face or more, got faces {faces}: ask for at least one")
    if dimension < BINS or dimension % BINS:
        raise BadInput(f"dimension is a positive multiple of {BINS}, got {dimension}: for instance 1770")
    if not counts or min(counts) < 1 or min(counts.values()) < 0 or sum(counts.values()) < 1:
        raise BadInput(
            f"counts maps sets per person (1 or more) to how many people (at least one in all), "
            f"got {dict(counts)}: for instance {{2: 10}}"
        )
    each = [sets for sets, people in sorted(counts.items()) for _ in range(people)]
    cast = [(person, video) for person, sets in enumerate(each) for video in range(sets)]
    return _videos(cast, seed, faces, dimension)


@dataclass(frozen=True, eq=False)
class _World:
    """What all faces of a world share."""

    common: Table  # (dimension,)
    person: Table  # (traits, dimension)
    nuisance: Table  # (nuisances, dimension)
    styles: Table  # (styles, nuisances)
    side: Table  # (cells,) from -1, left, to 1

    @classmethod
    def draw(cls, seed: int, dimension: int) -> _World:
        rng = _rng(seed, _WORLD, 0, 0)
        cells = dimension // BINS
        # A few patterns (edges, flat skin) fill most of every histogram, as in photographs.
        common = rng.normal(0, 1.0, BINS) + rng.normal(0, 0.5, (cells, BINS))
        person = rng.standard_normal((_PERSON_TRAITS, dimension)) / math.sqrt(_PERSON_TRAITS)
        blend = rng.standard_normal((_NUISANCES, _PERSON_TRAITS)) / math.sqrt(_NUISANCES)
        free = rng.standard_normal((_NUISANCES, dimension)) / math.sqrt(_NUISANCES)
        nuisance = math.sqrt(1 - _OVERLAP) * free + math.sqrt(_OVERLAP) * blend @ person
        return cls(
            common=common.ravel().astype(np.float32),
            person=person.astype(np.float32),
            nuisance=nuisance.astype(np.float32),
            styles=rng.standard_normal((_STYLES, _NUISANCES), dtype=np.float32),
            side=(np.arange(cells) % COLUMNS / ((COLUMNS - 1) / 2) - 1).astype(np.float32),
        )


def _videos(
    cast: list[tuple[int, int]], seed: int, faces: int, dimension: int
) -> Iterator[tuple[FaceSet, int]]:
    world = _World.draw(seed, dimension)
    order = _rng(seed, _ORDER, 0, 0).permutation(len(cast)).tolist()
    digits = max(4, len(str(len(cast))))
    for number, place in enumerate(order, start=1):
        person, video = cast[place]
        own = _rng(seed, _PERSON, person, 0)
        traits = own.standard_normal(_PERSON_TRAITS, dtype=np.float32)
        habit = int(own.integers(_STYLES))
        histograms = _video(world, traits, habit, _rng(seed, _VIDEO, person, video), faces)
        yield FaceSet(f"video-{number:0{digits}d}", histograms, origin=f"vector world {seed}"), person


def _video(world: _World, traits: Table, habit: int, rng: np.random.Generator, faces: int) -> Table:
    """Faces (n, dimension) of one video: a smooth path through nuisance and yaw."""
    time = np.linspace(0, 1, faces, dtype=np.float32)[:, None]
    other = int(rng.integers(_STYLES))
    style = world.styles[habit if rng.uniform() < _HABIT else other]
    own, first, second = rng.standard_normal((3, _NUISANCES), dtype=np.float32)
    phase, turn, swing = rng.uniform(0, 2 * math.pi), rng.normal(0, 0.8), rng.uniform(0.1, 0.9)
    angle = (phase + math.pi * time).astype(np.float32)
    path = np.cos(angle) * first + np.sin(angle) * second
    nuisance = _STYLE_STRENGTH * (style + _OWN_STYLE * own) + _PATH * path
    yaw = turn + swing * np.sin(angle)
    visible = 1 / (1 + np.exp(-(1.2 + _SIDES * yaw * world.side)))  # (faces, cells)
    identity = (_PERSON_STRENGTH * traits @ world.person).reshape(-1, BINS)
    logits = world.common + nuisance @ world.nuisance
    logits += _GRAIN * rng.standard_normal(logits.shape, dtype=np.float32)
    table = logits.reshape(faces, -1, BINS) + visible[:, :, None].astype(np.float32) * identity
    table = np.exp(table - table.max(axis=2, keepdims=True))
    table /= table.sum(axis=2, keepdims=True)
    return table.reshape(faces, -1)


def _rng(seed: int, key: int, first: int, second: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(key, first, second)))
