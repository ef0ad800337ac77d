from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.descriptors.lbp import Lbp
from lookalike.kernels.binary_patterns import mirrored_patterns


def test_by_hand() -> None:
    """Four neighbours: east, north, west, south. East and west change places, north and south stay."""
    # Bins: none; one of four; two; three; all; the others. A single 1 in the east is numbered first.
    [*places] = mirrored_patterns(1, 1, 4)
    assert places[0] == 0
    east, south, west, north = 1, 2, 3, 4
    assert (places[east], places[west]) == (west, east)
    assert (places[north], places[south]) == (north, south)
    assert places[-2:] == [13, 14]


def test_cells_change_sides() -> None:
    places = mirrored_patterns(2, 3, 2)
    assert places.reshape(2, 3, 5)[:, :, 0].tolist() == [[10, 5, 0], [25, 20, 15]]


@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_description_of_the_mirrored_picture(seed: int) -> None:
    # With four neighbours at one pixel nothing is interpolated, so that both are the same to the last count.
    picture = np.random.default_rng(seed).integers(0, 256, (24, 30), dtype=np.uint8)
    describe = Lbp(rows=4, columns=3, radius=1, points=4).describe
    np.testing.assert_array_equal(
        describe(picture)[mirrored_patterns(4, 3, 4)], describe(np.ascontiguousarray(picture[:, ::-1]))
    )


def test_eight_neighbours_differ_by_rounding_only() -> None:
    rng = np.random.default_rng(0)
    smooth = np.kron(rng.integers(0, 256, (8, 8)), np.ones((8, 8))).astype(np.uint8)
    there, back = (Lbp().describe(np.ascontiguousarray(one)) for one in (smooth, smooth[:, ::-1]))
    moved = np.abs(there[mirrored_patterns(6, 5, 8)] - back).sum()
    assert moved < 0.25 * np.abs(there - back).sum()


@given(st.integers(1, 6), st.integers(1, 6), st.sampled_from([2, 4, 6, 8, 16]))
def test_twice_is_nothing(rows: int, columns: int, points: int) -> None:
    places = mirrored_patterns(rows, columns, points)
    np.testing.assert_array_equal(places[places], np.arange(rows * columns * (points * (points - 1) + 3)))
