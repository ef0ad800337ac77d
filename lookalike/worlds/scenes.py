"""Scenes: who is where at which moment of a drawn film, before anything is drawn.

A film repeats seven scenes, with a hard cut to another room between them. Each asks something else of whoever
follows faces: see `SCENES`. Places are shares of the picture's width and height; times are seconds from the
start of the scene.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

HIDDEN: Final = 0.4  # seconds for which a passing pillar hides more than half of a face
AWAY: Final = 2.68  # seconds for which more than half of a face that leaves is out of the picture

_SPEED: Final = 0.3125  # widths a second of a face that leaves: half gone 0.3 s after it touches the edge
_CORNER: Final = 0.15  # seconds before and after a turn of the path in which a face changes its direction
_SCRIPT: Final = 7  # spawn key, apart from those of people, films and collections


@dataclass(frozen=True)
class Take:
    """One person in one scene.

    Parameters
    ----------
    person : int
        Index for `draw_person`.
    width : float
        Of the face, in pixels of a picture 640 wide and 360 high.
    path : tuple of (time, across, down)
        Where the middle of the face passes.
    """

    person: int
    width: float
    path: tuple[tuple[float, float, float], ...]

    def places(self, times: NDArray[np.float64]) -> NDArray[np.float64]:
        """Middle of the face (n, 2) at each time: along the path, round its corners."""
        knots = np.array(self.path)
        near = times[:, None] + np.linspace(-_CORNER, _CORNER, 9)
        return np.stack([np.interp(near, knots[:, 0], line).mean(axis=1) for line in knots.T[1:]], axis=1)


@dataclass(frozen=True)
class Pillar:
    """Something that passes before a face: at `across` at `time`, `width` as of a `Take`."""

    time: float
    across: float
    width: float

    @property
    def speed(self) -> float:
        """How fast it passes, so that it hides the middle of a face for `HIDDEN` seconds."""
        return self.width / HIDDEN


@dataclass(frozen=True)
class Scene:
    """What one shot shows: people, a camera that pans so many widths a second, what passes before them."""

    takes: tuple[Take, ...]
    pan: float = 0.0
    pillar: Pillar | None = None


@dataclass(frozen=True)
class Shot:
    """A scene in its film: in which room, from which frame to before which."""

    scene: Scene
    room: int
    first: int
    end: int


Cast = Callable[[], int]


def _alone(who: Cast, end: float) -> Scene:
    return Scene((Take(who(), 128, ((0, 0.34, 0.46), (end, 0.60, 0.49))),))


def _pair(who: Cast, end: float) -> Scene:
    left = Take(who(), 104, ((0, 0.27, 0.48), (end, 0.31, 0.45)))
    return Scene((left, Take(who(), 116, ((0, 0.74, 0.44), (end, 0.70, 0.47)))))


def _leaving(who: Cast, end: float) -> Scene:
    stay, edge, outside = 0.30, 0.25, -0.20
    way = (edge - outside) / _SPEED
    goes = 0.15 * end
    back = goes + edge / _SPEED + AWAY + outside / _SPEED
    path = (
        (0.0, stay, 0.46),
        (goes, edge, 0.46),
        (goes + way, outside, 0.46),
        (back, outside, 0.46),
        (back + way, edge, 0.46),
        (end, stay, 0.46),
    )
    return Scene((Take(who(), 110, path),))


def _hidden(who: Cast, end: float) -> Scene:
    return Scene((Take(who(), 92, ((0, 0.50, 0.45), (end, 0.50, 0.47))),), pillar=Pillar(end / 2, 0.5, 124))


def _panned(who: Cast, end: float) -> Scene:
    return Scene((Take(who(), 120, ((0, 0.60, 0.47), (end, 0.42, 0.47))),), pan=0.15)


def _empty(who: Cast, end: float) -> Scene:
    return Scene(())


def _passing(who: Cast, end: float) -> Scene:
    above = Take(who(), 82, ((0, 0.15, 0.28), (end, 0.85, 0.26)))
    return Scene((above, Take(who(), 84, ((0, 0.85, 0.76), (end, 0.15, 0.76)))))


# What each scene asks, with the seconds that it needs at least: one face; two at once; one that leaves for
# longer than 2 s, two tracks; one hidden for less than half a second, one track; a moving room that is no
# cut; nobody; two that pass one another at different heights.
SCENES: Final[Mapping[str, tuple[Callable[[Cast, float], Scene], float]]] = {
    "alone": (_alone, 2.2),
    "pair": (_pair, 2.5),
    "leaving": (_leaving, 6.2),
    "hidden": (_hidden, 2.4),
    "panned": (_panned, 2.6),
    "empty": (_empty, 1.2),
    "passing": (_passing, 2.9),
}
SHORTEST: Final = SCENES["alone"][1]


def shots(people: int, seconds: float, rate: float, seed: int) -> list[Shot]:
    """Write the script of a film.

    Parameters
    ----------
    people : int
        How many there are to choose from.
    seconds : float
        As many scenes as fit are played, each prolonged so that the film is full.
    rate : float
        Frames a second.
    seed : int
        Who plays which scene.

    Returns
    -------
    list of Shot
        In order, without gaps.
    """
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_SCRIPT,)))
    plan: list[tuple[Callable[[Cast, float], Scene], float]] = []
    order = list(SCENES.values())
    while sum(least for _, least in plan) + order[len(plan) % len(order)][1] <= seconds + 1e-6:
        plan.append(order[len(plan) % len(order)])
    stretch = seconds / sum(least for _, least in plan)
    waiting: list[int] = []
    last = -1

    def who() -> int:
        # Everybody once, in an order that chance decides, before anybody plays again; nobody twice running,
        # since the two may be in one scene.
        nonlocal last
        if not waiting:
            waiting.extend(rng.permutation(people).tolist())
        last = waiting.pop(0 if waiting[-1] == last else -1)
        return last

    made: list[Shot] = []
    clock = 0.0
    for number, (write, least) in enumerate(plan):
        scene = write(who, least * stretch)
        if number // len(order) % 2:
            scene = _mirrored(scene)
        first, clock = round(clock * rate), clock + least * stretch
        made.append(Shot(scene, number, first, round(clock * rate)))
    return made


def _mirrored(scene: Scene) -> Scene:
    """Return the scene with left and right exchanged, so that a long film shows more than a short one."""
    takes = tuple(
        replace(take, path=tuple((time, 1 - across, down) for time, across, down in take.path))
        for take in scene.takes
    )
    return replace(scene, takes=takes, pan=-scene.pan)
