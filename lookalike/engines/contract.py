"""Engine: where the heavy loops run, and the slices that stay open there.

An engine knows nothing of faces. It opens slices, each in its own place, and has functions applied to what is
open there; what travels is what the functions are given and what they return.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lookalike.errors import BadInput, is_whole

# Called with what a slice opened, and with what it is given.
Work = Callable[..., Any]
# Waits for the answers of one round, by the number of the slice.
Answers = Callable[[], dict[int, Any]]
# A number or a flag counts as eight bytes.
SMALL = 8
# Each is a process of its own.
MOST_SLICES = 1000


@dataclass
class Traffic:
    """What went to and fro since the slices were opened."""

    rounds: int = 0  # how often questions were put that could be put at once
    messages: int = 0  # questions; each has one answer
    bytes: int = 0  # of questions and answers together; what was shared counts once


@dataclass(frozen=True)
class Lost:
    """In the place of a result: whoever worked on the item was lost, so many times."""

    tries: int


@dataclass(frozen=True)
class Label:
    """By what other processes know a slice that is open."""

    whole: str  # the identity of what it is a part of, without a slash
    part: str  # its name in that, without a slash
    kind: str  # what was made of it
    content: str  # a fingerprint of what the whole held when it was opened
    # Tells apart what was made of the same content in other ways: two of the same label hold the same.
    made: str = ""


@dataclass(frozen=True)
class Resident:
    """A slice that somebody has open now."""

    part: str
    label: Label | None  # None while it does not answer: it is busy, or about to start
    holder_host: str  # who had it opened
    holder_process: int
    host: str | None = None  # where it is open
    process: int | None = None
    memory: int | None = None  # bytes, with those of files that it maps; None if its system does not tell


@dataclass(frozen=True)
class Machine:
    """A machine where slices can be open."""

    host: str
    is_alive: bool
    processors: int = 0
    memory: int | None = None  # bytes it has; None if it does not answer, or cannot tell
    used: int | None = None  # how many of them are taken
    # What is not as on the machine that asks, so that it cannot work; empty if nothing is known.
    wrong: str = ""


@dataclass(frozen=True)
class State:
    """Which machines there are, and which slices of one whole are open on them."""

    machines: tuple[Machine, ...] = ()
    residents: tuple[Resident, ...] = ()


class Residents(ABC):
    """Slices that stay open, each of which answers questions about what it holds."""

    def __init__(self) -> None:
        self.traffic = Traffic()

    @abstractmethod
    def __len__(self) -> int:
        """How many there are."""

    @abstractmethod
    def put(self, work: Work, given: Mapping[int, tuple[Any, ...]]) -> Answers:
        """Put one round of questions, and return at once; `begin` counts them too."""

    @abstractmethod
    def share(self, value: Any) -> Any:
        """Return what stands for a value in many questions, so that it need not be sent with each."""

    @abstractmethod
    def close(self) -> None:
        """Let everything go; twice does nothing."""

    def begin(self, work: Work, given: Mapping[int, tuple[Any, ...]]) -> Answers:
        """Put one round of questions: who answers is told when what is returned is called.

        `work` is a function of a module, which every place can import; `given` is what each slice that is
        asked is given, besides what it holds.
        """
        self.traffic.rounds += 1
        self.traffic.messages += len(given)
        self.traffic.bytes += weight(list(given.values()))
        waiting = self.put(work, given)

        def answers() -> dict[int, Any]:
            found = waiting()
            self.traffic.bytes += weight(list(found.values()))
            return found

        return answers

    def ask(self, work: Work, given: Mapping[int, tuple[Any, ...]]) -> dict[int, Any]:
        """Put one round of questions and wait for the answers."""
        return self.begin(work, given)()

    def ask_all(self, work: Work, *given: Any) -> list[Any]:
        """Put the same question to every slice."""
        found = self.ask(work, dict.fromkeys(range(len(self)), given))
        return [found[number] for number in range(len(self))]

    def __enter__(self) -> Residents:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Engine(ABC):
    """Opens slices in their places, and applies functions to many things."""

    # Whether all of it is done in this process.
    is_here: bool = False

    @property
    def workers(self) -> int:
        """How many items `map` works on at the same time."""
        return 1

    @property
    def slice_count(self) -> int:
        """Into how many slices a gallery is cut now; 0 where it stays in one piece, in this process."""
        return 0

    @abstractmethod
    def hold(
        self, opening: Work, given: Sequence[tuple[Any, ...]], labels: Sequence[Label] = ()
    ) -> Residents:
        """Open slices that stay open: ``opening`` is called in the place of each, with what it is given.

        What is given may be large. A place that is lost opens its slice again somewhere else, from what it
        was given. Slices that are given a label each are seen by `state`.
        """

    @abstractmethod
    def map(self, work: Work, items: Iterable[Any], tries: int | None = None) -> Iterator[Any]:
        """Apply a function of a module to each item; results come in the order of the items.

        Items are taken a few at a time, so that memory stays bounded however many there are. What is being
        worked on is given up when nobody waits for the results any more. An item is tried `tries` times
        while the place of the work is lost; then its result is `Lost`, and the rest goes on. Unless given,
        it is a few times; then all of it ends with a sentence.
        """

    def state(self, whole: str) -> State:
        """What is open now of one whole, by its identity, whoever opened it; nothing is opened or started."""
        return State()

    def close(self) -> None:  # noqa: B027  (most engines hold nothing of their own)
        """Let everything go that the engine started; twice does nothing."""

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def weight(value: Any) -> int:
    """About how many bytes a value takes on its way: those of its arrays and texts."""
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    if isinstance(value, (str, bytes)):
        return len(value)
    if isinstance(value, Mapping):
        return sum(weight(item) for item in value.values())
    if isinstance(value, (list, tuple)):
        return sum(map(weight, value))
    return weight(vars(value)) if hasattr(value, "__dict__") and not callable(value) else SMALL


def checked_slices(slices: object) -> int:
    """Refuse a number of slices that is no whole number from 0 to `MOST_SLICES`."""
    if not is_whole(slices, 0, MOST_SLICES):
        raise BadInput(f"slices must be a whole number from 0 to {MOST_SLICES}, got {slices!r}")
    return int(str(slices))


PART = Engine
