"""Local binary patterns on real faces: the descriptor alone, without our index or measures."""

import os
from pathlib import Path

import numpy as np
import pytest

from lookalike.descriptors.lbp import Lbp

DATA = Path(os.environ.get("LOOKALIKE_DATA", Path(__file__).parents[3] / "shared" / "data")) / "ytf_dev.npz"

pytestmark = pytest.mark.skipif(
    not DATA.is_file(), reason=f"no face data at {DATA}: set LOOKALIKE_DATA to the folder of ytf_dev.npz"
)


@pytest.fixture(scope="module")
def scores():
    """Best cosine between the faces of every two sets, and the person of each set."""
    with np.load(DATA, allow_pickle=False) as data:
        images, image_set, person = data["images"], data["image_set"], data["set_person"]
    faces = Lbp().describe_many(images)
    faces /= np.linalg.norm(faces, axis=1, keepdims=True)
    order = np.argsort(image_set, kind="stable")
    first = np.searchsorted(image_set[order], np.arange(len(person)))
    pairs = faces[order] @ faces[order].T
    return np.maximum.reduceat(np.maximum.reduceat(pairs, first, axis=0), first, axis=1), person


def measures(scores, person):
    """Average normalised rank, average precision and success at rank 1 of every set as a query."""
    rows = []
    for query, row in enumerate(scores):
        others = np.arange(len(person)) != query
        relevant = (person[others] == person[query])[np.argsort(-row[others], kind="stable")]
        ranks = np.flatnonzero(relevant) + 1
        c, n = len(ranks), len(relevant)
        least, most = c * (c + 1) / 2, c * (2 * n - c + 1) / 2
        rows.append(
            ((ranks.sum() - least) / (most - least), np.mean(np.arange(1, c + 1) / ranks), ranks[0] == 1)
        )
    return np.array(rows, dtype=float).T


def test_the_published_baseline(scores):
    anr, precision, first = measures(*scores)
    assert len(anr) == 571
    assert anr.mean() == pytest.approx(0.317, abs=0.002)
    assert (anr < 0.3).mean() == pytest.approx(0.518, abs=0.005)
    assert precision.mean() == pytest.approx(0.129, abs=0.002)
    assert first.mean() == pytest.approx(0.166, abs=0.005)
