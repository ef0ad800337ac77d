"""The command that forgets."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from lookalike.cli.options import GalleryPath, Json, Quiet
from lookalike.cli.terminal import Progresses, counted, plain, print_json, print_table
from lookalike.errors import BadInput

if TYPE_CHECKING:
    from lookalike.forgetting import Bar, Receipt

# The kinds of what is barred, where there are several.
MANY: Final = {"file": "files", "set": "sets", "face": "faces", "person": "people"}


def forget(
    gallery: GalleryPath,
    sets: Annotated[list[str] | None, typer.Argument(metavar="[SET...]", help="Set ids.")] = None,
    person: Annotated[
        str | None, typer.Option(metavar="NAME", help="Forget all sets of a person, and their names.")
    ] = None,
    bar: Annotated[
        bool, typer.Option("--bar", help="Keep hashes of files, sets and faces, so that none enters again.")
    ] = False,
    bar_alike: Annotated[
        bool,
        typer.Option(
            "--bar-alike",
            help="Also keep what the person looks like (biometric data), so that nobody like them enters.",
        ),
    ] = False,
    receipt: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the receipt here, without ids or names.")
    ] = None,
    barred: Annotated[
        bool, typer.Option("--barred", help="Forget nothing; list what must not enter again.")
    ] = False,
    unbar: Annotated[
        int | None, typer.Option(metavar="N", help="Forget nothing; let in again what forgetting N barred.")
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Forget sets or a person for good, with a receipt; keep them out from now on, if asked."""
    from lookalike import forgetting as work
    from lookalike import open_gallery

    if (bool(sets or person), barred, unbar is not None).count(True) != 1:
        raise BadInput("say what is wanted: sets or --person to be forgotten, or --barred, or --unbar")
    with open_gallery(gallery) as opened:
        if barred:
            _print_barred(work.barred_list(opened), json)
        elif unbar is not None:
            _print_unbarred(work.unbar(opened, unbar), json)
        else:
            track = Progresses(quiet)
            done = work.forget(opened, sets or (), person, bar, bar_alike, receipt, track)
            _print_receipt(done, json)


def _print_receipt(done: Receipt, json: bool) -> None:
    if json:
        print_json({**done.facts(), "forgotten": list(done.sets), "originals": list(done.originals)})
        return
    gone = done.gone
    print(f"{counted(len(done.sets))} forgotten at {done.made} (number {gone.event})")
    rows = ", ".join(f"{count} {table}" for table, count in gone.rows.items())
    print(f"rows deleted: {rows}; pictures among them: {gone.pictures}")
    print("file: " + ("rewritten" if done.is_wiped else "in use, it is rewritten when it is next opened"))
    if done.derived.rewritten:
        print(f"tables rewritten without it: {len(done.derived.rewritten)}")
    if done.derived.deleted:
        print(f"tables deleted, made again when they are needed: {len(done.derived.deleted)}")
    for content in gone.contents:
        print(f"content: {content}")
    if gone.files_kept:
        print(f"files whose entries stay, since other sets are of them: {gone.files_kept}")
    if gone.barred:
        print(f"barred: {_entries(gone.barred)}")
    for one in done.copies:
        print(f"backup: {plain(one.path)} {one.state}")
    for path in done.originals:
        print(f"untouched: {plain(path)}")


def _print_barred(found: list[Bar], json: bool) -> None:
    if json:
        print_json({"barred": [_as_json(one) for one in found]})
        return
    columns = [("number", "right"), ("made", "left"), ("entries", "left"), ("recognised by", "left")]
    print_table(
        columns, ((one.number, one.made, _entries(one.counts), ", ".join(one.models)) for one in found)
    )


def _print_unbarred(one: Bar, json: bool) -> None:
    if json:
        print_json({"unbarred": _as_json(one)})
    else:
        print(f"let in again: {_entries(one.counts)}")


def _entries(counts: Mapping[str, int]) -> str:
    """How many of each kind, in words."""
    return ", ".join(f"{count} {kind if count == 1 else MANY[kind]}" for kind, count in counts.items())


def _as_json(one: Bar) -> dict[str, object]:
    return {"number": one.number, "made": one.made, "entries": dict(one.counts), "models": list(one.models)}
