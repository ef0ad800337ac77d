"""Hair, and what is worn before the face."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lookalike.demo.canvas import Canvas, Points, clothes, ellipse, mirrored, shade, smooth, symmetric, taper
from lookalike.demo.face import outline, silhouette
from lookalike.demo.people import Hair

_BALD = 0.10  # hair shorter than this is only a shadow on the skull
_LONG = 0.52  # hair longer than this falls below the ears


def styled(canvas: Canvas) -> Hair:
    """The person's hair as worn in this film."""
    hair, style = canvas.person.hair, canvas.view.style
    return replace(
        hair,
        volume=max(0.03, hair.volume + 0.035 * style.volume),
        fringe=min(1.0, max(0.0, hair.fringe + 0.22 * style.fringe)),
        part=hair.part + 0.14 * style.part,
    )


def paint_hair_behind(canvas: Canvas) -> None:
    """What falls behind neck and cheeks."""
    hair, width = styled(canvas), canvas.person.head.width
    if hair.length < _BALD:
        return
    colour = shade(canvas.hair, 0.66)
    out = width + 0.15 * hair.volume
    low = 0.10
    if hair.length > _LONG:
        low = 0.45 + 2.0 * (hair.length - _LONG)
        out = width + 0.10 + 0.8 * hair.volume
    half = [
        (0.0, -1.0),
        (out * 0.85, -0.7),
        (out * 1.02, -0.1),
        (out * 1.06, 0.5 * low),
        (out * 0.92, low),
        (0.0, low + 0.04),
    ]
    shape = smooth(mirrored(half), closed=True)
    shape = _curled(shape, hair.curl, 0.05)
    canvas.fill(canvas.around(shape, -0.05), colour, solid=True)


def paint_hair_before(canvas: Canvas) -> None:
    """Cap of hair from the hairline to above the crown, combed from the parting."""
    hair = styled(canvas)
    colour = canvas.hair
    if hair.length < _BALD:
        skull = outline(canvas.person)
        skull = skull[skull[:, 1] < -0.15]
        skull = silhouette(canvas, skull[np.argsort(np.arctan2(skull[:, 0], -skull[:, 1]))])
        canvas.fill(np.concatenate([skull, _hairline(canvas, hair)[::-1]]), colour, 0.16)
        return
    rim, line = _rim(canvas, hair.volume, hair), _hairline(canvas, hair)
    shadow = canvas.unit * np.array((0.0, 0.035))
    canvas.fill(np.concatenate([line, line[::-1] + shadow]), shade(canvas.skin, 0.55), 0.45)
    canvas.fill(np.concatenate([rim, line[::-1]]), colour, solid=True)
    _paint_strands(canvas, rim, line, hair)
    if hair.length > _LONG:
        _paint_locks(canvas, hair)


def paint_beard(canvas: Canvas) -> None:
    """Beard along the jaw, moustache below the nose; each as dense as the trait is large."""
    person = canvas.person
    mouth, nose = person.mouth, person.nose
    colour = shade(canvas.hair, 0.85)
    # Beards and long hair seldom meet, so that the people of a world look like a crowd and not like wizards.
    rare = 1.0 if person.hair.length < _LONG else 0.0
    beard, moustache = person.hair.beard * rare, person.hair.moustache * rare
    smile = canvas.view.expression.smile
    if beard > 0:
        width, edge = person.head.width, outline(person)
        jaw = edge[edge[:, 1] > 0.16]
        jaw = jaw[np.argsort(np.arctan2(jaw[:, 0], jaw[:, 1]))]
        open_to = mouth.width + 0.10 + 0.05 * smile
        inner = -smooth(
            symmetric(
                [
                    (-0.94 * width, -0.08),
                    (-0.84 * width, -0.33),
                    (-0.60 * width, -0.53),
                    (-open_to, 0.02 - mouth.height),
                    (-0.75 * mouth.width, -0.17 - mouth.height),
                    (0.0, -0.20 - mouth.height),
                ]
            )
        )
        edge = silhouette(canvas, jaw * (1.0, 1.0 + 0.09 * beard))
        # Three thin coats, each reaching a little further in, give a soft border.
        for coat in (1.0, 0.95, 0.90):
            reach = inner * (coat, 1.0) + (0.0, 0.5 * (1 - coat))
            canvas.fill(
                np.concatenate([edge, canvas.on_face(reach)]),
                colour,
                min(0.6, 0.10 + 0.6 * beard),
                solid=True,
            )
    if moustache > 0:
        top, low = nose.base + 0.075, mouth.height - mouth.upper + 0.01
        wide = mouth.width * (1.0 + 0.15 * smile)
        half = [
            (0.0, top + 0.01),
            (0.5 * wide, top + 0.015),
            (1.05 * wide, low + 0.055),
            (0.5 * wide, low + 0.01),
            (0.0, low - 0.01),
        ]
        shape = smooth(mirrored(half), closed=True)
        canvas.fill(canvas.on_face(shape, 0.04), colour, min(0.95, 0.35 + 0.9 * moustache))


