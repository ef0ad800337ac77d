"""Smooth lines through a few points."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

Points = NDArray[np.float64]


def smooth(points: ArrayLike, closed: bool = False, steps: int = 7) -> Points:
    """Catmull-Rom curve through the points.

    Parameters
    ----------
    points : array (n, 2)
        Where the curve must pass.
    closed : bool
        Whether it returns to its first point.
    steps : int
        Points of the curve for each given point.

    Returns
    -------
    array (m, 2)
    """
    given = np.asarray(points, dtype=np.float64)
    return _spline(len(given), closed, steps) @ given


def mirrored(half: ArrayLike) -> Points:
    """Close a half outline, from its first point on the axis to its last, by its mirror image."""
    right = np.asarray(half, dtype=np.float64)
    return np.concatenate([right, right[-2:0:-1] * (-1.0, 1.0)])


def symmetric(left: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Complete the left half of a line by its mirror image; its last point may lie on the axis."""
    return [*left, *((-x, y) for x, y in reversed(left) if x != 0)]


def disc(middle: Points, radius: float, points: int = 22) -> Points:
    """Points around a circle."""
    return _circle(points) * radius + middle


def ellipse(x: float, y: float, width: float, height: float, points: int = 22) -> Points:
    """Points around an ellipse; width and height are half axes."""
    return _circle(points) * (width, height) + (x, y)


def ribbon(path: Points, widths: float | Points) -> Points:
    """Outline of a brush stroke along a path (..., n, 2), whose width may change on the way."""
    along = np.empty_like(path)
    along[..., 1:-1, :] = path[..., 2:, :] - path[..., :-2, :]
    along[..., 0, :] = path[..., 1, :] - path[..., 0, :]
    along[..., -1, :] = path[..., -1, :] - path[..., -2, :]
    dx, dy = along[..., 0], along[..., 1]
    scale = 0.5 * widths / np.sqrt(dx * dx + dy * dy + 1e-12)
    aside = np.empty_like(path)
    aside[..., 0], aside[..., 1] = -dy * scale, dx * scale
    return np.concatenate([path + aside, (path - aside)[..., ::-1, :]], axis=-2)


@lru_cache(maxsize=16)
def taper(points: int, start: float = 0.15, end: float = 0.15) -> Points:
    """Widths of a stroke that is 1 in its middle and thinner at both ends."""
    t = np.linspace(0, 1, points)
    edge = np.where(t < 0.5, start, end)
    return np.asarray(edge + (1 - edge) * np.sqrt(np.sin(np.pi * t).clip(0, 1)), dtype=np.float64)


@lru_cache(maxsize=64)
def _circle(points: int) -> Points:
    angle = np.linspace(0, 2 * np.pi, points, endpoint=False)
    return np.column_stack([np.cos(angle), np.sin(angle)])


@lru_cache(maxsize=64)
def _spline(count: int, closed: bool, steps: int) -> Points:
    """Matrix that takes control points to points of the curve."""
    pieces = count if closed else count - 1
    t = np.linspace(0, 1, steps, endpoint=False)
    weights = 0.5 * np.column_stack(
        [-t + 2 * t**2 - t**3, 2 - 5 * t**2 + 3 * t**3, t + 4 * t**2 - 3 * t**3, -(t**2) + t**3]
    )
    matrix = np.zeros((pieces * steps + (not closed), count))
    for piece in range(pieces):
        for column, offset in enumerate((-1, 0, 1, 2)):
            source = (piece + offset) % count if closed else min(max(piece + offset, 0), count - 1)
            matrix[piece * steps : (piece + 1) * steps, source] += weights[:, column]
    if not closed:
        matrix[-1, -1] = 1.0
    return matrix
