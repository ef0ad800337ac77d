"""Contrasts: every method against the baseline, measure by measure, with what chance could have done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.evaluation.measures import MEASURES
from lookalike.evaluation.results import Evaluation
from lookalike.evaluation.statistics import Interval, contrasts, holm

# A difference with a smaller p is called beyond chance.
ALPHA = 0.05

Values = Mapping[str, NDArray[np.float64]]


class Gain(NamedTuple):
    """What a method gains over the baseline in one measure."""

    difference: Interval  # in the measure's own direction: a lower ANR is a negative difference
    p: float
    p_corrected: float  # by Holm, over the methods that are compared

    @property
    def beyond_chance(self) -> bool:
        """Whether luck of the queries is an unlikely explanation."""
        return self.p_corrected < ALPHA

    def words(self, measure: str) -> str:
        """better, worse or not different."""
        if not self.beyond_chance:
            return "not different beyond chance"
        larger_is_better = MEASURES[measure][1]
        return "better" if (self.difference.mean > 0) == larger_is_better else "worse"


Gains = dict[str, dict[str, Gain]]


def gains(evaluation: Evaluation, baseline: str) -> Gains:
    """Every other method of an evaluation against its baseline: by method, then by measure."""
    values = {name: evaluation.values(name) for name in evaluation.runs}
    return gains_of(values, baseline, evaluation.people)


def gains_of(values: Mapping[str, Values], baseline: str, people: Sequence[str]) -> Gains:
    """The same from the measures of each query.

    Parameters
    ----------
    values : mapping of method to mapping of measure to array (queries,)
    baseline : str
        The method that the others are held against.
    people : sequence of str
        Who is on each query.
    """
    others = [name for name in values if name != baseline]
    found: Gains = {name: {} for name in others}
    for measure in values[baseline] if others else ():
        differences = [values[name][measure] - values[baseline][measure] for name in others]
        tests = contrasts(np.column_stack(differences), people)
        corrected = holm([test.p for test in tests])
        for name, test, p in zip(others, tests, corrected, strict=True):
            found[name][measure] = Gain(test.difference, test.p, p)
    return found
