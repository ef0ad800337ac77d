"""Cluster: what an engine between processes costs against this process alone, on the same processors."""

from __future__ import annotations

import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.entries import entry
from benchmarks.worlds import seconds
from lookalike import FaceSet, Gallery, open_search
from lookalike.demo.vectors import vector_world
from lookalike.engines.contract import Engine, Residents
from lookalike.engines.local import Local
from lookalike.engines.ray import Ray
from lookalike.indexing.slices import SpreadSets
from lookalike.indexing.store import TableStore
from lookalike.method.shortlist import Shortlist, Sizes, code_means
from lookalike.parameters import MOST_PROXIES
from lookalike.search.query import Search

SLICES = 2
DIMENSION = 118
SETS_OF_A_PERSON = 2
# So short that it leaves out most of a gallery of half the size too.
SHORT = Sizes(looked_at=1000, guessed=500, kept=250, alone=100, trusted=25)


def run(toy: bool) -> list[dict[str, Any]]:
    count = 60 if toy else 20_000
    with tempfile.TemporaryDirectory() as folder, Ray(slices=SLICES) as ray:
        small, whole = (_gallery(Path(folder) / f"{size}.gallery", size) for size in (count // 2, count))
        local_index, local_search, query = _measured(whole, Local())
        ray_index, ray_search, _ = _measured(whole, ray)
        rounds, messages, sent = _traffic(ray_search, query)
        trip = seconds(lambda: _of(ray_search).ask_all(nothing), 7, time.perf_counter)
        local, spread = (
            seconds(partial(one.find, query, 10), 7, time.perf_counter) for one in (local_search, ray_search)
        )
        *short, short_sent = _traffic(_shortlisted(ray_search), query)
        _, half, its_query = _measured(small, ray)
        sent_half, short_half = (_traffic(one, its_query)[2] for one in (half, _shortlisted(half)))
    return [
        entry(
            "index by ray to index by local",
            ray_index / local_index,
            1.25,
            sets=count,
            slices=SLICES,
            ray_seconds=ray_index,
            local_seconds=local_index,
        ),
        entry(
            "warm query by ray, less its round trips, to local",
            max(0.0, spread - rounds * trip) / local,
            1.5,
            ray_seconds=spread,
            local_seconds=local,
            trip_seconds=trip,
        ),
        entry("rounds of a query to two", rounds / 2, 1.0, rounds=rounds, messages=messages, bytes=sent),
        # Where all sets are ranked, a score and two modes of each come back.
        entry("bytes of a query to those for half the sets", sent / sent_half, 2.05, half_bytes=sent_half),
        entry("rounds of a query on a shortlist to two", short[0] / 2, 1.0, messages=short[1]),
        # Of a larger gallery fewer targets have proxies in common: what is sent grows up to a bound.
        entry(
            "bytes of a query on a shortlist to the most that any gallery makes it send",
            short_sent / _most_bytes(query),
            1.0,
            bytes=short_sent,
            half_bytes=short_half,
        ),
    ]


def _shortlisted(search: Search) -> Search:
    """The same search on shortlists."""
    shortlist = Shortlist(search.tables, code_means(search.tables), SHORT)
    return Search(search.tables, search.reranker, shortlist, search.calibration)


def _most_bytes(query: FaceSet) -> int:
    """What `learnt` sends for a shortlist of which no two sets have a proxy in common.

    Every slice is sent the faces and tells number, guess and product of each guess; then number, score and
    two modes of each set go to and fro, and number, mode and agreement of both sides of each proxy.
    """
    faces = SLICES * query.faces.size * 4
    guesses = SLICES * SHORT.guessed * (8 + 8 + 4) + SHORT.spread * (8 + 4)
    targets = SHORT.kept + SHORT.trusted * SHORT.friends
    # One more than are asked, in case the query is among them.
    rows = targets * (1 + MOST_PROXIES + 1) * (8 + 8 + 2 * 8)
    agreements = 2 * targets * MOST_PROXIES * (8 + 8 + 8)
    return int(faces + guesses + rows + agreements)


def _traffic(search: Search, query: FaceSet) -> tuple[int, int, int]:
    """Rounds, messages and bytes of a query that is asked for the second time."""
    search.find(query, 10)
    traffic = _of(search).traffic
    before = traffic.rounds, traffic.messages, traffic.bytes
    search.find(query, 10)
    after = traffic.rounds, traffic.messages, traffic.bytes
    rounds, messages, sent = (now - earlier for now, earlier in zip(after, before, strict=True))
    return rounds, messages, sent


def _gallery(path: Path, count: int) -> Path:
    with Gallery(path, create=True) as gallery:
        for one, _ in vector_world(counts={SETS_OF_A_PERSON: count // SETS_OF_A_PERSON}, dimension=DIMENSION):
            gallery.add(one)
    return path


def _measured(path: Path, engine: Engine) -> tuple[float, Search, FaceSet]:
    """Seconds that an index takes, a search of it, and a query from outside; what was derived is deleted."""
    with Gallery(path) as gallery:
        open_search(gallery, reranker="learnt", engine=engine)  # compiles
        TableStore.beside(gallery.path).drop()
        found: list[Search] = []
        took = seconds(
            lambda: found.append(open_search(gallery, reranker="baseline", engine=engine)),
            clock=time.perf_counter,
        )
        search = open_search(gallery, reranker="learnt", engine=engine)
        query = FaceSet("asked", gallery.get(gallery.ids()[0]).faces)
    search.find(query, 10)
    return took, search, query


def _of(search: Search) -> Residents:
    assert isinstance(search.tables.sets, SpreadSets)
    return search.tables.sets.residents


def nothing(held: object) -> None:
    """The least that can be asked."""
