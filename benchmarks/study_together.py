"""How often photos of one person are taken for one: what `search.photo_query` and `may_be_same` rest on.

Everybody of ``ytf_frames`` is asked for with a photo from each of three videos, drawn anew many times; then
one of the three is of somebody else, then all are of different people. Everybody of ``photos/album`` is asked
for with all photos. ``--data`` is the folder that holds both, which is not part of the project.
"""

from __future__ import annotations

import argparse
import csv
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.real_faces import DATA
from lookalike.descriptors.contract import Descriptor
from lookalike.ingest.describe import choose_descriptor
from lookalike.ingest.files import find_files
from lookalike.ingest.seen import Settings
from lookalike.search.photo_query import Pictured, agree
from lookalike.search.query import Several
from lookalike.search.question import look_at

DRAWS = 20
ASKED = 3


def pictured(part: Descriptor, folder: Path) -> list[Pictured]:
    """Every photo below a folder that shows a face."""
    files = find_files(folder).media
    seen = look_at(part, files, Settings()).by_file
    return [
        Pictured(str(file.path.relative_to(folder)), sorted(people, key=lambda one: one.sightings[0].box))
        for file, people in zip(files, seen, strict=True)
        if people
    ]


def taken(photos: Sequence[Pictured], least: float | None) -> set[str]:
    """The photos that are asked with; none if they are refused."""
    try:
        return {name for name, *_ in agree(photos, least).taken}
    except Several:
        return set()


def of_videos(
    photos: Sequence[Pictured], least: float | None, draws: int = DRAWS, seed: int = 0
) -> Counter[str]:
    """How often questions of three photos end how; photos are called PERSON/VIDEO/FRAME."""
    people: dict[str, dict[str, list[Pictured]]] = {}
    for one in photos:
        person, video, _ = one.name.split("/")
        people.setdefault(person, {}).setdefault(video, []).append(one)
    chance, found = random.Random(seed), Counter[str]()

    def draw(person: str, count: int) -> list[Pictured]:
        videos = chance.sample(sorted(people[person]), count)
        return [chance.choice(people[person][video]) for video in videos]

    for person in sorted(people) * draws:
        mine = draw(person, min(ASKED, len(people[person])))
        strangers = chance.sample(sorted(people.keys() - {person}), ASKED - 1)
        others = [draw(each, 1)[0] for each in strangers]
        asked = taken(mine, least)
        mixed, different = taken([*mine[:2], others[0]], least), taken([mine[0], *others], least)
        found["questions"] += 1
        found["asked"] += bool(asked)
        found["asked with all"] += len(asked) == len(mine)
        found["stranger left out"] += mixed == {one.name for one in mine[:2]}
        found["stranger taken"] += others[0].name in mixed
        found["different people refused"] += not different
    return found


def of_album(photos: Sequence[Pictured], truth: Path, least: float | None) -> dict[str, tuple[int, int]]:
    """Of each person of the album, how many of the photos are asked with, and how many there are."""
    with truth.open(newline="") as lines:
        who = {row["file"].removeprefix("album/"): row["person"] for row in csv.DictReader(lines)}
    people = {person: [one for one in photos if who[one.name] == person] for person in set(who.values())}
    return {name: (len(taken(own, least)), len(own)) for name, own in sorted(people.items()) if own}


def shares(photos: Sequence[Pictured], least: float) -> tuple[float, float]:
    """Of pairs of photos, how many stay below: of different people, and of one person in other videos."""
    alone = [one for one in photos if len(one.people) == 1]
    faces = np.stack([one.people[0].faces[0] for one in alone]).astype(np.float64)
    faces /= np.linalg.norm(faces, axis=1, keepdims=True)
    person, video = (np.array([one.name.split("/")[place] for one in alone]) for place in (0, 1))
    same, below = person[:, None] == person, faces @ faces.T < least
    return float(below[~same].mean()), float(below[same & (video[:, None] != video)].mean())


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--descriptor", default="sface")
    given = parser.parse_args()
    part = choose_descriptor(None, given.descriptor, None)
    frames = pictured(part, given.data / "ytf_frames")
    if part.may_be_same is not None:
        others, own = shares(frames, part.may_be_same)
        print(f"below {part.may_be_same}: {others:.3f} of different people, {own:.3f} of one in other videos")
    found = of_videos(frames, part.may_be_same)
    for what, count in found.items():
        print(f"{what}: {count}" + ("" if what == "questions" else f" ({count / found['questions']:.3f})"))
    album = pictured(part, given.data / "photos" / "album")
    for person, (asked, there) in of_album(
        album, given.data / "photos" / "truth.csv", part.may_be_same
    ).items():
        print(f"{person}: {asked} of {there} photos")


if __name__ == "__main__":
    main()
