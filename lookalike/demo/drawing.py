"""One picture of one person: painted back to front before a room, lit, photographed."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter

from lookalike.demo import face, hair
from lookalike.demo.canvas import SUPERSAMPLE, Canvas, clothes, mix, planes, shade
from lookalike.demo.hair import paint_glasses, paint_hat, paint_microphone
from lookalike.demo.people import Person, View
from lookalike.errors import BadInput

_PAPER = np.array((226.0, 228.0, 232.0))


@lru_cache(maxsize=8)
def room(number: int, clutter: float, size: int, scale: int = 1) -> Image.Image:
    """Picture of one room, so many times larger than painted: a soft gradient with large blurred shapes.

    Room 0 is a light wall; without clutter a room is a plain wall of the same colour.
    """
    rng = np.random.default_rng(np.random.SeedSequence(11, spawn_key=(number,)))
    base = mix(clothes(rng.uniform()), _PAPER, 0.45 if number else 0.8)
    top, bottom = shade(base, rng.uniform(0.95, 1.12)), shade(base, rng.uniform(0.7, 0.95))
    plain = Image.new("RGB", (size, size), tuple(base.astype(int).tolist()))
    t = np.linspace(0, 1, size)[:, None, None]
    wall = Image.fromarray(np.broadcast_to(top * (1 - t) + bottom * t, (size, size, 3)).astype(np.uint8))
    if number:
        draw = ImageDraw.Draw(wall, "RGBA")
        for _ in range(7):
            x, y = (rng.uniform(0, 1, 2) * size).tolist()
            wide, high = (rng.uniform(0.08, 0.3, 2) * size).tolist()
            colour = mix(clothes(rng.uniform()), base, 0.35).astype(int).tolist()
            box = (x - wide, y - high, x + wide, y + high)
            ink = (colour[0], colour[1], colour[2], 190)
            (draw.rectangle if rng.uniform() < 0.5 else draw.ellipse)(box, fill=ink)
    soft = Image.blend(plain, wall.filter(ImageFilter.GaussianBlur(size / 22)), clutter)
    return soft.resize((size * scale, size * scale), Image.Resampling.BILINEAR)


# Light on a painted face, then the camera: shading, colour cast, blur, grain.

Picture = NDArray[np.float32]  # (3, size, size), or one plane of it

_WARM: Final = np.array((0.16, 0.02, -0.16), dtype=np.float32)


def lit(canvas: Canvas) -> Picture:
    """Finish a canvas: what is solid is shaded by the lamp, the room behind takes its level only."""
    picture, solid = canvas.finished()
    light = canvas.view.light
    across, up = math.radians(light.across), math.radians(light.up)
    lamp = np.array((math.sin(across) * math.cos(up), -math.sin(up), math.cos(across) * math.cos(up)))
    normals = _normals(canvas)
    facing = sum(np.float32(part) * normal for part, normal in zip(lamp.tolist(), normals, strict=True))
    # Light wraps a little round the edge, as it does on skin.
    direct = np.maximum((np.asarray(facing) + 0.18) / 1.18, 0)
    gain = (1 - light.strength) + light.strength * 1.18 * direct
    # The 24th power by squaring, which is faster than the general one.
    eighth = np.square(np.square(np.square(np.maximum(_half_way(lamp, normals), 0))))
    gloss = light.strength * 34 * (eighth * eighth * eighth)
    level = light.level * (1 + solid * (gain - 1))
    cast = 1 + np.float32(light.warmth) * _WARM[:, None, None]
    picture *= level
    picture += gloss * solid * light.level
    picture *= cast
    return _softened(picture)


def photographed(picture: Picture, view: View) -> NDArray[np.uint8]:
    """What the camera keeps of a lit scene: blurred, grainy, in bytes."""
    size = picture.shape[-1]
    if view.blur > 0:
        # Blur acts before rounding to bytes would matter: eight bits are enough for it.
        soft = Image.fromarray(_bytes(picture)).filter(ImageFilter.GaussianBlur(view.blur * size))
        picture = planes(soft)
    if view.noise > 0:
        rng = np.random.default_rng(view.grain)
        picture = picture + np.float32(view.noise) * rng.standard_normal((size, size), dtype=np.float32)
    return _bytes(picture)


def _normals(canvas: Canvas) -> tuple[Picture, Picture, Picture]:
    """Directions of the surface at each pixel: an egg with hills where nose, cheeks and chin stand out."""
    person = canvas.person
    size = canvas.size
    unit = canvas.unit / SUPERSAMPLE
    pixels = (np.arange(size) + 0.5).astype(np.float32)
    middle = canvas.around([(0.0, 0.0)], 0.1)[0] / SUPERSAMPLE
    x = (pixels - np.float32(middle[0])) / np.float32(unit * (person.head.width + 0.16))
    y = (pixels - np.float32(middle[1])) / np.float32(unit * 1.22)
    eyes, nose, mouth = person.eyes, person.nose, person.mouth
    cheek = 0.40 * person.head.width / 0.74
    # x, y, lift above the face, width, height, how far it stands out
    hills = np.array(
        [
            (0.0, nose.base - 0.06, nose.lift, 0.085, 0.085, 0.34 * nose.lift),
            (0.0, 0.4 * nose.base, 0.10, 0.060, 0.17, 0.18 * nose.lift),
            (cheek, 0.24, 0.0, 0.17, 0.15, 0.055),
            (-cheek, 0.24, 0.0, 0.17, 0.15, 0.055),
            (eyes.apart, eyes.height, 0.0, 0.16, 0.09, -0.045),
            (-eyes.apart, eyes.height, 0.0, 0.16, 0.09, -0.045),
            (0.0, mouth.height, 0.0, 0.20, 0.075, 0.035),
            (0.0, mouth.height + 0.15, 0.0, 0.16, 0.05, -0.030),
            (0.0, person.head.length - 0.12, 0.0, 0.15, 0.10, 0.050),
        ]
    )
    places = (canvas.on_face(hills[:, :2], hills[:, 2]) / SUPERSAMPLE).astype(np.float32)
    hills = hills.astype(np.float32)
    wide, high = (hills[:, 3] * unit)[:, None], (hills[:, 4] * unit)[:, None]
    dx, dy = (pixels - places[:, :1]) / wide, (pixels - places[:, 1:]) / high
    bell_x, bell_y = np.exp(-0.5 * dx * dx), np.exp(-0.5 * dy * dy)
    out = (hills[:, 5] * unit)[:, None]
    # Each hill is a product of a bell across and a bell down, so its slopes are sums of outer products.
    slope_x = (bell_y * out).T @ (-dx / wide * bell_x)
    slope_y = (-dy / high * bell_y * out).T @ bell_x
    forward = np.sqrt(np.maximum(1 - x[None, :] ** 2 - y[:, None] ** 2, 0.20))
    nx, ny = x[None, :] - slope_x * forward, y[:, None] - slope_y * forward
    length = np.sqrt(nx * nx + ny * ny + forward * forward)
    return nx / length, ny / length, forward / length


def _half_way(lamp: NDArray[np.float64], normals: tuple[Picture, Picture, Picture]) -> Picture:
    """How nearly the surface mirrors the lamp into the camera (Blinn's half vector)."""
    half = np.add(lamp, (0.0, 0.0, 1.0))
    half = (half / np.linalg.norm(half)).astype(np.float32)
    return np.asarray(half[0] * normals[0] + half[1] * normals[1] + half[2] * normals[2], dtype=np.float32)


def _softened(picture: Picture) -> Picture:
    """Roll off what is brighter than paper instead of cutting it."""
    over = np.maximum(picture - 222, 0)
    # 60 over / (60 + over), never more than 60
    return np.asarray(np.minimum(picture, 222) + 60 * over / (60 + over), dtype=np.float32)


def _bytes(picture: Picture) -> NDArray[np.uint8]:
    rounded = np.clip(picture + 0.5, 0, 255).astype(np.uint8)
    return np.ascontiguousarray(rounded.transpose(1, 2, 0))


SMALLEST: Final = 32


def draw_face(person: Person, view: View, size: int = 96) -> NDArray[np.uint8]:
    """Draw a person as one view shows them: (size, size, 3), the same for the same arguments."""
    return photographed(lit(painted(person, view, size)), view)


def painted(person: Person, view: View, size: int) -> Canvas:
    """Paint a person back to front, not yet lit: a canvas that knows which part of it is the person."""
    check_size(size)
    canvas = Canvas(person, view, room(view.style.room, view.style.clutter, size, SUPERSAMPLE))
    hair.paint_hair_behind(canvas)
    face.paint_shoulders(canvas)
    face.paint_head(canvas)
    face.paint_marks(canvas)
    hair.paint_beard(canvas)
    face.paint_mouth(canvas)
    face.paint_eyes(canvas)
    face.paint_nose(canvas)
    face.paint_brows(canvas)
    hair.paint_hair_before(canvas)
    paint_hat(canvas)
    paint_glasses(canvas)
    paint_microphone(canvas)
    return canvas


def check_size(size: int) -> None:
    """Refuse pictures too small to hold a face."""
    if size < SMALLEST:
        raise BadInput(
            f"a drawn face is {SMALLEST} pixels wide or more, got size {size}: ask for a larger picture"
        )
