"""What the five numbers could tell if labels were known: into ``docs/lab/learnt.json``, under ``labelled``.

``make study`` runs this with the rest; ``python -m benchmarks.study_labelled`` runs it alone, keeps what else
is in the record, and writes the page again.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.real_faces import DATA, DOCS, collections
from benchmarks.study_page import page
from lookalike import Gallery, index
from lookalike.errors import LookalikeError, NotFound
from lookalike.evaluation.experiment import versions
from lookalike.evaluation.labels import Labels, read_labels
from lookalike.evaluation.measures import Ranks, summary
from lookalike.ingest.add import add
from lookalike.method.metafeatures import metafeatures
from lookalike.method.proxies import proxy_slots
from lookalike.method.tables import Tables, rows
from lookalike.parameters import PROXIES

Floats = NDArray[np.float64]

COLLECTIONS: Final = ("ytf_dev", "extyaleb_sets, by light", "ck48_sequences")
SIMILARITIES: Final = ("max_max", "max_correlation")
FOLDS: Final = 5
S2: Final = 1
# A little of each squared weight, so that numbers that say the same do not cancel each other.
RIDGE: Final = 1e-4


class Fit(NamedTuple):
    """Which of the five numbers a fit may use, and how those of ten proxies are put together."""

    name: str
    numbers: tuple[int, ...]  # places of s1 to s5
    largest: bool = False  # whether the largest over the proxies is used beside the mean
    both_ways: bool = False  # whether the target, asked as a query, speaks of the query too


PLAIN: Final = Fit("mean of all five", (0, 1, 2, 3, 4))
FITS: Final = (
    Fit("mean of s1, s2, s3", (0, 1, 2)),
    PLAIN,
    Fit("mean and largest of s1, s2, s3, both ways", (0, 1, 2), True, True),
    Fit("mean and largest of all five, both ways", (0, 1, 2, 3, 4), True, True),
)


def numbers(tables: Tables, proxies: int = PROXIES) -> tuple[Floats, Floats]:
    """Mean and largest over the proxies of the five numbers of every query and target; (n, n, 5) each."""
    total = len(tables)
    mean, largest = np.zeros((total, total, 5)), np.zeros((total, total, 5))
    for row in rows(tables, tables.sets[:], list(range(total))):
        features = metafeatures(row, tables, proxy_slots(tables.neighbours, proxies, row.member))
        mean[row.member], largest[row.member] = features.mean(axis=1), features.max(axis=1)
    return mean, largest


def columns(fit: Fit, mean: Floats, largest: Floats) -> Floats:
    """What a fit sees of every query and target; (n, n, columns)."""
    seen = mean[..., fit.numbers]
    if fit.largest:
        # s2 is the same by every proxy.
        seen = np.concatenate([seen, largest[..., [one for one in fit.numbers if one != S2]]], axis=-1)
    return (seen + seen.swapaxes(0, 1)) / 2 if fit.both_ways else seen


def folds(who: NDArray[np.int64]) -> NDArray[np.int64]:
    """The fold of each set: people are dealt out in turn, in a random order that is always the same."""
    people = who.max() + 1
    dealt = np.empty(people, dtype=np.int64)
    dealt[np.random.default_rng(0).permutation(people)] = np.arange(people) % FOLDS
    return dealt[who]


def held_out_scores(seen: Floats, who: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Scores of all targets for each query by weights that were fitted without its people; and the weights.

    Least squares on pairs of sets of which neither shows anybody of the fold that asks; matches and others
    have the same weight in all. Columns are in units of their spread, so that weights can be compared.

    Returns
    -------
    scores : array (n, n)
    weights : array (FOLDS, columns)
    """
    same, fold, itself = who[:, None] == who[None, :], folds(who), np.eye(len(who), dtype=bool)
    scores, weights = np.zeros(same.shape), []
    for number in range(FOLDS):
        known = fold != number
        pairs = known[:, None] & known[None, :] & ~itself
        x, y = seen[pairs], same[pairs].astype(np.float64)
        centre, spread = x.mean(axis=0), x.std(axis=0)
        x = (x - centre) / np.where(spread > 0, spread, 1.0)
        x = np.column_stack([x, np.ones(len(x))])
        # Matches are few: half of all weight is theirs.
        weighted = x * np.where(y == 1, 0.5 / y.sum(), 0.5 / (1 - y).sum())[:, None]
        found = np.linalg.solve(weighted.T @ x + RIDGE * np.eye(x.shape[1]), weighted.T @ y)[:-1]
        asks = fold == number
        scores[asks] = ((seen[asks] - centre) / np.where(spread > 0, spread, 1.0)) @ found
        weights.append(found)
    return scores, np.array(weights)


