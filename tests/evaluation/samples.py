"""An evaluation whose winner is known: ten people, two methods."""

from __future__ import annotations

import numpy as np

from lookalike.evaluation.measures import Evaluation

RANKED = 200


def evaluation(better: bool = False, count: int = 10) -> Evaluation:
    """The baseline finds the match of query i at rank i + 2; learnt twice as deep, or first if better."""
    queries = [f"clip-{number}" for number in range(count)]
    people = [f"person-{number}" for number in range(count)]
    base = [np.array([number + 2]) for number in range(count)]
    other = [np.array([1]) if better else ranks * 2 for ranks in base]
    return Evaluation(queries, people, RANKED + 1, 3, RANKED, {"baseline": [base], "learnt": [other]})
