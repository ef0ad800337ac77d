"""Protocols: which sets are queries, and what is ranked for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from lookalike.collection.unfinished import Unfinished
from lookalike.evaluation.asking import Asking, Calibrations, Methods
from lookalike.evaluation.labels import Labels, check_labels
from lookalike.evaluation.results import Evaluation
from lookalike.faceset import FaceSet
from lookalike.progress import Track, silent
from lookalike.rerankers.baseline import Baseline
from lookalike.retrieval import Search
from lookalike.similarities.contract import Prepared, PreparedSets
from lookalike.transitivity.tables import Row, Tables, rows


def leave_one_out(
    tables: Tables,
    rerankers: Methods,
    labels: Labels,
    track: Track = silent,
    sweep: str | None = None,
    work: Unfinished | None = None,
    calibrations: Calibrations | None = None,
    count_query: bool = False,
) -> Evaluation:
    """Ask for every set that has a match; the query is never its own target or proxy (section 3.4).

    Parameters
    ----------
    tables : Tables
    rerankers : mapping of name to fitted Reranker, or to several of them that were fitted by different seeds
    labels : mapping of set id to person
        Exactly one for each set of the gallery.
    track : callable
        Shows progress.
    sweep : str, optional
        The method of which it is also wanted what fewer of its proxies would say.
    work : Unfinished, optional
        Where to keep how far the work has come; it goes on from there.
    calibrations : mapping of name to the Calibration of each of its rerankers, optional
        With these it is also measured whether answers are right as often as they are said to be.
    count_query : bool
        Whether measures count the query as its own match, found first: to compare with figures that were
        made so. It is asked in the same way, and sets without another match are no queries either way.
    """
    check_labels(labels, tables.ids)
    people = Counter(labels[id] for id in tables.ids)
    queries = [id for id in tables.ids if people[labels[id]] > 1]
    asked_for = [labels[id] for id in queries]
    asking = Asking(tables, rerankers, labels, sweep, calibrations)
    asking.ask(lambda done: asking.search.rows(queries[done:]), asked_for, 1, track, work)
    others = len(tables) - len(queries)
    return Evaluation(
        queries,
        asked_for,
        len(tables),
        others,
        len(tables) - 1,
        asking.runs(),
        asking.sweep(),
        sureness=asking.sureness(),
        query_counted=count_query,
    )


def outside(
    tables: Tables,
    rerankers: Methods,
    queries: Sequence[FaceSet],
    people: Sequence[str],
    labels: Labels,
    track: Track = silent,
    sweep: str | None = None,
    work: Unfinished | None = None,
    calibrations: Calibrations | None = None,
) -> Evaluation:
    """Ask for sets that are not in the gallery, each as if it were the only one.

    Parameters
    ----------
    queries : sequence of FaceSet
    people : sequence of str
        Who is on each query; those whom the gallery does not show are passed over.
    labels : mapping of set id to person
        Exactly one for each set of the gallery.
    """
    shown = {labels.get(id) for id in tables.ids}
    asked = [(query, person) for query, person in zip(queries, people, strict=True) if person in shown]
    search = Search(tables, Baseline())

    def rows_from(done: int) -> Iterator[Row]:
        return search.rows([query for query, _ in asked[done:]])

    ids, asked_for = [query.id for query, _ in asked], [person for _, person in asked]
    found = _from_outside(
        tables, rerankers, ids, asked_for, rows_from, labels, track, sweep, work, calibrations
    )
    return replace(found, passed_over=len(queries) - len(asked))


def held_out(
    tables: Tables,
    rerankers: Methods,
    queries: Mapping[str, Prepared],
    labels: Labels,
    track: Track = silent,
    sweep: str | None = None,
    work: Unfinished | None = None,
    calibrations: Calibrations | None = None,
) -> Evaluation:
    """Ask for prepared sets that were taken out of a gallery before its tables were made.

    Parameters
    ----------
    queries : mapping of set id to prepared set
    labels : mapping of set id to person
        One for each query and each set of the gallery.
    """

    def rows_from(done: int) -> Iterator[Row]:
        left = list(queries.values())[done:]
        return rows(tables, PreparedSets.join(left), [None] * len(left))

    people = [labels[id] for id in queries]
    inside = {id: labels[id] for id in tables.ids}
    return _from_outside(
        tables, rerankers, list(queries), people, rows_from, inside, track, sweep, work, calibrations
    )


def _from_outside(
    tables: Tables,
    rerankers: Methods,
    ids: list[str],
    people: list[str],
    rows_from: Callable[[int], Iterator[Row]],
    labels: Labels,
    track: Track,
    sweep: str | None,
    work: Unfinished | None,
    calibrations: Calibrations | None,
) -> Evaluation:
    check_labels(labels, tables.ids)
    wanted = set(people)
    others = sum(labels[id] not in wanted for id in tables.ids)
    asking = Asking(tables, rerankers, labels, sweep, calibrations)
    asking.ask(rows_from, people, 0, track, work)
    return Evaluation(
        ids,
        people,
        len(tables),
        others,
        len(tables),
        asking.runs(),
        asking.sweep(),
        sureness=asking.sureness(),
    )
