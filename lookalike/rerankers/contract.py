"""Reranker: fit on a gallery's tables, score one query's row, say what each proxy contributed."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput, is_whole
from lookalike.method.calibration import Grounds
from lookalike.method.evidence import Evidence
from lookalike.method.tables import Near, Row, Tables
from lookalike.parameters import MOST_PROXIES
from lookalike.progress import Track, silent

# Lists of neighbours longer than this say nothing about a person, and cost n times their length.
MOST_NEIGHBOURS = 1000


class Beliefs(NamedTuple):
    """What every proxy of every target says about one query."""

    proxies: NDArray[np.int64]  # (n, k): numbers of the proxies
    slots: NDArray[np.int64]  # (n, k): their columns in the neighbour tables
    features: NDArray[np.float64]  # (n, k, 5)
    beliefs: NDArray[np.float64]  # (n, k)
    regressions: NDArray[np.float64] | None  # (n, k): before clipping, if there is a regressor


class Scored(NamedTuple):
    """Scores of all sets for one query, and the proxy that made each."""

    scores: NDArray[np.float64]  # (n,)
    through: NDArray[np.int64]  # (n,): number of the proxy; -1 where no single proxy decided
    grounds: Grounds | None = None  # of probabilities, unless the scores are


class Reranker(ABC):  # noqa: B024  (one of two methods is enough: see below)
    """A re-ranker. Implement `beliefs`, or `score` if it does not ask proxies one by one.

    Implement `fit`, `to_arrays` and `from_arrays` too if something is learnt. Parameters of the constructor
    are stored as they are and checked by `check`, which `fit` calls.
    """

    # Raise it when what is learnt changes: what the older one learnt is then learnt again.
    version: int = 1
    # Whether the better of baseline and best proxy decides, or the best proxy alone.
    with_baseline: bool = True

    @property
    def is_learnt(self) -> bool:
        """Whether `fit` learns something that is worth storing."""
        return False

    @property
    def is_random(self) -> bool:
        """Whether `fit` depends on the seed."""
        return False

    @property
    def asks(self) -> int:
        """How many proxies of each target speak: the option ``proxies``; none if there is no such option."""
        return int(getattr(self, "proxies", 0))

    @property
    def looks_at_all(self) -> bool:
        """Whether a score depends on all sets.

        It does not if it depends on the query, the target and `asks` proxies only, or if `among` says how.
        """
        own = type(self)
        unsaid = own.beliefs is not Reranker.beliefs and not self.asks
        return own.among is Reranker.among and (own.score is not Reranker.score or unsaid)

    @property
    def tells(self) -> bool:
        """Whether probabilities can be told from what it says of this gallery."""
        return True

    @property
    def caution(self) -> str:
        """A sentence about what was learnt that whoever asks should know; empty if there is none."""
        return ""

    @property
    def finding(self) -> str:
        """What `fit` found in the gallery and what is therefore done, in a sentence; empty if nothing."""
        return ""

    def check(self) -> None:  # noqa: B027  (most re-rankers have nothing to check)
        """Refuse parameters that are out of range, before any work is done; `fit` does so too."""

    def fit(self, tables: Tables, rng: np.random.Generator, track: Track = silent) -> Self:
        """Learn from the gallery alone; no labels exist here."""
        self.check()
        return self

    def beliefs(self, row: Row, tables: Tables) -> Beliefs:
        """What every proxy of every target says; nobody is asked unless a re-ranker says otherwise."""
        nobody = np.empty((len(tables), 0), dtype=np.int64)
        return Beliefs(nobody, nobody, np.empty((len(tables), 0, 5)), np.empty((len(tables), 0)), None)

    def score(self, row: Row, tables: Tables) -> Scored:
        """Score every set for one query: the most convinced proxy decides (section 2.4.3)."""
        said = self.beliefs(row, tables)
        return self.decide(row, said.proxies, said.beliefs)

    @property
    def pools(self) -> int:
        """How many of its nearest may speak for a set without being asked one by one; none unless said."""
        return 0

    def among(self, sets: NDArray[np.int64], near: Near | None = None) -> Reranker:
        """The same re-ranker for tables narrowed to some sets, of which the first are the targets.

        Parameters
        ----------
        sets : array (m,)
            The numbers that they have among all.
        near : Near, optional
            Whom else the query was compared with; those that pool need it.
        """
        return self

    def evidence(self, row: Row, tables: Tables, target: int) -> Evidence | None:
        """Who was taken as kin and as strangers for one answer; None if nobody is."""
        return None

    def decide(self, row: Row, proxies: NDArray[np.int64], beliefs: NDArray[np.float64]) -> Scored:
        """Maximum over the proxies, and over the baseline where ``with_baseline`` says so.

        A proxy whose belief is minus infinity is silent: so `explain` finds out what each contributes.
        """
        baseline = row.scores[: len(beliefs)]
        if not beliefs.shape[1]:  # a gallery too small for any proxy
            return Scored(baseline.copy(), np.full(len(baseline), -1))
        best = beliefs.argmax(axis=1)[:, None]
        scores = np.take_along_axis(beliefs, best, axis=1)[:, 0]
        through = np.take_along_axis(proxies, best, axis=1)[:, 0]
        if self.with_baseline:
            through = np.where(baseline >= scores, -1, through)
            scores = np.maximum(scores, baseline)
        return Scored(scores, through)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """What `fit` learnt, as named arrays."""
        return {}

    def from_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Take over what `fit` learnt earlier."""
        return self


def check_proxies(proxies: object) -> None:
    """Refuse a number of proxies that is out of range.

    Raises
    ------
    BadInput
        If it is not a whole number from 1 to 10.
    """
    if not is_whole(proxies, 1, MOST_PROXIES):
        raise BadInput(f"proxies must be a whole number from 1 to {MOST_PROXIES}, got {proxies!r}")


def check_count(name: str, given: object, least: int = 1) -> None:
    """Refuse a number of neighbours that is out of range.

    Raises
    ------
    BadInput
        If it is not a whole number in range.
    """
    if not is_whole(given, least, MOST_NEIGHBOURS):
        raise BadInput(f"{name} must be a whole number from {least} to {MOST_NEIGHBOURS}, got {given!r}")


PART = Reranker
