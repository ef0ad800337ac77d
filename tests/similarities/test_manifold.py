"""Geodesics inside a set, on faces 60° apart."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.errors import BadInput
from lookalike.similarities.manifold import Manifold
from lookalike.similarities.max_max import MaxMax


def circle(*degrees: float) -> np.ndarray:
    return np.column_stack([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])


def agreement(part: Manifold, faces: np.ndarray, u: int, v: int) -> float:
    return part.agreement(part.prepare(faces), np.int64(u), np.int64(v))


def test_worked_by_hand() -> None:
    # Chords of 60° are 1, of 120° sqrt(3). Joined to one neighbour each, face 0 reaches face 2 through
    # face 1: geodesics 1, 1, 2 with mean 4/3, and agreements exp(-1 / (4/3)), exp(-2 / (4/3)).
    faces = circle(0, 60, 120)
    assert agreement(Manifold(neighbours=1), faces, 0, 1) == pytest.approx(np.exp(-0.75), abs=1e-6)
    assert agreement(Manifold(neighbours=1), faces, 0, 2) == pytest.approx(np.exp(-1.5), abs=1e-6)
    assert agreement(Manifold(neighbours=1), faces, 2, 2) == 1.0
    # Joined to both others, the chord is the shorter way: mean (2 + sqrt(3)) / 3.
    mean = (2 + np.sqrt(3)) / 3
    assert agreement(Manifold(neighbours=2), faces, 0, 2) == pytest.approx(
        np.exp(-np.sqrt(3) / mean), abs=1e-6
    )
    # The score is the best cosine: cos 10° between 60° and 70°.
    part = Manifold()
    match = part.match(part.prepare(faces), part.prepare(circle(70, 200)))
    assert match.score == pytest.approx(np.cos(np.radians(10)), abs=1e-6)
    assert (int(match.mode_a), int(match.mode_b)) == (1, 0)


def test_examples_by_hand() -> None:
    # r = {0°, 60°, 120°} (geodesics as above), p = {130°, 190°}: its only geodesic is 1, its mean too.
    part = Manifold(neighbours=1)
    positives, negatives = part.examples(part.prepare(circle(0, 60, 120)), part.prepare(circle(130, 190)))
    assert positives.shape == (6, 5)
    assert negatives.shape == (2, 5)
    # Best pair 120° and 130°: s3 = cos 10°, tp = face 2, pt = face 0. Query 0°, target's mode 60°:
    # s1 = cos 130° at 130°, s2 = cos 60°, s4 = 1, s5 = agreement of 60° and 120°.
    cos = lambda degrees: np.cos(np.radians(degrees))  # noqa: E731
    np.testing.assert_allclose(positives[0], [cos(130), 0.5, cos(10), 1.0, np.exp(-0.75)], atol=1e-6)
    # Query 130°, proxy's mode 190°: s1 = cos 60°, s2 = cos 10° at 120°, s4 = exp(-1), s5 = 1.
    np.testing.assert_allclose(negatives[0], [0.5, cos(10), cos(10), np.exp(-1.0), 1.0], atol=1e-6)


def test_the_way_along_a_horseshoe_is_longer_than_across() -> None:
    # The ends, 20° apart across the gap, are closer in space than faces 60° apart along the shoe. Joined to
    # their two nearest faces, which lie along the shoe, they agree least of all.
    faces = circle(*range(10, 351, 10))
    part, ends = Manifold(neighbours=2, samples=0), (0, 34)
    assert MaxMax(samples=0).prepare(faces)["faces"].shape == (35, 2)
    prepared = part.prepare(faces)
    to_all = [part.agreement(prepared, np.int64(0), np.int64(other)) for other in range(35)]
    assert to_all == sorted(to_all, reverse=True)
    assert to_all[ends[1]] < 0.2
    assert float(faces[0] @ faces[34]) > 0.9


def test_no_part_of_a_set_is_cut_off() -> None:
    # Two clusters that know only themselves: a spanning tree joins them.
    faces = np.vstack([circle(0, 1, 2, 3), circle(150, 151, 152, 153)])
    table = Manifold(neighbours=1).prepare(faces)["agreements"]
    assert np.isfinite(table).all()
    assert table.min() > 0
    assert table.max() == 1.0


@pytest.mark.parametrize("neighbours", [0, -1, 1.5, "few"])
def test_impossible_neighbours_are_refused(neighbours: object) -> None:
    with pytest.raises(BadInput, match="neighbours must be a whole number of at least 1, got"):
        Manifold(neighbours=neighbours).prepare(circle(0, 60))


def test_touching_faces_agree_wholly() -> None:
    np.testing.assert_array_equal(Manifold().prepare(np.tile([3.0, 4.0], (5, 1)))["agreements"], 1.0)


def test_equal_faces_agree_wholly_beside_others() -> None:
    # Faces 0 and 1 are one face; a geodesic of length 0 joins them, not the way round through face 2.
    for twice in ([3.0, 4.0], [0.3, 0.7], [-1.0, 5.0]):
        part = Manifold(neighbours=1)
        prepared = part.prepare(np.array([twice, twice, [1.0, 0.0], [0.0, -1.0]]))
        assert part.agreement(prepared, np.int64(0), np.int64(1)) == pytest.approx(1.0, abs=1e-4)
        assert part.agreement(prepared, np.int64(0), np.int64(2)) < 0.9
