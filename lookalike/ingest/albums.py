"""Albums: which faces of the photos in one folder are of one person."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput
from lookalike.ingest.seen import best_pairs

# No two people of one photo are the same: such a pair is never chosen.
_NEVER = -4.0


class Album:
    """Groups of faces in one folder, grown photo by photo.

    A face joins the group to whose mean it is most alike, if it is at least as alike as two faces are that
    almost surely show one person; two faces of one photo never join the same group. What is like no group
    begins one. The order of the photos is that of their names, so the groups do not depend on chance.

    Parameters
    ----------
    least : float or None
        Cosine from which two faces are taken for one person; None where a descriptor cannot tell, and every
        face is a group of its own.
    """

    def __init__(self, least: float | None) -> None:
        self.least = least
        self._sums: list[NDArray[np.float64]] = []

    def __len__(self) -> int:
        return len(self._sums)

    def remember(self, faces: NDArray[np.float32]) -> None:
        """Take over a group that was made before, from the descriptors of its faces (n, d)."""
        self._sums.append(_unit(faces).sum(axis=0))

    def place(self, faces: NDArray[np.float32]) -> list[int]:
        """Decide to which group each face of one photo belongs.

        Parameters
        ----------
        faces : array (n, d)
            Descriptors of the faces of one photo.

        Returns
        -------
        list of int
            Number of a group for each face; a number not seen before is a new group.
        """
        unit = _unit(faces)
        chosen = [-1] * len(unit)
        if self.least is not None and self._sums:
            means = _unit(np.array(self._sums))
            alike = unit @ means.T
            for row, column in best_pairs(np.where(alike >= self.least, alike, _NEVER)):
                if alike[row, column] >= self.least:
                    chosen[row] = column
        for row, face in enumerate(unit):
            if chosen[row] < 0:
                chosen[row] = len(self._sums)
                self._sums.append(face.copy())
            else:
                self._sums[chosen[row]] += face
        return chosen


def _unit(faces: NDArray[np.floating]) -> NDArray[np.float64]:
    lengths = np.linalg.norm(faces.astype(np.float64), axis=1, keepdims=True)
    if not np.all(lengths > 0):
        raise BadInput("a face is described by zeros only, which compares with nothing: leave it out")
    return faces / lengths
