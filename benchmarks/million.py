"""Million: a gallery of very many sets, made, indexed and asked as a user would, foretold from smaller ones.

``python -m benchmarks.million 30000 100000 1000000`` makes a gallery of each size in
``bench-results/million``, says before it is indexed what that will take by the sizes that were indexed there
earlier, indexes it and asks 40 of its sets. Whoever is interrupted goes on where that was. Times are those of
the processor, of all threads, so that whoever else uses the machine disturbs little.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bench_memory import peak
from benchmarks.embeddings import draw_faces, draw_people
from benchmarks.page_galleries import DESCRIPTOR
from lookalike import FaceSet, Gallery, Search, index, train
from lookalike.gallery.media import MediaFile
from lookalike.indexing.fit import open_shortlist
from lookalike.kernels.neighbours import pairs_reaching
from lookalike.kernels.rounded import LEFT, Left, Rounded
from lookalike.method.proxies import MEANS_RUN, MEANS_RUNS
from lookalike.progress import Task

FACES, DIMENSION, TOP = 5, 128, 100
ASKED, ASKED_OF_ALL = 40, 5
IN_A_FILM = 500
KEPT = Path("bench-results") / "million"


def make(path: Path, count: int) -> None:
    """Add the sets that the gallery lacks, a film at a time."""
    films = enumerate(_films(count))
    with Gallery(path, create=not path.exists()) as gallery:
        for number, sets in islice(films, len(gallery) // IN_A_FILM, None):
            content = hashlib.sha256(b"%d" % number).hexdigest()
            file = MediaFile(content, f"film-{number:05d}.mp4", 1, 1, "video")
            named = [FaceSet(f"{number:05d}#{place:03d}", faces) for place, faces in enumerate(sets)]
            gallery.keep_file(file, named, descriptor=DESCRIPTOR)


def _films(count: int) -> Iterator[list[Any]]:
    drawn = draw_faces(draw_people(count), FACES, DIMENSION)
    while some := list(islice(drawn, IN_A_FILM)):
        yield some


def foretell(count: int) -> dict[str, float]:
    """Seconds of the processor for an index: those of each set as earlier ones took, and of each pair.

    Preparing, finishing and keeping a set take the same at any size. What a pair takes is too little to be
    told from smaller galleries, so it is measured here.
    """
    known = [told for told in map(_told, KEPT.glob("*.json")) if "index_seconds" in told]
    known = [told for told in known if told["sets"] < count]
    if not known:
        return {}
    pair = _seconds_of_a_pair()
    each = [(told["index_seconds"] - pair * told["sets"] ** 2 / 2) / told["sets"] for told in known]
    foretold = float(np.mean(each)) * count + pair * count**2 / 2
    return {"index_seconds_foretold": foretold, "nanoseconds_a_pair": 1e9 * pair}


def _seconds_of_a_pair(times: int = 200) -> float:
    """The product of two means, and a look at it."""
    count = MEANS_RUNS * MEANS_RUN
    means = np.random.default_rng(4).standard_normal((count, DIMENSION)) / DIMENSION
    rounded, floors = Rounded.of(means, LEFT, [slice(None)]), np.full(count, 2**30, dtype=np.int32)
    left, room = Left.of(rounded.rows(0)[:MEANS_RUN]), np.empty((2, MEANS_RUN * count), dtype=np.int64)

    def once() -> None:
        pairs_reaching(left.products(rounded.blocks[0]), floors[:MEANS_RUN], floors, MEANS_RUN, room)

    once()
    start = time.process_time()
    for _ in range(times):
        once()
    return (time.process_time() - start) / (times * MEANS_RUN * count)


def indexed(path: Path, count: int) -> dict[str, Any]:
    """Index the gallery; what was told before it began, and what it took."""
    told: dict[str, Any] = foretell(count)

    def before(task: Task) -> None:
        if task.need is not None:
            told["gigabytes_stated"] = task.need.memory / 1e9
        # Written before the work begins.
        _tell(count, **told)
        print(f"{task.words}; {told}", file=sys.stderr, flush=True)

    start = time.process_time()
    earlier = _told(KEPT / f"{count}.json").get("interrupted_seconds", 0.0)
    try:
        with Gallery(path) as gallery:
            tables = index(gallery, before=before)
    except BaseException:
        _tell(count, interrupted_seconds=earlier + time.process_time() - start)
        raise
    took = time.process_time() - start
    sets, people = tables.neighbours.sets, draw_people(count)
    some = np.random.default_rng(3).choice(count, min(count, 20_000), replace=False)
    found = (people[sets[some]] == people[some, None]).sum()
    all_there = (np.bincount(people)[people[some]] - 1).sum()
    return {
        "index_seconds": earlier + took,
        "index_gigabytes": peak() / 1e9,
        "of_one_person_in_lists": float(found / all_there),
    }


def asked(path: Path, count: int, name: str) -> dict[str, Any]:
    """Ask the gallery: processor time, and answers against those of all sets."""
    with Gallery(path) as gallery:
        tables, start = index(gallery), time.process_time()
        reranker = train(tables, name, gallery=gallery)
        trained, start = time.process_time() - start, time.process_time()
        shortlist = open_shortlist(tables, reranker, True, gallery)
        coded = time.process_time() - start
    people = draw_people(count)
    often = np.flatnonzero(np.bincount(people)[people] > 1)
    queries = [tables.ids[n] for n in np.random.default_rng(2).choice(often, ASKED, replace=False)]
    short, whole = Search(tables, reranker, shortlist), Search(tables, reranker)
    for query in queries:  # reads what is mapped, and compiles
        short.find(query, TOP)
    start = time.process_time()
    answers = [short.find(query, TOP) for query in queries]
    each = (time.process_time() - start) / ASKED
    clock = []
    for query in queries:
        start = time.perf_counter()
        short.find(query, TOP)
        clock.append(time.perf_counter() - start)
    most = peak() / 1e9
    whole.find(queries[0], TOP)
    start = time.process_time()
    exact = [whole.find(query, TOP) for query in queries[:ASKED_OF_ALL]]
    of_all = (time.process_time() - start) / ASKED_OF_ALL
    common = [len(set(a.ids) & set(b.ids)) / TOP for a, b in zip(answers, exact, strict=False)]
    right = [
        sum(people[tables.number(id)] == people[tables.number(one.query)] for id in one.ids)
        / (np.count_nonzero(people == people[tables.number(one.query)]) - 1)
        for one in answers
    ]
    return {
        f"{name}_trained_seconds": trained,
        f"{name}_coded_seconds": coded,
        f"{name}_query_seconds": each,
        f"{name}_query_by_the_clock": sorted(clock)[ASKED // 2],
        f"{name}_query_of_all_seconds": of_all,
        f"{name}_of_the_exact_first": float(np.mean(common)),
        f"{name}_of_one_person_found": float(np.mean(right)),
        f"{name}_gigabytes": most,
    }


def _told(path: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return told


def _tell(count: int, **found: Any) -> None:
    path = KEPT / f"{count}.json"
    told = _told(path) | {"sets": count} | found
    path.write_text(json.dumps(told, indent=2) + "\n")


def main() -> None:
    step, *sizes = sys.argv[1:]
    if step.isdigit():  # each step in a process of its own, whose peak of memory is that of the work
        KEPT.mkdir(parents=True, exist_ok=True)
        for size in (step, *sizes):
            for part in ("make", "index", "baseline", "auto"):
                subprocess.run([sys.executable, "-m", "benchmarks.million", part, size], check=True)
            print((KEPT / f"{size}.json").read_text(), end="", flush=True)
        return
    count = int(sizes[0])
    path = KEPT / f"{count}.gallery"
    if step == "make":
        make(path, count)
    elif step != "index":
        _tell(count, **asked(path, count, step))
    elif "index_seconds" not in _told(KEPT / f"{count}.json"):
        _tell(count, **indexed(path, count))


if __name__ == "__main__":
    main()
