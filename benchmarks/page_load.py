"""Load: many clients ask the page at once while sets are being added; failed and wrong answers are counted.

An answer is wrong if it is not what `retrieval.find` gives on the sets that were searched. They are added
in a known order, so their number tells which; each such gallery is made anew afterwards, and asked the same.
"""

from __future__ import annotations

import asyncio
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from benchmarks.page_galleries import draw_sets, keep, make_gallery
from benchmarks.served import HEADERS, PATIENCE, Served
from lookalike import FaceSet, Gallery, open_search

TOP = 20
# So many sets are added at a time, as if a short film had been taken in.
TOGETHER = 5
# Of every client's requests one in so many only looks: at a list of sets, or at a page.
LOOKS = 5

Seen = dict[tuple[int, str], list[tuple[str, float]]]  # sets in the gallery, query -> ids and scores


@dataclass
class Load:
    """What happened: how long each search took, what went wrong, and all answers to be checked."""

    seconds: list[float] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    seen: Seen = field(default_factory=dict)
    changed: int = 0  # two answers to one question on one version that differ
    asked: int = 0
    versions: set[tuple[str, int]] = field(default_factory=set)  # with how many sets each was searched


def run_load(clients: int, seconds: float, sets: int, added: int) -> dict[str, float | int | str]:
    """Ask for so long with so many clients while sets are added to a gallery of `sets` sets; count."""
    everything = list(draw_sets(sets + added))
    with tempfile.TemporaryDirectory() as folder:
        path = make_gallery(Path(folder) / "load.gallery", everything[:sets])
        with Gallery(path) as gallery:
            open_search(gallery)
        load, over = Load(), threading.Event()
        with Served(path) as served:
            keys = served.keys(min(sets, 200))
            served.search(next(iter(keys.values())), top=TOP)
            adder = threading.Thread(target=_add, args=(path, everything, sets, seconds, over), daemon=True)
            adder.start()
            try:
                asyncio.run(_ask(served, keys, clients, seconds, load))
            finally:
                over.set()
                adder.join()
            complaints = "".join(served.complaints)
        with Gallery(path) as gallery:
            grown = len(gallery) - sets
        wrong = _wrong(everything, load, Path(folder))
    times = sorted(load.seconds)
    return {
        "clients": clients,
        "seconds": seconds,
        "requests": load.asked,
        "searches": len(times),
        "failed": len(load.failed),
        "wrong": wrong + load.changed,
        "versions": len(load.versions),
        "sets_added": grown,
        "median_seconds": times[len(times) // 2] if times else 0.0,
        "slowest_seconds": times[-1] if times else 0.0,
        "failures": "; ".join(f"{n} x {what}" for what, n in Counter(load.failed).most_common(3)),
        "complaints": "\n".join(complaints.splitlines()[1:])[-500:],
    }


def _add(path: Path, everything: list[FaceSet], start: int, seconds: float, over: threading.Event) -> None:
    """Add what is left, a few at a time, as another program would."""
    steps = max(1, (len(everything) - start) // TOGETHER)
    with Gallery(path) as gallery:
        for place in range(start, len(everything), TOGETHER):
            if over.wait(0.8 * seconds / steps):
                return
            keep(gallery, everything[place : place + TOGETHER])


async def _ask(served: Served, keys: dict[str, str], clients: int, seconds: float, load: Load) -> None:
    end = time.monotonic() + seconds
    cookies = dict(served.client.cookies)
    limits = httpx.Limits(max_connections=clients, max_keepalive_connections=clients)
    async with httpx.AsyncClient(
        base_url=served.base, headers=HEADERS, cookies=cookies, timeout=PATIENCE, limits=limits
    ) as client:
        await asyncio.gather(*(_one(client, number, keys, end, load) for number in range(clients)))


async def _one(client: httpx.AsyncClient, number: int, keys: dict[str, str], end: float, load: Load) -> None:
    """One client: search after search for sets of its own, and now and then a look around."""
    ids, turn = list(keys), 0
    while time.monotonic() < end:
        turn += 1
        load.asked += 1
        query = ids[(7 * number + turn) % len(ids)]
        began = time.monotonic()
        try:
            if turn % LOOKS == 0:
                place = "/api/sets?limit=50" if turn % (2 * LOOKS) else f"/sets/{keys[query]}"
                (await client.get(place)).raise_for_status()
                continue
            answer = await client.post("/api/searches", json={"set": keys[query], "top": TOP})
            answer.raise_for_status()
        except httpx.HTTPError as error:
            load.failed.append(f"{type(error).__name__}: {str(error)[:120]}")
            continue
        load.seconds.append(time.monotonic() - began)
        told = answer.json()
        found = [(one["set"]["id"], one["score"]) for one in told["answers"]]
        sets = told["sets"] + 1  # with the query
        load.versions.add((told["version"], sets))
        load.changed += load.seen.setdefault((sets, query), found) != found


def _wrong(everything: list[FaceSet], load: Load, folder: Path) -> int:
    """How many answers differ from what `find` says of a new gallery with as many sets, the first ones."""
    wrong = 0
    for version, count in sorted(load.versions):
        asked = [(query, found) for (sets, query), found in load.seen.items() if sets == count]
        with Gallery(make_gallery(folder / f"{count}.gallery", everything[:count])) as gallery:
            search = open_search(gallery)
        wrong += search.tables.fingerprint != version
        rankings = search.find_many([query for query, _ in asked], TOP)
        for (_, found), ranking in zip(asked, rankings, strict=True):
            wrong += [(answer.id, answer.score) for answer in ranking] != found
    return wrong
