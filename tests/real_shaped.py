"""Drawn photos with the statistics of real ones, for galleries in the shapes that people have.

No number here is a real face. The constants were fitted to 4,349 web photos of 50 people, described by a
MobileFaceNet of 128 numbers: to the spectra of what differs between people and between photos of a person,
to how near photos are to the mean of their person and to strangers, and (looks, retakes) to closure: how many
pairs of mutual k-neighbours of a set are mutual k-neighbours too, for k from 2 to 64, beyond chance.
As means of eight draws, closure comes within .07 of that of real galleries in all ten shapes and at every k,
and the mAP of the baseline within .03 in all but one (where one person has 40 %: .04 above).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lookalike import FaceSet

Vectors = NDArray[np.float64]

DIMENSION = 128
# Variances of directions fall by e in so many of them: people differ in few, photos of a person in many.
BETWEEN, WITHIN = 16.0, 40.0
# All faces share a direction: cosine of a person with it, and how far what varies between photos leans to it.
# It makes strangers alike by .1 on average, and some of them hubs.
COMMON, LEANING = 0.45, 0.15
# Cosine of a photo with its person: mean, deviation between people, deviation between photos of one.
QUALITY, OF_PERSON, OF_PHOTO = 0.72, 0.04, 0.085
# One photo in ten is bad: dim, turned away, blurred, or somebody else. Its cosine is anything up to this.
BAD, BEST_BAD = 0.1, 0.55
SHARPEST = 0.93
# Photos of a person come in looks (an age, a role, an evening), some of them common and some rare; the look
# is so much of what differs from the person. A bad photo has none.
LOOKS, LOOK = 9, 0.55
# One photo in so many was taken a moment after another one of the same person: cosine of what differs.
RETAKEN, RETAKE = 0.12, 0.85


def real_shaped(counts: Sequence[int], seed: int = 0, faces: int = 1) -> tuple[list[FaceSet], dict[str, str]]:
    """A gallery of people with so many sets each, of so many photos each; ids do not tell who is who."""
    rng = np.random.default_rng([seed, len(counts), sum(counts)])
    people = np.repeat(np.arange(len(counts)), counts)
    vectors = photos(np.repeat(people, faces), rng).reshape(len(people), faces, DIMENSION)
    ids = [f"set-{number:04d}" for number in rng.permutation(len(people))]
    sets = [FaceSet(id, own) for id, own in zip(ids, vectors, strict=True)]
    return sets, {id: f"person-{person}" for id, person in zip(ids, people.tolist(), strict=True)}


def photos(people: NDArray[np.int64], rng: np.random.Generator) -> Vectors:
    """One vector of length 1 for each photo: its person by the quality of the photo, the rest by its look."""
    common = _directions((), BETWEEN, rng)
    own = _directions((people.max() + 1,), BETWEEN, rng)
    persons = _unit(COMMON * common + np.sqrt(1 - COMMON**2) * own)[people]
    quality, is_bad = _quality(people, rng)
    before, again = _retaken(people, rng)
    rest = _looks(people, is_bad, rng)
    rest = np.where(again[:, None], RETAKE * rest[before] + np.sqrt(1 - RETAKE**2) * rest, rest)
    rest = _unit(rest + LEANING * common)
    quality = quality[before]
    # What does not come from the person is at right angles to it.
    rest = _unit(rest - (rest * persons).sum(axis=1, keepdims=True) * persons)
    return quality[:, None] * persons + np.sqrt(1 - quality**2)[:, None] * rest


def _quality(people: NDArray[np.int64], rng: np.random.Generator) -> tuple[Vectors, NDArray[np.bool_]]:
    """The cosine of each photo with its person, and whether it is a bad one."""
    usual = rng.normal(QUALITY, OF_PERSON, people.max() + 1)[people]
    is_bad = rng.random(len(people)) < BAD
    good = np.minimum(usual + OF_PHOTO * rng.normal(size=len(people)), SHARPEST)
    return np.where(is_bad, rng.uniform(0, BEST_BAD, len(people)), good), is_bad


def _looks(people: NDArray[np.int64], is_bad: NDArray[np.bool_], rng: np.random.Generator) -> Vectors:
    """What differs between photos of a person; those of one look differ less."""
    total = people.max() + 1
    # How common each look of each person is, cumulated; where a random number falls is the look of a photo.
    common = rng.dirichlet(np.ones(LOOKS), total).cumsum(axis=1)
    chosen = (rng.random(len(people))[:, None] > common[people, :-1]).sum(axis=1)
    looks = _directions((total, LOOKS), WITHIN, rng)[people, chosen]
    alone = _directions((len(people),), WITHIN, rng)
    return np.where(is_bad[:, None], alone, LOOK * looks + np.sqrt(1 - LOOK**2) * alone)


def _retaken(
    people: NDArray[np.int64], rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The photo before each, itself for most; and whether that is another one."""
    before = np.arange(len(people))
    for photo in np.flatnonzero(rng.random(len(people)) < RETAKEN).tolist():
        before[photo] = rng.choice(np.flatnonzero(people == people[photo]))
    return before, before != np.arange(len(people))


def _directions(shape: tuple[int, ...], scale: float, rng: np.random.Generator) -> Vectors:
    """Random directions, whose numbers fall off by a scale."""
    spread = np.exp(-np.arange(DIMENSION) / (2 * scale))
    return _unit(rng.normal(size=(*shape, DIMENSION)) * spread)


def _unit(vectors: Vectors) -> Vectors:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
