"""Protocols: which sets are queries, and what is ranked for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lookalike.errors import BadInput
from lookalike.evaluation.labels import Labels, check_labels
from lookalike.evaluation.measures import Ranks, summary
from lookalike.faceset import FaceSet
from lookalike.progress import Track, silent
from lookalike.rerankers.contract import Reranker
from lookalike.retrieval import Search
from lookalike.transitivity.tables import Row, Tables


@dataclass(frozen=True)
class Evaluation:
    """Ranks of the matches of every query, by reranker.

    Attributes
    ----------
    queries : list of str
        Ids of the sets that were queries.
    sets : int
        Sets of the gallery.
    distractors : int
        Gallery sets that match no query: nobody else on them, or not asked for.
    ranked : int
        Sets ranked for each query.
    ranks : mapping of reranker to list of arrays
        For each query, the ranks of its matches; 1 is best.
    people : list of str
        Who is on each query.
    """

    queries: list[str]
    sets: int
    distractors: int
    ranked: int
    ranks: dict[str, list[Ranks]]
    people: list[str]

    def with_one_match(self) -> tuple[int, int]:
        """How many queries, and how many people, have a single match: two counts easily confused."""
        single = [len(ranks) == 1 for ranks in next(iter(self.ranks.values()))]
        return sum(single), len({who for who, one in zip(self.people, single, strict=True) if one})

    def to_dict(self) -> dict[str, object]:
        """Counts and measures, as ``evaluate --json`` prints them."""
        return {
            "queries": len(self.queries),
            "sets": self.sets,
            "distractors": self.distractors,
            "rerankers": {name: summary(ranks, self.ranked) for name, ranks in self.ranks.items()},
        }


def leave_one_out(
    tables: Tables, rerankers: Mapping[str, Reranker], labels: Labels, track: Track = silent
) -> Evaluation:
    """Ask for every set that has a match; the query is never its own target or proxy (section 3.4).

    Parameters
    ----------
    tables : Tables
    rerankers : mapping of name to fitted Reranker
    labels : mapping of set id to person
        Exactly one for each set of the gallery.
    """
    check_labels(labels, tables.ids)
    people = Counter(labels[id] for id in tables.ids)
    queries = [id for id in tables.ids if people[labels[id]] > 1]
    asked_for = [labels[id] for id in queries]
    ranks = _ranks(tables, rerankers, queries, asked_for, labels, track)
    return Evaluation(queries, len(tables), len(tables) - len(queries), len(tables) - 1, ranks, asked_for)


def outside(
    tables: Tables,
    rerankers: Mapping[str, Reranker],
    queries: Sequence[FaceSet],
    people: Sequence[str],
    labels: Labels,
    track: Track = silent,
) -> Evaluation:
    """Ask for sets that are not in the gallery.

    Parameters
    ----------
    queries : sequence of FaceSet
    people : sequence of str
        Who is on each query; those whom the gallery does not show are passed over.
    labels : mapping of set id to person
        Exactly one for each set of the gallery.
    """
    check_labels(labels, tables.ids)
    shown = {labels[id] for id in tables.ids}
    asked = [(query, person) for query, person in zip(queries, people, strict=True) if person in shown]
    wanted = {person for _, person in asked}
    distractors = sum(labels[id] not in wanted for id in tables.ids)
    asked_for, ids = [person for _, person in asked], [query.id for query, _ in asked]
    ranks = _ranks(tables, rerankers, [query for query, _ in asked], asked_for, labels, track)
    return Evaluation(ids, len(tables), distractors, len(tables), ranks, asked_for)


def _ranks(
    tables: Tables,
    rerankers: Mapping[str, Reranker],
    queries: Sequence[str | FaceSet],
    people: Sequence[str],
    labels: Labels,
    track: Track,
) -> dict[str, list[Ranks]]:
    if not rerankers:
        raise BadInput("there is no second stage to measure: name at least one, for instance baseline")
    if not queries:
        raise BadInput(
            "no query has a match in the gallery, so there is nothing to measure: check the labels"
        )
    persons = np.array([labels[id] for id in tables.ids])
    searches = {name: Search(tables, reranker) for name, reranker in rerankers.items()}
    ranks: dict[str, list[Ranks]] = {name: [] for name in rerankers}
    some = next(iter(searches.values()))
    rows: Iterator[Row] = track(some.rows(queries), "asking for every set", len(queries))
    for row, person in zip(rows, people, strict=True):
        for name, search in searches.items():
            order = search.order(row, search.reranker.score(row, tables).scores)
            ranks[name].append(np.flatnonzero(persons[order] == person) + 1)
    return ranks
