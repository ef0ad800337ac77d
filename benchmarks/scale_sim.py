"""Simulation of scale: clusters of several sizes, and the sizes at which the design must change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import scale_draws as draws
from benchmarks import scale_model as model
from benchmarks.scale_draws import Tail
from benchmarks.scale_model import DAY, Costs, Node, Wire

SIZES = (100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000)
SLICES = (1, 2, 8, 32, 128, 512)
MORE_NODES = (1, 4, 16, 64, 256)
SPREAD_OVER = (1_000_000, 10_000_000)
YEAR, MONTH = 365 * DAY, 30 * DAY
# Of `lookalike.method.shortlist.Sizes`: sets guessed, kept, and the neighbours of the best that join.
GUESSED, KEPT, JOINED = 3072, 1000, 100 * 11
# Seconds that whoever asks may be kept waiting by the wire, and by the wire of a shortlist.
PATIENCE, SHORT_PATIENCE = 1.0, 0.1
# Seconds between two times that unfinished lists are written (`collection/unfinished.py`).
KEEPING = 60.0
FLEET = 100


def simulate(cost: Costs, wire: Wire, node: Node, tail: Tail, samples: int, seed: int) -> dict[str, Any]:
    """Everything that the page says of clusters."""
    nodes = {n: model.nodes_for(n, cost, node) for n in SIZES}
    counts = sorted({*SLICES, *MORE_NODES, *nodes.values()})
    slow = draws.slowest(tail, counts, samples, seed)
    usual = draws.slowest(Tail(tail.sigma, 0.0), SLICES, samples, seed)
    down = {n: _down(n, nodes[n], cost, wire, node) for n in SIZES}
    return {
        "sizes": [_size(n, nodes[n], cost, node) for n in SIZES],
        "indexes": [_index(n, nodes[n], cost, node, slow[nodes[n]], down[n], seed) for n in SIZES],
        "queries": [_queries(n, nodes[n], cost, node, slow[nodes[n]], down[n], seed) for n in SIZES],
        "more_nodes": [
            {"sets": n, "nodes": many} | draws.index_seconds(n, cost, node, many, slow[many])
            for n in SPREAD_OVER
            for many in MORE_NODES
            if many >= nodes[n]
        ],
        "stragglers": [
            {
                "slices": one,
                "usual_p50": _at(usual[one], 50),
                "usual_p99": _at(usual[one], 99),
                "p50": _at(slow[one], 50),
                "p99": _at(slow[one], 99),
            }
            for one in SLICES
        ],
        "changes": changes(cost, node),
    }


def _size(n: int, nodes: int, cost: Costs, node: Node) -> dict[str, Any]:
    asking = model.asking_bytes(n, cost.id_bytes)
    indexing = model.indexing_bytes(n, cost.id_bytes)
    return {
        "sets": n,
        "nodes": nodes,
        "node_memory": n * cost.set_bytes / nodes,
        "node_codes": n * cost.faces * cost.code_bytes / nodes,
        # The gallery file, the prepared sets and the codes; lists are the coordinator's.
        "node_disk": n * (cost.set_bytes + cost.gallery_bytes + cost.faces * cost.code_bytes) / nodes,
        "coordinator_indexing": indexing,
        "coordinator_asking": asking,
        "coordinator_disk": 3 * model.list_bytes(n),
        "indexing_fits": bool(indexing <= node.memory * node.usable),
        "asking_fits": bool(asking <= node.memory * node.usable),
    }


def _down(n: int, nodes: int, cost: Costs, wire: Wire, node: Node) -> float:
    """Seconds until a slice whose node died is open elsewhere: noticed, started, read."""
    return node.notice + wire.restart + n / nodes * cost.set_bytes / node.disk_rate


def _index(
    n: int, nodes: int, cost: Costs, node: Node, slow: draws.Doubles, down: float, seed: int
) -> dict[str, Any]:
    found = draws.index_seconds(n, cost, node, nodes, slow)
    guessing, merging = model.shortlist_index_seconds(n, cost, node, nodes)
    failing = {
        name: float(draws.with_failures(found["seconds"], found["run"], down, nodes, mean, 2000, seed).mean())
        for name, mean in (("year", YEAR), ("month", MONTH))
    }
    plain = draws.index_seconds(n, cost, node, nodes, np.ones_like(slow))
    return {
        "sets": n,
        "nodes": nodes,
        "flop": model.flop(n, cost.faces, cost.dimension),
        "prepare": n * cost.prepare / (nodes * node.speed),
        **found,
        "without_stragglers": plain["seconds"],
        "nodes_for_a_day": int(np.ceil(plain["slices"] * nodes / DAY)),
        "coordinator_decides_from": plain["slices"] * nodes / plain["coordinator"],
        "by_shortlists": max(guessing * float(slow.mean()), merging),
        "by_shortlists_coordinator": merging,
        "down": down,
        "failures_year": found["seconds"] * nodes / YEAR,
        "failures_month": found["seconds"] * nodes / MONTH,
        "with_failures_year": failing["year"],
        "with_failures_month": failing["month"],
    }


def _queries(
    n: int, nodes: int, cost: Costs, node: Node, slow: draws.Doubles, down: float, seed: int
) -> dict[str, Any]:
    # The draws of the second round: independent ones, which those of the next query are.
    rounds = (slow, np.roll(slow, 1))
    row = model.row_seconds(n, cost, node, nodes)
    placing = model.row_at_coordinator(n, cost, node)
    agreeing, ranking = model.proxies_seconds(n, cost, node, nodes)
    look = model.look_seconds(n, cost, node, nodes)
    answers = nodes * model.guess_bytes(GUESSED)
    gathering = answers / node.network + nodes * GUESSED * cost.place_row
    targets = KEPT + JOINED
    agreeing_few, ranking_few = model.proxies_seconds(targets, cost, node, nodes)
    ranking_few += model.chosen_bytes(targets) / node.network
    # Proxies that are not on the shortlist are compared with the query by those who have them.
    agreeing_few += targets * model.PROXIES * cost.some_row / nodes
    # Whoever else has a say is as its level lets expect.
    compared = targets
    weighed, _ = model.needed(compared)
    needed = compared * (model.NUMBER + model.ROW_BYTES)
    pooling = needed / node.network + compared * cost.place_row + weighed * cost.pool
    ways = {
        "baseline": ([row], [placing], rounds[:1]),
        "auto": ([row], [placing + n * cost.pool], rounds[:1]),
        "learnt": ([row, agreeing], [placing, ranking], rounds),
        "auto_shortlist": ([look, compared * cost.some_row / nodes], [gathering, pooling], rounds),
        "shortlist": ([look, agreeing_few], [gathering, ranking_few], rounds),
    }
    found: dict[str, Any] = {"sets": n, "nodes": nodes, "slice_row": row, "slice_look": look}
    for name, (slice, coordinator, factors) in ways.items():
        drawn = draws.query_seconds(slice, coordinator, factors, node.trip, nodes)
        failing = draws.query_seconds(slice, coordinator, factors, node.trip, nodes, down, MONTH, seed)
        found[name] = {
            "undisturbed": sum(slice) + sum(coordinator) + len(slice) * node.trip,
            "coordinator": sum(coordinator),
            "p50": _at(drawn, 50),
            "p99": _at(drawn, 99),
            "p99_failing": _at(failing, 99),
        }
    found["bytes"] = {
        "baseline": n * model.ROW_BYTES,
        "auto": n * model.ROW_BYTES,
        "auto_shortlist": answers + needed,
        "learnt": n * model.ROW_BYTES + model.proxies_bytes(n),
        "shortlist": answers + model.chosen_bytes(targets) + model.proxies_bytes(targets),
    }
    found["away_year"] = 1 - float(np.exp(-nodes * down / YEAR))
    found["away_month"] = 1 - float(np.exp(-nodes * down / MONTH))
    return found


def crossing(value: Callable[[float], float], limit: float, low: float = 1.0, high: float = 1e13) -> float:
    """Where a growing function reaches a limit, by halving on a logarithmic scale."""
    for _ in range(200):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if value(middle) < limit else (low, middle)
    return high


def changes(cost: Costs, node: Node) -> list[dict[str, Any]]:
    """The sizes from which something no longer holds, in increasing order; and what would have to change."""
    s, room, plain = model.run_sets(cost.faces), node.memory * node.usable, np.ones(1)

    def index(n: float, part: str, nodes: int = 1) -> float:
        return draws.index_seconds(int(n), cost, node, nodes, plain)[part]

    def shortlists(n: float) -> float:
        return max(model.shortlist_index_seconds(n, cost, node, FLEET))

    def of(what: str, formula: str, limit: str, n: float, instead: str) -> dict[str, Any]:
        return {"what": what, "formula": formula, "limit": limit, "sets": n, "instead": instead}

    return sorted(
        [
            of(
                "memory of the coordinator, indexing",
                "n (ids + 2 lists + 32 pairs)",
                "memory x usable",
                crossing(lambda n: model.indexing_bytes(n, cost.id_bytes), room),
                "lists belong to the slice of their set, which merges them",
            ),
            of(
                "memory of the coordinator, asking",
                "n (ids + lists)",
                "memory x usable",
                crossing(lambda n: model.asking_bytes(n, cost.id_bytes), room),
                "slices answer with ids and lists of what they return; the coordinator has none",
            ),
            of(
                "all that the coordinator does for an index, any number of nodes",
                "sum over r of merge(r) + own(r) + answers(r) / network",
                "a day",
                crossing(lambda n: index(n, "coordinator"), DAY, 1e4, 1e11),
                "each slice merges and keeps the lists of its own sets",
            ),
            of(
                "what later sets must reach, sent with each run",
                "8 n^2 / (2 s) / network",
                "a day",
                crossing(lambda n: 8 * n * n / (2 * s) / node.network, DAY),
                "slices know the floors of their own lists",
            ),
            of(
                f"comparing all pairs on {FLEET} nodes",
                "n^2 f^2 d / rate / (N cores efficiency)",
                "a day",
                crossing(lambda n: index(n, "slices", FLEET), DAY, 1e4, 1e11),
                "cells: compare a set only with the sets of cells near to it; no longer exact",
            ),
            of(
                f"guessing all neighbours by codes on {FLEET} nodes",
                "n (fixed + f^2 (n / N) code) / (cores efficiency)",
                "a day",
                crossing(shortlists, DAY),
                "the same: codes make a comparison cheaper, not their number smaller",
            ),
            of(
                "bytes of an exact row",
                "24 n / network",
                f"{PATIENCE:g} s",
                PATIENCE * node.network / model.ROW_BYTES,
                "slices return their best and no row",
            ),
            of(
                "bytes of the agreements of `learnt`, exact",
                "(2 x 10 x 32) n / network",
                f"{PATIENCE:g} s",
                PATIENCE * node.network / model.proxies_bytes(1),
                "slices score their own targets; or a shortlist",
            ),
            of(
                "weighing and pooling all sets, `auto`, exact",
                "n x a set weighed and pooled",
                f"{PATIENCE:g} s",
                PATIENCE / cost.pool,
                "a shortlist",
            ),
            of(
                "writing unfinished lists",
                "n lists / disk",
                f"{KEEPING:g} s, how often they are written",
                crossing(lambda n: model.list_bytes(n) / node.disk_rate, KEEPING),
                "each slice writes its own",
            ),
            of(
                f"answers of shortlists, {slices_within(node)} slices",
                f"N {GUESSED:,} x {model.GUESS_BYTES} / network",
                f"{SHORT_PATIENCE:g} s",
                slices_within(node) * room / cost.set_bytes,
                "slices are asked in groups, each of which merges its guesses",
            ),
        ],
        key=lambda one: one["sets"],
    )


def slices_within(node: Node) -> int:
    """How many slices can send their shortlists in the time that one may be kept waiting."""
    return int(SHORT_PATIENCE * node.network / model.guess_bytes(GUESSED))


def _at(drawn: draws.Doubles, percent: float) -> float:
    return float(np.percentile(drawn, percent, method="higher"))
