"""Compare: two recorded evaluations side by side, query by query where they asked the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lookalike.errors import BadInput, NotFound
from lookalike.evaluation.measures import MEASURES
from lookalike.evaluation.statistics import ALPHA, Contrast, contrasts, holm

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
    """Read what ``evaluate --report`` or ``evaluate --json`` wrote.

    Raises
    ------
    NotFound, BadInput
        If there is no such file, or it is something else.
    """
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
    """Hold the methods that both runs measured against each other.

    Raises
    ------
    BadInput
        If they have no method in common.
    """
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
        tested = [name for name in common if pairs and _both_have(first, second, name, measure)]
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


def _both_have(first: dict[str, Any], second: dict[str, Any], name: str, measure: str) -> bool:
    return all(measure in run["per_query"]["values"][name] for run in (first, second))


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
