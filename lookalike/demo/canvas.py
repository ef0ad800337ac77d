"""Canvas: colours, and a picture larger than needed, painted back to front in face coordinates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PIL import Image, ImageDraw

from lookalike.demo.people import Person, View

Points = NDArray[np.float64]


def smooth(points: ArrayLike, closed: bool = False, steps: int = 7) -> Points:
    """Catmull-Rom curve through points (n, 2), with so many points for each of them."""
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


# Canvas: a picture larger than needed, painted back to front in face coordinates.
#
# Face coordinates have their origin in the middle of the head: x to the right of the picture, y down, z
# towards the camera, 1 being half the height of the head. The canvas turns them by the pose of the view.

SUPERSAMPLE: Final = 3
HALF_PICTURE: Final = 1.17  # how much of the face plane half the picture shows
DEPTH: Final = 0.60  # of the front of the head, flatter than life so that turned faces stay legible


class Canvas:
    """What is being painted, in which pose.

    The background is `SUPERSAMPLE` times as wide as the finished picture.
    """

    def __init__(self, person: Person, view: View, background: Image.Image) -> None:
        self.person = person
        self.view = view
        side = background.width
        self.size = side // SUPERSAMPLE
        self.skin = skin_colour(person)
        self.hair = hair_colour(person)
        self.image = background.copy()
        self.solid = Image.new("L", (side, side), 0)
        self._draw = ImageDraw.Draw(self.image)
        self._glaze = ImageDraw.Draw(self.image, "RGBA")  # blends, which costs more than covering
        self._draw_solid = ImageDraw.Draw(self.solid)
        yaw, pitch, roll = (math.radians(angle) for angle in (view.yaw, view.pitch, view.roll))
        self.unit = side / 2 / HALF_PICTURE * view.scale
        turn = np.array(((math.cos(roll), math.sin(roll)), (-math.sin(roll), math.cos(roll)))) * self.unit
        # What one step right, down and towards the camera moves in the picture, for things that turn with
        # the head (flat) and for silhouettes, which keep their width (wide).
        self._flat = np.array(((math.cos(yaw), 0.0), (0.0, math.cos(pitch)))) @ turn
        self._wide = np.array(((1.0, 0.0), (0.0, math.cos(pitch)))) @ turn
        self._out = np.array((math.sin(yaw), math.cos(yaw) * math.sin(pitch))) @ turn
        self._egg = np.array((1 / (1.08 * person.head.width) ** 2, 1 / 1.25**2))
        # Alignment keeps the features, not the skull, near the middle of the picture.
        drift = np.array((-0.26 * math.sin(yaw), -0.22 * math.sin(pitch) - 0.04))
        self._middle = (np.array(view.shift) + 0.5) * side + drift @ turn

    def on_face(self, points: ArrayLike, lift: float | Points = 0.0) -> Points:
        """Pixels of points on the front of the head, lifted from it towards the camera."""
        xy = np.asarray(points, dtype=np.float64)
        # depth = DEPTH sqrt(1 - (x / wide)^2 - (y / high)^2)
        inside = 1 - (xy * xy) @ self._egg
        depth = DEPTH * np.sqrt(np.maximum(inside, 0.0)) + lift
        return xy @ self._flat + depth[:, None] * self._out + self._middle

    def on_face_each(self, outlines: Sequence[Points]) -> list[Points]:
        """Pixels of many outlines at once, which is faster than one by one."""
        ends = np.cumsum([len(outline) for outline in outlines])
        return np.split(self.on_face(np.concatenate(outlines)), ends[:-1])

    def around(self, points: ArrayLike, depth: float | Points = 0.0) -> Points:
        """Pixels of a silhouette: it keeps its width when the head turns, and moves by its depth."""
        xy = np.asarray(points, dtype=np.float64)
        return xy @ self._wide + np.multiply.outer(depth, self._out) + self._middle

    def at(self, points: ArrayLike, depth: float) -> Points:
        """Pixels of points at a depth of their own, such as an ear's."""
        return np.asarray(points, dtype=np.float64) @ self._flat + depth * self._out + self._middle

    def fill(self, pixels: Points, colour: Colour, alpha: float = 1.0, solid: bool = False) -> None:
        """Paint the inside of an outline; solid things hide the background and catch the light."""
        corners = pixels.ravel().tolist()
        if alpha < 1:
            self._glaze.polygon(corners, fill=_ink(colour, alpha))
        else:
            self._draw.polygon(corners, fill=_ink(colour)[:3])
        if solid:
            self._draw_solid.polygon(corners, fill=255)

    def stroke(self, path: Points, width: float | Points, colour: Colour, alpha: float = 1.0) -> None:
        """Paint a brush stroke; the width is in face units, one number or one for each point."""
        self.fill(ribbon(path, width * self.unit), colour, alpha)

    def strokes(
        self, paths: Points, width: float | Points, tones: Sequence[Colour], alpha: float = 1.0
    ) -> None:
        """Paint many brush strokes of equal length (k, n, 2), taking the colours in turn."""
        for number, shape in enumerate(ribbon(paths, width * self.unit)):
            self.fill(shape, tones[number % len(tones)], alpha)

    def dots(self, centres: Points, radii: Points, colour: Colour, alpha: float = 1.0) -> None:
        """Paint small discs around pixels; radii are in face units."""
        reach = (radii * self.unit)[:, None]
        ink = _ink(colour, alpha)
        for box in np.concatenate([centres - reach, centres + reach], axis=1).tolist():
            self._glaze.ellipse(box, fill=ink)

    def finished(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Red, green, blue (3, size, size) in 0..255, then the solid share of each pixel (size, size)."""
        picture = planes(self.image.reduce(SUPERSAMPLE))
        solid = np.asarray(self.solid.reduce(SUPERSAMPLE), dtype=np.float32)
        return picture, solid * np.float32(1 / 255)


def planes(image: Image.Image) -> NDArray[np.float32]:
    """Red, green, blue planes (3, height, width): colour first, so that arithmetic runs along long rows."""
    return np.asarray(image).transpose(2, 0, 1).astype(np.float32, order="C")


def _ink(colour: Colour, alpha: float = 1.0) -> tuple[int, int, int, int]:
    red, green, blue = colour.tolist()
    return min(int(red), 255), min(int(green), 255), min(int(blue), 255), int(min(max(alpha, 0.0), 1.0) * 255)


Colour = NDArray[np.float64]


def _palette(stops: str) -> NDArray[np.float64]:
    return np.array([list(bytes.fromhex(stop)) for stop in stops.split()], dtype=np.float64)


_SKIN: Final = _palette("fad6be f3c6a6 e8b68e d49c72 b27a54 8c5c40 6c4634")
_HAIR: Final = _palette("e8c884 be9158 805636 543726 342622 221e24")
_IRIS: Final = _palette("543420 704624 806432 5c8054 4a849e 608ec0 6e788c")
_CLOTHES: Final = _palette("405482 3c787a c4584a e8b254 ece8e0 7a5a8c 363a44")
_RED: Final = np.array((168.0, 74.0, 36.0))
_GREY: Final = np.array((196.0, 192.0, 190.0))
_LIPS: Final = np.array((190.0, 62.0, 72.0))


def skin_colour(person: Person) -> Colour:
    """Colour of the skin in white light."""
    return _pick(_SKIN, person.skin.tone**1.35) + np.array((3.0, -1.0, -6.0)) * person.skin.warmth


def hair_colour(person: Person) -> Colour:
    """Colour of the hair: dark hair is likelier over dark skin, grey comes with age."""
    traits = person.hair
    dark = min(1.0, 0.12 + 0.75 * traits.dark + 0.5 * person.skin.tone)
    colour = mix(_pick(_HAIR, dark), _RED, max(0.0, traits.red) * (1.2 - dark))
    return mix(colour, _GREY, max(0.0, person.skin.age - 0.72) * 3.0)


def iris_colour(person: Person) -> Colour:
    """Colour of the iris: brown is likelier over dark skin."""
    return _pick(_IRIS, person.eyes.colour * (1.0 - 0.85 * person.skin.tone))


def lip_colour(person: Person) -> Colour:
    """Colour of the lips, between skin and red."""
    return mix(shade(skin_colour(person), 0.80), _LIPS, 0.30 + 0.55 * person.mouth.red)


def clothes(place: float) -> Colour:
    """Colour of a shirt or a hat, for a place from 0 to 1 among a few friendly ones."""
    return _pick(_CLOTHES, place % 1.0)


def shade(colour: Colour, by: float) -> Colour:
    """Return a darker (below 1) or lighter (above 1) version of a colour."""
    return np.minimum(colour * by, 255.0)


def mix(a: Colour, b: Colour, share: float) -> Colour:
    """Return a colour on the way from a to b."""
    share = min(max(share, 0.0), 1.0)
    return a * (1 - share) + b * share


def _pick(palette: NDArray[np.float64], place: float) -> Colour:
    at = min(max(place, 0.0), 1.0) * (len(palette) - 1)
    below = min(int(at), len(palette) - 2)
    return mix(palette[below], palette[below + 1], at - below)
