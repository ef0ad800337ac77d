"""A whole drawn collection: many people, a few films of each, under ids that tell nothing."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from lookalike import disk
from lookalike.errors import BadInput, StorageFailed
from lookalike.worlds.films import check_film, film
from lookalike.worlds.people import draw_person

_COUNT, _ORDER = 5, 6  # spawn keys, apart from those of people and films
_DIGITS: Final = 4


@dataclass(frozen=True, eq=False)
class DrawnSet:
    """One film of a collection, with the name that only evaluation may see.

    Parameters
    ----------
    id : str
        Like ``clip-0042``; its number is shuffled.
    person : int
        Index of the person, for `draw_person`.
    frames : array (n, size, size, 3)
        Red, green, blue bytes.
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
    """Draw a collection film by film, in the order of the ids.

    Parameters
    ----------
    people : int
        How many people; adding some leaves the films of the others as they were, under other ids.
    sets : tuple of int
        Fewest and most films of a person, both included.
    frames, size : int
        Pictures in a film, and their width and height.
    difficulty : float
        From 0 to 1; see `film`.
    seed : int
        Which world.

    Yields
    ------
    DrawnSet
        One film at a time: nothing is drawn before it is asked for.
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
    """Write films as folders of pictures, and who is who beside them.

    Pictures go to ``clips/<id>/<frame>.png``. ``labels.csv`` lies outside ``clips``, so that reading the
    clips never sees it, and comes last: where it is, the collection is complete.

    Parameters
    ----------
    folder : Path
        Made if absent.
    drawn : iterable of DrawnSet
        Films, written as they come.
    """
    labels = []
    try:
        for one in drawn:
            clip = folder / "clips" / one.id
            disk.make_folders(clip)
            digits = max(2, len(str(len(one.frames) - 1)))
            for number, frame in enumerate(one.frames):
                encoded = io.BytesIO()
                Image.fromarray(frame).save(encoded, "PNG", compress_level=4)
                disk.write(clip / f"{number:0{digits}d}.png", encoded.getvalue(), over=True, durable=False)
            labels.append((one.id, one.person))
        disk.make_folders(folder)
        digits = max(2, len(str(max((person for _, person in labels), default=0))))
        text = io.StringIO()
        table = csv.writer(text, lineterminator="\n")
        table.writerow(("set_id", "person"))
        table.writerows((name, f"person-{person:0{digits}d}") for name, person in labels)
        disk.write(folder / "labels.csv", text.getvalue().encode(), over=True)
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
