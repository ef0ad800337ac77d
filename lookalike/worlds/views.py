"""View: how one picture is taken of a person who stays the same."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Light:
    """One lamp beside the light that comes from everywhere.

    Parameters
    ----------
    across, up : float
        Where the lamp stands, in degrees: right of the camera, above it.
    strength : float
        Share of the light that comes from the lamp; 0 is flat, 1 leaves black shadows.
    level : float
        How bright the picture is; 1 is well lit.
    warmth : float
        From -1, blue, to 1, orange.
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

    Parameters
    ----------
    yaw, pitch, roll : float
        In degrees: positive turns to the right of the picture, looks down, tilts clockwise.
    shift : tuple of float
        Right and down, as a share of the picture: what imperfect alignment leaves.
    scale : float
        1 is well aligned.
    blur : float
        Standard deviation, as a share of the picture.
    noise : float
        Standard deviation of the grain, in grey levels of 255.
    grain : int
        Which grain.
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
