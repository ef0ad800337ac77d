"""State: what is open on a Ray cluster now, asked without waiting for anybody who is busy."""

from __future__ import annotations

import os
import secrets
import socket
import time
from collections.abc import Mapping
from concurrent.futures import Future, wait
from typing import Any, Final

from lookalike.engines._ray_place import About, looked_around, versions
from lookalike.engines.contract import Label, Machine, Resident, State

# Where lookalike's actors have their names: other programs of a cluster have theirs elsewhere.
NAMESPACE: Final = "lookalike"
# Actors answer about themselves apart from their work, so that they can do it at any time.
ASIDE: Final = "about"
# Seconds for a slice to say where it is, and for a machine to start a process that looks around.
PATIENCE: Final = 3.0
PATIENCE_TO_START: Final = 15.0


def new_name(label: Label) -> str:
    """A name for an actor by which everybody on the cluster sees what it holds, and for whom."""
    holder = socket.gethostname().replace("/", "-"), str(os.getpid()), secrets.token_hex(4)
    return "/".join((label.whole, label.part, *holder))


def state(ray: Any, whole: str) -> State:
    """Ask all actors that hold a part of one whole, and all machines; who does not answer is told as that."""
    names = sorted(
        one["name"]
        for one in ray.util.list_named_actors(all_namespaces=True)
        if one["namespace"] == NAMESPACE and one["name"].startswith(f"{whole}/")
    )
    asked = {name: future for name in names if (future := _asked(ray, name)) is not None}
    nodes = sorted(ray.nodes(), key=lambda node: (node["NodeManagerHostname"], node["NodeID"]))
    looking = {node["NodeID"]: _looking(ray, node["NodeID"]) for node in nodes if node["Alive"]}
    start = time.monotonic()
    wait(asked.values(), PATIENCE)
    residents = tuple(_resident(name, future) for name, future in asked.items())
    wait(looking.values(), max(0.0, PATIENCE_TO_START - (time.monotonic() - start)))
    return State(tuple(_machine(node, looking) for node in nodes), residents)


def _asked(ray: Any, name: str) -> Future[About] | None:
    """Ask an actor about itself; None if it has just ended."""
    try:
        actor = ray.get_actor(name, namespace=NAMESPACE)
    except ValueError:
        return None
    found: Future[About] = actor.about.options(concurrency_group=ASIDE).remote().future()
    return found


def _looking(ray: Any, node: str) -> Future[tuple[str, tuple[int, int] | None]]:
    """Have a machine look around, also while all its processors are taken."""
    there = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(node, soft=False)
    task = ray.remote(num_cpus=0, max_retries=0, scheduling_strategy=there)(looked_around)
    found: Future[tuple[str, tuple[int, int] | None]] = task.remote().future()
    return found


def _resident(name: str, future: Future[About]) -> Resident:
    _, part, host, process, _ = name.split("/")
    if not future.done() or future.exception() is not None:
        return Resident(part, None, host, int(process))
    about = future.result()
    return Resident(part, about.label, host, int(process), about.host, about.process, about.memory)


def _machine(node: Mapping[str, Any], looking: Mapping[str, Future[Any]]) -> Machine:
    host, processors = node["NodeManagerHostname"], int(node["Resources"].get("CPU", 0))
    future = looking.get(node["NodeID"])
    if future is None:
        return Machine(host, False)
    if not future.done():
        return Machine(host, True, processors)
    if (reason := future.exception()) is not None:
        lost = getattr(reason, "cause", None) or reason
        return Machine(host, True, processors, wrong=f"lookalike cannot run there ({type(lost).__name__})")
    found, memory = future.result()
    wrong = "" if found == (own := versions()) else f"it has {found}, this one {own}"
    whole, used = memory or (None, None)
    return Machine(host, True, processors, whole, used, wrong)
