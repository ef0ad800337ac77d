"""Guess: the sets whose coded faces come nearest to those of a query, and how near they really are.

Which sets are found does not depend on how a gallery is spread: every slice finds as many as are wanted of
all, so the best of all of them together are those that one place would find.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.codes import Codes


class Guessed(NamedTuple):
    """Some sets, by the guess about their nearest face, nearest first; ties go to the lower number."""

    sets: NDArray[np.int64]  # (k,)
    guesses: NDArray[np.float32]  # (k,): product of their face that is guessed to be nearest
    nearest: NDArray[np.float64]  # (k,): product of the face that is


def guess(
    faces: NDArray[Any], starts: NDArray[np.int64], codes: Codes, asked: NDArray[Any], most: int
) -> Guessed:
    """Find the sets that are guessed to be nearest to any of the faces asked with.

    Parameters
    ----------
    faces : array (n, d)
        Of all sets, one after the other.
    starts : array (sets + 1,)
        Where each set begins.
    codes : Codes
        Of these faces.
    asked : array (q, d)
        Faces of a query.
    most : int
        How many sets, as far as there are so many.
    """
    count = most
    while True:
        numbers, products = codes.nearest(asked, count)
        products = np.where(numbers < 0, -np.inf, products)
        # A face that is nearer than the last one of every list is in a list: all others may be missing.
        is_all = numbers.shape[1] == len(codes)
        sure = products > (-np.inf if is_all else products[:, -1].max())
        owners = np.searchsorted(starts, numbers[sure], side="right") - 1
        sets, guesses = _largest(owners, products[sure])
        if is_all or len(sets) >= most:
            break
        count *= 2  # sets of many faces, or very many ties
    if len(sets) < most:
        # The library does not name faces with the smallest sum there can be: nothing is less near.
        others = np.setdiff1d(np.arange(len(starts) - 1), sets)
        sets = np.concatenate([sets, others])
        guesses = np.concatenate([guesses, np.full(len(others), -np.inf, dtype=np.float32)])
    order = np.lexsort((sets, -guesses))[:most]
    sets, guesses = sets[order], guesses[order]
    return Guessed(sets, guesses, _nearest(faces, starts, sets, asked))


def joined(parts: Sequence[Guessed], most: int) -> Guessed:
    """The best of several guesses about different sets, numbered alike."""
    sets, guesses, nearest = map(np.concatenate, zip(*parts, strict=True))
    order = np.lexsort((sets, -guesses))[:most]
    return Guessed(sets[order], guesses[order], nearest[order])


def _largest(
    owners: NDArray[np.int64], products: NDArray[np.float32]
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Each owner once, with its largest product."""
    order = np.argsort(owners, kind="stable")
    sets, first = np.unique(owners[order], return_index=True)
    return sets, np.maximum.reduceat(products[order], first) if len(sets) else products[:0]


def _nearest(
    faces: NDArray[Any], starts: NDArray[np.int64], sets: NDArray[np.int64], asked: NDArray[Any]
) -> NDArray[np.float64]:
    """Largest product of any face of each set with any face asked with."""
    if not len(sets):
        return np.empty(0)
    sizes = starts[sets + 1] - starts[sets]
    first = np.cumsum(sizes) - sizes
    rows = np.arange(int(sizes.sum())) + np.repeat(starts[sets] - first, sizes)
    # Products of faces are exact in double precision, whatever the order of adding up.
    products = np.take(faces, rows, axis=0).astype(np.float64) @ asked.T.astype(np.float64)
    return np.maximum.reduceat(products.max(axis=1), first)
