from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.errors import BadInput
from lookalike.kernels.binary_patterns import mirrored_patterns
from lookalike.preparations.whitened import Whitened
from lookalike.preparations.within import FLOOR, Within
from tests.preparations.test_contract import faces_of


def test_by_hand() -> None:
    """Two sets that vary along the first number only, and differ in the second."""
    sets = [np.array([[1.0, 12.0], [3.0, 12.0]]), np.array([[1.0, 16.0], [3.0, 16.0]])]
    # Mean (2, 14), variances 1 and 4: z = ((y - 14) / 2, x - 2). W = diag(0, 1), trace W / 2 = 0.5.
    found = Within(dimension=2).fit(sets).apply(np.array([[3.0, 16.0]]))
    np.testing.assert_allclose(found, [[0.05**-0.5, 1.05**-0.5]], rtol=1e-6)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0, 3, 12]))
def test_variation_within_sets_is_evened_out(seed: int, dimension: int) -> None:
    """With W = V diag(w) V', prepared faces vary by w / (w + floor) within sets: less than 1 everywhere."""
    sets = [one.astype(float) for one in faces_of(seed=seed)]
    even = Whitened(dimension=12).fit(sets)
    part = Within(dimension=dimension).fit(sets)

    def inside(prepared: list[np.ndarray]) -> np.ndarray:
        moved = np.concatenate([one - one.mean(axis=0) for one in prepared]).astype(float)
        return np.linalg.eigvalsh(moved.T @ moved / len(moved))

    found = inside([part.apply(one) for one in sets])
    size = len(found)
    w = inside([even.apply(one)[:, :size] for one in sets])
    np.testing.assert_allclose(found, w / (w + FLOOR * w.mean()), atol=1e-4)


def test_sets_of_one_face_are_whitened_only() -> None:
    sets = faces_of(30, 1)
    part = Within(dimension=4).fit(sets)
    assert part.reason_ == "no set has two different faces: faces are whitened only"
    np.testing.assert_array_equal(part.apply(sets[0]), Whitened(dimension=4).fit(sets).apply(sets[0]))


def test_people_are_told_apart_better() -> None:
    """Light that falls on everybody alike is the largest variation there is, within every set.

    All directions are kept: those that hold most of the variance would be those of the light alone.
    """
    rng = np.random.default_rng(0)
    light = rng.normal(size=(3, 20))
    people = rng.normal(size=(15, 20))
    sets = [who + 4 * rng.normal(size=(5, 3)) @ light for who in people for _ in range(2)]
    part = Within(dimension=20).fit(sets)

    def right(prepared: list[np.ndarray]) -> float:
        means = np.array([one.mean(axis=0) for one in prepared])
        means /= np.linalg.norm(means, axis=1, keepdims=True)
        table = means @ means.T - 2 * np.eye(30)
        return float(np.mean(table.argmax(axis=1) == np.arange(30) + 1 - 2 * (np.arange(30) % 2)))

    assert right(sets) < 0.5
    assert right([part.apply(one) for one in sets]) > 0.9


def test_mirror_images_are_added() -> None:
    """Faces that are each other's mirror images become one."""
    rng = np.random.default_rng(0)
    sets = [rng.integers(0, 9, (4, 59 * 4)).astype(float) for _ in range(6)]
    part = Within(root=True, dimension=4, mirror="2x2").fit(sets)
    places = mirrored_patterns(2, 2, 8)
    turned = sets[0][:, places]
    np.testing.assert_allclose(part.apply(turned), part.apply(sets[0]), rtol=1e-6)
    by_hand = Within(root=True, dimension=4).fit([one + one[:, places] for one in sets])
    np.testing.assert_array_equal(part.apply(sets[0]), by_hand.apply(sets[0] + turned))


def test_a_grid_that_does_not_fit_is_refused() -> None:
    with pytest.raises(BadInput, match="needs 1770 numbers a face, 59 for each cell, got 12"):
        Within(mirror="6x5").fit(faces_of())
    for wrong in ("6", "6x", "0x5", "axb", 5):
        with pytest.raises(BadInput, match="mirror must be empty or the rows and columns"):
            Within(mirror=wrong).check()  # type: ignore[arg-type]
