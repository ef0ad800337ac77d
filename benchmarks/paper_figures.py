"""How the paper's figures may have come about: measured into ``docs/lab/results.json``, under ``paper``.

``make results`` runs this with the rest; ``python -m benchmarks.paper_figures`` runs it alone, keeps what
else is in the record, and writes the page again.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, product
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike import Gallery, index, train
from lookalike.errors import LookalikeError, NotFound
from lookalike.evaluation.experiment import versions
from lookalike.evaluation.labels import Labels, read_labels
from lookalike.evaluation.measures import Ranks, average_normalised_rank, with_query_counted
from lookalike.evaluation.protocol import leave_one_out
from lookalike.ingest.add import add
from lookalike.method.metafeatures import metafeatures
from lookalike.method.proxies import proxy_slots
from lookalike.method.regression import MOST_ROWS, Settings, draw_examples, features_asked, fit_regression
from lookalike.method.tables import Tables
from lookalike.rerankers.baseline import Baseline
from lookalike.rerankers.contract import Scored
from lookalike.search.query import Search

Floats = NDArray[np.float64]

FACES: Final = "ytf_dev"
# Queries of the YouTube Faces Database by their number of matches, as its list of videos has them; the last
# stands for three and more.
QUERIES: Final = {1: 942, 2: 921, 3: 971}
SIMILARITIES: Final = ("max_max", "max_correlation")
# A ranking that is really better: faces prepared without labels, compared by the same similarity.
PREPARED: Final = "whitened:root=true"
SEEDS: Final = (0, 1, 2)
QUANTILE: Final = 0.98

# ANR as if the queries had the numbers of matches of another collection.


def fewer_matches(ranks: Ranks, total: int, count: int) -> Iterator[tuple[Ranks, int]]:
    """Every choice of so many of a query's matches, as if the gallery had no other: ranks, sets ranked."""
    ordered = np.sort(ranks)
    for kept in combinations(range(len(ordered)), count):
        places = np.array(kept)
        # Of the matches before a kept one, those that are not kept are gone: it moves up by as many.
        yield ordered[places] - (places - np.arange(count)), total - (len(ordered) - count)


def reweighted(
    all_ranks: Sequence[Ranks], total: int, counted: bool, queries: dict[int, int]
) -> tuple[Floats, Floats]:
    """ANR of every query with every choice of its matches, and weights that make their numbers fit.

    A query with C matches stands for queries with 1, 2, ... C: by all its choices, in equal parts. All
    queries that can have so many matches share the weight of that number. Nothing is drawn at random.
    """
    anr, weights = [], []
    for count, wanted in queries.items():
        able = [ranks for ranks in all_ranks if len(ranks) >= count]
        for ranks in able:
            choices = list(fewer_matches(ranks, total, count))
            for some, among in choices:
                [one], sets = with_query_counted([some], among) if counted else ([some], among)
                anr.append(average_normalised_rank(one, sets))
                weights.append(wanted / (len(able) * len(choices)))
    return np.array(anr), np.array(weights)


def figures(
    all_ranks: Sequence[Ranks], total: int, counted: bool, queries: dict[int, int] = QUERIES
) -> dict[str, float]:
    """The paper's figures of one method, with YouTube Faces' numbers of matches."""
    anr, weights = reweighted(all_ranks, total, counted, queries)
    share = weights / weights.sum()
    order = np.argsort(anr, kind="stable")
    reached = int(np.searchsorted(np.cumsum(share[order]), QUANTILE - 1e-12))
    return {
        "mean_anr": float(share @ anr),
        "anr_below_0.3": float(share @ (anr < 0.3)),
        "anr_below_0.5": float(share @ (anr < 0.5)),
        "anr_q98": float(anr[order][min(reached, len(anr) - 1)]),
    }


# Readings of the recipe.

BETTER: Final = {"mean_anr": min, "anr_below_0.3": max, "anr_below_0.5": max, "anr_q98": min}

