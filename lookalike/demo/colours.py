"""Colours of skin, hair, eyes, lips from the traits that decide them."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from lookalike.demo.people import Person

Colour = NDArray[np.float64]


def _palette(*stops: tuple[int, int, int]) -> NDArray[np.float64]:
    return np.array(stops, dtype=np.float64)


_SKIN: Final = _palette(
    (250, 214, 190),
    (243, 198, 166),
    (232, 182, 142),
    (212, 156, 114),
    (178, 122, 84),
    (140, 92, 64),
    (108, 70, 52),
)
_HAIR: Final = _palette(
    (232, 200, 132), (190, 145, 88), (128, 86, 54), (84, 55, 38), (52, 38, 34), (34, 30, 36)
)
_IRIS: Final = _palette(
    (84, 52, 32),
    (112, 70, 36),
    (128, 100, 50),
    (92, 128, 84),
    (74, 132, 158),
    (96, 142, 192),
    (110, 120, 140),
)
_CLOTHES: Final = _palette(
    (64, 84, 130),
    (60, 120, 122),
    (196, 88, 74),
    (232, 178, 84),
    (236, 232, 224),
    (122, 90, 140),
    (54, 58, 68),
)
_RED: Final = np.array((168.0, 74.0, 36.0))
_GREY: Final = np.array((196.0, 192.0, 190.0))
_LIPS: Final = np.array((190.0, 62.0, 72.0))


def skin(person: Person) -> Colour:
    """Colour of the skin in white light."""
    return _pick(_SKIN, person.skin.tone**1.35) + np.array((3.0, -1.0, -6.0)) * person.skin.warmth


def hair(person: Person) -> Colour:
    """Colour of the hair: dark hair is likelier over dark skin, grey comes with age."""
    traits = person.hair
    dark = min(1.0, 0.12 + 0.75 * traits.dark + 0.5 * person.skin.tone)
    colour = mix(_pick(_HAIR, dark), _RED, max(0.0, traits.red) * (1.2 - dark))
    return mix(colour, _GREY, max(0.0, person.skin.age - 0.72) * 3.0)


def iris(person: Person) -> Colour:
    """Colour of the iris: brown is likelier over dark skin."""
    return _pick(_IRIS, person.eyes.colour * (1.0 - 0.85 * person.skin.tone))


def lips(person: Person) -> Colour:
    """Colour of the lips, between skin and red."""
    return mix(shade(skin(person), 0.80), _LIPS, 0.30 + 0.55 * person.mouth.red)


def clothes(place: float) -> Colour:
    """Colour of a shirt or a hat, for a place from 0 to 1 among a few friendly ones."""
    return _pick(_CLOTHES, place % 1.0)


def shade(colour: Colour, by: float) -> Colour:
    """Return a darker (below 1) or lighter (above 1) version of a colour."""
    return np.minimum(colour * by, 255.0)


def mix(a: Colour, b: Colour, share: float) -> Colour:
    """Return a colour on the way from a to b."""
    share = min(max(share, 0.0), 1.0)
    return a * (1 - share) + b * share


def _pick(palette: NDArray[np.float64], place: float) -> Colour:
    at = min(max(place, 0.0), 1.0) * (len(palette) - 1)
    below = min(int(at), len(palette) - 2)
    return mix(palette[below], palette[below + 1], at - below)
