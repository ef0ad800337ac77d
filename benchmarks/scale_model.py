"""Formulae of scale: what a collection in slices takes, from what one slice was measured to take.

Plain arithmetic on floats and arrays: nothing is measured here and nothing is drawn. The symbols of the page
are the local names: n sets, f faces a set, d numbers a face, k neighbours, N nodes, s sets a run, r the
number of a run, m the sets that come after it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]

# Rows of faces in a run, neighbours kept, and of how many of them modes are kept: those of the library
# (`tables.BLOCK_ROWS`, `indexing.COUNT`, `proxies.WITH_MODES`), which a test compares.
RUN_ROWS, NEIGHBOURS, WITH_MODES = 2048, 64, 11
PROXIES = 10
# Those that may be kin of a set, and its neighbours up to the last of its cohort (`kin.MOST`,
# `_kinship.COHORT`): of a target on a shortlist, both of its kin too, a query needs the similarity.
KIN, COHORT = 5, 32
NUMBER, SCORE, MODE = 8, 8, 8
# A pair that may be neighbours: two numbers, a score, two modes.
PAIR_BYTES = 2 * NUMBER + SCORE + 2 * MODE
# Those that slices send back for each set, at most (`sizes.PAIRS_OF_A_SET`).
PAIRS_OF_A_SET = 32
# What a row says of a set: a score and two modes.
ROW_BYTES = SCORE + 2 * MODE
# A guess of a shortlist: a number, a guess of four bytes, a product.
GUESS_BYTES = NUMBER + 4 + SCORE
# An agreement: a number and two modes there, a score back.
AGREEMENT_BYTES = NUMBER + 2 * MODE + SCORE
# Both of a query's agreements, in the proxy and in the target, for each proxy.
AGREEMENTS = 2 * PROXIES
DAY = 86_400.0


@dataclass(frozen=True)
class Costs:
    """What one slice takes on one thread, for one shape of sets; seconds are of the processor."""

    faces: int
    dimension: int
    set_bytes: float  # prepared, in memory and in the index's files
    gallery_bytes: float  # in the gallery file
    id_bytes: float  # of the coordinator for each set, without lists
    prepare: float  # seconds a set
    multiply_rate: float  # floating point operations a second, bare
    near_rate: float  # the same of comparing runs
    finish: float  # seconds a pair that may be neighbours
    row: float  # seconds a set of a query's row
    some_row: float  # the same of sets that lie all over the memory
    place_row: float  # coordinator: putting what slices say of a set in its place
    fetch: float  # seconds a set that is fetched for a run
    list_merge: float  # coordinator: a list that changes
    pair_merge: float  # coordinator: a pair that is offered
    feature: float  # coordinator: the five numbers of a target and a proxy
    agreement: float  # a look-up in a slice
    pool: float  # coordinator: weighing a set by its strangers and pooling it with its kin
    code_bytes: float  # a face
    look_fixed: float  # a query by shortlist: whatever the size of the slice
    look_face: float  # a query by shortlist: for each coded face
    look_batch: float  # a face of many queries at once: for each coded face


@dataclass(frozen=True)
class Wire:
    """How processes reach each other on this machine; measured by Ray, or assumed."""

    trip: float  # seconds from a question to its answer
    rate: float  # bytes a second of arrays from one process to another
    restart: float  # seconds until an actor that was killed answers again, its slice apart
    is_measured: bool


@dataclass(frozen=True)
class Node:
    """A machine of the cluster; the assumptions of the page."""

    cores: int = 16
    efficiency: float = 0.8  # of all cores at once, to one alone
    memory: float = 64e9
    usable: float = 0.7  # share of the memory for prepared sets, or for the coordinator's tables
    network: float = 1.25e9  # bytes a second
    memory_rate: float = 50e9  # bytes a second that all cores together read
    disk_rate: float = 1e9
    trip: float = 1e-3  # seconds between machines, with everything that Ray does
    notice: float = 30.0  # seconds until a dead machine is noticed
    regression_rate: float = 4.5e6  # a core and second

    @property
    def speed(self) -> float:
        """Threads' worth of work that all cores do."""
        return self.cores * self.efficiency


# Work and bytes.


def pairs(n: float) -> float:
    """Pairs of sets: n (n - 1) / 2."""
    return n * (n - 1) / 2


def flop(n: float, f: float, d: float) -> float:
    """Floating point operations of comparing all pairs: a product and a sum for each number."""
    return pairs(n) * 2 * f * f * d


def list_bytes(n: float, k: int = NEIGHBOURS) -> float:
    """Neighbour lists: number and score of each neighbour, two modes of the first."""
    return n * (k * (NUMBER + SCORE) + min(k, WITH_MODES) * 2 * MODE)


def asking_bytes(n: float, id_bytes: float) -> float:
    """Ids and lists."""
    return n * id_bytes + list_bytes(n)


def indexing_bytes(n: float, id_bytes: float) -> float:
    """The same, lists from before an interruption, and pairs of the runs that are under way."""
    return asking_bytes(n, id_bytes) + list_bytes(n) + n * PAIRS_OF_A_SET * PAIR_BYTES


