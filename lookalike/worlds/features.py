"""The features of a face: eyes, brows, nose, mouth."""

from __future__ import annotations

import numpy as np

from lookalike.worlds import colours
from lookalike.worlds.canvas import Canvas
from lookalike.worlds.curves import Points, disc, ellipse, mirrored, smooth, symmetric, taper

_SIDES = (np.array((-1.0, 1.0)), np.array((1.0, 1.0)))
_WHITE = np.array((255.0, 255.0, 255.0))
_EYEBALL = np.array((240.0, 236.0, 232.0))
_DARK = np.array((38.0, 26.0, 26.0))
_TEETH = np.array((246.0, 242.0, 234.0))


def paint_eyes(canvas: Canvas) -> None:
    """Both eyes: white, iris, pupil, highlights, then the lids that cover them, lashes last."""
    person, expression = canvas.person, canvas.view.expression
    eyes = person.eyes
    skin, iris = canvas.skin, colours.iris(person)
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
        layers: list[tuple[Points, colours.Colour, float]] = [
            (ellipse(x, y - 0.02, half * 1.35, eyes.open + 0.11) * side, colours.shade(skin, 0.80), 0.28),
            (np.concatenate([top, bottom[::-1]]) * side, _EYEBALL, 1.0),
            (disc(middle, eyes.iris), colours.shade(iris, 0.55), 1.0),
            (disc(middle, 0.80 * eyes.iris), iris, 1.0),
            (disc(middle + depths, 0.50 * eyes.iris), colours.shade(iris, 1.5), 0.7),
            (disc(middle, 0.44 * eyes.iris, 16), _DARK, 1.0),
            (disc(shine, 0.27 * eyes.iris, 14), _WHITE, 1.0),
            (disc(spark, 0.13 * eyes.iris, 10), _WHITE, 0.8),
            (np.concatenate([top, np.add(top, (0.0, 0.030))[::-1]]) * side, _DARK, 0.25),
            (above * side, colours.shade(skin, 0.92), 1.0),
            (below * side, colours.shade(skin, 0.97), 1.0),
        ]
        for pixels, (_, colour, alpha) in zip(
            canvas.on_face_each([layer[0] for layer in layers]), layers, strict=True
        ):
            canvas.fill(pixels, colour, alpha)
        lines = canvas.on_face_each([crease * side, bottom * side, top * side])
        canvas.stroke(lines[0], 0.016 * taper(len(crease)), colours.shade(skin, 0.55), 0.7)
        canvas.stroke(lines[1], 0.014, colours.shade(skin, 0.55), 0.6)
        canvas.stroke(lines[2], lashes, _DARK)


def paint_brows(canvas: Canvas) -> None:
    """Both brows, a little darker than the hair."""
    person, lift = canvas.person, canvas.view.expression.brow
    brows, eyes = person.brows, person.eyes
    colour = colours.shade(canvas.hair, 0.72)
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
    canvas.fill(flank, colours.shade(skin, 0.74), 0.30)
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
    height = _forward(under[:, 0], wing, lift)
    canvas.fill(canvas.on_face(under, height), colours.shade(skin, 0.68), 0.55)
    for sign in (-1.0, 1.0):
        nostril = ellipse(
            0.48 * wing * sign, y + 0.014 - 0.5 * up, 0.26 * wing, 0.020 + 0.25 * max(0.0, up), 16
        )
        canvas.fill(canvas.on_face(nostril, 0.55 * lift), colours.shade(skin, 0.30), 0.85)
        curve = smooth([(0.85 * wing, y - 0.095), (1.06 * wing, y - 0.03), (0.80 * wing, y + 0.035)]) * (
            sign,
            1.0,
        )
        canvas.stroke(
            canvas.on_face(curve, 0.25 * lift), 0.022 * taper(len(curve)), colours.shade(skin, 0.56), 0.8
        )
    tip = ellipse(-0.015 * side, y - 0.075, nose.tip * 0.62, nose.tip * 0.50, 18)
    canvas.fill(canvas.on_face(tip, lift), np.minimum(colours.shade(skin, 1.15), 255), 0.40)
    gleam = smooth([(-0.012 * side, -0.05), (-0.015 * side, 0.5 * y), (-0.015 * side, y - 0.13)])
    canvas.stroke(
        canvas.on_face(gleam, np.linspace(0.05, 0.85 * lift, len(gleam))),
        0.03,
        colours.shade(skin, 1.15),
        0.28,
    )


def paint_mouth(canvas: Canvas) -> None:
    """Lips around what shows between them."""
    person, expression = canvas.person, canvas.view.expression
    mouth, red = person.mouth, colours.lips(person)
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
    canvas.fill(canvas.on_face(shadow), colours.shade(canvas.skin, 0.70), 0.38)
    canvas.fill(_between(canvas, tongue, chin), red)
    canvas.fill(_between(canvas, lip, seam), colours.shade(red, 0.86))
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
        canvas.stroke(
            canvas.on_face(seam, 0.03), 0.022 * taper(len(seam), 0.5, 0.5), colours.shade(red, 0.45), 0.9
        )
    gleam = smooth(
        [
            (-0.35 * half, y + gap + 0.45 * down + sag),
            (0, y + gap + 0.5 * down + sag),
            (0.3 * half, y + gap + 0.45 * down + sag),
        ]
    )
    canvas.stroke(
        canvas.on_face(gleam, 0.03),
        0.28 * down * taper(len(gleam)),
        np.minimum(colours.shade(red, 1.45), 255),
        0.35,
    )
    for sign in (-1.0, 1.0):
        corner = ellipse(half * sign, end, 0.018, 0.018, 10)
        canvas.fill(canvas.on_face(corner), colours.shade(red, 0.5), 0.5)


def _between(canvas: Canvas, above: Points, below: Points) -> Points:
    return canvas.on_face(np.concatenate([above, below[::-1]]), 0.03)


def _forward(x: Points, wing: float, lift: float) -> Points:
    """How far the base of the nose stands out, across its width."""
    return np.asarray(lift * np.clip(1 - (x / wing) ** 2, 0, 1), dtype=np.float64)
