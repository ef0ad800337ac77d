"""Kept: the actors of one engine, by what they were asked to open, handed out again while it lives."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import Any

from lookalike.engines.contract import Label


@dataclass(eq=False)
class Actor:
    """A process that holds a slice.

    Attributes
    ----------
    handle : object
        By which Ray knows it.
    key : bytes
        What it was asked to open, and how.
    label : Label or None
    born : int
        Of two, the later one has the larger number.
    given : object
        What it was given, which has to be there as long as it may have to open its slice again.
    users : int
        How many residents it is one of.
    """

    handle: Any
    key: bytes
    label: Label | None
    born: int
    given: Any = None
    users: int = 0

    def is_renewed_by(self, other: Actor) -> bool:
        """Whether a later one holds the same whole otherwise: nobody will want this one again.

        It has another content, or the same was cut or made otherwise, or opened for other machines.
        """
        one, its = self.label, other.label
        if one is None or its is None or other.born <= self.born or one.whole != its.whole:
            return False
        if one.content != its.content or (one.kind == its.kind and one.made != its.made):
            return True
        return (one.kind, one.part) == (its.kind, its.part) and self.key != other.key


class Kept:
    """Actors that are used, and the last that were given back: as many as were ever held together.

    Parameters
    ----------
    end : callable
        Ends an actor, by its handle.
    """

    def __init__(self, end: Callable[[Any], None]) -> None:
        self._end = end
        self._lock = threading.Lock()
        self._numbers = count()
        self._actors: list[Actor] = []
        self._most = 0

    def take(
        self, wanted: Sequence[tuple[bytes, Label | None]], start: Callable[[int], tuple[Any, Any]]
    ) -> list[Actor]:
        """An actor for each of what is wanted, by its key; those that are not there are started.

        ``start`` returns a handle, and what the actor was given.

        Two of the same key that are wanted together are two.
        """
        with self._lock:
            there: dict[bytes, list[Actor]] = {}
            for one in self._actors:
                there.setdefault(one.key, []).append(one)
            taken = []
            for number, (key, label) in enumerate(wanted):
                if there.get(key):
                    taken.append(there[key].pop())
                else:
                    handle, given = start(number)
                    taken.append(Actor(handle, key, label, next(self._numbers), given))
                    self._actors.append(taken[-1])
            for one in taken:
                one.users += 1
            self._most = max(self._most, len(wanted))
            self._tidy()
            return taken

    def give_back(self, actors: list[Actor], waiting: list[int]) -> None:
        """Take actors back, of which some still have questions to answer that nobody waits for."""
        with self._lock:
            for one, questions in zip(actors, waiting, strict=True):
                one.users -= 1
                if one in self._actors:
                    # The last that were given back stand at the end.
                    self._actors.remove(one)
                    self._actors.append(one)
                    if not one.users and questions:
                        self._ended(one)
            self._tidy()

    def forget(self, actor: Actor) -> None:
        """Hand an actor out no more, which is lost for good."""
        with self._lock:
            if actor in self._actors:
                self._actors.remove(actor)

    def close(self) -> None:
        """End all."""
        with self._lock:
            while self._actors:
                self._ended(self._actors[-1])

    def _tidy(self) -> None:
        """End who is not worth keeping."""
        for one in self._idle():
            if any(map(one.is_renewed_by, self._actors)):
                self._ended(one)
        for one in self._idle()[: -self._most or None]:
            self._ended(one)

    def _idle(self) -> list[Actor]:
        return [one for one in self._actors if not one.users]

    def _ended(self, one: Actor) -> None:
        self._actors.remove(one)
        with suppress(Exception):  # with the cluster it has ended already
            self._end(one.handle)
