"""Results on real faces: every method on every collection, into ``docs/lab/results.json`` and its page.

``make results`` runs this. The collections are not part of the project: ``--data`` is the folder of the three
``.npz`` files, and of ``ytf_frames`` (see `footage_faces`), ``--youtube-faces`` the folder of the whole
YouTube Faces Database, for those who have it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.footage_faces import FOLDER, measure_films
from benchmarks.paper_figures import FACES, measure_paper
from benchmarks.results_page import page, plot_name
from lookalike import Gallery, index
from lookalike.cli.output import Progresses
from lookalike.errors import LookalikeError, NotFound
from lookalike.evaluation.drawing import svg
from lookalike.evaluation.experiment import BASELINE, Experiment, check_experiment, record, versions
from lookalike.evaluation.labels import read_labels
from lookalike.evaluation.learning import features_met, retrieval_features
from lookalike.evaluation.statistics import gains
from lookalike.evaluation.verdict import verdict
from lookalike.ingest.add import add
from lookalike.method.regression import far_from

DOCS = Path(__file__).parents[1] / "docs" / "lab"
DATA = Path(os.environ.get("LOOKALIKE_DATA", Path(__file__).parents[2] / "shared" / "data"))
SIMILARITIES = ("max_max", "max_correlation")
PAPER = ("learnt", "arithmetic_mean", "geometric_mean", "quadratic_mean")
# Our defaults; beside them lists of another length: the authors', or one that fits few sets a person.
RIVALS = (
    "csls",
    "as_norm",
    "k_reciprocal",
    "k_reciprocal:k1=6,k2=2",
    "cprr",
    "cprr:neighbours=20",
    "rl_sim",
    "diffusion",
    "query_expansion",
)
# Ours: see docs/lab/reranking.md.
OURS = ("adaptive", "auto")
SEEDS = (0, 1, 2)


class Collection(NamedTuple):
    """One collection of real faces."""

    name: str
    source: Path
    labels: Path


def collections(data: Path, youtube: Path | None, folder: Path) -> Iterator[Collection]:
    """What is at hand; a second way to cut a file into sets is written into the folder."""
    if youtube is not None:
        yield Collection("youtube_faces", youtube, youtube)
    for name in ("ytf_dev", "extyaleb_sets", "ck48_sequences"):
        path = data / f"{name}.npz"
        if not path.exists():
            continue
        yield Collection(name, path, path)
        with np.load(path, allow_pickle=False) as arrays:
            if "image_set_by_light" in arrays:
                other = folder / f"{name}_by_light.npz"
                kept = {key: arrays[key] for key in ("images", "set_names", "set_person")}
                np.savez(other, image_set=arrays["image_set_by_light"], **kept)
                yield Collection(f"{name}, by light", other, other)


def measure(collection: Collection, folder: Path, figures: Path) -> Iterator[dict[str, Any]]:
    """Measure all methods on both baselines; the plots of training against retrieval go into a folder."""
    track = Progresses()
    path = folder / f"{collection.name}.gallery"
    add(path, [collection.source], track=track)
    labels = read_labels(collection.labels)
    with Gallery(path) as gallery:
        names = [*PAPER, *RIVALS, *OURS]
        known = {id: labels[id] for id in gallery.ids()}
        check_experiment(gallery, known, names, SEEDS)
        for similarity in SIMILARITIES:
            print(f"{collection.name}, {similarity}", file=sys.stderr)
            experiment = Experiment(gallery, index(gallery, similarity, track, "none"), known, names, SEEDS)
            result = experiment.run(track=track)
            found = gains(result, BASELINE)
            kept = record(result, found, {"collection": collection.name, **experiment.facts()})
            kept["verdict"] = verdict(result, found, BASELINE, PAPER[0])
            met = features_met(experiment.tables, experiment.fitted(PAPER[0])[0], known, SEEDS[0])
            if met is not None:
                kept |= {"outside_training": met.outside(), "told_apart": met.told_apart()}
                x, y = met.training
                outside = far_from(x, np.concatenate([met.matches, met.others]))
                figure = retrieval_features(x, y, met.matches, met.others, outside)
                place = figures / plot_name(kept)
                place.write_text(svg(figure), encoding="utf-8")
            # One line for each query would fill the page of differences; the command makes them again.
            for unneeded in ("per_query", "parameters", "versions"):
                kept.pop(unneeded)
            yield kept
            experiment.finish()


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.real_faces", description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the .npz files")
    parser.add_argument("--youtube-faces", type=Path, help="folder of the YouTube Faces Database")
    parser.add_argument("--work", type=Path, help="folder of the galleries, to go on after an interruption")
    parser.add_argument("--out", type=Path, default=DOCS, help="folder of results.json, results.md, figures/")
    options = parser.parse_args()
    try:
        measured = _run(options.data, options.youtube_faces, options.work, options.out)
    except LookalikeError as reason:
        sys.exit(f"results: {reason}")
    kept = {"date": time.strftime("%Y-%m-%d"), "versions": versions(), **measured}
    text = json.dumps(kept, indent=1, allow_nan=False)
    (options.out / "results.json").write_text(text + "\n")
    # As it will be read again: numbers that are keys become text.
    (options.out / "results.md").write_text(page(json.loads(text)), encoding="utf-8")
    print(f"{len(kept['runs'])} tables in {options.out / 'results.md'}")


def _run(data: Path, youtube: Path | None, work: Path | None, out: Path) -> dict[str, Any]:
    figures = out / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() if work is None else nullcontext(work) as name:
        folder = Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        runs = [
            kept
            for collection in collections(data, youtube, folder)
            for kept in measure(collection, folder, figures)
        ]
        if not runs:
            raise NotFound(
                f"there are no faces in {data}: give --data or --youtube-faces, see docs/lab/results.md"
            )
        more: dict[str, Any] = {}
        if (data / FOLDER).is_dir():
            print("films of real frames", file=sys.stderr)
            more["footage"] = measure_films(data / FOLDER, folder, Progresses())
        if (data / f"{FACES}.npz").exists():
            more["paper"] = measure_paper(data / f"{FACES}.npz", folder)
        return {**more, "runs": runs}


if __name__ == "__main__":
    main()
