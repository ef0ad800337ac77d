"""Commands that hand on and take over: export, import."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lookalike.cli.output import GalleryPath, Json, Progresses, Quiet, plain, print_json, print_table, say
from lookalike.errors import BadInput
from lookalike.progress import counted

if TYPE_CHECKING:
    from lookalike.exchange.names import NamesRead
    from lookalike.gallery.export import Exported

FORMAT_HELP = "npz, csv, json, parquet, vtt, edl, markers, otio, xmp or html"


def export(
    gallery: GalleryPath,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE] [SET...]", help="The file to write, unless --out is given; then set ids."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The file or folder to write; must not exist.")
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(metavar="NAME", help=f"{FORMAT_HELP} (default: by the suffix of FILE, else npz)."),
    ] = None,
    person: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="The sets of a person; as npz, a folder with everything held about them."
        ),
    ] = None,
    pictures: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Also write the pictures to this folder.")
    ] = None,
    rate: Annotated[
        float | None, typer.Option(metavar="N", help="Frame rate of videos that do not state one.")
    ] = None,
    start: Annotated[
        str | None,
        typer.Option(metavar="CODE", help="Start time code of videos that have none, as 01:00:00:00."),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Export sets or a person: to a spreadsheet, a video editor, a photo library, a page, `add`."""
    from lookalike import open_gallery
    from lookalike.gallery import export as work

    path, sets = _file_and_sets(words or [], out)
    chosen = work.format_of(path, format)
    if chosen == work.OWN and (rate is not None or start is not None):
        raise BadInput("--rate and --start are about time codes: give --format edl, markers or otio too")
    if person is not None and (sets or pictures):
        raise BadInput("--person writes all sets and pictures of a person: leave SET and --pictures out")
    if chosen != work.OWN and pictures is not None:
        raise BadInput("--pictures goes with --format npz: leave one of them out")
    with open_gallery(gallery) as opened:
        if chosen != work.OWN:
            done = work.export_as(opened, path, chosen, sets or None, person, rate=rate, start=start)
            _print_exported(done, path, json, quiet)
            return
        if person is not None:
            count = work.export_person(opened, path, person)
        else:
            count = work.export(opened, path, sets or None, pictures)
    if json:
        print_json({"sets": count, "file": str(path)})
    else:
        print(f"{counted(count)} written to {path}")


def _file_and_sets(words: list[str], out: Path | None) -> tuple[Path, list[str]]:
    if out is not None:
        return out, words
    if not words:
        raise typer.BadParameter("say which file to write: FILE, or --out FILE")
    return Path(words[0]), words[1:]


def _print_exported(done: Exported, path: Path, json: bool, quiet: bool) -> None:
    for remark in done.remarks:
        say(plain(remark), quiet)
    if json:
        told = {"sets": done.sets, "appearances": done.appearances, "files": done.files, "file": str(path)}
        print_json({**told, "remarks": list(done.remarks)})
        return
    files = "" if done.files == 1 else f", {done.files} files"
    print(f"{counted(done.sets)} written to {path}{files}")


def import_names(
    gallery: GalleryPath,
    sources: Annotated[
        list[Path], typer.Argument(metavar="SOURCE...", help="Photos, .xmp sidecars, folders of these.")
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Decide nothing; say who would get which name.")
    ] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Import names from faces that a photo library marked: digiKam, Lightroom, Picasa (XMP)."""
    from lookalike import open_gallery
    from lookalike.exchange.names import read_names

    with open_gallery(gallery) as opened:
        done = read_names(opened, sources, Progresses(quiet), dry_run)
    _print_names(done, json, dry_run, quiet)


def _print_names(done: NamesRead, json: bool, dry_run: bool, quiet: bool) -> None:
    if json:
        print_json(
            {
                "people": done.people,
                "decisions": done.decided,
                "files": done.files,
                "regions": done.regions,
                "known": done.known,
                "unmatched": [one._asdict() for one in done.unmatched],
                "failed": [{"file": file, "reason": reason} for file, reason in done.failed],
            }
        )
        return
    for _, reason in done.failed:
        say(f"left out: {plain(reason)}", quiet)
    columns = [("name", "left"), ("sets", "right"), ("first set", "left")]
    if done.people:
        print_table(columns, ((name, len(sets), sets[0]) for name, sets in done.people.items()))
    if done.unmatched:
        print_table(
            [("not matched", "left"), ("in", "left"), ("why", "left")],
            ((one.name, one.file, one.reason) for one in done.unmatched),
        )
    would = "would get" if dry_run else "got"
    named = sum(len(sets) for sets in done.people.values())
    print(f"marked faces with names: {done.regions}, in photos that the gallery knows: {done.files}")
    print(
        f"{counted(named)} {would} a name; had it already: {done.known}; not matched: {len(done.unmatched)}"
    )
    if done.decided:
        print(f"decisions {done.decided[0]} to {done.decided[-1]}, which can be undone")
