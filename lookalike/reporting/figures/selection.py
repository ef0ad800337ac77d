"""What choosing a few faces for a video ignores, and what it costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lookalike.reporting.cdf import Floats, cdf, checked, outline
from lookalike.reporting.figure import HEIGHT, Figure
from lookalike.reporting.style import BLUE, GRAY, legend_below, legend_height, line

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas


def energies_cdf(relative: NDArray[np.floating[Any]]) -> Figure:
    """How much of the variation inside a set lies beside the first component.

    Parameters
    ----------
    relative : array (sets, 2)
        Energy of the 2nd and 3rd kernel component, relative to the 1st, as `relative_energies` returns it.
    """
    second = checked(relative[:, 0], "the energy of the 2nd component")
    third = checked(relative[:, 1], "the energy of the 3rd component")
    curves = {"2nd component": second, "3rd component": third}
    labels = [f"{name} (median {np.median(row):.2f})" for name, row in curves.items()]
    table: dict[str, list[Any]] = {"component": [], "relative_energy": [], "share_of_sets": []}
    for number, row in zip((2, 3), curves.values(), strict=True):
        points, shares = cdf(row)
        table["component"] += [number] * len(points)
        table["relative_energy"] += points.tolist()
        table["share_of_sets"] += shares.tolist()
    looks = [line(0), line(1)]
    return Figure(
        name="selection_energies",
        title="Variation inside a set beside its main factor",
        caption="Faces of a video are chosen along the first kernel principal component, its main factor of "
        "variation, such as the turning of the head. Shown is the energy of the 2nd and 3rd component "
        f"relative to the 1st, over {len(second)} sets. The further left the curves, the less is ignored; "
        "at 1, a component is as strong as the first.",
        table=table,
        draw=lambda canvas: _draw(
            canvas, [second, third], looks, (0.0, 1.0), "energy relative to the 1st component", "sets", labels
        ),
        height=HEIGHT + legend_height(labels),
    )


def selection_error_cdf(errors: NDArray[np.floating[Any]]) -> Figure:
    """What choosing faces changes in the similarity of two sets.

    Parameters
    ----------
    errors : array (pairs,)
        Similarity of the chosen faces minus that of all faces, as `selection_errors` returns it.
    """
    values = checked(errors, "the error of the selection")
    points, shares = cdf(values)
    spread = float(np.ptp(np.r_[values, 0.0])) or 0.01
    ends = (min(0.0, float(points[0])) - 0.05 * spread, max(0.0, float(points[-1])) + 0.05 * spread)
    sizes = np.abs(values)
    return Figure(
        name="selection_error",
        title="Error of the similarity that choosing faces makes",
        caption="Similarity of two sets by their chosen faces, minus their similarity by all faces, for "
        f"{len(values)} random pairs of different sets. Nothing is lost at zero, the vertical line. Half "
        f"of the errors are at most {np.median(sizes):.4f} in size, and 95 % at most "
        f"{np.quantile(sizes, 0.95):.4f}.",
        table={"error": points.tolist(), "share_of_pairs": shares.tolist()},
        draw=lambda canvas: _draw(
            canvas, [values], [{"color": BLUE}], ends, "error of the similarity", "pairs", [], guide=0.0
        ),
    )


def _draw(
    canvas: Canvas,
    rows: list[Floats],
    looks: list[dict[str, Any]],
    ends: tuple[float, float],
    what: str,
    of: str,
    labels: list[str],
    guide: float | None = None,
) -> None:
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    axes = canvas.subplots()
    if guide is not None:
        axes.axvline(guide, color=GRAY, linewidth=0.8)
    lines = []
    for row, look in zip(rows, looks, strict=True):
        lines += axes.plot(*outline(row, *ends), drawstyle="steps-post", **look)
    axes.set(xlim=ends, ylim=(0, 1.005), xlabel=what, ylabel=f"share of {of}")
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    if labels:
        legend_below(canvas, lines, labels)
