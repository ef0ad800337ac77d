"""Small galleries for the tests of the method: random ones, and a chain worked by hand."""

from __future__ import annotations

import numpy as np

from lookalike import registry
from lookalike.method.proxies import find_neighbours
from lookalike.method.tables import Row, Tables, rows
from lookalike.similarities.contract import PreparedSets, SetSimilarity

# A resembles B, B resembles C, A hardly resembles C.
#   A.B0 = 0.8, A.B1 = 0.28          sim(A, B) = 0.8 through A0, B0
#   B0.C0 = 0.6, B1.C0 = 0.96        sim(B, C) = 0.96 through B1, C0 (B.C1 = 0.224 and 0.0784)
#   A.C0 = 0, A.C1 = 0.28            sim(A, C) = 0.28 through A0, C1
#   B0.B1 = 0.224 + 0.576 = 0.8      C0.C1 = 0
A = np.array([[1.0, 0.0, 0.0]])
B = np.array([[0.8, 0.6, 0.0], [0.28, 0.96, 0.0]])
C = np.array([[0.0, 1.0, 0.0], [0.28, 0.0, 0.96]])


def random_sets(
    count: int, seed: int = 0, people: int = 4, dimension: int = 10, smallest: int = 1, largest: int = 6
) -> list[np.ndarray]:
    """Sets of a few people; each set sees its person in its own light and pose."""
    rng = np.random.default_rng(seed)
    persons = rng.normal(size=(people, dimension)) + 0.5
    found = []
    for number in range(count):
        faces = int(rng.integers(smallest, largest + 1))
        centre = persons[number % people] + 0.5 * rng.normal(size=dimension)
        turn = rng.normal(size=dimension)
        found.append(centre + rng.random((faces, 1)) * turn + 0.2 * rng.normal(size=(faces, dimension)))
    return found


def prepared_sets(similarity: SetSimilarity, sets: list[np.ndarray]) -> PreparedSets:
    return PreparedSets.join([similarity.prepare(faces) for faces in sets])


def tables_of(sets: list[np.ndarray], similarity: str | SetSimilarity = "max_max", count: int = 11) -> Tables:
    part = registry.build("similarities", similarity)
    prepared = prepared_sets(part, sets)
    ids = tuple(f"set {number:03d}" for number in range(len(sets)))
    return Tables(ids, sets[0].shape[1], part, prepared, find_neighbours(part, prepared, count))


def row_of(tables: Tables, query: np.ndarray | int) -> Row:
    """The row of an outside query, or of a member of the gallery."""
    if isinstance(query, int):
        [row] = rows(tables, tables.sets[query : query + 1], [query])
    else:
        [row] = rows(tables, PreparedSets.join([tables.similarity.prepare(query)]), [None])
    return row
