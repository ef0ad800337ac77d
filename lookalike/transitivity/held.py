"""Held: prepared sets that lie elsewhere, and what is asked of them where they lie."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.similarities.contract import Matches, NearMatches, Prepared, PreparedSets

# What a candidate must reach to enter the lists of some sets, by their numbers.
Floors = Callable[[Any], NDArray[np.float64]]


class Compared(NamedTuple):
    """Pairs that may be neighbours, by the numbers of their sets; and whether a run of sets is done."""

    near: NearMatches
    ends_run: bool


class Held(Sequence[Prepared], ABC):
    """Prepared sets in the order of their ids, of which not all are in this process.

    Whatever is asked has the same bits as if all of them were: a pair of sets is compared by itself, the
    lower number first.
    """

    @abstractmethod
    def __getitem__(self, which: Any) -> Any:
        """One prepared set for a number; PreparedSets for a slice or an array of numbers."""

    @property
    @abstractmethod
    def sizes(self) -> NDArray[np.int64]:
        """Rows that each set brings to a comparison; (n,)."""

    @abstractmethod
    def some(self, numbers: NDArray[np.int64]) -> PreparedSets:
        """Fetch sets, in the order asked for."""

    @abstractmethod
    def compare(self, queries: PreparedSets) -> Matches:
        """Match every query with every set."""

    @abstractmethod
    def agreements(
        self, which: NDArray[np.int64], modes: NDArray[Any], others: NDArray[Any]
    ) -> NDArray[np.float64]:
        """Agreement of ``modes[i]`` with ``others[i]``, both modes of set ``which[i]``; (m,)."""

    @abstractmethod
    def near(self, runs: Sequence[slice], floors: Floors, count: int) -> Iterator[Compared]:
        """Compare one run of sets after the other with itself and with all later sets."""

    @abstractmethod
    def beside(self, number: int) -> Matches:
        """Match one set, as a, with every other set, in their order; (1, n - 1)."""
