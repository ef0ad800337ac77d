"""A gallery with somebody in it who is to be forgotten, and a search for what is left of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from lookalike import FaceSet, Gallery, index, open_gallery, open_search, registry
from lookalike.faceset import Sighting
from lookalike.gallery import decisions
from lookalike.gallery.media import MediaFile
from tests.small_world import small_world

# Numbers and words that are nowhere else: what is left of them would be found.
MARK = np.array([1234.5678, -8765.4321, 2468.1357], dtype="<f4")
OTHER_MARK = np.array([4321.8765, -5678.1234, 1357.2468], dtype="<f4")
PICTURE = b"\x89PNG a canary picture of somebody"
IDS = ("canary-clip#1", "canary-clip#2")
NAMES = ("Canary Wharf", "Canary Row")
FILE = MediaFile("ca" * 32, "/films/canary/clip.mp4", 10, 1, "video", "canary-settings", "canary-remark")
SIMILARITIES = ("max_max", "max_correlation")


def canary(number: int = 0, dimension: int = 12) -> FaceSet:
    """A set with marks in everything that can be told of it."""
    faces = np.random.default_rng(77 + number).normal(size=(4, dimension)).astype(np.float32)
    faces[:, :3] = MARK
    seen = [Sighting((1234, 567, 89, 10), 0.9, 0.5, 0.4, 0.1, time / 2) for time in range(4)]
    return FaceSet(IDS[number], faces, "/films/canary", ["canary-frame"] * 4, [PICTURE] * 4, seen)


def leaving() -> list[str]:
    """The two sets of the person, and one of a stranger."""
    return [*IDS, small_world(people=4, sets=2)[0][5].id]


def fill(path: Path, tables: bool = True) -> None:
    """A gallery of eight strangers and two sets of the person, with everything that may be known of them."""
    with Gallery(path, create=True) as gallery:
        others = small_world(people=4, sets=2)[0]
        for faceset in others:
            gallery.add(faceset)
        gallery.keep_file(FILE, [canary(0), canary(1)], apart=[(IDS[0], others[0].id)])
        marked = np.random.default_rng(5).normal(size=(4, 5)).astype(np.float32)
        marked[:, :3] = OTHER_MARK
        gallery.describe("another", [(one, marked) for one in IDS])
        decisions.name(gallery, [others[3].id], "Somebody Else")
        decisions.judge(gallery, IDS[0], [others[1].id], "different")
        decisions.undo(gallery)
        decisions.judge(gallery, IDS[0], [IDS[1]], "same")
        person = decisions.name(gallery, [IDS[0]], NAMES[0])
        decisions.rename(gallery, person.number, NAMES[1])
    if tables:
        with open_gallery(path) as gallery:
            for name in SIMILARITIES:
                index(gallery, name)
            open_search(gallery)


def clues(path: Path) -> dict[str, bytes]:
    """Everything that only the person has, in its own words and as each similarity prepares it."""
    found = {
        "picture": PICTURE,
        "mark": MARK.tobytes(),
        "other": OTHER_MARK.tobytes(),
        "box": b"[1234.0,567.0",
    }
    # The words are part of ids, origin, sources, the path, settings and remark of the film, and the names.
    found |= {"word": b"canary", "name": b"Canary"}
    with open_gallery(path) as gallery:
        for name in registry.names("similarities"):
            tables = index(list(gallery.sets()), name)
            for key, array in tables.sets[tables.number(IDS[0])].items():
                rows = array.reshape(len(array), -1) if array.ndim > 1 else array[None]
                if rows.dtype.kind == "f" and rows[0].nbytes >= 16:  # shorter ones are found anywhere
                    found |= {f"{name} {key} {n}": row.tobytes() for n, row in enumerate(rows) if row.any()}
    return found


def traces(folder: Path, clues: dict[str, bytes]) -> dict[str, set[str]]:
    """Files that still know something, with what they know."""
    found = {}
    for path in sorted(folder.rglob("*")):
        content = path.name.encode() + b"\0" + (path.read_bytes() if path.is_file() else b"")
        known = {name for name, clue in clues.items() if clue in content}
        if known:
            found[str(path.relative_to(folder))] = known
    return found
