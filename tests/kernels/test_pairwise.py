"""Best pairs of faces, against a brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.kernels.exact import cosines, unit_rows
from lookalike.kernels.screening import best_pairs


def joined(sets: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    return unit_rows(np.concatenate(sets)), np.cumsum([0, *map(len, sets)])


def brute_force(a: list[np.ndarray], b: list[np.ndarray], i: int, j: int) -> tuple[float, int, int]:
    best = (-2.0, -1, -1)
    for p, face in enumerate(a[i]):
        for q, other in enumerate(b[j]):
            cosine = float(cosines(unit_rows(face[None]), unit_rows(other[None]))[0, 0])
            best = (cosine, p, q) if cosine > best[0] else best  # the first of equals stays
    return best


def test_worked_by_hand() -> None:
    # A = {(1,0), (0,1)}, B = {(-1,0), (0.6,0.8)}, C = {(0.8,-0.6)}
    # A.B: rows (-1, 0.6) and (0, 0.8): best 0.8 at (1, 1). A.C: 0.8 and -0.6: best 0.8 at (0, 0).
    a, b, c = np.eye(2), np.array([[-1, 0], [0.6, 0.8]]), np.array([[0.8, -0.6]])
    best, face_a, face_b = best_pairs(*joined([a]), *joined([b, c]))
    np.testing.assert_allclose(best, [[0.8, 0.8]], atol=1e-7)
    assert face_a.tolist() == [[1, 0]]
    assert face_b.tolist() == [[1, 0]]


def test_a_padded_set_is_not_beaten_by_its_padding() -> None:
    # All cosines of the short set are negative: nothing invented (a zero row, say) may win.
    short, long = np.array([[-1.0, 0.1]]), np.array([[1.0, 0.0], [1.0, 1.0], [1.0, -1.0]])
    best, face_a, face_b = best_pairs(*joined([short, long]), *joined([np.array([[1.0, 0.0]])]))
    assert best[0, 0] < -0.9
    assert best[1, 0] == pytest.approx(1.0)
    assert face_a.tolist() == [[0], [0]]
    assert face_b.tolist() == [[0], [0]]


# Few different faces, so that many pairs tie exactly.
faces = st.sampled_from([(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (-1, 0, 0), (0, 3, 4), (0, 4, 3)])
sets = st.lists(
    st.lists(faces, min_size=1, max_size=5).map(lambda rows: np.array(rows, dtype=float)),
    min_size=1,
    max_size=4,
)


@given(sets, sets)
@settings(max_examples=40, deadline=None)
def test_ragged_sets_with_ties_equal_the_brute_force(a: list[np.ndarray], b: list[np.ndarray]) -> None:
    best, face_a, face_b = best_pairs(*joined(a), *joined(b))
    assert best.shape == face_a.shape == face_b.shape == (len(a), len(b))
    for i, j in np.ndindex(best.shape):
        assert (best[i, j], face_a[i, j], face_b[i, j]) == brute_force(a, b, i, j)


def test_no_sets_at_all() -> None:
    faces_a, starts_a = joined([np.eye(3), np.eye(3)])
    best, face_a, face_b = best_pairs(faces_a, starts_a, faces_a[:0], np.zeros(1, dtype=np.int64))
    assert best.shape == face_a.shape == face_b.shape == (2, 0)
    best, _, _ = best_pairs(faces_a[:0], np.zeros(1, dtype=np.int64), faces_a, starts_a)
    assert best.shape == (0, 2)
