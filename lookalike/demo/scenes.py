"""Scenes: who is where at which moment of a drawn film, and the pictures it is put together from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter

from lookalike.demo.canvas import HALF_PICTURE, SUPERSAMPLE, Colour, clothes, mix, shade
from lookalike.demo.drawing import lit, painted, photographed
from lookalike.demo.people import Person, View

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
    """Draw a person, whose face is so many pixels wide, and cut them out along their own outline.

    Where the head is in its square and what lies behind it do not matter.
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

    Neighbouring rooms of a film, which goes by its seed, differ in colour and brightness; there is as
    much furniture as there is room for.
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
    """The camera's grain: one pattern, moved to another place for every frame; none at difficulty 0."""

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


# Scenes: who is where at which moment of a drawn film, before anything is drawn.
#
# A film repeats seven scenes, with a hard cut to another room between them. Each asks something else of
# whoever follows faces: see `SCENES`. Places are shares of the picture's width and height; times are seconds
# from the start of the scene.

HIDDEN: Final = 0.4  # seconds for which a passing pillar hides more than half of a face
AWAY: Final = 2.68  # seconds for which more than half of a face that leaves is out of the picture

_SPEED: Final = 0.3125  # widths a second of a face that leaves: half gone 0.3 s after it touches the edge
_CORNER: Final = 0.15  # seconds before and after a turn of the path in which a face changes its direction
_SCRIPT: Final = 7  # spawn key, apart from those of people, films and collections


@dataclass(frozen=True)
class Take:
    """One person in one scene: where the middle of the face passes, at a time, across and down.

    The width of the face is in pixels of a picture 640 wide and 360 high.
    """

    person: int
    width: float
    path: tuple[tuple[float, float, float], ...]

    def places(self, times: NDArray[np.float64]) -> NDArray[np.float64]:
        """Middle of the face (n, 2) at each time: along the path, round its corners."""
        knots = np.array(self.path)
        near = times[:, None] + np.linspace(-_CORNER, _CORNER, 9)
        return np.stack([np.interp(near, knots[:, 0], line).mean(axis=1) for line in knots.T[1:]], axis=1)


@dataclass(frozen=True)
class Pillar:
    """Something that passes before a face: at `across` at `time`, `width` as of a `Take`."""

    time: float
    across: float
    width: float

    @property
    def speed(self) -> float:
        """How fast it passes, so that it hides the middle of a face for `HIDDEN` seconds."""
        return self.width / HIDDEN


@dataclass(frozen=True)
class Scene:
    """What one shot shows: people, a camera that pans so many widths a second, what passes before them."""

    takes: tuple[Take, ...]
    pan: float = 0.0
    pillar: Pillar | None = None


@dataclass(frozen=True)
class Shot:
    """A scene in its film: in which room, from which frame to before which."""

    scene: Scene
    room: int
    first: int
    end: int


Cast = Callable[[], int]


def _alone(who: Cast, end: float) -> Scene:
    return Scene((Take(who(), 128, ((0, 0.34, 0.46), (end, 0.60, 0.49))),))


def _pair(who: Cast, end: float) -> Scene:
    left = Take(who(), 104, ((0, 0.27, 0.48), (end, 0.31, 0.45)))
    return Scene((left, Take(who(), 116, ((0, 0.74, 0.44), (end, 0.70, 0.47)))))


def _leaving(who: Cast, end: float) -> Scene:
    stay, edge, outside = 0.30, 0.25, -0.20
    way = (edge - outside) / _SPEED
    goes = 0.15 * end
    back = goes + edge / _SPEED + AWAY + outside / _SPEED
    path = (
        (0.0, stay, 0.46),
        (goes, edge, 0.46),
        (goes + way, outside, 0.46),
        (back, outside, 0.46),
        (back + way, edge, 0.46),
        (end, stay, 0.46),
    )
    return Scene((Take(who(), 110, path),))


def _hidden(who: Cast, end: float) -> Scene:
    return Scene((Take(who(), 92, ((0, 0.50, 0.45), (end, 0.50, 0.47))),), pillar=Pillar(end / 2, 0.5, 124))


def _panned(who: Cast, end: float) -> Scene:
    return Scene((Take(who(), 120, ((0, 0.60, 0.47), (end, 0.42, 0.47))),), pan=0.15)


def _passing(who: Cast, end: float) -> Scene:
    above = Take(who(), 82, ((0, 0.15, 0.28), (end, 0.85, 0.26)))
    return Scene((above, Take(who(), 84, ((0, 0.85, 0.76), (end, 0.15, 0.76)))))


# What each scene asks, with the seconds that it needs at least: one face; two at once; one that leaves for
# longer than 2 s, two tracks; one hidden for less than half a second, one track; a moving room that is no
# cut; nobody; two that pass one another at different heights.
SCENES: Final[Mapping[str, tuple[Callable[[Cast, float], Scene], float]]] = {
    "alone": (_alone, 2.2),
    "pair": (_pair, 2.5),
    "leaving": (_leaving, 6.2),
    "hidden": (_hidden, 2.4),
    "panned": (_panned, 2.6),
    "empty": (lambda who, end: Scene(()), 1.2),
    "passing": (_passing, 2.9),
}
SHORTEST: Final = SCENES["alone"][1]


def shots(people: int, seconds: float, rate: float, seed: int) -> list[Shot]:
    """Write the script of a film: in order, without gaps, who plays which scene by chance.

    As many scenes as fit are played, each prolonged so that the film is full.
    """
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_SCRIPT,)))
    plan: list[tuple[Callable[[Cast, float], Scene], float]] = []
    order = list(SCENES.values())
    while sum(least for _, least in plan) + order[len(plan) % len(order)][1] <= seconds + 1e-6:
        plan.append(order[len(plan) % len(order)])
    stretch = seconds / sum(least for _, least in plan)
    waiting: list[int] = []
    last = -1

    def who() -> int:
        # Everybody once, in an order that chance decides, before anybody plays again; nobody twice running,
        # since the two may be in one scene.
        nonlocal last
        if not waiting:
            waiting.extend(rng.permutation(people).tolist())
        last = waiting.pop(0 if waiting[-1] == last else -1)
        return last

    made: list[Shot] = []
    clock = 0.0
    for number, (write, least) in enumerate(plan):
        scene = write(who, least * stretch)
        if number // len(order) % 2:
            scene = _mirrored(scene)
        first, clock = round(clock * rate), clock + least * stretch
        made.append(Shot(scene, number, first, round(clock * rate)))
    return made


def _mirrored(scene: Scene) -> Scene:
    """Return the scene with left and right exchanged, so that a long film shows more than a short one."""
    takes = tuple(
        replace(take, path=tuple((time, 1 - across, down) for time, across, down in take.path))
        for take in scene.takes
    )
    return replace(scene, takes=takes, pan=-scene.pan)
