"""Figure: a drawing together with the numbers behind it."""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

import numpy as np

from lookalike import disk
from lookalike.errors import BadInput
from lookalike.reporting.libraries import check_libraries
from lookalike.reporting.style import SETTINGS, printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

WIDTH = 9.0  # cm: one column of a printed page
HEIGHT = 6.5  # cm
DPI = 200
CENTIMETRES = 2.54  # in an inch
# A spreadsheet takes text that starts with one of these for a formula, and runs it.
FORMULA = ("=", "+", "-", "@", "\t", "\r")

NOT_XML = "[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]"


@dataclass(frozen=True)
class Figure:
    """What a report shows: a drawing, words about it, and its numbers.

    Parameters
    ----------
    name : str
        Stem of its files: small letters, digits, ``_`` and ``-``.
    title : str
    caption : str
        What is shown, and what to look for, in plain words.
    table : mapping of str to sequence
        The numbers behind the drawing: columns of equal length, one row a number or point.
    draw : callable
        Draws on an empty Matplotlib figure.
    height : float
        Centimetres; all figures are 9 cm wide.
    """

    name: str
    title: str
    caption: str
    table: Mapping[str, Sequence[Any]]
    draw: Callable[[Canvas], None]
    height: float = HEIGHT


def save(figure: Figure, folder: Path) -> None:
    """Write ``<name>.svg``, ``<name>.png`` and ``<name>.csv``."""
    for name, content in contents(figure).items():
        disk.write(folder / name, content, over=True)


def contents(figure: Figure) -> dict[str, bytes]:
    """The three files of a figure by name; the same bytes whenever they are asked for.

    Raises
    ------
    BadInput
        If the name could not be that of a file, or the columns of the table differ in length.
    """
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
    """The table as CSV; what is not a number stays an empty cell, text is never a formula.

    Raises
    ------
    BadInput
        If its columns differ in length.
    """
    lengths = {name: len(column) for name, column in table.items()}
    if len(set(lengths.values())) > 1:
        raise BadInput(f"the columns of a table must be of equal length, got {lengths}")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(_cell, table))
    writer.writerows([_cell(value) for value in row] for row in zip(*table.values(), strict=True))
    return text.getvalue()


def _cell(value: object) -> str:
    if isinstance(value, str):
        return f"'{value}" if value.startswith(FORMULA) else value
    if isinstance(value, float | np.floating):
        return repr(float(value)) if np.isfinite(value) else ""
    return str(value)


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
