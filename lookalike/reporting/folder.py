"""The folder of a report: all of it there, or none."""

from __future__ import annotations

import json
import os
import secrets
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from lookalike import disk
from lookalike.collection.failures import in_words
from lookalike.errors import BadInput
from lookalike.reporting.figure import contents
from lookalike.reporting.libraries import check_libraries
from lookalike.reporting.page import Page, render

MARK: Final = ".lookalike-report"
MARK_TEXT: Final = "Made by `lookalike evaluate --report`, which replaces what is here.\n"
HTML, RECORD, FIGURES = "report.html", "report.json", "figures"
# Besides these a report holds nothing; what a file manager leaves behind is nobody's work.
OURS: Final = {MARK, HTML, RECORD, FIGURES, ".DS_Store"}
KINDS: Final = {".svg", ".png", ".csv"}


def check_report_folder(folder: Path) -> None:
    """Refuse a place where no report can go; call it before the long work.

    Raises
    ------
    BadInput
        If something other than a report is there, or a library is missing.
    NotFound
        If the parent folder does not exist.
    StorageFailed
        If the disk refuses to write there.
    """
    check_libraries()
    with in_words(folder):
        place = _mended(folder)
        _check_replaceable(place, folder)
        trial = _beside(place, "unfinished")
        disk.make_folder(trial)
        disk.remove_folder(trial)


def write_report(folder: Path, page: Page, record: Mapping[str, Any]) -> None:
    """Write ``report.html``, ``report.json`` and ``figures/``; an earlier report is replaced.

    Everything is drawn first, written into a new folder beside, and renamed at the end. Whatever happens
    before leaves an earlier report as it was.

    Parameters
    ----------
    folder : Path
        New, empty, or an earlier report; its parent exists.
    page : Page
    record : mapping
        The measurement for programs: text, finite numbers, lists and mappings.

    Raises
    ------
    BadInput
        If something other than a report is there, the record cannot be written, or two figures share a name.
    NotFound
        If the parent folder does not exist.
    StorageFailed
        If the disk refuses.
    """
    everything = _everything(page, record)
    with in_words(folder):
        place = _mended(folder)
        _check_replaceable(place, folder)
        aside = _beside(place, "unfinished")
        try:
            disk.make_folder(aside)
            disk.make_folder(aside / FIGURES)
            for name, content in everything.items():
                disk.write_new(aside / name, content)
            disk.sync(aside / FIGURES)
            disk.sync(aside)
            _exchange(aside, place)
        finally:
            disk.delete_tree(aside)
        disk.sync(place.parent)


def _everything(page: Page, record: Mapping[str, Any]) -> dict[str, bytes]:
    """All files of a report by name."""
    twice = [name for name, count in Counter(figure.name for figure in page.figures).items() if count > 1]
    if twice:
        raise BadInput(f"two figures are called {twice[0]!r}: give each its own name")
    try:
        text = json.dumps(record, allow_nan=False, ensure_ascii=False, indent=1)
    except ValueError as reason:
        raise BadInput(
            f"the record of the report holds a number that is not finite ({reason}): leave it out"
        ) from reason
    drawn = {f"{FIGURES}/{name}": file for figure in page.figures for name, file in contents(figure).items()}
    pictures = {figure.name: drawn[f"{FIGURES}/{figure.name}.svg"].decode() for figure in page.figures}
    return {
        HTML: render(page, pictures).encode("utf-8", "replace"),
        RECORD: f"{text}\n".encode("utf-8", "replace"),
        **drawn,
        MARK: MARK_TEXT.encode(),
    }


def _check_replaceable(place: Path, given: Path) -> None:
    if not place.exists():
        return
    if not place.is_dir():
        raise BadInput(
            f"{given} is a file, but a report is a folder: choose a new folder, or remove the file"
        )
    held = {file.name for file in place.iterdir()}
    if held and MARK not in held:
        raise BadInput(
            f"{given} holds something that is not a report, for instance {min(held)}: choose a new or "
            "empty folder"
        )
    figures = place / FIGURES
    drawn = figures.iterdir() if figures.is_dir() else []
    foreign = sorted(held - OURS) + sorted(
        f"{FIGURES}/{file.name}" for file in drawn if file.suffix not in KINDS and file.name not in OURS
    )
    if foreign:
        raise BadInput(
            f"{given} holds {foreign[0]} beside an earlier report, which would be lost: move it away, or "
            "choose another folder"
        )


def _exchange(aside: Path, place: Path) -> None:
    """Give the new folder its name; a folder that is not empty cannot be replaced in one step."""
    if not (place / MARK).exists():
        if place.exists():
            disk.remove_folder(place)
        disk.rename(aside, place)
        return
    earlier = _earlier(place)
    _forget(earlier)
    disk.rename(place, earlier)
    try:
        disk.rename(aside, place)
    except BaseException:
        disk.rename(earlier, place)
        raise
    _forget(earlier)


def _forget(earlier: Path) -> None:
    # The mark goes first: from then on nobody takes the rest for a report.
    with suppress(OSError):
        disk.delete(earlier / MARK)
    disk.delete_tree(earlier)


def _mended(folder: Path) -> Path:
    """The real place of a report; if a process died between two renames, the earlier report comes back."""
    place = Path(os.path.realpath(folder))
    if place.name and not place.exists() and (_earlier(place) / MARK).is_file():
        disk.rename(_earlier(place), place)
    return place


def _earlier(place: Path) -> Path:
    return place.with_name(f".{place.name}.earlier-report")


def _beside(place: Path, why: str) -> Path:
    return place.with_name(f".{place.name}.{why}-{secrets.token_hex(8)}")
