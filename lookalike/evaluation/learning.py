"""What the regressor learns from and what it meets at retrieval: figures of the five numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from lookalike.evaluation.drawing import BLACK, BLUE, GRAY, VERMILLION, Figure, legend_below
from lookalike.evaluation.labels import Labels
from lookalike.method.metafeatures import NUMBERS
from lookalike.method.regression import INNER, TrainingSet, far_from
from lookalike.method.tables import Tables
from lookalike.method.tables import rows as rows_of
from lookalike.rerankers.contract import Reranker

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas


# So many queries, and so many others of each, tell the distribution well enough.
QUERIES = 100
TARGETS = 100


@runtime_checkable
class Trained(Protocol):
    """A re-ranker with a regressor that can say what it was trained on."""

    def training_rows(self, tables: Tables, rng: np.random.Generator) -> TrainingSet:
        """The rows that `fit` trained on, given a generator in the same state."""
        ...

    def regress(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """What the regressor makes of five numbers."""
        ...


class Met(NamedTuple):
    """Five numbers as training draws them, and as retrieval meets them."""

    training: TrainingSet
    matches: NDArray[np.float64]  # (rows, 5): query and target show the same person
    others: NDArray[np.float64]  # (rows, 5)
    predict: Callable[[NDArray[np.float64]], NDArray[np.float64]]  # the regressor

    def outside(self) -> dict[str, float]:
        """Share of the matches, and of the others, that are unlike anything in training."""
        met = {"matches": self.matches, "others": self.others}
        return {name: far_from(self.training.x, rows) for name, rows in met.items()}

    def told_apart(self) -> dict[str, float]:
        """How well same and another person are told apart; 0.5 is chance.

        Share of pairs of one row of each in which the right one gets the higher value: of the regressor on
        its training rows, of the regressor at retrieval, and of the baseline similarity (s2) at retrieval.
        """
        x, y = self.training
        return {
            "training": area_under_roc(self.predict(x[y == 1]), self.predict(x[y == 0])),
            "retrieval": area_under_roc(self.predict(self.matches), self.predict(self.others)),
            "baseline": area_under_roc(self.matches[:, 1], self.others[:, 1]),
        }


def area_under_roc(right: NDArray[np.float64], wrong: NDArray[np.float64]) -> float:
    """Share of pairs in which the right value is the higher one; ties count half."""
    ranks = rankdata(np.concatenate([right, wrong]))[: len(right)]
    return float((ranks.mean() - (len(right) + 1) / 2) / len(wrong))


def features_met(tables: Tables, reranker: Reranker, labels: Labels, seed: int) -> Met | None:
    """Draw the training rows again, and the five numbers of random queries with all matches and some others.

    `reranker` was fitted with `seed`. None if it has no regressor or found nothing to train it on, or nobody
    is there twice.
    """
    if getattr(reranker, "regressor_", None) is None or not isinstance(reranker, Trained):
        return None
    training = reranker.training_rows(tables, np.random.default_rng(seed))
    rng = np.random.default_rng(seed)
    persons = np.array([labels[id] for id in tables.ids])
    _, who, counts = np.unique(persons, return_inverse=True, return_counts=True)
    asked = rng.permutation(np.flatnonzero(counts[who] > 1))[:QUERIES]
    if not len(asked):
        return None
    prepared = tables.sets[asked]
    matches: list[NDArray[np.float64]] = [np.empty((0, 5))]
    others: list[NDArray[np.float64]] = [np.empty((0, 5))]
    for row in rows_of(tables, prepared, [int(number) for number in asked]):
        features = reranker.beliefs(row, tables).features
        same = persons == persons[row.member]
        same[row.member] = False
        different = np.flatnonzero(persons != persons[row.member])
        matches.append(features[same].reshape(-1, 5))
        others.append(features[rng.permutation(different)[:TARGETS]].reshape(-1, 5))
    return Met(training, np.concatenate(matches), np.concatenate(others), reranker.regress)


# Parallel coordinates of the five numbers: many examples as thin lines, their median and band.


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


# What the regressor learns from, and what it meets: the five numbers of many examples.


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
    """Positive and negative training examples x (rows, 5), one panel each; y is 1 for same person, or 0."""
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
    """Training examples beside what retrieval meets (m, 5), with the range of training behind.

    `matches` and `others` are met when query and target are of the same person, and when they are not;
    `outside` is the share of both that is unlike anything in training, as `far_from` counts.
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
