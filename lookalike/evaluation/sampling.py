"""What sample selection costs: the energy it ignores, and the error it makes in the similarity."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lookalike.faceset import FaceSet
from lookalike.kernels.exact import plain_unit_rows
from lookalike.kernels.selection import energies
from lookalike.parameters import SAMPLES
from lookalike.similarities.max_max import MaxMax


def relative_energies(sets: Sequence[FaceSet]) -> NDArray[np.float64]:
    """Energy of the 2nd and 3rd kernel component of each set, relative to the 1st; (n, 2).

    A set without variation has no components: its row is zero. The paper shows the distribution of these two
    numbers to justify sampling along one component only (section 3.4).
    """
    found = np.array([energies(plain_unit_rows(one.faces)) for one in sets])
    first = found[:, :1]
    return np.divide(found[:, 1:], first, out=np.zeros_like(found[:, 1:]), where=first > 0)


def selection_errors(
    sets: Sequence[FaceSet],
    rng: np.random.Generator,
    pairs: int = 1000,
    samples: int = SAMPLES,
    preimage: str = "nearest",
) -> NDArray[np.float64]:
    """Similarity of the chosen faces minus that of all faces, for random pairs of different sets; (pairs,).

    With ``nearest`` the chosen faces are some of the real ones, so the error is never positive.
    """
    chosen, whole = MaxMax(samples, preimage), MaxMax(samples=0)
    few = [chosen.prepare(one.faces) for one in sets]
    all_faces = [whole.prepare(one.faces) for one in sets]
    first = rng.integers(0, len(sets), pairs)
    second = (first + rng.integers(1, len(sets), pairs)) % len(sets)
    return np.array(
        [
            chosen.match(few[i], few[j]).score - whole.match(all_faces[i], all_faces[j]).score
            for i, j in zip(first, second, strict=True)
        ]
    )
