"""SourceSet: the faces of one video or album as found in a source, before they are described."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class SourceSet:
    """Faces seen together, as a reader found them: pictures, ready-made descriptors, or both.

    Parameters
    ----------
    id : str
        What the set is called; unique within its source.
    origin : str
        The file or folder the set was found in, for people to read.
    sources : tuple of str
        Where each face came from (a file, a row); one for each face.
    faces : float32 array (n, d), or None
        Descriptors, one face a row, if the source has them.
    pictures : tuple of uint8 arrays (height, width) or (height, width, 3)
        A gray or RGB picture of each face, or none. If there are no descriptors, there are pictures.
    array : str
        Name of the array the faces were taken from, if the source has named arrays.
    descriptor : str
        What made the descriptors, if the source says so.
    """

    id: str
    origin: str
    sources: tuple[str, ...]
    faces: NDArray[np.float32] | None = None
    pictures: tuple[NDArray[np.uint8], ...] = ()
    array: str = ""
    descriptor: str = ""

    def __len__(self) -> int:
        return len(self.sources)
