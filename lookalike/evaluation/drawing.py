"""Figure: a drawing together with the numbers behind it, and how all of them look."""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput
from lookalike.gallery.decisions import cell

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure as Canvas


LIBRARIES: Final = {"matplotlib": "matplotlib.figure", "jinja2": "jinja2"}


def check_libraries() -> None:
    """Refuse to start a report that could not be drawn in the end."""
    for name, module in LIBRARIES.items():
        try:
            import_module(module)
        except ImportError as reason:
            raise BadInput(
                f"a report needs {name}, which cannot be imported: pip install 'lookalike[report]'"
            ) from reason


# How figures look: the same in print, on a screen, in gray and to the colour-blind.


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


# Cumulative distribution: the share of values that are at most so large.


Floats = NDArray[np.float64]

# Steps drawn at most: a tenth of a millimetre in print cannot be seen, and files stay small.
MOST_STEPS = 500


def checked(values: NDArray[Any], what: str) -> Floats:
    """Return the values as one row of floats, if there is any and all are finite."""
    row = np.asarray(values, dtype=np.float64).ravel()
    if not len(row) or not np.isfinite(row).all():
        state = "holds NaN or infinite numbers" if len(row) else "is empty"
        raise BadInput(f"{what} {state}: a figure needs at least one number, and finite ones")
    return row


def cdf(values: Floats) -> tuple[Floats, Floats]:
    """Distinct values in order, and for each the share of values that are not larger; (m,), (m,)."""
    points, counts = np.unique(values, return_counts=True)
    return points, np.cumsum(counts) / len(values)


def outline(values: Floats, low: float, high: float) -> tuple[Floats, Floats]:
    """Corners of the staircase from (low, 0) to (high, 1), for ``drawstyle="steps-post"``."""
    points, shares = cdf(values)
    if len(points) > MOST_STEPS:
        kept = np.unique(np.searchsorted(shares, np.linspace(0, 1, MOST_STEPS)))
        kept = kept[kept < len(points)]
        points, shares = points[kept], shares[kept]
    return np.r_[low, points, high], np.r_[0.0, shares, 1.0]


# How far a measured share or mean may be from the true one: 95 % intervals.


# Quantile of the normal distribution that leaves 2.5 % on each side.
Z = 1.959963984540054


def wilson(hits: int, total: int) -> tuple[float, float]:
    """Interval for a share, which holds for few trials and for shares of 0 and 1 [1]_.

    References
    ----------
    .. [1] E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22,
       1927.
    """
    share, square = hits / total, Z * Z / total
    centre = (share + square / 2) / (1 + square)
    half = Z * np.sqrt(share * (1 - share) / total + square / (4 * total)) / (1 + square)
    # At the ends the interval begins or ends exactly there, but for rounding.
    low = float(centre - half) if hits else 0.0
    return low, float(centre + half) if hits < total else 1.0


def around_mean(values: NDArray[Any]) -> tuple[float, float]:
    """Mean plus and minus 1.96 standard errors; NaN for a single value, which says nothing of its spread."""
    if len(values) < 2:
        return float("nan"), float("nan")
    half = Z * float(np.std(values, ddof=1)) / np.sqrt(len(values))
    middle = float(np.mean(values))
    return float(middle - half), float(middle + half)


# Figure: a drawing together with the numbers behind it.


WIDTH = 9.0  # cm: one column of a printed page
HEIGHT = 6.5  # cm
DPI = 200
CENTIMETRES = 2.54  # in an inch

NOT_XML = "[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]"


@dataclass(frozen=True)
class Figure:
    """What a report shows: a drawing, words about it, and its numbers."""

    name: str  # stem of its files: small letters, digits, `_` and `-`
    title: str
    caption: str  # what is shown, and what to look for, in plain words
    # The numbers behind the drawing: columns of equal length, one row a number or point.
    table: Mapping[str, Sequence[Any]]
    draw: Callable[[Canvas], None]  # draws on an empty Matplotlib figure
    height: float = HEIGHT  # centimetres; all figures are 9 cm wide


def contents(figure: Figure) -> dict[str, bytes]:
    """The three files of a figure by name; the same bytes whenever they are asked for."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]*", figure.name):
        raise BadInput(
            f"a figure cannot be called {figure.name!r}: use small letters, digits, _ and -, as in 'anr_cdf'"
        )
    return {
        f"{figure.name}.svg": svg(figure).encode(),
        f"{figure.name}.png": png(figure),
        f"{figure.name}.csv": table_text(figure.table).encode("utf-8", "replace"),
    }


def svg(figure: Figure) -> str:
    """The drawing as SVG that refers to nothing outside itself; letters are paths."""
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    text = _rendered(figure, "svg", nothing).decode()
    # Names of others stand in comments too: what XML forbids may not stand anywhere.
    text = re.sub(NOT_XML, "\N{WHITE SQUARE}", text)
    # The document type names an address, and the title is what a screen reader says.
    text = re.sub(r"<!DOCTYPE[^>]*>\s*", "", text, count=1)
    opening = re.search(r"<svg[^>]*>", text)
    end = opening.end() if opening else 0
    return f"{text[:end]}\n <title>{escape(printable(figure.title))}</title>{text[end:]}"


def png(figure: Figure) -> bytes:
    """The drawing as PNG, 200 dots an inch."""
    return _rendered(figure, "png", {"Software": None})


def table_text(table: Mapping[str, Sequence[Any]]) -> str:
    """The table as CSV; what is not a number stays an empty cell, text is never a formula."""
    lengths = {name: len(column) for name, column in table.items()}
    if len(set(lengths.values())) > 1:
        raise BadInput(f"the columns of a table must be of equal length, got {lengths}")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(_cell, table))
    writer.writerows([_cell(value) for value in row] for row in zip(*table.values(), strict=True))
    return text.getvalue()


def _cell(value: object) -> str:
    if isinstance(value, float | np.floating):
        return repr(float(value)) if np.isfinite(value) else ""
    return str(cell(value))


def _rendered(figure: Figure, kind: str, metadata: dict[str, Any]) -> bytes:
    check_libraries()
    from matplotlib.figure import Figure as Canvas

    with _settings():
        # Laid out anew for every file: laying out twice moves things by a hair.
        size = (WIDTH / CENTIMETRES, figure.height / CENTIMETRES)
        canvas = Canvas(figsize=size, layout="constrained")
        figure.draw(canvas)
        file = io.BytesIO()
        canvas.savefig(file, format=kind, dpi=DPI, metadata=metadata)
    return file.getvalue()


@contextmanager
def _settings() -> Iterator[None]:
    import matplotlib.style

    with matplotlib.style.context(["default", SETTINGS]), warnings.catch_warnings():
        # A letter that the font lacks is drawn as a box; the page has the name in full.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield
