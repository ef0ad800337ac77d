"""Statistics: how far a difference could be luck of the queries; groups of queries; two runs side by side."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput, NotFound
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
    """Means over queries of measures (queries, m) with their 95 % intervals, by a bootstrap over people.

    Queries of one person are alike, so whole people are drawn, not queries: an interval that took queries
    for independent would be too narrow. All m measures, or paired differences of methods, see the same
    draws.
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
    """Paired differences (queries, m) between methods on the same queries, each with a test of its sign.

    The test flips the signs of the differences of whole people: if two methods were exchangeable, every
    pattern of signs would be as likely as the one seen. With few people all patterns are tried.
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
    """The same from the measures of each query, by method, then by measure."""
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
    """The queries of one group."""

    name: str
    # What was found for them; all sets of the gallery were ranked, those of other groups too.
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
    """An evaluation by groups."""

    column: str  # what the groups are told by
    groups: tuple[Group, ...]  # by name
    left_out: int = 0  # queries of which the column says nothing: they are in no group
    unlabelled: int = 0  # sets without a label: nobody asks for them, and they match nobody

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
    """Part an evaluation by the groups of its queries; those in none, and sets without label, are counted."""
    names = [groups.get(query, "") for query in evaluation.queries]
    ordered = sorted(set(names) - {""}, key=natural_order)
    made = tuple(
        Group(group, evaluation.only([place for place, name in enumerate(names) if name == group]))
        for group in ordered
    )
    return Grouped(column, made, names.count(""), unlabelled)


# A report of 100,000 queries by a dozen methods is smaller than this.
MOST_BYTES = 512 * 2**20


class Line(NamedTuple):
    """One measure of one method in both runs."""

    method: str
    measure: str
    first: float
    second: float
    change: Contrast | None  # paired over the queries both runs asked; None if there are none
    p_corrected: float = 1.0  # by Holm, over the methods both runs measured


class Comparison(NamedTuple):
    """What two runs share, and how their figures differ."""

    differences: list[str]  # of what made them: other gallery, other labels, other versions
    only_first: list[str]
    only_second: list[str]
    shared_queries: int
    lines: list[Line]
    reason: str = ""  # why no test could be made

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as ``compare --json`` prints them."""
        return {
            "differences": self.differences,
            "only_first": self.only_first,
            "only_second": self.only_second,
            "shared_queries": self.shared_queries,
            "methods": [_plain(line) for line in self.lines],
        }


def _plain(line: Line) -> dict[str, Any]:
    figures = {"method": line.method, "measure": line.measure, "first": line.first, "second": line.second}
    if line.change is None:
        return figures
    chance = {"p": line.change.p, "p_corrected": line.p_corrected}
    return figures | line.change.difference._asdict() | chance


def read_record(path: Path) -> dict[str, Any]:
    """Read what ``evaluate --report`` or ``evaluate --json`` wrote."""
    if path.is_dir():
        path = path / "report.json"
    try:
        if path.stat().st_size > MOST_BYTES:
            raise BadInput(f"{path} has more than {MOST_BYTES >> 20} MB: give the report.json of a report")
        given = json.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise NotFound(f"there is no file {path}: give the report.json of a report") from None
    except OSError as reason:
        raise BadInput(f"{path} cannot be read: {reason.strerror}") from reason
    except (ValueError, RecursionError) as reason:
        raise BadInput(f"{path} is not JSON ({reason}): give the report.json of a report") from None
    try:
        _check(given)
    except (KeyError, TypeError, ValueError, AttributeError) as reason:
        raise BadInput(
            f"{path} is not the record of an evaluation ({reason} is wrong or missing): give the "
            f"report.json of a report, or what `evaluate --json` printed"
        ) from None
    found: dict[str, Any] = given
    return found


