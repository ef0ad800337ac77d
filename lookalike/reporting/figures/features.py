"""What the regressor learns from, and what it meets: the five numbers of many examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from lookalike.reporting.figure import Figure
from lookalike.reporting.parallel import MOST_LINES, NAMES, Floats, draw_panels, table
from lookalike.reporting.style import BLUE, GRAY, VERMILLION, legend_below
from lookalike.transitivity.extrapolation import INNER
from lookalike.transitivity.metafeatures import NUMBERS

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

WORDS: Final = (
    "s1\nquery–\nproxy",
    "s2\nquery–\ntarget",
    "s3\nproxy–\ntarget",
    "s4\nsame face\nof proxy",
    "s5\nsame face\nof target",
)
HEIGHT = 11.0  # cm: two rows of panels
EXPLAINED = "; ".join(f"{name}, {words}" for name, words in zip(NAMES, NUMBERS, strict=True))
READING = (
    f"Every thin line is one query, proxy and target by its five numbers ({EXPLAINED}), of at most "
    f"{MOST_LINES} drawn at random in each panel. The thick line is the median of all; 90 % of them lie "
    "between the dashed lines. "
)


def training_features(x: Floats, y: Floats) -> Figure:
    """Positive and negative training examples, one panel each.

    Parameters
    ----------
    x : array (rows, 5)
    y : array (rows,)
        1 for same person, 0 for another.
    """
    panels = {"same person": x[y > 0.5], "another person": x[y <= 0.5]}
    titles = [f"{name}: {len(rows):,} examples" for name, rows in panels.items()]

    def draw(canvas: Canvas) -> None:
        every = list(canvas.subplots(2, 1, sharex=True, sharey=True))
        handles = draw_panels(every, titles, list(panels.values()), (BLUE, VERMILLION))
        every[1].set_xticks(range(5), WORDS)
        canvas.supylabel("similarity", fontsize=8)
        legend_below(canvas, handles, ["median", "90 % of all"])

    return Figure(
        name="training_features",
        title="Training examples of the regressor",
        caption=f"{READING}Nobody is labelled: examples of the same person are made inside one set, and for "
        "another person the set is compared with those most like it. The more the two panels differ, the "
        "more there is to learn.",
        table=table(panels),
        draw=draw,
        height=HEIGHT,
    )


def retrieval_features(
    train_x: Floats, train_y: Floats, matches: Floats, others: Floats, outside: float
) -> Figure:
    """Training examples beside what retrieval meets, with the range of training behind.

    Parameters
    ----------
    train_x, train_y : array (rows, 5), array (rows,)
        As for `training_features`.
    matches, others : array (m, 5)
        Met in retrieval, when query and target are of the same person, and when they are not.
    outside : float
        Share of all met in retrieval that is unlike anything in training, as `far_from` counts.
    """
    panels = {
        "training, same person": train_x[train_y > 0.5],
        "retrieval, same person": matches,
        "training, another person": train_x[train_y <= 0.5],
        "retrieval, another person": others,
    }
    titles = [name.replace(", ", ",\n") for name in panels]
    low, high = _range(train_x)

    def draw(canvas: Canvas) -> None:
        every = list(canvas.subplots(2, 2, sharex=True, sharey=True).ravel())
        area = [axes.fill_between(range(5), low, high, color=GRAY, alpha=0.25, lw=0) for axes in every]
        handles = draw_panels(every, titles, list(panels.values()), (BLUE, BLUE, VERMILLION, VERMILLION))
        every[2].set_xticks(range(5), NAMES)
        canvas.supylabel("similarity", fontsize=8)
        legend_below(canvas, [*handles, area[0]], ["median", "90 % of all", "range of training"], 3)

    return Figure(
        name="retrieval_features",
        title="What the regressor learns from, and what it meets",
        caption=f"{READING}The gray area behind holds {INNER:.0%} of every number in training. All five "
        f"numbers together, {outside:.1%} of what retrieval met lies further from the training examples than "
        f"{INNER:.0%} of these lie from their own mean: there the regressor guesses. Look also for rows "
        "whose two panels differ: then training did not show what retrieval is like, and columns whose two "
        "panels agree: there the five numbers do not tell a match from another person.",
        table=table(panels),
        draw=draw,
        height=HEIGHT,
    )


def _range(rows: Floats) -> tuple[Floats, Floats]:
    """The range that holds nearly all of every number."""
    if not len(rows):
        return np.zeros(5), np.zeros(5)
    low, high = np.quantile(rows, [(1 - INNER) / 2, (1 + INNER) / 2], axis=0)
    return low, high
