"""Small worlds given by their similarities, for re-rankers whose numbers are worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.method.proxies import find_neighbours
from lookalike.method.tables import Row, Tables, rows
from lookalike.rerankers.contract import Reranker
from lookalike.similarities.contract import Examples, Match, Mode, Prepared, PreparedSets, SetSimilarity

# Every worked case holds for a member of the gallery and for a query from outside.
both_ways = pytest.mark.parametrize("inside", [False, True], ids=["outside", "inside"])


class Given(SetSimilarity):
    """Similarities as they stand in a table; a set is its number."""

    def __init__(self, table: np.ndarray) -> None:
        self.table = table

    def prepare(self, faces: np.ndarray) -> Prepared:
        return {"number": np.array([int(faces[0, 0])])}

    def match(self, a: Prepared, b: Prepared) -> Match:
        return Match(float(self.table[a["number"][0], b["number"][0]]), np.int64(0), np.int64(0))

    def agreement(self, a: Prepared, mode: Mode, other: Mode) -> float:
        return 1.0

    def exemplar(self, a: Prepared, mode: Mode) -> int:
        return 0

    def examples(self, reference: Prepared, proxy: Prepared) -> Examples:
        return Examples(np.empty((0, 5)), np.empty((0, 5)))


def symmetric(*above: list[float]) -> np.ndarray:
    """A table from its rows above the diagonal, which is 1; the last set is the query."""
    total = len(above) + 1
    table = np.eye(total)
    for number, row in enumerate(above):
        table[number, number + 1 :] = table[number + 1 :, number] = row
    return table


def world(table: np.ndarray, inside: bool, query: int = -1) -> tuple[Tables, Row]:
    """A gallery of the sets of a table, with the query (the last of them unless told) or without it."""
    total = len(table)
    query = query % total
    held = [number for number in range(total) if inside or number != query]
    similarity = Given(table)
    prepared = PreparedSets.join([{"number": np.array([number])} for number in held])
    ids = tuple(f"set {number:03d}" for number in held)
    tables = Tables(ids, 1, similarity, prepared, find_neighbours(similarity, prepared, 11))
    asked = PreparedSets.join([{"number": np.array([query])}])
    [row] = rows(tables, asked, [query if inside else None])
    return tables, row


def ask(part: Reranker, table: np.ndarray, inside: bool, query: int = -1) -> np.ndarray:
    """Scores of all sets but the query."""
    tables, row = world(table, inside, query)
    scores = part.fit(tables, np.random.default_rng(0)).score(row, tables).scores
    return np.delete(scores, query) if inside else scores


def random_table(total: int, seed: int = 0) -> np.ndarray:
    """Similarities without ties, some of them negative."""
    above = np.triu(np.random.default_rng(seed).uniform(-0.2, 1.0, (total, total)), 1)
    return above + above.T + np.eye(total)


# Five sets A, B, C, D and the query. Lists, nearest first, and the similarities that make them:
#   query: A .9, B .5, C .2, D .1     A: query .9, B .8, C .15, D .05     B: A .8, C .6, query .5, D .3
#   C: D .7, B .6, query .2, A .15    D: C .7, B .3, query .1, A .05
FIVE = symmetric([0.8, 0.15, 0.05, 0.9], [0.6, 0.3, 0.5], [0.7, 0.2], [0.1])
