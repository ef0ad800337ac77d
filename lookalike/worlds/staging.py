"""Staging: the pictures that a drawn film is put together from: rooms, people cut out, a pillar, grain."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter

from lookalike.worlds.canvas import HALF_PICTURE, SUPERSAMPLE
from lookalike.worlds.colours import Colour, clothes, mix, shade
from lookalike.worlds.drawing import painted
from lookalike.worlds.light import lit, photographed
from lookalike.worlds.people import Person
from lookalike.worlds.views import View

SCALE: Final = 0.72  # of a head in its square: leaves room for all of its hair and the shoulders
LARGEST: Final = 224  # pixels of a square that is drawn; larger ones are enlarged, which costs less
GRAIN: Final = 8.0  # grey levels at difficulty 1

_ROOM = 12
_PAPER = np.array((226.0, 228.0, 232.0))
_WOOD = np.array((126.0, 92.0, 64.0))
_SKY = np.array((206.0, 224.0, 240.0))


@dataclass(frozen=True, eq=False)
class Cutout:
    """A person before nothing: colours times their cover, what shows through of 256, middle of the head."""

    colours: NDArray[np.uint16]  # (height, width, 3), times 256
    through: NDArray[np.uint16]  # (height, width, 3): the same thrice, faster than one to be stretched
    middle: tuple[int, int]  # across, down

    def paste(self, frame: NDArray[np.uint8], across: float, down: float) -> None:
        """Set the person into a frame, the middle of the head at a pixel; what lies outside is cut off.

        Below, the body goes on as its lowest row is, to the edge of the frame.
        """
        left, top = round(across) - self.middle[0], round(down) - self.middle[1]
        high, wide = self.through.shape[:2]
        columns = slice(max(left, 0), min(left + wide, frame.shape[1]))
        if columns.start >= columns.stop:
            return
        own = slice(columns.start - left, columns.stop - left)
        rows = slice(max(top, 0), max(top + high, 0))
        head = frame[rows, columns]
        seen = slice(rows.start - top, rows.start - top + len(head))
        head[...] = (head * self.through[seen, own] + self.colours[seen, own]) >> 8
        body = frame[rows.stop :, columns]
        body[...] = (body * self.through[-1, own] + self.colours[-1, own]) >> 8


def cutout(person: Person, view: View, width: float) -> Cutout:
    """Draw a person and cut them out along their own outline.

    Parameters
    ----------
    person, view : Person, View
        Who, and how; where the head is in its square and what lies behind it do not matter.
    width : float
        Of the face, in pixels.
    """
    side = round(width / (2 * person.head.width) * 2 * HALF_PICTURE / SCALE)
    drawn = min(side, LARGEST)
    plain = replace(view.style, room=0, clutter=0.0)
    canvas = painted(person, replace(view, shift=(0.0, 0.0), scale=SCALE, style=plain), drawn)
    colours = Image.fromarray(photographed(lit(canvas), view))
    cover = canvas.solid.reduce(SUPERSAMPLE)
    if drawn != side:
        colours = colours.resize((side, side), Image.Resampling.BILINEAR)
        cover = cover.resize((side, side), Image.Resampling.BILINEAR)
    share = np.repeat(np.asarray(cover, dtype=np.uint16)[:, :, None], 3, axis=2)
    share = share + (share >> 7)  # 255 is all: 256 of 256
    return Cutout(np.asarray(colours, dtype=np.uint16) * share, 256 - share, (side // 2, side // 2))


def backdrop(number: int, width: int, height: int, seed: int) -> NDArray[np.uint8]:
    """Paint a room as a wide picture: wall, floor, what hangs and stands there, a little out of focus.

    Parameters
    ----------
    number : int
        Which room of the film; neighbours differ in colour and brightness.
    width, height : int
        Of the picture; as much furniture as it has room for.
    seed : int
        Which film.
    """
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_ROOM, number)))
    # Steps of the golden section keep the colours of rooms that follow one another apart.
    base = shade(mix(clothes(0.1 + 0.618 * number), _PAPER, 0.35), 1.0 if number % 2 else 0.72)
    t = np.linspace(0, 1, height)[:, None, None]
    wall = shade(base, 1.1) * (1 - t) + shade(base, 0.78) * t
    picture = Image.fromarray(np.broadcast_to(wall.clip(0, 255), (height, width, 3)).astype(np.uint8))
    draw = ImageDraw.Draw(picture)
    floor = int(rng.uniform(0.78, 0.86) * height)
    draw.rectangle((0, floor, width, height), fill=_ink(shade(mix(_WOOD, base, 0.3), rng.uniform(0.6, 1.0))))
    draw.rectangle((0, floor, width, floor + height // 60), fill=_ink(shade(base, 1.25)))
    place = -rng.uniform(0.0, 0.2) * height
    while place < width:
        wide = float(rng.uniform(0.25, 0.5)) * height
        kind = (_window, _shelf, _painting, _door)[int(rng.integers(4))]
        kind(_Spot(draw, rng, base, place, wide, height, floor))
        place += wide + float(rng.uniform(0.08, 0.3)) * height
    return np.asarray(picture.filter(ImageFilter.GaussianBlur(height / 240)))


def paste_pillar(frame: NDArray[np.uint8], left: float, right: float) -> None:
    """Set a dark pillar into a frame, from top to bottom."""
    first, last = (round(min(max(x, 0), frame.shape[1])) for x in (left, right))
    t = (np.arange(first, last) - left) / (right - left)
    column = np.array((58.0, 62.0, 70.0)) * (0.7 + 0.6 * np.sin(np.pi * t))[:, None]
    frame[:, first:last] = column.astype(np.uint8)


class Grain:
    """The camera's grain: one pattern, moved to another place for every frame.

    Parameters
    ----------
    size : tuple of int
        Width and height of the frames.
    difficulty : float
        0 is none.
    """

    _ROOM_TO_MOVE: Final = 64

    def __init__(self, size: tuple[int, int], difficulty: float) -> None:
        self.size = size
        self.level = GRAIN * difficulty
        rng = np.random.default_rng(0)
        shape = (size[1] + self._ROOM_TO_MOVE, size[0] + self._ROOM_TO_MOVE, 1)
        grain = (self.level * rng.standard_normal(shape, dtype=np.float32)).round().clip(-127, 127)
        # Apart by sign, in bytes: arithmetic that cannot overflow is several times as fast in them.
        self._lighter = np.repeat(grain.clip(0).astype(np.uint8), 3, axis=2)
        self._darker = np.repeat((-grain).clip(0).astype(np.uint8), 3, axis=2)

    def over(self, frame: NDArray[np.uint8], number: int) -> NDArray[np.uint8]:
        """Return the frame with this number's grain on it."""
        if self.level <= 0:
            return frame
        left, top = np.random.default_rng(number).integers(0, self._ROOM_TO_MOVE, 2).tolist()
        place = (slice(top, top + self.size[1]), slice(left, left + self.size[0]))
        lighter, darker = self._lighter[place], self._darker[place]
        light = np.minimum(frame, 255 - lighter) + lighter
        return np.maximum(light, darker) - darker


