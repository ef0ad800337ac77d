"""How far down the matches lie: distribution of the average normalised rank over the queries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lookalike.reporting.cdf import Floats, cdf, checked, outline
from lookalike.reporting.figure import HEIGHT, Figure
from lookalike.reporting.style import BLACK, GRAY, legend_below, legend_height, line, short

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

# The paper quotes the share of queries below this value (section 3.5).
GUIDE = 0.3
READING = (
    "ANR is 0 if all matches of a query come before everybody else, 0.5 on average if sets are ranked at "
    "random, and 1 if all matches come last. A curve shows for every ANR the share of queries that did at "
    f"least as well; the area above it is the mean ANR, so the better curve lies further up and left. The "
    f"vertical line marks ANR {GUIDE}, for which the paper quotes shares."
)


def anr_cdf(anr: Mapping[str, NDArray[np.floating[Any]]]) -> Figure:
    """One curve per method.

    Parameters
    ----------
    anr : mapping of method to array (queries,)
        As `average_normalised_rank` returns it.
    """
    values = {name: checked(row, f"the ANR of {name}") for name, row in anr.items()}
    labels = [f"{short(name)} (mean {row.mean():.3f})" for name, row in values.items()]
    looks = [line(number) for number in range(len(values))]
    below = "; ".join(f"{name} {(row < GUIDE).mean():.1%}" for name, row in values.items())
    return Figure(
        name="anr_cdf",
        title="Average normalised rank (ANR) by method",
        caption=f"{READING} Share of queries with an ANR below {GUIDE}: {below}.",
        table=_table("method", values),
        draw=lambda canvas: _draw(canvas, list(values.values()), looks, labels),
        height=HEIGHT + legend_height(labels),
    )


def proxies_cdf(
    anr_by_count: Mapping[int, NDArray[np.floating[Any]]], baseline: NDArray[np.floating[Any]] | None = None
) -> Figure:
    """One curve per number of proxies that may speak for a target.

    Parameters
    ----------
    anr_by_count : mapping of int to array (queries,)
        ANR for each number of proxies.
    baseline : array (queries,), optional
        ANR without a second stage.
    """
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
        draw=lambda canvas: _draw(canvas, list(values.values()), looks, labels, 3, "proxies: mean ANR"),
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


def _draw(
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
