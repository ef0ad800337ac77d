"""Galleries for the page: films that never were, with times and a picture of every face, in the thousands."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

import numpy as np
from PIL import Image

from benchmarks.embeddings import draw_faces, draw_people
from lookalike import FaceSet, Gallery
from lookalike.demo.films import film
from lookalike.demo.people import draw_person
from lookalike.faceset import Sighting
from lookalike.gallery.media import MediaFile

DESCRIPTOR = "drawn, 128 numbers"
DIMENSION = 128
# Sets of one film, which are kept together.
IN_A_FILM = 100
# So many pictures are drawn, and shown again and again: what a picture shows takes no time.
PICTURES = 24


def draw_sets(count: int, faces: int = 10, dimension: int = DIMENSION) -> Iterator[FaceSet]:
    """Sets of short descriptors with times and pictures, as `add` makes them of films."""
    pictures = _pictures()
    for number, drawn in enumerate(draw_faces(draw_people(count), faces, dimension)):
        place, start = number % IN_A_FILM, 6.0 * (number % IN_A_FILM)
        name = f"film-{number // IN_A_FILM:04d}.mp4"
        times = start + 0.4 * np.arange(faces)
        yield FaceSet(
            f"{name}#{place + 1:03d}",
            drawn,
            origin=name,
            sources=[f"{name} at {time:.1f} s" for time in times],
            pictures=[pictures[(number + face) % PICTURES] for face in range(faces)],
            sightings=[Sighting((40, 30, 90, 110), 0.97, 0.5, 0.5, 0.1, float(time)) for time in times],
        )


def make_gallery(path: Path, sets: Iterable[FaceSet]) -> Path:
    """A gallery of such sets at the path, made if it is not there; whoever is killed leaves none behind."""
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"unfinished-{path.name}")
    for left in path.parent.glob(f"{unfinished.name}*"):
        left.unlink()
    with Gallery(unfinished, create=True) as gallery:
        for _, some in groupby(sets, key=lambda one: one.origin):
            keep(gallery, list(some))
    unfinished.rename(path)
    return path


def keep(gallery: Gallery, sets: list[FaceSet]) -> None:
    """Keep the sets of one film, all in one step."""
    name = f"{sets[0].origin} {sets[0].id} {len(sets)}"
    content = hashlib.sha256(name.encode()).hexdigest()
    gallery.keep_file(MediaFile(content, sets[0].origin, 1, 1, "video"), sets, descriptor=DESCRIPTOR)


def _pictures() -> list[bytes]:
    encoded = []
    for number in range(PICTURES):
        file = io.BytesIO()
        [frame] = film(draw_person(0, number), 0, 0, frames=1)
        Image.fromarray(frame).save(file, "JPEG", quality=80)
        encoded.append(file.getvalue())
    return encoded
