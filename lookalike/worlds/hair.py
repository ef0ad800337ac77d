"""Hair: behind the head, over the forehead, on chin and lip."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lookalike.worlds import colours
from lookalike.worlds.canvas import Canvas
from lookalike.worlds.curves import Points, mirrored, smooth, symmetric, taper
from lookalike.worlds.head import outline, silhouette
from lookalike.worlds.people import Hair

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
    colour = colours.shade(canvas.hair, 0.66)
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
    canvas.fill(np.concatenate([line, line[::-1] + shadow]), colours.shade(canvas.skin, 0.55), 0.45)
    canvas.fill(np.concatenate([rim, line[::-1]]), colour, solid=True)
    _paint_strands(canvas, rim, line, hair)
    if hair.length > _LONG:
        _paint_locks(canvas, hair)


def paint_beard(canvas: Canvas) -> None:
    """Beard along the jaw, moustache below the nose; each as dense as the trait is large."""
    person = canvas.person
    mouth, nose = person.mouth, person.nose
    colour = colours.shade(canvas.hair, 0.85)
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
    dark, light = colours.shade(colour, 0.74), np.minimum(colour * 1.22 + 14, 255)
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
            paths, 0.024 * taper(len(strand)), [colours.shade(colour, by) for by in (0.78, 1.25, 0.8)], 0.5
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
