"""When to trust which second stage, on real faces and drawn ones: into ``docs/reranking.json`` and its page.

``make stages`` runs this. ``--data`` is the folder of the ``.npz`` files, which are not part of the project.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.real_faces import DATA, DOCS
from benchmarks.stages_data import YTF, Cases
from benchmarks.stages_measure import AUTO, BASELINE, drawn, halves, measures, small, strengths, strict, whole
from benchmarks.stages_parts import Pool
from benchmarks.stages_worlds import worlds
from lookalike import Gallery, index, parts, train
from lookalike.errors import LookalikeError, NotFound
from lookalike.evaluation.protocol import leave_one_out
from lookalike.evaluation.record import versions

HALVES = 20
MIRRORED = "within:root=true,mirror=6x5"
SIZES, DRAWS = (10, 15, 20, 30, 40, 50), 50
# Where light dominates, and where people do.
PICTURED = ("yale LBP ex", "ytf dlib ex")


def real(cases: Cases) -> Iterator[tuple[dict[str, Any], dict[str, Any] | None]]:
    """Every configuration; of two of them also what each strength does."""
    for case in cases:
        started = time.monotonic()
        kept, result = whole(case)
        pool = Pool(case.tables, case.labels)
        kept["strict"] = strict(pool, result)
        kept["halves"] = halves(pool, HALVES)
        kept["small"] = small(pool, SIZES, DRAWS)
        print(f"{case.name}: {time.monotonic() - started:.0f} s", file=sys.stderr)
        yield kept, strengths(case) if case.name in PICTURED else None


def defaults(cases: Cases) -> dict[str, Any] | None:
    """Pictures of YouTube Faces with nothing but defaults, beside no preparation and no second stage."""
    if YTF not in cases.known:
        return None
    found: dict[str, Any] = {}
    with Gallery(cases.gallery(YTF)) as gallery:
        labels = {id: cases.labels(YTF)[id] for id in gallery.ids()}
        for preparation in ("none", "auto", MIRRORED):
            tables = index(gallery, preparation=preparation)
            fitted = {name: train(tables, name) for name in (BASELINE, AUTO)}
            result = leave_one_out(tables, fitted, labels)
            found[preparation] = {
                "preparation": parts.spec(tables.preparation),
                "numbers": int(tables.preparation.apply(next(iter(gallery.sets())).faces).shape[1]),
                "methods": {name: measures(result, name) for name in fitted},
            }
    return found


def study(data: Path, folder: Path) -> dict[str, Any]:
    """Everything that the page tells."""
    cases = Cases(data, folder)
    if not cases.known:
        raise NotFound(f"there are no faces in {data}: give --data, see docs/reranking.md")
    found = list(real(cases))
    pictured = sorted((one for _, one in found if one), key=lambda one: PICTURED.index(one["name"]))
    kept: dict[str, Any] = {"runs": [run for run, _ in found], "strengths": pictured}
    kept["defaults"] = defaults(cases)
    kept["worlds"] = []
    for world in worlds():
        kept["worlds"].append(drawn(world))
        print(f"{world.name}, {world.noise}", file=sys.stderr)
    return kept


def main() -> None:
    from benchmarks.stages_figures import figures
    from benchmarks.stages_page import page
    from lookalike.reporting.figure import svg

    parser = argparse.ArgumentParser(prog="benchmarks.study_stages", description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the .npz files")
    parser.add_argument(
        "--out", type=Path, default=DOCS, help="folder of reranking.json, reranking.md, figures/"
    )
    options = parser.parse_args()
    logging.disable(logging.WARNING)  # learnt warns of what the table shows
    try:
        with tempfile.TemporaryDirectory() as name:
            found = study(options.data, Path(name))
    except LookalikeError as reason:
        sys.exit(f"stages: {reason}")
    kept = {"date": time.strftime("%Y-%m-%d"), "versions": versions(), **found}
    (options.out / "figures").mkdir(parents=True, exist_ok=True)
    (options.out / "reranking.json").write_text(json.dumps(kept, indent=1, allow_nan=False) + "\n")
    (options.out / "reranking.md").write_text(page(kept), encoding="utf-8")
    for figure in figures(kept):
        (options.out / "figures" / f"{figure.name}.svg").write_text(svg(figure), encoding="utf-8")
    print(f"{len(kept['runs'])} configurations in {options.out / 'reranking.md'}")


if __name__ == "__main__":
    main()