def _rim(canvas: Canvas, volume: float, hair: Hair) -> Points:
    """Pixels of the outer edge of the hair, from the left temple over the crown to the right one."""
    head = canvas.person.head
    width = head.width
    ear = -0.02 if hair.length > 0.25 else -0.16
    side, tall = 0.45 * volume, 0.9 * volume
    points = smooth(
        [
            (-width * 0.985, ear),
            (-width - side, -0.34),
            (-0.80 * width * head.forehead - side, -0.80 - 0.55 * tall),
            (-0.36 * width + 0.3 * hair.part, -1.00 - tall),
            (0.36 * width + 0.3 * hair.part, -1.00 - tall),
            (0.80 * width * head.forehead + side, -0.80 - 0.55 * tall),
            (width + side, -0.34),
            (width * 0.985, ear),
        ],
        steps=7,
    )
    return silhouette(canvas, _curled(points, hair.curl, 0.05 * min(1.0, 8 * volume), closed=False))


def _hairline(canvas: Canvas, hair: Hair) -> Points:
    """Pixels of the lower edge of the hair, from the left temple over the forehead to the right one."""
    width, part = canvas.person.head.width, hair.part
    line = hair.line + 0.30 * max(0.0, hair.fringe - 0.35) / 0.65
    curtain = 0.14 * (1 - hair.fringe)  # without a fringe the hairline rises to the parting
    ear = -0.02 if hair.length > 0.25 else -0.16
    points = smooth(
        [
            (-width * 0.985, ear),
            (-width * 0.90, -0.26),
            (-width * 0.74, line + 0.16 * (1 + part)),
            (0.5 * (part - 0.5 * width), line + 0.02),
            (part, line - curtain),
            (0.5 * (part + 0.5 * width), line + 0.02),
            (width * 0.74, line + 0.16 * (1 - part)),
            (width * 0.90, -0.26),
            (width * 0.985, ear),
        ],
        steps=6,
    )
    # Near the temples the hair lies on the silhouette, over the forehead on the front of the head.
    near = np.clip((np.abs(points[:, 0]) / width - 0.72) / 0.26, 0, 1)[:, None]
    return near * silhouette(canvas, points) + (1 - near) * canvas.on_face(points)


def _paint_strands(canvas: Canvas, rim: Points, line: Points, hair: Hair) -> None:
    colour = canvas.hair
    crown = canvas.around([(hair.part, -1.0 - 0.75 * hair.volume)], 0.05)[0]
    dark, light = shade(colour, 0.74), np.minimum(colour * 1.22 + 14, 255)
    wave = canvas.unit * 0.035 * hair.curl
    share = np.linspace(0.05, 0.95, 13)
    end = line[(share * (len(line) - 1)).astype(int)][:, None]
    over = rim[(share * (len(rim) - 1)).astype(int)][:, None]
    start = crown + 0.45 * (over - crown) * (1.0, 0.6)
    bend = 0.6 * over + 0.4 * end
    t = np.linspace(0, 1, 10)[:, None]
    swing = wave * np.sin(9 * t) * (1.0, 0.4)
    paths = (1 - t) ** 2 * start + 2 * t * (1 - t) * bend + t**2 * end + swing * t
    canvas.strokes(paths, 0.030 * taper(10), (dark, light, dark), 0.30)


