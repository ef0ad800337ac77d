"""Descriptors that ask a network, on several threads, about each face alone."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from lookalike.descriptors.contract import Descriptor, Picture, Vector, checked_picture
from lookalike.kernels.threads import in_order


class Threaded(Descriptor):
    """A descriptor that several threads may ask at a time; vectors do not depend on how many there are."""

    def describe(self, picture: Picture) -> Vector:
        """Ask the network about one face.

        Parameters
        ----------
        picture : uint8 array (height, width) or (height, width, 3)
            Cut as the network expects; it is stretched to a square.

        Returns
        -------
        float32 array (dimension,)

        Raises
        ------
        BadInput
            If the network or an option is missing or wrong, or the picture cannot be used.
        NotFound
            If there is no file of such a name.
        """
        self.check()
        return self._vector(checked_picture(picture))

    @abstractmethod
    def _vector(self, picture: Picture) -> Vector:
        """What the network says of a picture, which is one."""

    def describe_many(self, pictures: Sequence[Picture] | Picture) -> NDArray[np.float32]:
        """Describe many faces, one a row; threads share them out, each picture is asked for alone."""
        vectors = np.empty((len(pictures), self.dimension), dtype=np.float32)
        rows = range(len(pictures))
        for row, vector in enumerate(in_order(partial(self.describe_one_of, pictures), rows)):
            vectors[row] = vector
        return vectors
