"""Slices in words: where each is held, and what the machines of a cluster say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lookalike.cli.terminal import plain
from lookalike.engines.contract import Machine
from lookalike.room import in_words


def print_slices(slices: Sequence[Mapping[str, Any]], is_asked: bool) -> None:
    """Print a line for every slice that somebody holds, if a cluster was asked."""
    for one in slices if is_asked else ():
        print(f"slice: {plain(_held(one))}")
    if is_asked and not slices:
        print("slice: nobody holds one of this gallery")


def print_machines(machines: Iterable[Machine]) -> None:
    """Print a line for every machine."""
    for one in machines:
        print(f"machine: {plain(one.host)}: {plain(_machine(one))}")


def _held(held: Mapping[str, Any]) -> str:
    owner = f"for process {held['holder_process']} on {held['holder_host']}"
    if held["is_busy"]:
        return f"{held['slice']}: busy, or about to start, {owner}"
    taken = "" if held["memory"] is None else f" ({in_words(held['memory'])})"
    now = "up to date" if held["fits"] else "the gallery has changed since"
    place = f"process {held['process']}{taken} on {held['host']}"
    return f"{held['slice']}: {place}, {owner}: {held['kind']}: {now}"


def _machine(one: Machine) -> str:
    if not one.is_alive:
        return "lost"
    told = "1 processor" if one.processors == 1 else f"{one.processors} processors"
    if one.memory is not None and one.used is not None:
        told += f", {in_words(one.used)} of {in_words(one.memory)} memory in use"
    elif not one.wrong:
        told += ", does not answer yet"
    return f"{told}: {one.wrong}" if one.wrong else told
