"""The faces of one set, and which of them were chosen to stand for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lookalike.reporting.figure import HEIGHT, Figure
from lookalike.reporting.style import GRAY, SKY, VERMILLION, legend_below, legend_height, short

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

LABELS = ("face", "chosen face", "even step")
STRIP = 1.7  # cm
# Beyond these many dots a vector file grows large, and single dots cannot be seen.
MOST_DOTS = 1000


def selection_picture(
    projections: NDArray[np.floating[Any]],
    chosen: NDArray[np.integer[Any]],
    evenly: NDArray[np.floating[Any]],
    set_id: str,
    pictures: Sequence[NDArray[np.uint8]] = (),
) -> Figure:
    """Faces by their first two kernel components, the even steps, and the faces taken.

    Parameters
    ----------
    projections : array (faces, 2)
    chosen : array (m,)
        Indices of the faces taken, in the order of the first component.
    evenly : array (s,)
        Evenly spaced values on the first component; empty if the set is small and all faces are kept.
    set_id : str
    pictures : sequence of array (h, w) or (h, w, 3) of uint8
        The chosen faces themselves, if they may be shown.
    """
    places = {int(face): place for place, face in enumerate(chosen, start=1)}
    how = (
        "The vertical lines cut the range of the first component in even steps, and the real face nearest to "
        "each line is taken; a face that is nearest to two lines is taken once."
        if len(evenly)
        else "The set is so small that all of its faces are kept."
    )
    below = " Below: the chosen faces in this order." if len(pictures) else ""
    return Figure(
        name="selection_picture",
        title=f"Faces that stand for {set_id}",
        caption=f"Every dot is one of the {len(projections)} faces of {set_id}, placed by its first two "
        f"kernel principal components. {how} The {len(chosen)} faces taken are numbered.{below} Look whether "
        "they cover the whole range of appearance.",
        table={
            "face": list(range(len(projections))),
            "component_1": projections[:, 0].tolist(),
            "component_2": projections[:, 1].tolist(),
            "chosen_as": [places.get(face, "") for face in range(len(projections))],
        },
        draw=lambda canvas: _draw(canvas, projections, chosen, evenly, short(set_id), pictures),
        height=HEIGHT + 0.8 + legend_height(LABELS, 3) + (STRIP if len(pictures) else 0.0),
    )


def _draw(
    canvas: Canvas,
    projections: NDArray[np.floating[Any]],
    chosen: NDArray[np.integer[Any]],
    evenly: NDArray[np.floating[Any]],
    title: str,
    pictures: Sequence[NDArray[np.uint8]],
) -> None:
    top: Any = canvas
    if len(pictures):
        halves: Any = canvas.subfigures(2, 1, height_ratios=(HEIGHT, STRIP))
        top, strip = halves
        for place, (axes, picture) in enumerate(
            zip(np.atleast_1d(strip.subplots(1, len(pictures))), pictures, strict=True), start=1
        ):
            axes.imshow(picture, cmap="gray", vmin=0, vmax=255)
            axes.set_axis_off()
            axes.set_title(str(place), pad=2)
    axes = top.subplots()
    for step in evenly:
        axes.axvline(step, color=GRAY, linewidth=0.8, linestyle=(0, (4, 2)))
    few = len(projections) <= MOST_DOTS
    axes.plot(*projections.T, "o", color=SKY, markersize=3, alpha=0.7, markeredgewidth=0, rasterized=not few)
    axes.plot(*projections[chosen].T, "o", color=VERMILLION, markerfacecolor="none", markersize=6)
    for place, face in enumerate(chosen, start=1):
        axes.annotate(
            str(place), projections[face], xytext=(0, 5), textcoords="offset points", ha="center", va="bottom"
        )
    # Equal faces have no extent: give the axes one.
    for limits, column in ((axes.set_xlim, 0), (axes.set_ylim, 1)):
        low, high = projections[:, column].min(), projections[:, column].max()
        margin = 0.12 * (high - low) or 0.5
        limits(low - margin, high + margin)
    axes.grid(visible=False)
    axes.set(title=title, xlabel="1st kernel component", ylabel="2nd kernel component")
    _legend(canvas)


def _legend(canvas: Canvas) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], linestyle="none", marker="o", color=SKY, markersize=3),
        Line2D([], [], linestyle="none", marker="o", color=VERMILLION, markerfacecolor="none", markersize=6),
        Line2D([], [], color=GRAY, linewidth=0.8, linestyle=(0, (4, 2))),
    ]
    legend_below(canvas, handles, LABELS, 3)
