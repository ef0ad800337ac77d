"""Distance from feature space, between planes whose angles are known."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.errors import BadInput
from lookalike.similarities.dffs import Dffs

# The plane of e1 and e2; the plane of (0.8,0,0.6,0) and (0,0.6,0,0.8): cosines 0.8 along e1, 0.6 along e2.
R = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.6, 0.8, 0.0, 0.0]])
P = np.array([[0.8, 0.0, 0.6, 0.0], [0.0, 0.6, 0.0, 0.8]])


def test_worked_by_hand() -> None:
    # Squared distances of unit vectors of one plane to the other: 1 - 0.64 along e1, 1 - 0.36 along e2,
    # 0.5 in the mean: sim = 1 - 0.5.
    part = Dffs()
    r, p = part.prepare(R), part.prepare(P)
    match = part.match(r, p)
    assert match.score == pytest.approx(0.5, abs=1e-7)
    # The leading half of two canonical vectors is one: e1 and (0.8,0,0.6,0).
    assert np.abs(match.mode_a[:, 1:]).max() == 0.0
    np.testing.assert_allclose(np.abs(match.mode_a[:, 0] @ r["directions"]), [1, 0, 0, 0], atol=1e-6)
    np.testing.assert_allclose(np.abs(match.mode_b[:, 0] @ p["directions"]), [0.8, 0, 0.6, 0], atol=1e-6)


def test_examples_by_hand() -> None:
    # The numbers of maximum correlation, squared: 1 - squared distance of a unit vector to a subspace.
    part = Dffs()
    positives, negatives = part.examples(part.prepare(R), part.prepare(P))
    np.testing.assert_allclose(
        positives, [[0.64, 1, 0.5, 1, 1], [0.36, 1, 0.5, 0, 0], [0.4608, 1, 0.5, 0.5, 0.36]], atol=1e-6
    )
    np.testing.assert_allclose(negatives, [[1, 0.64, 0.5, 1, 1], [1, 0.36, 0.5, 0, 0]], atol=1e-6)


def test_agreement_by_hand() -> None:
    # In four coordinates: the plane of e1, e2 and the plane of e1, e3 share one of two directions: 1/2;
    # and the line e1 lies wholly in the plane.
    part = Dffs(dimension=4)
    e = np.eye(4)
    plane, other, line = e[:, [0, 1]], e[:, [0, 2]], np.column_stack([e[:, 0], np.zeros(4)])
    assert part.agreement({}, plane, other) == pytest.approx(0.5)
    assert part.agreement({}, plane, line) == pytest.approx(1.0)
    assert part.agreement({}, other, line) == part.agreement({}, line, other) == pytest.approx(1.0)
    # Another basis of the same plane changes nothing.
    turned = plane @ np.array([[0.6, -0.8], [0.8, 0.6]])
    assert part.agreement({}, turned, other) == pytest.approx(0.5)


def test_one_only_where_one_subspace_holds_the_other() -> None:
    rng = np.random.default_rng(0)
    part, faces = Dffs(), rng.normal(size=(4, 9))
    whole = part.prepare(faces)
    assert part.match(whole, part.prepare(faces[:2])).score == pytest.approx(1.0, abs=1e-6)
    # Sharing one direction is not enough here, as it would be for the maximum correlation.
    shared = part.prepare(np.vstack([faces[0], rng.normal(size=(3, 9))]))
    assert part.match(whole, shared).score < 0.95


def test_equals_the_mean_squared_distance_of_unit_vectors() -> None:
    rng = np.random.default_rng(1)
    part = Dffs()
    a, b = part.prepare(rng.normal(size=(3, 8))), part.prepare(rng.normal(size=(3, 8)))
    directions_a, directions_b = a["directions"][:3], b["directions"][:3]
    coordinates = rng.normal(size=(200_000, 3))
    coordinates /= np.linalg.norm(coordinates, axis=1, keepdims=True)
    shadows = np.linalg.norm(coordinates @ directions_a @ directions_b.T, axis=1)
    assert part.match(a, b).score == pytest.approx(1 - (1 - shadows**2).mean(), abs=0.003)


def test_impossible_dimension_is_refused() -> None:
    with pytest.raises(BadInput, match="dimension must be a whole number from 1 to 50, got 0"):
        Dffs(dimension=0).prepare(R)
