"""Statistics: how far a difference could be luck of the queries; and groups of queries, each by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.evaluation.measures import MEASURES, SURENESS, Evaluation
from lookalike.faceset import natural_order

RESAMPLES: Final = 10_000
# All patterns of signs of so few people are tried; of more, so many random ones: p is then known to 0.001.
FLIPS: Final = 100_000
MOST_EXACT: Final = 12
# Resamples in one block: its weights take at most 8 MB for every 1,000 people.
BLOCK: Final = 1000


class Interval(NamedTuple):
    """A mean and the range that holds it in 95 of 100 collections drawn like this one."""

    mean: float
    low: float
    high: float


class Contrast(NamedTuple):
    """What one method gains over another, query by query."""

    difference: Interval
    p: float  # of a difference at least as large if the two were exchangeable


def intervals(values: NDArray[np.float64], people: Sequence[str], seed: int = 0) -> list[Interval]:
    """Means over queries with their 95 % intervals, by a bootstrap over people.

    Queries of one person are alike, so whole people are drawn, not queries: an interval that took queries
    for independent would be too narrow.

    Parameters
    ----------
    values : array (queries, m)
        Measures of each query, or paired differences of two methods; all m see the same draws.
    people : sequence of str
        Who is on each query.
    """
    sums, counts = _by_person(values, people)
    rng = np.random.default_rng(seed)
    equal = np.full(len(sums), 1 / len(sums))
    means = []
    for size in _blocks(RESAMPLES):
        weights = rng.multinomial(len(sums), equal, size).astype(float)
        means.append((weights @ sums) / (weights @ counts)[:, None])
    low, high = np.quantile(np.concatenate(means), [0.025, 0.975], axis=0)
    return [
        Interval(float(mean), float(least), float(most))
        for mean, least, most in zip(values.mean(axis=0), low, high, strict=True)
    ]


def contrasts(gains: NDArray[np.float64], people: Sequence[str], seed: int = 0) -> list[Contrast]:
    """Paired differences between methods on the same queries, each with a test of its sign.

    The test flips the signs of the differences of whole people: if two methods were exchangeable, every
    pattern of signs would be as likely as the one seen. With few people all patterns are tried.

    Parameters
    ----------
    gains : array (queries, m)
        Differences, query by query.
    people : sequence of str
        Who is on each query.
    """
    sums, _ = _by_person(gains, people)
    # Sums of the same numbers in another order differ in the last bits.
    seen = np.abs(sums.sum(axis=0)) - 1e-12 * np.maximum(1.0, np.abs(sums).sum(axis=0))
    if len(sums) <= MOST_EXACT:
        patterns = 1 - 2.0 * ((np.arange(2 ** len(sums))[:, None] >> np.arange(len(sums))) & 1)
        p = (np.abs(patterns @ sums) >= seen).mean(axis=0)
    else:
        rng = np.random.default_rng(seed)
        reached = np.zeros(sums.shape[1])
        for size in _blocks(FLIPS):
            signs = 1 - 2.0 * rng.integers(0, 2, (size, len(sums)), dtype=np.int8)
            reached += (np.abs(signs @ sums) >= seen).sum(axis=0)
        p = (reached + 1) / (FLIPS + 1)
    found = intervals(gains, people, seed)
    return [Contrast(one, float(chance)) for one, chance in zip(found, p, strict=True)]


def holm(p: Sequence[float]) -> list[float]:
    """Raise the p of several tests so that one in twenty collections, not tests, finds a false winner.

    Holm's step-down rule: the smallest of m is multiplied by m, the next by m - 1, and so on.
    """
    order = np.argsort(p, kind="stable")
    raised = np.asarray(p, dtype=float)[order] * np.arange(len(p), 0, -1)
    found = np.empty(len(p))
    found[order] = np.minimum(1.0, np.maximum.accumulate(raised)) if len(p) else []
    return found.tolist()


def _by_person(
    values: NDArray[np.float64], people: Sequence[str]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sums of the values of each person, and how many queries there are of each."""
    _, who, counts = np.unique(np.asarray(people), return_inverse=True, return_counts=True)
    sums = np.zeros((len(counts), values.shape[1]))
    np.add.at(sums, who, values)
    return sums, counts.astype(float)


