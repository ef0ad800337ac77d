from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.preparations import _whitening
from lookalike.preparations._whitening import directions, enough, inverse_root, scatter


def drawn(seed: int, sets: int = 12, dimension: int = 5) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [
        rng.normal(size=dimension) + rng.normal(size=(int(rng.integers(1, 6)), dimension))
        for _ in range(sets)
    ]


def test_scatter_by_hand() -> None:
    found = scatter([np.array([[0.0, 0.0], [2.0, 0.0]]), np.array([[1.0, 4.0], [1.0, 8.0]])])
    assert found is not None
    assert (found.faces, found.sets) == (4, 2)
    np.testing.assert_allclose(found.mean, [1.0, 3.0])
    # Deviations from the means (1, 0) and (1, 6) of the sets: (-1, 0), (1, 0), (0, -2), (0, 2).
    assert found.within.tolist() == [[0.5, 0.0], [0.0, 2.0]]
    # From (1, 3): (-1, -3), (1, -3), (0, 1), (0, 5).
    np.testing.assert_allclose(found.total, [[0.5, 0.0], [0.0, 11.0]], atol=1e-14)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 20))
def test_scatter_is_that_of_all_faces(seed: int, rows: int) -> None:
    sets = drawn(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_whitening, "BLOCK_ROWS", rows)
        found = scatter(iter(sets))
    assert found is not None
    together = np.concatenate(sets)
    inside = np.concatenate([one - one.mean(axis=0) for one in sets])
    np.testing.assert_allclose(found.mean, together.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(found.total, np.cov(together.T, bias=True), atol=1e-12)
    np.testing.assert_allclose(found.within, inside.T @ inside / len(inside), atol=1e-12)


def test_the_bits_do_not_depend_on_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for threads in ("1", "4"):
        monkeypatch.setenv("LOOKALIKE_THREADS", threads)
        found.append(scatter(drawn(3, 300, 40)))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_nothing_and_what_does_not_vary() -> None:
    assert scatter([]) is None
    same = scatter([np.full((3, 2), 0.1), np.full((1, 2), 0.1)])
    assert same is not None
    assert not same.total.any()
    assert not same.within.any()
    assert len(directions(same.total).variances) == 0


def test_directions_by_hand() -> None:
    found = directions(np.array([[1.0, 0.0, 0.0], [0.0, 9.0, 0.0], [0.0, 0.0, 0.0]]))
    np.testing.assert_allclose(found.variances, [9.0, 1.0])
    np.testing.assert_allclose(found.axes, [[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]], atol=1e-15)


def test_enough_by_hand() -> None:
    variances = np.array([5.0, 3.0, 1.0, 1.0])
    assert [enough(variances, share) for share in (0.5, 0.51, 0.8, 0.9, 1.0)] == [1, 2, 2, 3, 4]


def test_inverse_root_by_hand() -> None:
    found = inverse_root(np.array([[3.0, 0.0], [0.0, 8.0]]), 1.0)
    np.testing.assert_allclose(found, [[1 / 2, 0.0], [0.0, 1 / 3]], atol=1e-15)
