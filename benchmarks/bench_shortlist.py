"""Shortlist: a query of a large gallery against the exhaustive way, in time and in what is missed."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.bench_memory import peak
from benchmarks.embeddings import draw_faces, draw_people
from benchmarks.entries import entry
from benchmarks.worlds import seconds
from lookalike import Ranking, Search, train
from lookalike.indexing.build import COUNT
from lookalike.method.proxies import find_neighbours
from lookalike.method.shortlist import Shortlist, code_means
from lookalike.method.sizes import index_need
from lookalike.method.tables import Tables
from lookalike.similarities.contract import PreparedSets
from lookalike.similarities.max_max import MaxMax

FACES, DIMENSION, TOP = 5, 128, 100


def run(toy: bool) -> list[dict[str, Any]]:
    """Run in a process of its own, whose peak of memory is that of the work."""
    count, queries = (300, 2) if toy else (200_000, 40)
    program = [sys.executable, "-m", "benchmarks.bench_shortlist", str(count), str(queries)]
    done = subprocess.run(program, stdout=subprocess.PIPE, text=True, check=True)
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def measure(count: int, asked: int) -> list[dict[str, Any]]:
    people = draw_people(count)
    similarity = MaxMax()
    some = [similarity.prepare(faces) for faces in draw_faces(people[:5], FACES, DIMENSION)]
    need = index_need(similarity, np.full(count, FACES), np.arange(len(some)), some, COUNT)
    print(f"indexing {count} sets: {need}", file=sys.stderr, flush=True)
    before = peak()
    sets = PreparedSets.join(similarity.prepare(faces) for faces in draw_faces(people, FACES, DIMENSION))
    start = time.perf_counter()
    near = find_neighbours(similarity, sets, COUNT)
    indexing, taken = time.perf_counter() - start, peak() - before
    tables = Tables(tuple(f"{number:07d}" for number in range(count)), DIMENSION, similarity, sets, near)
    often = np.flatnonzero(np.bincount(people)[people] > 1)
    queries = [tables.ids[n] for n in np.random.default_rng(2).choice(often, asked, replace=False)]
    start = time.perf_counter()
    shortlist = Shortlist(tables, code_means(tables))
    coding = time.perf_counter() - start
    found = []
    for name, aim in (("baseline", 0.2), ("auto", 1.0), ("learnt", 0.2)):
        reranker = train(tables, name)
        whole, short = Search(tables, reranker), Search(tables, reranker, shortlist)
        answers = [[search.find(id, TOP) for id in queries] for search in (whole, short)]
        missed = [len(set(a.ids) - set(b.ids)) / len(a) for a, b in zip(*answers, strict=True)]
        times = [
            seconds(lambda s=search: [s.find(id, TOP) for id in queries], 3) / asked  # type: ignore[misc]
            for search in (whole, short)
        ]
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
                right_in_top=_right(answers[1], tables, people),
                right_in_exhaustive_top=_right(answers[0], tables, people),
                same_scores=_same(short, whole, queries),
            ),
        ]
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