def _blocks(total: int) -> Iterator[int]:
    for start in range(0, total, BLOCK):
        yield min(BLOCK, total - start)


# Contrasts: every method against the baseline, measure by measure, with what chance could have done.


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


# Columns of the tables that hold words.
METHOD, INTERVAL = "method", "mAP, 95 % interval"


@dataclass(frozen=True)
class Group:
    """The queries of one group.

    Attributes
    ----------
    name : str
    found : Evaluation
        What was found for them; all sets of the gallery were ranked, those of other groups too.
    """

    name: str
    found: Evaluation

    @property
    def people(self) -> int:
        """How many people are on these queries."""
        return len(set(self.found.people))

    def intervals(self, method: str) -> dict[str, Interval]:
        """Each measure that is a mean over queries, with its 95 % interval; nothing of one person alone."""
        if self.people < 2:
            return {}
        values = self.found.values(method)
        told = intervals(np.column_stack(list(values.values())), self.found.people)
        return dict(zip(values, told, strict=True))


@dataclass(frozen=True)
class Grouped:
    """An evaluation by groups.

    Attributes
    ----------
    column : str
        What the groups are told by.
    groups : tuple of Group
        By name.
    left_out : int
        Queries of which the column says nothing: they are in no group.
    unlabelled : int
        Sets without a label: nobody asks for them, and they match nobody.
    """

    column: str
    groups: tuple[Group, ...]
    left_out: int = 0
    unlabelled: int = 0

    def remarks(self) -> list[str]:
        """What is in no group, a sentence each."""
        told = []
        if self.left_out:
            told.append(f"Queries in no group, since {self.column} says nothing of them: {self.left_out}.")
        if self.unlabelled:
            told.append(
                f"Sets without a label, ranked but not asked for, and nobody's match: {self.unlabelled}."
            )
        return told

    def measures(self) -> tuple[list[str], list[list[str]]]:
        """A table to read: its columns, and a row for each group and method."""
        rows = []
        for group in self.groups:
            for name in group.found.runs:
                found, told = group.found.summary(name), group.intervals(name).get("map")
                interval = "-" if told is None else f"{told.low:.4f} to {told.high:.4f}"
                counts = str(len(group.found.queries)), str(group.people)
                numbers = [f"{found[measure]:.4f}" for measure in MEASURES]
                rows.append([group.name, *counts, name, *numbers, interval])
        headings = [heading for heading, _ in MEASURES.values()]
        return [self.column, "queries", "people", METHOD, *headings, INTERVAL], rows

    def sureness(self) -> tuple[list[str], list[list[str]]]:
        """The same of how far probabilities may be believed; no rows where none were told."""
        rows = [
            [group.name, name, *("-" if told[key] is None else f"{told[key]:.4f}" for key in SURENESS)]
            for group in self.groups
            for name, told in group.found.calibration().items()
        ]
        return [self.column, METHOD, *SURENESS.values()], rows

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as ``evaluate --json`` prints them."""
        return {
            "column": self.column,
            "groups": {
                group.name: {
                    "queries": len(group.found.queries),
                    "people": group.people,
                    "rerankers": {name: group.found.summary(name) for name in group.found.runs},
                    "intervals": {
                        name: {
                            measure: [told.low, told.high] for measure, told in group.intervals(name).items()
                        }
                        for name in group.found.runs
                    },
                    "calibration": group.found.calibration(),
                }
                for group in self.groups
            },
            "left_out": self.left_out,
            "unlabelled": self.unlabelled,
        }


def grouped(evaluation: Evaluation, column: str, groups: Mapping[str, str], unlabelled: int = 0) -> Grouped:
    """Part an evaluation by the groups of its queries.

    Parameters
    ----------
    evaluation : Evaluation
    column : str
        What the groups are told by.
    groups : mapping of set id to group
        Empty, or missing, for sets of which nothing is said: these are left out, and counted.
    unlabelled : int
        How many sets have no label.
    """
    names = [groups.get(query, "") for query in evaluation.queries]
    ordered = sorted(set(names) - {""}, key=natural_order)
    made = tuple(
        Group(group, evaluation.only([place for place, name in enumerate(names) if name == group]))
        for group in ordered
    )
    return Grouped(column, made, names.count(""), unlabelled)
