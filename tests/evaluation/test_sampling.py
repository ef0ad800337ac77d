from __future__ import annotations

import numpy as np
import pytest

from lookalike import FaceSet
from lookalike.evaluation.sampling import relative_energies, selection_errors
from lookalike.similarities._exemplars import PREIMAGES
from tests.small_world import small_world


def arc(id: str, start: float, faces: int = 40) -> FaceSet:
    """A head that turns: faces along a quarter of a circle."""
    angles = start + np.linspace(0, np.pi / 2, faces)
    return FaceSet(id, np.column_stack([np.cos(angles), np.sin(angles), np.full(faces, 1.0)]))


def test_one_factor_has_little_energy_beside_it() -> None:
    found = relative_energies([arc("a", 0.0), arc("b", 1.0)])
    assert found.shape == (2, 2)
    assert (found[:, 0] < 0.5).all()
    assert (found[:, 1] < found[:, 0]).all()


def test_without_variation_there_is_no_energy() -> None:
    still = FaceSet("still", np.tile([1.0, 2.0, 3.0], (12, 1)))
    np.testing.assert_array_equal(relative_energies([still]), [[0.0, 0.0]])
    single = FaceSet("single", [[1.0, 2.0, 3.0]])
    np.testing.assert_array_equal(relative_energies([single]), [[0.0, 0.0]])


@pytest.mark.parametrize("preimage", PREIMAGES)
def test_selection_costs_little_on_a_smooth_film(preimage: str) -> None:
    sets = [arc(f"s{number}", 0.3 * number) for number in range(8)]
    errors = selection_errors(sets, np.random.default_rng(0), pairs=60, preimage=preimage)
    assert errors.shape == (60,)
    assert np.median(np.abs(errors)) < 0.005
    assert np.abs(errors).max() < 0.2


def test_real_faces_can_only_lose() -> None:
    sets, _ = small_world(faces=30)
    errors = selection_errors(sets, np.random.default_rng(0), pairs=50)
    assert (errors <= 0).all()
    assert (errors < 0).any()


def test_small_sets_pass_untouched() -> None:
    sets, _ = small_world(faces=10)
    assert not selection_errors(sets, np.random.default_rng(0), pairs=20).any()
