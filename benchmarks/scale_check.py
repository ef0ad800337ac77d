"""Check of scale: small runs of this machine beside what the formulae say of them, and Ray's wire."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import scale_draws as draws
from benchmarks import scale_model as model
from benchmarks.scale_costs import PARTS, drawn, processor_seconds, shares
from benchmarks.scale_model import Costs, Node, Wire
from lookalike.engines.contract import Engine, Residents
from lookalike.engines.local import Local
from lookalike.engines.ray import Ray
from lookalike.indexing.slices import Slice, SpreadSets
from lookalike.method.proxies import find_neighbours
from lookalike.similarities.contract import PreparedSets
from lookalike.similarities.max_max import MaxMax

ASSUMED_WIRE = Wire(trip=1e-3, rate=1e9, restart=5.0, is_measured=False)
SHIPPED = 64 << 20


@cache
def _sets(count: int, faces: int, dimension: int) -> PreparedSets:
    return drawn(count, faces, dimension)


def opened(number: int, count: int, faces: int, dimension: int) -> Slice:
    """A slice of drawn sets, in whatever process."""
    sets = _sets(count, faces, dimension)
    own = shares(count, PARTS)[number]
    return Slice(MaxMax(), PreparedSets.join(sets[int(place)] for place in own))


def nothing(held: object) -> int:
    return 0


def given_back(held: object, array: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """What came, as a copy, so that it has to travel back."""
    return array.copy()


def ends(held: object, trace: str) -> int:
    """End the process the first time it is asked, as a crash would."""
    try:
        os.close(os.open(trace, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return 0
    os._exit(1)


def empty() -> str:
    return "open"


@contextmanager
def engines(with_ray: bool) -> Iterator[dict[str, Engine]]:
    """The local engine, and Ray where it is installed and wanted."""
    found: dict[str, Engine] = {"local": Local()}
    if with_ray and find_spec("ray") is not None:
        found["ray"] = Ray()
    try:
        yield found
    finally:
        for one in found.values():
            one.close()


def measure_wire(engine: Engine | None, trace: str) -> Wire:
    """Two actors that hold nothing: round trips, bytes to and fro, and how soon one is back."""
    if engine is None:
        return ASSUMED_WIRE
    with engine.hold(empty, [(), ()]) as residents:
        residents.ask_all(nothing)  # starts them
        trip = _wall(lambda: residents.ask_all(nothing), 20)
        array = np.zeros(SHIPPED, dtype=np.uint8)
        residents.ask(given_back, {0: (array[:1024],)})
        there_and_back = _wall(lambda: _shipped(residents, array), 3)
        start = time.perf_counter()
        residents.ask(ends, {0: (trace,)})
        restart = time.perf_counter() - start
    return Wire(trip, 2 * SHIPPED / max(there_and_back - trip, 1e-9), restart, True)


def _shipped(residents: Residents, array: NDArray[np.uint8]) -> Any:
    return residents.ask(given_back, {0: (residents.share(array),)})


def check(cost: Costs, wire: Wire, found: dict[str, Engine], count: int) -> list[dict[str, Any]]:
    """Index and ask drawn sets in two slices, on one thread each."""
    shape = (count, cost.faces, cost.dimension)
    sets = _sets(*shape)
    results = []
    for name, engine in found.items():
        is_local = name == "local"
        clock = processor_seconds if is_local else _wall
        with engine.hold(opened, [(number, *shape) for number in range(PARTS)]) as residents:
            held = SpreadSets(residents, shares(count, PARTS), sets, MaxMax())
            residents.ask_all(nothing)  # opens the slices
            held.compare(sets[:1])
            row = clock(lambda h=held: h.compare(sets[:1]), 7)  # type: ignore[misc]
            index = clock(lambda h=held: find_neighbours(MaxMax(), h, model.NEIGHBOURS), 2)  # type: ignore[misc]
        here = Node(cores=1, efficiency=1.0, network=wire.rate, memory_rate=np.inf, trip=wire.trip)
        ones = np.ones(-(-count // model.run_sets(cost.faces)))
        if is_local:
            expected = {"index": draws.local_index_seconds(count, cost)}
            expected["row"] = count * (cost.row + cost.place_row)
        else:
            expected = {"index": draws.index_seconds(count, cost, here, PARTS, ones)["seconds"]}
            at_end = model.row_at_coordinator(count, cost, here)
            expected["row"] = model.row_seconds(count, cost, here, PARTS) + at_end + here.trip
        for what, measured in (("index", index), ("row", row)):
            results.append(
                {
                    "engine": name,
                    "what": what,
                    "sets": count,
                    "clock": "processor" if is_local else "wall",
                    "predicted": expected[what],
                    "measured": measured,
                }
            )
    return results


def _wall(work: Callable[[], object], repeats: int) -> float:
    def once() -> float:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start

    return min(once() for _ in range(repeats))
