"""A measure against the number of matches there are to find, and what independent matches would give."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput
from lookalike.reporting.figure import HEIGHT, Figure
from lookalike.reporting.style import COLOURS, GRAY, MARKERS, legend_below, legend_height, short

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

Counts = NDArray[np.integer[Any]]
PREDICTED = "if matches were independent"
CAUTION = (
    "Queries for the same person are counted as independent, so the true intervals are somewhat wider. "
    "Dashed: what would be expected if each further match were found independently of the others, "
)


class Kind(NamedTuple):
    """What is measured on queries with the same number of matches, and predicted from the fewest."""

    name: str
    title: str
    shown: str
    formula: str
    letter: str
    axis: str
    measure: Callable[[Counts], tuple[float, float, float]]  # value, low, high
    predict: Callable[[float, int, NDArray[np.float64]], NDArray[np.float64]]  # value, fewest, numbers


def _groups(available: Counts, found: Mapping[str, Counts]) -> dict[str, dict[int, Counts]]:
    """Counts of every method by the number of matches there are."""
    numbers = [int(k) for k in np.unique(available) if k > 0]
    if not numbers or not found:
        raise BadInput("no query has a match in the gallery, so there is nothing to draw: check the labels")
    return {name: {k: np.asarray(row)[available == k] for k in numbers} for name, row in found.items()}


def against_matches(kind: Kind, available: Counts, found: Mapping[str, Counts]) -> Figure:
    """Group the queries by their number of matches; one measured and one predicted line per method.

    Parameters
    ----------
    kind : Kind
    available : array (queries,)
        Matches that the gallery holds for each query.
    found : mapping of method to array (queries,)
        How many of them were found.
    """
    groups = _groups(available, found)
    columns = ("method", "matches_available", "queries", "measured", "low_95", "high_95", "independent")
    table: dict[str, list[Any]] = {column: [] for column in columns}
    curves: list[NDArray[np.float64]] = []
    fewest = min(next(iter(groups.values())))
    for name, by_number in groups.items():
        numbers = np.array(list(by_number), dtype=np.float64)
        measured = np.array([kind.measure(counts) for counts in by_number.values()])
        expected = kind.predict(float(measured[0, 0]), fewest, numbers)
        curves.append(np.column_stack([numbers, measured, expected]))
        for k, values, guess in zip(by_number, measured.tolist(), expected.tolist(), strict=True):
            row = (name, k, len(by_number[k]), *values, guess)
            for column, cell in zip(columns, row, strict=True):
                table[column].append(cell)
    source = (
        "measured on the queries that have exactly one match"
        if fewest == 1
        else f"worked back from the queries with {fewest} matches, because none has exactly one"
    )
    labels = [*(short(name) for name in groups), PREDICTED]
    return Figure(
        name=kind.name,
        title=kind.title,
        caption=f"{kind.shown}{CAUTION}{kind.formula}, with {kind.letter} {source}.",
        table=table,
        draw=lambda canvas: _draw(canvas, curves, labels, kind.axis),
        height=HEIGHT + legend_height(labels),
    )


def _draw(canvas: Canvas, curves: list[NDArray[np.float64]], labels: list[str], what: str) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    axes = canvas.subplots()
    shifts = np.linspace(-0.08, 0.08, len(curves)) if len(curves) > 1 else [0.0]
    handles: list[Any] = []
    for place, (curve, shift) in enumerate(zip(curves, shifts, strict=True)):
        numbers, value, low, high, expected = curve.T
        colour, marker = COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]
        axes.plot(numbers, expected, color=colour, linestyle=(0, (4, 2)), linewidth=1.0)
        # Side by side, so that intervals do not cover each other.
        around = np.maximum(0.0, [value - low, high - value])
        handles.append(axes.errorbar(numbers + shift, value, around, color=colour, marker=marker, capsize=2))
    handles.append(Line2D([], [], color=GRAY, linestyle=(0, (4, 2)), linewidth=1.0))
    axes.set(xlabel="matches in the gallery", ylabel=what)
    axes.set_ylim(bottom=0)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    if what.startswith("share"):
        axes.set_ylim(0, 1.02)
        axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    legend_below(canvas, handles, labels)
