"""When to trust which re-ranker, on real faces and drawn ones: into ``docs/lab/reranking.json`` and its page.

``make stages`` runs this. ``--data`` is the folder of the ``.npz`` files, which are not part of the project.
With ``--work`` each piece is kept as soon as it is measured, and an interrupted run goes on. ``--only``
measures one part; the others, and those whose faces are not at hand, stay as they are in ``reranking.json``.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.real_faces import DATA, DOCS
from benchmarks.stages_data import YTF, Cases
from benchmarks.stages_families import FAMILIES, families
from benchmarks.stages_galleries import few, gallery, stability, strict, together, without_queries
from benchmarks.stages_kept import Kept
from benchmarks.stages_measure import AUTO, BASELINE, drawn, halves, measures, small, strengths, whole
from benchmarks.stages_measure import strict as strict_everywhere
from benchmarks.stages_parts import Pool
from benchmarks.stages_shapes import ACTORS, DRAWS, FACES, SHAPES, Drawn, Photos, galleries
from benchmarks.stages_worlds import worlds
from lookalike import Gallery, index, registry, train
from lookalike.errors import LookalikeError, NotFound
from lookalike.evaluation.experiment import versions
from lookalike.evaluation.protocol import leave_one_out

HALVES = 20
MIRRORED = "within:root=true,mirror=6x5"
SIZES, SMALL_DRAWS = (10, 15, 20, 30, 40, 50), 50
# Where light dominates, and where people do.
PICTURED = ("yale LBP ex", "ytf dlib ex")


class Study(NamedTuple):
    """Where faces are, where their galleries are put, what is measured already, and how often is drawn."""

    data: Path
    folder: Path
    kept: Kept
    draws: int = DRAWS

    def once(self, name: str, measure: Callable[..., dict[str, Any]], *given: Any) -> dict[str, Any]:
        """Measure a piece unless that was done, and say how long it took."""
        started = time.monotonic()
        found = self.kept.once(name, partial(measure, *given))
        print(f"{name}: {time.monotonic() - started:.1f} s", file=sys.stderr)
        return found


# Each part returns what the record holds of it; nothing where its faces are not at hand.


def configurations(study: Study) -> dict[str, Any]:
    """The collections that the method was made with; of two configurations also what each strength does."""
    cases = Cases(study.data, study.folder)
    if not cases.known:
        return {}
    runs = [study.once(one.name, _configuration, cases, one.name) for one in cases.configurations()]
    pictured = [name for name in PICTURED if name in {run["name"] for run in runs}]
    return {
        "runs": runs,
        "strengths": [study.once(f"strengths of {name}", _strengths, cases, name) for name in pictured],
        "defaults": study.once("defaults", defaults, cases) if YTF in cases.known else None,
    }


def _strengths(cases: Cases, name: str) -> dict[str, Any]:
    return strengths(cases.case(name))


def _configuration(cases: Cases, name: str) -> dict[str, Any]:
    case = cases.case(name)
    kept, result = whole(case)
    pool = Pool(case.tables, case.labels)
    kept["strict"] = strict_everywhere(pool, result)
    kept["halves"] = halves(pool, HALVES)
    kept["small"] = small(pool, SIZES, SMALL_DRAWS)
    return kept


def defaults(cases: Cases) -> dict[str, Any]:
    """Pictures of YouTube Faces with nothing but defaults, beside no preparation and no re-ranker."""
    found: dict[str, Any] = {}
    with Gallery(cases.gallery(YTF)) as gallery:
        labels = {id: cases.labels(YTF)[id] for id in gallery.ids()}
        for preparation in ("none", "auto", MIRRORED):
            tables = index(gallery, preparation=preparation)
            fitted = {name: train(tables, name) for name in (BASELINE, AUTO)}
            result = leave_one_out(tables, fitted, labels)
            found[preparation] = {
                "preparation": registry.spec(tables.preparation),
                "numbers": int(tables.preparation.apply(next(iter(gallery.sets())).faces).shape[1]),
                "methods": {name: measures(result, name) for name in fitted},
            }
    return found


def shapes(study: Study) -> dict[str, Any]:
    """Galleries in the shapes that people have; of the first draw also strict queries, and its stability."""
    path = study.data / ACTORS
    if not path.exists():
        return {}
    photos = Photos.read(path)
    found: dict[str, Any] = {"draws": study.draws, "rows": [], "galleries": [], "strict": {}, "stability": {}}
    cases = []
    for number, (shape, counts) in enumerate(SHAPES.items()):
        for faces in FACES:
            records = [
                study.once(one.name, _gallery, one, {"shape": shape, "faces": faces, "draw": one.draw})
                for one in galleries(photos, shape, counts, number, faces, study.draws)
            ]
            found["rows"].append({"shape": shape, "faces": faces, **together(records)})
            found["galleries"] += [without_queries(one) for one in records]
        [first] = galleries(photos, shape, counts, number, FACES[0], 1)
        cases.append(first.case())
        found["strict"][shape] = study.once(f"{shape}, strict", strict, cases[-1])
        found["stability"][shape] = study.once(f"{shape}, stability", stability, first)
    pools = [Pool(one.tables, one.labels) for one in cases]
    found["few"] = study.once("few sets of any shape", few, pools, SIZES, SMALL_DRAWS)
    return {"shapes": found}


def _gallery(one: Drawn, facts: dict[str, Any], preparation: str = "none") -> dict[str, Any]:
    return {**facts, **gallery(one.case(preparation))}


def further(study: Study) -> dict[str, Any]:
    """Weak descriptors, strong light, near copies, mixed qualities: one draw of several shapes each."""
    rows, kept = [], []
    for family in families(study.data):
        photos = family.read(study.data / family.needs)
        records = []
        for number, (shape, counts) in enumerate(family.shapes.items()):
            [one] = galleries(photos, shape, counts, number, family.faces, 1)
            facts = {"family": family.name, "shape": shape, "faces": family.faces}
            name = f"{family.name}, {shape}"
            records.append(study.once(name, _gallery, one, facts, family.preparation))
        facts = {"family": family.name, "words": family.words, "faces": family.faces}
        rows.append({**facts, **together(records)})
        kept += [without_queries(one) for one in records]
    return {"families": {"rows": rows, "galleries": kept}} if rows else {}


def drawn_worlds(study: Study) -> dict[str, Any]:
    """Drawn vectors in shapes that no collection at hand has."""
    return {"worlds": [study.once(f"{one.name}, {one.noise}", drawn, one) for one in worlds()]}


PARTS = {"configurations": configurations, "shapes": shapes, "families": further, "worlds": drawn_worlds}
# The first of what the record holds of each.
HOLDS = {"configurations": "runs", "shapes": "shapes", "families": "families", "worlds": "worlds"}
# What the page is made of if nothing was measured of a part.
NOTHING: dict[str, Any] = {
    "runs": [],
    "strengths": [],
    "defaults": None,
    "worlds": [],
    "shapes": None,
    "families": None,
}


def measured(study: Study, only: list[str], before: dict[str, Any]) -> dict[str, Any]:
    """The record with some parts measured anew; those that cannot be measured stay as they were."""
    today = {"date": time.strftime("%Y-%m-%d"), "versions": versions()}
    found: dict[str, Any] = {**NOTHING, **before, **today}
    dates = {part: before["date"] for part, name in HOLDS.items() if before.get(name)} | before.get(
        "dates", {}
    )
    if only != ["worlds"] and not _faces_at_hand(study.data):
        raise NotFound(f"there are no faces in {study.data}: give --data, see docs/lab/reranking.md")
    for part in only:
        new = PARTS[part](study)
        found |= new
        dates |= {part: today["date"]} if new else {}
    return found | {"dates": dates}


def _faces_at_hand(data: Path) -> bool:
    return any((data / name).exists() for name in (ACTORS, *(one.needs for one in FAMILIES)))


def main() -> None:
    from benchmarks.stages_figures import figures
    from benchmarks.stages_page import page
    from lookalike.evaluation.drawing import svg

    parser = argparse.ArgumentParser(prog="benchmarks.study_stages", description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the .npz files")
    parser.add_argument(
        "--out", type=Path, default=DOCS, help="folder of reranking.json, reranking.md, figures/"
    )
    parser.add_argument(
        "--work", type=Path, help="folder of what is measured, to go on after an interruption"
    )
    parser.add_argument(
        "--only", choices=list(PARTS), action="append", help="measure this part; may be repeated"
    )
    parser.add_argument("--draws", type=int, default=DRAWS, help="galleries of each shape")
    options = parser.parse_args()
    logging.disable(logging.WARNING)  # learnt warns of what the table shows
    record = options.out / "reranking.json"
    before = json.loads(record.read_text(encoding="utf-8")) if record.exists() else {}
    try:
        with tempfile.TemporaryDirectory() as name:
            study = Study(options.data, Path(name), Kept(options.work or Path(name)), options.draws)
            kept = measured(study, options.only or list(PARTS), before)
    except LookalikeError as reason:
        sys.exit(f"stages: {reason}")
    (options.out / "figures").mkdir(parents=True, exist_ok=True)
    record.write_text(json.dumps(kept, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    (options.out / "reranking.md").write_text(page(kept), encoding="utf-8")
    for figure in figures(kept):
        (options.out / "figures" / f"{figure.name}.svg").write_text(svg(figure), encoding="utf-8")
    print(f"{', '.join(options.only or PARTS)} in {options.out / 'reranking.md'}")


if __name__ == "__main__":
    main()