def nodes_for(n: float, cost: Costs, node: Node) -> int:
    """The fewest nodes whose memory has room for all prepared sets."""
    return max(1, int(np.ceil(n * cost.set_bytes / (node.memory * node.usable))))


# One run of an index.


def run_sets(f: int) -> int:
    """Sets of a run."""
    return max(1, RUN_ROWS // f)


def later(n: float, s: int, r: Doubles) -> Doubles:
    """Sets that come after run r, counted from 1."""
    return np.maximum(n - s * r, 0.0)


def entries(s: int, seen: Doubles, k: int = NEIGHBOURS) -> Doubles:
    """How many of s sets in random order beat the k-th best of those seen before: s k / seen."""
    return np.minimum(min(s, k), s * k / np.maximum(seen, 1.0))


def offered(n: float, s: int, r: Doubles) -> Doubles:
    """Pairs that slices send back for run r: floors are those before the run that is still under way."""
    e = entries(s, s * np.maximum(r - 2, 0))
    return later(n, s, r) * e * (2 - e / s)


def slice_seconds(n: float, cost: Costs, r: Doubles) -> Doubles:
    """All slices together, on one thread: products, and what is finished exactly."""
    s = run_sets(cost.faces)
    products = 2.0 * s * cost.faces * later(n, s, r) * cost.faces * cost.dimension
    return products / cost.near_rate + offered(n, s, r) * cost.finish


def merge_seconds(n: float, cost: Costs, r: Doubles) -> Doubles:
    """Coordinator: lists that change, pairs that are offered."""
    s = run_sets(cost.faces)
    touched = later(n, s, r) * np.minimum(1.0, entries(s, s * (r - 1))) + s
    return touched * cost.list_merge + offered(n, s, r) * cost.pair_merge


def own_seconds(n: float, cost: Costs, r: Doubles) -> Doubles:
    """Coordinator, besides merging: a run meets itself."""
    rows = run_sets(cost.faces) * cost.faces
    return np.full(len(r), 2.0 * rows * rows * cost.dimension / cost.near_rate)


def sent_bytes(n: float, cost: Costs, r: Doubles, nodes: int) -> Doubles:
    """Out of the coordinator: the run to each node, and what each later set must reach."""
    s = run_sets(cost.faces)
    return nodes * s * (cost.set_bytes + SCORE) + later(n, s, r) * SCORE


def answer_bytes(n: float, cost: Costs, r: Doubles) -> Doubles:
    """Back to the coordinator: pairs that may be neighbours."""
    return offered(n, run_sets(cost.faces), r) * PAIR_BYTES


# A query.


def row_seconds(n: float, cost: Costs, node: Node, nodes: int) -> float:
    """A slice compares a query with all of its sets: the longer of arithmetic and reading."""
    each = n / nodes
    reading = each * cost.faces * cost.dimension * 4 / node.memory_rate
    return max(each * cost.row / node.speed, reading)


def row_at_coordinator(n: float, cost: Costs, node: Node) -> float:
    """A row arrives by the coordinator's one link and is put in order."""
    return n * (ROW_BYTES / node.network + cost.place_row)


def proxies_bytes(targets: float) -> float:
    """The second round: agreements in proxies and targets."""
    return targets * AGREEMENTS * AGREEMENT_BYTES


def proxies_seconds(targets: float, cost: Costs, node: Node, nodes: int) -> tuple[float, float]:
    """The second round: of a slice, and of the coordinator with its regressions."""
    slice = targets * AGREEMENTS * cost.agreement / nodes
    regressions = targets * PROXIES / (node.regression_rate * node.speed)
    return slice, proxies_bytes(targets) / node.network + targets * PROXIES * cost.feature + regressions


def look_seconds(n: float, cost: Costs, node: Node, nodes: int) -> float:
    """A slice guesses by its codes: a part for each coded face, and a part that more cores do not shorten."""
    return cost.look_fixed + n / nodes * cost.faces * cost.look_face / node.speed


def guess_bytes(guessed: int) -> float:
    """What one slice says of its guesses: number, guess and nearest product of each."""
    return guessed * GUESS_BYTES


def chosen_bytes(targets: float) -> float:
    """The rows of targets and their proxies, with the numbers by which they are asked for."""
    return targets * (1 + PROXIES) * (NUMBER + ROW_BYTES)


def needed(targets: float) -> tuple[float, float]:
    """Sets that `auto` weighs for some targets, and those it compares for that, if no two are in common."""
    weighed = targets * (1 + KIN)
    return weighed, weighed * (1 + COHORT)


def shortlist_index_seconds(n: float, cost: Costs, node: Node, nodes: int) -> tuple[float, float]:
    """Every set asked of every slice by its codes: of the slices, and of the coordinator.

    Still quadratic: n sets are looked up among n / N sets by each of N slices.
    """
    guessing = n * (cost.look_fixed + cost.faces * n / nodes * cost.faces * cost.look_batch) / node.speed
    found = n * nodes * NEIGHBOURS
    return guessing, found * PAIR_BYTES / node.network + n * cost.list_merge + found * cost.pair_merge
