"""Reliability diagram: how often answers were right, against how sure we were of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lookalike.errors import BadInput
from lookalike.evaluation.reliability import BINS, DEPTH, Bin, calibration_error
from lookalike.reporting.figure import HEIGHT, Figure
from lookalike.reporting.style import GRAY, MARKERS, legend_below, legend_height, line, short
from lookalike.reporting.uncertainty import wilson

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

Bins = Mapping[str, Sequence[Bin]]


def reliability(bins: Bins) -> Figure:
    """One curve per method, with the diagonal on which probabilities are exact.

    Parameters
    ----------
    bins : mapping of method to sequence of Bin
        As `Sureness.bins` returns them.

    Raises
    ------
    BadInput
        If a method has no answers.
    """
    if not bins or not all(bins.values()):
        raise BadInput("there are no probabilities to draw: measure methods that give some")
    errors = {name: calibration_error(own) or 0.0 for name, own in bins.items()}
    labels = [f"{short(name)} (error {error:.3f})" for name, error in errors.items()]
    return Figure(
        name="reliability",
        title="Said and right: reliability of the probabilities",
        caption=f"The first {DEPTH} answers of every query, in {BINS} bins by the probability that was said. "
        "The 95 % Wilson intervals take answers for independent, and are too narrow. On the diagonal answers "
        "are right as often as was said; above it more often, below it less. The error is the mean distance "
        "from the diagonal, weighted by the number of answers; most answers are in the first bin.",
        table=_table(bins),
        draw=lambda canvas: _draw(canvas, list(bins.values()), labels),
        height=HEIGHT + legend_height(labels),
    )


def _table(bins: Bins) -> dict[str, list[Any]]:
    rows = [
        (name, one.answers, one.said, one.right / one.answers, *wilson(one.right, one.answers))
        for name, own in bins.items()
        for one in own
    ]
    columns = ("method", "answers", "said", "right", "low", "high")
    return {column: [row[place] for row in rows] for place, column in enumerate(columns)}


def _draw(canvas: Canvas, every: Sequence[Sequence[Bin]], labels: list[str]) -> None:
    from matplotlib.ticker import PercentFormatter

    axes = canvas.subplots()
    axes.plot([0, 1], [0, 1], color=GRAY, linewidth=0.8)
    lines = []
    for number, own in enumerate(every):
        said, right = [one.said for one in own], [one.right / one.answers for one in own]
        look = line(number)
        for x, one in zip(said, own, strict=True):
            axes.plot([x, x], wilson(one.right, one.answers), color=look["color"], linewidth=0.8)
        lines += axes.plot(said, right, marker=MARKERS[number % len(MARKERS)], **look)
    axes.set(
        xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel="probability said", ylabel="answers that were right"
    )
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    legend_below(canvas, lines, labels)
