"""Strips: sets as rows of small faces, as HTML that a notebook can show."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Final

# How many faces stand for a set: as many as fit into a line.
FACES: Final = 6
SIDE: Final = 56  # pixels
# The kinds of pictures that a gallery keeps, by their first bytes. SVG would be a document, not pixels.
KINDS: Final = (
    (b"\x89PNG\r\n\x1a\n", 0, "png"),
    (b"\xff\xd8\xff", 0, "jpeg"),
    (b"WEBP", 8, "webp"),
)

# Half-transparent gray is seen on white and on black, and all else is left to the notebook.
RULE: Final = "1px solid rgba(128,128,128,.4)"
CELL: Final = f"padding:.25em .8em .25em 0;border:0;border-top:{RULE};vertical-align:middle;text-align:left"
LINE: Final = "border-top:3px double currentColor"
PICTURE: Final = (
    f"display:inline-block;width:{SIDE}px;height:{SIDE}px;object-fit:cover;margin:0 2px 0 0;"
    "border-radius:3px;vertical-align:middle"
)
TABLE: Final = "border-collapse:collapse;margin:.5em 0;font-variant-numeric:tabular-nums"
# Notebooks typeset what stands between dollars, unless told not to: a name may not be a formula.
NO_FORMULAS: Final = "tex2jax_ignore mathjax_ignore"


@dataclass(frozen=True)
class Strip:
    """One line: what is said of a set, and its faces.

    Parameters
    ----------
    name : str
        Id of the set.
    words : sequence of str
        One for each column, in the order of the headings; the name comes behind the first.
    pictures : sequence of bytes
        Encoded pictures of its faces, as many as there are.
    line : bool
        Whether a double line is drawn above it.
    """

    name: str
    words: Sequence[str]
    pictures: Sequence[bytes] = field(default=(), repr=False)
    line: bool = False


def table(title: str, headings: Sequence[str], strips: Sequence[Strip], notes: Sequence[str] = ()) -> str:
    """Draw strips as a table: no script, no style sheet, nothing loaded from elsewhere, all text escaped.

    Parameters
    ----------
    title : str
        Read aloud before the table.
    headings : sequence of str
        One for each of the words of a strip; ``set`` and ``faces`` are put between and behind.
    strips : sequence of Strip
        One a row. The column of faces is left out if nobody has a picture.
    notes : sequence of str
        Sentences below.
    """
    drawn = [faces(one) for one in strips]
    pictured = any(drawn)
    first, *rest = headings
    shown = (first, "set", *rest, *(("faces",) if pictured else ()))
    head = "".join(f'<th scope="col" style="{CELL};border-top:0">{escape(one)}</th>' for one in shown)
    rows = "".join(
        _row(strip, (images,) if pictured else ()) for strip, images in zip(strips, drawn, strict=True)
    )
    below = "".join(f'<p style="margin:.3em 0">{escape(note)}</p>' for note in notes)
    return (
        f'<div class="{NO_FORMULAS}"><table style="{TABLE}">'
        f'<caption style="caption-side:top;text-align:left;color:inherit">{isolated(title)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{below}</div>"
    )


def isolated(text: str) -> str:
    """Text of others, escaped; letters that turn the direction of writing turn nothing beyond it."""
    return f"<bdi>{escape(text)}</bdi>"


def faces(strip: Strip, count: int = FACES) -> str:
    """A few faces of a set, spread over it, as pictures inside the page; nothing if there are none."""
    addresses = [address for one in spread(strip.pictures, count) if (address := data_address(one))]
    return "".join(
        f'<img src="{address}" alt="face of {escape(strip.name)}" style="{PICTURE}">' for address in addresses
    )


def spread(pictures: Sequence[bytes], count: int = FACES) -> list[bytes]:
    """At most so many of them, in even steps from the first on."""
    kept = min(count, len(pictures))
    return [pictures[place * len(pictures) // kept] for place in range(kept)]


def media_type(picture: bytes) -> str | None:
    """What a browser is told that a picture is; None if it is no PNG, JPEG or WebP."""
    for start, place, kind in KINDS:
        if picture[place : place + len(start)] == start:
            return f"image/{kind}"
    return None


def data_address(picture: bytes) -> str | None:
    """A picture as its own address; None if it is no PNG, JPEG or WebP."""
    kind = media_type(picture)
    return None if kind is None else f"data:{kind};base64,{b64encode(picture).decode('ascii')}"


def _row(strip: Strip, images: Sequence[str]) -> str:
    style = f"{CELL};{LINE}" if strip.line else CELL
    first, *rest = strip.words
    cells = [escape(first), None, *map(isolated, rest), *images]
    return "<tr>{}</tr>".format(
        "".join(
            f'<th scope="row" style="{style};font-weight:inherit">{isolated(strip.name)}</th>'
            if cell is None
            else f'<td style="{style}">{cell}</td>'
            for cell in cells
        )
    )
