"""Which methods really differ from the baseline: mean differences with their intervals."""

from __future__ import annotations

import re
from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

from lookalike.errors import BadInput
from lookalike.reporting.figure import Figure
from lookalike.reporting.style import BLACK, BLUE, short

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

# Height of the axis and its words, and of one method, in centimetres.
FOOT, ROW = 2.2, 0.75
LONGEST_LINE = 22  # letters


def differences(
    rows: Sequence[tuple[str, float, float, float]], sure: Sequence[str], measure: str, baseline: str
) -> Figure:
    """Dots and intervals, one row a method, around a line at zero.

    Parameters
    ----------
    rows : sequence of (name, mean difference, low, high)
        Method minus baseline, over the same queries.
    sure : sequence of str
        Methods whose difference is beyond chance.
    measure : str
        What is compared, for instance ``mAP``.
    baseline : str
        What the methods are compared with.
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
        draw=lambda canvas: _draw(canvas, rows, sure, f"difference in {short(measure)} to {short(baseline)}"),
        height=FOOT + ROW * len(rows),
    )


def _draw(
    canvas: Canvas, rows: Sequence[tuple[str, float, float, float]], sure: Sequence[str], label: str
) -> None:
    from matplotlib.ticker import MaxNLocator

    axes = canvas.subplots()
    axes.axvline(0.0, color=BLACK, linewidth=1.0)
    for place, (name, mean, low, high) in enumerate(rows):
        filling = BLUE if name in sure else "white"
        axes.plot([low, high], [place, place], color=BLUE)
        axes.plot([mean], [place], "o", color=BLUE, markerfacecolor=filling, markersize=6)
    axes.set_yticks(range(len(rows)), [_in_lines(name) for name, *_ in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    axes.margins(x=0.1)
    axes.xaxis.set_major_locator(MaxNLocator(5))
    # Centred on the figure: beside long names the axes are narrower than these words.
    canvas.supxlabel(label, fontsize=8)


def _in_lines(name: str) -> str:
    return "\n".join(wrap(short(name), LONGEST_LINE, drop_whitespace=False))
