"""Page: a report as one HTML file that needs nothing else."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files

from lookalike.errors import BadInput
from lookalike.evaluation.drawing import Figure, check_libraries, svg


@dataclass(frozen=True)
class Table:
    """Numbers to read; the first column names the rows.

    Parameters
    ----------
    title, note : str
        The note says how to read the numbers.
    columns : sequence of str
    rows : sequence of rows of str
        As they shall be printed.
    best : mapping of column to row number
        Cells printed bold.
    """

    title: str
    note: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    best: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Page:
    """Everything a report says, in the order of the page.

    Parameters
    ----------
    title : str
    verdict : sequence of str
        Paragraphs; the first is printed largest.
    facts : sequence of (name, value)
        What was measured.
    tables : sequence of Table
    figures : sequence of Figure
    notes : sequence of str
        What a careful reader should know.
    created : str
        When and by what; the only part that changes from day to day.
    """

    title: str
    verdict: Sequence[str]
    facts: Sequence[tuple[str, str]]
    tables: Sequence[Table]
    figures: Sequence[Figure]
    notes: Sequence[str]
    created: str


def render(report: Page, drawn: Mapping[str, str] | None = None) -> str:
    """Return the page as HTML: no script, nothing loaded from elsewhere, all text escaped.

    Parameters
    ----------
    report : Page
    drawn : mapping of figure name to SVG, optional
        Figures drawn already; all are drawn unless given.

    Raises
    ------
    BadInput
        If a table has a row of another length than its columns, or a library is missing.
    """
    check_libraries()
    from jinja2 import Environment, StrictUndefined

    for table in report.tables:
        for row in table.rows:
            if len(row) != len(table.columns):
                raise BadInput(
                    f"a row of the table {table.title!r} has {len(row)} cells, but there are "
                    f"{len(table.columns)} columns: give one cell for each"
                )
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    # Read through the package, so that it is found in an installed wheel too.
    template = files("lookalike.evaluation").joinpath("page.html").read_text(encoding="utf-8")
    figures = [
        (figure, _data_address(svg(figure) if drawn is None else drawn[figure.name]))
        for figure in report.figures
    ]
    return environment.from_string(template).render(page=report, figures=figures)


def _data_address(picture: str) -> str:
    """The picture as its own address: as an image it can neither run scripts nor load anything."""
    return f"data:image/svg+xml;base64,{b64encode(picture.encode()).decode('ascii')}"
