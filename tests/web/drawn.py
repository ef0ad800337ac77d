"""Drawn collections for tests of the page: people who never existed, crops of clips and a film with times."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image

from lookalike import FaceSet
from lookalike.demo.drawing import draw_face
from lookalike.demo.films import draw_collection, write_collection
from lookalike.demo.footage import draw_footage, write_footage
from lookalike.demo.people import View, draw_person
from lookalike.gallery.gallery import Gallery
from lookalike.ingest.add import add


def drawn_gallery(folder: Path, people: int = 24, film: float = 0.0, seed: int = 3) -> Path:
    """A gallery of clips of some people, and of so many seconds of a film, if any."""
    write_collection(folder, draw_collection(people, sets=(2, 5), difficulty=0.4, seed=seed))
    path = folder / "drawn.gallery"
    add(path, [folder / "clips"], cropped=True)
    if film:
        shown = folder / "street.mp4"
        write_footage(shown, draw_footage(seconds=film, rate=10.0, seed=seed).frames(), 10.0)
        add(path, [shown], descriptor="lbp", cropped=False)
    return path


def wide_gallery(folder: Path, sets: int = 2000) -> Path:
    """A gallery of many small sets; their pictures are few, their descriptors are noise."""
    rng = np.random.default_rng(0)
    pictures = [drawn_photo(number, 48) for number in range(20)]
    path = folder / "wide.gallery"
    with Gallery(path, create=True) as gallery:
        for number in range(sets):
            faces = rng.normal(size=(2, 16))
            gallery.add(FaceSet(f"clip-{number:05d}", faces, pictures=[pictures[number % 20]] * 2))
    return path


def drawn_photo(person: int, size: int = 400, seed: int = 3) -> bytes:
    """A photo of a drawn person, as the bytes of a JPEG file."""
    face = draw_face(draw_person(seed, person), View(), size)
    held = BytesIO()
    Image.fromarray(face).save(held, "JPEG", quality=92)
    return held.getvalue()
