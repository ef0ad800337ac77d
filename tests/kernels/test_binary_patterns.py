"""Local binary patterns: neighbours and bins worked by hand, and all of it against scikit-image."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.descriptors.lbp import Lbp
from lookalike.kernels.binary_patterns import ROWS, bins_of, mirrored_patterns, uniform_patterns


def test_a_step_of_brightness_by_hand() -> None:
    # Four neighbours in the order right, up, left, down; one as bright is a 1; black beyond the edge.
    # From top to bottom: the outer 1, the inner 1, the inner 9, the outer 9.
    #   1001 1101 1100    two ones, turned once; three, turned once; two as they are
    #   1011 1111 1110
    #   1001 1101 1100
    #   0011 0111 0110
    gray = np.array([[1, 1, 9, 9], [1, 1, 9, 9], [1, 1, 9, 9]], dtype=np.uint8)
    expected = np.array([[6, 10, 5], [11, 13, 9], [6, 10, 5], [7, 12, 8]]).T
    np.testing.assert_array_equal(uniform_patterns(gray, 4, 1), expected)


@pytest.mark.parametrize(("centre", "expected"), [(54, 8), (55, 0)])
def test_an_interpolated_neighbour_by_hand(centre: int, expected: int) -> None:
    # The second of eight neighbours lies .70711 to the right and .70711 above. It has .70711 ** 2 = .5000045
    # of the corner and .29289 ** 2 = .0857846 of the centre c: 50.00045 + .0857846 c >= c up to c = 54.69.
    # The first one stands at place 1: seven turns bring it to the start.
    gray = np.array([[0, 0, 100], [0, centre, 0], [0, 0, 0]], dtype=np.uint8)
    assert uniform_patterns(gray, 8, 1)[1, 1] == expected


def test_neighbours_that_fall_on_pixels_are_these() -> None:
    # Three to the right, three above, three to the left, three below.
    gray = np.zeros((7, 7), dtype=np.uint8)
    gray[3, 3] = gray[3, 6] = gray[0, 3] = 200
    gray[3, 0], gray[6, 3] = 199, 255
    assert uniform_patterns(gray, 4, 3)[3, 3] == bins_of(np.array([True, True, False, True]))


def test_all_patterns_of_four_neighbours() -> None:
    signs = np.array([[number >> 3 - place & 1 for number in range(16)] for place in range(4)], dtype=bool)
    #           0000 0001 0010 0011 0100 0101 0110 0111 1000 1001 1010 1011 1100 1101 1110 1111
    expected = [0, 2, 3, 7, 4, 14, 8, 12, 1, 6, 14, 11, 5, 10, 9, 13]  # fmt: skip
    assert bins_of(signs).tolist() == expected


@pytest.mark.parametrize("points", [2, 3, 8, 24])
def test_every_bin_of_uniform_patterns_is_used_once(points: int) -> None:
    runs = [
        np.isin(np.arange(points), (start + np.arange(ones)) % points)
        for ones in range(1, points)
        for start in range(points)
    ]
    found = bins_of(np.array([np.zeros(points, bool), *runs, np.ones(points, bool)]).T)
    assert sorted(found.tolist()) == list(range(points * (points - 1) + 2))


def test_rows_may_be_cut_anywhere() -> None:
    gray = np.random.default_rng(0).integers(0, 256, (2 * ROWS + 7, 9), dtype=np.uint8)
    whole = uniform_patterns(gray, 8, 2)
    np.testing.assert_array_equal(uniform_patterns(gray[5:], 8, 2)[2:], whole[7:])


@given(
    st.integers(2, 24),
    st.integers(1, 8),
    st.integers(1, 70),
    st.integers(1, 40),
    st.sampled_from([2, 4, 16, 256]),
    st.integers(0, 2**32 - 1),
)
def test_every_pixel_has_the_pattern_that_scikit_image_finds(
    points: int, radius: int, height: int, width: int, levels: int, seed: int
) -> None:
    texture = pytest.importorskip("skimage.feature")
    gray = np.random.default_rng(seed).integers(0, levels, (height, width), dtype=np.uint8)
    expected = texture.local_binary_pattern(gray, points, radius, method="nri_uniform")
    np.testing.assert_array_equal(uniform_patterns(gray, points, radius), expected)


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
