"""What mirror images do to local binary patterns, on real faces: the table of ``docs/reference/parts.md``.

``--data`` is the folder of the ``.npz`` files, which are not part of the project.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.real_faces import DATA, collections
from lookalike import Gallery, index, train
from lookalike.errors import LookalikeError, NotFound
from lookalike.evaluation.labels import read_labels
from lookalike.evaluation.protocol import leave_one_out
from lookalike.ingest.add import add

PREPARED = ("within:root=true", "within:root=true,mirror=6x5")
STAGES = ("baseline", "adaptive")


def rows(data: Path, folder: Path) -> Iterator[str]:
    """A line of the table for each collection and re-ranker."""
    for number, collection in enumerate(collections(data, None, folder)):
        path = folder / f"{number}.gallery"
        add(path, [collection.source], "lbp")
        labels = read_labels(collection.labels)
        with Gallery(path) as gallery:
            known = {id: labels[id] for id in gallery.ids()}
            found = []
            for prepared in PREPARED:
                tables = index(gallery, "max_max", preparation=prepared)
                stages = {name: train(tables, name) for name in STAGES}
                found.append(leave_one_out(tables, stages, known).to_dict()["rerankers"])
        for name in STAGES:
            good, ap = (
                " | ".join(f"{one[name][measure]:.3f}" for one in found)  # type: ignore[index]
                for measure in ("anr_below_0.3", "map")
            )
            yield f"| {collection.name} | `{name}` | {good} | {ap} |"


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.study_mirror", description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the .npz files")
    options = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory() as name:
            found = list(rows(options.data, Path(name)))
        if not found:
            raise NotFound(f"there are no faces in {options.data}: give --data")
    except LookalikeError as reason:
        sys.exit(f"study: {reason}")
    print("| collection | re-ranker | ANR < 0.3 | with mirror | mAP | with mirror |")
    print("|---|---|---|---|---|---|")
    print("\n".join(found))


if __name__ == "__main__":
    main()
