"""Cuts and people of real films, as seen by eye: where the films lie, when they are cut, who is where.

The films are not part of the project: `LOOKALIKE_DATA` names the folder that holds ``films``. People have
letters, from film to film anew, and are known by where they are seen and when (``people_by_eye.csv``).
"""

from __future__ import annotations

import csv
import os
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

FILMS = Path(os.environ.get("LOOKALIKE_DATA", Path(__file__).parents[2] / "shared" / "data")) / "films"
PEOPLE = Path(__file__).with_name("people_by_eye.csv")

# Seconds at the first frame of every shot but the first. The dissolve of asia.mp4 at 60 seconds is no cut.
CUTS: dict[str, tuple[float, ...]] = {
    "asia.mp4": (
        *(4.92, 6.09, 7.34, 8.76, 10.39, 11.72, 14.10, 15.31, 16.68, 18.06, 19.77, 20.94, 26.61, 27.49),
        *(29.70, 30.61, 31.61, 33.12, 34.16, 35.99, 37.79, 39.08, 39.62, 41.50, 43.00, 45.13, 46.21, 47.80),
        *(49.05, 56.14, 57.97, 58.68, 61.39, 63.02, 64.94, 69.19, 73.57, 78.12),
    ),
    "friends.mp4": (2.20, 4.90, 7.67),
    "goldeneye.mp4": (3.75, 8.76),
    "hamilton.mp4": (0.67, 2.74, 7.04),
    "street.mp4": (),
}
# Of these, cuts within one dim room that version 0.10 did not tell.
DIM: dict[str, tuple[float, ...]] = {
    "asia.mp4": (6.09, 7.34, 27.49, 29.70, 34.16),
    "friends.mp4": CUTS["friends.mp4"],
}
# Shots of one scene, a file each, that follow each other; files in between hold sound only. All these joins
# are cuts by eye. From 09 to 11 the same man is seen, from a little further left, and somebody beside him.
SCENE = "scene"
SHOTS = (1, 2, 3, 4, 6, 7, 8, 9, 11, 12, 13, 14, 16, 17, 18, 20)

# A face further from where somebody is known to be, in hundredths of the frame, is nobody's that is listed.
FAR = 12.0
# Seconds before and after, for looks at other times than those of the table.
BESIDE = 0.25


def scene_files() -> list[Path]:
    """The files of the scene, in order."""
    return [FILMS / SCENE / f"shot{number:02d}.mp4" for number in SHOTS]


def is_there() -> bool:
    """Whether the films lie where they are looked for."""
    return all(path.is_file() for path in (*(FILMS / name for name in CUTS), *scene_files()))


@dataclass(frozen=True)
class Course:
    """Where one person is seen through one shot.

    Parameters
    ----------
    person : str
        A letter.
    points : sequence of tuples of float
        Seconds, and the middle of the face from the left and from the top in hundredths of the frame; in
        between it moves evenly.
    """

    person: str
    points: Sequence[tuple[float, float, float]]

    def distance(self, time: float, across: float, down: float) -> float:
        """How far a place is from the face at a time; infinite where the shot is another."""
        times, xs, ys = np.array(self.points).T
        if not times[0] - BESIDE <= time <= times[-1] + BESIDE:
            return float("inf")
        return float(np.hypot(np.interp(time, times, xs) - across, np.interp(time, times, ys) - down))


def courses(film: str) -> list[Course]:
    """Everybody who is listed for a film, a course for each shot."""
    rows: dict[str, list[dict[str, str]]] = defaultdict(list)
    with PEOPLE.open(newline="") as stream:
        for row in csv.DictReader(stream):
            if row["film"] == film:
                rows[row["course"]].append(row)
    return [
        Course(
            some[0]["person"],
            [(float(one["seconds"]), float(one["across"]), float(one["down"])) for one in some],
        )
        for some in rows.values()
    ]


def person_at(known: Sequence[Course], cuts: Sequence[float], time: float, across: float, down: float) -> str:
    """The letter of who is seen at a time and place; empty where nobody is listed.

    Parameters
    ----------
    known : sequence of Course
        Of the film.
    cuts : sequence of float
        Seconds at which shots begin: who is listed for another shot is not meant.
    time, across, down : float
        Seconds, and hundredths of the frame.
    """
    shot = np.searchsorted(cuts, time + 0.01)
    near = [one for one in known if np.searchsorted(cuts, one.points[0][0] + 0.01) == shot]
    nearest = min(near, key=lambda one: one.distance(time, across, down), default=None)
    if nearest is None or nearest.distance(time, across, down) > FAR:
        return ""
    return nearest.person
