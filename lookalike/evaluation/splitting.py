"""Split: one set of each person is taken out of the gallery and asked for from outside."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lookalike.evaluation.labels import Labels, check_labels
from lookalike.indexing import COUNT
from lookalike.progress import Track, silent
from lookalike.similarities.contract import Prepared
from lookalike.transitivity.proxies import find_neighbours
from lookalike.transitivity.tables import Tables


class Split(NamedTuple):
    """A gallery that never saw its queries."""

    tables: Tables
    queries: dict[str, Prepared]


def split(tables: Tables, labels: Labels, rng: np.random.Generator, track: Track = silent) -> Split:
    """Take a random set of everybody who has two or more out of the gallery, and index the rest anew.

    Parameters
    ----------
    tables : Tables
        Of the whole gallery.
    labels : mapping of set id to person
        Exactly one for each set of it.
    rng : Generator
        Chooses the sets.
    """
    check_labels(labels, tables.ids)
    by_person: dict[str, list[int]] = {}
    for number, id in enumerate(tables.ids):
        by_person.setdefault(labels[id], []).append(number)
    asked = sorted(int(rng.choice(numbers)) for numbers in by_person.values() if len(numbers) > 1)
    taken = set(asked)
    kept = np.array([number for number in range(len(tables)) if number not in taken], dtype=np.int64)
    sets = tables.sets[kept]
    near = find_neighbours(tables.similarity, sets, COUNT, track)
    ids = tuple(tables.ids[number] for number in kept.tolist())
    smaller = Tables(ids, tables.dimension, tables.similarity, sets, near, preparation=tables.preparation)
    return Split(smaller, {tables.ids[number]: tables.sets[number] for number in asked})
