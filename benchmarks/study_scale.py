"""How far collections in slices go: measure one slice here, simulate clusters, write the page.

Measures what a slice takes on this machine (a minute of processor time, more on a busy machine), checks the
formulae against small runs, and simulates clusters that are not at hand. Writes ``scale.json`` and
``scale.md``.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks import scale_check, scale_costs, scale_sim
from benchmarks.scale_draws import Tail
from benchmarks.scale_model import Node
from benchmarks.scale_page import page
from lookalike.evaluation.experiment import versions

DOCS = Path("docs/lab")
TOYS = Path("bench-results")
# Faces and numbers of a set, and how many sets are drawn; and those of a toy.
SHAPES = ((10, 128, 10_000), (10, 1770, 1000))
TOY_SHAPES = ((10, 128, 400), (10, 1770, 60))


def study(seed: int, toy: bool, with_ray: bool) -> dict[str, Any]:
    """Measure, check and simulate."""
    shapes, checked, samples = (TOY_SHAPES, 300, 500) if toy else (SHAPES, 4000, 20_000)
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        costs = []
        for faces, dimension, count in shapes:
            print(f"measuring sets of {faces} x {dimension}", file=sys.stderr, flush=True)
            costs.append(scale_costs.measure(count, faces, dimension, Path(name)))
        print("checking against small runs", file=sys.stderr, flush=True)
        with scale_check.engines(with_ray) as found:
            wire = scale_check.measure_wire(found.get("ray"), str(Path(name) / "ended"))
            checks = scale_check.check(costs[0], wire, found, checked)
    measuring = time.perf_counter() - start
    node, tail = Node(), Tail()
    return {
        "date": time.strftime("%Y-%m-%d"),
        "versions": versions(),
        "toy": toy,
        "seed": seed,
        "samples": samples,
        "measuring": measuring,
        "load": os.getloadavg()[0],
        "drawn": [count for _, _, count in shapes],
        "costs": [asdict(one) for one in costs],
        "wire": asdict(wire),
        "node": asdict(node),
        "tail": asdict(tail),
        "checks": checks,
        "simulated": scale_sim.simulate(costs[0], wire, node, tail, samples, seed),
    }


def plain(value: Any) -> Any:
    """What JSON can say: nothing in place of what is not finite."""
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [plain(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.study_scale", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="of what is drawn")
    parser.add_argument("--toy", action="store_true", help="a size that only shows that it runs, without Ray")
    parser.add_argument("--out", type=Path, help=f"folder of the page [default: {DOCS}, of a toy {TOYS}]")
    options = parser.parse_args()
    out = options.out or (TOYS if options.toy else DOCS)
    os.environ["LOOKALIKE_THREADS"] = "1"
    kept = plain(study(options.seed, options.toy, not options.toy))
    out.mkdir(parents=True, exist_ok=True)
    (out / "scale.json").write_text(json.dumps(kept, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    (out / "scale.md").write_text(page(kept), encoding="utf-8")
    print(f"{len(kept['simulated']['sizes'])} sizes in {out / 'scale.md'}")


if __name__ == "__main__":
    main()
