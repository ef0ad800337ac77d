"""How figures look: the same in print, on a screen, in gray and to the colour-blind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure as Canvas

# Okabe and Ito, "Color universal design", 2008; without its yellow, which vanishes on white paper.
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILLION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"
GRAY: Final = "#777777"
COLOURS: Final = (BLACK, VERMILLION, BLUE, GREEN, PURPLE, ORANGE, SKY)
# Lines differ in their dashes too, for gray prints. Seven colours and five dashes repeat after 35 lines.
DASHES: Final[tuple[Any, ...]] = (
    "solid",
    (0, (5, 1.5)),
    (0, (1, 1)),
    (0, (5, 1.5, 1, 1.5)),
    (0, (3, 1, 1, 1, 1, 1)),
)
MARKERS: Final = ("o", "s", "^", "D", "v", "P", "X")

# Everything a style may change starts from Matplotlib's defaults, so that a user's own settings do not show.
SETTINGS: Final[dict[str, Any]] = {
    "font.family": ["DejaVu Sans"],  # shipped with Matplotlib: the same letters everywhere
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "legend.title_fontsize": 8,
    "legend.frameon": False,
    "legend.handlelength": 2.6,
    "lines.linewidth": 1.4,
    "lines.markersize": 4,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.formatter.useoffset": False,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.5,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "svg.fonttype": "path",
    "svg.hashsalt": "lookalike",
    "text.parse_math": False,  # a name with two dollar signs is a name, not a formula
}

LONGEST_NAME = 40
# What fits half of the width of a figure, beside the piece of line that it explains.
SHORT_LABEL = 20
LINE_HEIGHT = 0.42  # cm


def line(number: int) -> dict[str, Any]:
    """Colour and dashes of the line with this number."""
    return {"color": COLOURS[number % len(COLOURS)], "linestyle": DASHES[number % len(DASHES)]}


def printable(text: str) -> str:
    """Text without characters that have no shape or no place in XML."""
    return "".join(letter if letter.isprintable() else "\N{WHITE SQUARE}" for letter in text)


def short(name: str) -> str:
    """A name that somebody else chose, as it can stand in a figure."""
    name = printable(name)
    name = name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"
    # Matplotlib hides labels that start with an underscore.
    return f" {name}" if name.startswith("_") else name


def legend_below(
    canvas: Canvas, handles: Sequence[Artist], labels: Sequence[str], columns: int = 0, title: str = ""
) -> None:
    """Put the legend under the axes, where it can never cover a curve."""
    canvas.legend(
        list(handles),
        list(labels),
        loc="outside lower center",
        ncols=columns or _columns(labels),
        title=title or None,
        columnspacing=1.2,
    )


def legend_height(labels: Sequence[str], columns: int = 0) -> float:
    """How many centimetres a figure must be higher to hold this legend."""
    return LINE_HEIGHT * -(-len(labels) // (columns or _columns(labels)))


def _columns(labels: Sequence[str]) -> int:
    return 2 if max(map(len, labels)) <= SHORT_LABEL else 1
