from __future__ import annotations

import numpy as np
import pytest

from lookalike.evaluation.sampling import picture_of
from lookalike.kernels.exact import plain_unit_rows
from lookalike.similarities._exemplars import energies
from lookalike.similarities.max_max import MaxMax


def turning(faces: int, seed: int = 0) -> np.ndarray:
    """A head that turns unevenly, with a little noise."""
    rng = np.random.default_rng(seed)
    angles = np.sort(rng.beta(2, 5, faces)) * np.pi
    plane = np.column_stack([np.cos(angles), np.sin(angles), np.full(faces, 0.5), np.zeros(faces)])
    return plane + 0.02 * rng.normal(size=plane.shape)


@pytest.mark.parametrize("faces", [11, 60, 320])
def test_it_is_the_choice_that_the_similarity_makes(faces: int) -> None:
    rows = turning(faces)
    projections, chosen, evenly = picture_of(rows, 10)
    assert chosen.tolist() == MaxMax(10).prepare(rows)["chosen"].tolist()
    # And each face taken is the nearest to one of the even steps.
    line = projections[:, 0]
    nearest = np.abs(line[None, :] - evenly[:, None]).argmin(axis=1)
    assert set(chosen.tolist()) == set(nearest.tolist())
    assert (np.diff(line[chosen]) > 0).all()
    assert np.diff(evenly) == pytest.approx(np.full(9, np.ptp(line) / 9))


@pytest.mark.parametrize("faces", [20, 320])
def test_components_have_the_energy_of_the_selection(faces: int) -> None:
    rows = turning(faces)
    projections, _, _ = picture_of(rows, 10)
    assert np.square(projections).sum(axis=0) == pytest.approx(energies(plain_unit_rows(rows))[:2], rel=1e-6)
    assert abs(projections[:, 0] @ projections[:, 1]) < 1e-8


def test_small_sets_keep_all_faces() -> None:
    projections, chosen, evenly = picture_of(turning(10), 10)
    assert sorted(chosen.tolist()) == list(range(10))
    assert (np.diff(projections[chosen, 0]) >= 0).all()
    assert len(evenly) == 0
    assert len(picture_of(turning(30), 0)[1]) == 30


def test_one_face() -> None:
    projections, chosen, evenly = picture_of(np.array([[1.0, 2.0]]), 10)
    assert projections.tolist() == [[0.0, 0.0]]
    assert chosen.tolist() == [0]
    assert len(evenly) == 0


def test_equal_faces_have_no_components() -> None:
    projections, chosen, evenly = picture_of(np.tile([1.0, 2.0, 3.0], (20, 1)), 10)
    assert not projections.any()
    assert chosen.tolist() == [0]
    assert not evenly.any()