PROXIES: Final = (1, 3, 10)
ACROSS: Final[dict[str, Callable[[Floats], Floats]]] = {
    "max": lambda said: said.max(axis=1),
    "mean": lambda said: said.mean(axis=1),
    "median": lambda said: np.median(said, axis=1),
}
BESIDE: Final[dict[str, Callable[[Floats, Floats], Floats]]] = {
    "alone": lambda said, baseline: said,
    "max with the baseline": np.maximum,
    "mean with the baseline": lambda said, baseline: (said + baseline) / 2,
}


# Scaled numbers fill the kernel: its rank is no longer small, so fewer rows and landmarks are used.
SOME_ROWS: Final = 10_000
FEW: Final = Settings(rank_tolerance=1e-6, most_landmarks=150)


class Scaling(NamedTuple):
    """What is taken off each number, and what it is then divided by."""

    centre: Floats
    spread: Floats

    @classmethod
    def of(cls, rows: Floats) -> Scaling:
        """Mean and standard deviation of rows; what differs by rounding alone is only moved."""
        spread = rows.std(axis=0)
        return cls(rows.mean(axis=0), np.where(spread > 1e-9, spread, 1.0))

    def __call__(self, rows: Floats) -> Floats:
        """Scaled rows (..., 5)."""
        return (rows - self.centre) / self.spread


class Scale(NamedTuple):
    """A way to scale the five numbers, from the training rows and from what retrieval asks."""

    name: str
    make: Callable[[Floats, Floats], Scaling]


def _range(rows: Floats, low: float) -> Scaling:
    """Training rows fill the range from low to 1, as libsvm's own tool scales them."""
    least, most = rows.min(axis=0), rows.max(axis=0)
    width = np.where(most - least > 1e-9, (most - least) / (1 - low), 1.0)
    return Scaling(least - low * width, width)


SCALES: Final = (
    Scale("as they are", lambda training, asked: Scaling(np.zeros(5), np.ones(5))),
    Scale("spread of the training rows", lambda training, asked: Scaling.of(training)),
    Scale("spread of what retrieval asks", lambda training, asked: Scaling.of(asked)),
    Scale("training rows from 0 to 1", lambda training, asked: _range(training, 0.0)),
    Scale("training rows from -1 to 1", lambda training, asked: _range(training, -1.0)),
)


Reading = tuple[str, int, str, str]


def readings(tables: Tables, labels: Labels, seed: int) -> dict[str, Any]:
    """The best figure that any reading of the recipe reaches, and which reading that is."""
    ranks = ranks_by_reading(tables, labels, seed)
    found = {name: figures(some, len(tables) - 1, counted=False) for name, some in ranks.items()}
    best = {}
    for measure, choose in BETTER.items():
        value, name = choose((found[name][measure], name) for name in found)
        best[measure] = {"value": value, "reading": list(name)}
    return {"tried": len(found), "best": best}


def ranks_by_reading(tables: Tables, labels: Labels, seed: int) -> dict[Reading, list[Ranks]]:
    """Ranks of the matches of every query by every reading.

    A reading is a way to scale the five numbers, to choose how many of the ten proxies speak, to put together
    what they say, and to hold it beside the baseline. All are trained on the paper's examples of one seed.
    """
    persons = np.array([labels[id] for id in tables.ids])
    regressors = {scale.name: _trained(tables, scale, seed) for scale in SCALES}
    ranks: dict[Reading, list[Ranks]] = {name: [] for name in product(regressors, PROXIES, ACROSS, BESIDE)}
    search = Search(tables, Baseline())
    for row in search.rows([id for id in tables.ids if (persons == labels[id]).sum() > 1]):
        features = metafeatures(row, tables, proxy_slots(tables.neighbours, max(PROXIES), row.member))
        same = persons == persons[row.member]
        for scale, regress in regressors.items():
            said = np.clip(regress(features.reshape(-1, 5)), 0.0, 1.0).reshape(features.shape[:2])
            for count, across, beside in product(PROXIES, ACROSS, BESIDE):
                scores = BESIDE[beside](ACROSS[across](said[:, :count]), row.scores)
                others = search.scoring(row, Scored(scores, np.full(len(scores), -1)))
                place = np.flatnonzero(same[others.targets[others.order()]]) + 1
                ranks[scale, count, across, beside].append(place)
    return ranks


