"""The plot of growth: times against sizes, both on logarithmic axes, with the fitted exponents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib.figure import Figure


def draw_growth(entries: list[dict[str, Any]], path: Path) -> None:
    """One line for each entry with sizes and seconds; a straight line is a power, its slope the exponent."""
    figure = Figure(figsize=(5, 4), layout="constrained")
    axes = figure.subplots()
    for entry, marker in zip(entries, "osv^D", strict=False):
        axes.loglog(
            entry["sizes"], entry["seconds"], marker=marker, label=f"{entry['name']}: {entry['ratio']:.2f}"
        )
    axes.set(xlabel="sets", ylabel="seconds")
    axes.grid(alpha=0.3, which="both")
    axes.legend()
    figure.savefig(path, dpi=150)
