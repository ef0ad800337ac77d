"""Experiment: which methods are measured on a gallery, by which seeds and protocol, and the work itself."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lookalike import parts
from lookalike.collection.gallery import Gallery
from lookalike.collection.tables import TableStore
from lookalike.collection.unfinished import Unfinished
from lookalike.errors import BadInput
from lookalike.evaluation.labels import Labels, check_labels
from lookalike.evaluation.protocol import held_out, leave_one_out, outside
from lookalike.evaluation.record import labels_fingerprint
from lookalike.evaluation.results import Evaluation, joined
from lookalike.evaluation.splitting import split
from lookalike.faceset import FaceSet
from lookalike.progress import Track, silent
from lookalike.rerankers.contract import Reranker
from lookalike.training import check_seed, train
from lookalike.transitivity.tables import Tables

BASELINE = "baseline"
# How much of an evaluation a kill may cost.
SECONDS_BETWEEN_KEEPING = 10.0


@dataclass(frozen=True)
class Experiment:
    """What is measured on the tables of a gallery.

    Parameters
    ----------
    gallery : Gallery
    tables : Tables
        Of the whole gallery.
    labels : mapping of set id to person
        Exactly one for each set of the gallery, and for each query from outside.
    names : sequence of str
        The methods, as text with options; the baseline is always among them, first.
    seeds : sequence of int
        A method that learns by chance is measured once for each.
    queries : sequence of FaceSet, optional
        Sets from outside that are asked for instead of those of the gallery.
    is_split : bool
        Whether one set of each person is taken out and asked for from outside, anew for each seed.
    """

    gallery: Gallery
    tables: Tables
    labels: Labels
    names: Sequence[str]
    seeds: Sequence[int]
    queries: Sequence[FaceSet] | None = None
    is_split: bool = False

    @property
    def methods(self) -> dict[str, str]:
        """What is measured: each method by its name, written with every option."""
        return {name: parts.spec(parts.build("rerankers", name)) for name in with_baseline(self.names)}

    @property
    def protocol(self) -> str:
        """How it is measured, in a word."""
        if self.queries is not None:
            return "queries from outside"
        return "split" if self.is_split else "leave-one-out"

    def run(self, sweep: str | None = None, track: Track = silent) -> Evaluation:
        """Train what is missing and ask every query; a run that was interrupted goes on where it stopped."""
        if self.is_split:
            found = joined([self._split(seed, sweep, track) for seed in self.seeds])
            for seed in self.seeds:
                self._work(sweep, seed).drop()
            return found
        fitted = {name: self.fitted(name, track) for name in self.methods}
        work = self._work(sweep)
        if self.queries is not None:
            known = {id: self.labels[id] for id in self.tables.ids}
            people = [self.labels[query.id] for query in self.queries]
            found = outside(self.tables, fitted, self.queries, people, known, track, sweep, work)
        else:
            found = leave_one_out(self.tables, fitted, self.labels, track, sweep, work)
        work.drop()
        return found

    def fitted(self, name: str, track: Track = silent) -> list[Reranker]:
        """The second stage, once for each seed if chance has a part in it; trained and kept if it was not."""
        chance = parts.build("rerankers", name).is_random
        seeds = self.seeds if chance else self.seeds[:1]
        return [
            train(self.tables, parts.build("rerankers", name), seed, self.gallery, track) for seed in seeds
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
            "similarity": parts.spec(self.tables.similarity),
            "methods": self.methods,
            "protocol": self.protocol,
            "seeds": list(self.seeds),
        }

    def _split(self, seed: int, sweep: str | None, track: Track) -> Evaluation:
        rng = np.random.default_rng(seed)
        smaller, queries = split(self.tables, self.labels, rng, track)
        fitted = {name: train(smaller, name, seed, None, track) for name in self.methods}
        return held_out(smaller, fitted, queries, self.labels, track, sweep, self._work(sweep, seed))

    def _work(self, sweep: str | None, seed: int | None = None) -> Unfinished:
        asked = [] if self.queries is None else [query.content_hash() for query in self.queries]
        versions = [parts.build("rerankers", name).version for name in self.methods]
        shaped_by = f"{self.tables.fingerprint}|{self.facts()}|{versions}|{asked}|{sweep}|{seed}"
        origin = hashlib.sha256(shaped_by.encode()).hexdigest()[:32]
        store = TableStore.beside(self.gallery.path)
        kind = "unfinished evaluation" if seed is None else f"unfinished evaluation of split {seed}"
        return Unfinished(store, kind, origin, SECONDS_BETWEEN_KEEPING)


def with_baseline(names: Sequence[str]) -> list[str]:
    """The baseline, then the others, each once."""
    return list(dict.fromkeys([BASELINE, *names]))


def check_experiment(
    gallery: Gallery,
    labels: Labels,
    names: Sequence[str],
    seeds: Sequence[int],
    queries: Sequence[FaceSet] = (),
) -> None:
    """Refuse what cannot be measured, before any work is done.

    Raises
    ------
    BadInput, NotFound
        If a method is unknown or its options are refused, or the labels do not fit.
    """
    for name in names:
        parts.build("rerankers", name).check()
    for seed in seeds:
        check_seed(seed)
    if not seeds:
        raise BadInput("there is no seed to measure with: give at least one")
    if len(gallery):
        check_labels(labels, [*gallery.ids(), *(query.id for query in queries)])