def _trained(tables: Tables, scale: Scale, seed: int) -> Callable[[Floats], Floats]:
    is_plain = scale is SCALES[0]
    most = MOST_ROWS if is_plain else SOME_ROWS
    x, y = draw_examples(tables, np.random.default_rng(seed), proxies=max(PROXIES), most=most)
    scaling = scale.make(x, features_asked(tables, max(PROXIES)))
    regressor = fit_regression(scaling(x), y, Settings() if is_plain else FEW)
    return lambda rows: regressor.predict(scaling(rows))


# The whole measurement.


def measure_paper(faces: Path, folder: Path, seeds: Sequence[int] = SEEDS) -> dict[str, Any]:
    """Figures of the baselines and of `learnt`, the query left out and counted; readings of the recipe."""
    path = folder / "paper.gallery"
    add(path, [faces])
    labels = read_labels(faces)
    runs = []
    with Gallery(path) as gallery:
        known = {id: labels[id] for id in gallery.ids()}
        for similarity in SIMILARITIES:
            print(f"the paper's figures, {similarity}", file=sys.stderr)
            tables = index(gallery, similarity, preparation="none")
            run = _figures(tables, known, {"baseline": seeds[:1], "learnt": seeds})
            runs.append({"similarity": similarity, **run, "readings": readings(tables, known, seeds[0])})
        tables = index(gallery, SIMILARITIES[0], preparation=PREPARED)
        better = _figures(tables, known, {"baseline": seeds[:1]})
    return {
        "date": time.strftime("%Y-%m-%d"),
        "versions": versions(),
        "collection": faces.stem,
        "queries": QUERIES,
        "seeds": list(seeds),
        "sets": len(known),
        "scales": len(SCALES),
        "proxies": list(PROXIES),
        "runs": runs,
        "prepared": {"similarity": SIMILARITIES[0], "preparation": PREPARED, **better},
    }


def _figures(tables: Tables, labels: Labels, methods: dict[str, Sequence[int]]) -> dict[str, Any]:
    fitted = {name: [train(tables, name, seed) for seed in seeds] for name, seeds in methods.items()}
    result = leave_one_out(tables, fitted, labels)
    found: dict[str, Any] = {
        name: {
            kind: _mean([figures(ranks, result.ranked, counted) for ranks in runs])
            for kind, counted in (("left_out", False), ("counted", True))
        }
        for name, runs in result.runs.items()
    }
    available = np.bincount(result.available()).tolist()
    return {"available": {count: many for count, many in enumerate(available) if many}, "methods": found}


def _mean(seeds: list[dict[str, float]]) -> dict[str, float]:
    return {name: float(np.mean([one[name] for one in seeds])) for name in seeds[0]}


def main() -> None:
    from benchmarks.real_faces import DATA, DOCS
    from benchmarks.results_page import page

    parser = argparse.ArgumentParser(prog="benchmarks.paper_figures", description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the .npz files")
    parser.add_argument("--out", type=Path, default=DOCS, help="folder of results.json and results.md")
    options = parser.parse_args()
    faces, record = options.data / f"{FACES}.npz", options.out / "results.json"
    try:
        for path in (faces, record):
            if not path.is_file():
                raise NotFound(f"there is no {path}: give --data and --out, see docs/lab/results.md")
        with tempfile.TemporaryDirectory() as name:
            found = measure_paper(faces, Path(name))
    except LookalikeError as reason:
        sys.exit(f"paper: {reason}")
    kept = {**json.loads(record.read_text(encoding="utf-8")), "paper": found}
    text = json.dumps(kept, indent=1, allow_nan=False)
    record.write_text(text + "\n", encoding="utf-8")
    # As it will be read again: keys are text in JSON.
    (options.out / "results.md").write_text(page(json.loads(text)), encoding="utf-8")
    print(f"the paper's figures are in {options.out / 'results.md'}")


if __name__ == "__main__":
    main()
