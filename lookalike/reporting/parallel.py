"""Parallel coordinates of the five numbers: many examples as thin lines, their median and band."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from lookalike.reporting.style import BLACK

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
NAMES: Final = ("s1", "s2", "s3", "s4", "s5")
# More lines than this only make a panel black.
MOST_LINES = 300
QUANTILES: Final = {"5 %": 0.05, "median": 0.5, "95 %": 0.95, "lowest": 0.0, "highest": 1.0}
EDGE: Final[Any] = (0, (4, 2))


def some(rows: Floats) -> Floats:
    """Lines to draw: all, or some chosen by a fixed seed, so that a figure is a function of its numbers."""
    if len(rows) <= MOST_LINES:
        return rows
    return rows[np.sort(np.random.default_rng(0).choice(len(rows), MOST_LINES, replace=False))]


def table(panels: Mapping[str, Floats]) -> dict[str, list[Any]]:
    """Everything that is drawn, one row a number; a panel without examples has no rows."""
    found: dict[str, list[Any]] = {"panel": [], "line": [], "number": [], "value": []}
    for panel, rows in panels.items():
        if not len(rows):
            continue
        lines = {name: np.quantile(rows, share, axis=0) for name, share in QUANTILES.items()}
        lines |= {f"example {place}": row for place, row in enumerate(some(rows), start=1)}
        for name, row in lines.items():
            found["panel"] += [panel] * len(NAMES)
            found["line"] += [name] * len(NAMES)
            found["number"] += NAMES
            found["value"] += row.tolist()
    return found


def draw_panels(
    every: Sequence[Axes], titles: Sequence[str], panels: Sequence[Floats], colours: Sequence[str]
) -> list[Artist]:
    """Draw one panel each; return what a legend shows for the median and for the band."""
    from matplotlib.collections import LineCollection
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    x = np.arange(len(NAMES))
    met = np.concatenate([rows.reshape(-1, len(NAMES)) for rows in panels])
    low, high = (float(met.min()), float(met.max())) if len(met) else (0.0, 1.0)
    margin = 0.04 * (high - low) or 0.1  # numbers that are all equal have no extent
    for axes, title, rows, colour in zip(every, titles, panels, colours, strict=True):
        axes.set_title(title)
        axes.set(xlim=(-0.15, 4.15), ylim=(low - margin, high + margin))
        if not len(rows):
            axes.text(2, (low + high) / 2, "none", ha="center")
            continue
        lines = [np.column_stack([x, row]) for row in some(rows)]
        # Pixels, not paths: hundreds of faint lines would make the file large and slow.
        thin = LineCollection(lines, colors=colour, alpha=0.12, linewidths=0.6, rasterized=True)
        axes.add_collection(thin)
        few, middle, most = np.quantile(rows, [0.05, 0.5, 0.95], axis=0)
        axes.fill_between(x, few, most, color=colour, alpha=0.25, linewidth=0)
        for edge in (few, most):
            axes.plot(x, edge, color=BLACK, linewidth=0.8, linestyle=EDGE)
        axes.plot(x, middle, color=BLACK, linewidth=2.0)
    band = Patch(facecolor="none", edgecolor=BLACK, linestyle=EDGE, linewidth=0.8)
    return [Line2D([], [], color=BLACK, linewidth=2.0), band]
