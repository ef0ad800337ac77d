"""Groups: sets that are most probably one person, joined pair by pair, the best first.

Groups begin as single sets, or as what was decided to be one person. Again and again those two are joined
whose odds of being one person are best. The logarithm of these odds is

    score(A, B) = (8 + 0.64 (1 - m) / s) c + 3.6 t + 1.25 logit(J)
                  + 1.3 ln(min(larger, 64)) - 1.5 ln(smaller) - 9.3

c is the cosine of their summed vectors beyond what strangers have, m how alike strangers are and s how much
that differs, t the lower of their mean trusts in lists of neighbours, J the mean agreement of all pairs
between them (of pairs that nobody lists it is 0), larger and smaller their sizes. All of it is told by the
gallery itself. It ends where the odds are low; and two are not joined if, by these odds, too many of all
pairs of sets joined so far would be wrong. Where it is known of the descriptor how alike strangers may be,
6 is added to a score above 0 if the two are so much alike that hardly any pair of strangers would be.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from heapq import heappop, heappush
from statistics import NormalDist
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.compiled import compiled
from lookalike.kernels.threads import blocks, in_order, one_blas_thread
from lookalike.method.agreement import BLOCK, Agreement
from lookalike.method.calibration import NEVER, expit
from lookalike.method.neighbours import Known, all_lists
from lookalike.method.tables import Tables

Ints = NDArray[np.int64]
Doubles = NDArray[np.float64]

# Agreement beyond these is no surer, and groups larger than this know no more of themselves.
LEAST_AGREED, MOST_AGREED, MOST_SETS = 0.01, 0.99, 64
# Added to the score of groups that are surely the same by what is known of their descriptor: as if they were
# not once in 400 times.
SURE = 6.0
# So that sets which are alike by chance only divide by something.
TINY = 1e-6


@compiled
def agreements(
    lists: Ints,
    starts: Ints,
    columns: NDArray[Any],
    weights: NDArray[Any],
    first: int,
    last: int,
    found: Doubles,
) -> None:
    """Jaccard similarity of the vectors of some sets with those of the sets that they list.

    Parameters
    ----------
    lists : array (n, k)
        Neighbours of each set.
    starts, columns, weights : arrays (n + 1,), (m,), (m,)
        Vectors that add up to 1, row by row, columns in increasing order.
    first, last : int
        The sets that are looked at.
    found : array (n, k)
        Filled for these.
    """
    for i in range(first, last):
        for place in range(lists.shape[1]):
            j = lists[i, place]
            x, y, shared = starts[i], starts[j], 0.0
            while x < starts[i + 1] and y < starts[j + 1]:
                if columns[x] < columns[y]:
                    x += 1
                elif columns[x] > columns[y]:
                    y += 1
                else:
                    shared += min(weights[x], weights[y])
                    x += 1
                    y += 1
            found[i, place] = shared / (2 - shared)


@compiled
def join_groups(
    leaders: Ints,
    names: Ints,
    starts: Ints,
    links: Ints,
    agreed: Doubles,
    apart_starts: Ints,
    apart: Ints,
    barred_starts: Ints,
    barred: Ints,
    sums: Doubles,
    strangers: float,
    trusts: Doubles,
    weights: Doubles,
    alike: float,
    least: float,
    allowed: tuple[float, float],
    doubt: float,
) -> tuple[Ints, Doubles, Ints, Doubles]:
    """Join groups while the score of the best pair is above the least; see `lookalike.method.groups.propose`.

    A pair in the queue lapses when one of its groups grows: each group counts how often it did. Links of a
    group are renamed when it grows next, not when others do. So nothing is larger than the links of all sets.

    Parameters
    ----------
    leaders : array (n,)
        The lowest set of the group that each set begins in.
    names : array (n,)
        Groups with different names are never joined; -1 has none. Changed.
    starts, links, agreed : arrays (n + 1,), (m,), (m,)
        Row by row, the sets that each is linked with, both ways, and their agreement.
    apart_starts, apart : arrays (n + 1,), (p,)
        The same of sets that are held apart, both ways.
    barred_starts, barred : arrays (n + 1,), (q,)
        Numbers of what was rejected, of each set: groups that share one are never joined.
    sums : array (n, d)
        One vector a set. Changed.
    strangers : float
        How alike vectors of strangers are.
    trusts : array (n,)
        How far lists around each set are believed. Changed.
    weights : array (6,)
        Those of the score.
    alike : float
        Groups of a score above 0 whose vectors are so alike, on average over all pairs, are surely the same.
    least : float
        Pairs of a lower score are never joined.
    allowed : tuple of float
        How many of the pairs of sets that are joined may be expected to be wrong: such a share of all, or so
        many, whichever is more.
    doubt : float
        Pairs that are not joined are told down to this score.

    Returns
    -------
    owners : array (n,)
        The lowest set of the group that each set ends in.
    weakest : array (n,)
        At that set, the least score at which the group was joined; infinite if it never was.
    pairs : array (p, 2)
        Groups that were not joined, by their lowest sets, though nothing holds them apart.
    scores : array (p,)
        Of these pairs.
    """
    total = len(leaders)
    parents, sizes, grown = np.arange(total), np.ones(total, np.int64), np.zeros(total, np.int64)
    weakest, own = np.full(total, np.inf), np.empty(total)
    near = [links[starts[i] : starts[i + 1]] for i in range(total)]
    said = [agreed[starts[i] : starts[i + 1]] for i in range(total)]
    others = [apart[apart_starts[i] : apart_starts[i + 1]] for i in range(total)]
    bars = [barred[barred_starts[i] : barred_starts[i + 1]] for i in range(total)]
    places = np.zeros(total, np.int64)
    for i in range(total):
        if leaders[i] < i:
            _merge(parents, sizes, names, trusts, sums, near, said, others, bars, places, leaders[i], i)
    queue = [(0.0, 0, 0, 0, 0) for _ in range(0)]
    wrong, joined = 0.0, 0.0
    for a in range(total):
        if parents[a] == a:
            own[a] = _own(sums, sizes, strangers, a)
            _gather(parents, near, said, places, a)
    for a in range(total):
        for place in range(len(near[a]) if parents[a] == a else 0):
            b = near[a][place]
            if b > a:
                score = _score(
                    sums, own, sizes, trusts, strangers, weights, alike, a, b, said[a][place], least
                )
                if score > least:
                    heappush(queue, (-score, a, b, 0, 0))
    while len(queue):
        lacking, a, b, grown_a, grown_b = heappop(queue)
        if parents[a] != a or parents[b] != b or grown[a] != grown_a or grown[b] != grown_b:
            continue
        pairs_there = float(sizes[a] * sizes[b])
        expected = wrong + pairs_there / (1 + np.exp(-lacking))
        if expected > max(allowed[0] * (joined + pairs_there), allowed[1]):
            continue
        if _are_apart(parents, others, bars, names, a, b):
            continue
        wrong, joined = expected, joined + pairs_there
        _merge(parents, sizes, names, trusts, sums, near, said, others, bars, places, a, b)
        own[a] = _own(sums, sizes, strangers, a)
        grown[a] += 1
        weakest[a] = min(weakest[a], weakest[b], -lacking)
        for place in range(len(near[a])):
            b = near[a][place]
            score = _score(sums, own, sizes, trusts, strangers, weights, alike, a, b, said[a][place], least)
            if score > least:
                heappush(queue, (-score, min(a, b), max(a, b), grown[min(a, b)], grown[max(a, b)]))
    firsts, seconds, scores = [0 for _ in range(0)], [0 for _ in range(0)], [0.0 for _ in range(0)]
    for a in range(total):
        if parents[a] == a:
            _gather(parents, near, said, places, a)
            for place in range(len(near[a])):
                b = near[a][place]
                if b > a:
                    score = _score(
                        sums, own, sizes, trusts, strangers, weights, alike, a, b, said[a][place], doubt
                    )
                    if score > doubt and not _are_apart(parents, others, bars, names, a, b):
                        firsts.append(a)
                        seconds.append(b)
                        scores.append(score)
    pairs = np.empty((len(firsts), 2), np.int64)
    values = np.empty(len(firsts))
    for place in range(len(firsts)):
        pairs[place, 0], pairs[place, 1], values[place] = firsts[place], seconds[place], scores[place]
    owners = np.empty(total, np.int64)
    for i in range(total):
        owners[i] = _root(parents, i)
    return owners, weakest, pairs, values


@compiled
def _root(parents: Ints, one: int) -> int:
    while parents[one] != one:
        parents[one] = parents[parents[one]]
        one = parents[one]
    return one


@compiled
def _own(sums: Doubles, sizes: Ints, strangers: float, a: int) -> float:
    """The square of a group's sum, beyond what as many strangers would have."""
    square = 0.0
    for place in range(sums.shape[1]):
        square += sums[a, place] * sums[a, place]
    return max(square - strangers * sizes[a] * sizes[a], TINY)


