"""The figures of an evaluation: ranks of matches, first answers, differences, reliability."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput
from lookalike.evaluation.drawing import (
    BLACK,
    BLUE,
    COLOURS,
    GRAY,
    HEIGHT,
    MARKERS,
    Figure,
    Floats,
    around_mean,
    cdf,
    checked,
    legend_below,
    legend_height,
    line,
    outline,
    short,
    wilson,
)
from lookalike.evaluation.measures import BINS, DEPTH, Bin, calibration_error

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

    `available` (queries,) are the matches that the gallery holds for each query, `found` those of each
    method.
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


# What a person sees who reads the first answers only, by the number of matches there are to find.


def match_probability(available: Counts, found: Mapping[str, Counts], depth: int = 100) -> Figure:
    """Share of queries with at least one match among the first answers.

    `available` (queries,) are the matches that the gallery holds for each query, `found` those among the
    first ``depth`` answers of each method: so many as a person reads, well below the size of the gallery.
    """

    def measure(counts: Counts) -> tuple[float, float, float]:
        hits = int((counts > 0).sum())
        return (hits / len(counts), *wilson(hits, len(counts)))

    kind = Kind(
        "match_probability",
        f"Chance of a match in the first {depth} answers",
        f"Share of queries with at least one match among the first {depth} answers, with 95 % Wilson "
        "intervals. ",
        "1 − (1 − p)^k for k matches",
        "p",
        "share of queries",
        measure,
        lambda share, fewest, k: 1 - (1 - share) ** (k / fewest),
    )
    return against_matches(kind, available, found)


def matches_found(available: Counts, found: Mapping[str, Counts], depth: int = 100) -> Figure:
    """Mean number of matches among the first answers; parameters as for `match_probability`."""

    def measure(counts: Counts) -> tuple[float, float, float]:
        low, high = around_mean(counts)
        return float(np.mean(counts)), max(0.0, low) if low == low else low, high

    kind = Kind(
        "matches_found",
        f"Matches in the first {depth} answers",
        f"Mean number of matches among the first {depth} answers, with 95 % intervals (1.96 standard errors; "
        "none for a single query). ",
        "k n for k matches",
        "n",
        "matches found, mean",
        measure,
        lambda mean, fewest, k: k * mean / fewest,
    )
    return against_matches(kind, available, found)


# How far down the matches lie: distribution of the average normalised rank over the queries.


# The paper quotes the share of queries below this value (section 3.5).
GUIDE = 0.3
READING = (
    "ANR is 0 if all matches of a query come before everybody else, 0.5 on average if sets are ranked at "
    "random, and 1 if all matches come last. A curve shows for every ANR the share of queries that did at "
    f"least as well; the area above it is the mean ANR, so the better curve lies further up and left. The "
    f"vertical line marks ANR {GUIDE}, for which the paper quotes shares."
)


def anr_cdf(anr: Mapping[str, NDArray[np.floating[Any]]]) -> Figure:
    """One curve per method, of what `average_normalised_rank` returns for each query."""
    values = {name: checked(row, f"the ANR of {name}") for name, row in anr.items()}
    labels = [f"{short(name)} (mean {row.mean():.3f})" for name, row in values.items()]
    looks = [line(number) for number in range(len(values))]
    below = "; ".join(f"{name} {(row < GUIDE).mean():.1%}" for name, row in values.items())
    return Figure(
        name="anr_cdf",
        title="Average normalised rank (ANR) by method",
        caption=f"{READING} Share of queries with an ANR below {GUIDE}: {below}.",
        table=_table("method", values),
        draw=lambda canvas: _draw_anr(canvas, list(values.values()), looks, labels),
        height=HEIGHT + legend_height(labels),
    )


def proxies_cdf(
    anr_by_count: Mapping[int, NDArray[np.floating[Any]]], baseline: NDArray[np.floating[Any]] | None = None
) -> Figure:
    """One curve of ANR per number of proxies that may speak for a target, and one without a re-ranker."""
    values = {
        str(count): checked(anr_by_count[count], f"the ANR of {count} proxies")
        for count in sorted(anr_by_count)
    }
    looks: list[dict[str, Any]] = [
        {"shade": place / max(1, len(values) - 1), "linestyle": ("solid", (0, (4, 1)))[place % 2]}
        for place in range(len(values))
    ]
    if baseline is not None:
        values["baseline"] = checked(baseline, "the ANR of the baseline")
        looks.append({"color": BLACK, "linestyle": (0, (1, 1)), "linewidth": 1.8})
    labels = [f"{name}: {row.mean():.3f}" for name, row in values.items()]
    best = min(values, key=lambda name: float(values[name].mean()))
    lowest = f"with {best} {'proxy' if best == '1' else 'proxies'}" if best.isdecimal() else "without proxies"
    return Figure(
        name="anr_by_proxies",
        title="Average normalised rank (ANR) by number of proxies",
        caption=f"{READING} From dark to light, more proxies may speak for every target. "
        f"Here the mean ANR is lowest {lowest}.",
        table=_table("proxies", values),
        draw=lambda canvas: _draw_anr(canvas, list(values.values()), looks, labels, 3, "proxies: mean ANR"),
        height=HEIGHT + legend_height([*labels, "", "", ""], 3),
    )


def _table(key: str, values: Mapping[str, Floats]) -> dict[str, list[Any]]:
    table: dict[str, list[Any]] = {key: [], "anr": [], "share_of_queries": []}
    for name, row in values.items():
        points, shares = cdf(row)
        table[key] += [name] * len(points)
        table["anr"] += points.tolist()
        table["share_of_queries"] += shares.tolist()
    return table


def _draw_anr(
    canvas: Canvas,
    rows: list[Floats],
    looks: list[dict[str, Any]],
    labels: list[str],
    columns: int = 0,
    title: str = "",
) -> None:
    from matplotlib import colormaps
    from matplotlib.ticker import PercentFormatter

    axes = canvas.subplots()
    axes.axvline(GUIDE, color=GRAY, linewidth=0.8)
    lines = []
    for row, look in zip(rows, looks, strict=True):
        kept = {name: value for name, value in look.items() if name != "shade"}
        if "shade" in look:  # the lightest end of the scale vanishes on white paper
            kept["color"] = colormaps["viridis"](0.9 * look["shade"])
        lines += axes.plot(*outline(row, 0.0, 1.0), drawstyle="steps-post", **kept)
    axes.set(xlim=(0, 1), ylim=(0, 1.005), xlabel="average normalised rank", ylabel="share of queries")
    axes.set_xticks(np.linspace(0, 1, 6))
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    legend_below(canvas, lines, labels, columns, title)


# Which methods really differ from the baseline: mean differences with their intervals.


# Height of the axis and its words, and of one method, in centimetres.
FOOT, ROW = 2.2, 0.75
LONGEST_LINE = 22  # letters


def differences(
    rows: Sequence[tuple[str, float, float, float]], sure: Sequence[str], measure: str, baseline: str
) -> Figure:
    """Dots and intervals, one row a method, around a line at zero.

    `rows` are name, mean difference (method minus baseline, over the same queries), low and high; `sure` are
    methods whose difference is beyond chance.
    """
    if not rows:
        raise BadInput(f"there is nothing to compare with {baseline}: measure at least one more method")
    verdict = f"That is so for {', '.join(sure)}." if sure else "That is so for none."
    return Figure(
        name=f"differences_{re.sub('[^a-z0-9]+', '_', measure.lower()).strip('_')}",
        title=f"Difference in {measure} to {baseline}",
        caption=f"Mean difference in {measure} of every method to {baseline} over the same queries, with its "
        f"95 % interval. Filled dots differ from {baseline} beyond chance, by a paired test that is "
        f"corrected for the number of methods. {verdict}",
        table={
            "method": [name for name, *_ in rows],
            "difference": [float(mean) for _, mean, *_ in rows],
            "low": [float(low) for *_, low, _ in rows],
            "high": [float(high) for *_, high in rows],
            "beyond_chance": [name in sure for name, *_ in rows],
        },
        draw=lambda canvas: _draw_intervals(
            canvas, rows, sure, f"difference in {short(measure)} to {short(baseline)}"
        ),
        height=FOOT + ROW * len(rows),
    )


def _draw_intervals(
    canvas: Canvas, rows: Sequence[tuple[str, float, float, float]], sure: Sequence[str], label: str
) -> None:
    from matplotlib.ticker import MaxNLocator

    axes = canvas.subplots()
    axes.axvline(0.0, color=BLACK, linewidth=1.0)
    for place, (name, mean, low, high) in enumerate(rows):
        filling = BLUE if name in sure else "white"
        axes.plot([low, high], [place, place], color=BLUE)
        axes.plot([mean], [place], "o", color=BLUE, markerfacecolor=filling, markersize=6)
    names = ["\n".join(wrap(short(name), LONGEST_LINE, drop_whitespace=False)) for name, *_ in rows]
    axes.set_yticks(range(len(rows)), names)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.margins(x=0.1)
    axes.xaxis.set_major_locator(MaxNLocator(5))
    # Centred on the figure: beside long names the axes are narrower than these words.
    canvas.supxlabel(label, fontsize=8)


# Reliability diagram: how often answers were right, against how sure we were of them.


Bins = Mapping[str, Sequence[Bin]]


def reliability(bins: Bins) -> Figure:
    """One curve per method, with the diagonal on which probabilities are exact."""
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
        table=_table_reliability(bins),
        draw=lambda canvas: _draw_reliability(canvas, list(bins.values()), labels),
        height=HEIGHT + legend_height(labels),
    )


def _table_reliability(bins: Bins) -> dict[str, list[Any]]:
    rows = [
        (name, bin.answers, bin.said, bin.right / bin.answers, *wilson(bin.right, bin.answers))
        for name, own in bins.items()
        for bin in own
    ]
    columns = ("method", "answers", "said", "right", "low", "high")
    return {column: [row[place] for row in rows] for place, column in enumerate(columns)}


def _draw_reliability(canvas: Canvas, every: Sequence[Sequence[Bin]], labels: list[str]) -> None:
    from matplotlib.ticker import PercentFormatter

    axes = canvas.subplots()
    axes.plot([0, 1], [0, 1], color=GRAY, linewidth=0.8)
    lines = []
    for number, own in enumerate(every):
        said, right = [bin.said for bin in own], [bin.right / bin.answers for bin in own]
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
