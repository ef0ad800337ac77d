"""Rooms: what lies out of focus behind a face."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from lookalike.worlds.colours import clothes, mix, shade

_PAPER = np.array((226.0, 228.0, 232.0))


@lru_cache(maxsize=8)
def room(number: int, clutter: float, size: int, scale: int = 1) -> Image.Image:
    """Picture of one room: a soft gradient with large blurred shapes.

    Parameters
    ----------
    number : int
        Which room; 0 is a light wall.
    clutter : float
        From 0, a plain wall of the same colour, to 1.
    size : int
        Width and height of the picture that is painted.
    scale : int
        How many times larger the result is.
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
