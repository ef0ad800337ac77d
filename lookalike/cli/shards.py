"""Shards in words: where each is open, and what the machines of a cluster say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lookalike.cli.terminal import counted, plain
from lookalike.engines.contract import Machine
from lookalike.room import in_words


def print_shards(shards: Iterable[Mapping[str, Any]], is_asked: bool) -> None:
    """Print a line for every shard, and if a cluster was asked, one for every process that has it open."""
    for one in shards:
        print(f"shard: {one['file']}: {counted(one['sets'])}, {one['bytes']} bytes")
        for held in one["open"] if is_asked else ():
            print(f"open: {one['file']}: {plain(_held(held))}")
        if is_asked and not one["open"]:
            print(f"open: {one['file']}: nobody has it open")


def print_machines(machines: Iterable[Machine]) -> None:
    """Print a line for every machine."""
    for one in machines:
        print(f"machine: {plain(one.host)}: {plain(_machine(one))}")


def _held(held: Mapping[str, Any]) -> str:
    owner = f"for process {held['holder_process']} on {held['holder_host']}"
    if held["is_busy"]:
        return f"busy, or about to start, {owner}"
    taken = "" if held["memory"] is None else f" ({in_words(held['memory'])})"
    now = "up to date" if held["fits"] else "the file has changed since: opened again when asked"
    return f"process {held['process']}{taken} on {held['host']}, {owner}: {held['kind']}: {now}"


def _machine(one: Machine) -> str:
    if not one.is_alive:
        return "lost"
    told = "1 processor" if one.processors == 1 else f"{one.processors} processors"
    if one.memory is not None and one.used is not None:
        told += f", {in_words(one.used)} of {in_words(one.memory)} memory in use"
    elif not one.wrong:
        told += ", does not answer yet"
    return f"{told}: {one.wrong}" if one.wrong else told
