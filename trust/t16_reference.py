"""T16: exact search ranks as thirty lines of plain arithmetic do, on one thread and on two."""

from __future__ import annotations

import hashlib
import json
import math
import random
import time
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from lookalike import FaceSet, Gallery, Ranking, open_search
from lookalike.progress import Track, silent
from lookalike.similarities.max_max import MaxMax
from trust.apart import run_apart
from trust.outcome import Failures, Outcome, share_of

TITLE: Final = (
    "reference: random queries against 30 plain lines, on 1 and on 2 threads: rank by rank, bit by bit"
)
RELEASE: Final = 1_000
LEFT_OUT: Final = "galleries in slices and other engines, which T29 has"
# So many queries of each world.
QUERIES: Final = 20
# Worlds that one number of threads looks at before the other.
TURN: Final = 50
GRID: Final = 2.0**-24
SAME: Final = 2e-7


def run(share: float = 1.0, seed: int = 0, track: Track = silent) -> Outcome:
    """The same worlds on one thread and on two; each child compares itself with the reference."""
    started = time.monotonic()
    worlds = range(max(1, share_of(RELEASE, share) // QUERIES))
    cases, failures, differences = 0, list[str](), Failures("T16")
    # In turns, so that both have looked at the same worlds wherever time runs out.
    for start in range(0, len(worlds), TURN):
        some = worlds[start : start + TURN]
        found = {
            threads: run_apart("T16", __name__, some, seed, track, {"LOOKALIKE_THREADS": threads})
            for threads in ("1", "2")
        }
        wrong = [f"{each} (threads {threads})" for threads, one in found.items() for each in one.failures]
        failures += wrong  # which were told by whoever found them
        done = {one.cases for one in found.values()}
        if len(done) == 1 and found["1"].note != found["2"].note and not wrong:
            differences.append(f"worlds from {some.start} on: one thread and two do not give the same bits")
        cases += QUERIES * min(done)
        if min(done) < len(some):
            break
    failures += differences
    return Outcome("T16", cases, failures, time.monotonic() - started, "each on 1 and on 2 threads")


# The reference: nothing of lookalike in it.


def reference(query: np.ndarray, sets: dict[str, np.ndarray], own: str | None) -> list[tuple[str, float]]:
    """Ids with their scores, best first: the largest cosine of a face of one and a face of the other."""

    def unit(faces: np.ndarray) -> list[list[int]]:
        rows = []
        for face in faces.astype(np.float64).tolist():
            largest = max(abs(each) for each in face)
            scaled = [each / largest for each in face]
            length = math.sqrt(math.fsum(each * each for each in scaled))
            # Whole multiples of the grid, so that products are whole numbers and nothing is rounded.
            rows.append([round(each / length / GRID) for each in scaled])
        return rows

    asked = unit(query)
    found = []
    for name, faces in sets.items():
        if name == own:
            continue
        best = max(sum(a * b for a, b in zip(one, two, strict=True)) for one in asked for two in unit(faces))
        score = max(best * GRID * GRID, -1.0)
        found.append((name, 1.0 if score > 1.0 - SAME else score))
    return sorted(found, key=lambda pair: (-pair[1], pair[0]))


class Ready(NamedTuple):
    """What a child needs."""

    folder: Path
    seed: int


def prepare(folder: Path, seed: int) -> Ready:
    """Nothing is shared by worlds."""
    return Ready(folder, seed)


def world(chance: random.Random) -> list[FaceSet]:
    """Sets of any number of faces, some of which are alike to the bit, under ids in any order."""
    rng = np.random.default_rng(chance.randrange(2**32))
    dimension, count = chance.choice([2, 3, 8, 33, 64]), chance.randint(3, 25)
    centres = rng.normal(size=(chance.randint(1, 5), dimension))
    sets: list[FaceSet] = []
    for id in chance.sample(["a", "B", "ä", "名", *(f"s{n}" for n in range(40))], count):
        if sets and chance.random() < 0.15:
            faces = np.array(chance.choice(sets).faces)  # a tie
        else:
            spread = chance.choice([0.01, 0.5, 2.0])
            faces = centres[chance.randrange(len(centres))] + spread * rng.normal(
                size=(chance.randint(1, 9), dimension)
            )
            faces = faces * chance.choice([1.0, 1e-6, 1e6])
        sets.append(FaceSet(id, faces.astype(np.float32)))
    return sets


def case(ready: Ready, number: int) -> tuple[str | None, str]:
    """One world: queries from within and without, against the reference and against themselves."""
    chance = random.Random(f"{ready.seed} {number}")
    sets = world(chance)
    held = {one.id: np.asarray(one.faces) for one in sets}
    search = open_search(sets, MaxMax(samples=0), "baseline", preparation="none")
    said = []
    for turn in range(QUERIES):
        if turn % 2:
            query: str | FaceSet = chance.choice(sets).id
            faces, own = held[str(query)], str(query)
        else:
            seed = chance.randrange(2**32)
            faces, own = (
                np.random.default_rng(seed).normal(size=(2, sets[0].dimension)).astype(np.float32),
                None,
            )
            query = FaceSet("asked", faces)
        found = search.find(query)
        expected = reference(faces, held, own)
        if wrong := difference(found, expected):
            return f"query {turn} in a world of {len(sets)}: {wrong}", ""
        said.append(found.to_dict())
    # What is learnt has no reference: the bits must be the same on any number of threads, and from a file.
    path = ready.folder / "g"
    for file in ready.folder.glob("g*"):
        _delete(file)
    with Gallery(path, create=True) as gallery:
        for one in sets:
            gallery.add(one)
        stored = open_search(gallery, reranker="learnt:references=2")
        said += [stored.find(query).to_dict() for query in gallery.ids()[:3]]
    return None, hashlib.sha256(json.dumps(said).encode()).hexdigest()


def difference(found: Ranking, expected: list[tuple[str, float]]) -> str:
    """The first rank at which they differ, or nothing."""
    if len(found.ids) != len(expected):
        return f"{len(found.ids)} answers instead of {len(expected)}"
    for rank, (answer, (name, score)) in enumerate(zip(found, expected, strict=True), 1):
        if answer.id != name or answer.score != score:
            return f"rank {rank} is {answer.id!r} with {answer.score!r}, not {name!r} with {score!r}"
    return ""


def _delete(path: Path) -> None:
    if path.is_dir():
        for one in sorted(path.rglob("*"), reverse=True):
            one.rmdir() if one.is_dir() else one.unlink()
        path.rmdir()
    else:
        path.unlink()
