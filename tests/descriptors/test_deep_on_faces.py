"""The network of dlib on real faces: what it was given to us to be, and how sure `same_person` is."""

import os
from pathlib import Path

import numpy as np
import pytest

from lookalike.descriptors.deep import Deep

DATA = Path(os.environ.get("LOOKALIKE_DATA", Path(__file__).parents[3] / "shared" / "data")) / "ytf_dev.npz"

pytestmark = pytest.mark.skipif(
    not DATA.is_file(), reason=f"no face data at {DATA}: set LOOKALIKE_DATA to the folder of ytf_dev.npz"
)


@pytest.fixture(scope="module")
def faces():
    """Pictures, unit vectors of the same faces at full size and in colour, and who they show."""
    with np.load(DATA, allow_pickle=False) as data:
        vectors, person = data["embeddings"].astype(np.float64), data["set_person"][data["image_set"]]
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return data["images"], vectors, person, data["image_set"]


def test_small_gray_crops_are_described_nearly_as_large_ones_in_colour(faces):
    images, reference, *_ = faces
    chosen = slice(0, None, 71)
    found = Deep().describe_many(images[chosen])
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    assert np.median((found * reference[chosen]).sum(axis=1)) > 0.975
    # Each is nearest to itself, or to another frame of the same film.
    nearest = (found @ reference.T).argmax(axis=1)
    films = faces[3]
    assert (films[nearest] == films[chosen]).mean() > 0.85


def test_same_person_is_sure(faces):
    _, vectors, person, films = faces
    table = vectors @ vectors.T
    different = table[person[:, None] != person]
    assert (different >= Deep.same_person).mean() < 2e-4
    same_film = table[np.triu(films[:, None] == films, 1)]
    assert (same_film >= Deep.same_person).mean() > 0.9
