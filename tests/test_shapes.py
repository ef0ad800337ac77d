"""In the shapes that people have, drawn like real photos, `auto` does no harm and its probabilities hold."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest

from benchmarks.stages_shapes import SHAPES
from lookalike import index, train
from lookalike.evaluation.protocol import leave_one_out
from lookalike.indexing.fit import calibrate
from tests.real_shaped import DIMENSION, real_shaped

TRIED = ("tv", "family", "3x30", "5x75", "20x12", "40x4", "one40", "singletons", "small")
# Shapes in which a re-ranker should be sure of many matches: one that says nothing is never wrong.
MANIFEST = ("tv", "family", "3x30", "5x75", "20x12", "40x4")
# Small galleries have few queries: one of them alone says little.
DRAWS = {"singletons": 4, "small": 4}
TRIFLE, OFF, FOUND = 0.005, 0.15, 0.3


class Measured(NamedTuple):
    """What `auto` changes in one shape, and what its probabilities are worth; means over the draws."""

    precision: float
    rank: float
    error: float  # calibration error of the first 20 answers
    found: float  # share of all matches that are called worth reading


@cache
def measured(shape: str) -> Measured:
    found = []
    for seed in range(DRAWS.get(shape, 1)):
        sets, labels = real_shaped(SHAPES[shape], seed)
        tables = index(sets, preparation="none")
        fitted = train(tables, "auto")
        sure = {"auto": [calibrate(tables, fitted)]}
        result = leave_one_out(tables, {"auto": fitted}, labels, calibrations=sure)
        ours, said = result.summary("auto"), result.calibration()["auto"]
        before = leave_one_out(tables, {"baseline": train(tables, "baseline")}, labels).summary("baseline")
        changes = ours["map"] - before["map"], ours["mean_anr"] - before["mean_anr"]
        found.append((*changes, said["error"] or 0.0, said["found"] or 0.0))
    return Measured(*np.mean(found, axis=0).tolist())


@pytest.mark.parametrize("shape", TRIED)
def test_no_shape_is_harmed(shape: str) -> None:
    found = measured(shape)
    assert found.precision > -TRIFLE
    assert found.rank < TRIFLE


@pytest.mark.parametrize("shape", TRIED)
def test_probabilities_hold(shape: str) -> None:
    assert measured(shape).error < OFF


@pytest.mark.parametrize("shape", MANIFEST)
def test_matches_are_called_worth_reading(shape: str) -> None:
    assert measured(shape).found > FOUND


def test_there_is_a_gain_on_the_whole() -> None:
    found = [measured(shape) for shape in TRIED]
    assert np.mean([one.precision for one in found]) > 0
    assert np.mean([one.rank for one in found]) < 0


# The world itself.


def test_a_shape_has_its_sets_and_is_drawn_again_alike() -> None:
    sets, labels = real_shaped(SHAPES["family"], 3, faces=2)
    assert sorted(Counter(labels.values()).values(), reverse=True) == list(SHAPES["family"])
    assert all(one.faces.shape == (2, DIMENSION) for one in sets)
    again, _ = real_shaped(SHAPES["family"], 3, faces=2)
    np.testing.assert_array_equal(sets[7].faces, again[7].faces)


def test_photos_are_as_near_to_their_own_and_to_strangers_as_real_ones() -> None:
    """Quantiles (10, 50, 90 %) of cosines between photos of one person and of two, to which it was fitted."""
    sets, labels = real_shaped((30,) * 30)
    faces = np.concatenate([one.faces for one in sets])
    people = np.array([labels[one.id] for one in sets])
    pairs = np.triu_indices(len(faces), 1)
    cosines, same = (faces @ faces.T)[pairs], (people[:, None] == people)[pairs]
    assert np.quantile(cosines[same], [0.1, 0.5, 0.9]) == pytest.approx([0.17, 0.47, 0.66], abs=0.08)
    assert np.quantile(cosines[~same], [0.1, 0.5, 0.9]) == pytest.approx([-0.05, 0.10, 0.26], abs=0.08)