@compiled
def _score(
    sums: Doubles,
    own: Doubles,
    sizes: Ints,
    trusts: Doubles,
    strangers: float,
    weights: Doubles,
    alike: float,
    a: int,
    b: int,
    agreed: float,
    least: float,
) -> float:
    """The score of two groups; minus infinity if it can neither be more than the least nor than 0."""
    mean = min(max(agreed / (sizes[a] * sizes[b]), LEAST_AGREED), MOST_AGREED)
    larger, smaller = max(sizes[a], sizes[b]), min(sizes[a], sizes[b])
    found = weights[1] * min(trusts[a] / sizes[a], trusts[b] / sizes[b]) + weights[5]
    found += weights[2] * np.log(mean / (1 - mean))
    found += weights[3] * np.log(min(larger, MOST_SETS)) + weights[4] * np.log(smaller)
    if found + weights[0] <= min(least, 0.0):  # vectors cannot be more alike than that
        return -np.inf
    product = 0.0
    for place in range(sums.shape[1]):
        product += sums[a, place] * sums[b, place]
    cosine = (product - strangers * sizes[a] * sizes[b]) / np.sqrt(own[a] * own[b])
    found += weights[0] * min(cosine, 1.0)
    return found + SURE if found > 0 and product >= alike * sizes[a] * sizes[b] else found


