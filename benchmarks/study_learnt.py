"""What each option of ``learnt`` does, on real faces: into ``docs/lab/learnt.json`` and its page.

``make study`` runs this. ``--data`` is the folder of the ``.npz`` files, which are not part of the project.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.real_faces import DATA, DOCS, collections
from benchmarks.study_labelled import measure_labelled
from benchmarks.study_page import MEASURED, page
from lookalike import Gallery, index, registry, train
from lookalike.errors import LookalikeError, NotFound
from lookalike.evaluation.experiment import versions
from lookalike.evaluation.labels import Labels, read_labels
from lookalike.evaluation.protocol import leave_one_out
from lookalike.ingest.add import add
from lookalike.method.tables import Tables

BASELINE = "baseline"
VARIANTS = (
    "learnt",
    "learnt:over=mean",
    "learnt:examples=near",
    "learnt:over=mean,examples=near",
)


class Configuration(NamedTuple):
    """One collection, described and compared in one way."""

    name: str
    collection: str  # as `collections` calls it
    array: str | None
    similarity: str


CONFIGURATIONS = (
    Configuration("ytf LBP ex", "ytf_dev", None, "max_max"),
    Configuration("ytf dlib ex", "ytf_dev", "embeddings", "max_max"),
    Configuration("yale LBP ex", "extyaleb_sets, by light", None, "max_max"),
    Configuration("yale LBP sub6", "extyaleb_sets, by light", None, "max_correlation"),
    Configuration("ck LBP ex", "ck48_sequences", None, "max_max"),
)


def study(tables: Tables, labels: Labels, variants: Sequence[str], seeds: Sequence[int]) -> dict[str, Any]:
    """Measures of the baseline and of each variant, averaged over seeds; and what each was asked."""
    found: dict[str, Any] = {}
    for name in (BASELINE, *variants):
        is_random = registry.build("rerankers", name).is_random
        measured: list[list[float]] = []
        outside: list[float] = []
        for seed in seeds if is_random else seeds[:1]:
            fitted = train(tables, name, seed)
            result = leave_one_out(tables, {name: fitted}, labels).to_dict()["rerankers"]
            measured.append([result[name][key] for key in MEASURED])  # type: ignore[index]
            if getattr(fitted, "outside_", None) is not None:
                outside.append(fitted.outside_)  # type: ignore[attr-defined]
        found[name] = dict(zip(MEASURED, np.mean(measured, axis=0).tolist(), strict=True))
        if outside:
            found[name]["outside"] = float(np.mean(outside))
        print(f"  {name}: {found[name]}", file=sys.stderr)
    return found


def measure(data: Path, folder: Path, seeds: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Measure every configuration whose faces are at hand."""
    known = {one.name: one for one in collections(data, None, folder)}
    for number, (name, collection, array, similarity) in enumerate(CONFIGURATIONS):
        if collection not in known:
            continue
        print(name, file=sys.stderr)
        path = folder / f"{number}.gallery"
        add(path, [known[collection].source], array=array)
        labels = read_labels(known[collection].labels)
        with Gallery(path) as gallery:
            tables = index(gallery, similarity)
            found = study(tables, {id: labels[id] for id in tables.ids}, VARIANTS, seeds)
        yield {"name": name, "sets": len(tables), "similarity": similarity, "methods": found}


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.study_learnt", description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the .npz files")
    parser.add_argument("--out", type=Path, default=DOCS, help="folder of learnt.json and learnt.md")
    parser.add_argument("--seeds", type=int, default=1, help="how many seeds are averaged")
    options = parser.parse_args()
    logging.disable(logging.WARNING)  # the shares are in the table
    seeds = list(range(options.seeds))
    try:
        with tempfile.TemporaryDirectory() as name:
            runs = list(measure(options.data, Path(name), seeds))
        if not runs:
            raise NotFound(f"there are no faces in {options.data}: give --data, see docs/lab/learnt.md")
        with tempfile.TemporaryDirectory() as name:
            fits = measure_labelled(options.data, Path(name))
    except LookalikeError as reason:
        sys.exit(f"study: {reason}")
    kept = {"date": time.strftime("%Y-%m-%d"), "versions": versions(), "seeds": seeds, "runs": runs}
    if fits is not None:
        kept["labelled"] = fits
    (options.out / "learnt.json").write_text(json.dumps(kept, indent=1, allow_nan=False) + "\n")
    (options.out / "learnt.md").write_text(page(kept), encoding="utf-8")
    print(f"{len(runs)} tables in {options.out / 'learnt.md'}")


if __name__ == "__main__":
    main()
