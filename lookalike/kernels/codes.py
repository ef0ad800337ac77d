"""Codes: vectors in four bits a component, among which the nearest to a query are guessed quickly.

Every component is rounded to one of sixteen even steps around its mean. Products with a query are then sums
of small whole numbers, which nothing rounds: they have the same bits on any processor, in any order. 100,000
vectors of 128 components take 6.4 MB and are read in about a millisecond. What comes out is a guess,
good enough to leave out what is far; who needs the truth compares what is left.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput
from lookalike.kernels.compiled import reordered
from lookalike.kernels.threads import blocks, in_order

Ints = NDArray[np.int64]

# Four bits, and the step between two levels in standard deviations: of sixteen even steps this one errs least
# for a normal variable (Max, "Quantizing for minimum distortion", IRE Transactions 1960), by 0.0115 of its
# variance.
LEVELS, STEP = 16, 0.3352
# Vectors from which the steps, and floors, are told, evenly spread; vectors coded, and vectors read by one
# thread, at a time.
SAMPLE, FLOOR_SAMPLE = 1 << 16, 1 << 13
BLOCK, RUN = 1 << 14, 1 << 18
# The largest sum of products that is allowed, and the largest weight.
LARGEST_SUM, LARGEST_WEIGHT = 2**30, 2**15 - 1


class Codes:
    """Coded vectors.

    Parameters
    ----------
    grid : array (2, d) of float32
        The lowest level of each component, and the step from one level to the next.
    packed : array (n, d / 2 rounded up) of uint8
        Levels of two components a byte, the first in its lower half.
    """

    def __init__(self, grid: NDArray[np.float32], packed: NDArray[np.uint8]) -> None:
        fits = grid.ndim == packed.ndim == 2 and grid.shape == (2, grid.shape[1])
        if not fits or packed.shape[1] != -(-grid.shape[1] // 2) or packed.dtype != np.uint8:
            raise BadInput("the stored codes do not fit together: they are made again when deleted")
        self.grid, self.packed = grid, packed

    @classmethod
    def of(cls, vectors: NDArray[Any], grid: NDArray[np.float32] | None = None) -> Self:
        """Code the vectors (n, d) by a grid that is told from them unless given."""
        grid = grid_of(vectors) if grid is None else grid
        packed = np.empty((len(vectors), -(-vectors.shape[1] // 2)), dtype=np.uint8)
        for where in blocks(len(vectors), BLOCK):
            levels = np.rint((vectors[where].astype(np.float32) - grid[0]) / grid[1])
            coded = np.clip(levels, 0, LEVELS - 1).astype(np.uint8)
            packed[where] = coded[:, ::2]
            packed[where, : coded.shape[1] // 2] |= coded[:, 1::2] << 4
        return cls(grid, packed)

    def __len__(self) -> int:
        return len(self.packed)

    @property
    def dimension(self) -> int:
        """Length of the vectors."""
        return self.grid.shape[1]

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Everything needed to make it again, as named arrays."""
        return {"grid": self.grid, "packed": self.packed}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Undo `to_arrays`."""
        return cls(np.asarray(arrays["grid"]), np.asarray(arrays["packed"]))

    def products(self, query: NDArray[Any]) -> NDArray[np.int32]:
        """Guessed products of a query (d,) with every vector, in units and from a zero of its own; (n,)."""
        [first], [second], _ = _weights(self.grid, query[None])
        found = np.empty(len(self), dtype=np.int32)

        def part(where: slice) -> None:
            add_up(self.packed[where], first, second, found[where])

        runs = blocks(len(self), RUN)
        for _ in in_order(part, runs) if len(runs) > 1 else map(part, runs):
            pass
        return found

    def floor(self, queries: NDArray[Any], count: int) -> int:
        """What the product of the mean of some queries (q, d) must reach so that about ``count`` vectors do.

        It is told from some vectors, evenly spread, so that it does not depend on where the others lie.
        """
        products = np.sort(self._some.products(_mean(queries)))
        return int(products[max(0, len(products) - 1 - count * len(products) // len(self))])

    @cached_property
    def _some(self) -> Codes:
        """Some of the vectors, evenly spread; lying side by side they are read twice as fast."""
        return Codes(self.grid, np.ascontiguousarray(self.packed[:: max(1, len(self) // FLOOR_SAMPLE)]))

    def nearest(
        self, queries: NDArray[Any], count: int, floor: int | None = None
    ) -> tuple[Ints, NDArray[np.int64]]:
        """Numbers, increasing, and guesses of the vectors guessed to be nearest to any of a few queries.

        Parameters
        ----------
        queries : array (q, d)
        count : int
            How many, as far as there are so many. Ties at the end go to the lower numbers.
        floor : int, optional
            As `floor` tells it: vectors whose product with the mean of the queries is less are not looked at.
        """
        some = np.arange(len(self))
        if floor is not None:
            some = np.flatnonzero(self.products(_mean(queries)) >= floor)
        guesses = np.empty(len(some), dtype=np.int64)
        add_up_some(self.packed, some, *_weights(self.grid, queries), guesses)
        if count >= len(some):
            return some, guesses
        last = np.partition(guesses, len(some) - count)[len(some) - count]
        chosen = np.flatnonzero(guesses > last)
        tied = np.flatnonzero(guesses == last)[: count - len(chosen)]
        chosen = np.sort(np.concatenate([chosen, tied]))
        return some[chosen], guesses[chosen]


def grid_of(vectors: NDArray[Any]) -> NDArray[np.float32]:
    """The lowest level and the step of each component, from the middle and the spread of some vectors."""
    some = vectors[:: max(1, len(vectors) // SAMPLE)].astype(np.float64)
    # A component that does not vary is not told by a step of 0.
    steps = np.maximum(STEP * some.std(axis=0), 1e-9)
    return np.stack([some.mean(axis=0) - (LEVELS - 1) / 2 * steps, steps]).astype(np.float32)


def _mean(queries: NDArray[Any]) -> NDArray[np.float64]:
    """The mean of some queries (q, d), to the same bits on any number of threads."""
    return np.add.reduce(queries, axis=0, dtype=np.float64) / len(queries)


def _weights(
    grid: NDArray[np.float32], queries: NDArray[Any]
) -> tuple[NDArray[np.int16], NDArray[np.int16], Ints]:
    """What the levels of vectors count for some queries (q, d), as whole numbers in units of their own.

    Returns
    -------
    first, second : arrays (q, d / 2 rounded up)
        What a level of the first and of the second component of each pair counts.
    offsets : array (q,)
        What the lowest levels of all components count together.
    """
    wide = np.asarray(queries, dtype=np.float64)
    exact = np.zeros((len(wide), wide.shape[1] + wide.shape[1] % 2))
    exact[:, : wide.shape[1]] = wide * grid[1]
    largest = min(LARGEST_WEIGHT, LARGEST_SUM // (LEVELS * exact.shape[1]))
    units = largest / max(np.abs(exact).max(initial=0.0), 1e-30)
    whole = np.rint(exact * units).astype(np.int16).reshape(len(wide), -1, 2)
    offsets = np.rint((wide * grid[0]).sum(axis=1) * units).astype(np.int64)
    return np.ascontiguousarray(whole[..., 0]), np.ascontiguousarray(whole[..., 1]), offsets


@reordered
def add_up(
    packed: NDArray[np.uint8], first: NDArray[np.int16], second: NDArray[np.int16], found: NDArray[np.int32]
) -> None:
    """Sum of the levels of each vector, times the weights of the first and the second of each pair.

    Every product is kept in 32 bits: for numbers of 16 bits the processor has an instruction that multiplies
    and adds sixteen pairs at once.
    """
    for number in range(len(packed)):
        row = packed[number]
        total = np.int32(0)
        for pair in range(len(first)):
            low = np.int32(np.int32(row[pair] & 15) * np.int32(first[pair]))
            high = np.int32(np.int32(row[pair] >> 4) * np.int32(second[pair]))
            total = np.int32(total + np.int32(low + high))
        found[number] = total


@reordered
def add_up_some(
    packed: NDArray[np.uint8],
    some: Ints,
    first: NDArray[np.int16],
    second: NDArray[np.int16],
    offsets: Ints,
    found: Ints,
) -> None:
    """The largest sum of some vectors over several queries, each with the offset of the query."""
    for place in range(len(some)):
        row = packed[some[place]]
        best = np.int64(-(2**63))
        for query in range(len(first)):
            one, other = first[query], second[query]
            total = np.int32(0)
            for pair in range(len(one)):
                low = np.int32(np.int32(row[pair] & 15) * np.int32(one[pair]))
                high = np.int32(np.int32(row[pair] >> 4) * np.int32(other[pair]))
                total = np.int32(total + np.int32(low + high))
            best = max(best, total + offsets[query])
        found[place] = best
