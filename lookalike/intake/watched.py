"""WatchedDescriptor: a descriptor that counts the faces it has described."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from lookalike.descriptors.contract import Descriptor, Picture, Vector


class WatchedDescriptor(Descriptor):
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
        self.part = part
        self.faces = 0
        self.prepared_by, self.region = part.prepared_by, part.region
        self.same_person, self.model_file = part.same_person, part.model_file
        self._lock = Lock()

    @property
    def identity(self) -> str:
        """That of the descriptor."""
        return self.part.identity

    @property
    def dimension(self) -> int:
        """How many numbers describe a face."""
        return self.part.dimension

    def describe(self, picture: Picture) -> Vector:
        """Describe one face."""
        found = self.part.describe(picture)
        self._count(1)
        return found

    def describe_many(self, pictures: Sequence[Picture] | Picture) -> NDArray[np.float32]:
        """Describe many faces, one a row."""
        found = self.part.describe_many(pictures)
        self._count(len(found))
        return found

    def _count(self, faces: int) -> None:
        with self._lock:
            self.faces += faces
