"""People of numbers, crops, a film and photos to record from: the same on every machine, in a second or two.

Vectors and crops are made of the bytes of a hash by whole numbers alone, and neither by a random generator
nor by floating point: their content hashes, and what is derived from these, are equal everywhere.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from lookalike import FaceSet

# How many clips each person has: most have few, two have many.
CLIPS = (1,) * 10 + (2,) * 7 + (4,) * 5 + (8,) * 2
FACES, DIMENSION = 8, 64
# How much all faces have in common, and how strongly a person, a clip and a single face show in a vector.
COMMON, PERSON, CLIP, FACE = 3, 6, 5, 3
LETTERS = "abcdefgh"


def whole_numbers(name: str, *shape: int) -> NDArray[np.int64]:
    """Numbers that belong to a name, spread about zero as those of a bell curve are."""
    count = int(np.prod(shape))
    digest = hashlib.shake_256(name.encode()).digest(4 * count)
    summed = np.frombuffer(digest, dtype=np.uint8).reshape(count, 4).sum(axis=1, dtype=np.int64)
    return summed.reshape(shape) - 510


def people() -> tuple[list[FaceSet], dict[str, str]]:
    """Sixty clips in no order, and whose they are: ``07b`` is the second clip of person 7."""
    common, sets, labels = whole_numbers("common", DIMENSION), [], {}
    for person, clips in enumerate(CLIPS):
        for letter in LETTERS[:clips]:
            id = f"{person:02d}{letter}"
            centre = COMMON * common + PERSON * whole_numbers(f"person {person}", DIMENSION)
            centre += CLIP * whole_numbers(f"clip {id}", DIMENSION)
            faces = centre + FACE * whole_numbers(f"faces {id}", FACES, DIMENSION)
            sets.append(FaceSet(id, (faces / 1024).astype(np.float32), origin=f"{id}.mp4"))
            labels[id] = f"person {person}"
    sets.sort(key=lambda one: hashlib.sha256(one.id.encode()).digest())
    return sets, labels


def write_people(path: Path, sets: list[FaceSet]) -> None:
    """Write vectors as a source for `add`."""
    np.savez(
        path,
        embeddings=np.concatenate([one.faces for one in sets]).astype(np.float32),
        image_set=np.repeat(np.arange(len(sets)), [len(one) for one in sets]),
        set_names=np.array([one.id for one in sets]),
    )


def write_labels(path: Path, labels: dict[str, str]) -> None:
    """Write who is who, for `evaluate`."""
    path.write_text("set_id,person\n" + "".join(f"{id},{person}\n" for id, person in labels.items()))


def write_crops(folder: Path, people: int = 4, clips: int = 2, frames: int = 3) -> None:
    """Write small pictures of patterns that stand for faces, in a format that nothing compresses."""
    for person in range(people):
        pattern = whole_numbers(f"pattern {person}", 10, 8)
        for clip in range(clips):
            place = folder / f"p{person}" / f"v{clip}"
            place.mkdir(parents=True)
            for frame in range(frames):
                coarse = pattern + whole_numbers(f"crop {person} {clip} {frame}", 10, 8) // 2
                pixels = np.clip(128 + coarse.repeat(3, axis=0).repeat(3, axis=1) // 4, 0, 255)
                Image.fromarray(pixels.astype(np.uint8)).save(place / f"{frame}.bmp")


def write_media(folder: Path) -> None:
    """Draw a short film of three people who never existed, and photos of two."""
    from lookalike.demo.drawing import draw_face
    from lookalike.demo.footage import draw_footage, write_footage
    from lookalike.demo.people import View, draw_person

    film = draw_footage(people=3, seconds=5, rate=10)
    write_footage(folder / "film.mp4", film.frames(), film.rate)
    (folder / "photos").mkdir()
    for person in range(2):
        face = draw_face(draw_person(0, person), View(scale=0.6), 200)
        Image.fromarray(face).save(folder / "photos" / f"{person}.png")
