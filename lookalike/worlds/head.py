"""The head without its features: shoulders, neck, ears, outline of the face."""

from __future__ import annotations

import numpy as np

from lookalike.worlds import colours
from lookalike.worlds.canvas import Canvas
from lookalike.worlds.curves import Points, mirrored, smooth, symmetric
from lookalike.worlds.people import Person


def paint_shoulders(canvas: Canvas) -> None:
    """Neck with the shadow of the chin, shirt with its collar."""
    person = canvas.person
    skin = canvas.skin
    neck, low = person.head.neck, person.head.length
    column = smooth(symmetric([(-neck * 0.7, 0.3), (-neck * 0.96, 1.0), (-neck * 1.25, 1.35), (0.0, 1.6)]))
    canvas.fill(canvas.around(column, -0.06), colours.shade(skin, 0.86), solid=True)
    under = smooth(
        [(-neck * 0.9, 0.7), (-0.3, low + 0.10), (0, low + 0.15), (0.3, low + 0.10), (neck * 0.9, 0.7)]
    )
    canvas.fill(canvas.around(under, 0.0), colours.shade(skin, 0.62), 0.75)
    shirt = colours.clothes(canvas.view.style.clothes)
    neckline = [(-neck * 1.25, 1.16), (-neck * 0.7, 1.34), (0.0, 1.42)]
    body = smooth(symmetric([(-2.0, 1.9), (-1.5, 1.36), *neckline]))
    canvas.fill(canvas.around(body, -0.12), shirt, solid=True)
    collar = smooth(symmetric(neckline))
    canvas.stroke(canvas.around(collar, -0.12), 0.05, colours.shade(shirt, 0.75))


def paint_head(canvas: Canvas) -> None:
    """Ears and face: an ear that turns to the camera lies before the face, the other behind it."""
    yaw = canvas.view.yaw
    for side in (-1.0, 1.0):
        if side * yaw >= -4:
            _paint_ear(canvas, side)
    face = silhouette(canvas, outline(canvas.person))
    skin = canvas.skin
    canvas.fill(face, skin, solid=True)
    ring = np.concatenate([face, face[:2]])
    canvas.stroke(ring, 0.022, colours.shade(skin, 0.70), 0.55)
    for side in (-1.0, 1.0):
        if side * yaw < -4:
            _paint_ear(canvas, side)


def outline(person: Person) -> Points:
    """Outline of the face from the front, crown to chin."""
    head = person.head
    width = head.width
    half = [
        (0.0, -1.02),
        (0.56 * width * head.forehead, -0.93),
        (0.93 * width * head.forehead, -0.58),
        (width * (0.5 + 0.5 * head.forehead), -0.12),
        (width * head.cheek * 0.97, 0.26),
        (width * (0.25 + 0.75 * head.jaw), 0.56 * (0.4 + 0.6 * head.length)),
        (head.chin + 0.10, 0.90 * head.length),
        (head.chin * 0.45, 0.99 * head.length),
        (0.0, head.length),
    ]
    return smooth(mirrored(half), closed=True, steps=6)


def silhouette(canvas: Canvas, points: Points) -> Points:
    """Pixels of an outline of the head: chin and cheeks lie further forward than the crown."""
    forward = 0.13 + 0.13 * np.clip(points[:, 1], -0.7, 0.9)
    return canvas.around(points, forward)


def _paint_ear(canvas: Canvas, side: float) -> None:
    head = canvas.person.head
    skin = canvas.skin
    size, out = head.ear_size, head.ear_out
    root = head.width * 0.95
    shape = smooth(
        [
            (root - 0.02, -0.17 * size),
            (root + 0.07 + out, -0.22 * size),
            (root + 0.13 + 1.2 * out, -0.10 * size),
            (root + 0.10 + out, 0.08 * size),
            (root + 0.05 + 0.4 * out, 0.20 * size),
            (root - 0.02, 0.17 * size),
        ],
        closed=True,
    )
    place = (side, 1.0)
    middle = np.array((0.0, 0.06))  # ears hang a little below the middle of the head
    pixels = canvas.at((shape + middle) * place, -0.12)
    canvas.fill(pixels, colours.shade(skin, 0.93), solid=True)
    canvas.stroke(np.concatenate([pixels, pixels[:2]]), 0.02, colours.shade(skin, 0.66), 0.6)
    fold = smooth(
        [
            (root + 0.02, -0.12 * size),
            (root + 0.07 + out, -0.13 * size),
            (root + 0.08 + out, 0.0),
            (root + 0.03, 0.10 * size),
        ]
    )
    canvas.stroke(canvas.at((fold + middle) * place, -0.12), 0.022, colours.shade(skin, 0.6), 0.6)