def compare(first: dict[str, Any], second: dict[str, Any]) -> Comparison:
    """Hold the methods that both runs measured against each other; BadInput if there is none."""
    mine, theirs = first["rerankers"], second["rerankers"]
    common = [name for name in mine if name in theirs]
    if not common:
        raise BadInput(
            f"the two runs have no method in common ({', '.join(mine)} and {', '.join(theirs)}): "
            f"evaluate at least one in both"
        )
    pairs, reason = _pairs(first, second)
    lines: list[Line] = []
    for measure in MEASURES:
        tested = [
            name
            for name in common
            if pairs and all(measure in run["per_query"]["values"][name] for run in (first, second))
        ]
        changes = dict(zip(tested, _changes(first, second, pairs, tested, measure), strict=True))
        corrected = dict(zip(tested, holm([change.p for change in changes.values()]), strict=True))
        for name in common:
            figures = mine[name][measure], theirs[name][measure]
            lines.append(Line(name, measure, *figures, changes.get(name), corrected.get(name, 1.0)))
    return Comparison(
        _differences(first, second),
        [name for name in mine if name not in theirs],
        [name for name in theirs if name not in mine],
        len(pairs),
        sorted(lines, key=lambda line: common.index(line.method)),
        reason,
    )


def words(found: Comparison) -> str:
    """Say in a sentence what changed beyond chance."""
    tested = [line for line in found.lines if line.change is not None]
    if not tested:
        return f"No test was made: {found.reason}."
    changed = [line for line in tested if line.p_corrected < ALPHA]
    if not changed:
        return f"On {found.shared_queries} shared queries, no measure changed beyond chance."
    named = ", ".join(f"{line.method} {MEASURES[line.measure][0]}" for line in changed)
    return (
        f"On {found.shared_queries} shared queries, these changed beyond chance (p < {ALPHA}, corrected for "
        f"the number of methods): {named}."
    )


def _pairs(first: dict[str, Any], second: dict[str, Any]) -> tuple[list[tuple[int, int]], str]:
    """Places of the queries that both runs asked; none, and why, if they cannot be paired."""
    if "per_query" not in first or "per_query" not in second:
        return [], "one of the files has no figures of single queries, only a report.json has them"
    ours, other = first["per_query"]["id"], second["per_query"]["id"]
    # Random splits may ask for a set twice, each time in another gallery: such queries have no pair.
    if len(set(ours)) < len(ours) or len(set(other)) < len(other):
        return [], "a run of several splits asks for some sets twice, so queries have no pair"
    places = {id: place for place, id in enumerate(other)}
    found = [(place, places[id]) for place, id in enumerate(ours) if id in places]
    return found, "" if found else "the runs asked for different sets"


def _changes(
    first: dict[str, Any],
    second: dict[str, Any],
    pairs: list[tuple[int, int]],
    names: list[str],
    measure: str,
) -> list[Contrast]:
    """Second minus first for each method, on the queries that both asked; none without such figures."""
    if not names:
        return []
    here, there = (list(places) for places in zip(*pairs, strict=True))
    gains = [
        np.array(second["per_query"]["values"][name][measure])[there]
        - np.array(first["per_query"]["values"][name][measure])[here]
        for name in names
    ]
    return contrasts(np.column_stack(gains), [str(first["per_query"]["person"][place]) for place in here])


def _differences(first: dict[str, Any], second: dict[str, Any]) -> list[str]:
    told = []
    for key in (
        "gallery",
        "labels",
        "similarity",
        "preparation",
        "protocol",
        "query_counted",
        "decisions",
        "seeds",
        "methods",
        "versions",
        "parameters",
    ):
        if first.get(key) != second.get(key):
            told.append(key)
    return told


def _check(given: Any) -> None:
    for name, measures in given["rerankers"].items():
        missing = [measure for measure in MEASURES if not _is_share(measures[measure])]
        if missing:
            raise KeyError(f"{name} {missing[0]}")
    if "per_query" in given:
        asked = given["per_query"]
        if not all(isinstance(id, str) for id in asked["id"]):
            raise TypeError("per_query id")
        for values in (asked["person"], *(v for m in asked["values"].values() for v in m.values())):
            if len(values) != len(asked["id"]):
                raise ValueError("per_query")
        if set(asked["values"]) != set(given["rerankers"]):
            raise ValueError("per_query")
        for measures in asked["values"].values():
            for values in measures.values():
                if not all(map(_is_share, values)):
                    raise ValueError("per_query")


def _is_share(value: Any) -> bool:
    """Every measure goes from 0 to 1, which NaN does not."""
    return isinstance(value, int | float) and 0 <= value <= 1
