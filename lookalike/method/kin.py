"""Kin and strangers: whose evidence is pooled, what strangers explain, and how much each added to a score."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput
from lookalike.kernels.cohorts import (
    Cohorts,
    KnownPairs,
    Query,
    Room,
    means_around,
    means_of_known,
    plain_means_around,
    pool_known,
    residual_of,
)
from lookalike.kernels.compiled import CALL, is_worthwhile
from lookalike.kernels.neighbours import best_first, count_triangles
from lookalike.kernels.threads import blocks, in_order
from lookalike.method.agreement import LEAST, Agreed, Agreement, Reach, closure, ramp
from lookalike.method.calibration import expit
from lookalike.method.neighbours import Known, nearest_known
from lookalike.method.tables import Held, HeldGallery, PartialRow, Row, nearest_to
from lookalike.similarities.contract import PreparedSets

Numbers = NDArray[np.int64]
Values = NDArray[np.float64]

# Chosen with labels, all of them.
MOST = 5  # so many nearest sets may be kin
HEAD = 5  # kin may hold the first places: the tail begins behind them
TAIL = 40  # where the tail ends
DOUBT = 50.0  # strangers that every expected stranger counts for
SURE = 0.5  # chance from which somebody counts as kin
# Sets whose pairs one thread pools before it asks for more.
BLOCK = 256


class Tail(NamedTuple):
    """How many strangers a set may expect at a value: fewer, the larger it is.

    Were the scale of their tail known, exponentially fewer. It is told from so many values only, and what is
    then to be expected of another value falls as a power of it: the fewer they are, the more slowly.
    """

    floor: Values  # value that ``size`` sets reach
    scale: Values  # mean excess above it
    size: int
    told: int  # values from which the scale is told

    @classmethod
    def of(cls, best: Values, head: int, size: int) -> Self:
        """Fit to values (n, at least size + 1), largest first; the first ``head`` may be kin."""
        floor = best[:, size]
        scale = best[:, head:size].mean(axis=1) - floor
        # Copies of one set have no tail: nobody stands out from it.
        return cls(floor, np.maximum(scale, 1e-9 * (1 + np.abs(floor))), size, size - head)

    def log_strangers(self, values: Values) -> Values:
        """Logarithm of the strangers expected at least as near; the first axis is that of the sets."""
        shape = (-1,) + (1,) * (values.ndim - 1)
        over = (values - self.floor.reshape(shape)) / self.scale.reshape(shape)
        # Below the floor there is no tail: only that there are more.
        fewer = np.where(over > 0, self.told * np.log1p(np.maximum(over, 0.0) / self.told), over)
        found: Values = np.log(self.size) - fewer
        return found


class Kin(NamedTuple):
    """Kin of every set of a gallery."""

    known: Known
    values: Values  # (m,): of each pair that is known; of a set with itself, that with its nearest
    tail: Tail
    head: int
    sets: Numbers  # (n, k): those that may be kin
    chances: Values  # (n, k): that they are
    believed: float = 1.0  # how far tails are believed at all

    @classmethod
    def of(cls, known: Known, values: Values, believed: float = 1.0) -> Self:
        """Find kin by a value of each pair.

        Parameters
        ----------
        known : Known
        values : array (m,)
        believed : float
            How far tails are believed.
        """
        total = len(known.levels)
        shortest = int(np.diff(known.starts).min()) - 1  # without itself
        count = min(TAIL, total // 2, shortest - 1)
        head = min(HEAD, total // 4, count * 3 // 4)
        sets, best = nearest_known(known, values, count + 1)
        tail = Tail.of(best, head, count)
        most = min(MOST, count)
        sets, best = sets[:, :most], best[:, :most]
        theirs = tail._replace(floor=tail.floor[sets].ravel(), scale=tail.scale[sets].ravel())
        expected = theirs.log_strangers(best.ravel()).reshape(best.shape)
        chances = believed * _chances(tail.log_strangers(best), expected)
        itself = known.owners == known.sets
        values = np.where(itself, best[known.owners, 0], values)
        return cls(known, values, tail, head, sets, chances, believed)

    def pooled(self) -> Values:
        """Every known pair pooled with the kin of both; (m,). Of a set with itself it means nothing."""
        known, found = self.known, np.empty(len(self.values))

        def part(where: slice) -> None:
            pool_known(
                known.starts,
                known.sets,
                self.values,
                self.sets,
                self.chances,
                where.start,
                where.stop,
                found,
            )

        for _ in in_order(part, blocks(len(self.sets), BLOCK)):
            pass
        return found

    def known_of(self, row: PartialRow, targets: Numbers) -> PartialRow:
        """What a row has of some of its sets and of all that may be kin of one of them."""
        wanted = np.zeros(len(self.sets), dtype=bool)
        wanted[targets] = wanted[self.sets[targets]] = True
        chosen = wanted[row.sets]
        return row._replace(sets=row.sets[chosen], scores=row.scores[chosen])

    def of_row(self, row: Row | PartialRow) -> tuple[Numbers, Values]:
        """Those sets that may be kin of a query, and the chances that they are.

        Parameters
        ----------
        row : Row or PartialRow
            The query, with values of the pairs as scores.
        """
        values = row.scores
        # One more, in case the query is among them.
        order = best_first(values, values, self.tail.size + 2)
        if row.member is not None:
            order = order[row.sets[order] != row.member]
        order = order[: self.tail.size + 1]
        # A partial row may be shorter than a tail: what is there must do.
        size = min(self.tail.size, len(order) - 1)
        ours = Tail.of(values[None, order], min(self.head, size * 3 // 4), size)
        order = order[: self.sets.shape[1]]
        near, values = row.sets[order], values[order]
        theirs = self.tail._replace(floor=self.tail.floor[near], scale=self.tail.scale[near])
        chances = _chances(ours.log_strangers(values[None])[0], theirs.log_strangers(values))
        return near, self.believed * chances

    def pool(self, row: Row | PartialRow, targets: Numbers | None = None) -> Values:
        """Mean over the query and its kin, and each set and its kin, of how well these fit each other.

        The set asked about is not taken as kin of the query, nor the query as kin of the set.

        Parameters
        ----------
        row : Row or PartialRow
            As for `of_row`; whoever is not in a partial one is taken for an ordinary set.
        targets : array (t,), optional
            Sets that are asked about, in increasing order; all unless given.
        """
        near, chances = self.of_row(row)
        starts, sets, total = self.known.starts, self.known.sets, len(self.known.levels)
        evidence = np.zeros(total)  # of each set, from the query and its kin
        evidence[row.sets] = row.scores
        for r, chance in zip(near, chances, strict=True):
            where = slice(starts[r], starts[r + 1])
            evidence[sets[where]] += chance * self.values[where]
        kin, theirs = self.sets, self.chances
        if targets is None:
            targets = np.arange(total)
        else:
            kin, theirs = kin[targets], theirs[targets]
        if row.member is not None:
            theirs = np.where(kin == row.member, 0.0, theirs)
        pooled = evidence[targets] + (theirs * evidence[kin]).sum(axis=1)
        weights = 1 + theirs.sum(axis=1)
        totals = np.full(len(targets), 1 + chances.sum())
        for r, chance in zip(near, chances, strict=True):
            place = int(np.searchsorted(targets, r))
            if place == len(targets) or targets[place] != r:
                continue
            where = slice(starts[r], starts[r + 1])
            values = PartialRow(sets[where], self.values[where], None)
            own = values.of(np.append(r, self.sets[r])).scores
            pooled[place] -= chance * (own[0] + theirs[place : place + 1] @ own[1:])[0]
            totals[place] -= chance
        found: Values = pooled / (weights * totals)
        return found


def _chances(ours: Values, theirs: Values) -> Values:
    """Chance of kin, from the logarithms of the strangers that either may expect."""
    found: Values = expit(-(np.log(DOUBT) + (ours + theirs) / 2))
    return found


class Strangers(NamedTuple):
    """The cohort of every set: its neighbours behind the first ``skip``."""

    known: Known
    lists: Numbers  # (n, skip + width + 1): neighbours of each set, nearest first
    skip: int

    @property
    def width(self) -> int:
        """How many strangers a cohort has; one more stands by, for a pair is in no cohort of its own."""
        return self.lists.shape[1] - self.skip - 1

    def around(self, row: Row | PartialRow, targets: Numbers | None = None, level: float = 0.0) -> Values:
        """Means of a query and each set: it with the set's cohort, the set with its, cohort with cohort.

        Parameters
        ----------
        row : Row or PartialRow
            A partial one has the targets and those nearest to the query.
        targets : array (m,), optional
            Numbers of the sets that are looked at; all of the row unless given.
        level : float
            How much more alike than levels let expect the query is to sets that are not in the row.

        Returns
        -------
        means : array (3, m)
            What a member's own place holds means nothing.
        """
        known, total = self.known, len(self.lists)
        member = -1 if row.member is None else row.member
        targets = row.sets if targets is None else targets
        found = np.empty((3, len(targets)))
        own = nearest_to(row, self.lists.shape[1])
        if len(own) < self.lists.shape[1]:
            raise BadInput(
                f"a query was compared with {len(own)} sets where its cohort takes {self.lists.shape[1]}: "
                "ask about more targets"
            )
        # The system gives no memory for zeros that are never looked at.
        direct = np.zeros(total)
        direct[row.sets] = row.scores - known.level - known.levels[row.sets] - level
        pairs, query = KnownPairs(*known), Query(own, level, member, direct)
        if is_worthwhile(CALL * 10 * len(own)):
            room = Room(np.zeros(total), np.zeros(total, dtype=np.int64))
            means_around(pairs, self._cohorts, query, room, targets, found)
        else:
            plain_means_around(pairs, self._cohorts, query, targets, found)
        return found

    def around_known(self, sets: PreparedSets | Held | None = None) -> Values:
        """The same for all pairs that are known; (3, m). If slices hold the sets, each works out a part."""
        pairs, cohorts = KnownPairs(*self.known), self._cohorts
        if isinstance(sets, HeldGallery):
            found = sets.divided(_means, (pairs, cohorts), len(self.lists))
            return np.concatenate(found, axis=1)
        return _means(None, pairs, cohorts, 0, len(self.lists))

    @property
    def _cohorts(self) -> Cohorts:
        return Cohorts(self.lists, self.skip, self.width)


def _means(held: object, given: KnownPairs, cohorts: Cohorts, first: int, last: int) -> Values:
    """Means of the pairs of some sets; what the slice holds is not needed."""
    starts, sets, residuals, levels = map(_writable, given[:-1])
    pairs = KnownPairs(starts, sets, residuals, levels, given.level)
    cohorts = cohorts._replace(lists=_writable(cohorts.lists))
    begin, end = pairs.starts[first], pairs.starts[last]
    # The system gives no memory for what is never written.
    found = np.empty((3, len(pairs.sets)))

    def part(where: slice) -> None:
        means_of_known(pairs, cohorts, first + where.start, first + where.stop, found)

    for _ in in_order(part, blocks(last - first, BLOCK)):
        pass
    return found if (begin, end) == (0, len(pairs.sets)) else found[:, begin:end].copy()


def _writable(array: NDArray[Any]) -> NDArray[Any]:
    """The array, or a copy where it may only be read: for such ones machine code would be made anew."""
    return np.require(array, requirements="W")


# Strengths: how much of what strangers say is subtracted, told by what is closed in the gallery.


# Shares of the local mean that may be subtracted from both sides of a pair (chosen with labels).
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
# A set that is near to everybody is known by its best pairs, of few sets by fewer (chosen with labels).
HUB, HUB_SHARE = 10, 5
# Nearest of each set between whom triangles are counted, and what difference matters, in standard deviations
# of such a count (chosen with labels).
MUTUAL, SPREAD_OF_TRIANGLES = 3, 0.5
# Lists so long tell whether groups are closed (chosen with labels).
SHORT, LONG = 4, 8
# How much of lists of eight is closed where groups begin to show, and where they do without doubt. Where they
# do not, there is nothing that subtracting could destroy (chosen with labels).
UNSEEN, SEEN = 0.1, 0.25
# Subtracting begins and is whole where the reach of what is closed, and so many times how much of it stays
# closed when strangers are subtracted, add up to so much (chosen with labels).
STAYING, FROM, TO = 1.5, 1.4, 1.95
# Few lamps close lists of a large share of the gallery, and so do few people, who begin to be seen here and
# are without doubt there, unless so much of it stays closed without strangers (chosen with labels).
LOOSE, LUMPED = 0.4, 0.55
GONE, LEFT = 0.2, 0.35
# No light of real photos closed them so far: here people begin to be seen and there they are, even if near
# copies keep short lists closed, unless subtracting closes so many times more (chosen with labels).
PACKED, FULL = 0.65, 0.75
SAME, REVEALED = 1.1, 1.3
# More closed than before is a sign, but of nothing that more of it would show better.
MOST_STAYING = 1.5
# Means with cohorts where nobody asks for them.
NO_MEANS = np.zeros((3, 1))
# Values from which middle and spread of a strength are told.
MOST_VALUES = 1_000_000


class Strengths(NamedTuple):
    """Ways to weigh a pair against the strangers around it, and how much each is trusted."""

    factors: Values  # (v, 3): of the similarity, of the two means with a cohort, of cohort with cohort
    gains: Values  # (v,): trust by spread
    middles: Values  # (v,)
    levelled: Values  # (v,): how much of being near to everybody is taken away
    hubs: Values  # (v, n): how near each set is to those nearest to it

    @property
    def subtract(self) -> bool:
        """Whether strangers are asked at all."""
        return bool(self.factors[:, 1:].any())

    def of_row(self, row: Row | PartialRow, means: Values) -> Values:
        """Weigh a query against every set of its row; (m,)."""
        weighed = weigh(self.factors, row.scores, means)
        own = self.levelled * _hubs_of_row(weighed, row, self.hubs.shape[1])
        hubs = self.hubs[:, row.sets] if isinstance(row, PartialRow) else self.hubs
        parts = weighed - (own[:, None] + hubs) / 2 - self.middles[:, None]
        # Added up in one order, on any number of threads.
        found: Values = (self.gains[:, None] * parts).sum(axis=0)
        return found

    def of_known(self, known: Known, means: Values) -> Values:
        """Weigh the pairs that are known; (m,)."""
        scores, owners = known.scores(), known.owners
        found = np.zeros(len(scores))
        for factors, gain, middle, _, hubs in zip(*self, strict=True):
            [weighed] = weigh(factors[None], scores, means)
            found += gain * (weighed - (hubs[owners] + hubs[known.sets]) / 2 - middle)
        return found


class Findings(NamedTuple):
    """What was found in a gallery, and what is therefore done."""

    triangles: Values  # (v,): how many each share closes
    closed: float  # of lists of eight, with nothing subtracted
    stays: float  # how much of that stays closed when strangers are subtracted
    reach: float  # closure across the gallery, see `Reach`
    lumps: float  # closure of large shares of it
    subtracted: float  # how far strangers are subtracted, 0 to 1


def shares_of_strangers() -> Values:
    """The factors of the strengths to choose from; (v, 3).

    For inner products, s - a (m + m') + a^2 mm is the product of two vectors, each without a times the mean
    of the strangers around it.
    """
    shares = np.array(SHARES)
    return np.stack([np.ones(len(shares)), shares, shares**2], axis=1)


def trust(triangles: Values) -> Values:
    """Share of each strength, by the closed triangles that it makes; most to those that make most."""
    most = triangles.max()
    shares = np.exp(-(most - triangles) / (SPREAD_OF_TRIANGLES * np.sqrt(most + 1)))
    found: Values = shares / shares.sum()
    return found


def choose(strangers: Strangers, means: Values, rows: list[Row], reach: Reach) -> tuple[Strengths, Findings]:
    """Try every strength on the gallery, and subtract as far as that destroys no people.

    Light makes sets alike across the whole gallery, and what is left when strangers are subtracted is closed
    all the same: then it is right. People with many sets are their own cohorts: subtracting these destroys
    what is closed. The two are weighed, not told apart: galleries in between get some of both.

    Parameters
    ----------
    strangers : Strangers
    means : array (3, m)
        Of the pairs that are known.
    rows : list of Row
        Some sets of the gallery asked as queries, from which middle and spread are told.
    reach : Reach
        As `reach_of` tells it.
    """
    known, factors = strangers.known, shares_of_strangers()
    scores, owners = known.scores(), known.owners
    hubs, triangles = np.empty((len(factors), len(known.levels))), np.empty(len(factors))
    closed = []
    for place, each in enumerate(factors):
        [weighed] = weigh(each[None], scores, means)
        hubs[place] = hubs_of_known(known, weighed)
        offset = (hubs[place][owners] + hubs[place][known.sets]) / 2
        is_end = each[1] in (SHARES[0], SHARES[-1])
        near, _ = nearest_known(known, weighed - offset, LONG if is_end else MUTUAL)
        triangles[place] = count_triangles(near[:, :MUTUAL])[0].sum() / 3
        if is_end:
            closed.append((closure(near[:, :SHORT]), closure(near)))
    plain, without = closed
    found = _findings(triangles, plain, without, reach)
    share, level = found.subtracted, 1 - np.clip(found.closed, 0.0, 1.0)
    # Beside the strengths that subtract, the similarity as it is: where many sets are near to a set because
    # they are of its person, it is levelled less.
    factors = np.concatenate([factors, factors[:1]])
    hubs = np.concatenate([hubs, level * hubs[:1]])
    levelled = np.append(np.ones(len(SHARES)), level)
    gains = np.append(share * trust(triangles), 1 - share)
    used = gains > 0
    factors, hubs, levelled = factors[used], hubs[used], levelled[used]
    middles, spreads = middle_and_spread(factors, levelled, hubs, strangers, rows)
    return Strengths(factors, gains[used] / spreads, middles, levelled, hubs), found


def _findings(
    triangles: Values, plain: tuple[float, float], without: tuple[float, float], reach: Reach
) -> Findings:
    stays = min(sum(without) / max(sum(plain), LEAST), MOST_STAYING)
    seen = ramp(plain[1], UNSEEN, SEEN)
    # Where no groups are seen, none can be destroyed.
    safe = 1 - seen * (1 - stays)
    subtracted = ramp(reach.across + STAYING * safe, FROM, TO)
    left = ramp(max(without) / max(reach.lumps, LEAST), GONE, LEFT)
    subtracted *= 1 - ramp(reach.lumps, LOOSE, LUMPED) * (1 - left)
    subtracted *= 1 - ramp(reach.lumps, PACKED, FULL) * (1 - ramp(stays, SAME, REVEALED))
    return Findings(triangles, plain[1], stays, *reach, subtracted)


def hubs_of_known(known: Known, weighed: Values) -> Values:
    """Mean of each set's best pairs; (n,)."""
    found: Values = nearest_known(known, weighed, _hub_width(len(known.levels)))[1].mean(axis=1)
    return found


def middle_and_spread(
    factors: Values, levelled: Values, hubs: Values, strangers: Strangers, rows: list[Row]
) -> tuple[Values, Values]:
    """Median, and 1.4826 times the median distance from it, of each strength over the pairs of some rows."""
    total = len(hubs[0])
    step = -(-len(rows) * total // MOST_VALUES)
    kept = []
    for row in rows:
        weighed = weigh(factors, row.scores, strangers.around(row) if factors[:, 1:].any() else NO_MEANS)
        own = levelled * _hubs_of_row(weighed, row, total)
        values = weighed - (own[:, None] + hubs) / 2
        kept.append(np.delete(values, [] if row.member is None else row.member, axis=1)[:, ::step])
    values = np.concatenate(kept, axis=1)
    middles = np.median(values, axis=1)
    spreads = 1.4826 * np.median(np.abs(values - middles[:, None]), axis=1)
    return middles, np.where(spreads > 0, spreads, 1.0)


def weigh(factors: Values, scores: Values, means: Values) -> Values:
    """Each way of weighing pairs of known similarity and means; (v, pairs)."""
    plain, with_cohort, between = factors.T[:, :, None]
    found: Values = plain * scores - with_cohort * (means[0] + means[1]) + between * means[2]
    return found


def _hubs_of_row(weighed: Values, row: Row | PartialRow, total: int) -> Values:
    others = weighed if row.member is None else weighed[:, row.sets != row.member]
    width = min(_hub_width(total), others.shape[1])
    # In their order, so that a sum does not depend on who else was there.
    best = np.sort(np.partition(-others, width - 1, axis=1)[:, :width], axis=1)
    found: Values = -best.mean(axis=1)
    return found


def _hub_width(total: int) -> int:
    return max(1, min(HUB, total // HUB_SHARE))


# Evidence: who had a say in one answer, and how much each added to its score.


class Group(NamedTuple):
    """Sets on one side of a pair, with the chance that each is kin of it, and what it added."""

    sets: Numbers  # (k,)
    chances: Values  # (k,): none but for kin
    moved: Values  # (k,)

    def times(self, scale: float) -> Group:
        """The same on another scale."""
        return self._replace(moved=scale * self.moved)


Sides = tuple[Group, Group]  # of the query, of the target


class Evidence(NamedTuple):
    """What a score is made of: single numbers and all that is in groups add up to it."""

    alone: float  # the baseline of the pair, on the scale of the score
    everybody: float  # how near the target is to everybody, against an ordinary set
    strangers: Sides | None  # none where nothing is subtracted
    kin: Sides
    neighbours: Group  # whom the lists around both name: what they have of the agreement of the two
    mutual: float  # what the two themselves have of it, being named around each other
    trust: float  # the most that neighbours and mutual could be together
    before_kin: Values  # (n,): what all sets are ordered by with strangers subtracted and nobody pooled
    before_lists: Values  # (n,): and with kin pooled


def neighbours_shared(agreement: Agreement, agreed: Agreed, row: Row, target: int) -> Group:
    """Whom the vectors of query and target both name, and what each has of the agreement.

    The two themselves are left out: they have the rest of it. The row has pooled values.
    """
    columns = agreed.columns
    lesser = np.minimum(agreed.entries, agreement.entries_of(target, columns) / agreed.shrunk[target])
    shared = float(lesser.sum() + agreed.own[target])
    named = (lesser > 0) & (columns != target) & (columns != row.member)
    return Group(columns[named], np.empty(0), agreed.values[target] * lesser[named] / (shared or 1.0))


def strangers_moved(strangers: Strangers, strengths: Strengths, row: Row, target: int) -> Sides:
    """The cohorts of query and target; a stranger who is as alike as everybody moves nothing.

    What cohorts have with each other counts for both, half each.
    """
    known, skip, width = strangers.known, strangers.skip, strangers.width
    ours = nearest_to(row, strangers.lists.shape[1])
    ours = ours[ours != target][skip : skip + width]
    theirs = strangers.lists[target]
    theirs = theirs[theirs != row.member][skip : skip + width]
    _, subtracted, given_back = strengths.gains @ strengths.factors
    between = np.array([[residual_of(*known[:3], int(r), int(p)) for p in theirs] for r in ours])
    beyond = row.scores - known.level - known.levels
    with_query = beyond[theirs] - np.median(beyond)  # a query has a level too
    with_target = np.array([residual_of(*known[:3], int(r), target) for r in ours])
    by_ours = (given_back * between.mean(axis=1) / 2 - subtracted * with_target) / width
    by_theirs = (given_back * between.mean(axis=0) / 2 - subtracted * with_query) / width
    nobody = np.empty(0)
    return Group(ours, nobody, by_ours), Group(theirs, nobody, by_theirs)


def kin_moved(kin: Kin, row: Row, target: int) -> Sides:
    """The kin of query and target; the row has the values of the query with all sets before pooling.

    The pooled value is a mean over pairs of one of query and its kin with one of target and its kin. What a
    pair has beyond the value of query and target, times its weight, is what it added: that is its kin's, and
    where both are kin, each has half.
    """
    near, chances = kin.of_row(row)
    ours, our_chances = near[near != target], chances[near != target]
    others = kin.sets[target] != (-1 if row.member is None else row.member)
    theirs, their_chances = kin.sets[target][others], kin.chances[target][others]
    known, columns = kin.known, np.append(target, theirs)
    table = np.array(
        [
            row.scores[columns],
            *([residual_of(*known[:2], kin.values, int(r), int(p)) for p in columns] for r in ours),
        ]
    )
    by_ours, by_theirs = added_by_pairs(table, np.append(1.0, our_chances), np.append(1.0, their_chances))
    return Group(ours, our_chances, by_ours), Group(theirs, their_chances, by_theirs)


def added_by_pairs(table: Values, rows: Values, columns: Values) -> tuple[Values, Values]:
    """What rows and columns but the first add to the first entry of a table, on the way to its weighted mean.

    Parameters
    ----------
    table : array (r, c)
    rows, columns : arrays (r,), (c,)
        Weights.

    Returns
    -------
    by_rows, by_columns : arrays (r - 1,), (c - 1,)
        Together they sum to the mean less the first entry.
    """
    weights = np.outer(rows, columns) / (rows.sum() * columns.sum())
    added = weights * (table - table[0, 0])
    halves = added[1:, 1:] / 2
    return added[1:, 0] + halves.sum(axis=1), added[0, 1:] + halves.sum(axis=0)
