"""Cohorts: what the strangers around two sets, and their kin, say about the pair.

The cohort of a set are its neighbours behind the first few. Similarities of gallery sets are known for the
pairs in somebody's list; each of the others is as the levels of the two sets let expect (`Known`), so that
only what known pairs have beyond that, their residual, is added up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.compiled import compiled

Ints = NDArray[np.int64]
Doubles = NDArray[np.float64]


@compiled
def residual_of(starts: Ints, sets: Ints, residuals: Doubles, row: int, column: int) -> float:
    """Residual of one pair; 0 if it is not known."""
    low, high = starts[row], starts[row + 1]
    while low < high:
        middle = (low + high) // 2
        if sets[middle] < column:
            low = middle + 1
        else:
            high = middle
    if low < starts[row + 1] and sets[low] == column:
        return float(residuals[low])
    return 0.0


class KnownPairs(NamedTuple):
    """Pairs that are known, row by row, and what is expected of the others: the fields of `Known`."""

    starts: Ints  # (n + 1,)
    sets: Ints  # (m,): in increasing order within a row
    residuals: Doubles  # (m,)
    levels: Doubles  # (n,)
    level: float


class Cohorts(NamedTuple):
    """Which sets are the strangers around each set."""

    lists: Ints  # (n, skip + width + 1): neighbours of each set, nearest first
    skip: int  # the cohort begins behind so many of them
    width: int  # and has so many


class Query(NamedTuple):
    """A query, whose similarities are the level of all pairs, its own, those of the sets, and ``direct``."""

    own: Ints  # (skip + width + 1,): its neighbours, nearest first
    level: float
    member: int  # its number, or -1
    direct: Doubles  # (n,)


class Room(NamedTuple):
    """Room to work in, all zero; it is left so."""

    indirect: Doubles  # (n,)
    places: Ints  # (n,)


@compiled
def means_around(
    pairs: KnownPairs, cohorts: Cohorts, query: Query, room: Room, targets: Ints, found: Doubles
) -> None:
    """Three means for a query q and each of some targets t; q is in no cohort of t, nor t in that of q.

    Parameters
    ----------
    targets : array (m,)
    found : array (3, m)
        Results: mean of q with the cohort of t, of t with the cohort of q, and of cohort with cohort.
    """
    starts, sets, residuals, levels, level = pairs
    lists, skip, width = cohorts
    own, own_level, member, direct = query
    indirect, places = room
    own_levels = 0.0
    for r in own[skip : skip + width]:
        own_levels += levels[r] / width
        for at in range(starts[r], starts[r + 1]):
            indirect[sets[at]] += residuals[at] / width
    for place in range(skip + width):
        places[own[place]] = place + 1
    enters = own[skip + width]
    for i in range(len(targets)):
        t = targets[i]
        passes, counted = 0, 0
        their_levels, with_query, with_cohort = 0.0, 0.0, 0.0
        for p in lists[t]:
            if p == member:
                continue
            passes += 1
            if passes <= skip:
                continue
            their_levels += levels[p]
            with_query += direct[p]
            with_cohort += indirect[p]
            counted += 1
            if counted == width:
                break
        their_levels /= width
        of_target = level + own_levels + levels[t] + indirect[t]
        between = level + own_levels + their_levels + with_cohort / width
        if places[t] > 0:
            # The target leaves the query's list, and the next in line joins the cohort.
            leaves = own[skip] if places[t] <= skip else t
            change = levels[enters] - levels[leaves]
            of_target += (
                change
                + residual_of(starts, sets, residuals, enters, t)
                - residual_of(starts, sets, residuals, leaves, t)
            ) / width
            moved, passes, counted = 0.0, 0, 0
            for p in lists[t]:
                if p == member:
                    continue
                passes += 1
                if passes <= skip:
                    continue
                moved += residual_of(starts, sets, residuals, enters, p)
                moved -= residual_of(starts, sets, residuals, leaves, p)
                counted += 1
                if counted == width:
                    break
            between += (change + moved / width) / width
        found[0, i] = level + own_level + their_levels + with_query / width
        found[1, i] = of_target
        found[2, i] = between
    for r in own[skip : skip + width]:
        for at in range(starts[r], starts[r + 1]):
            indirect[sets[at]] = 0.0
    for place in range(skip + width):
        places[own[place]] = 0


def plain_means_around(
    pairs: KnownPairs, cohorts: Cohorts, query: Query, targets: Ints, found: Doubles
) -> None:
    """`means_around` by NumPy, to the last bit: every sum grows in the same order."""
    starts, sets, residuals, levels, level = pairs
    lists, skip, width = cohorts
    own, own_level, member, direct = query
    own_levels, indirect = 0.0, np.zeros(len(levels))
    for r in own[skip : skip + width]:
        row = slice(starts[r], starts[r + 1])
        own_levels += levels[r] / width
        indirect[sets[row]] += residuals[row] / width
    is_member, steps = lists[targets] == member, np.arange(skip, skip + width)
    passed = np.where(is_member.any(axis=1), is_member.argmax(axis=1), lists.shape[1])
    theirs = lists[targets[:, None], steps + (passed[:, None] <= steps)]  # (m, width)
    their_levels, with_query, with_cohort = np.zeros((3, len(targets)))
    for p in theirs.T:
        their_levels += levels[p]
        with_query += direct[p]
        with_cohort += indirect[p]
    their_levels /= width
    of_target = level + own_levels + levels[targets] + indirect[targets]
    between = level + own_levels + their_levels + with_cohort / width
    enters, listed = own[skip + width], own[: skip + width].tolist()
    entering, leaving = np.zeros((2, len(levels)))
    entering[sets[starts[enters] : starts[enters + 1]]] = residuals[starts[enters] : starts[enters + 1]]
    for i in np.flatnonzero(np.isin(targets, listed)):
        t = targets[i]
        leaves = own[skip] if listed.index(t) < skip else t
        row = slice(starts[leaves], starts[leaves + 1])
        leaving[sets[row]] = residuals[row]
        change = levels[enters] - levels[leaves]
        of_target[i] += (change + entering[t] - leaving[t]) / width
        moved = np.cumsum(np.stack([entering[theirs[i]], -leaving[theirs[i]]], axis=1))[-1]
        between[i] += (change + moved / width) / width
        leaving[sets[row]] = 0.0
    found[0] = level + own_level + their_levels + with_query / width
    found[1], found[2] = of_target, between


@compiled
def means_of_known(pairs: KnownPairs, cohorts: Cohorts, first: int, last: int, found: Doubles) -> None:
    """`means_around` of the sets first..last as queries, for the pairs that are known of each.

    Results go to the columns of ``found`` (3, pairs) that belong to the pairs; a set with itself gets some
    that mean nothing.
    """
    starts, sets, residuals, levels, _ = pairs
    direct = np.zeros(len(levels))
    room = Room(np.zeros(len(levels)), np.zeros(len(levels), np.int64))
    for i in range(first, last):
        row = slice(starts[i], starts[i + 1])
        direct[sets[row]] = residuals[row]
        query = Query(cohorts.lists[i], levels[i], i, direct)
        means_around(pairs, cohorts, query, room, sets[row], found[:, row])
        direct[sets[row]] = 0.0


# Pooling: the pairs of a set and its kin with another and its kin, of those pairs that are known.


@compiled
def pool_known(
    starts: Ints,
    sets: Ints,
    values: Doubles,
    kin: Ints,
    chances: Doubles,
    first: int,
    last: int,
    found: Doubles,
) -> None:
    """Pool the known pairs of the sets first..last; others count 0, which is an ordinary pair's value.

    Parameters
    ----------
    starts, sets
        As in `Known`.
    values : array (m,)
        Of each pair; of a set with itself, what it counts for its kin.
    kin, chances : arrays (n, k)
        Those that may be kin of each set, and the chance that they are.
    found : array (m,)
        Written: the mean over both and their kin, in which neither is kin of the other.
    """
    total = len(kin)
    evidence = np.zeros(total)
    for i in range(first, last):
        own = 1.0
        for at in range(starts[i], starts[i + 1]):
            evidence[sets[at]] += values[at]
        for j in range(kin.shape[1]):
            r, chance = kin[i, j], chances[i, j]
            own += chance
            for at in range(starts[r], starts[r + 1]):
                evidence[sets[at]] += chance * values[at]
        for at in range(starts[i], starts[i + 1]):
            t = sets[at]
            pooled, weight, whole = evidence[t], 1.0, own
            as_kin = 0.0
            for j in range(kin.shape[1]):
                if kin[i, j] == t:
                    as_kin = chances[i, j]
            whole -= as_kin
            if as_kin > 0:
                pooled -= as_kin * residual_of(starts, sets, values, t, t)
            for j in range(kin.shape[1]):
                p = kin[t, j]
                if p == i:
                    continue
                weight += chances[t, j]
                pooled += chances[t, j] * evidence[p]
                if as_kin > 0:
                    pooled -= chances[t, j] * as_kin * residual_of(starts, sets, values, t, p)
            found[at] = pooled / (weight * whole)
        for at in range(starts[i], starts[i + 1]):
            evidence[sets[at]] = 0.0
        for j in range(kin.shape[1]):
            r = kin[i, j]
            for at in range(starts[r], starts[r + 1]):
                evidence[sets[at]] = 0.0
