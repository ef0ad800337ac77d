"""Faces that stand for a video: lines and arcs whose even steps are known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.similarities._exemplars import PREIMAGES, energies, select


def arc(count: int, degrees: float = 120.0) -> np.ndarray:
    angles = np.radians(np.linspace(0, degrees, count))
    return np.column_stack([np.cos(angles), np.sin(angles)])


def brute_force(faces: np.ndarray, bandwidth: float | None = None) -> tuple[np.ndarray, np.ndarray]:
    """All energies, largest first, and projections on the first component, by a full decomposition."""
    distances = np.linalg.norm(faces[:, None] - faces[None], axis=2)
    width = bandwidth or np.median(distances[np.triu_indices(len(faces), 1)])
    kernel = np.exp(-0.5 * (distances / width) ** 2)
    centring = np.eye(len(faces)) - 1 / len(faces)
    values, vectors = np.linalg.eigh(centring @ kernel @ centring)
    return values[::-1], vectors[:, -1] * np.sqrt(values[-1])


@pytest.mark.parametrize("preimage", PREIMAGES)
def test_even_steps_on_a_line_by_hand(preimage: str) -> None:
    # Under a wide kernel, kernel PCA is PCA: 101 faces at 0, 1, ..., 100, eleven even steps.
    faces = np.column_stack([np.arange(101.0), np.full(101, 50.0)])
    chosen, nearest = select(faces, 11, preimage, bandwidth=5000.0)
    assert sorted(nearest.tolist()) == list(range(0, 101, 10))
    assert set(np.sign(np.diff(nearest))) in ({1}, {-1})  # in the order of the component
    np.testing.assert_array_equal(faces[nearest][:, 1], 50.0)
    np.testing.assert_allclose(chosen, faces[nearest], atol=5.0)


@pytest.mark.parametrize("bandwidth", [3.0, None])
@pytest.mark.parametrize("count", [40, 101])  # decomposed whole, and by its leading vector alone
def test_even_steps_on_an_arc_are_found(count: int, bandwidth: float | None) -> None:
    faces = arc(count)
    chosen, nearest = select(faces, 10, "nearest", bandwidth)
    np.testing.assert_array_equal(chosen, faces[nearest])
    assert set(np.sign(np.diff(nearest))) in ({1}, {-1})
    # The arc is its own mirror image, and so are the steps. Only under a wide kernel are the ends of the arc
    # the ends of the component: a narrow one lets the component fall off again where faces have neighbours
    # on one side only.
    assert {count - 1 - place for place in nearest.tolist()} == set(nearest.tolist())
    assert ({0, count - 1} <= set(nearest.tolist())) == (bandwidth is not None)
    # Each step lies as close to an even cut of the component as the faces allow.
    _, projections = brute_force(faces, bandwidth)
    steps = np.linspace(projections.min(), projections.max(), 10)
    found = np.sort(projections[nearest])
    np.testing.assert_allclose(found, steps, atol=np.diff(np.sort(projections)).max() / 2 + 1e-9)


@given(st.integers(0, 2**32 - 1), st.integers(11, 90), st.integers(2, 10))
@settings(max_examples=25, deadline=None)
def test_extremes_are_always_chosen(seed: int, count: int, samples: int) -> None:
    rng = np.random.default_rng(seed)
    faces = arc(count, 80.0)[rng.permutation(count)] + 0.05 * rng.normal(size=(count, 2))
    _, projections = brute_force(faces)
    _, nearest = select(faces, samples, "nearest")
    assert {int(projections.argmin()), int(projections.argmax())} <= set(nearest.tolist())
    assert len(set(nearest.tolist())) == len(nearest) <= samples


@given(st.integers(0, 2**32 - 1), st.integers(11, 90))
@settings(max_examples=25, deadline=None)
def test_order_of_the_faces_does_not_matter(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    faces, order = rng.normal(size=(count, 6)), rng.permutation(count)
    _, nearest = select(faces, 10, "nearest")
    _, shuffled = select(faces[order], 10, "nearest")
    assert set(order[shuffled].tolist()) == set(nearest.tolist())


@pytest.mark.parametrize("preimage", ["fixed-point", "learned"])
@pytest.mark.parametrize("count", [40, 101])
def test_made_up_faces_lie_close_to_the_arc(preimage: str, count: int) -> None:
    faces = arc(count)
    chosen, nearest = select(faces, 10, preimage, bandwidth=3.0)
    _, real = select(faces, 10, "nearest", bandwidth=3.0)
    np.testing.assert_array_equal(nearest, real)  # evidence is the same real face whatever stands for it
    assert chosen.shape == (len(nearest), 2)
    # Under so wide a kernel the component is nearly a straight line through the arc.
    assert np.linalg.norm(chosen - faces[nearest], axis=1).max() < 0.35
    angles = np.arctan2(chosen[:, 1], chosen[:, 0])
    assert set(np.sign(np.diff(angles))) in ({1}, {-1})  # in the order of the steps


@pytest.mark.parametrize("count", [40, 101])
def test_a_fixed_point_is_closer_to_its_step_than_any_real_face(count: int) -> None:
    faces, width = arc(count), 1.0
    made_up, nearest = select(faces, 6, "fixed-point", bandwidth=width)
    assert len(made_up) == 6
    values, projections = brute_force(faces, width)
    if projections[nearest[0]] > projections[nearest[-1]]:
        projections = -projections  # the sign of an eigenvector means nothing
    direction = projections / values[0]

    def closeness(points: np.ndarray, weights: np.ndarray) -> np.ndarray:
        # |image(z) - step|² falls as sum_i weight_i k(z, x_i) grows.
        squares = np.square(points[:, None] - faces[None]).sum(axis=2)
        return np.exp(-0.5 * squares / width**2) @ weights

    steps = np.linspace(projections.min(), projections.max(), 6)
    for point, step in zip(made_up, steps, strict=True):
        weights = step * (direction - direction.mean()) + 1 / count
        assert closeness(point[None], weights)[0] >= closeness(faces, weights).max() - 1e-9


def test_a_made_up_face_may_be_none_of_the_real_ones() -> None:
    faces = arc(40)
    for preimage in ("fixed-point", "learned"):
        chosen, _ = select(faces, 10, preimage)
        assert np.abs(chosen[:, None] - faces[None]).max(axis=2).min(axis=1).max() > 1e-4


@pytest.mark.parametrize("preimage", PREIMAGES)
def test_identical_faces_are_one_face(preimage: str) -> None:
    chosen, nearest = select(np.tile([0.6, 0.8, 0.0], (20, 1)), 10, preimage)
    np.testing.assert_array_equal(chosen, [[0.6, 0.8, 0.0]])
    assert nearest.tolist() == [0]


def test_energies_by_hand() -> None:
    # Two faces, kernel [[1, k], [k, 1]] with k = exp(-1/2) at the median distance: centred, its only
    # eigenvalue is 1 - k.
    expected = 1 - np.exp(-0.5)
    np.testing.assert_allclose(energies(np.array([[0.0, 3.0], [4.0, 0.0]])), [expected, 0, 0], atol=1e-12)
    # Three faces, each as far from each: 1 - k twice.
    triangle = np.eye(3)
    np.testing.assert_allclose(energies(triangle), [expected, expected, 0], atol=1e-12)
    # Another width: k = exp(-1) for a distance of sqrt(2) and a width of 1.
    np.testing.assert_allclose(energies(triangle, 2, 1.0), [1 - np.exp(-1)] * 2, atol=1e-12)


@pytest.mark.parametrize("count", [30, 80])
def test_energies_equal_the_full_decomposition(count: int) -> None:
    faces = np.random.default_rng(count).normal(size=(count, 4)) * [3, 2, 1, 0.5]
    np.testing.assert_allclose(energies(faces), brute_force(faces)[0][:3], rtol=1e-7)


def test_energies_of_few_or_identical_faces() -> None:
    assert energies(np.ones((1, 4))).tolist() == [0, 0, 0]
    assert energies(np.tile([1.0, 2.0], (9, 1))).tolist() == [0, 0, 0]
    assert energies(arc(40))[1:].max() < energies(arc(40))[0]


def test_a_large_set_is_never_decomposed_whole() -> None:
    # A full decomposition of 3,000 faces takes minutes of this suite; the leading vector about a second.
    rng = np.random.default_rng(0)
    turn = np.linspace(0, 1, 3000)
    faces = np.column_stack([np.cos(turn), np.sin(turn), 0.02 * rng.normal(size=(3000, 18))])
    _, nearest = select(faces, 10, "nearest")
    assert len(nearest) == 10
    # The even steps follow the turn of the head, from one end of it to the other.
    assert set(np.sign(np.diff(turn[nearest]))) in ({1}, {-1})
    assert np.ptp(turn[nearest]) > 0.8


def test_inputs_are_untouched() -> None:
    faces = arc(60)
    before = faces.copy()
    for preimage in PREIMAGES:
        select(faces, 5, preimage)
    energies(faces)
    np.testing.assert_array_equal(faces, before)


@pytest.mark.parametrize("preimage", PREIMAGES)
def test_many_identical_faces_are_one_face(preimage: str) -> None:
    faces = np.tile([0.6, 0.8, 0.0], (60, 1))
    chosen, nearest = select(faces, 10, preimage)
    np.testing.assert_allclose(chosen, [[0.6, 0.8, 0.0]], atol=1e-9)
    assert nearest.tolist() == [0]
    assert energies(faces).tolist() == [0, 0, 0]


@pytest.mark.parametrize("count", [12, 20, 60])
def test_equal_faces_are_chosen_once(count: int) -> None:
    # Two different faces, many times each: ten steps end at one of the two, the first of its copies.
    faces = np.repeat(np.array([[1.0, 0.3, 0.2], [0.1, 1.0, 0.4]]), count, axis=0)
    _, nearest = select(faces, 10, "nearest")
    assert sorted(nearest.tolist()) == [0, count]
