"""Best pair of faces between many sets."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.exact import cosines

Floats = NDArray[np.floating[Any]]
Ints = NDArray[np.int64]


def best_pairs(
    faces_a: Floats,
    starts_a: Ints,
    faces_b: Floats,
    starts_b: Ints,
    lengths_a: NDArray[np.float64] | None = None,
    lengths_b: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.float64], Ints, Ints]:
    """Largest cosine between any face of set i and any face of set j, with the faces that reach it.

    Sets lie one after the other: set i owns rows ``starts[i]`` to ``starts[i + 1]``.

    Parameters
    ----------
    faces_a, faces_b : arrays (rows, d)
        Unit rows on the grid.
    starts_a, starts_b : arrays (n + 1,)
        First row of each set, and the end.
    lengths_a, lengths_b : arrays (rows,), optional
        Lengths of the rows, if they are not 1 but for the grid.

    Returns
    -------
    best, face_a, face_b : arrays (n_a, n_b)
        The cosine, and the positions inside sets i and j. Ties go to the lowest position in a, then in b.
    """
    rows_a, rows_b = _padded(starts_a), _padded(starts_b)
    products = cosines(
        faces_a[rows_a.ravel()],
        faces_b[rows_b.ravel()],
        None if lengths_a is None else lengths_a[rows_a.ravel()],
        None if lengths_b is None else lengths_b[rows_b.ravel()],
    )
    table = products.reshape(*rows_a.shape, *rows_b.shape)  # (n_a, m_a, n_b, m_b)
    by_face_a = table.max(axis=3)  # (n_a, m_a, n_b)
    face_a = by_face_a.argmax(axis=1)  # (n_a, n_b)
    i, j = np.indices(face_a.shape, sparse=True)
    best = by_face_a[i, face_a, j]
    face_b = table[i, face_a, j].argmax(axis=2)
    return best, face_a.astype(np.int64), face_b.astype(np.int64)


def _padded(starts: Ints) -> Ints:
    """Row numbers (n, longest): short sets repeat their first row, which can never win a tie."""
    lengths = np.diff(starts)
    steps = np.arange(int(lengths.max(initial=1)))
    return starts[:-1, None] + np.where(steps < lengths[:, None], steps, 0)
