"""Slice: cut the prepared sets of a gallery for an engine, into as many parts as that has machines now.

A slice holds a copy of some prepared sets, and nothing else: no file is needed where it is held. While it is
held it does not change. Whoever had it made still has all sets, from which it is made again if it is lost.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from lookalike.collection.gallery import Gallery
from lookalike.engines.contract import Engine, Label, Machine, Resident
from lookalike.similarities.contract import PreparedSets, SetSimilarity
from lookalike.transitivity.held import HeldGallery
from lookalike.transitivity.slices import Slice, own
from lookalike.transitivity.spread import SpreadSets

# Gives sets to an engine, or leaves them as they are.
Hold = Callable[[PreparedSets], PreparedSets | HeldGallery]


def hold_slices(
    sets: PreparedSets, similarity: SetSimilarity, engine: Engine, label: Label | None = None
) -> PreparedSets | HeldGallery:
    """Let an engine hold sets, or return them as they are where it leaves them in one piece.

    Parameters
    ----------
    sets : PreparedSets
        All sets of a gallery, in the order of their ids.
    similarity : SetSimilarity
    engine : Engine
    label : Label, optional
        By which others know what is held; sets of the same label are the same. Its part is filled in here.
    """
    count = min(engine.slice_count, len(sets))
    if not count:
        return sets
    # Dealt out in turn: each set is compared with later ones only, so that the last of contiguous parts would
    # have most of the work.
    places = [np.arange(first, len(sets), count) for first in range(count)]
    labels = [] if label is None else [_part(label, number, count) for number in range(count)]
    residents = engine.hold(Slice, _Cut(sets, similarity, places), labels)
    return SpreadSets(residents, places, sets, similarity)


def _part(label: Label, number: int, count: int) -> Label:
    return Label(label.whole, f"{number + 1} of {count}", label.kind, label.content, f"{label.made} {count}")


class _Cut(Sequence[tuple[SetSimilarity, PreparedSets]]):
    """What each slice is given, copied when it is asked for: who holds it already need not be given it."""

    def __init__(
        self, sets: PreparedSets, similarity: SetSimilarity, places: Sequence[NDArray[np.int64]]
    ) -> None:
        self._sets, self._similarity, self._places = sets, similarity, places

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, number: int) -> tuple[SetSimilarity, PreparedSets]: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[tuple[SetSimilarity, PreparedSets]]: ...
    def __getitem__(self, number: int | slice) -> Any:
        if isinstance(number, slice):
            return _Cut(self._sets, self._similarity, self._places[number])
        return self._similarity, own(self._sets[self._places[number]])


def identity(path: Path) -> str:
    """By what slices of a gallery are known on a cluster, which shows nobody where it lies."""
    return hashlib.sha256(str(path.resolve()).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def slice_states(gallery: Gallery, engine: Engine) -> tuple[list[dict[str, Any]], list[Machine]]:
    """Which slices of a gallery are open now, where and for whom; and the machines where they can be.

    Parameters
    ----------
    gallery : Gallery
    engine : Engine
        Which is asked for what is open; nothing is opened for that.
    """
    state, content = engine.state(identity(gallery.path)), gallery.fingerprint()
    return [_open_state(one, content) for one in state.residents], list(state.machines)


def _open_state(one: Resident, content: str) -> dict[str, Any]:
    """Who does not answer is busy, and what it holds is not known."""
    return {
        "slice": one.part,
        "host": one.host,
        "process": one.process,
        "holder_host": one.holder_host,
        "holder_process": one.holder_process,
        "kind": None if one.label is None else one.label.kind,
        "memory": one.memory,
        "is_busy": one.label is None,
        "fits": None if one.label is None else one.label.content == content,
    }
