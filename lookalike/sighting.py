"""Sighting: where in a picture or film a face was seen, and how well."""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lookalike.errors import BadInput

# Left, top, width and height, in pixels.
Box = tuple[float, float, float, float]

# Below these a face is still kept, but marked: what it shows is little to go by.
SMALL = 40.0
UNSURE = 0.75
BLURRED = 0.15
DARK, BRIGHT = 0.12, 0.92
TURNED = 0.6


@dataclass(frozen=True)
class Sighting:
    """One face as it was seen.

    Parameters
    ----------
    box : tuple of four floats
        Left, top, width and height in pixels of the picture or frame, the right way up.
    score : float
        How sure the detector was, from 0 to 1.
    sharpness : float
        From 0, all blur, to 1; see `lookalike.intake.quality`.
    exposure : float
        Mean brightness of the face, from 0 to 1.
    turn : float
        From 0, seen from the front, to 1, seen from the side.
    time : float, optional
        Seconds from the start of the film; none in a photo.
    """

    box: Box
    score: float
    sharpness: float
    exposure: float
    turn: float
    time: float | None = None

    def __post_init__(self) -> None:
        numbers = (*self.box, self.score, self.sharpness, self.exposure, self.turn, self.time or 0.0)
        if len(self.box) != 4 or not all(math.isfinite(number) for number in numbers):
            raise BadInput(f"a sighting is made of finite numbers and a box of four, got {self}")
        object.__setattr__(self, "box", tuple(float(number) for number in self.box))

    @property
    def weaknesses(self) -> tuple[str, ...]:
        """What makes the face little to go by, in words; empty if nothing does."""
        found = {
            "small": min(self.box[2:]) < SMALL,
            "unsure": self.score < UNSURE,
            "blurred": self.sharpness < BLURRED,
            "dark": self.exposure < DARK,
            "bright": self.exposure > BRIGHT,
            "turned": self.turn > TURNED,
        }
        return tuple(word for word, holds in found.items() if holds)

    def as_text(self) -> str:
        """Write it as one line of JSON, with as many digits as mean something."""
        said: dict[str, Any] = asdict(self)
        said["box"] = [round(number, 1) for number in self.box]
        for name in ("score", "sharpness", "exposure", "turn"):
            said[name] = round(said[name], 3)
        said["time"] = None if self.time is None else round(self.time, 3)
        return json.dumps(said, separators=(",", ":"))

    @classmethod
    def from_text(cls, text: str) -> Sighting:
        """Read it back.

        Raises
        ------
        BadInput
            If this is not what `as_text` writes.
        """
        try:
            said = json.loads(text)
            return cls(**{**said, "box": tuple(said["box"])})
        except (ValueError, TypeError, KeyError, AttributeError):
            raise BadInput(f"{text[:80]!r} does not describe a sighting") from None


def box_at(sightings: Sequence[Sighting], time: float) -> Box:
    """Where a face of a film is at a time: between the sightings before and after it, in even motion.

    Parameters
    ----------
    sightings : sequence of Sighting
        One at least, each with its time; before the first and after the last the face stands still.
    time : float
        Seconds from the start of the film.
    """
    ordered = sorted(sightings, key=lambda one: one.time or 0.0)
    place = bisect_left(ordered, time, key=lambda one: one.time or 0.0)
    before, after = ordered[max(0, place - 1)], ordered[min(place, len(ordered) - 1)]
    length = (after.time or 0.0) - (before.time or 0.0)
    share = min(1.0, max(0.0, (time - (before.time or 0.0)) / length)) if length else 0.0
    left, top, width, height = (a + share * (b - a) for a, b in zip(before.box, after.box, strict=True))
    return left, top, width, height


def timecode(seconds: float) -> str:
    """Write a time as people do: hours, minutes, seconds, and tenths."""
    tenths = round(10 * seconds)
    minutes, rest = divmod(tenths, 600)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02d}:{minutes:02d}:{rest // 10:02d}.{rest % 10}"


def seconds(text: str) -> float:
    """Read a time as people write it: 00:01:10, 1:10.5 or 70.

    Raises
    ------
    BadInput
        If it is none.
    """
    if not re.fullmatch(r"(?:\d+:[0-5]?\d:[0-5]?\d|\d+:[0-5]?\d|\d+)(?:\.\d+)?", text.strip(), re.ASCII):
        raise BadInput(f"a time is written as 00:01:10, 1:10 or 70.5 (seconds), got {text!r}")
    total = 0.0
    for piece in text.strip().split(":"):
        total = 60 * total + float(piece)
    return total
