"""Kinship: subtract what strangers explain, pool what kin say, and let lists of neighbours agree.

Each as far as the gallery itself asks for it.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput
from lookalike.kernels.neighbours import united
from lookalike.method.agreement import Agreed, Agreement, ramp, reach_of
from lookalike.method.calibration import Grounds
from lookalike.method.kin import (
    HUB,
    NO_MEANS,
    SURE,
    Evidence,
    Findings,
    Kin,
    Strangers,
    Strengths,
    Tail,
    choose,
    kin_moved,
    neighbours_shared,
    strangers_moved,
)
from lookalike.method.neighbours import Known, all_lists, nearest_lists
from lookalike.method.tables import Near, PartialRow, Row, Tables, rows_of_some
from lookalike.progress import Track, silent
from lookalike.rerankers.contract import Reranker, Scored
from lookalike.similarities.contract import group

# Chosen with labels: the neighbours that are looked at, the strangers in a cohort, and who is passed over
# before them, since the nearest is kin more often than not.
REACH = 64
COHORT, SKIP = 30, 1
# Up to the first number of sets all pairs are known, and up to the second if light is suspected: short lists
# miss most of the people whom light keeps apart. More pairs would take much memory.
FEW_SETS, WHOLE = 1000, 2500
# Smaller galleries have neither lists nor tails to tell kin from strangers by (chosen with labels).
FEWEST = 20
# Shorter lists, of which most cannot be reached, do not even tell who is near to everybody.
NARROWEST = HUB
# An own value counts from so many deviations below an ordinary pair's (chosen with labels).
BELOW_ORDINARY = 2.0
# From this share of sets on whose person has several, people are said to make up a gallery.
MOST = 0.5
# No probability is told where so much of what is closed is closed across the gallery, as by light, which is
# suspected from the first on; or where there are few sets and lists are trusted less than this on average
# (chosen with labels).
SUSPECT, EVERYWHERE = 0.6, 0.75
FEW, VAGUE = 100, 0.6
# Sets that are asked as queries when a gallery is fitted, and numbers that their rows may have together.
SAMPLE = 200
MOST_NUMBERS = 8_000_000


class Weighed(NamedTuple):
    """What was made of one query on the way to its scores."""

    values: NDArray[np.float64]  # (m,): pairs with strangers subtracted
    pooled: NDArray[np.float64]  # (m,): and pooled with kin
    agreed: Agreed
    best: float  # of the pooled values

    @property
    def own(self) -> NDArray[np.float64]:
        """What pairs say for themselves: 1 for the best; (m,)."""
        found: NDArray[np.float64] = (self.pooled + BELOW_ORDINARY) / (self.best + BELOW_ORDINARY)
        return found

    @property
    def scores(self) -> NDArray[np.float64]:
        """Agreement as far as it is trusted, and what pairs say for themselves as far as not; (m,)."""
        trust = self.agreed.trust
        found: NDArray[np.float64] = trust * self.agreed.values + (1 - trust) * self.own
        return found

    @property
    def scored(self) -> Scored:
        """Scores, none made by a single proxy, and what probabilities are told from."""
        grounds = Grounds(self.pooled, self.agreed.odds, self.agreed.clearly)
        return Scored(self.scores, np.full(len(self.pooled), -1), grounds)


def counted(people: float) -> str:
    """So many people, as the beginning of a sentence that ends with what they make up."""
    whole = max(1, round(people))
    return "1 person makes" if whole == 1 else f"{whole} people make"


class Kinship(Reranker):
    """What `adaptive` and `auto` share."""

    version = 5

    total_: int
    strangers_: Strangers | None
    strengths_: Strengths | None
    agreement_: Agreement | None
    kin_: Kin | None
    findings_: Findings | None
    grouped_: float  # share of the sets whose person has several, clearly
    people_: float  # how many people these show, about

    # The sets that tables are narrowed to, all unless given; and whom else the query was compared with.
    among_: NDArray[np.int64] | None = None
    near_: Near | None = None

    @property
    def is_learnt(self) -> bool:
        """Cohorts, strengths, kin and lists of the gallery are kept."""
        return True

    @property
    def helps(self) -> bool:
        """Whether anything is done: where not, the order of the baseline stays."""
        return self.strangers_ is not None

    @property
    def tells(self) -> bool:
        """Not where what is alike is alike across the gallery, nor where a few sets belong to nobody."""
        if self.findings_ is None or self.agreement_ is None:
            return True
        is_light = self.findings_.reach >= EVERYWHERE
        is_vague = self.total_ < FEW and self.agreement_.mean_trust < VAGUE
        return not (is_light or is_vague)

    def fit(self, tables: Tables, rng: np.random.Generator, track: Track = silent) -> Self:
        """Find cohort, kin and lists of every set, and how much of what strangers say is subtracted."""
        self.check()
        self._forget(len(tables))
        if len(tables) < FEWEST:
            return self
        knows_all = len(tables) <= FEW_SETS
        lists = all_lists(tables, track) if knows_all else nearest_lists(tables, REACH, track)
        if lists.sets.shape[1] < NARROWEST:
            return self
        some, sample = rows_of_some(tables, min(SAMPLE, max(1, MOST_NUMBERS // len(tables))))
        asked = list(track(sample, "asking some sets", some))
        numbers = np.array([row.member for row in asked])
        scores = np.stack([row.scores for row in asked])
        reach = reach_of(lists.sets, scores[:, numbers])
        if not knows_all and len(tables) <= WHOLE and reach.across >= SUSPECT:
            knows_all = True
            lists = all_lists(tables, track)
        known = Known.of(lists, numbers, scores)
        strangers = _strangers(known, lists.sets)
        means = strangers.around_known(tables.sets)
        self.strangers_ = strangers
        self.strengths_, self.findings_ = choose(strangers, means, asked, reach)
        values = self.strengths_.of_known(known, means)
        believed = 1.0
        if not knows_all:
            # Short lists do not show who is left without strangers: where these were not subtracted and what
            # is alike is alike across the gallery, it may be light that closes lists and makes kin.
            is_light = ramp(reach.across, SUSPECT, EVERYWHERE)
            believed = 1 - (1 - self.findings_.subtracted) * is_light
        self.kin_ = Kin.of(known, values, believed)
        values = self.kin_.pooled()
        self.agreement_ = Agreement.of(known, values, believed)
        self.grouped_, self.people_ = self.agreement_.people(numbers)
        return self

    def score(self, row: Row, tables: Tables) -> Scored:
        """All sets at once; a gallery too small to learn from stays as it is."""
        if not hasattr(self, "total_"):
            raise BadInput("this re-ranker was not fitted: use open_search, or train it first")
        if self.among_ is None and self.total_ != len(tables):
            learnt = f"this re-ranker was fitted on {self.total_} sets"
            raise BadInput(f"{learnt} and is asked about {len(tables)}: train again")
        weighed = self.weighed(row, len(tables)) if self.helps else None
        if weighed is None:
            return Scored(row.scores[: len(tables)].copy(), np.full(len(tables), -1))
        return weighed.scored

    def score_near(self, targets: NDArray[np.int64], near: Near, member: int | None) -> Scored | None:
        """Weigh some targets by what finding them told; None if nothing is weighed."""
        if self.strangers_ is None or not self.helps:
            return None
        compared = PartialRow(near.sets, near.scores, member)
        weighed = self._weighed(compared, _level(near, member, self.strangers_.known), targets)
        return None if weighed is None else weighed.scored

    def weighed(self, row: Row, count: int) -> Weighed | None:
        """What is made of a query and so many targets, step by step; None if nothing is."""
        if self.among_ is None:
            return self._weighed(row)
        # Targets come first among some sets.
        targets = self.among_[:count]
        member = None if row.member is None else int(self.among_[row.member])
        if not (targets != member).any():
            raise BadInput("a query was compared with no other set: ask about more targets")
        return self._weighed(*self._compared(PartialRow(targets, row.scores[:count], member)), targets)

    def _weighed(
        self, whole: Row | PartialRow, level: float = 0.0, targets: NDArray[np.int64] | None = None
    ) -> Weighed | None:
        """What is made of all sets, or of some targets.

        Parameters
        ----------
        whole : Row or PartialRow
            All that the query was compared with.
        level : float
            How much more alike than their own levels let expect it is to those with which it was not.
        targets : array (m,), optional
            Numbers in increasing order.
        """
        strangers, strengths, kin, agreement = self.strangers_, self.strengths_, self.kin_, self.agreement_
        if strangers is None or strengths is None or kin is None or agreement is None:
            return None
        compared = whole if isinstance(whole, Row) or targets is None else kin.known_of(whole, targets)
        means = strangers.around(whole, compared.sets, level) if strengths.subtract else NO_MEANS
        values = strengths.of_row(compared, means)
        compared = compared._replace(scores=values)
        pooled = kin.pool(compared, targets)
        if targets is None:
            compared = compared._replace(scores=pooled)
        else:
            values = PartialRow(compared.sets, values, None).of(targets).scores
            compared = PartialRow(targets, pooled, compared.member)
        others = pooled if compared.member is None else pooled[compared.sets != compared.member]
        return Weighed(values, pooled, agreement.with_query(compared), max(0.0, float(others.max())))

    @property
    def pools(self) -> int:
        """As many as may be kin."""
        return self.kin_.sets.shape[1] if self.helps and self.kin_ is not None else 0

    def among(self, sets: NDArray[np.int64], near: Near | None = None) -> Self:
        """The same, which weighs and pools some targets.

        Whoever has a say about a target and was not compared with the query is taken to be as near to it as
        an ordinary set, if kin, and as the levels of both let expect, if a stranger. Where everybody was
        compared, scores are those among all sets.
        """
        found = copy.copy(self)
        found.among_, found.near_ = sets, near
        return found

    def _compared(self, row: PartialRow) -> tuple[PartialRow, float]:
        """The row of some targets, with all whom the query was compared with; and its level."""
        near, strangers = self.near_, self.strangers_
        if near is None or strangers is None:
            raise BadInput("what a query was compared with is not known: ask about all sets")
        sets = united(self.total_, row.sets, near.sets)
        scores = np.empty(len(sets))
        scores[np.searchsorted(sets, near.sets)] = near.scores
        scores[np.searchsorted(sets, row.sets)] = row.scores
        is_whole = len(near.sets) == self.total_
        level = 0.0 if is_whole else _level(near, row.member, strangers.known)
        return PartialRow(sets, scores, row.member), level

    def evidence(self, row: Row, tables: Tables, target: int) -> Evidence | None:
        """Who had a say, and how much each added to the score."""
        weighed = self.weighed(row, len(tables)) if self.helps else None
        strangers, strengths, kin, agreement = self.strangers_, self.strengths_, self.kin_, self.agreement_
        if weighed is None or strangers is None or strengths is None or kin is None or agreement is None:
            return None
        values, agreed = weighed.values, weighed.agreed
        # An own value counts so much of the score.
        scale = (1 - agreed.trust) / (weighed.best + BELOW_ORDINARY)
        cohorts = strangers_moved(strangers, strengths, row, target) if strengths.subtract else None
        theirs = kin_moved(kin, row._replace(scores=values), target)
        # What the similarity says, but for a constant: with it, an ordinary set is as its values say.
        said = (strengths.gains @ strengths.factors[:, 0]) * row.scores
        ordinary = float(np.median((values - said)[row.sets != row.member]))
        by_strangers = sum(float(group.moved.sum()) for group in cohorts or ())
        near = neighbours_shared(agreement, agreed, row._replace(scores=weighed.pooled), target)
        return Evidence(
            alone=scale * float(said[target] + ordinary + BELOW_ORDINARY),
            everybody=scale * float(values[target] - said[target] - ordinary - by_strangers),
            strangers=cohorts and (cohorts[0].times(scale), cohorts[1].times(scale)),
            kin=(theirs[0].times(scale), theirs[1].times(scale)),
            neighbours=near.times(agreed.trust),
            mutual=agreed.trust * float(agreed.values[target] - near.moved.sum()),
            trust=agreed.trust,
            before_kin=values,
            before_lists=weighed.pooled,
        )

    @property
    def finding(self) -> str:
        """Who makes up the gallery, what light does to it, and what is done about both."""
        found, agreement = self.findings_, self.agreement_
        if found is None or agreement is None:
            return too_few(self.total_)
        if not self.helps:
            return f"{self._who()}: the order stays as it is."
        light = "light or style make nobody alike beyond that, so nothing is subtracted"
        if found.subtracted:
            light = (
                f"{found.subtracted:.0%} of what strangers in the same light or style explain is subtracted"
            )
        trusted = f"lists of neighbours count {agreement.mean_trust:.0%}, pairs of sets the rest"
        return f"{self._who()}; {light}; {trusted}."

    def _who(self) -> str:
        if self.grouped_ >= MOST:
            return f"about {counted(self.people_)} up {self.grouped_:.0%} of this collection"
        with_kin = f"{self._with_kin()} of {self.total_} sets have kin"
        return f"few people here have many sets, as far as can be told ({with_kin})"

    def _with_kin(self) -> int:
        """How many sets have somebody who is rather kin than not."""
        return 0 if self.kin_ is None else int((self.kin_.chances > SURE).any(axis=1).sum())

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Everything that a query is weighed with."""
        arrays: dict[str, Any] = {"total": self.total_}
        if self.strangers_ is not None and self.strengths_ is not None:
            arrays |= {"lists": self.strangers_.lists}
            arrays |= _named("known/", self.strangers_.known) | _named("strengths/", self.strengths_)
        if self.agreement_ is not None and self.findings_ is not None:
            arrays |= {f"agreement/{name}": array for name, array in self.agreement_.to_arrays().items()}
            arrays |= _named("findings/", self.findings_) | {"grouped": self.grouped_, "people": self.people_}
        if self.kin_ is not None:
            arrays |= _named("kin/", self.kin_) | _named("tail/", self.kin_.tail)
        return {name: np.asarray(value) for name, value in arrays.items() if not isinstance(value, tuple)}

    def from_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Undo `to_arrays`."""
        try:
            self._forget(int(arrays["total"]))
            if "lists" in arrays:
                known = Known(**group(arrays, "known/"))
                self.strangers_ = Strangers(known, arrays["lists"], SKIP)
                self.strengths_ = Strengths(**group(arrays, "strengths/"))
                self.findings_ = Findings(**group(arrays, "findings/"))
                self.agreement_ = Agreement.from_arrays(group(arrays, "agreement/"))
                self.grouped_, self.people_ = float(arrays["grouped"]), float(arrays["people"])
            if "kin/sets" in arrays:
                self.kin_ = Kin(known=known, tail=Tail(**group(arrays, "tail/")), **group(arrays, "kin/"))
        except (KeyError, TypeError) as reason:
            raise BadInput(f"what was learnt earlier does not fit: {reason}; train again") from reason
        return self

    def _forget(self, total: int) -> None:
        self.total_ = total
        self.strangers_ = self.strengths_ = self.kin_ = self.agreement_ = self.findings_ = None
        self.grouped_ = self.people_ = 0.0


def too_few(total: int) -> str:
    """Say why nothing is done."""
    return f"{total} sets are too few to learn from: the order stays as it is."


def _strangers(known: Known, lists: NDArray[np.int64]) -> Strangers:
    """Cohorts behind the nearest set of each."""
    width = max(1, min(COHORT, len(lists) // 4, lists.shape[1] - 2))
    return Strangers(known, np.ascontiguousarray(lists[:, : SKIP + width + 1]), SKIP)


def _level(near: Near, member: int | None, known: Known) -> float:
    """How much more alike than their own levels let expect a query is to sets from all over the gallery."""
    others = near.spread != member
    above = near.spread_scores[others] - known.level - known.levels[near.spread[others]]
    return float(above.mean())


def _named(prefix: str, fields: Any) -> dict[str, Any]:
    return {prefix + name: value for name, value in fields._asdict().items()}
