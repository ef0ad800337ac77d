"""Held: prepared sets that others hold too, and what is asked of them where they are held."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput
from lookalike.similarities.contract import Matches, NearMatches, Prepared, PreparedSets
from lookalike.transitivity.guessing import Guessed

# What a candidate must reach to enter the lists of some sets, by their numbers.
Floors = Callable[[Any], NDArray[np.float64]]


class Compared(NamedTuple):
    """Pairs that may be neighbours, by the numbers of their sets; and whether a run of sets is done."""

    near: Sequence[NearMatches]
    ends_run: bool


class Pairs(NamedTuple):
    """Modes that will be held against those in which sets meet a query."""

    which: NDArray[np.int64]  # (m,): the set
    modes: NDArray[Any]  # (m, *mode_shape): one of its modes


class Held(Sequence[Prepared], ABC):
    """Prepared sets that are compared elsewhere: what a query asks of them.

    Whatever is asked has the same bits as if this process answered.
    """

    @abstractmethod
    def __getitem__(self, which: Any) -> Any:
        """One prepared set for a number; PreparedSets for a slice or an array of numbers."""

    @property
    @abstractmethod
    def sizes(self) -> NDArray[np.int64]:
        """Rows that each set brings to a comparison; (n,)."""

    @abstractmethod
    def compare(self, queries: PreparedSets) -> Matches:
        """Match every query with every set."""

    @abstractmethod
    def agreements(
        self, which: NDArray[np.int64], modes: NDArray[Any], others: NDArray[Any]
    ) -> NDArray[np.float64]:
        """Agreement of ``modes[i]`` with ``others[i]``, both modes of set ``which[i]``; (m,)."""


class HeldGallery(Held):
    """All sets of a gallery by their ids; a pair is compared by itself, the lower number first."""

    @property
    @abstractmethod
    def here(self) -> PreparedSets:
        """All sets, in this process."""

    @abstractmethod
    def near(self, runs: Sequence[slice], floors: Floors, count: int) -> Iterator[Compared]:
        """Compare one run of sets after the other with itself and with all later sets."""

    @abstractmethod
    def beside(self, number: int) -> Matches:
        """Match one set, as a, with every other set, in their order; (1, n - 1)."""

    @abstractmethod
    def guess(self, points: NDArray[np.float32], asked: NDArray[Any], most: int) -> Guessed:
        """Find the sets that are guessed to be nearest to some faces, coded by these points."""

    @abstractmethod
    def divided(self, work: Callable[..., Any], given: tuple[Any, ...], total: int) -> list[Any]:
        """Let each slice work out a part of something about so many sets; the parts come in order.

        Parameters
        ----------
        work : callable
            A function of a module. It is called with the slice, what is given, and the first set of its part
            and the one behind the last.
        """

    @abstractmethod
    def narrowed(self, chosen: NDArray[np.int64], pairs: Pairs) -> Held:
        """Some sets, in this order, of which pairs of modes will be asked about, by their place there."""


def whole(sets: Held) -> HeldGallery:
    """The same sets, which are asked what only a whole gallery can tell.

    Raises
    ------
    BadInput
        If they are only some of a gallery.
    """
    if not isinstance(sets, HeldGallery):
        raise BadInput(f"these are {len(sets)} sets of a larger gallery: ask about all of its sets")
    return sets
