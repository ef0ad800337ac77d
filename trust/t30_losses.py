"""T30: a node of a cluster is lost at any moment; what is asked and written is what it would have been."""

from __future__ import annotations

import importlib.util
import json
import random
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from lookalike import FaceSet, index, open_gallery, open_search
from lookalike.evaluation.protocol import leave_one_out
from lookalike.gallery.gallery import Gallery
from lookalike.gallery.verify import verify
from lookalike.indexing.store import TableStore
from lookalike.method import tables as blocks
from lookalike.method.tables import Tables
from lookalike.progress import Track, silent
from lookalike.search.query import Search
from tests.small_world import small_world
from trust.apart import run_apart
from trust.losing import Loss, Nodes
from trust.outcome import Outcome, share_of
from trust.t29_slices import let_go, write

TITLE: Final = (
    "losses: a node of a cluster of two is killed while slices are opened, compared, evaluated and asked, or "
    "between queries: answers and tables as if it had not been, nothing half-written"
)
RELEASE: Final = 10
LEFT_OUT: Final = (
    "the head node, and machines with networks of their own, which T31 has; moments follow from the seed but "
    "for what the system does meanwhile"
)
NAME: Final = "x.gallery"
PEOPLE: Final = 40
# A gallery as small as this is one block otherwise, and there would be one moment to lose a node at.
ROWS: Final = 64
QUERIES: Final = 24
STAGE: Final = "learnt:references=3"


def run(share: float = 1.0, seed: int = 0, track: Track = silent) -> Outcome:
    """In a child that has a cluster; each case loses one of its nodes and gets another."""
    if importlib.util.find_spec("ray") is None:
        return Outcome("T30", 0, [], 0.0, "Ray is not installed")
    return run_apart("T30", __name__, range(share_of(RELEASE, share)), seed, track)


class Expected(NamedTuple):
    """What nobody disturbed: in one piece, in this process."""

    neighbours: list[bytes]
    answers: list[str]
    evaluated: str


class Ready(NamedTuple):
    """What a child needs."""

    folder: Path
    seed: int
    nodes: Nodes
    queries: list[str | FaceSet]
    labels: dict[str, str]
    expected: Expected


def prepare(folder: Path, seed: int) -> Ready:
    """A cluster; a gallery, with an index and without; and what it says in one piece."""
    blocks.BLOCK_ROWS = ROWS
    sets, labels = small_world(people=PEOPLE, sets=5, seed=seed % 2**32)
    strangers = small_world(people=QUERIES, sets=1, seed=(seed + 1) % 2**32)[0]
    asked = [query for one, other in zip(sets, strangers, strict=False) for query in (one.id, other)]
    queries: list[str | FaceSet] = asked[:QUERIES]
    for name in ("one", "plain", "indexed"):
        (folder / name).mkdir()
        write(folder / name / NAME, sets)
    with open_gallery(folder / "indexed" / NAME) as gallery:
        index(gallery)
    with open_gallery(folder / "one" / NAME) as whole:
        search = open_search(whole, reranker=STAGE)
        said = [ranked(search, query) for query in queries]
        expected = Expected(near(search.tables), said, evaluated(search, labels, silent))
    return Ready(folder, seed, Nodes(), queries, labels, expected)


def case(ready: Ready, number: int) -> tuple[str | None, str]:
    """Lose a node on one way; then everything is as it would have been, also for who comes later."""
    name, way = list(WAYS.items())[number % len(WAYS)]
    loss = Loss(ready.nodes, random.Random(f"{ready.seed} {number}"))
    path = ready.folder / "work" / NAME
    shutil.rmtree(path.parent, ignore_errors=True)
    shutil.copytree(ready.folder / ("plain" if number % 2 else "indexed"), path.parent)
    try:
        with open_gallery(path) as gallery:
            wrong = way(ready, gallery, loss)
    finally:
        trouble = loss.end()
    note = f"{name} ({'with' if loss.held else 'without'} slices)"
    if wrong or trouble:
        return f"{name}: {wrong or trouble}", note
    return left_behind(ready, path), note


def left_behind(ready: Ready, path: Path) -> str | None:
    """What is wrong with what lies there: found by looking, or by asking in this process."""
    if found := [one for one in verify(path) if not one.is_harmless]:
        return f"afterwards verify finds {found[0]}"
    with open_gallery(path) as gallery:
        search = open_search(gallery, reranker=STAGE)
        if near(search.tables) != ready.expected.neighbours:
            return "other neighbours are kept than in one process"
        if ranked(search, ready.queries[0]) != ready.expected.answers[0]:
            return "what is kept answers otherwise than one process"
    return None


# Ways to lose a node: each returns what is wrong.


def _opening(ready: Ready, gallery: Gallery, loss: Loss) -> str | None:
    loss.begin_when_opening()
    with opened(ready, gallery) as search:
        if near(search.tables) != ready.expected.neighbours:
            return "other neighbours than in one process"
        is_same = ranked(search, ready.queries[0]) == ready.expected.answers[0]
    return None if is_same else "the first query is answered otherwise than by one process"


def _comparing(ready: Ready, gallery: Gallery, loss: Loss) -> str | None:
    TableStore.beside(gallery.path).drop()  # or there would be nothing to compare
    tables = index(gallery, track=loss.track, engine=ready.nodes.engine)
    try:
        return None if near(tables) == ready.expected.neighbours else "other neighbours than in one process"
    finally:
        let_go(tables)


def _evaluating(ready: Ready, gallery: Gallery, loss: Loss) -> str | None:
    with opened(ready, gallery) as search:
        found = evaluated(search, ready.labels, loss.track)
    return None if found == ready.expected.evaluated else "another evaluation than in one process"


def _between(ready: Ready, gallery: Gallery, loss: Loss) -> str | None:
    at = int(loss.place * len(ready.queries))
    with opened(ready, gallery) as search:
        for number, query in enumerate(ready.queries):
            if number == at:
                loss.begin(0.0)
                loss.wait()
            if ranked(search, query) != ready.expected.answers[number]:
                return f"query {number} is answered otherwise than by one process"
    return None


def _during(ready: Ready, gallery: Gallery, loss: Loss) -> str | None:
    with opened(ready, gallery) as search:
        asked = loss.track(ready.queries, "asking", len(ready.queries))
        for number, query in enumerate(asked):
            if ranked(search, query) != ready.expected.answers[number]:
                return f"query {number} is answered otherwise than by one process"
    return None


WAYS: Final = {
    "opening": _opening,
    "comparing": _comparing,
    "evaluating": _evaluating,
    "between queries": _between,
    "during queries": _during,
}


@contextmanager
def opened(ready: Ready, gallery: Gallery) -> Iterator[Search]:
    """A search on the cluster, whose slices are let go at the end; some are on the node to be lost."""
    search = open_search(gallery, reranker=STAGE, engine=ready.nodes.engine)
    try:
        yield search
    finally:
        let_go(search.tables)


def near(tables: Tables) -> list[bytes]:
    """Neighbours to the last bit."""
    return [one.tobytes() for one in tables.neighbours]


def ranked(search: Search, query: str | FaceSet) -> str:
    """All answers to a query, to the last bit."""
    return json.dumps(search.find(query).to_dict())


def evaluated(search: Search, labels: dict[str, str], track: Track) -> str:
    """What an evaluation of a search finds."""
    return json.dumps(leave_one_out(search.tables, {"stage": [search.reranker]}, labels, track).to_dict())
