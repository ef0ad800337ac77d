from __future__ import annotations

import numpy as np

from lookalike import registry
from lookalike.preparations.none import Nothing


def test_faces_stay_the_very_same() -> None:
    faces = np.array([[1.0, 2.0]])
    assert Nothing().fit([faces]).apply(faces) is faces
    assert Nothing().fingerprint() == ""
    assert registry.spec(Nothing()) == "none"
