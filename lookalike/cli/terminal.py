"""What a person sees in the terminal: progress, tables, errors in one line."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import Any, TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, Task, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from lookalike.progress import Step
from lookalike.sighting import timecode

Item = TypeVar("Item")

# Data goes to stdout, everything else to stderr.
WIDE = None if sys.stdout and sys.stdout.isatty() else 200
out = Console(highlight=False, emoji=False, soft_wrap=True, width=WIDE)
err = Console(stderr=True, highlight=False, emoji=False, soft_wrap=True)

# Without a terminal, one line at most this often says how far the work is.
SECONDS_BETWEEN_LINES = 10.0


class Progresses:
    """Shows progress on stderr: a bar in a terminal, a line now and then in a log, nothing if quiet."""

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet

    def __call__(self, items: Iterable[Item], text: str, total: int | None) -> Iterator[Item]:
        """Yield the items, showing how many have passed and how long the rest will take."""
        if self.quiet:
            return iter(items)
        return self._bar(items, text, total) if err.is_terminal else self._lines(items, text, total)

    def _bar(self, items: Iterable[Item], text: str, total: int | None) -> Iterator[Item]:
        # A file may be called like a style.
        words = TextColumn("{task.description}", markup=False)
        with Progress(words, BarColumn(), MofNCompleteColumn(), _Left(), console=err, transient=True) as bar:
            task = bar.add_task(text, total=total)
            for item in items:
                yield item
                told = {"description": f"{text}: {plain(item.words)}"} if isinstance(item, Step) else {}
                bar.update(task, advance=1, left=getattr(item, "left", None), **told)  # type: ignore[arg-type]

    def _lines(self, items: Iterable[Item], text: str, total: int | None) -> Iterator[Item]:
        start = said = time.monotonic()
        for done, item in enumerate(items, start=1):
            yield item
            now = time.monotonic()
            if now - said >= SECONDS_BETWEEN_LINES:
                said = now
                step = item if isinstance(item, Step) else Step("")
                rest = (now - start) / done * ((total or 0) - done) if step.left is None else step.left
                left = f" of {total}, about {rest:.0f} s left" if total else ""
                words = f"; {plain(step.words)}" if step.words else ""
                err.print(f"{text}: {done}{left}{words}", markup=False)


class _Left(TimeRemainingColumn):
    """Time left as the work itself tells it, or as its pace so far does."""

    def render(self, task: Task) -> Text:
        """Write it as hours, minutes and seconds."""
        left = task.fields.get("left")
        if left is None:
            return super().render(task)
        minutes, seconds = divmod(round(left), 60)
        return Text(f"{minutes // 60}:{minutes % 60:02d}:{seconds:02d}", style="progress.remaining")


def plain(text: str) -> str:
    """Show control characters by their number: a name may not steer the terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def say(text: str, quiet: bool = False) -> None:
    """Tell the person something that is not data."""
    if not quiet:
        err.print(text, markup=False)


def counted(sets: int) -> str:
    """A number of sets in words."""
    return "1 set" if sets == 1 else f"{sets} sets"


def seen_from_to(start: float | None, end: float | None) -> str:
    """From when to when a set is seen in its film; nothing for what is in no film."""
    return "" if start is None or end is None else f"{timecode(start)} - {timecode(end)}"


def listed(paths: Iterable[str]) -> str:
    """Files by their names, without their folders."""
    return ", ".join(PurePath(path).name for path in paths)


def print_json(value: Any) -> None:
    """Print data for programs: one object."""
    # Plain print: no colours, no wrapping. What the output cannot hold is escaped the way JSON does.
    wide = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "") == "utf8"
    print(json.dumps(value, ensure_ascii=not wide, indent=2, allow_nan=False))


def print_table(
    columns: list[tuple[str, str]], rows: Iterable[Iterable[object]], title: str | None = None
) -> None:
    """Print data for people. Columns are (heading, justify)."""
    shown = Text(plain(title)) if title else None
    table = Table(title=shown, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for heading, justify in columns:
        table.add_column(heading, justify=justify, overflow="fold")  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*(Text(plain(str(cell))) for cell in row))
    out.print(table)
