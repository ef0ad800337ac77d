"""Reranker: fit on a gallery's tables, score one query's row; and what those by lists or by means share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput, is_whole
from lookalike.kernels.neighbours import best_first
from lookalike.method.calibration import Grounds
from lookalike.method.kin import Evidence
from lookalike.method.metafeatures import metafeatures
from lookalike.method.neighbours import nearest_lists, with_query
from lookalike.method.proxies import proxy_slots
from lookalike.method.tables import Lists, Near, Row, Tables
from lookalike.parameters import MOST_PROXIES, PROXIES
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


@dataclass(frozen=True, eq=False)
class Scoring:
    """What a query, or several sets that ask together, make of the sets that are to be ranked.

    Attributes
    ----------
    targets : array (m,)
        Numbers of these sets, in increasing order; who asks is not among them.
    scores, baseline : arrays (m,)
        How sure the re-ranker is of each, and how alike it is by itself.
    through : array (m,)
        Number of the proxy that made the score; -1 if no single one did.
    chances : array (m,) or None
        How likely each shows the query's person, never more than a set that is ranked before; None if
        nothing can be said.
    sets : int
        How many sets could have been ranked: more than targets if there is a shortlist.
    """

    targets: NDArray[np.int64]
    scores: NDArray[np.float64]
    baseline: NDArray[np.float64]
    through: NDArray[np.int64]
    chances: NDArray[np.float64] | None
    sets: int

    def order(self, top: int | None = None) -> NDArray[np.int64]:
        """Places of the best targets; ties go to the baseline, then to the id, by which sets are numbered."""
        return best_first(self.scores, self.baseline, top)

    def of(self, targets: NDArray[np.int64]) -> Scoring:
        """The same of some of the targets, in increasing order."""
        if len(targets) == len(self.targets):
            return self
        where = np.searchsorted(self.targets, targets)
        return replace(
            self,
            targets=targets,
            scores=self.scores[where],
            baseline=self.baseline[where],
            through=self.through[where],
            chances=None if self.chances is None else self.chances[where],
        )


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

    def score_near(self, targets: NDArray[np.int64], near: Near, member: int | None) -> Scored | None:
        """Score some targets by what a query was compared with to find them; None if that is not enough.

        Parameters
        ----------
        targets : array (m,)
            Numbers in increasing order; the query is not among them.
        near : Near
        member : int or None
            The query's number if it is in the gallery.
        """
        return None

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


class ListReranker(Reranker):
    """Scores all sets at once from the query's row and the gallery's lists of neighbours.

    No label, no other query: a query sees the gallery and itself only.
    """

    @property
    def is_learnt(self) -> bool:
        """The lists are kept: they reach further than those of the index."""
        return True

    @abstractmethod
    def reach(self) -> int:
        """How many neighbours of each set are needed."""

    @abstractmethod
    def rescored(self, row: Row, lists: Lists, tables: Tables) -> NDArray[np.float64]:
        """Score every set; what a member's own place holds means nothing.

        Parameters
        ----------
        row : Row
            The query against all n sets.
        lists : Lists
            Neighbours of each set of the gallery, `reach` of them as far as there are so many; a query that
            is a member is in them: see `without_query` and `with_query`.
        tables : Tables
        """

    def fit(self, tables: Tables, rng: np.random.Generator, track: Track = silent) -> Self:
        """Take the lists over."""
        self.check()
        self.lists_ = nearest_lists(tables, self.reach(), track)
        return self

    def score(self, row: Row, tables: Tables) -> Scored:
        """All sets at once; with nobody to compare with, the baseline stays."""
        if not hasattr(self, "lists_"):
            raise BadInput("this re-ranker was not fitted: use open_search, or train it first")
        others = len(tables) - (row.member is not None)
        scores = row.scores.copy() if others < 2 else self.rescored(row, self.lists_, tables)
        return Scored(scores, np.full(len(tables), -1))

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """The lists."""
        return self.lists_._asdict()

    def from_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Take over stored lists."""
        try:
            self.lists_ = Lists(arrays["sets"], arrays["scores"])
        except KeyError as reason:
            raise BadInput(f"the stored lists lack {reason}: train again") from reason
        return self


# Ranked lists of the gallery and the query as one collection, each headed by its own set.


def ranked_together(lists: Lists, row: Row, length: int) -> tuple[NDArray[np.int64], int]:
    """Return the first `length` sets of everybody's list, itself first, and the query's number.

    Parameters
    ----------
    lists : Lists
    row : Row
        The query against all n sets.
    length : int
        At least 1; shorter lists than that if there are fewer sets.

    Returns
    -------
    ranked : array (n, length), or (n + 1, length) with a query from outside
    number : int
        The row of the query.
    """
    joint, number = with_query(lists, row, length - 1)
    return np.column_stack([np.arange(len(joint.sets)), joint.sets]), number


class MeanReranker(Reranker):
    """Belief of a proxy = a mean of s1 and s3; the paper found that it mostly hurts (section 3.5).

    Parameters
    ----------
    proxies : int
        Proxies of each target, k_p.
    with_baseline : bool
        Whether the baseline may overrule the best proxy; the paper's comparison is without.
    """

    def __init__(self, proxies: int = PROXIES, with_baseline: bool = False) -> None:
        self.proxies = proxies
        self.with_baseline = with_baseline

    def check(self) -> None:
        """Proxies in range, a truth value for the baseline."""
        check_proxies(self.proxies)
        if not isinstance(self.with_baseline, bool):
            raise BadInput(f"with_baseline must be True or False, got {self.with_baseline!r}")

    @abstractmethod
    def mean(self, s1: NDArray[np.float64], s3: NDArray[np.float64]) -> NDArray[np.float64]:
        """Combine how alike query and proxy are with how alike proxy and target are."""

    def beliefs(self, row: Row, tables: Tables) -> Beliefs:
        """The mean for every proxy."""
        slots = proxy_slots(tables.neighbours, self.proxies, row.member)
        features = metafeatures(row, tables, slots)
        said = self.mean(features[..., 0], features[..., 2])
        return Beliefs(np.take_along_axis(tables.neighbours.sets, slots, axis=1), slots, features, said, None)
