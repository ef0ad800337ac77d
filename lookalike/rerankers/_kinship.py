"""Kinship: subtract what strangers explain, pool what kin say, as far as the gallery itself asks for it."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput
from lookalike.kernels.order import united
from lookalike.progress import Track, silent
from lookalike.rerankers.contract import Reranker, Scored
from lookalike.transitivity.evidence import Evidence, Group, kin_moved, strangers_moved
from lookalike.transitivity.groups import SMALLEST, group_size
from lookalike.transitivity.kin import Kin, Tail
from lookalike.transitivity.known import Known
from lookalike.transitivity.lessons import SURE, learn
from lookalike.transitivity.lists import nearest_lists
from lookalike.transitivity.strangers import Strangers
from lookalike.transitivity.strengths import SHARES, Strengths, choose, trust
from lookalike.transitivity.tables import PartialRow, Row, Tables, rows_of_some

# Chosen with labels: the neighbours that are looked at, and the strangers in a cohort.
REACH = 64
COHORT = 30
# Smaller galleries have no tails to tell kin from strangers by, and the smallest no cohorts.
FEWEST_TO_POOL = 50
FEWEST = 20
# Sets that are asked as queries when a gallery is fitted, and numbers that their rows may have together.
SAMPLE = 200
MOST_NUMBERS = 8_000_000


class Kinship(Reranker):
    """What `adaptive` and `auto` share."""

    total_: int
    strangers_: Strangers | None
    strengths_: Strengths | None
    kin_: Kin | None
    triangles_: NDArray[np.float64]
    group_: int

    # Whether kin of kin teach one more way of weighing.
    learn: bool = False
    # The sets that tables are narrowed to; all unless given.
    among_: NDArray[np.int64] | None = None

    @property
    def is_learnt(self) -> bool:
        """Cohorts, strengths and kin of the gallery are kept."""
        return True

    @property
    def helps(self) -> bool:
        """Whether anything is done: where not, the order of the baseline stays."""
        return self.strangers_ is not None

    def fit(self, tables: Tables, rng: np.random.Generator, track: Track = silent) -> Self:
        """Find the cohort and the kin of every set, and how much of what strangers say is subtracted."""
        self.check()
        self._forget(len(tables))
        if len(tables) < FEWEST:
            return self
        lists = nearest_lists(tables, REACH, track)
        some, sample = rows_of_some(tables, min(SAMPLE, max(1, MOST_NUMBERS // len(tables))))
        asked = list(track(sample, "asking some sets", some))
        numbers = np.array([row.member for row in asked])
        known = Known.of(lists, numbers, np.stack([row.scores for row in asked]))
        for group in sorted({SMALLEST, group_size(lists.sets)}):
            strangers = _strangers(known, lists.sets, group)
            means = strangers.around_known(tables.sets)
            strengths, triangles = choose(strangers, means, asked, group)
            self.strangers_, self.strengths_ = strangers, strengths
            self.group_, self.triangles_ = group, triangles
            # Sets in the same light make groups too. If people appear when that is subtracted, it was light.
            if triangles[-1] > triangles[0]:
                break
        if len(tables) >= FEWEST_TO_POOL:
            self.kin_ = Kin.of(known, strengths.of_known(known, means), self.group_)
            if self.learn:
                self.strengths_ = learn(strangers, means, asked, strengths, self.kin_)
                self.kin_ = Kin.of(known, self.strengths_.of_known(known, means), self.group_)
        return self

    def score(self, row: Row, tables: Tables) -> Scored:
        """All sets at once; a gallery too small to learn from stays as it is."""
        if not hasattr(self, "total_"):
            raise BadInput("this second stage was not fitted: use open_search, or train it first")
        if self.among_ is None and self.total_ != len(tables):
            learnt = f"this second stage was fitted on {self.total_} sets"
            raise BadInput(f"{learnt} and is asked about {len(tables)}: train again")
        if not self.helps or self.strangers_ is None or self.strengths_ is None:
            scores = row.scores[: len(tables)].copy()
        elif self.among_ is None:
            scores = self.strengths_.of_row(row, self.strangers_.around(row))
            if self.kin_ is not None:
                scores = self.kin_.pool(row._replace(scores=scores))
        else:
            scores = self._of_some(row, self.among_, len(tables), self.strangers_, self.strengths_)
        return Scored(scores, np.full(len(tables), -1))

    @property
    def pools(self) -> int:
        """As many as may be kin."""
        return self.kin_.sets.shape[1] if self.helps and self.kin_ is not None else 0

    def needs(self, targets: NDArray[np.int64]) -> NDArray[np.int64]:
        """All that may be kin of a target, and the cohorts of these and of the targets."""
        if not self.helps or self.strangers_ is None:
            return targets[:0]
        weighed = self._weighed(targets)
        return united(self.total_, weighed, self.strangers_.lists[weighed])

    def among(self, sets: NDArray[np.int64]) -> Self:
        """The same, which weighs and pools what is needed for some targets.

        Their scores are those among all sets if the targets hold those nearest to the query: its own
        cohort, and the sets that its kin are told from.
        """
        found = copy.copy(self)
        found.among_ = sets
        return found

    def _weighed(self, targets: NDArray[np.int64]) -> NDArray[np.int64]:
        return targets if self.kin_ is None else self.kin_.with_kin(targets)

    def _of_some(
        self, row: Row, sets: NDArray[np.int64], count: int, strangers: Strangers, strengths: Strengths
    ) -> NDArray[np.float64]:
        """Scores of so many targets, which come first among some sets and have their needs behind them."""
        order, targets = np.argsort(sets), sets[:count]
        member = None if row.member is None else int(sets[row.member])
        compared = PartialRow(sets[order], row.scores[order], member)
        weighed = compared.of(self._weighed(targets))
        values = strengths.of_row(weighed, strangers.around(compared, weighed.sets))
        return values if self.kin_ is None else self.kin_.pool(weighed._replace(scores=values), targets)

    def evidence(self, row: Row, tables: Tables, target: int) -> Evidence | None:
        """Who was kin, who was a stranger, and what each did."""
        if not self.helps or self.strangers_ is None or self.strengths_ is None:
            return None
        values = self.strengths_.of_row(row, self.strangers_.around(row))
        nobody = Group(np.empty(0, dtype=np.int64), np.empty(0), np.empty(0))
        kin = (
            (nobody, nobody)
            if self.kin_ is None
            else kin_moved(self.kin_, row._replace(scores=values), target)
        )
        return Evidence(values, *kin, *strangers_moved(self.strangers_, self.strengths_, row, target))

    @property
    def finding(self) -> str:
        """How much kin there is, how many look-alikes, and what is done about it."""
        if self.strangers_ is None or self.strengths_ is None:
            return too_few(self.total_)
        share = self._share_subtracted()
        if self.kin_ is None:
            few = f"{self.total_} sets are too few to tell who is kin"
            return f"{few}; of what strangers explain {share:.0%} is subtracted."
        near = self.kin_.sets.shape[1]
        kin = float(self.kin_.chances.sum(axis=1).mean())
        return (
            f"{self._with_kin()} of {self.total_} sets have kin; of the {near} nearest of a set {kin:.1f} "
            f"are kin and {near - kin:.1f} look-alikes, on average: of what strangers explain {share:.0%} is "
            "subtracted, and kin are pooled."
        )

    def _with_kin(self) -> int:
        """How many sets have somebody who is rather kin than not."""
        return 0 if self.kin_ is None else int((self.kin_.chances > SURE).any(axis=1).sum())

    def _share_subtracted(self) -> float:
        """Mean of the shares that are tried, as far as each is trusted."""
        return float(trust(self.triangles_) @ np.array(SHARES))

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Everything that a query is weighed with."""
        arrays: dict[str, Any] = {"total": self.total_}
        if self.strangers_ is not None and self.strengths_ is not None:
            arrays |= {"lists": self.strangers_.lists, "skip": self.strangers_.skip}
            arrays |= _named("known/", self.strangers_.known) | _named("strengths/", self.strengths_)
            arrays |= {"triangles": self.triangles_, "group": self.group_}
        if self.kin_ is not None:
            arrays |= _named("kin/", self.kin_) | _named("tail/", self.kin_.tail)
        return {name: np.asarray(value) for name, value in arrays.items() if not isinstance(value, tuple)}

    def from_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Undo `to_arrays`."""
        try:
            self._forget(int(arrays["total"]))
            if "lists" in arrays:
                known = Known(**_group(arrays, "known/"))
                self.strangers_ = Strangers(known, arrays["lists"], int(arrays["skip"]))
                self.strengths_ = Strengths(**_group(arrays, "strengths/"))
                self.triangles_, self.group_ = arrays["triangles"], int(arrays["group"])
            if "kin/sets" in arrays:
                self.kin_ = Kin(known=known, tail=Tail(**_group(arrays, "tail/")), **_group(arrays, "kin/"))
        except (KeyError, TypeError) as reason:
            raise BadInput(f"what was learnt earlier does not fit: {reason}; train again") from reason
        return self

    def _forget(self, total: int) -> None:
        self.total_ = total
        self.strangers_ = self.strengths_ = self.kin_ = None
        self.triangles_, self.group_ = np.zeros(0), 0


def too_few(total: int) -> str:
    """Say why nothing is done."""
    return f"{total} sets are too few to tell kin from look-alikes: the order stays as it is."


def _strangers(known: Known, lists: NDArray[np.int64], group: int) -> Strangers:
    """Cohorts behind the nearest set of each, or behind a whole group if groups are large."""
    width = max(1, min(COHORT, len(lists) // 4, lists.shape[1] - 2))
    skip = min(1 if group <= SMALLEST else group, lists.shape[1] - width - 1)
    return Strangers(known, np.ascontiguousarray(lists[:, : skip + width + 1]), skip)


def _named(prefix: str, fields: Any) -> dict[str, Any]:
    return {prefix + name: value for name, value in fields._asdict().items()}


def _group(arrays: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, Any]:
    """Arrays by what follows the prefix; single numbers as such."""
    found = {name: np.asarray(array) for name, array in arrays.items() if name.startswith(prefix)}
    return {name.removeprefix(prefix): array if array.ndim else array.item() for name, array in found.items()}
