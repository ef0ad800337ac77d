"""What decisions do to the order of answers, on real faces: a table of rules for `search.feedback`.

A user who knows everybody judges the first answers to each query. Mean average precision on the sets that are
left, over the queries that have a match left; the last column is what the product does. ``--data`` is the
folder of the ``.npz`` files, which are not part of the project.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.real_faces import DATA
from benchmarks.stages_data import Case, Cases
from lookalike import Search, train
from lookalike.errors import LookalikeError, NotFound
from lookalike.evaluation.measures import average_precision
from lookalike.search.feedback import refine

Floats = NDArray[np.float64]
# From the scores given by the query (first) and confirmed sets, and by rejected ones, to one score a target.
Rule = Callable[[Floats, Floats], Floats]

STAGES = ("baseline", "adaptive")


def over(part: float) -> Rule:
    """The mean, less a part of what a rejected set is more alike than the group."""

    def rule(group: Floats, against: Floats) -> Floats:
        near = against.max(axis=0, initial=-np.inf)
        return group.mean(axis=0) - part * np.maximum(near - group.mean(axis=0), 0.0)

    return rule


RULES: dict[str, Rule] = {
    "plain": lambda group, against: group[0],
    "max": lambda group, against: group.max(0),
    "mean": lambda group, against: group.mean(0),
    "- 0.1 over": over(0.1),
    "- 0.25 over": over(0.25),
    "- 0.5 over": over(0.5),
    "- 1 over": over(1.0),
    "- 0.25 likeness": lambda group, against: group.mean(0) - 0.25 * (against.max(0) if len(against) else 0),
}


def precision(matches: NDArray[np.bool_]) -> float:
    """Average precision of an order, told which places are matches."""
    return average_precision(1 + np.flatnonzero(matches))


def study(case: Case, stage: str, judged: int) -> tuple[int, list[float]]:
    """How many queries there are, and the mean average precision of each rule and of the product."""
    search = Search(case.tables, train(case.tables, stage))
    ids = case.tables.ids
    people = np.array([case.labels[id] for id in ids])
    scores = np.stack([search.reranker.score(row, case.tables).scores for row in search.rows(ids)])
    found = []
    for query, ranking in enumerate(search.find_many(ids)):
        same = people == people[query]
        order = np.array([case.tables.number(id) for id in ranking.ids])
        head, left = order[:judged], np.sort(order[judged:])
        if not same[left].any():
            continue
        yes, no = head[same[head]], head[~same[head]]
        group, against = scores[np.r_[query, yes]][:, left], scores[no][:, left]
        precisions = [
            precision(same[left][np.argsort(-rule(group, against), kind="stable")]) for rule in RULES.values()
        ]
        product = refine(search, ids[query], [ids[i] for i in yes], [ids[i] for i in no]).ranking.ids
        precisions.append(precision(same[[case.tables.number(id) for id in product]]))
        found.append(precisions)
    return len(found), list(np.mean(found, axis=0)) if found else []


def lines(data: Path, folder: Path, judged: int) -> Iterator[str]:
    """A line of the table for each configuration and re-ranker."""
    for case in Cases(data, folder):
        for stage in STAGES:
            queries, found = study(case, stage, judged)
            if queries:
                yield f"| {case.name} | {stage} | {queries} | {' | '.join(f'{one:.3f}' for one in found)} |"


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.study_feedback", description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the .npz files")
    parser.add_argument("--judged", type=int, default=5, help="how many answers the user judges")
    options = parser.parse_args()
    print(f"| faces | re-ranker | queries | {' | '.join(RULES)} | refine |")
    print("|" + "---|" * (len(RULES) + 4))
    try:
        with tempfile.TemporaryDirectory() as name:
            found = 0
            for line in lines(options.data, Path(name), options.judged):
                found += 1
                print(line, flush=True)
        if not found:
            raise NotFound(f"there are no faces in {options.data}: give --data")
    except LookalikeError as reason:
        sys.exit(f"study: {reason}")


if __name__ == "__main__":
    main()
