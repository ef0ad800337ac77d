"""A small world of descriptors whose right answers are known by construction."""

from __future__ import annotations

import numpy as np

from lookalike import FaceSet


def small_world(
    people: int = 6, sets: int = 3, faces: int = 4, dimension: int = 12, seed: int = 0, spread: float = 0.6
) -> tuple[list[FaceSet], dict[str, str]]:
    """People as points, their sets around them, faces around these; ids do not reveal the person."""
    rng = np.random.default_rng(seed)
    found: list[FaceSet] = []
    labels: dict[str, str] = {}
    numbers = iter(rng.permutation(people * sets))
    for person in range(people):
        centre = rng.normal(size=dimension) + 1.0
        for _ in range(sets):
            clip = centre + spread * rng.normal(size=dimension)
            id = f"clip-{next(numbers):03d}"
            found.append(FaceSet(id, clip + 0.3 * rng.normal(size=(faces, dimension)), origin=f"{id}.mp4"))
            labels[id] = f"person-{person}"
    return found, labels


def chain_world() -> list[FaceSet]:
    """A resembles B and B resembles C, in the same face of B; A hardly resembles C. Two strangers beside."""
    rng = np.random.default_rng(5)
    angles = {"a": (0.0, 10.0), "b": (35.0, 40.0, 45.0), "c": (70.0, 80.0)}
    found = []
    for name, degrees in angles.items():
        turned = np.radians(degrees)
        plane = np.column_stack([np.cos(turned), np.sin(turned)])
        found.append(FaceSet(name, np.hstack([plane, 0.01 * rng.normal(size=(len(plane), 4))])))
    for name in ("x", "y"):
        far = np.hstack([np.zeros((2, 2)), rng.normal(size=(2, 4))])
        found.append(FaceSet(name, far + 0.05 * rng.normal(size=far.shape)))
    return found