class _Spot(NamedTuple):
    """Where a piece of furniture goes."""

    draw: ImageDraw.ImageDraw
    rng: np.random.Generator
    wall: Colour
    left: float
    wide: float
    height: int
    floor: int

    def fill(self, left: float, top: float, right: float, low: float, colour: Colour) -> None:
        self.draw.rectangle((left, top, right, low), fill=_ink(colour))


def _window(at: _Spot) -> None:
    top, low, bar = 0.1 * at.height, 0.58 * at.height, 0.02 * at.height
    at.fill(at.left, top, at.left + at.wide, low, shade(at.wall, 1.3))
    pane = (at.wide - 3 * bar) / 2
    for x in (at.left + bar, at.left + 2 * bar + pane):
        for y, end in ((top + bar, 0.3 * at.height), (0.3 * at.height + bar, low - bar)):
            at.fill(x, y, x + pane, end, shade(_SKY, at.rng.uniform(0.85, 1.0)))


def _shelf(at: _Spot) -> None:
    top, boards = 0.18 * at.height, 4
    at.fill(at.left, top, at.left + at.wide, at.floor, shade(_WOOD, 0.62))
    step = (at.floor - top) / boards
    for board in range(boards):
        low = top + (board + 1) * step - 0.02 * at.height
        x = at.left + 0.03 * at.height
        while x < at.left + at.wide - 0.07 * at.height:
            thick, high = at.rng.uniform(0.02, 0.05) * at.height, at.rng.uniform(0.5, 0.8) * step
            at.fill(x, low - high, x + thick, low, clothes(at.rng.uniform()))
            x += thick + 0.006 * at.height


def _painting(at: _Spot) -> None:
    top, edge, right = 0.14 * at.height, 0.02 * at.height, at.left + at.wide
    low = top + at.wide * at.rng.uniform(0.6, 0.9)
    middle = top + (low - top) * at.rng.uniform(0.4, 0.7)
    at.fill(at.left, top, right, low, _WOOD)
    at.fill(at.left + edge, top + edge, right - edge, middle, mix(_SKY, at.wall, 0.3))
    land = shade(clothes(0.16 + 0.2 * at.rng.uniform()), 0.8)
    at.fill(at.left + edge, middle, right - edge, low - edge, land)


def _door(at: _Spot) -> None:
    top, edge, right = 0.08 * at.height, 0.03 * at.height, at.left + at.wide
    colour = mix(clothes(at.rng.uniform()), _PAPER, 0.3)
    at.fill(at.left, top, right, at.floor, shade(colour, 0.8))
    at.fill(at.left + edge, top + edge, right - edge, at.floor, colour)
    for y, end in ((0.16, 0.42), (0.48, 0.72)):
        panel = (at.left + 3 * edge, y * at.height, right - 3 * edge, end * at.height)
        at.fill(*panel, shade(colour, 0.9))


def _ink(colour: Colour) -> tuple[int, int, int]:
    red, green, blue = np.clip(colour, 0, 255).astype(int).tolist()
    return red, green, blue
