"""What is worn before the face: glasses, a hat with its shadow, a microphone held in a hand."""

from __future__ import annotations

import numpy as np

from lookalike.worlds import colours
from lookalike.worlds.canvas import Canvas
from lookalike.worlds.curves import Points, ellipse, mirrored, smooth, symmetric
from lookalike.worlds.head import silhouette

_FRAMES = np.array(((34.0, 30.0, 34.0), (110.0, 58.0, 32.0), (150.0, 46.0, 52.0), (60.0, 74.0, 110.0)))
_GLASS = np.array((24.0, 26.0, 36.0))
_WHITE = np.array((255.0, 255.0, 255.0))


def paint_glasses(canvas: Canvas) -> None:
    """Frames before the eyes, with lenses from clear to black."""
    worn, eyes = canvas.view.worn, canvas.person.eyes
    if worn.glasses <= 0:
        return
    frame = _FRAMES[int(worn.colour * len(_FRAMES)) % len(_FRAMES)]
    x, y = eyes.apart + 0.01, eyes.height + 0.03
    wide, high = 0.225, 0.155 + 0.05 * worn.roundness
    for side in (-1.0, 1.0):
        lens = canvas.on_face(_lens(x * side, y, wide, high, worn.roundness), 0.12)
        canvas.fill(lens, _GLASS, 0.06 + 0.88 * worn.tint)
        shine = smooth(
            [(x * side - 0.10, y + 0.06), (x * side - 0.02, y - 0.08), (x * side + 0.03, y - 0.09)]
        )
        canvas.stroke(canvas.on_face(shine, 0.12), 0.035, _WHITE, 0.22)
        canvas.stroke(np.concatenate([lens, lens[:2]]), 0.042, frame, worn.glasses)
        hinge = canvas.on_face([((x + wide) * side, y - 0.05)], 0.10)
        ear = canvas.at([(canvas.person.head.width * 0.99 * side, y - 0.03)], -0.02)
        canvas.stroke(np.concatenate([hinge, ear]), 0.036, frame, worn.glasses)
    bridge = smooth([(wide - x, y - 0.01), (0.0, y - 0.055), (x - wide, y - 0.01)])
    canvas.stroke(canvas.on_face(bridge, 0.16), 0.036, frame, worn.glasses)


def paint_hat(canvas: Canvas) -> None:
    """A cap; its brim throws a shadow as far as the eyes."""
    worn, head = canvas.view.worn, canvas.person.head
    if worn.hat <= 0:
        return
    cloth = colours.clothes(worn.colour * 0.9)
    width = head.width + 0.05
    shadow = smooth(
        [(-width * 0.9, -0.35), (0, -0.16), (width * 0.9, -0.35), (width * 0.9, -0.6), (-width * 0.9, -0.6)],
        closed=True,
    )
    canvas.fill(canvas.on_face(shadow), np.array((30.0, 20.0, 24.0)), 0.42 * worn.hat)
    half = [
        (0.0, -1.34),
        (0.62 * width, -1.22),
        (width * 1.05, -0.75),
        (width * 1.02, -0.36),
        (0.6 * width, -0.40),
        (0.0, -0.42),
    ]
    dome = smooth(mirrored(half), closed=True)
    canvas.fill(silhouette(canvas, dome), cloth, solid=True)
    for place in (-0.45, 0.0, 0.45):
        seam = smooth([(0.15 * place, -1.32), (place * width, -1.0), (1.3 * place * width, -0.58)])
        canvas.stroke(silhouette(canvas, seam), 0.018, colours.shade(cloth, 0.7), 0.8)
    rim = [(-0.80 * width, -0.50), (-0.62 * width, -0.36), (0.0, -0.30)]
    brim = smooth([*symmetric(rim), (0.45 * width, -0.66), (-0.45 * width, -0.66)], closed=True)
    canvas.fill(canvas.on_face(brim, 0.28), colours.shade(cloth, 0.80), solid=True)
    edge = smooth(symmetric(rim))
    canvas.stroke(canvas.on_face(edge, 0.28), 0.03, colours.shade(cloth, 0.6))


def paint_microphone(canvas: Canvas) -> None:
    """A microphone before the chin, held by a fist."""
    worn = canvas.view.worn
    if worn.microphone <= 0:
        return
    side = 1.0 if worn.colour > 0.5 else -1.0
    top = 1.28 - 0.62 * worn.microphone
    x = 0.22 * side
    skin = canvas.skin
    handle = np.array(
        (
            (x - 0.06, top + 0.1),
            (x + 0.06, top + 0.1),
            (x + 0.14 * side + 0.06, 2.0),
            (x + 0.14 * side - 0.06, 2.0),
        )
    )
    canvas.fill(canvas.around(handle, 0.4), np.array((52.0, 54.0, 60.0)), solid=True)
    ball = ellipse(x, top, 0.165, 0.19)
    canvas.fill(canvas.around(ball, 0.4), np.array((44.0, 46.0, 52.0)), solid=True)
    holes = np.stack(np.meshgrid(np.arange(-2, 3), np.arange(-2, 3)), axis=-1).reshape(-1, 2)
    holes = holes[(holes**2).sum(axis=1) < 7] * (0.055, 0.062) + (x, top)
    canvas.dots(canvas.around(holes, 0.4), np.full(len(holes), 0.013), np.array((96.0, 98.0, 106.0)))
    ring = smooth([(x - 0.13, top + 0.13), (x, top + 0.17), (x + 0.13, top + 0.13)])
    canvas.stroke(canvas.around(ring, 0.4), 0.05, np.array((150.0, 152.0, 158.0)))
    for finger in range(4):
        y = top + 0.34 + 0.115 * finger
        knuckle = ellipse(x + 0.03 * side + 0.02 * finger * side, y, 0.17, 0.068, 20)
        canvas.fill(canvas.around(knuckle, 0.45), colours.shade(skin, 0.95 - 0.02 * finger), solid=True)
        under = smooth([(x - 0.11, y + 0.05), (x + 0.03 * side, y + 0.066), (x + 0.15, y + 0.05)])
        canvas.stroke(canvas.around(under, 0.45), 0.02, colours.shade(skin, 0.6), 0.7)


def _lens(x: float, y: float, wide: float, high: float, roundness: float) -> Points:
    """Outline of a lens, from nearly square to round (a superellipse)."""
    power = 0.45 + 0.55 * roundness
    angle = np.linspace(0, 2 * np.pi, 32, endpoint=False)
    cos, sin = np.cos(angle), np.sin(angle)
    return np.column_stack(
        [x + wide * np.sign(cos) * np.abs(cos) ** power, y + high * np.sign(sin) * np.abs(sin) ** power]
    )
