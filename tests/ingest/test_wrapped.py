"""Descriptors with something around them say of themselves what they would say alone."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import FunctionType
from typing import Any

import numpy as np
import pytest

from lookalike.descriptors.contract import Descriptor
from lookalike.descriptors.lbp import Lbp
from lookalike.ingest.align import SIDE
from lookalike.ingest.describe import FramedDescriptor, Framing, WatchedDescriptor, WrappedDescriptor
from tests import media

WHOLE = Framing((0.0, 0.0, 1.0, 1.0), (SIDE, SIDE), (SIDE, SIDE), None)
KINDS: dict[type[WrappedDescriptor], Callable[[Descriptor], WrappedDescriptor]] = {
    WrappedDescriptor: WrappedDescriptor,
    WatchedDescriptor: WatchedDescriptor,
    FramedDescriptor: lambda part: FramedDescriptor(part, WHOLE),
}
# What a wrapped descriptor says itself: cuts are made by the framing, so it wants to see whole squares.
OWN = {FramedDescriptor: {"region"}}
CONTRACT = {name: said for name, said in vars(Descriptor).items() if not name.startswith("_")}
SAYS = sorted(name for name, said in CONTRACT.items() if not isinstance(said, FunctionType))
DOES = sorted(set(CONTRACT) - set(SAYS))


def kinds(of: type[WrappedDescriptor] = WrappedDescriptor) -> set[type[WrappedDescriptor]]:
    return {of}.union(*(kinds(kind) for kind in of.__subclasses__()))


def test_every_kind_is_tried() -> None:
    assert kinds() == set(KINDS)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("name", SAYS)
def test_what_a_descriptor_says_is_handed_on(name: str, kind: type[WrappedDescriptor]) -> None:
    said = object()
    part = type("Telling", (Lbp,), {name: said})()
    wrapped = KINDS[kind](part)
    assert (getattr(wrapped, name) is said) == (name not in OWN.get(kind, ()))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("name", DOES)
def test_what_a_descriptor_does_is_asked_of_it(name: str, kind: type[WrappedDescriptor]) -> None:
    picture = np.asarray(media.face(SIDE, 0))
    given: dict[str, tuple[Any, ...]] = {
        "check": (),
        "describe": (picture,),
        "describe_many": ([picture],),
        "describe_one_of": ([picture], 0),
    }
    # It is derived from another.
    asks = {"describe_one_of": "describe"}.get(name, name)
    asked: list[str] = []

    def told(*_: object) -> Any:
        asked.append(asks)
        return np.zeros((1, 3), np.float32)

    getattr(KINDS[kind](type("Asked", (Lbp,), {asks: told})()), name)(*given[name])
    assert asked == [asks]


def test_a_watched_descriptor_describes_as_before_and_counts() -> None:
    part, watched = Lbp(), WatchedDescriptor(Lbp())
    picture = np.asarray(media.face(120, 0))
    np.testing.assert_array_equal(watched.describe(picture), part.describe(picture))
    with ThreadPoolExecutor(4) as several:
        for found in several.map(watched.describe_many, [[picture] * 3] * 20):
            np.testing.assert_array_equal(found, part.describe_many([picture] * 3))
    assert watched.faces == 61
