"""Preparation: what a step between descriptor and similarity must offer; it is learnt without labels."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lookalike import registry
from lookalike.faceset import Faces

# Tables of d x d numbers are added up: with longer descriptors they would take gigabytes.
LONGEST = 4096


class Preparation(ABC):
    """Turns faces into faces that are easier to compare, in the same way for the gallery and for a query.

    Implement `apply`. Implement `fit`, `to_arrays` and `from_arrays` too if something is learnt. Parameters
    of the constructor are stored as they are and checked by `check`, which `fit` calls.
    """

    # Raise it when what is learnt changes: what the older one learnt is then learnt again.
    version: int = 1
    # Why faces are left as they are, or a step is left out, though it was asked for; empty if all went well.
    reason_: str = ""

    @property
    def is_learnt(self) -> bool:
        """Whether `fit` learns something that is worth storing."""
        return False

    def check(self) -> None:  # noqa: B027  (some have nothing to check)
        """Refuse parameters that are out of range, before any work is done; `fit` does so too."""

    def fit(self, sets: Iterable[Faces]) -> Self:
        """Learn from the faces (n, d) of set after set, which are read once; no labels exist here."""
        self.check()
        return self

    @abstractmethod
    def apply(self, faces: Faces) -> Faces:
        """Prepare the faces (n, d) of one set, as they were described; (n, k). They are not changed."""

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """What `fit` learnt, as named arrays."""
        return {}

    def from_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Take over what `fit` learnt earlier, or raise BadInput."""
        return self

    def fingerprint(self) -> str:
        """What was learnt, as one short text; empty where nothing is learnt and faces stay as they are."""
        arrays = self.to_arrays()
        if not arrays:
            return ""
        digest = hashlib.sha256(f"{registry.spec(self)}|{self.version}".encode())
        for name in sorted(arrays):
            array = np.ascontiguousarray(arrays[name])
            digest.update(f"|{name} {array.dtype.str} {array.shape}|".encode() + array.tobytes())
        return digest.hexdigest()[:32]


PART = Preparation
