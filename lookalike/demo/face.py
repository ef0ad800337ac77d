"""The head, the features of the face and the marks on its skin."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from lookalike.demo.canvas import (
    Canvas,
    Colour,
    Points,
    clothes,
    disc,
    ellipse,
    iris_colour,
    lip_colour,
    mirrored,
    mix,
    shade,
    smooth,
    symmetric,
    taper,
)
from lookalike.demo.people import Person


def paint_shoulders(canvas: Canvas) -> None:
    """Neck with the shadow of the chin, shirt with its collar."""
    person = canvas.person
    skin = canvas.skin
    neck, low = person.head.neck, person.head.length
    column = smooth(symmetric([(-neck * 0.7, 0.3), (-neck * 0.96, 1.0), (-neck * 1.25, 1.35), (0.0, 1.6)]))
    canvas.fill(canvas.around(column, -0.06), shade(skin, 0.86), solid=True)
    under = smooth(
        [(-neck * 0.9, 0.7), (-0.3, low + 0.10), (0, low + 0.15), (0.3, low + 0.10), (neck * 0.9, 0.7)]
    )
    canvas.fill(canvas.around(under, 0.0), shade(skin, 0.62), 0.75)
    shirt = clothes(canvas.view.style.clothes)
    neckline = [(-neck * 1.25, 1.16), (-neck * 0.7, 1.34), (0.0, 1.42)]
    body = smooth(symmetric([(-2.0, 1.9), (-1.5, 1.36), *neckline]))
    canvas.fill(canvas.around(body, -0.12), shirt, solid=True)
    collar = smooth(symmetric(neckline))
    canvas.stroke(canvas.around(collar, -0.12), 0.05, shade(shirt, 0.75))


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
    canvas.stroke(ring, 0.022, shade(skin, 0.70), 0.55)
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
    canvas.fill(pixels, shade(skin, 0.93), solid=True)
    canvas.stroke(np.concatenate([pixels, pixels[:2]]), 0.02, shade(skin, 0.66), 0.6)
    fold = smooth(
        [
            (root + 0.02, -0.12 * size),
            (root + 0.07 + out, -0.13 * size),
            (root + 0.08 + out, 0.0),
            (root + 0.03, 0.10 * size),
        ]
    )
    canvas.stroke(canvas.at((fold + middle) * place, -0.12), 0.022, shade(skin, 0.6), 0.6)


# The features of a face: eyes, brows, nose, mouth.

_SIDES = np.array(((-1.0, 1.0), (1.0, 1.0)))
_WHITE = np.array((255.0, 255.0, 255.0))
_EYEBALL = np.array((240.0, 236.0, 232.0))
_DARK = np.array((38.0, 26.0, 26.0))
_TEETH = np.array((246.0, 242.0, 234.0))


def paint_eyes(canvas: Canvas) -> None:
    """Both eyes: white, iris, pupil, highlights, then the lids that cover them, lashes last."""
    person, expression = canvas.person, canvas.view.expression
    eyes = person.eyes
    skin, iris = canvas.skin, iris_colour(person)
    # A smile narrows the eyes from below; the lids close them from above.
    opening = eyes.open * min(max(expression.lids, 0.06), 1.15)
    lower = (
        0.80 * eyes.open * (1 - 0.35 * max(0.0, expression.smile)) * min(1.0, 0.35 + 0.65 * expression.lids)
    )
    gaze = 0.045 * expression.gaze
    x, y, half = eyes.apart, eyes.height, eyes.width
    inner, outer = (x - half, y + 0.4 * eyes.tilt + 0.012), (x + half, y - eyes.tilt)
    top = smooth([inner, (x - 0.45 * half, y - 0.82 * opening), (x + 0.15 * half, y - opening), outer])
    bottom = smooth([inner, (x - 0.35 * half, y + 0.78 * lower), (x + 0.35 * half, y + lower), outer])
    crease = np.add(top, (0.0, -eyes.crease)) - np.outer(np.hanning(len(top)), (0.0, 0.012))
    above = np.concatenate([top, np.add(crease, (0.0, -0.045))[::-1]])
    below = np.concatenate([bottom, np.add(bottom, (0.0, 0.09))[::-1]])
    lashes = np.linspace(0.4, 1.0, len(top)) * eyes.lash
    for side in _SIDES:
        middle = np.array((x * side[0] + gaze, y - 0.008))
        shine, spark = (
            middle + np.array((0.32, -0.36)) * eyes.iris,
            middle + np.array((-0.34, 0.34)) * eyes.iris,
        )
        depths = np.array((0.0, 0.3 * eyes.iris))
        layers: list[tuple[Points, Colour, float]] = [
            (ellipse(x, y - 0.02, half * 1.35, eyes.open + 0.11) * side, shade(skin, 0.80), 0.28),
            (np.concatenate([top, bottom[::-1]]) * side, _EYEBALL, 1.0),
            (disc(middle, eyes.iris), shade(iris, 0.55), 1.0),
            (disc(middle, 0.80 * eyes.iris), iris, 1.0),
            (disc(middle + depths, 0.50 * eyes.iris), shade(iris, 1.5), 0.7),
            (disc(middle, 0.44 * eyes.iris, 16), _DARK, 1.0),
            (disc(shine, 0.27 * eyes.iris, 14), _WHITE, 1.0),
            (disc(spark, 0.13 * eyes.iris, 10), _WHITE, 0.8),
            (np.concatenate([top, np.add(top, (0.0, 0.030))[::-1]]) * side, _DARK, 0.25),
            (above * side, shade(skin, 0.92), 1.0),
            (below * side, shade(skin, 0.97), 1.0),
        ]
        for pixels, (_, colour, alpha) in zip(
            canvas.on_face_each([layer[0] for layer in layers]), layers, strict=True
        ):
            canvas.fill(pixels, colour, alpha)
        lines = canvas.on_face_each([crease * side, bottom * side, top * side])
        canvas.stroke(lines[0], 0.016 * taper(len(crease)), shade(skin, 0.55), 0.7)
        canvas.stroke(lines[1], 0.014, shade(skin, 0.55), 0.6)
        canvas.stroke(lines[2], lashes, _DARK)


def paint_brows(canvas: Canvas) -> None:
    """Both brows, a little darker than the hair."""
    person, lift = canvas.person, canvas.view.expression.brow
    brows, eyes = person.brows, person.eyes
    colour = shade(canvas.hair, 0.72)
    y = eyes.height - brows.above - 0.055 * lift
    start, end = brows.gap, brows.gap + 2 * brows.length
    # Anger pulls the inner end down, wonder lifts it.
    line = smooth(
        [
            (start, y + 0.6 * brows.slant - 0.03 * lift),
            (start + 0.8 * brows.length, y - 0.7 * brows.arch),
            (start + 1.35 * brows.length, y - brows.arch - 0.3 * brows.slant),
            (end, y - brows.slant + 0.055),
        ]
    )
    widths = (
        np.interp(np.linspace(0, 1, len(line)), (0, 0.12, 0.6, 1), (0.55, 1.0, 0.85, 0.12)) * brows.thickness
    )
    for side in _SIDES:
        canvas.stroke(canvas.on_face(line * side, 0.02), widths, colour, 0.92)


def paint_nose(canvas: Canvas) -> None:
    """Bridge, tip, wings; the nose stands out from the face, so it moves more than the rest."""
    person = canvas.person
    nose, skin = person.nose, canvas.skin
    y, lift = nose.base, nose.lift
    # The flank away from the light is darker.
    side = 1.0 if canvas.view.light.across + canvas.view.yaw < 0 else -1.0
    profile = np.array(
        [
            (0.03 * side, -0.20),
            (nose.bridge * 0.55 * side, -0.02),
            (nose.bridge * 0.9 * side, 0.55 * y),
            (nose.width * side, y - 0.01),
        ]
    )
    ridge = np.array([(0.02 * side, y - 0.03), (0.015 * side, 0.5 * y), (0.0, -0.06)])
    flank = np.concatenate(
        [
            canvas.on_face(smooth(profile), np.linspace(0.0, 0.05, 3 * 7 + 1)),
            canvas.on_face(smooth(ridge), np.linspace(lift, 0.05, 2 * 7 + 1)),
        ]
    )
    canvas.fill(flank, shade(skin, 0.74), 0.30)
    wing, up = nose.width, nose.turn
    under = smooth(
        mirrored(
            [
                (0, y + 0.055 - up),
                (0.5 * wing, y + 0.035),
                (wing, y - 0.02),
                (0.55 * wing, y - 0.035),
                (0, y - 0.015),
            ]
        ),
        closed=True,
    )
    # How far the base of the nose stands out, across its width.
    height = np.asarray(lift * np.clip(1 - (under[:, 0] / wing) ** 2, 0, 1), dtype=np.float64)
    canvas.fill(canvas.on_face(under, height), shade(skin, 0.68), 0.55)
    for sign in (-1.0, 1.0):
        nostril = ellipse(
            0.48 * wing * sign, y + 0.014 - 0.5 * up, 0.26 * wing, 0.020 + 0.25 * max(0.0, up), 16
        )
        canvas.fill(canvas.on_face(nostril, 0.55 * lift), shade(skin, 0.30), 0.85)
        curve = smooth([(0.85 * wing, y - 0.095), (1.06 * wing, y - 0.03), (0.80 * wing, y + 0.035)]) * (
            sign,
            1.0,
        )
        canvas.stroke(canvas.on_face(curve, 0.25 * lift), 0.022 * taper(len(curve)), shade(skin, 0.56), 0.8)
    tip = ellipse(-0.015 * side, y - 0.075, nose.tip * 0.62, nose.tip * 0.50, 18)
    canvas.fill(canvas.on_face(tip, lift), np.minimum(shade(skin, 1.15), 255), 0.40)
    gleam = smooth([(-0.012 * side, -0.05), (-0.015 * side, 0.5 * y), (-0.015 * side, y - 0.13)])
    canvas.stroke(
        canvas.on_face(gleam, np.linspace(0.05, 0.85 * lift, len(gleam))), 0.03, shade(skin, 1.15), 0.28
    )


def paint_mouth(canvas: Canvas) -> None:
    """Lips around what shows between them."""
    person, expression = canvas.person, canvas.view.expression
    mouth, red = person.mouth, lip_colour(person)
    smile, talk = expression.smile, expression.talk
    half = mouth.width * (1 + 0.26 * smile - 0.18 * talk)
    y = mouth.height + 0.015 * talk
    end = y - mouth.corner - 0.075 * smile
    gap = 0.16 * talk + 0.055 * max(0.0, smile - 0.45)
    thin = 1 - 0.25 * max(0.0, smile)
    up, down = mouth.upper * thin, mouth.lower * thin
    sag = 0.045 * smile
    parting = [(-half, end), (-0.5 * half, y - 0.2 * gap + sag * 0.6), (0, y - 0.25 * gap + sag)]
    floor = [(-half, end), (-0.5 * half, y + 0.55 * gap + sag * 0.7), (0, y + 0.75 * gap + sag)]
    top = [
        (-half, end),
        (-0.55 * half, y - 0.62 * up - 0.2 * gap + 0.4 * sag),
        (-0.18 * half, y - up - 0.25 * gap),
    ]
    top.append((0, y - up + mouth.bow - 0.25 * gap))
    base = [
        (-half, end),
        (-0.55 * half, y + 0.55 * gap + 0.75 * down + sag * 0.7),
        (0, y + 0.75 * gap + down + sag),
    ]
    seam, tongue, lip, chin = (smooth(symmetric(part)) for part in (parting, floor, top, base))
    shadow = ellipse(0, y + 0.75 * gap + down + sag + 0.055, 0.62 * half, 0.035)
    canvas.fill(canvas.on_face(shadow), shade(canvas.skin, 0.70), 0.38)
    canvas.fill(_between(canvas, tongue, chin), red)
    canvas.fill(_between(canvas, lip, seam), shade(red, 0.86))
    if gap > 0.012:
        canvas.fill(_between(canvas, seam, tongue), np.array((96.0, 34.0, 40.0)))
        teeth = smooth(
            [
                (-0.74 * half, y + sag * 0.5 - 0.1 * gap),
                (0, y + sag - 0.22 * gap),
                (0.74 * half, y + sag * 0.5 - 0.1 * gap),
            ]
        )
        bite = teeth + np.outer(np.hanning(len(teeth)), (0.0, min(0.7 * gap, 0.065)))
        canvas.fill(_between(canvas, teeth, bite), _TEETH)
    else:
        canvas.stroke(canvas.on_face(seam, 0.03), 0.022 * taper(len(seam), 0.5, 0.5), shade(red, 0.45), 0.9)
    gleam = smooth(
        [
            (-0.35 * half, y + gap + 0.45 * down + sag),
            (0, y + gap + 0.5 * down + sag),
            (0.3 * half, y + gap + 0.45 * down + sag),
        ]
    )
    canvas.stroke(
        canvas.on_face(gleam, 0.03), 0.28 * down * taper(len(gleam)), np.minimum(shade(red, 1.45), 255), 0.35
    )
    for sign in (-1.0, 1.0):
        corner = ellipse(half * sign, end, 0.018, 0.018, 10)
        canvas.fill(canvas.on_face(corner), shade(red, 0.5), 0.5)


def _between(canvas: Canvas, above: Points, below: Points) -> Points:
    return canvas.on_face(np.concatenate([above, below[::-1]]), 0.03)


# Marks on the skin: blush, freckles, lines of age.


def paint_marks(canvas: Canvas) -> None:
    """Blush first, then freckles, a mole and lines."""
    person = canvas.person
    skin = canvas.skin
    flush = mix(skin, np.array((214.0, 84.0, 78.0)), 0.55)
    x = 0.43 * person.head.width / 0.74
    spots = [
        ellipse(x, 0.30, 0.20 * grow, 0.14 * grow) * side for side in _SIDES for grow in (1.0, 0.8, 0.55)
    ]
    for spot in canvas.on_face_each(spots):
        canvas.fill(spot, flush, 0.26 * person.skin.blush)
    if person.skin.freckles > 0:
        dots = _freckles(person.number)[: int(45 * person.skin.freckles)]
        dark = shade(mix(skin, np.array((150.0, 80.0, 40.0)), 0.35), 0.82)
        canvas.dots(canvas.on_face(dots[:, :2]), dots[:, 2], dark, 0.7)
    x, y, where = _freckles(person.number + 500_000)[0].tolist()
    if where > 0.0155:
        canvas.fill(canvas.on_face(ellipse(x, y + 0.12, 0.026, 0.026, 10)), shade(skin, 0.38), 0.9)
    _paint_lines(canvas)


def _paint_lines(canvas: Canvas) -> None:
    person = canvas.person
    age = person.skin.age
    dark = shade(canvas.skin, 0.66)
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
