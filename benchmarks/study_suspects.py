"""How well `evaluate --suspects` finds wrong labels on real faces: some are swapped on purpose.

For each seed the labels of a share of the sets of ``ytf_dev.npz`` are swapped in pairs, and as many people as
asked for get a second name for half of their sets. ``--data`` is the folder of that file, which is no part
of the project.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.real_faces import DATA
from lookalike import Gallery, Search, open_search
from lookalike.errors import LookalikeError
from lookalike.evaluation.labels import Labels, read_labels
from lookalike.evaluation.suspects import suspects
from lookalike.ingest.add import add

FIRST = 50


class Found(NamedTuple):
    """How many were planted, and found: among as many suspects as were planted, and among the first 50."""

    planted: int
    in_as_many: int
    in_first: int


def swapped(labels: Labels, share: float, rng: np.random.Generator) -> tuple[Labels, set[str]]:
    """Labels of which some are swapped in pairs of two people each; and the sets whose labels are wrong."""
    made, wrong = dict(labels), set[str]()
    ids = [str(one) for one in rng.permutation(sorted(labels))]
    while len(wrong) < 2 * round(share * len(labels) / 2):
        one = ids.pop()
        other = next((each for each in reversed(ids) if labels[each] != labels[one]), None)
        if other is None:
            break
        ids.remove(other)
        made[one], made[other] = labels[other], labels[one]
        wrong |= {one, other}
    return made, wrong


def renamed(labels: Labels, people: int, rng: np.random.Generator) -> tuple[Labels, set[frozenset[str]]]:
    """Labels of which some people have two, half of their sets each; and these pairs."""
    made, pairs = dict(labels), set[frozenset[str]]()
    for person in rng.permutation(sorted(set(labels.values())))[:people].tolist():
        own = [one for one in sorted(labels) if labels[one] == person]
        if len(own) > 1:
            made |= dict.fromkeys(own[: len(own) // 2], f"{person} again")
            pairs.add(frozenset({person, f"{person} again"}))
    return made, pairs


def study_swapped(search: Search, labels: Labels, share: float, seed: int) -> Found:
    """Swap labels, and look for them."""
    made, wrong = swapped(labels, share, np.random.default_rng(seed))
    told = [one.id in wrong for one in suspects(search, made).sets]
    return Found(len(wrong), sum(told[: len(wrong)]), sum(told[:FIRST]))


def study_renamed(search: Search, labels: Labels, people: int, seed: int) -> Found:
    """Give people second names, and look for these."""
    made, pairs = renamed(labels, people, np.random.default_rng(seed))
    told = [frozenset({one.one, one.other}) in pairs for one in suspects(search, made).pairs]
    return Found(len(pairs), sum(told[: len(pairs)]), sum(told[:FIRST]))


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.study_suspects", description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of ytf_dev.npz")
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    source = options.data / "ytf_dev.npz"
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "faces.gallery"
            add(path, [source], array="embeddings")
            labels = read_labels(source)
            with Gallery(path) as gallery:
                search = open_search(gallery)
                untouched = suspects(search, labels)
                print(f"as they are: {len(untouched.sets)} sets and {len(untouched.pairs)} pairs suspected")
                print(f"| planted | number | found in as many | precision | found in the first {FIRST} |")
                print("|---|---|---|---|---|")
                cases = [(f"{share:.0%} of labels swapped", study_swapped, share) for share in (0.05, 0.1)]
                cases.append(("20 people under two names", study_renamed, 20))  # type: ignore[arg-type]
                for name, study, size in cases:
                    found = [study(search, labels, size, seed) for seed in range(options.seeds)]
                    planted, as_many, first = np.mean(found, axis=0)
                    print(
                        f"| {name} | {planted:.0f} | {as_many:.1f} | {as_many / planted:.3f} | {first:.1f} |"
                    )
    except LookalikeError as reason:
        sys.exit(f"study: {reason}")


if __name__ == "__main__":
    main()