@compiled
def _are_apart(parents: Ints, others: Any, bars: Any, names: Ints, a: int, b: int) -> bool:
    """Whether two groups have different names, hold sets that are apart, or share what was rejected."""
    if names[a] >= 0 and names[b] >= 0 and names[a] != names[b]:
        return True
    few, many = (a, b) if len(others[a]) <= len(others[b]) else (b, a)
    for one in others[few]:
        if _root(parents, one) == many:
            return True
    for one in bars[a]:
        for other in bars[b]:
            if one == other:
                return True
    return False


@compiled
def _merge(
    parents: Ints,
    sizes: Ints,
    names: Ints,
    trusts: Doubles,
    sums: Doubles,
    near: Any,
    said: Any,
    others: Any,
    bars: Any,
    places: Ints,
    a: int,
    b: int,
) -> None:
    """Let the group b, which is not the lower one, become a part of the group a."""
    parents[b] = a
    sizes[a] += sizes[b]
    trusts[a] += trusts[b]
    names[a] = max(names[a], names[b])
    for place in range(sums.shape[1]):
        sums[a, place] += sums[b, place]
    near[a], said[a] = np.concatenate((near[a], near[b])), np.concatenate((said[a], said[b]))
    _gather(parents, near, said, places, a)
    if len(others[b]):
        others[a] = np.concatenate((others[a], others[b]))
    if len(bars[b]):
        bars[a] = np.concatenate((bars[a], bars[b]))
    near[b], said[b], others[b] = near[b][:0], said[b][:0], others[b][:0]


@compiled
def _gather(parents: Ints, near: Any, said: Any, places: Ints, a: int) -> None:
    """Call the links of a group by their groups, each once, and leave out itself."""
    found, values = near[a].copy(), said[a].copy()
    count = 0
    for place in range(len(found)):
        b = _root(parents, found[place])
        if b == a:
            continue
        if places[b] < count and found[places[b]] == b:
            values[places[b]] += values[place]
        else:
            places[b] = count
            found[count], values[count] = b, values[place]
            count += 1
    near[a], said[a] = found[:count].copy(), values[:count].copy()


Numbers = NDArray[np.int64]
Values = NDArray[np.float64]

# Weights of the cosine, of trust, of agreement, of the larger size and of the smaller one, and what is added;
# and what the cosine counts beyond that for each spread of strangers between them and copies, up to so many
# (chosen with labels).
WEIGHTS = (8.0, 3.6, 1.25, 1.3, -1.5, -9.3)
BY_SPREAD, MOST_SPREADS = 0.64, 10.0
# Groups are joined from the first score on, while no more than such a share of all pairs of sets, or than so
# many, are expected to be wrong; others are worth a question down to the last score (chosen with labels).
LEAST, ALLOWED, DOUBT = 1.0, (0.025, 0.2), 0.25
# Of strangers, one pair in so many reaches the level of a descriptor. Groups are surely the same from where
# so many pairs of strangers are expected in a whole gallery.
PAIRS_AT_LEVEL, EXPECTED = 10_000, 0.1
# Nothing is known of a descriptor whose level is hardly above the gallery's strangers.
LEAST_ABOVE = 0.02
# Logits of the probability that a group shows one person only, by the least score at which it was joined, and
# that two groups of several sets, which were not joined, are the same (chosen with labels, by logistic
# regression on galleries of many shapes).
GROUP_SLOPE, GROUP_LEVEL = 1.0, -0.2
PAIR_SLOPE, PAIR_LEVEL, EVEN = 1.3, -1.0, 0.5
# What shapes the groups: others are made when any of it changes.
RULE = (WEIGHTS, BY_SPREAD, MOST_SPREADS, LEAST, ALLOWED, DOUBT, SURE, PAIRS_AT_LEVEL, EXPECTED)
# Links of a set that are looked at.
MOST_LINKS = 64
# Fewer sets have no lists that could agree.
FEWEST = 5
# The similarity of strangers is told from so many rows; from so many spreads above their middle on, pairs are
# taken for kin.
ROWS, CLIP, ROUNDS = 200, 2.0, 30


