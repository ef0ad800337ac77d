"""Experiment: which methods are measured on a gallery, how, and the record of what was found."""

from __future__ import annotations

import hashlib
import os
import platform
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from typing import Any, Final, NamedTuple

import numpy as np

from lookalike import registry
from lookalike.engines.contract import Engine
from lookalike.errors import BadInput, Conflict
from lookalike.evaluation.labels import Labels, check_labels, check_measurable
from lookalike.evaluation.measures import Evaluation, joined
from lookalike.evaluation.protocol import held_out, leave_one_out, outside
from lookalike.evaluation.statistics import Gains
from lookalike.faceset import FaceSet
from lookalike.gallery.gallery import Gallery
from lookalike.indexing.build import NEIGHBOURS_KEPT, index
from lookalike.indexing.fit import calibrate, check_seed, train
from lookalike.indexing.store import TableStore, Unfinished
from lookalike.indexing.transform import AUTO
from lookalike.kernels.threads import thread_count
from lookalike.method.calibration import Calibration
from lookalike.method.proxies import find_neighbours
from lookalike.method.tables import Tables
from lookalike.parameters import PARAMETERS
from lookalike.preparations.contract import Preparation
from lookalike.progress import Before, Track, silent
from lookalike.rerankers.contract import Reranker
from lookalike.search.decided import Known, known_of
from lookalike.similarities.contract import Prepared, SetSimilarity

# Raised whenever a key changes its meaning.
FORMAT: Final = 1
NUMERICAL: Final = ("numpy", "scipy", "scikit-learn", "pillow", "threadpoolctl")


