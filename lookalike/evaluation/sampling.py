"""What choosing a few faces of each set ignores and costs, as figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lookalike.evaluation.drawing import (
    BLUE,
    GRAY,
    HEIGHT,
    SKY,
    VERMILLION,
    Figure,
    Floats,
    cdf,
    checked,
    legend_below,
    legend_height,
    line,
    outline,
    short,
)
from lookalike.faceset import FaceSet
from lookalike.gallery.gallery import Gallery
from lookalike.gallery.set_rows import SetFacts
from lookalike.ingest.pictures import decode_picture
from lookalike.kernels.exact import plain_unit_rows
from lookalike.parameters import SAMPLES
from lookalike.progress import Track, silent
from lookalike.similarities._exemplars import energies, projections, select
from lookalike.similarities.contract import SetSimilarity
from lookalike.similarities.max_max import MaxMax

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas


def relative_energies(sets: Sequence[FaceSet]) -> NDArray[np.float64]:
    """Energy of the 2nd and 3rd kernel component of each set, relative to the 1st; (n, 2).

    A set without variation has no components: its row is zero. The paper shows the distribution of these two
    numbers to justify sampling along one component only (section 3.4).
    """
    found = np.array([energies(plain_unit_rows(faceset.faces)) for faceset in sets])
    first = found[:, :1]
    return np.divide(found[:, 1:], first, out=np.zeros_like(found[:, 1:]), where=first > 0)


def selection_errors(
    sets: Sequence[FaceSet],
    rng: np.random.Generator,
    pairs: int = 1000,
    samples: int = SAMPLES,
    preimage: str = "nearest",
) -> NDArray[np.float64]:
    """Similarity of the chosen faces minus that of all faces, for random pairs of different sets; (pairs,).

    With ``nearest`` the chosen faces are some of the real ones, so the error is never positive.
    """
    chosen, whole = MaxMax(samples, preimage), MaxMax(samples=0)
    few = [chosen.prepare(faceset.faces) for faceset in sets]
    all_faces = [whole.prepare(faceset.faces) for faceset in sets]
    first = rng.integers(0, len(sets), pairs)
    second = (first + rng.integers(1, len(sets), pairs)) % len(sets)
    return np.array(
        [
            chosen.match(few[i], few[j]).score - whole.match(all_faces[i], all_faces[j]).score
            for i, j in zip(first, second, strict=True)
        ]
    )


# The faces of one set, and which of them were chosen to stand for it.


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

    `projections` (faces, 2), `chosen` (m,) in the order of the first component, and `evenly` are as
    `picture_of` returns them; `pictures` are those of the chosen faces, if they may be shown.
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


def energies_cdf(relative: NDArray[np.floating[Any]]) -> Figure:
    """How much of the variation inside a set lies beside the first component (`relative_energies`)."""
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
        draw=lambda canvas: _draw_selection(
            canvas, [second, third], looks, (0.0, 1.0), "energy relative to the 1st component", "sets", labels
        ),
        height=HEIGHT + legend_height(labels),
    )


def selection_error_cdf(errors: NDArray[np.floating[Any]]) -> Figure:
    """What choosing faces changes in the similarity of two sets (`selection_errors`)."""
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
        draw=lambda canvas: _draw_selection(
            canvas, [values], [{"color": BLUE}], ends, "error of the similarity", "pairs", [], guide=0.0
        ),
    )


def _draw_selection(
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


# A random part of a large gallery shows the distribution well enough, and fits in memory.
SETS = 200
PAIRS = 1000
MOST_FACES = 1000
MOST_NUMBERS = 60_000_000  # of all chosen faces: half a gigabyte in double precision
SEED = 0


def selection_figures(
    gallery: Gallery, similarity: SetSimilarity, faces: bool, track: Track = silent
) -> tuple[list[Figure], list[str]]:
    """Energies of kernel components, error of the choice, the choice for one set, if any; and remarks."""
    rng = np.random.default_rng(SEED)
    listed = [facts for facts in gallery.listing() if 2 < facts.faces <= MOST_FACES]
    if not listed:
        return [], ["No set has three faces or more, so there is no variation within sets to show."]
    sets = _some(gallery, listed, rng, track)
    notes = [f"Variation within sets is shown for {len(sets)} random sets of three to {MOST_FACES} faces."]
    figures = [energies_cdf(relative_energies(sets))]
    samples = getattr(similarity, "samples", 0)
    if not samples:
        return figures, [*notes, "This set similarity uses all faces of a set: none are chosen."]
    if max(map(len, sets)) <= samples or len(sets) < 2:
        notes.append(f"No set has more than {samples} faces: all are used, and no error is made by choosing.")
    else:
        preimage = getattr(similarity, "preimage", "nearest")
        figures.append(selection_error_cdf(selection_errors(sets, rng, PAIRS, samples, preimage)))
    largest = max(listed, key=lambda one: (one.faces, one.id))
    shown = gallery.get(largest.id, pictures=faces)
    projections, taken, evenly = picture_of(shown.faces, samples)
    pictures = [decode_picture(shown.pictures[place]) for place in taken] if faces and shown.pictures else []
    figures.append(selection_picture(projections, taken, evenly, shown.id, pictures))
    return figures, notes


def _some(
    gallery: Gallery, listed: Sequence[SetFacts], rng: np.random.Generator, track: Track
) -> list[FaceSet]:
    """Random sets, as many as fit in memory."""
    chosen: list[str] = []
    room = MOST_NUMBERS
    for place in rng.permutation(len(listed))[:SETS]:
        room -= listed[place].faces * (gallery.dimension or 0)
        if room >= 0 or not chosen:
            chosen.append(listed[place].id)
    return list(track(gallery.sets(sorted(chosen)), "looking at the faces of sets", len(chosen)))


def picture_of(
    faceset_faces: NDArray[np.floating[Any]], samples: int
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
    """Repeat the choice of faces (n, d) of one set with so many even steps, for a picture of it.

    Returns
    -------
    projections : array (n, 2)
        First two kernel principal components; zero where there is no variation.
    chosen : array (m,)
        Faces taken, in the order of the first component.
    evenly : array (samples,)
        The even steps on the first component; empty if all faces are kept, as of a set of no more than that.
    """
    unit = plain_unit_rows(faceset_faces)
    places = projections(unit)
    if not 0 < samples < len(unit):
        return places, np.argsort(places[:, 0], kind="stable"), np.empty(0)
    _, chosen = select(unit, samples, "nearest")
    line = places[:, 0]
    # The sign of a component is arbitrary: the first face taken lies on the left.
    if line[chosen[0]] > line[chosen[-1]]:
        places = places * [-1.0, 1.0]
        line = places[:, 0]
    return places, chosen, np.linspace(line.min(), line.max(), samples)
