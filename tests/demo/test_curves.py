"""Curves: numbers worked by hand."""

from __future__ import annotations

import numpy as np

from lookalike.demo.canvas import ellipse, mirrored, ribbon, smooth


def test_curve_passes_through_its_points() -> None:
    points = [(0.0, 0.0), (1.0, 2.0), (3.0, 1.0), (4.0, 4.0)]
    np.testing.assert_allclose(smooth(points, steps=5)[::5], points, atol=1e-12)
    np.testing.assert_allclose(smooth(points, closed=True, steps=5)[::5], points, atol=1e-12)


def test_curve_through_a_line_stays_on_it() -> None:
    line = smooth([(0, 0), (1, 1), (2, 2), (3, 3)], steps=6)
    np.testing.assert_allclose(line[:, 0], line[:, 1], atol=1e-12)


def test_mirror_image_shares_the_points_on_the_axis() -> None:
    np.testing.assert_allclose(mirrored([(0, 0), (1, 1), (0, 2)]), [(0, 0), (1, 1), (0, 2), (-1, 1)])


def test_ribbon_of_a_level_line_is_a_rectangle() -> None:
    outline = ribbon(np.array([(0.0, 0.0), (1.0, 0.0), (2.0, 0.0)]), 0.5)
    np.testing.assert_allclose(outline, [(0, 0.25), (1, 0.25), (2, 0.25), (2, -0.25), (1, -0.25), (0, -0.25)])


def test_many_ribbons_equal_one_by_one() -> None:
    paths = np.random.default_rng(0).normal(size=(3, 6, 2))
    np.testing.assert_allclose(ribbon(paths, 0.2), [ribbon(path, 0.2) for path in paths])


def test_ellipse_has_its_axes() -> None:
    points = ellipse(1.0, 2.0, 3.0, 0.5, points=40)
    np.testing.assert_allclose(np.ptp(points, axis=0), (6.0, 1.0), atol=1e-9)
