"""Held: a small gallery with everything in it that a gallery can hold, and all that it answers."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from lookalike import FaceSet, Gallery, find, index
from lookalike.gallery import decisions
from lookalike.gallery.media import MediaFile
from tests.gallery.samples import sightings
from tests.small_world import small_world

NAME: Final = "g"
OUTSIDE: Final = FaceSet("outside", small_world(people=2, seed=9)[0][0].faces)
PEOPLE: Final = 5
# Few references, since learning takes longer than all else here.
LEARNT: Final = "learnt:references=3"


class Ready(NamedTuple):
    """What a child needs: a gallery to be copied for each case, and what it answers and tells."""

    folder: Path
    seed: int
    ranked: str
    told: str


def prepare(folder: Path, seed: int) -> Ready:
    """Make the gallery that is copied for each case."""
    (folder / "template").mkdir()
    path = folder / "template" / NAME
    fill(path)
    with Gallery(path) as gallery:
        return Ready(folder, seed, ranked(gallery), told(gallery))


def fill(path: Path, tables: bool = True) -> None:
    """Sets, pictures, sightings, files, pairs, vectors of another model, decisions; tables if asked for."""
    sets = small_world(people=PEOPLE, sets=3, faces=3)[0]
    with Gallery(path, create=True) as gallery:
        for number, one in enumerate(sets[:-2]):
            shown = [b"picture %d of " % face + one.id.encode() for face in range(len(one))]
            gallery.add(FaceSet(one.id, one.faces, one.origin, pictures=shown if number % 2 else ()))
        seen = [
            FaceSet(one.id, one.faces, one.origin, pictures=[b"film"] * 3, sightings=sightings(3))
            for one in sets[-2:]
        ]
        film = MediaFile("0f" * 32, "/films/one.mp4", 10, 1, "video", "{}", "a remark")
        gallery.keep_file(film, seen, apart=[(seen[0].id, seen[1].id)])
        vectors = np.random.default_rng(3).normal(size=(3, 5))
        gallery.describe("another", [(one.id, vectors) for one in sets[:3]])
        decisions.judge(gallery, sets[0].id, [sets[1].id], "same")
        decisions.judge(gallery, sets[0].id, [sets[4].id], "different")
        decisions.name(gallery, [sets[0].id], "Ada Lovelace")
        decisions.name(gallery, [sets[5].id], "Bo Diddley")
        decisions.judge(gallery, sets[8].id, [sets[9].id], "same")
        decisions.undo(gallery)
        if tables:
            ranked(gallery)
            index(gallery, "max_correlation")


def ranked(gallery: Gallery) -> str:
    """What it answers to two queries, to the last bit; and with proxies, whichever stage is usual."""
    found = [find(query, gallery) for query in ("clip-003", OUTSIDE)]
    found.append(find("clip-003", gallery, reranker=LEARNT))
    return json.dumps([one.to_dict() for one in found])


def told(gallery: Gallery) -> str:
    """All that it tells beside that: sets with pictures and sightings, files, pairs, decisions, people."""
    said: list[object] = []
    for set_id in gallery.ids():
        one = gallery.get(set_id, pictures=True)
        pictures = [bytes(each).hex() for each in one.pictures]
        seen = [each.as_text() for each in one.sightings]
        said.append([one.id, one.origin, one.faces.tobytes().hex(), list(one.sources), pictures, seen])
    said += [repr(each) for each in (gallery.files(), gallery.apart(), gallery.contents())]
    # How many faces they have described is counted by an index of the file, which verify compares.
    said += [[one.name, one.dimension, one.is_current] for one in gallery.models()]
    said += [[repr(one) for one in gallery.decisions()], repr(decisions.judged(gallery).people)]
    said += map(list, gallery.listing())
    return json.dumps(said)


def copy(ready: Ready) -> Path:
    """A copy of the gallery with its tables in a new folder; what was there is gone."""
    folder = ready.folder / "work"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ready.folder / "template", folder)
    return folder / NAME


def files(folder: Path) -> list[Path]:
    """All files below a folder, in order."""
    return sorted(path for path in folder.rglob("*") if path.is_file())
