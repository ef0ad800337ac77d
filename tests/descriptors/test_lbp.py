"""Local binary patterns: a picture worked by hand, what must not change them, what is refused."""

import numpy as np
import pytest

from lookalike import registry
from lookalike.descriptors.lbp import Lbp
from lookalike.errors import BadInput

SMALL = {"rows": 1, "columns": 1, "radius": 1, "points": 4}


def random_picture(seed: int, shape: tuple[int, ...] = (64, 64), low: int = 0, high: int = 256) -> np.ndarray:
    return np.random.default_rng(seed).integers(low, high, shape, dtype=np.uint8)


def test_nine_pixels_by_hand():
    # Four neighbours in the order right, up, left, down; beyond the edge is 0. A neighbour at
    # least as bright is a 1. There are 4 * 3 + 3 = 15 bins; a run of n ones is in bin
    # 1 + (n - 1) * 4 + t, where t turns of the circle bring the run to its start.
    picture = np.array([[5, 9, 1], [7, 6, 2], [3, 8, 4]], dtype=np.uint8)
    # 5: right 9, down 7                   1001   two ones, t = 1    bin 6
    # 9: nothing as bright                 0000                      bin 0
    # 1: left 9, down 2                    0011   two ones, t = 2    bin 7
    # 7: nothing                           0000                      bin 0
    # 6: up 9, left 7, down 8              0111   three ones, t = 3  bin 12
    # 2: left 6, down 4                    0011                      bin 7
    # 3: right 8, up 7                     1100   two ones, t = 0    bin 5
    # 8: nothing                           0000                      bin 0
    # 4: left 8                            0010   one one, t = 2     bin 3
    expected = np.zeros(15)
    expected[[0, 3, 5, 6, 7, 12]] = 3, 1, 1, 1, 2, 1
    np.testing.assert_array_equal(Lbp(**SMALL).describe(picture), expected)


@pytest.mark.parametrize(
    ("centre_row", "above", "bin_of_centre"),
    [
        ([9, 5, 9], 9, 13),  # 1111: all ones, the bin before the last
        ([9, 5, 9], 1, 14),  # 1010: three changes, not uniform, the last bin
        ([1, 5, 1], 9, 14),  # 0101
        ([1, 5, 1], 1, 0),  # 0000
        ([5, 5, 5], 5, 13),  # equal counts as bright
    ],
)
def test_centre_by_hand(centre_row, above, bin_of_centre):
    # Only the centre's pattern is in question: with three rows and columns of cells it is alone in cell 4.
    picture = np.array([[0, above, 0], centre_row, [0, above, 0]], dtype=np.uint8)
    counts = Lbp(rows=3, columns=3, radius=1, points=4).describe(picture).reshape(9, 15)
    assert counts[4].argmax() == bin_of_centre
    np.testing.assert_array_equal(counts.sum(axis=1), 1)


def test_cells_go_by_row():
    # 6 rows by 5 columns of a 64 x 64 picture: borders at 0 10 21 32 42 53 64 and 0 12 25 38 51 64.
    counts = Lbp().describe(random_picture(1)).reshape(6, 5, 59)
    heights, widths = [10, 11, 11, 10, 11, 11], [12, 13, 13, 13, 13]
    np.testing.assert_array_equal(counts.sum(axis=2), np.outer(heights, widths))


def test_dimension_of_the_paper():
    assert Lbp().dimension == 6 * 5 * 59 == 1770
    assert Lbp().describe(random_picture(2)).shape == (1770,)


def test_brightness_does_not_matter_away_from_the_edge():
    picture = random_picture(3, high=150)
    dark, light = (Lbp().describe(p).reshape(6, 5, 59) for p in (picture, picture + np.uint8(100)))
    np.testing.assert_array_equal(dark[1:-1, 1:-1], light[1:-1, 1:-1])


def test_brightness_does_not_matter_at_all_without_interpolation():
    # Four neighbours at distance 1 are pixels; above 0, the black beyond the edge stays darker than all.
    picture = random_picture(3, low=1, high=150)
    np.testing.assert_array_equal(
        Lbp(**SMALL).describe(picture), Lbp(**SMALL).describe(picture + np.uint8(100))
    )


def test_a_change_of_texture_matters():
    assert np.any(Lbp().describe(random_picture(4)) != Lbp().describe(random_picture(5)))


def test_colour_is_described_as_its_gray():
    picture = random_picture(6)
    as_colour = np.repeat(picture[:, :, None], 3, axis=2)
    np.testing.assert_array_equal(Lbp().describe(as_colour), Lbp().describe(picture))


def test_gray_weights_are_those_of_itu_601():
    # 0.299 * 200 + 0.587 * 100 + 0.114 * 50 = 124.2, between grays of 124 and 125.
    colour = np.tile(np.array([200, 100, 50], dtype=np.uint8), (3, 3, 1))
    for gray, bin_of_centre in ((124, 13), (123, 0)):
        around = np.full((3, 3, 3), gray, dtype=np.uint8)
        around[1, 1] = colour[1, 1]
        centre = Lbp(rows=3, columns=3, radius=1, points=4).describe(around).reshape(9, 15)[4]
        assert centre.argmax() == bin_of_centre


@pytest.mark.parametrize(
    ("text", "dimension"),
    [("lbp:rows=2,columns=3", 6 * 59), ("lbp:points=4", 30 * 15), ("lbp:radius=1,points=16", 30 * 243)],
)
def test_options(text, dimension):
    part = registry.build("descriptors", text)
    vector = part.describe(random_picture(7))
    assert vector.shape == (dimension,) == (part.dimension,)
    assert vector.sum() == 64 * 64


def test_constructor_only_stores():
    assert Lbp(rows=0).rows == 0


@pytest.mark.parametrize(
    "options",
    [
        {"rows": 0},
        {"columns": -1},
        {"radius": 1.5},
        {"points": 1},
        {"points": 25},
        {"rows": "6"},
        {"rows": True},
    ],
)
def test_refused_options(options):
    with pytest.raises(BadInput, match=next(iter(options))):
        Lbp(**options).describe(random_picture(8))
    with pytest.raises(BadInput, match=next(iter(options))):
        _ = Lbp(**options).dimension


@pytest.mark.parametrize("shape", [(5, 64), (64, 4), (0, 64), (4, 4, 3)])
def test_picture_too_small_for_the_grid(shape):
    with pytest.raises(BadInput, match=r"at least 6 rows and 5 columns.*larger crop"):
        Lbp().describe(random_picture(9, shape))


def test_smallest_picture():
    assert Lbp().describe(random_picture(10, (6, 5))).sum() == 30
    with pytest.raises(BadInput, match="at least 9 rows and 9 columns"):
        Lbp(radius=4).describe(random_picture(10, (8, 9)))