@dataclass(frozen=True, eq=False)
class Bonds:
    """What is certain of the n sets of a gallery, by their numbers.

    Attributes
    ----------
    leaders : array (n,)
        The lowest set of those that were decided to show the same person, itself if nothing was.
    names : array (n,)
        Number of the person whom a set shows, -1 if nobody was named.
    apart : array (p, 2)
        Pairs of sets that show different people.
    rejected : array (q, 2)
        Sets, and the number of a proposal that was rejected and had them: no two sets of it are proposed.
    """

    leaders: Numbers
    names: Numbers
    apart: Numbers
    rejected: Numbers

    @classmethod
    def none(cls, total: int) -> Self:
        """Nothing is certain."""
        pairs = np.empty((0, 2), dtype=np.int64)
        return cls(np.arange(total), np.full(total, -1), pairs, pairs)


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of the n sets of a gallery; each goes by its lowest set.

    Attributes
    ----------
    owners : array (n,)
        The group of each set.
    weakest : array (n,)
        At the lowest set of a group, the least score at which it was joined; infinite if it never was.
    pairs, scores : arrays (m, 2), (m,)
        Groups that may be one person, but were not joined, and the logarithm of the odds that they are.
    """

    owners: Numbers
    weakest: Values
    pairs: Numbers
    scores: Values

    def probability(self, group: int) -> float:
        """How likely a group is one person, by the least score at which it was joined."""
        return float(expit(GROUP_SLOPE * self.weakest[group] + GROUP_LEVEL))

    def unsure(self) -> dict[int, tuple[int, float]]:
        """Single sets that may belong to a larger group: that group, the best of them, and the score."""
        sizes = np.bincount(self.owners, minlength=len(self.owners))
        found: dict[int, tuple[int, float]] = {}
        for (one, other), score in zip(self.pairs.tolist(), self.scores.tolist(), strict=True):
            single, group = (one, other) if sizes[one] == 1 else (other, one)
            if sizes[single] == 1 < sizes[group] and score > found.get(single, (0, -np.inf))[1]:
                found[single] = group, score
        return found

    def questions(self) -> list[tuple[int, int, float]]:
        """Pairs of groups of several sets, first those that are the same more likely than not.

        Of these, and of the others, those come first whose answer is expected to join most pairs of sets.
        With each comes the probability that the two are one person.
        """
        sizes = np.bincount(self.owners, minlength=len(self.owners))
        counts = sizes[self.pairs]
        chances = expit(PAIR_SLOPE * self.scores + PAIR_LEVEL)
        order = np.lexsort((*self.pairs.T[::-1], -chances * counts.prod(axis=1), chances < EVEN))
        return [
            (*self.pairs[place].tolist(), float(chances[place]))
            for place in order
            if counts[place].min(initial=2) > 1
        ]

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Everything, as named arrays."""
        return dict(vars(self))

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Undo `to_arrays`."""
        return cls(**arrays)


def propose(agreement: Agreement, vectors: Values, bonds: Bonds, same_person: float = NEVER) -> Groups:
    """Join sets to groups that are most probably one person each, and never what is certain not to be.

    Memory grows with the number of sets, not with its square. It runs on one thread but for the agreements:
    each join depends on the one before.

    Parameters
    ----------
    agreement : Agreement
        Lists and vectors of the gallery's sets.
    vectors : array (n, d)
        One of each set, of unit length: the mean direction of its faces.
    bonds : Bonds
    same_person : float
        The level of the descriptor: the cosine that one pair of strangers in 10,000 reaches; 1 if unknown.
    """
    total = len(vectors)
    lists = np.ascontiguousarray(agreement.lists[:, :MOST_LINKS])
    agreed = np.empty(lists.shape)

    def part(where: slice) -> None:
        agreements(
            lists, agreement.starts, agreement.columns, agreement.weights, where.start, where.stop, agreed
        )

    for _ in in_order(part, blocks(total, BLOCK)):
        pass
    starts, links, first = _both_ways(np.repeat(np.arange(total), lists.shape[1]), lists.ravel(), total)
    trusts = agreement.believed * np.sqrt(agreement.trusts.max(axis=1))
    strangers, spread = strangers_of(vectors)
    weights = np.array(WEIGHTS)
    weights[0] += BY_SPREAD * min((1 - strangers) / max(spread, TINY), MOST_SPREADS)
    found = join_groups(
        bonds.leaders.astype(np.int64),
        bonds.names.astype(np.int64, copy=True),
        starts,
        links,
        agreed.ravel()[first],
        *_both_ways(bonds.apart[:, 0], bonds.apart[:, 1], total)[:2],
        *_rows_of(bonds.rejected, total),
        np.array(vectors, dtype=np.float64),
        strangers,
        trusts,
        weights,
        surely_alike(strangers, same_person, total),
        LEAST,
        ALLOWED,
        DOUBT,
    )
    return Groups(*found)


def surely_alike(strangers: float, same_person: float, total: int) -> float:
    """How alike two sets must be so that hardly a pair of strangers is, in a gallery of so many sets.

    Strangers are taken for normal around what they are in the gallery, with such a spread that one pair in
    10,000 reaches the level of the descriptor. It is infinite where no level is known.

    Parameters
    ----------
    strangers : float
        How alike they are in the gallery.
    same_person : float
        The level; 1 if unknown.
    total : int
        Number of sets.
    """
    if same_person >= NEVER or same_person < strangers + LEAST_ABOVE:
        return np.inf
    normal, pairs = NormalDist(), max(1.0, total * (total - 1) / 2)
    spread = (same_person - strangers) / -normal.inv_cdf(1 / PAIRS_AT_LEVEL)
    return strangers - spread * normal.inv_cdf(min(EXPECTED / pairs, 0.5))


def agreement_of_few(tables: Tables) -> Agreement | None:
    """Lists and vectors by similarity alone, for a gallery that the re-ranker leaves alone as too small."""
    if len(tables) < FEWEST:
        return None
    lists = all_lists(tables)
    square = np.zeros((len(tables), len(tables)))
    np.put_along_axis(square, lists.sets, lists.scores, axis=1)
    known = Known.of(lists, np.arange(len(tables)), square)
    return Agreement.of(known, known.scores())


def mean_directions(faces: NDArray[Any], starts: Numbers) -> Values:
    """The mean direction of the faces of each set; (n, d), of unit length.

    Parameters
    ----------
    faces : array (m, d)
        Of all sets, one after the other, each of unit length.
    starts : array (n + 1,)
        Where each set begins.
    """
    found: Values = np.add.reduceat(faces, starts[:-1], axis=0, dtype=np.float64)
    return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12)


def strangers_of(vectors: Values) -> tuple[float, float]:
    """How alike vectors of strangers are, and by how much that differs, told from the pairs of some rows.

    Kin are clipped off from above. They lie above the middle only, so the spread is that of the lower half.
    """
    total = len(vectors)
    rows = np.unique(np.linspace(0, total - 1, min(ROWS, total)).astype(np.int64))
    with one_blas_thread():
        table = vectors[rows] @ vectors.T
    values = table[np.arange(total) != rows[:, None]]
    middle, spread = float(np.median(values)) if len(values) else 0.0, 0.0
    for _ in range(ROUNDS):
        below = values[values < middle]
        if not len(below):
            break
        spread = 1.4826 * float(np.median(middle - below))
        before, middle = middle, float(np.median(values[values < middle + CLIP * spread]))
        if middle == before:
            break
    return middle, spread


def _both_ways(ones: Numbers, others: Numbers, total: int) -> tuple[Numbers, Numbers, Numbers]:
    """Pairs row by row, each once in the rows of both: where rows begin, who is there, from which pair."""
    keys, first = np.unique(np.concatenate([ones * total + others, others * total + ones]), return_index=True)
    owners, found = np.divmod(keys, total)
    return np.searchsorted(owners, np.arange(total + 1)), found, first % max(1, len(ones))


def _rows_of(pairs: Numbers, total: int) -> tuple[Numbers, Numbers]:
    owners, values = pairs[:, 0], pairs[:, 1]
    order = np.lexsort((values, owners))
    return np.searchsorted(owners[order], np.arange(total + 1)), np.ascontiguousarray(values[order])
