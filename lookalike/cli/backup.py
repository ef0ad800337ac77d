"""Commands to trust a gallery by: verify, backup, restore, upgrade, history."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from lookalike.cli.output import GalleryPath, Json, Progresses, Quiet, plain, print_json, print_table, say
from lookalike.progress import counted

if TYPE_CHECKING:
    from lookalike.gallery.checks import Finding
    from lookalike.gallery.decision_log import Decision
    from lookalike.gallery.history import Event
    from lookalike.gallery.verify import Repaired


SHA_256: Final = re.compile("[0-9a-f]{64}")
# Sets and hashes of one entry that the history prints.
MOST_NAMED: Final = 5


def verify(
    gallery: GalleryPath,
    repair: Annotated[
        bool,
        typer.Option(
            "--repair", help="Rebuild damaged derived tables; accept a file that lacks its journal."
        ),
    ] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Check a gallery, and everything derived from it, for damage."""
    from lookalike.errors import GalleryUnreadable
    from lookalike.gallery.journal import take_as_it_is
    from lookalike.gallery.verify import verify as read_all

    found = read_all(gallery, Progresses(quiet))
    wrong = [one for one in found if not one.is_harmless]
    if repair and any(one.kind == "journal" for one in wrong):
        take_as_it_is(gallery)
        wrong = [one for one in wrong if one.kind != "journal"]
    repaired = _repaired(gallery, wrong, quiet) if repair and any(one.is_derived for one in wrong) else None
    left = wrong if repaired is None else list(repaired.left)
    if json:
        told = None if repaired is None else {"deleted": repaired.deleted, "rebuilt": repaired.rebuilt}
        print_json({"sound": not left, "findings": [asdict(one) for one in found], "repaired": told})
    else:
        for one in found:
            print(plain(str(one)))
        _tell(repaired)
        if not left:
            print(f"{gallery} is sound")
    if left:
        many = "1 finding" if len(left) == 1 else f"{len(left)} findings"
        truth = sum(not one.is_derived for one in left)
        raise GalleryUnreadable(
            f"{gallery} is not sound: {many}, {truth} of them in the gallery itself"
            + (
                ": bring its journal back, or restore a backup"
                if any(one.kind == "journal" for one in left)
                else ": restore a backup, or remove the sets that are named"
                if truth
                else ": repair it by --repair"
            )
        )


def _repaired(gallery: Path, wrong: Sequence[Finding], quiet: bool) -> Repaired | None:
    from lookalike import open_gallery
    from lookalike.errors import GalleryUnreadable
    from lookalike.gallery.verify import repair

    try:
        with open_gallery(gallery) as opened:
            return repair(opened, wrong, Progresses(quiet))
    except GalleryUnreadable:
        return None  # the gallery itself cannot be opened, which its findings tell


def _tell(repaired: Repaired | None) -> None:
    if repaired is not None:
        for kind in repaired.deleted:
            how = "made again" if kind in repaired.rebuilt else "deleted; it is made again when it is needed"
            print(plain(f"repaired: {kind}: {how}"))


def backup(
    gallery: GalleryPath,
    destination: Annotated[
        Path, typer.Argument(metavar="DEST", help="The file to write, or a folder to put it in.")
    ],
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Copy a gallery to one file, even while others write to it."""
    from lookalike import open_gallery
    from lookalike.gallery.backup import backup as back_up

    with open_gallery(gallery) as opened:
        made = back_up(opened, destination, Progresses(quiet))
    if not made.is_noted:
        say(
            "the gallery does not note this backup, since it is read-only or of an older format: "
            "`forget` will not name it",
            quiet,
        )
    if json:
        print_json({"file": str(made.path), "sets": made.sets, "noted": made.is_noted})
    else:
        print(f"{counted(made.sets)} backed up to {made.path}")


def restore(
    backup: Annotated[Path, typer.Argument(metavar="BACKUP", help="A file written by `backup`.")],
    gallery: GalleryPath,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace an existing gallery, and keep the old file beside it.")
    ] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Restore a gallery from a backup, after checking all of it."""
    from lookalike.gallery.backup import restore as bring_back

    made = bring_back(backup, gallery, replace, Progresses(quiet))
    if made.back:
        say(
            f"forgotten after this backup was made, and back: {counted(len(made.back))}; "
            f"to forget again: `lookalike forget {shlex.join([str(gallery), *made.back])}`",
            quiet,
        )
    kept = None if made.kept is None else str(made.kept)
    if json:
        print_json({"sets": made.sets, "kept": kept, "back": made.back})
    else:
        beside = f"; the gallery that was there is kept as {kept}" if kept else ""
        print(f"{counted(made.sets)} restored to {gallery}{beside}")


def upgrade(
    gallery: GalleryPath,
    no_keep: Annotated[bool, typer.Option("--no-keep", help="Do not keep the old file.")] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Upgrade a gallery to the current format, and keep the old file."""
    from lookalike.gallery.backup import upgrade as bring_up

    made = bring_up(gallery, not no_keep, Progresses(quiet))
    kept = None if made.kept is None else str(made.kept)
    if json:
        print_json({"before": made.before, "format": made.after, "kept": kept})
    elif made.before == made.after:
        print(f"{gallery} is of format {made.after} already")
    else:
        beside = f"; the old file is kept as {kept}" if kept else ""
        print(f"{gallery} was of format {made.before} and is of format {made.after} now{beside}")


def history(gallery: GalleryPath, json: Json = False) -> None:
    """List decisions, forgets, upgrades and restores, newest last."""
    from lookalike import open_gallery
    from lookalike.gallery.history import DECIDED

    with open_gallery(gallery) as opened:
        # Whose key a decision was made with is told by the decision itself.
        befell = [one for one in opened.events() if one.kind != DECIDED]
        entries: list[Decision | Event] = [*opened.decisions(), *befell]
    entries.sort(key=lambda one: one.made)
    if json:
        print_json({"history": [_entry(one) for one in entries]})
        return
    columns = [("time", "left"), ("what", "left"), ("said", "left")]
    print_table(columns, ((one.made, one.kind, _in_words(_entry(one))) for one in entries))


def _entry(one: Decision | Event) -> dict[str, Any]:
    """An entry as JSON: what is empty is left out."""
    said = asdict(one)
    said |= said.pop("said", {})
    return {name: value for name, value in said.items() if value not in (None, "", (), [], {}, False)}


def _in_words(entry: dict[str, Any]) -> str:
    told = {name: value for name, value in entry.items() if name not in ("made", "kind")}
    return " ".join(f"{name}={_short(value)}" for name, value in told.items())


def _short(value: object) -> str:
    """Counts and the first of a list with commas, and as much of a hash as tells it from others.

    JSON has all of it.
    """
    if isinstance(value, Mapping):
        return ",".join(f"{name}:{count}" for name, count in value.items())
    if isinstance(value, list | tuple):
        more = len(value) - MOST_NAMED
        return ",".join(map(_short, value[:MOST_NAMED])) + (f" and {more} more" if more > 0 else "")
    return f"{value[:12]}..." if isinstance(value, str) and SHA_256.fullmatch(value) else str(value)
