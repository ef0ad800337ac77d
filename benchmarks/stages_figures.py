"""The figures of the page about re-rankers, from its record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.stages_measure import AUTO, BASELINE, OURS
from benchmarks.stages_page import best_rival
from lookalike.evaluation.drawing import BLUE, GRAY, VERMILLION, Figure, legend_below

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas


ROW = 0.62  # cm for each configuration
NAMES = {"triangles": "triangles", "map": "mAP"}


def figures(kept: dict[str, Any]) -> list[Figure]:
    """All of them, as far as there is something to show."""
    shapes = kept["shapes"]["rows"] if kept.get("shapes") else []
    parts = ((_shapes, shapes), (_configurations, kept["runs"]), (_strengths, kept["strengths"]))
    return [draw(found) for draw, found in parts if found]


def _shapes(rows: list[dict[str, Any]]) -> Figure:
    names = [f"{one['shape']}, sets of {one['faces']}" for one in rows]
    gains = [one["gains"]["map"] for one in rows]
    rival = [one["best_rival"]["map"] - one["methods"][BASELINE]["map"] for one in rows]

    def draw(canvas: Canvas) -> None:
        axes = canvas.subplots()
        places = list(range(len(rows)))
        axes.axvline(0, color=GRAY, linewidth=1)
        axes.hlines(
            places,
            [one["low"] for one in gains],
            [one["high"] for one in gains],
            color=VERMILLION,
            linewidth=1,
        )
        look: dict[str, Any] = {"linestyle": "none", "markersize": 3.2}
        handles = [
            axes.plot(rival, places, color=BLUE, marker="s", **look)[0],
            axes.plot([one["mean"] for one in gains], places, color=VERMILLION, marker="D", **look)[0],
        ]
        axes.set_yticks(places, names)
        axes.invert_yaxis()
        axes.set_xlabel("gain of mAP over the baseline")
        legend_below(canvas, handles, ["best rival", AUTO], columns=2)

    return Figure(
        name="stages_shapes",
        title="What auto and the best rival gain over the baseline, by shape",
        caption="The rival is chosen with labels, gallery by gallery. Lines are 95 % intervals of auto.",
        table={
            "shape": names,
            "best rival": rival,
            AUTO: [one["mean"] for one in gains],
            "low": [one["low"] for one in gains],
            "high": [one["high"] for one in gains],
        },
        draw=draw,
        height=2.2 + ROW * len(rows),
    )


def _configurations(runs: list[dict[str, Any]]) -> Figure:
    names = [run["name"] for run in runs]
    points = {
        "baseline": [run["methods"][BASELINE]["map"] for run in runs],
        "best rival": [run["methods"][best_rival(run, "map")]["map"] for run in runs],
        OURS: [run["methods"][OURS]["map"] for run in runs],
    }

    gains = {
        name: [value - before for value, before in zip(values, points["baseline"], strict=True)]
        for name, values in points.items()
    }
    chance = [(run["gains"]["map"]["low"], run["gains"]["map"]["high"]) for run in runs]

    def draw(canvas: Canvas) -> None:
        left, right = canvas.subplots(1, 2, sharey=True)
        rows = list(range(len(runs)))
        ends = list(zip(*points.values(), strict=True))
        left.hlines(rows, [min(one) for one in ends], [max(one) for one in ends], color=GRAY, linewidth=1)
        right.hlines(rows, *zip(*chance, strict=True), color=VERMILLION, linewidth=1)
        right.axvline(0, color=GRAY, linewidth=1)
        looks = ((GRAY, "o"), (BLUE, "s"), (VERMILLION, "D"))
        handles = []
        for name, (colour, marker) in zip(points, looks, strict=True):
            look: dict[str, Any] = {"linestyle": "none", "color": colour, "marker": marker, "markersize": 3.2}
            handles.append(left.plot(points[name], rows, **look)[0])
            if name != "baseline":
                right.plot(gains[name], rows, **look)
        left.set_yticks(rows, names)
        left.invert_yaxis()
        left.set_xlim(0, 1.05)
        left.set_xlabel("mAP")
        # Small gains and large ones in one panel: even steps up to 0.02, then factors.
        right.set_xscale("symlog", linthresh=0.02)
        right.set_xlim(-0.02, 0.6)
        right.set_xticks([-0.02, 0, 0.02, 0.1, 0.5], ["-.02", "0", ".02", ".1", ".5"])
        right.minorticks_off()
        right.set_xlabel("gain over the baseline")
        legend_below(canvas, handles, list(points), columns=3)

    return Figure(
        name="stages_configurations",
        title="mAP of the baseline, the best rival and adaptive",
        caption="Each row is a configuration. The rival is the best of all, chosen with labels. "
        "Lines on the right are 95 % intervals of what adaptive gains.",
        table={"configuration": names, **points},
        draw=draw,
        height=2.2 + ROW * len(runs),
    )


def _strengths(found: list[dict[str, Any]]) -> Figure:
    def draw(canvas: Canvas) -> None:
        panels = canvas.subplots(len(found), 2, sharex=True, squeeze=False)
        for row, one in zip(panels, found, strict=True):
            for axes, key, colour, marker in zip(
                row, ("triangles", "map"), (BLUE, VERMILLION), "sD", strict=True
            ):
                axes.plot(one["shares"], one[key], color=colour, marker=marker)
                axes.set_title(f"{one['name']}: {NAMES[key]}")
                axes.margins(y=0.15)
        for axes in panels[-1]:
            axes.set_xlabel("share subtracted")
            axes.set_xticks(found[0]["shares"], [f"{share:g}" for share in found[0]["shares"]])

    columns = {
        "configuration": [one["name"] for one in found for _ in one["shares"]],
        "share": [share for one in found for share in one["shares"]],
        "triangles": [count for one in found for count in one["triangles"]],
        "map": [value for one in found for value in one["map"]],
    }
    return Figure(
        name="stages_strengths",
        title="Closed triangles and mAP by the share of strangers that is subtracted",
        caption="Triangles need no label; the mAP does, and follows them.",
        table=columns,
        draw=draw,
        height=1.0 + 4.0 * len(found),
    )
