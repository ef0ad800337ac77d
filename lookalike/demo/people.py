"""People who never existed: what stays the same about a face, and how one picture is taken of it.

Every trait is a number in a stated range. Traits are drawn from a hierarchy: a clan, a family within it,
and the person's own share, so that look-alikes exist by degrees: the members of a family resemble each
other more or less closely, the families of a clan a little, strangers by accident only.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from lookalike.errors import BadInput

FAMILY_SIZE: Final = 4
FAMILIES: Final = 8  # that grow up together: their first members come first, then their second, ...

# What part of a person's variance is their own, by their place in the family: from near twin to cousin.
OWN_SHARE: Final = (0.14, 0.22, 0.34, 0.55)
CLAN_SHARE: Final = 0.20  # part of the remaining variance that a whole clan has in common

_CLAN, _FAMILY, _OWN = 1, 2, 3


def _between(low: float, high: float) -> Any:
    return field(metadata={"low": low, "high": high})


@dataclass(frozen=True)
class Head:
    """The outline of the head, in units of half its height."""

    width: float = _between(0.62, 0.79)
    forehead: float = _between(0.88, 1.02)
    cheek: float = _between(0.93, 1.04)
    jaw: float = _between(0.66, 0.93)
    chin: float = _between(0.16, 0.40)
    length: float = _between(0.90, 1.06)
    ear_size: float = _between(0.75, 1.25)
    ear_out: float = _between(0.00, 0.09)
    neck: float = _between(0.40, 0.58)


@dataclass(frozen=True)
class Eyes:
    """Both eyes, which are mirror images."""

    apart: float = _between(0.29, 0.38)
    height: float = _between(-0.12, 0.02)
    width: float = _between(0.135, 0.195)
    open: float = _between(0.070, 0.125)
    tilt: float = _between(-0.035, 0.045)
    iris: float = _between(0.070, 0.092)
    colour: float = _between(0.0, 1.0)
    crease: float = _between(0.02, 0.07)
    lash: float = _between(0.018, 0.048)


@dataclass(frozen=True)
class Brows:
    """Both brows."""

    above: float = _between(0.14, 0.24)
    thickness: float = _between(0.030, 0.088)
    arch: float = _between(-0.01, 0.075)
    slant: float = _between(-0.045, 0.045)
    length: float = _between(0.19, 0.27)
    gap: float = _between(0.10, 0.17)


@dataclass(frozen=True)
class Nose:
    """The nose."""

    base: float = _between(0.27, 0.42)
    width: float = _between(0.11, 0.205)
    bridge: float = _between(0.05, 0.095)
    lift: float = _between(0.14, 0.30)
    tip: float = _between(0.055, 0.11)
    turn: float = _between(-0.03, 0.04)


@dataclass(frozen=True)
class Mouth:
    """The mouth at rest."""

    height: float = _between(0.57, 0.68)
    width: float = _between(0.19, 0.31)
    upper: float = _between(0.030, 0.085)
    lower: float = _between(0.045, 0.110)
    bow: float = _between(0.0, 0.03)
    corner: float = _between(-0.035, 0.035)
    red: float = _between(0.05, 0.75)


@dataclass(frozen=True)
class Hair:
    """Hair of head, chin and lip; each film changes the style a little."""

    length: float = _between(0.0, 1.0)
    volume: float = _between(0.05, 0.22)
    curl: float = _between(0.0, 1.0)
    fringe: float = _between(0.0, 1.0)
    part: float = _between(-0.42, 0.42)
    line: float = _between(-0.74, -0.54)
    dark: float = _between(0.0, 1.0)
    red: float = _between(-0.9, 0.6)
    beard: float = _between(-1.4, 1.0)
    moustache: float = _between(-1.4, 1.0)


@dataclass(frozen=True)
class Skin:
    """Skin, with what time and sun left on it."""

    tone: float = _between(0.0, 1.0)
    warmth: float = _between(-1.0, 1.0)
    blush: float = _between(0.05, 0.5)
    freckles: float = _between(-1.2, 1.0)
    age: float = _between(0.0, 1.0)


_GROUPS: Final = (Head, Eyes, Brows, Nose, Mouth, Hair, Skin)


@dataclass(frozen=True)
class Person:
    """The identity: everything about a face that no film changes, each trait a plain float.

    The number of the person in the world places freckles and tells films of twins apart.
    """

    number: int
    head: Head
    eyes: Eyes
    brows: Brows
    nose: Nose
    mouth: Mouth
    hair: Hair
    skin: Skin


def draw_person(seed: int, index: int) -> Person:
    """Draw one person of a world; the same whoever else is drawn.

    The first `FAMILIES` people are of different families, their relatives follow: see `family_of`. Every
    trait is uniform in its range over the whole world.
    """
    if seed < 0 or index < 0:
        raise BadInput(f"a person needs a seed and an index of 0 or more, got seed {seed} and index {index}")
    family = family_of(index)
    own = OWN_SHARE[index // FAMILIES % FAMILY_SIZE]
    clan = (1 - own) * CLAN_SHARE
    # Two families that grow up together make a clan.
    clan_number = family // FAMILIES * (FAMILIES // 2) + family % (FAMILIES // 2)
    # Shares of variance sum to one, so each trait stays standard normal before it is spread over its range.
    latent = (
        np.sqrt(clan) * _normals(seed, _CLAN, clan_number)
        + np.sqrt(1 - own - clan) * _normals(seed, _FAMILY, family)
        + np.sqrt(own) * _normals(seed, _OWN, index)
    )
    places = iter(ndtr(latent).tolist())
    groups: list[Any] = [
        kind(
            **{
                trait.name: trait.metadata["low"]
                + (trait.metadata["high"] - trait.metadata["low"]) * next(places)
                for trait in fields(kind)
            }
        )
        for kind in _GROUPS
    ]
    return Person(index, *groups)


def family_of(index: int) -> int:
    """Which family the person with this index belongs to."""
    return index // (FAMILIES * FAMILY_SIZE) * FAMILIES + index % FAMILIES


_TRAITS: Final = sum(len(fields(kind)) for kind in _GROUPS)


def _normals(seed: int, level: int, number: int) -> NDArray[np.float64]:
    sequence = np.random.SeedSequence(seed, spawn_key=(level, number))
    return np.random.default_rng(sequence).standard_normal(_TRAITS)


# View: how one picture is taken of a person who stays the same.


@dataclass(frozen=True)
class Light:
    """One lamp beside the light that comes from everywhere, in degrees right of the camera and above it.

    The strength is its share of the light: 0 is flat, 1 leaves black shadows. A level of 1 is well lit;
    warmth goes from -1, blue, to 1, orange.
    """

    across: float = -20.0
    up: float = 30.0
    strength: float = 0.45
    level: float = 1.0
    warmth: float = 0.1


@dataclass(frozen=True)
class Expression:
    """What the face does: smile (-1..1), talk (0..1), brow (-1..1), lids (0 shut .. 1), gaze (-1..1)."""

    smile: float = 0.3
    talk: float = 0.0
    brow: float = 0.0
    lids: float = 1.0
    gaze: float = 0.0


@dataclass(frozen=True)
class Worn:
    """What hides the face: each 0 (absent) to 1 (fully there)."""

    glasses: float = 0.0
    tint: float = 0.0
    roundness: float = 0.5
    hat: float = 0.0
    microphone: float = 0.0
    colour: float = 0.0


@dataclass(frozen=True)
class Style:
    """What a person changes between films: hair (about -1..1 each), clothes, room, its clutter (0..1)."""

    volume: float = 0.0
    fringe: float = 0.0
    part: float = 0.0
    clothes: float = 0.55
    room: int = 0
    clutter: float = 1.0


@dataclass(frozen=True)
class View:
    """One picture: pose, light, expression, what is worn, the camera's faults.

    In degrees, yaw, pitch and roll turn to the right of the picture, look down, tilt clockwise. The
    shift, right and down as shares of the picture, and the scale are what imperfect alignment leaves. The
    blur is a standard deviation as a share of the picture, the noise one of the grain, in grey levels of
    255.
    """

    yaw: float = 0.0
    pitch: float = 0.0
    roll: float = 0.0
    shift: tuple[float, float] = (0.0, 0.0)
    scale: float = 1.0
    light: Light = field(default_factory=Light)
    expression: Expression = field(default_factory=Expression)
    worn: Worn = field(default_factory=Worn)
    style: Style = field(default_factory=Style)
    blur: float = 0.0
    noise: float = 0.0
    grain: int = 0