def record(evaluation: Evaluation, found: Gains, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Put the figures of an evaluation beside what made them, as values that JSON can hold.

    `found` are the gains of every other method over the baseline; `facts` what the evaluation itself does
    not know: gallery, labels, parts, seeds, protocol. People are numbers; the names of sets are those of the
    gallery.
    """
    queries, people = evaluation.with_one_match()
    _, who = np.unique(np.asarray(evaluation.people), return_inverse=True)
    return {
        "format": FORMAT,
        **facts,
        **evaluation.to_dict(),
        "ranked": evaluation.ranked,
        "people": len(set(evaluation.people)),
        "single_match": {"queries": queries, "people": people},
        "by_seed": {name: evaluation.summaries(name) for name in evaluation.runs},
        "against_baseline": {
            name: {
                measure: {**gain.difference._asdict(), "p": gain.p, "p_corrected": gain.p_corrected}
                for measure, gain in measures.items()
            }
            for name, measures in found.items()
        },
        "parameters": {parameter.name: parameter.default for parameter in PARAMETERS},
        "versions": versions(),
        "per_query": {
            "id": evaluation.queries,
            "person": who.tolist(),
            "available": evaluation.available().tolist(),
            "values": {
                name: {measure: values.tolist() for measure, values in evaluation.values(name).items()}
                for name in evaluation.runs
            },
        },
    }


def versions() -> dict[str, str]:
    """What the figures were computed with."""
    found = {name: version(name) for name in ("lookalike", *NUMERICAL)}
    return {
        **found,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": str(os.cpu_count()),
        "threads": str(thread_count()),
    }


def labels_fingerprint(labels: Labels) -> str:
    """SHA-256 of who is on which set, in the order of the ids: equal for equal labels in any file."""
    digest = hashlib.sha256()
    for id, person in sorted(labels.items()):
        digest.update(f"{len(id.encode())}:{id}={len(person.encode())}:{person};".encode())
    return digest.hexdigest()


BASELINE = "baseline"
LEAVE_ONE_OUT = "leave-one-out"
# How much of an evaluation a kill may cost.
SECONDS_BETWEEN_KEEPING = 10.0


@dataclass(frozen=True)
class Experiment:
    """What is measured on the tables of a whole gallery.

    `names` are the methods, as text with options; the baseline is always among them, first. One that learns
    by chance is measured once for each of the seeds. `labels` has exactly one for each set and each query.
    """

    gallery: Gallery
    tables: Tables
    labels: Labels
    names: Sequence[str]
    seeds: Sequence[int]
    # From outside, that are asked for instead of sets of the gallery.
    queries: Sequence[FaceSet] | None = None
    # Whether one set of each person is taken out and asked for from outside, anew for each seed.
    is_split: bool = False
    # Whether measures count the query as its own match, found first; of sets of the gallery only.
    count_query: bool = False
    # Whether what was decided, and who was seen side by side, counts as in `lookalike.find`; of these only.
    decisions: bool = False

    @property
    def methods(self) -> dict[str, str]:
        """What is measured: each method by its name, written with every option."""
        return {name: registry.spec(registry.build("rerankers", name)) for name in with_baseline(self.names)}

    @property
    def protocol(self) -> str:
        """How it is measured, in a word."""
        if self.queries is not None:
            return "queries from outside"
        return "split" if self.is_split else LEAVE_ONE_OUT

    def run(self, sweep: str | None = None, track: Track = silent) -> Evaluation:
        """Train what is missing and ask every query; a run that was interrupted goes on where it stopped.

        What was found stays kept until `finish`: a report that fails does not cost the work.
        """
        if self.count_query and self.protocol != LEAVE_ONE_OUT:
            raise BadInput(
                "a query from outside the gallery cannot count as its own match: leave count_query out, or "
                "ask for the sets of the gallery"
            )
        if self.decisions and self.protocol != LEAVE_ONE_OUT:
            raise BadInput(
                "nothing is decided of a query from outside the gallery: leave decisions out, or ask for the "
                "sets of the gallery"
            )
        if self.is_split:
            return joined([self._split(seed, sweep, track) for seed in self.seeds])
        fitted = {name: self.fitted(name, track) for name in self.methods}
        sure = {name: self._calibrated(fitted[name], track) for name in fitted}
        work = self._work(sweep)
        if self.queries is not None:
            known = {id: self.labels[id] for id in self.tables.ids}
            people = [self.labels[query.id] for query in self.queries]
            return outside(self.tables, fitted, self.queries, people, known, track, sweep, work, sure)
        return leave_one_out(
            self.tables, fitted, self.labels, track, sweep, work, sure, self.count_query, self._known
        )

    @cached_property
    def _known(self) -> dict[str, Known] | None:
        """What is known of each set, as it was when this was first asked for; None if it does not count."""
        return known_of_all(self.gallery, self.tables.ids) if self.decisions else None

    def already_asked(self, sweep: str | None = None) -> int:
        """How many queries an interrupted run has asked, which `run` will not ask again."""
        works = [self._work(sweep, seed) for seed in (self.seeds if self.is_split else (None,))]
        return sum(earlier[0] for work in works if (earlier := work.take_up()) is not None)

    def finish(self) -> None:
        """Forget how far the work has come: its result is in safe hands."""
        for seed in self.seeds if self.is_split else (None,):
            self._work(None, seed).drop()

    @property
    def focus(self) -> str | None:
        """The method that the reader came for: the first that is not the baseline."""
        return next((name for name in self.names if name != BASELINE), None)

    def fitted(self, name: str, track: Track = silent, before: Before | None = None) -> list[Reranker]:
        """The re-ranker, once for each seed if chance has a part in it; trained and kept if it was not."""
        chance = registry.build("rerankers", name).is_random
        seeds = self.seeds if chance else self.seeds[:1]
        return [train(self.tables, name, seed, self.gallery, track, before) for seed in seeds]

    def _calibrated(self, fitted: list[Reranker], track: Track) -> list[Calibration]:
        seeds = self.seeds[: len(fitted)]
        return [
            calibrate(self.tables, one, seed, self.gallery, track)
            for one, seed in zip(fitted, seeds, strict=True)
        ]

    def facts(self) -> dict[str, Any]:
        """What shapes the figures and is not in them."""
        held = self.gallery.facts()
        return {
            "gallery": {
                "sets": len(self.tables),
                "faces": held["faces"],
                "descriptor": self.gallery.descriptor,
                "dimension": self.tables.dimension,
                "fingerprint": self.gallery.fingerprint(),
            },
            "labels": labels_fingerprint(self.labels),
            "similarity": registry.spec(self.tables.similarity),
            "preparation": registry.spec(self.tables.preparation),
            "methods": self.methods,
            "protocol": self.protocol,
            "seeds": list(self.seeds),
        }

    def _split(self, seed: int, sweep: str | None, track: Track) -> Evaluation:
        rng = np.random.default_rng(seed)
        smaller, queries = split(self.tables, self.labels, rng, track)
        fitted = {name: train(smaller, name, seed, None, track) for name in self.methods}
        sure = {name: [calibrate(smaller, fitted[name], seed, None, track)] for name in fitted}
        return held_out(smaller, fitted, queries, self.labels, track, sweep, self._work(sweep, seed), sure)

    def _work(self, sweep: str | None, seed: int | None = None) -> Unfinished:
        asked = [] if self.queries is None else [query.content_hash() for query in self.queries]
        versions = [registry.build("rerankers", name).version for name in self.methods]
        # The last number is raised whenever what is kept of unfinished work changes.
        shaped_by = f"{self.tables.fingerprint}|{self.facts()}|{versions}|{asked}|{sweep}|{seed}|2"
        if self._known is not None:
            shaped_by += f"|{self._known}"
        origin = hashlib.sha256(shaped_by.encode()).hexdigest()[:32]
        store = TableStore.beside(self.gallery.path)
        kind = "unfinished evaluation" if seed is None else f"unfinished evaluation of split {seed}"
        return Unfinished(store, kind, origin, SECONDS_BETWEEN_KEEPING)


def evaluate(
    gallery: Gallery | Iterable[FaceSet],
    labels: Labels,
    rerankers: Sequence[str] = ("auto",),
    similarity: SetSimilarity | str = "max_max",
    seed: int = 0,
    track: Track = silent,
    preparation: Preparation | str = AUTO,
    engine: Engine | str | None = None,
    decisions: bool = False,
) -> Evaluation:
    """Measure how well sets are found whose people are known: every set with a match is a query.

    `Experiment` does the same with several seeds, with queries from outside, and for a report.

    Parameters
    ----------
    gallery : Gallery or iterable of FaceSet
    labels : mapping of set id to person
        Exactly one for each set.
    rerankers : sequence of str
        What is measured, beside the baseline.
    similarity, seed, track, preparation, engine
        As for `find`.
    decisions : bool
        Whether what was decided in the gallery, and who was seen side by side, counts, as it does for `find`.
        Sets that are known to show a query's person then ask too and are ranked first, those that are known
        to show somebody else last; `Evaluation.known` says how many.

    Raises
    ------
    BadInput
        If the labels do not fit the sets, or nobody is on two of them; if decisions are to count of sets
        that are in no gallery.

    Examples
    --------
    >>> from lookalike import evaluate
    >>> from lookalike.demo.vectors import vector_world
    >>> drawn = list(vector_world(counts={3: 8}, faces=4, dimension=118))
    >>> labels = {one.id: str(person) for one, person in drawn}
    >>> found = evaluate([one for one, _ in drawn], labels, rerankers=["csls"])
    >>> list(found.to_dict()["rerankers"]), len(found.queries)
    (['baseline', 'csls'], 24)
    """
    if isinstance(rerankers, str):
        raise BadInput(f"rerankers must be a list of names, got the text {rerankers!r}: put it into a list")
    check_seed(seed)
    names = with_baseline(rerankers)
    for name in names:
        registry.build("rerankers", name).check()
    stored = gallery if isinstance(gallery, Gallery) else None
    if decisions and stored is None:
        raise BadInput("decisions are kept in a gallery: give one, or leave decisions out")
    tables = index(gallery, similarity, track, preparation, engine)
    check_labels(labels, tables.ids)
    persons = [labels[set_id] for set_id in tables.ids]
    people = Counter(persons)
    check_measurable(persons, [who for who in persons if people[who] > 1])
    fitted = {name: [train(tables, name, seed, stored, track)] for name in names}
    sure = {name: [calibrate(tables, fitted[name][0], seed, stored, track)] for name in names}
    known = known_of_all(stored, tables.ids) if decisions and stored is not None else None
    return leave_one_out(tables, fitted, labels, track, calibrations=sure, known=known)


def known_of_all(gallery: Gallery, ids: Sequence[str]) -> dict[str, Known]:
    """What a gallery knows of each of some sets."""
    return {id: known_of(gallery, id) for id in ids}


def with_baseline(names: Sequence[str]) -> list[str]:
    """The baseline, then the others, each once."""
    return list(dict.fromkeys([BASELINE, *names]))


def check_experiment(
    gallery: Gallery,
    labels: Labels,
    names: Sequence[str],
    seeds: Sequence[int],
    queries: Sequence[FaceSet] | None = None,
) -> None:
    """Refuse what cannot be measured, before any work is done."""
    written: dict[str, str] = {}
    for name in with_baseline(names):
        part = registry.build("rerankers", name)
        part.check()
        if written.setdefault(registry.spec(part), name) != name:
            raise BadInput(f"{written[registry.spec(part)]!r} and {name!r} are the same method: name it once")
    for seed in seeds:
        check_seed(seed)
    if not seeds:
        raise BadInput("there is no seed to measure with: give at least one")
    held = gallery.contents()
    contents = set(held.values())
    given = queries or ()
    asked = [query.id for query in given]
    inside = [query.id for query in given if query.id in held]
    inside += [query.id for query in given if query.content_hash() in contents]
    if inside:
        raise BadInput(
            f"{len(set(inside))} queries are in the gallery, for instance {inside[0]!r}: leave --queries out "
            f"to ask for sets of the gallery"
        )
    twice = [id for id, count in Counter(asked).items() if count > 1]
    if twice:
        raise Conflict(f"two queries are called {twice[0]!r}: rename one")
    if held:
        check_labels(labels, [*held, *asked])
        _check_matches(gallery, labels, queries)


def _check_matches(gallery: Gallery, labels: Labels, queries: Sequence[FaceSet] | None) -> None:
    for query in queries or ():
        if query.dimension != gallery.dimension:
            raise BadInput(
                f"query {query.id!r} is described by {query.dimension} numbers a face, the gallery by "
                f"{gallery.dimension}: describe both the same way"
            )
    persons = [labels[id] for id in gallery.ids()]
    people = Counter(persons)
    asked = persons if queries is None else [labels[query.id] for query in queries]
    check_measurable(persons, [who for who in asked if people[who] > (queries is None)])


class Split(NamedTuple):
    """A gallery that never saw its queries."""

    tables: Tables
    queries: dict[str, Prepared]


def split(tables: Tables, labels: Labels, rng: np.random.Generator, track: Track = silent) -> Split:
    """Take a random set of everybody who has two or more out of the gallery, and index the rest anew."""
    check_labels(labels, tables.ids)
    by_person: dict[str, list[int]] = {}
    for number, id in enumerate(tables.ids):
        by_person.setdefault(labels[id], []).append(number)
    asked = sorted(int(rng.choice(numbers)) for numbers in by_person.values() if len(numbers) > 1)
    taken = set(asked)
    kept = np.array([number for number in range(len(tables)) if number not in taken], dtype=np.int64)
    sets = tables.sets[kept]
    near = find_neighbours(tables.similarity, sets, NEIGHBOURS_KEPT, track)
    ids = tuple(tables.ids[number] for number in kept.tolist())
    smaller = Tables(ids, tables.dimension, tables.similarity, sets, near, preparation=tables.preparation)
    return Split(smaller, {tables.ids[number]: tables.sets[number] for number in asked})
