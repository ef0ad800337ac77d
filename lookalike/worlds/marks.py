"""Marks on the skin: blush, freckles, lines of age."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from lookalike.worlds import colours
from lookalike.worlds.canvas import Canvas
from lookalike.worlds.curves import Points, ellipse, smooth, taper

_SIDES = np.array(((-1.0, 1.0), (1.0, 1.0)))


def paint_marks(canvas: Canvas) -> None:
    """Blush first, then freckles, a mole and lines."""
    person = canvas.person
    skin = canvas.skin
    flush = colours.mix(skin, np.array((214.0, 84.0, 78.0)), 0.55)
    x = 0.43 * person.head.width / 0.74
    spots = [
        ellipse(x, 0.30, 0.20 * grow, 0.14 * grow) * side for side in _SIDES for grow in (1.0, 0.8, 0.55)
    ]
    for spot in canvas.on_face_each(spots):
        canvas.fill(spot, flush, 0.26 * person.skin.blush)
    if person.skin.freckles > 0:
        dots = _freckles(person.number)[: int(45 * person.skin.freckles)]
        dark = colours.shade(colours.mix(skin, np.array((150.0, 80.0, 40.0)), 0.35), 0.82)
        canvas.dots(canvas.on_face(dots[:, :2]), dots[:, 2], dark, 0.7)
    x, y, where = _freckles(person.number + 500_000)[0].tolist()
    if where > 0.0155:
        canvas.fill(canvas.on_face(ellipse(x, y + 0.12, 0.026, 0.026, 10)), colours.shade(skin, 0.38), 0.9)
    _paint_lines(canvas)


def _paint_lines(canvas: Canvas) -> None:
    person = canvas.person
    age = person.skin.age
    dark = colours.shade(canvas.skin, 0.66)
    smile = max(0.0, canvas.view.expression.smile)
    mouth, nose, eyes = person.mouth, person.nose, person.eyes
    deep = 0.20 * smile + 1.1 * max(0.0, age - 0.5)
    fold = smooth(
        [
            (nose.width + 0.03, nose.base + 0.01),
            (mouth.width + 0.07 + 0.04 * smile, mouth.height - 0.10),
            (mouth.width + 0.09 + 0.05 * smile, mouth.height + 0.03),
        ]
    )
    bag = smooth(
        [
            (eyes.apart - 0.12, eyes.height + 0.12),
            (eyes.apart, eyes.height + 0.175),
            (eyes.apart + 0.13, eyes.height + 0.13),
        ]
    )
    for line, width, depth in ((fold, 0.028, min(0.6, 0.7 * deep)), (bag, 0.026, 0.08 + 0.35 * age)):
        both = canvas.on_face((line * _SIDES[:, None]).reshape(-1, 2)).reshape(2, -1, 2)
        canvas.strokes(both, width * taper(len(line)), (dark,), depth)
    if age > 0.6:
        for level in (0.0, 0.085, 0.17):
            line = smooth([(-0.3, -0.40 - level), (0.0, -0.425 - level), (0.3, -0.40 - level)])
            canvas.stroke(canvas.on_face(line), 0.022 * taper(len(line)), dark, (age - 0.6) * 1.8)


@lru_cache(maxsize=256)
def _freckles(number: int) -> Points:
    """Where the freckles of a person are: most on nose and cheeks."""
    rng = np.random.default_rng(np.random.SeedSequence(7, spawn_key=(number,)))
    x = rng.normal(0, 0.30, 60).clip(-0.58, 0.58)
    y = 0.24 + 0.11 * rng.standard_normal(60)
    return np.column_stack([x, y, rng.uniform(0.010, 0.019, 60)])
