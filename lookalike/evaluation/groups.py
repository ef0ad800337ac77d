"""Groups: an evaluation by what a column of the labels says of the queries, to see for whom it is weak."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lookalike.evaluation.measures import MEASURES, SURENESS
from lookalike.evaluation.results import Evaluation
from lookalike.evaluation.statistics import Interval, intervals
from lookalike.faceset import natural_order

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
