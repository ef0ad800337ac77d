"""Compare: two recorded evaluations side by side, query by query where they asked the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lookalike.errors import BadInput, NotFound
from lookalike.evaluation.contrasts import ALPHA
from lookalike.evaluation.measures import MEASURES
from lookalike.evaluation.statistics import Contrast, contrast

# A report of 100,000 queries by a dozen methods is smaller than this.
MOST_BYTES = 512 * 2**20


class Line(NamedTuple):
    """One measure of one method in both runs."""

    method: str
    measure: str
    first: float
    second: float
    change: Contrast | None  # paired over the queries both runs asked; None if there are none


class Comparison(NamedTuple):
    """What two runs share, and how their figures differ."""

    differences: list[str]  # of what made them: other gallery, other labels, other versions
    only_first: list[str]
    only_second: list[str]
    shared_queries: int
    lines: list[Line]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as ``compare --json`` prints them."""
        return {
            "differences": self.differences,
            "only_first": self.only_first,
            "only_second": self.only_second,
            "shared_queries": self.shared_queries,
            "methods": [
                {
                    "method": line.method,
                    "measure": line.measure,
                    "first": line.first,
                    "second": line.second,
                    **(
                        {**line.change.difference._asdict(), "p": line.change.p}
                        if line.change is not None
                        else {}
                    ),
                }
                for line in self.lines
            ],
        }


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
            f"{path} is not the record of an evaluation ({reason!r} is wrong or missing): give the "
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
    pairs = _pairs(first, second)
    lines = [
        Line(
            name,
            measure,
            mine[name][measure],
            theirs[name][measure],
            _change(first, second, pairs, name, measure),
        )
        for name in common
        for measure in MEASURES
    ]
    return Comparison(
        _differences(first, second),
        [name for name in mine if name not in theirs],
        [name for name in theirs if name not in mine],
        len(pairs),
        lines,
    )


def words(found: Comparison) -> str:
    """Say in a sentence what changed beyond chance."""
    tested = [line for line in found.lines if line.change is not None]
    if not tested:
        return "The runs share no queries that could be paired, so no test was made."
    changed = [line for line in tested if line.change is not None and line.change.p < ALPHA]
    if not changed:
        return f"On {found.shared_queries} shared queries, no measure changed beyond chance."
    named = ", ".join(f"{line.method} {MEASURES[line.measure][0]}" for line in changed)
    return f"On {found.shared_queries} shared queries, these changed beyond chance (p < {ALPHA}): {named}."


def _pairs(first: dict[str, Any], second: dict[str, Any]) -> list[tuple[int, int]]:
    """Places of the queries that both runs asked; none if one has no record of its queries."""
    if "per_query" not in first or "per_query" not in second:
        return []
    ours, other = first["per_query"]["id"], second["per_query"]["id"]
    # Random splits may ask for a set twice, each time in another gallery: such queries have no pair.
    if len(set(ours)) < len(ours) or len(set(other)) < len(other):
        return []
    places = {id: place for place, id in enumerate(other)}
    return [(place, places[id]) for place, id in enumerate(ours) if id in places]


def _change(
    first: dict[str, Any], second: dict[str, Any], pairs: list[tuple[int, int]], name: str, measure: str
) -> Contrast | None:
    if not pairs or measure not in first["per_query"]["values"][name]:
        return None
    ours, other = (np.array(run["per_query"]["values"][name][measure]) for run in (first, second))
    here, there = (list(places) for places in zip(*pairs, strict=True))
    people = [str(first["per_query"]["person"][place]) for place in here]
    return contrast(other[there], ours[here], people)


def _differences(first: dict[str, Any], second: dict[str, Any]) -> list[str]:
    told = []
    for key in ("gallery", "labels", "similarity", "protocol", "seeds", "methods", "versions", "parameters"):
        if first.get(key) != second.get(key):
            told.append(key)
    return told


def _check(given: Any) -> None:
    for name, measures in given["rerankers"].items():
        missing = [measure for measure in MEASURES if not isinstance(measures[measure], int | float)]
        if missing:
            raise KeyError(f"{name} {missing[0]}")
    if "per_query" in given:
        asked = given["per_query"]
        for values in (asked["person"], *(v for m in asked["values"].values() for v in m.values())):
            if len(values) != len(asked["id"]):
                raise ValueError("per_query")
        if set(asked["values"]) != set(given["rerankers"]):
            raise ValueError("per_query")
        for measures in asked["values"].values():
            for values in measures.values():
                if not np.isfinite(np.array(values, dtype=float)).all():
                    raise ValueError("per_query")
