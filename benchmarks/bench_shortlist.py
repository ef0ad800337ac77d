"""Shortlist: a query of a large gallery against the exhaustive way, in processor time and in what is missed.

And against what a user would pick instead, given the same vectors: faiss with one mean vector a set, flat and
as HNSW graph. Where the folder ``LOOKALIKE_DATA`` has ``actors_dev.npz`` and ``ytf_dev.npz``, on these too.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.bench_memory import peak
from benchmarks.embeddings import draw_faces, draw_people
from benchmarks.entries import entry
from benchmarks.worlds import seconds
from lookalike import Ranking, Search, train
from lookalike.indexing.build import NEIGHBOURS_KEPT
from lookalike.method.neighbours import index_need
from lookalike.method.proxies import find_neighbours
from lookalike.method.shortlist import Shortlist, code_means
from lookalike.method.tables import Tables, means_of
from lookalike.similarities.contract import PreparedSets
from lookalike.similarities.max_max import MaxMax

FACES, DIMENSION, TOP = 5, 128, 100
# Queries of which all answers are compared, which takes a second each.
COMPARED = 10
# Neighbours of a node of the graph, and how many are kept in view while it is built and searched.
LINKS, BUILDING, SEARCHING = 32, 200, 256
DATA = Path(os.environ.get("LOOKALIKE_DATA", "there is none"))


def run(toy: bool) -> list[dict[str, Any]]:
    """Run in a process of its own, whose peak of memory is that of the work."""
    count, queries = (300, 2) if toy else (100_000, 40)
    program = [sys.executable, "-m", "benchmarks.bench_shortlist", str(count), str(queries)]
    done = subprocess.run(program, stdout=subprocess.PIPE, text=True, check=True)
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def measure(count: int, asked: int) -> list[dict[str, Any]]:
    people = draw_people(count)
    similarity = MaxMax()
    some = [similarity.prepare(faces) for faces in draw_faces(people[:5], FACES, DIMENSION)]
    need = index_need(similarity, np.full(count, FACES), np.arange(len(some)), some, NEIGHBOURS_KEPT)
    print(f"indexing {count} sets: {need}", file=sys.stderr, flush=True)
    before = peak()
    sets = PreparedSets.join(similarity.prepare(faces) for faces in draw_faces(people, FACES, DIMENSION))
    start = time.perf_counter()
    near = find_neighbours(similarity, sets, NEIGHBOURS_KEPT)
    indexing, taken = time.perf_counter() - start, peak() - before
    tables = Tables(tuple(f"{number:07d}" for number in range(count)), DIMENSION, similarity, sets, near)
    often = np.flatnonzero(np.bincount(people)[people] > 1)
    queries = [tables.ids[n] for n in np.random.default_rng(2).choice(often, asked, replace=False)]
    start = time.perf_counter()
    shortlist = Shortlist(tables, code_means(tables))
    coding = time.perf_counter() - start
    found, ours, each = [], {}, {}
    for name, aim in (("baseline", 0.15), ("auto", 0.2), ("learnt", 0.2)):
        reranker = train(tables, name)
        whole, short = Search(tables, reranker), Search(tables, reranker, shortlist)
        ours[name] = short
        answers = [[search.find(id, TOP) for id in queries] for search in (whole, short)]
        missed = [len(set(a.ids) - set(b.ids)) / len(a) for a, b in zip(*answers, strict=True)]
        times = [
            seconds(lambda s=search: [s.find(id, TOP) for id in queries], 3) / asked  # type: ignore[misc]
            for search in (whole, short)
        ]
        each[name] = times[1]
        found += [
            entry(
                f"{name} query on a shortlist to all sets",
                times[1] / times[0],
                aim,
                sets=count,
                ranked=answers[1][0].total,
                compared=shortlist.sizes.guessed,
                seconds=times[1],
                exhaustive_seconds=times[0],
                coding_seconds=coding,
            ),
            entry(
                f"{name}: missed of the exhaustive top {TOP}",
                float(np.mean(missed)),
                0.02,
                ap=_mean_precision(answers[1], tables, people),
                exhaustive_ap=_mean_precision(answers[0], tables, people),
                right_in_top=_right(answers[1], tables, people),
                right_in_exhaustive_top=_right(answers[0], tables, people),
                same_scores=_same(short, whole, queries[:COMPARED]),
            ),
        ]
    found.append(
        entry("auto on a shortlist to baseline on a shortlist", each["auto"] / each["baseline"], 1.5)
    )
    found += rivals(
        "drawn sets", tables, people, {name: ours[name] for name in ("baseline", "auto")}, queries
    )
    for name in ("actors_dev", "ytf_dev"):
        if (DATA / f"{name}.npz").exists():
            real, their_people = _real(DATA / f"{name}.npz")
            asking = {which: Search(real, train(real, which)) for which in ("baseline", "auto")}
            found += rivals(name, real, their_people, asking, list(real.ids))
    found.append(
        entry(
            "memory of the index to what was stated before",
            taken / need.memory,
            1.2,
            gigabytes=taken / 1e9,
            stated_gigabytes=need.memory / 1e9,
            index_seconds=indexing,
        )
    )
    return found


def rivals(
    what: str, tables: Tables, people: NDArray[np.int64], ours: dict[str, Search], queries: Sequence[str]
) -> list[dict[str, Any]]:
    """Mean average precision of the first answers, processor time and memory of each way to ask."""
    import faiss

    assert isinstance(tables.sets, PreparedSets)
    faiss.omp_set_num_threads(1)
    means = means_of(*tables.similarity.faces(tables.sets))
    faiss.normalize_L2(means)
    flat = faiss.IndexFlatIP(means.shape[1])
    graph = faiss.IndexHNSWFlat(means.shape[1], LINKS, faiss.METRIC_INNER_PRODUCT)
    graph.hnsw.efConstruction, graph.hnsw.efSearch = BUILDING, SEARCHING
    ways: dict[str, tuple[Callable[[str], Sequence[int]], float, float]] = {}
    for name, index in (("faiss flat of means", flat), ("faiss HNSW of means", graph)):
        start = time.process_time()
        index.add(means)
        built = time.process_time() - start

        def asked(query: str, index: Any = index) -> list[int]:
            number = tables.number(query)
            near = index.search(means[number : number + 1], TOP + 1)[1][0]
            return [int(one) for one in near if one != number and one >= 0][:TOP]

        ways[name] = asked, len(faiss.serialize_index(index)) / 1e6, built
    faces = sum(array.nbytes for array in tables.sets.arrays.values()) / 1e6
    for name, search in ours.items():

        def found(query: str, search: Search = search) -> list[int]:
            return [tables.number(id) for id in search.find(query, TOP).ids]

        ways[name] = found, faces, 0.0
    figures = {}
    for name, (ask, megabytes, built) in ways.items():
        ask(queries[0])
        start = time.process_time()
        answers = [ask(query) for query in queries]
        each = (time.process_time() - start) / len(queries)
        precision = [
            _precision(people, tables.number(q), found) for q, found in zip(queries, answers, strict=True)
        ]
        figures[name] = {
            "ap": float(np.nanmean(precision)),
            "seconds": each,
            "megabytes": megabytes,
            "built_seconds": built,
        }
    best = max(figures[name]["ap"] for name in ours)
    return [
        entry(f"{what}: AP of {name} to ours", of["ap"] / best, 1.0, sets=len(tables), **of)
        for name, of in figures.items()
    ]


def _precision(people: NDArray[np.int64], query: int, answers: Sequence[int]) -> float:
    """Average precision of the first answers; no number for somebody who is there once."""
    right = people[np.asarray(answers, dtype=np.int64)] == people[query]
    theirs = np.count_nonzero(people == people[query]) - 1
    if not theirs:
        return float("nan")
    precisions = np.cumsum(right) / np.arange(1, len(right) + 1)
    return float(precisions[right].sum() / min(theirs, TOP))


def _mean_precision(rankings: Sequence[Ranking], tables: Tables, people: NDArray[np.int64]) -> float:
    """Mean average precision of the first answers."""
    numbers = [(tables.number(one.query), [tables.number(id) for id in one.ids]) for one in rankings]
    return float(np.nanmean([_precision(people, query, found) for query, found in numbers]))


def _real(path: Path) -> tuple[Tables, NDArray[np.int64]]:
    """A gallery of real vectors: its own sets, or three photos of a person each."""
    with np.load(path) as data:
        vectors = data["embeddings"].astype(np.float32)
        if "image_set" in data:
            owners, people = data["image_set"], data["set_person"].astype(np.int64)
        else:
            order = np.argsort(data["person"], kind="stable")
            vectors, person = vectors[order], data["person"][order].astype(np.int64)
            place = np.arange(len(person)) - np.searchsorted(person, person)
            keys, owners = np.unique(np.stack([person, place // 3]), axis=1, return_inverse=True)
            people = keys[0]
    similarity = MaxMax()
    sets = PreparedSets.join(similarity.prepare(vectors[owners == number]) for number in range(len(people)))
    ids = tuple(f"{number:05d}" for number in range(len(people)))
    near = find_neighbours(similarity, sets, NEIGHBOURS_KEPT)
    return Tables(ids, vectors.shape[1], similarity, sets, near), people


def _same(short: Search, whole: Search, queries: Sequence[str]) -> float:
    """Share of the queries for which all answers of a shortlist have the score that they have among all."""
    same = []
    for query in queries:
        among_all = {answer.id: answer.score for answer in whole.find(query)}
        same.append(all(answer.score == among_all[answer.id] for answer in short.find(query, TOP)))
    return float(np.mean(same))


def _right(rankings: Sequence[Ranking], tables: Tables, people: NDArray[np.int64]) -> float:
    """Share of the sets with a query's person that are among the answers, on average."""
    shares = []
    for ranking in rankings:
        person = people[tables.number(ranking.query)]
        right = sum(people[tables.number(id)] == person for id in ranking.ids)
        shares.append(right / (np.count_nonzero(people == person) - 1))
    return float(np.mean(shares))


if __name__ == "__main__":
    print(json.dumps(measure(*map(int, sys.argv[1:]))))
