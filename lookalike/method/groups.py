"""Groups: sets that are most probably one person, found from what the re-ranker knows of a gallery.

Groups begin as single sets, or as what was decided to be one person. Those two that belong together most are
joined, again and again, while their score is above 0:

    score(A, B) = 8.3 c + 4.6 t + 1.8 logit(J) + 1.6 ln(min(larger, 64)) - 0.25 ln(smaller) - 11.1

c is the cosine of their summed vectors beyond what strangers have, t the lower of their mean trusts in lists
of neighbours, J the mean agreement of all pairs between them (of pairs that nobody lists it is 0), larger and
smaller their sizes. All of it is told by the gallery itself, so no threshold depends on the descriptor.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.joining import agreements, join_groups
from lookalike.kernels.threads import blocks, in_order, one_blas_thread
from lookalike.method.agreement import BLOCK, Agreement
from lookalike.method.calibration import expit
from lookalike.method.neighbours import Known, all_lists
from lookalike.method.tables import Tables

Numbers = NDArray[np.int64]
Values = NDArray[np.float64]

# Weights of the cosine, of trust, of agreement, of the larger size and of the smaller one, and what is added
# (chosen with labels).
WEIGHTS = (8.3, 4.6, 1.8, 1.6, -0.25, -11.1)
# Pairs that were not joined are worth a question down to this score, about even odds (chosen with labels).
DOUBT = -2.0
# Logit of the probability that a group shows one person only, by the least score at which it was joined; and
# that two groups of several sets, which were not joined, are the same (chosen with labels, by logistic
# regression on galleries of many shapes).
GROUP_SLOPE, GROUP_LEVEL = 0.6, 2.4
PAIR_SLOPE, PAIR_LEVEL, EVEN = 1.6, 2.2, 0.5
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
        Groups that may be one person, but were not joined, and by how much they fall short of it.
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


def propose(agreement: Agreement, vectors: Values, bonds: Bonds) -> Groups:
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
    found = join_groups(
        bonds.leaders.astype(np.int64),
        bonds.names.astype(np.int64, copy=True),
        starts,
        links,
        agreed.ravel()[first],
        *_both_ways(bonds.apart[:, 0], bonds.apart[:, 1], total)[:2],
        *_rows_of(bonds.rejected, total),
        np.array(vectors, dtype=np.float64),
        strangers_of(vectors),
        trusts,
        np.array(WEIGHTS),
        DOUBT,
    )
    return Groups(*found)


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


def strangers_of(vectors: Values) -> float:
    """How alike vectors of strangers are: the middle of the pairs of some rows, kin clipped off from above.

    Kin lie above the middle only, so the spread is that of the lower half.
    """
    total = len(vectors)
    rows = np.unique(np.linspace(0, total - 1, min(ROWS, total)).astype(np.int64))
    with one_blas_thread():
        table = vectors[rows] @ vectors.T
    values = table[np.arange(total) != rows[:, None]]
    middle = float(np.median(values)) if len(values) else 0.0
    for _ in range(ROUNDS):
        below = values[values < middle]
        if not len(below):
            break
        spread = 1.4826 * float(np.median(middle - below))
        before, middle = middle, float(np.median(values[values < middle + CLIP * spread]))
        if middle == before:
            break
    return middle


def _both_ways(ones: Numbers, others: Numbers, total: int) -> tuple[Numbers, Numbers, Numbers]:
    """Pairs row by row, each once in the rows of both: where rows begin, who is there, from which pair."""
    keys, first = np.unique(np.concatenate([ones * total + others, others * total + ones]), return_index=True)
    owners, found = np.divmod(keys, total)
    return np.searchsorted(owners, np.arange(total + 1)), found, first % max(1, len(ones))


def _rows_of(pairs: Numbers, total: int) -> tuple[Numbers, Numbers]:
    owners, values = pairs[:, 0], pairs[:, 1]
    order = np.lexsort((values, owners))
    return np.searchsorted(owners[order], np.arange(total + 1)), np.ascontiguousarray(values[order])
