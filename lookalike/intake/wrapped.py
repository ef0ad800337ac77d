"""Wrapped descriptors: what is done around a descriptor, while everything else about it stays as it is."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from types import FunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.descriptors.contract import Descriptor, Picture, Vector


class WrappedDescriptor(Descriptor):
    """A descriptor that hands on whatever the contract asks of it, but for what a kind of it does itself.

    Parameters
    ----------
    part : Descriptor
        What is asked.
    """

    def __init__(self, part: Descriptor) -> None:
        self.part = part

    @property
    def dimension(self) -> int:
        """How many numbers describe a face."""
        return self.part.dimension

    def check(self) -> None:
        """Say what is missing before any work is done."""
        self.part.check()

    def describe(self, picture: Picture) -> Vector:
        """Describe one face."""
        return self.part.describe(picture)

    def describe_many(self, pictures: Sequence[Picture] | Picture) -> NDArray[np.float32]:
        """Describe many faces, one a row."""
        return self.part.describe_many(pictures)


def _handed_on(name: str) -> property:
    def asked(wrapped: WrappedDescriptor) -> Any:
        return getattr(wrapped.part, name)

    return property(asked, doc=f"`{name}` of the descriptor.")


# All that a descriptor says of itself, also what the contract may ask one day.
for _name, _said in vars(Descriptor).items():
    if not (_name.startswith("_") or isinstance(_said, FunctionType) or _name in vars(WrappedDescriptor)):
        setattr(WrappedDescriptor, _name, _handed_on(_name))


class WatchedDescriptor(WrappedDescriptor):
    """A descriptor that says how far it is while others, on any thread, let it describe faces.

    Parameters
    ----------
    part : Descriptor
        What describes them.

    Attributes
    ----------
    faces : int
        How many it has described.
    """

    def __init__(self, part: Descriptor) -> None:
        super().__init__(part)
        self.faces = 0
        self._lock = Lock()

    def describe(self, picture: Picture) -> Vector:
        """Describe one face, and count it."""
        found = super().describe(picture)
        self._count(1)
        return found

    def describe_many(self, pictures: Sequence[Picture] | Picture) -> NDArray[np.float32]:
        """Describe many faces, one a row, and count them."""
        found = super().describe_many(pictures)
        self._count(len(found))
        return found

    def _count(self, faces: int) -> None:
        with self._lock:
            self.faces += faces
