"""Protocols: which sets are queries, what is ranked for each, and every query by every method."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput
from lookalike.evaluation.labels import Labels, check_labels, check_measurable
from lookalike.evaluation.measures import DEPTH, Evaluation, Ranks, Sureness, Told
from lookalike.faceset import FaceSet
from lookalike.indexing.store import Unfinished
from lookalike.kernels.threads import in_order
from lookalike.method.calibration import Calibration, worth_reading
from lookalike.method.tables import Row, Tables, rows
from lookalike.progress import Track, silent
from lookalike.rerankers.baseline import Baseline
from lookalike.rerankers.contract import Reranker, Scored, Scoring
from lookalike.search.decided import Known
from lookalike.search.feedback import refined_scoring
from lookalike.search.query import Search
from lookalike.similarities.contract import Prepared, PreparedSets

# A method: its re-ranker, or one for each seed.
Methods = Mapping[str, Reranker | Sequence[Reranker]]
# How sure each of them may be of its answers.
Calibrations = Mapping[str, Sequence[Calibration]]


class _Decided(NamedTuple):
    """What is known of a query, and the numbers of these sets."""

    known: Known
    confirmed: NDArray[np.int64]
    rejected: NDArray[np.int64]


@dataclass(frozen=True)
class _Run:
    """One fitted re-ranker; with counts, also what it says if only so many of its proxies speak."""

    method: str
    search: Search
    counts: tuple[int, ...] = ()

    def scored(self, row: Row) -> Iterator[Scored]:
        """What all proxies say together, then so many of them."""
        part, tables = self.search.reranker, self.search.tables
        if not self.counts:
            yield part.score(row, tables)
            return
        said = part.beliefs(row, tables)
        for count in (said.proxies.shape[1], *self.counts):
            yield part.decide(row, said.proxies[:, :count], said.beliefs[:, :count])

    def scorings(self, row: Row, decided: _Decided | None) -> Iterator[Scoring]:
        """The same of the sets that are to be ranked: those that nothing is known of."""
        if decided is not None and row.member is not None:
            known, query = decided.known, self.search.tables.ids[row.member]
            yield refined_scoring(self.search, query, known.confirmed, known.rejected)
            return
        for scored in self.scored(row):
            yield self.search.scoring(row, scored)


class Asking:
    """Ask every query by every method; how far it has come can be kept."""

    def __init__(
        self,
        tables: Tables,
        rerankers: Methods,
        labels: Labels,
        sweep: str | None,
        calibrations: Calibrations | None = None,
        decided: Mapping[int, _Decided] | None = None,
    ) -> None:
        if not rerankers:
            raise BadInput("there is no re-ranker to measure: name at least one, for instance baseline")
        self.persons = np.array([labels[id] for id in tables.ids])
        self.asked: list[_Run] = []
        for name, given in rerankers.items():
            fitted = [given] if isinstance(given, Reranker) else list(given)
            counts = _counts(fitted[0], tables) if name == sweep else ()
            sure = calibrations[name] if calibrations else [None] * len(fitted)
            for place, (one, its) in enumerate(zip(fitted, sure, strict=True)):
                search = Search(tables, one, calibration=its)
                self.asked.append(_Run(name, search, () if place else counts))
        self.is_sure = calibrations is not None
        self.decided = decided or {}
        # Of each run and query: the probabilities of the first answers, and how many are worth reading.
        self.said: list[list[NDArray[np.float64]]] = [[] for _ in self.asked]
        self.found: list[list[Ranks]] = [[] for run in self.asked for _ in (None, *run.counts)]

    def ask(
        self,
        rows_from: Callable[[int], Iterator[Row]],
        people: Sequence[str],
        own: int,
        track: Track,
        work: Unfinished | None,
    ) -> None:
        """Ask for each query in turn; what was kept of an earlier run is not asked again.

        `rows_from` gives the rows of the queries but for the first so many. Of the sets with a query's
        person, `own` are the query itself: 1 in its own gallery, else 0.
        """
        check_measurable(self.persons.tolist(), people)
        done = self._take_up(work, people, own)
        if done == len(people):
            return
        watched = track(rows_from(done), "asking for every set", len(people) - done)
        with work.kept_at_the_end(self._done, self._state) if work else nullcontext():
            for ranks, said in in_order(self._ranks, zip(watched, people[done:], strict=True)):
                for found, one in zip(self.found, ranks, strict=True):
                    found.append(one)
                for before, sure in zip(self.said, said, strict=True):
                    before.append(sure)
                if work:
                    work.step(self._done(), self._state)
        if work:
            work.keep(self._done(), self._state)

    def _ranks(self, asked: tuple[Row, str]) -> tuple[list[Ranks], list[NDArray[np.float64]]]:
        """Ranks of the matches of one query by every method, and how sure each is; alone, on any thread."""
        row, person = asked
        ranks, said = [], []
        decided = None if row.member is None else self.decided.get(row.member)
        for run in self.asked:
            for place, scoring in enumerate(run.scorings(row, decided)):
                order = scoring.order()
                ranked = scoring.targets[order]
                if decided is not None:
                    ranked = np.concatenate([decided.confirmed, ranked, decided.rejected])
                ranks.append(np.flatnonzero(self.persons[ranked] == person) + 1)
                if not place:
                    said.append(_sureness(scoring.chances, order))
        return ranks, said

    @property
    def search(self) -> Search:
        """Any of the searches: all of them see the same rows."""
        return self.asked[0].search

    def runs(self) -> dict[str, list[list[Ranks]]]:
        """Ranks of the matches by method, seed and query."""
        found: dict[str, list[list[Ranks]]] = {run.method: [] for run in self.asked}
        for run, start in zip(self.asked, self._starts(), strict=True):
            found[run.method].append(self.found[start])
        return found

    def sureness(self) -> dict[str, list[Sureness]]:
        """How sure each method was, by seed; nothing unless calibrations were given."""
        found: dict[str, list[Sureness]] = {}
        for run, start, said in zip(self.asked, self._starts(), self.said, strict=True):
            if self.is_sure:
                table = np.array(said).reshape(-1, DEPTH + 1)
                one = Sureness(table[:, 1:], table[:, 0].astype(np.int64), self.found[start])
                found.setdefault(run.method, []).append(one)
        return found

    def sweep(self) -> dict[int, list[Ranks]]:
        """Ranks of the matches by number of proxies and query."""
        for run, start in zip(self.asked, self._starts(), strict=True):
            if run.counts:
                return {count: self.found[start + 1 + place] for place, count in enumerate(run.counts)}
        return {}

    def _starts(self) -> list[int]:
        return np.cumsum([0, *(1 + len(run.counts) for run in self.asked[:-1])]).tolist()

    def _done(self) -> int:
        return len(self.said[-1])

    def _state(self) -> dict[str, NDArray[Any]]:
        done = self._done()
        state = {str(place): np.concatenate(ranks[:done]) for place, ranks in enumerate(self.found)}
        return state | {f"sure {place}": np.array(said[:done]) for place, said in enumerate(self.said)}

    def _take_up(self, work: Unfinished | None, people: Sequence[str], own: int) -> int:
        earlier = work.take_up() if work else None
        if earlier is None:
            return 0
        done, state = earlier
        sizes = [(self.persons == person).sum() - own for person in people[:done]]
        for place, found in enumerate(self.found):
            found += np.split(np.asarray(state[str(place)]), np.cumsum(sizes)[:-1])
        for place, said in enumerate(self.said):
            said += list(np.asarray(state[f"sure {place}"]))
        return done


def _sureness(chances: NDArray[np.float64] | None, order: NDArray[np.int64]) -> NDArray[np.float64]:
    """How many answers are worth reading, then the probabilities of the first; -1 and NaN if nobody knows."""
    said = np.full(DEPTH + 1, np.nan)
    worth = worth_reading(chances)
    said[0] = -1 if worth is None else worth
    if chances is not None:
        first = chances[order[:DEPTH]]
        said[1 : 1 + len(first)] = first
    return said


def _counts(reranker: Reranker, tables: Tables) -> tuple[int, ...]:
    """How many proxies may speak; none to count for a re-ranker that does not ask them one by one."""
    most = min(reranker.asks, tables.neighbours.sets.shape[1] - 1)
    return tuple(range(1, most + 1))


def leave_one_out(
    tables: Tables,
    rerankers: Methods,
    labels: Labels,
    track: Track = silent,
    sweep: str | None = None,
    work: Unfinished | None = None,
    calibrations: Calibrations | None = None,
    count_query: bool = False,
    known: Mapping[str, Known] | None = None,
) -> Evaluation:
    """Ask for every set that has a match; the query is never its own target or proxy (section 3.4).

    A method has a re-ranker for each seed. Of the method `sweep` it is also asked what fewer of its proxies
    would say; with `calibrations`, whether answers are right as often as they are said to be. `work` keeps
    how far this has come, to go on from there.

    Parameters
    ----------
    count_query : bool
        Whether measures count the query as its own match, found first: to compare with figures that were
        made so. It is asked in the same way, and sets without another match are no queries either way.
    known : mapping of set id to Known, optional
        What is known of each set of the gallery (`lookalike.search.decided`), to measure with it. The sets
        that are known to show a query's person ask too and are ranked first, those that are known to show
        somebody else last: nobody is left out. Sureness is about the other sets.
    """
    if known is not None and sweep is not None:
        raise BadInput("what fewer proxies say is measured without decisions: leave sweep or known out")
    check_labels(labels, tables.ids)
    people = Counter(labels[id] for id in tables.ids)
    queries = [id for id in tables.ids if people[labels[id]] > 1]
    asked_for = [labels[id] for id in queries]
    decided = _decided(tables, known or {})
    asking = Asking(tables, rerankers, labels, sweep, calibrations, decided)
    asking.ask(lambda done: asking.search.rows(queries[done:]), asked_for, 1, track, work)
    others = len(tables) - len(queries)
    sureness, asked = asking.sureness(), [decided.get(tables.numbers[query]) for query in queries]
    if decided:
        sureness = {
            name: [_of_answers(one, asked, len(tables) - 1) for one in seeds]
            for name, seeds in sureness.items()
        }
    return Evaluation(
        queries,
        asked_for,
        len(tables),
        others,
        len(tables) - 1,
        asking.runs(),
        asking.sweep(),
        sureness=sureness,
        query_counted=count_query,
        known=None if known is None else _counted(asked, asked_for, asking.persons),
    )


def _decided(tables: Tables, known: Mapping[str, Known]) -> dict[int, _Decided]:
    """What is known of sets of whom anything is, by their numbers."""
    found = {}
    for id, one in known.items():
        sides = [
            np.array([tables.numbers[each.id] for each in side if each.id in tables.numbers], dtype=np.int64)
            for side in (one.confirmed, one.rejected)
        ]
        if id in tables.numbers and any(map(len, sides)):
            found[tables.numbers[id]] = _Decided(one, *sides)
    return found


def _of_answers(sureness: Sureness, asked: Sequence[_Decided | None], ranked: int) -> Sureness:
    """How sure a method was of the sets that nothing was known of, by their ranks among themselves."""
    ranks = []
    for own, one in zip(sureness.ranks, asked, strict=True):
        first, last = (0, 0) if one is None else (len(one.confirmed), len(one.rejected))
        ranks.append(own[(own > first) & (own <= ranked - last)] - first)
    return replace(sureness, ranks=ranks)


def _counted(asked: Sequence[_Decided | None], people: Sequence[str], persons: NDArray[np.str_]) -> Told:
    """How much was known of the queries, and how much of it the labels contradict."""
    there = [(one, person) for one, person in zip(asked, people, strict=True) if one is not None]
    return Told(
        queries=len(there),
        confirmed=sum(len(one.confirmed) for one, _ in there),
        rejected=sum(len(one.rejected) for one, _ in there),
        contradicted=sum(
            int((persons[one.confirmed] != person).sum() + (persons[one.rejected] == person).sum())
            for one, person in there
        ),
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
    """Ask for sets that are not in the gallery, each as if it were the only one; else as `leave_one_out`.

    `people` are on each query; those whom the gallery does not show are passed over.
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
    """Ask for prepared sets, by id, that were taken out of a gallery before its tables were made."""

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
