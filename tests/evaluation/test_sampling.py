from __future__ import annotations

import numpy as np
import pytest

from lookalike import FaceSet
from lookalike.errors import BadInput
from lookalike.evaluation.drawing import svg
from lookalike.evaluation.sampling import (
    energies_cdf,
    picture_of,
    relative_energies,
    selection_error_cdf,
    selection_errors,
    selection_picture,
)
from lookalike.kernels.exact import plain_unit_rows
from lookalike.similarities._exemplars import PREIMAGES, energies
from lookalike.similarities.max_max import MaxMax
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


def test_energies_worked_by_hand() -> None:
    figure = energies_cdf(np.array([[0.5, 0.25], [0.5, 0.0]]))
    assert figure.table == {
        "component": [2, 3, 3],
        "relative_energy": [0.5, 0.0, 0.25],
        "share_of_sets": [1.0, 0.5, 1.0],
    }
    assert "over 2 sets" in figure.caption


def test_errors_worked_by_hand() -> None:
    figure = selection_error_cdf(np.array([0.0, -0.2, 0.0, -0.1]))
    assert figure.table == {"error": [-0.2, -0.1, 0.0], "share_of_pairs": [0.25, 0.5, 1.0]}
    assert "at most 0.0500 in size" in figure.caption


@pytest.mark.parametrize("errors", [[0.0], [0.0] * 9, [-0.3], [0.2, -0.1]])
def test_degenerate_errors_are_drawn(errors: list[float]) -> None:
    svg(selection_error_cdf(np.array(errors)))


def test_sets_without_variation_are_drawn() -> None:
    svg(energies_cdf(np.zeros((1, 2))))
    with pytest.raises(BadInput, match="is empty"):
        energies_cdf(np.zeros((0, 2)))


def test_table_says_who_was_taken_and_when() -> None:
    projections = np.array([[0.0, 1.0], [1.0, 0.0], [0.5, 2.0]])
    figure = selection_picture(projections, np.array([0, 2]), np.array([0.0, 0.5]), "a")
    assert figure.table == {
        "face": [0, 1, 2],
        "component_1": [0.0, 1.0, 0.5],
        "component_2": [1.0, 0.0, 2.0],
        "chosen_as": [1, "", 2],
    }
    assert "one of the 3 faces of a," in figure.caption
    assert "Below" not in figure.caption


def test_pictures_only_when_given() -> None:
    projections, chosen = np.zeros((2, 2)), np.array([0, 1])
    gray, colour = np.zeros((8, 8), dtype=np.uint8), np.zeros((8, 6, 3), dtype=np.uint8)
    with_faces = selection_picture(projections, chosen, np.empty(0), "a", [gray, colour])
    without = selection_picture(projections, chosen, np.empty(0), "a")
    assert "Below: the chosen faces" in with_faces.caption
    assert with_faces.height > without.height
    assert "<image" in svg(with_faces)
    assert "<image" not in svg(without)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_small_sets_are_drawn(count: int) -> None:
    faces = np.random.default_rng(0).normal(size=(count, 4))
    figure = selection_picture(*picture_of(faces, 10), "a", [np.zeros((4, 4), dtype=np.uint8)] * count)
    assert "all of its faces are kept" in figure.caption
    svg(figure)


def test_a_large_set_stays_a_small_file() -> None:
    projections = np.random.default_rng(0).normal(size=(6000, 2))
    text = svg(selection_picture(projections, np.array([0]), np.array([0.0]), "a"))
    assert len(text) < 500_000
