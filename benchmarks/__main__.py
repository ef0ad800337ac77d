"""Run the benchmarks, each of which writes its ratios into a small JSON: ``python -m benchmarks [--toy]``."""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from importlib import import_module
from pathlib import Path

NAMES = ("index", "train", "query", "scale", "evaluate")
RESULTS = Path(__file__).parent / "results"


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
        found = import_module(f"benchmarks.bench_{name}").run(options.toy)
        record = {
            "benchmark": name,
            "date": time.strftime("%Y-%m-%d"),
            "machine": f"{os.cpu_count()} cores, {platform.machine()}",
            "toy": options.toy,
            **found,
        }
        (options.out / f"{name}.json").write_text(json.dumps(record, indent=2) + "\n")
        print(json.dumps(record))


if __name__ == "__main__":
    main()