def _paint_locks(canvas: Canvas, hair: Hair) -> None:
    """Long hair falls before the ears on both sides."""
    width = canvas.person.head.width
    colour = canvas.hair
    low = 0.35 + 2.0 * (hair.length - _LONG)
    out = width + 0.10 + 0.8 * hair.volume
    for side in (-1.0, 1.0):
        shape = smooth(
            [
                (width * 0.80, -0.66),
                (out * 0.98, -0.45),
                (out * 1.06, 0.1),
                (out * 1.06, 0.6 * low),
                (out * 0.88, low),
                (width * 0.88, 0.75 * low),
                (width * 0.98, 0.3 * low),
                (width * 0.95, -0.15),
            ],
            closed=True,
        )
        shape = _curled(shape, hair.curl, 0.035) * (side, 1.0)
        canvas.fill(silhouette(canvas, shape), colour, solid=True)
        strand = smooth([(-0.02, -0.4), (0.0, 0.1), (0.02, 0.5 * low), (-0.04, 0.92 * low)])
        strand = strand + np.outer(np.sin(np.linspace(0, 14, len(strand))), (0.03 * hair.curl, 0))
        places = width * 0.96 + np.array((0.25, 0.5, 0.75)) * (out * 1.04 - width * 0.96)
        strands = np.concatenate([np.add(strand, (place, 0.0)) * (side, 1.0) for place in places.tolist()])
        paths = silhouette(canvas, strands).reshape(3, -1, 2)
        canvas.strokes(
            paths, 0.024 * taper(len(strand)), [shade(colour, by) for by in (0.78, 1.25, 0.8)], 0.5
        )


def _curled(shape: Points, curl: float, height: float, closed: bool = True) -> Points:
    """Edge with round curls, as high as the hair is curly."""
    if curl < 0.45:
        return shape
    dense = np.repeat(shape, 2, axis=0)
    dense[1::2] += 0.5 * (np.roll(shape, -1, axis=0) - shape)
    if not closed:
        dense = dense[:-1]
    x, y = dense[:, 0], dense[:, 1] + 0.2
    way = np.cumsum(np.hypot(np.diff(x, prepend=x[0]), np.diff(y, prepend=y[0])))
    bumps = np.abs(np.sin(11 * way)) * (1.6 * height * (curl - 0.45) / 0.55)
    # Curls point away from the middle of the head.
    return dense + np.column_stack([x, y]) * (bumps / (np.hypot(x, y) + 1e-9))[:, None]


# What is worn before the face: glasses, a hat with its shadow, a microphone held in a hand.

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
    cloth = clothes(worn.colour * 0.9)
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
        canvas.stroke(silhouette(canvas, seam), 0.018, shade(cloth, 0.7), 0.8)
    rim = [(-0.80 * width, -0.50), (-0.62 * width, -0.36), (0.0, -0.30)]
    brim = smooth([*symmetric(rim), (0.45 * width, -0.66), (-0.45 * width, -0.66)], closed=True)
    canvas.fill(canvas.on_face(brim, 0.28), shade(cloth, 0.80), solid=True)
    edge = smooth(symmetric(rim))
    canvas.stroke(canvas.on_face(edge, 0.28), 0.03, shade(cloth, 0.6))


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
        canvas.fill(canvas.around(knuckle, 0.45), shade(skin, 0.95 - 0.02 * finger), solid=True)
        under = smooth([(x - 0.11, y + 0.05), (x + 0.03 * side, y + 0.066), (x + 0.15, y + 0.05)])
        canvas.stroke(canvas.around(under, 0.45), 0.02, shade(skin, 0.6), 0.7)


def _lens(x: float, y: float, wide: float, high: float, roundness: float) -> Points:
    """Outline of a lens, from nearly square to round (a superellipse)."""
    power = 0.45 + 0.55 * roundness
    angle = np.linspace(0, 2 * np.pi, 32, endpoint=False)
    cos, sin = np.cos(angle), np.sin(angle)
    return np.column_stack(
        [x + wide * np.sign(cos) * np.abs(cos) ** power, y + high * np.sign(sin) * np.abs(sin) ** power]
    )
