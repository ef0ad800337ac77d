"""Losing: a cluster of two nodes on this machine, of which one is killed at a moment of its work."""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from lookalike.engines._ray_cluster import SETTINGS
from lookalike.progress import Item
from tests.engines import nodes

# Seconds after the moment until the node is killed, at most: then slices are at any point of their work.
DELAY: Final = 0.1
# Of the work; nearer to its end, it would often be over before the node is.
LATEST: Final = 0.8
# From when a process is there to hold a slice until it has opened it takes about so long.
OPENING: Final = 2.0
# What Ray calls the processes that hold slices.
HOLDER: Final = b"ray::Place"


class Nodes(nodes.Nodes):
    """Two nodes on this machine, of which the second may be lost and replaced."""

    def __init__(self) -> None:
        # Ray looks for these when it is imported.
        nodes.settle()
        os.environ.update(SETTINGS)
        super().__init__(nodes.new_cluster(1))

    def held(self) -> int:
        """How many processes of the second node hold a slice, or are about to."""
        return _holders(self.second.all_processes["raylet"][0].process.pid)


class Loss:
    """Loses a node at a moment, once.

    Parameters
    ----------
    nodes : Nodes
    chance : Random
        Chooses the moment.
    """

    def __init__(self, nodes: Nodes, chance: random.Random) -> None:
        self.nodes = nodes
        self.place, self.delay = chance.uniform(0.0, LATEST), chance.uniform(0.0, DELAY)
        self.opening = chance.uniform(0.0, OPENING)
        self.held: int | None = None
        self._thread: threading.Thread | None = None
        self._is_over = threading.Event()
        self._trouble = ""

    def begin(self, delay: float) -> None:
        """Lose it a little later, whatever is done meanwhile."""
        self._thread = threading.Timer(delay, self._lose)
        self._thread.start()

    def begin_when_opening(self) -> None:
        """Lose it while its slices are being opened."""
        self._thread = threading.Thread(target=self._lose_opening)
        self._thread.start()

    def track(self, items: Iterable[Item], text: str, total: int | None) -> Iterator[Item]:
        """Watch the items pass, and begin at one of them."""
        for number, item in enumerate(items):
            # Sets are prepared by who asks: no slice has work then.
            is_now = text != "preparing sets" and number == int(self.place * (total or 1))
            if self._thread is None and is_now:
                self.begin(self.delay)
            yield item

    def wait(self) -> None:
        """Until it is lost."""
        if self._thread is not None:
            self._thread.join()

    def end(self) -> str:
        """Wait until the node is lost and replaced; return what went wrong with that."""
        if self._thread is None:
            return "no node was lost"
        self._is_over.set()
        self.wait()
        if not self._trouble:
            self.nodes.replace_it()
        return self._trouble

    def _lose_opening(self) -> None:
        while not self.nodes.held() and not self._is_over.wait(0.02):
            pass
        self._is_over.wait(self.opening)
        self._lose()

    def _lose(self) -> None:
        try:
            held = self.nodes.held()
            self.nodes.lose_one()
            self.held = held
        except Exception as reason:
            self._trouble = f"the node could not be killed: {type(reason).__name__}: {reason}"


def _holders(raylet: int) -> int:
    """How many processes of a node hold a slice."""
    found = 0
    for one in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it ended meanwhile
            parent = (one / "stat").read_text().rpartition(")")[2].split()[1]
            found += int(parent) == raylet and (one / "cmdline").read_bytes().startswith(HOLDER)
    return found
