"""Descriptors whose faces go to several threads, each face alone."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from lookalike.descriptors.contract import Descriptor, Picture
from lookalike.kernels.threads import in_order


class Threaded(Descriptor):
    """A descriptor that several threads may ask at a time; vectors do not depend on how many there are."""

    def describe_many(self, pictures: Sequence[Picture] | Picture) -> NDArray[np.float32]:
        """Describe many faces, one a row; threads share them out, each picture is asked for alone."""
        vectors = np.empty((len(pictures), self.dimension), dtype=np.float32)
        rows = range(len(pictures))
        for row, vector in enumerate(in_order(partial(self.describe_one_of, pictures), rows)):
            vectors[row] = vector
        return vectors