def ranks_of(scores: Floats, who: NDArray[np.int64]) -> list[Ranks]:
    """Ranks of the matches of every set that has one; the query is left out."""
    found = []
    for query, row in enumerate(scores):
        order = np.argsort(-row, kind="stable")
        order = order[order != query]
        ranks = np.flatnonzero(who[order] == who[query]) + 1
        if len(ranks):
            found.append(ranks)
    return found


def labelled(tables: Tables, labels: Labels) -> dict[str, Any]:
    """Measures of the baseline and of each fit on people it has not seen, and the weights of one."""
    persons = np.array([labels[id] for id in tables.ids])
    _, who = np.unique(persons, return_inverse=True)
    mean, largest = numbers(tables)
    measured = {"baseline": summary(ranks_of(mean[..., S2], who), len(tables) - 1)}
    weights: dict[str, Any] = {}
    for fit in FITS:
        scores, found = held_out_scores(columns(fit, mean, largest), who)
        measured[fit.name] = summary(ranks_of(scores, who), len(tables) - 1)
        if fit is PLAIN:
            weights = {f"s{place + 1}": found[:, place].tolist() for place in fit.numbers}
    return {"sets": len(tables), "people": int(who.max()) + 1, "fits": measured, "weights": weights}


def measure_labelled(data: Path, folder: Path) -> dict[str, Any] | None:
    """Measure every collection at hand; None if there is none."""
    runs = list(_runs(data, folder))
    if not runs:
        return None
    return {"date": time.strftime("%Y-%m-%d"), "versions": versions(), "folds": FOLDS, "runs": runs}


def _runs(data: Path, folder: Path) -> Iterator[dict[str, Any]]:
    for number, one in enumerate(collections(data, None, folder)):
        if one.name not in COLLECTIONS:
            continue
        path = folder / f"labelled {number}.gallery"
        add(path, [one.source])
        labels = read_labels(one.labels)
        with Gallery(path) as gallery:
            for similarity in SIMILARITIES:
                print(f"labelled fits, {one.name}, {similarity}", file=sys.stderr)
                tables = index(gallery, similarity, preparation="none")
                yield {"collection": one.name, "similarity": similarity, **labelled(tables, labels)}


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.study_labelled", description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the .npz files")
    parser.add_argument("--out", type=Path, default=DOCS, help="folder of learnt.json and learnt.md")
    options = parser.parse_args()
    record = options.out / "learnt.json"
    try:
        if not record.is_file():
            raise NotFound(f"there is no {record}: run `make study` first")
        with tempfile.TemporaryDirectory() as name:
            found = measure_labelled(options.data, Path(name))
        if found is None:
            raise NotFound(f"there are no faces in {options.data}: give --data, see docs/lab/learnt.md")
    except LookalikeError as reason:
        sys.exit(f"labelled: {reason}")
    kept = {**json.loads(record.read_text(encoding="utf-8")), "labelled": found}
    record.write_text(json.dumps(kept, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    (options.out / "learnt.md").write_text(page(kept), encoding="utf-8")
    print(f"{len(found['runs'])} labelled fits in {options.out / 'learnt.md'}")


if __name__ == "__main__":
    main()
