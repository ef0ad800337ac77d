"""Run the benchmarks, each of which writes its ratios into a small JSON: ``python -m benchmarks [--toy]``."""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from importlib import import_module
from pathlib import Path

from benchmarks.growth_plot import draw_growth

NAMES = (
    "index",
    "query",
    "train",
    "rerank",
    "adaptive",
    "growth",
    "memory",
    "half",
    "shortlist",
    "startup",
    "evaluate",
    "intake",
    "cuts",
    "cluster",
    "page",
)
RESULTS = Path("bench-results")


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of {', '.join(NAMES)} [default: all]")
    parser.add_argument("--toy", action="store_true", help="a size that only shows that they run")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the JSON files")
    options = parser.parse_args()
    if unknown := set(options.names) - set(NAMES):
        parser.error(f"there is no benchmark {', '.join(sorted(unknown))}: choose from {', '.join(NAMES)}")
    options.out.mkdir(parents=True, exist_ok=True)
    for name in options.names or NAMES:
        entries = import_module(f"benchmarks.bench_{name}").run(options.toy)
        record = {
            "benchmark": name,
            "date": time.strftime("%Y-%m-%d"),
            "machine": f"{os.cpu_count()} cores, {platform.machine()}",
            "toy": options.toy,
            "entries": entries,
        }
        (options.out / f"{name}.json").write_text(json.dumps(record, indent=2) + "\n")
        if all("sizes" in one for one in entries):
            draw_growth(entries, options.out / f"{name}.png")
        for one in entries:
            met = "met" if one["ratio"] <= one["target"] else "not met"
            met = "a toy says nothing" if options.toy else met
            print(f"{name}: {one['name']}: {one['ratio']} (at most {one['target']}: {met})", flush=True)


if __name__ == "__main__":
    main()
