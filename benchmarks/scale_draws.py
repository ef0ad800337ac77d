"""Draws of scale: how long the slowest slice takes, and what failures add.

Plain sampling, no event queue: a run of an index is a barrier, all slices and then the coordinator, so a run
is one draw of the slowest slice, and runs follow each other. A query is two such barriers. Failures are a
Poisson process over the length of the work.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks import scale_model as model
from benchmarks.scale_model import Costs, Node

Doubles = NDArray[np.float64]
# Numbers drawn at a time: 64 MB.
AT_ONCE = 8_000_000
# Runs of an index that are looked at one by one.
HEAD = 10_000


@dataclass(frozen=True)
class Tail:
    """Service times of a slice, as multiples of what it takes undisturbed.

    A log-normal with median 1; and of each ``1 / share`` answers one is ``1 + Pareto`` times as long.
    """

    sigma: float = 0.2
    share: float = 0.01
    exponent: float = 2.0
    least: float = 1.0  # scale of the Pareto distribution

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Doubles:
        """Multiples."""
        usual = rng.lognormal(0.0, self.sigma, shape)
        # Always drawn, so that the same numbers follow for another share.
        is_slow, slow = rng.random(shape) < self.share, self.least * (1 + rng.pareto(self.exponent, shape))
        return usual * np.where(is_slow, 1 + slow, 1.0)


def slowest(tail: Tail, slices: Sequence[int], samples: int, seed: int) -> dict[int, Doubles]:
    """Draws of the maximum over slices, for several numbers of slices.

    The first slices of a larger number are those of a smaller one, so that no draw is lower with more.
    """
    rng = np.random.default_rng([seed, 1])
    most = max(slices)
    found: dict[int, list[Doubles]] = {one: [] for one in slices}
    step = max(1, AT_ONCE // most)
    for start in range(0, samples, step):
        drawn = np.maximum.accumulate(tail.draw(rng, (min(step, samples - start), most)), axis=1)
        for one in slices:
            found[one].append(drawn[:, one - 1].copy())
    return {one: np.concatenate(parts) for one, parts in found.items()}


def index_seconds(
    n: int, cost: Costs, node: Node, nodes: int, factors: Doubles, rate: float | None = None
) -> dict[str, float]:
    """Time of an exact index without failures, and what it goes to.

    A run takes max(slowest slice, coordinator) + fetching the next run + sending it: while the coordinator
    merges one run the slices compare the next, and they stand still while that is fetched.

    Parameters
    ----------
    factors : array
        Draws of the slowest slice, which the runs take in turn.
    rate : float, optional
        Bytes a second between machines, unless the node's network decides.
    """
    s = model.run_sets(cost.faces)
    runs = -(-n // s)
    r, weight = some_runs(runs)
    network = rate or node.network
    slices = model.slice_seconds(n, cost, r) / (nodes * node.speed) * np.resize(factors, len(r))
    merging = model.merge_seconds(n, cost, r)
    own = model.own_seconds(n, cost, r)
    answers = model.answer_bytes(n, cost, r) / network
    coordinator = merging + own + answers
    fetch = 2 * node.trip + s * (cost.set_bytes / network + cost.fetch)
    between = fetch + model.sent_bytes(n, cost, r, nodes) / network
    each = np.maximum(slices, coordinator) + between
    parts = {
        "seconds": each,
        "slices": slices,
        "coordinator": coordinator,
        "merging": merging,
        "own": own,
        "answers": answers,
        "between": between,
    }
    return {"runs": runs, "run": float(each @ weight) / runs} | {
        name: float(part @ weight) for name, part in parts.items()
    }


def some_runs(runs: int) -> tuple[Doubles, Doubles]:
    """Runs that stand for all, counted from 1, and for how many each stands.

    All of the first, in which lists still change much; of the others the middle of equal stretches.
    """
    head = np.arange(1.0, min(runs, HEAD) + 1)
    rest = runs - len(head)
    count = min(rest, HEAD)
    if not count:
        return head, np.ones_like(head)
    middles = len(head) + 0.5 + (np.arange(count) + 0.5) * rest / count
    return np.concatenate([head, middles]), np.concatenate([np.ones_like(head), np.full(count, rest / count)])


def local_index_seconds(n: int, cost: Costs) -> float:
    """The same in one process on one thread, where everything comes one after the other."""
    s = model.run_sets(cost.faces)
    r = np.arange(1.0, -(-n // s) + 1)
    steps = (model.slice_seconds, model.merge_seconds, model.own_seconds)
    return float(sum(step(n, cost, r).sum() for step in steps)) + n * cost.fetch


def with_failures(
    work: float, lost: float, down: float, nodes: int, between: float, samples: int, seed: int
) -> Doubles:
    """How long work takes if nodes fail: while a slice is opened again all others wait for it.

    Parameters
    ----------
    work : float
        Seconds without failures.
    lost : float
        Length of a run: on average half of it is done again.
    down : float
        Seconds until a lost slice is open again.
    between : float
        Mean time between failures of one node.
    """
    rng = np.random.default_rng([seed, 2])
    total = np.full(samples, float(work))
    fresh = total.copy()
    # Failures also come while earlier ones are made good; where that never ends, so does the work.
    for _ in range(64):
        if not fresh.any():
            return total
        count = rng.poisson(np.minimum(fresh * nodes / between, 1e12))
        # A sum of uniform parts of a run, by its mean and its deviation.
        part = lost * (count / 2 + np.sqrt(count / 12) * rng.standard_normal(samples))
        fresh = count * down + np.clip(part, 0, count * lost)
        total += fresh
    return np.where(fresh > 0.01 * total, np.inf, total)


def query_seconds(
    slice: Sequence[float],
    coordinator: Sequence[float],
    factors: Sequence[Doubles],
    trip: float,
    nodes: int,
    down: float = 0.0,
    between: float = np.inf,
    seed: int = 0,
) -> Doubles:
    """Latency of queries: in each round the slowest slice, then the coordinator; or a slice that is away.

    Parameters
    ----------
    slice, coordinator : sequences of floats
        Seconds of each round.
    factors : sequence of arrays
        Draws of the slowest slice of each round.
    down, between : floats
        How long a failed node is away, and the mean time between failures of one: a query that meets one
        waits until it is back.
    """
    rng = np.random.default_rng([seed, 3])
    total = np.full(len(factors[0]), sum(coordinator) + len(slice) * trip)
    for seconds, slow in zip(slice, factors, strict=True):
        total = total + seconds * slow
    share = 1 - np.exp(-nodes * down / between)
    is_away, left = rng.random(len(total)) < share, rng.random(len(total)) * down
    return total + np.where(is_away, left, 0.0)
