"""Place: what runs in the processes of a Ray cluster."""

from __future__ import annotations

import importlib
import os
import socket
import sys
from typing import Any, NamedTuple

from lookalike import room
from lookalike.engines.contract import Label, Work
from lookalike.errors import BadInput


class About(NamedTuple):
    """What a place says of itself."""

    label: Label
    host: str
    process: int
    memory: int | None


class Place:
    """What runs in the place of a slice; the slice is opened by the first question, also after a restart."""

    def __init__(self, expected: str, threads: int, opening: Work, label: Label) -> None:
        os.environ["LOOKALIKE_THREADS"] = str(threads)
        self._expected, self._opening, self._label = expected, opening, label
        self._slice: Any = None
        self._is_open = False

    def answer(self, source: list[Any], work: Work, *given: Any) -> Any:
        """Apply a function to the slice and what it is given besides; one question at a time.

        ``source`` has the reference to what the slice is opened from. It comes with every question, since any
        of them may be the first after a restart; in a list, or Ray would fetch it before each.
        """
        if not self._is_open:
            check_versions(self._expected)
            found = importlib.import_module("ray").get(source[0])
            self._slice, self._is_open = self._opening(*found), True
        return work(self._slice, *given)

    def about(self) -> About:
        """Who and where this is; told also while a question is being answered."""
        return About(self._label, socket.gethostname(), os.getpid(), room.own_memory())


def applied(expected: str, work: Work, item: Any) -> Any:
    """Apply a function to one thing, if that gives here what it would give elsewhere."""
    os.environ["LOOKALIKE_THREADS"] = "1"  # a piece of work has one processor
    check_versions(expected)
    return work(item)


def looked_around() -> tuple[str, tuple[int, int] | None]:
    """What is installed on this machine, and how much memory it has."""
    return versions(), room.memory_of_machine()


def versions() -> str:
    """What must be the same on all machines, or answers would differ."""
    found = [f"Python {sys.version_info[0]}.{sys.version_info[1]}"]
    for name in ("lookalike", "numpy", "scipy", "numba"):
        found.append(f"{name} {importlib.import_module(name).__version__}")
    return ", ".join(found)


def check_versions(expected: str) -> None:
    """Refuse to work on a machine where something else is installed.

    Raises
    ------
    BadInput
        With what is there and what is wanted.
    """
    found = versions()
    if found != expected:
        raise BadInput(
            f"{socket.gethostname()}, a machine of the cluster, has {found}, "
            f"the one that asks has {expected}: install the same on all"
        )
