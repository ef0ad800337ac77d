"""T18: ten minutes of mixed work with the server up: no error, nothing that grows."""

from __future__ import annotations

import os
import random
import statistics
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import httpx
import numpy as np

from lookalike import FaceSet, Gallery, find
from lookalike.errors import LookalikeError
from lookalike.gallery.forget import forget
from lookalike.gallery.verify import verify
from lookalike.progress import Track, silent
from tests.waiting import PATIENCE
from tests.web.asking import fill, picture
from tests.web.test_serve import OURS, serve
from trust.outcome import Failures, Outcome

TITLE: Final = "soak: five minutes of add, find, judge, undo, forget with the server up: no error, no growth"
RELEASE: Final = 0
LEFT_OUT: Final = "hours of it; films and photos"
SECONDS: Final = 300.0
# After this part of the time nothing may grow; but a little, since allocators keep what they had.
WARM: Final = 1 / 3
# In less time than this, everything is the beginning.
WARMING: Final = 60.0
MOST_GROWN: Final = 24 * 2**20
MOST_DESCRIPTORS: Final = 4
SETS: Final = 40


@dataclass
class Seen:
    """What was measured of the server."""

    memory: list[int] = field(default_factory=list)
    descriptors: list[int] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)


def run(share: float = 1.0, seed: int = 0, track: Track = silent) -> Outcome:
    """Work at random until the time is over."""
    started, failures, cases = time.monotonic(), Failures("T18"), 0
    seen, chance = Seen(), random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = fill(Path(folder) / "g.gallery")
        with serve(path, "--port", "0") as (process, base, entry, said):
            with httpx.Client(base_url=base, headers={**OURS, "Origin": base}, timeout=PATIENCE) as client:
                client.get(entry)
                end = time.monotonic() + SECONDS * share
                for _ in track(iter(lambda: time.monotonic() < end, False), "T18", None):
                    cases += 1
                    try:
                        wrong = _step(client, path, chance, cases, seen)
                    except httpx.HTTPError as reason:
                        wrong = f"no answer: {reason!r}"
                    if wrong:
                        failures.append(f"step {cases}: {wrong}")
                    if cases % 5 == 0:
                        _look(process.pid, seen)
            failures += [f"the server said: {line.strip()[:200]}" for line in said if "Ctrl-C" not in line]
        failures += [f"verify: {one.what}" for one in verify(path) if not one.is_harmless]
    if SECONDS * share >= WARMING:
        failures += grown(seen)
    note = ""
    if sixth := len(seen.waits) // 6:
        first, last = (statistics.median(part) for part in (seen.waits[:sixth], seen.waits[-sixth:]))
        note = f"median search {first:.2f} s at first, {last:.2f} s at last"
    return Outcome("T18", cases, failures, time.monotonic() - started, note)


def _step(client: httpx.Client, path: Path, chance: random.Random, number: int, seen: Seen) -> str | None:
    """One piece of work, by the server or beside it."""
    way = chance.choice(["search", "search", "judge", "undo", "add", "forget", "find", "look"])
    if way in ("add", "forget", "find"):
        try:
            with Gallery(path) as gallery:
                _beside(gallery, way, number, chance)
        except LookalikeError as reason:
            return f"{way} failed: {reason}"
        return None
    keys = [one["key"] for one in client.get("/api/sets?limit=200").json()["sets"]]
    one, other = chance.sample(keys, 2)
    if way == "search":
        begun = time.monotonic()
        answer = client.post("/api/searches", json={"set": one})
        seen.waits.append(time.monotonic() - begun)
    elif way == "judge":
        verdict = chance.choice(["same", "different"])
        answer = client.post("/api/judgements", json={"query": one, "targets": [other], "verdict": verdict})
    elif way == "undo":
        answer = client.post("/api/judgements/undo", json={})
    else:
        answer = client.get(chance.choice(["/api/gallery", "/api/people", "/api/judgements", "/api/jobs"]))
    # A contradiction is no error, nor is a set that was forgotten a moment ago.
    return f"{way}: {answer.status_code} {answer.text[:200]}" if answer.status_code >= 500 else None


def _beside(gallery: Gallery, way: str, number: int, chance: random.Random) -> None:
    """What another process of the same user does."""
    ids = gallery.ids()
    if way == "add" or len(ids) < SETS // 2:
        rng = np.random.default_rng(number)
        gallery.add(
            FaceSet(
                f"new-{number}", rng.normal(size=(3, gallery.dimension or 2)), pictures=[picture(number)] * 3
            )
        )
    if way == "forget" or len(ids) > SETS:
        forget(gallery, [chance.choice(ids)])
    if way == "find":
        # One that is there still: another was forgotten a moment ago, if there were many.
        find(chance.choice(gallery.ids()), gallery, reranker="baseline")


def _look(pid: int, seen: Seen) -> None:
    status = Path(f"/proc/{pid}/statm").read_text().split()
    seen.memory.append(int(status[1]) * os.sysconf("SC_PAGE_SIZE"))
    seen.descriptors.append(len(os.listdir(f"/proc/{pid}/fd")))


def grown(seen: Seen) -> list[str]:
    """What grew after the beginning: the median of the last third against that of the second."""
    found: list[str] = []
    measures: tuple[tuple[str, list[int], int], ...] = (
        ("memory", seen.memory, MOST_GROWN),
        ("descriptors", seen.descriptors, MOST_DESCRIPTORS),
    )
    for name, values, most in measures:
        third = round(len(values) * WARM)
        if third < 3:
            continue
        before, after = (statistics.median(part) for part in (values[third : 2 * third], values[2 * third :]))
        if after - before > most:
            found.append(f"{name} grew from {before:,.0f} to {after:,.0f}")
    return found
