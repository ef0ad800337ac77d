"""Films: short videos of one person, and whole collections of them under ids that tell nothing.

Between videos of a person much differs: the places with their light, the range of pose, the camera, what is
worn, the hair a little. Within a video the face changes smoothly: from the light and pose of the first place
to those of the second, while one motion leads (turning, nodding, talking, walking past a lamp)
and the others only sway. What is worn stays.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from lookalike import atomic
from lookalike.demo.drawing import check_size, draw_face
from lookalike.demo.people import Expression, Light, Person, Style, View, Worn, draw_person
from lookalike.errors import BadInput, StorageFailed

_FILM: Final = 4  # spawn key that keeps films apart from people
_LEADS: Final = ("yaw", "pitch", "talk", "lamp")
_LEAD_ODDS: Final = (0.45, 0.15, 0.20, 0.20)


def film(
    person: Person, seed: int, set_number: int, frames: int = 8, size: int = 96, difficulty: float = 0.5
) -> NDArray[np.uint8]:
    """One short video of a person: (frames, size, size, 3), red, green, blue bytes.

    It is the same whatever else is filmed. The difficulty goes from 0, a passport office, to 1, a night
    in the street.
    """
    check_film(frames, size, difficulty)
    if seed < 0 or set_number < 0:
        raise BadInput(f"a seed and a set number are 0 or more, got {seed} and {set_number}")
    sequence = np.random.SeedSequence(seed, spawn_key=(_FILM, person.number, set_number))
    views = script(np.random.default_rng(sequence), frames, difficulty)
    return np.stack([draw_face(person, view, size) for view in views])


def check_film(frames: int, size: int, difficulty: float) -> None:
    """Refuse videos that cannot be made."""
    if frames < 1:
        raise BadInput(f"a video has 1 frame or more, got frames {frames}: ask for at least one")
    if not 0 <= difficulty <= 1:
        raise BadInput(f"difficulty lies between 0 and 1, got {difficulty}: 0.5 is the default")
    check_size(size)


def script(rng: np.random.Generator, frames: int, difficulty: float) -> list[View]:
    """Decide what every frame of a video shows."""
    # In the middle of the scale a third of the full range is enough to confuse texture descriptors.
    hard = difficulty * (0.4 + 0.4 * difficulty)
    turn = 4 + 26 * hard
    start, end = _scene(rng, difficulty, hard), _scene(rng, difficulty, hard)
    lead = str(rng.choice(_LEADS, p=_LEAD_ODDS))
    sway = {
        name: _Sway.draw(rng) for name in ("yaw", "pitch", "roll", "talk", "smile", "brow", "gaze", "lamp")
    }
    blink = rng.uniform(0.0, 1.0)
    jitter = rng.standard_normal((frames, 3)) * (0.003 + 0.009 * difficulty)
    grains = rng.integers(0, 2**31, frames).tolist()
    views = []
    for number, time in enumerate(np.linspace(0, 1, frames).tolist()):
        moved = {name: motion.at(time) * (1.0 if name == lead else 0.22) for name, motion in sway.items()}
        scene = _between(start, end, time)
        face = scene.expression
        views.append(
            replace(
                scene,
                yaw=scene.yaw + turn * moved["yaw"],
                pitch=scene.pitch + 0.55 * turn * moved["pitch"],
                roll=scene.roll + 0.25 * turn * moved["roll"],
                shift=(scene.shift[0] + float(jitter[number, 0]), scene.shift[1] + float(jitter[number, 1])),
                scale=scene.scale * (1 + float(jitter[number, 2])),
                light=replace(scene.light, across=scene.light.across + 45 * moved["lamp"]),
                expression=Expression(
                    smile=face.smile + 0.5 * moved["smile"],
                    talk=max(0.0, face.talk + 0.5 * moved["talk"]),
                    brow=0.8 * moved["brow"] + face.brow,
                    lids=0.25 if abs(time - blink) < 0.04 else 1.0 + 0.1 * moved["brow"],
                    gaze=1.5 * moved["gaze"],
                ),
                grain=grains[number],
            )
        )
    return views


@dataclass(frozen=True)
class _Sway:
    """A slow swing, at most once there and back in a video."""

    phase: float
    pace: float

    @classmethod
    def draw(cls, rng: np.random.Generator) -> _Sway:
        return cls(float(rng.uniform(0, 2 * math.pi)), float(rng.uniform(0.35, 0.8)))

    def at(self, time: float) -> float:
        return math.sin(self.phase + 2 * math.pi * self.pace * time)


def _between(start: View, end: View, share: float) -> View:
    """A place on the way from start to end; what is worn, the style and the room stay those of the start."""

    def mixed(a: Any, b: Any) -> Any:
        if isinstance(a, float):
            return a + (b - a) * share
        if isinstance(a, tuple):
            return tuple(mixed(x, y) for x, y in zip(a, b, strict=True))
        return replace(
            a, **{field.name: mixed(getattr(a, field.name), getattr(b, field.name)) for field in fields(a)}
        )

    moving = [field.name for field in fields(start) if field.name not in ("worn", "style", "grain")]
    return replace(start, **{name: mixed(getattr(start, name), getattr(end, name)) for name in moving})


def _scene(rng: np.random.Generator, difficulty: float, hard: float) -> View:
    """Draw what a video has in common; the same draws are made whatever the difficulty, which scales them."""
    z = rng.standard_normal(12).clip(-2, 2).tolist()
    u = rng.uniform(0, 1, 16).tolist()
    # Something is worn in few easy films and in most hard ones.
    glasses = u[0] < 0.55 * difficulty
    hat = u[1] < 0.22 * difficulty
    microphone = u[2] < 0.22 * difficulty
    dark = u[3] < 0.5 * difficulty
    return View(
        yaw=30 * hard * z[0],
        pitch=14 * hard * z[1],
        roll=6 * hard * z[2],
        shift=(0.022 * hard * z[3], 0.022 * hard * z[4]),
        scale=1 + 0.05 * hard * z[5],
        expression=Expression(
            smile=0.25 + 0.8 * hard * (2 * u[4] - 1), talk=0.4 * hard * u[5], brow=0.6 * hard * z[6]
        ),
        light=Light(
            across=-15 * (1 - hard) + 130 * hard * (2 * u[6] - 1),
            up=25 + 40 * hard * (2 * u[7] - 1),
            strength=0.35 + 0.65 * hard * u[8],
            level=1.02 - 0.65 * hard * u[9],
            warmth=0.1 + 1.2 * hard * (2 * u[10] - 1),
        ),
        worn=Worn(
            glasses=float(glasses),
            tint=0.85 if glasses and dark else 0.0,
            roundness=u[11],
            hat=float(hat),
            microphone=(0.45 + 0.45 * u[12]) * microphone,
            colour=u[13],
        ),
        style=Style(
            volume=2 * hard * z[7],
            fringe=2 * hard * z[8],
            part=2 * hard * z[9],
            clothes=u[14],
            room=1 + int(u[15] * 4000),
            clutter=0.8 * hard,
        ),
        blur=0.011 * hard * abs(z[10]),
        # Hardly any grain, as compressed video has: more of it would look alike on every face.
        noise=0.25 + 0.4 * hard * abs(z[11]),
    )


# A whole drawn collection: many people, a few films of each, under ids that tell nothing.

_COUNT, _ORDER = 5, 6  # spawn keys, apart from those of people and films
_DIGITS: Final = 4


@dataclass(frozen=True, eq=False)
class DrawnSet:
    """One video of a collection, with the name that only evaluation may see.

    The number in its id, like ``clip-0042``, is shuffled; the person is an index for `draw_person`; the
    frames are (n, size, size, 3).
    """

    id: str
    person: int
    frames: NDArray[np.uint8]


def draw_collection(
    people: int = 60,
    sets: tuple[int, int] = (1, 5),
    frames: int = 8,
    size: int = 96,
    difficulty: float = 0.5,
    seed: int = 0,
) -> Iterator[DrawnSet]:
    """Draw a collection video by video, in the order of the ids.

    Parameters
    ----------
    people : int
        How many people; adding some leaves the videos of the others as they were, under other ids.
    sets : tuple of int
        Fewest and most videos of a person, both included.
    frames, size : int
        Pictures in a video, and their width and height.
    difficulty : float
        From 0 to 1; see `film`.
    seed : int
        Which world.

    Yields
    ------
    DrawnSet
        One video at a time: nothing is drawn before it is asked for.
    """
    if people < 1:
        raise BadInput(f"a collection has 1 person or more, got people {people}: ask for at least one")
    fewest, most = sets
    if not 1 <= fewest <= most:
        raise BadInput(
            f"sets is a pair (fewest, most) with 1 <= fewest <= most, got {sets}: for instance (1, 5)"
        )
    if seed < 0:
        raise BadInput(f"a seed is 0 or more, got {seed}: any such number names a world")
    check_film(frames, size, difficulty)
    cast = [
        (person, number)
        for person in range(people)
        for number in range(int(_rng(seed, _COUNT, person).integers(fewest, most + 1)))
    ]
    return _films(cast, frames, size, difficulty, seed)


def write_collection(folder: Path, drawn: Iterable[DrawnSet]) -> None:
    """Write videos, as they come, as folders of pictures, and who is who beside them.

    Pictures go to ``clips/<id>/<frame>.png``. ``labels.csv`` lies outside ``clips``, so that reading the
    clips never sees it, and comes last: where it is, the collection is complete.
    """
    labels = []
    try:
        for one in drawn:
            clip = folder / "clips" / one.id
            atomic.make_folders(clip)
            digits = max(2, len(str(len(one.frames) - 1)))
            for number, frame in enumerate(one.frames):
                encoded = io.BytesIO()
                Image.fromarray(frame).save(encoded, "PNG", compress_level=4)
                atomic.write(clip / f"{number:0{digits}d}.png", encoded.getvalue(), over=True, durable=False)
            labels.append((one.id, one.person))
        atomic.make_folders(folder)
        digits = max(2, len(str(max((person for _, person in labels), default=0))))
        text = io.StringIO()
        table = csv.writer(text, lineterminator="\n")
        table.writerow(("set_id", "person"))
        table.writerows((name, f"person-{person:0{digits}d}") for name, person in labels)
        atomic.write(folder / "labels.csv", text.getvalue().encode(), over=True)
    except OSError as problem:
        raise StorageFailed(f"cannot write the drawn collection to {folder}: {problem}") from problem


def _films(
    cast: list[tuple[int, int]], frames: int, size: int, difficulty: float, seed: int
) -> Iterator[DrawnSet]:
    order = _rng(seed, _ORDER, 0).permutation(len(cast)).tolist()
    digits = max(_DIGITS, len(str(len(cast))))
    for number, place in enumerate(order, start=1):
        person, film_number = cast[place]
        pictures = film(draw_person(seed, person), seed, film_number, frames, size, difficulty)
        yield DrawnSet(f"clip-{number:0{digits}d}", person, pictures)


def _rng(seed: int, key: int, number: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(key, number)))
