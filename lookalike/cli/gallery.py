"""Commands that keep a gallery: index, train, status, list, remove, merge, forget."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from lookalike.cli.output import (
    Address,
    Engine,
    GalleryPath,
    Json,
    OneReranker,
    Prepare,
    Progresses,
    Quiet,
    Seed,
    Similarity,
    listed,
    open_engine,
    plain,
    print_json,
    print_table,
    say,
    say_caution,
    seen_from_to,
)
from lookalike.errors import BadInput
from lookalike.faceset import natural_order
from lookalike.progress import counted
from lookalike.resources import in_words

if TYPE_CHECKING:
    from lookalike.engines.contract import Machine
    from lookalike.gallery.forget import Bar, Receipt
    from lookalike.gallery.media import MediaFile
    from lookalike.gallery.opened import WipeDue
    from lookalike.gallery.set_rows import SetFacts


# The kinds of what is barred, where there are several.
MANY: Final = {"file": "files", "set": "sets", "face": "faces", "person": "people"}


def forget(
    gallery: GalleryPath,
    sets: Annotated[list[str] | None, typer.Argument(metavar="[SET...]", help="Set ids.")] = None,
    person: Annotated[
        str | None, typer.Option(metavar="NAME", help="Forget all sets of this person, and the name.")
    ] = None,
    bar: Annotated[
        bool,
        typer.Option(
            "--block", help="Keep hashes of the files, sets and faces, so that they cannot be added again."
        ),
    ] = False,
    bar_alike: Annotated[
        bool,
        typer.Option(
            "--block-alike",
            help="Also keep what the person looks like (biometric data), to keep out new files of them.",
        ),
    ] = False,
    receipt: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the receipt to this file, without ids or names."),
    ] = None,
    barred: Annotated[bool, typer.Option("--blocked", help="Forget nothing; show the block list.")] = False,
    unbar: Annotated[
        int | None,
        typer.Option("--unblock", metavar="N", help="Forget nothing; take entry N off the block list."),
    ] = None,
    now: Annotated[
        bool, typer.Option("--now", help="Rewrite a large file at once; alone, carry out a wipe that is due.")
    ] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Erase sets or a person for good, with a receipt; and block them, if asked."""
    from lookalike import open_gallery
    from lookalike.gallery import forget as work

    wanted = (bool(sets or person), barred, unbar is not None).count(True)
    if wanted > 1 or (not wanted and not now) or (barred and now):
        raise BadInput(
            "say what is wanted: sets or --person to be forgotten, or --blocked, or --unblock, or --now alone"
        )
    with open_gallery(gallery) as opened:
        if barred:
            _print_barred(work.barred_list(opened), json)
        elif unbar is not None:
            one = work.unbar(opened, unbar)
            if now:
                opened.wipe()
            _print_unbarred(one, opened.wipe_due(), json, gallery)
        elif not wanted:
            due = opened.wipe_due()
            opened.wipe()
            _print_wiped(due, json, gallery)
        else:
            track = Progresses(quiet)
            done = work.forget(opened, sets or (), person, bar, bar_alike, receipt, track, now)
            _print_receipt(done, json, gallery)


def _print_receipt(done: Receipt, json: bool, gallery: Path) -> None:
    if json:
        print_json({**done.facts(), "forgotten": list(done.sets), "originals": list(done.originals)})
        return
    from lookalike.gallery.deletion import HOLDS

    gone = done.gone
    print(f"{counted(len(done.sets))} forgotten at {done.made} (number {gone.event})")
    rows = ", ".join(f"{count} {table}" for table, count in gone.rows.items())
    print(f"rows deleted: {rows}; pictures among them: {gone.pictures}")
    print("file: " + ("rewritten" if done.is_wiped else due_in_words(done.wipe_due, gallery)))
    if done.derived.rewritten:
        print(f"tables rewritten without it: {len(done.derived.rewritten)}")
    if done.derived.deleted:
        print(f"tables deleted, made again when they are needed: {len(done.derived.deleted)}")
    for content in gone.contents:
        print(f"content: {content}")
    if gone.files_kept:
        print(f"files whose entries stay, since other sets are of them: {gone.files_kept}")
    if gone.barred:
        print(f"blocked: {_entries(gone.barred)}")
    for one in done.copies:
        advice = ": delete it, or forget in it too" if one.state == HOLDS else ""
        print(f"backup: {plain(one.path)} {one.state}{advice}")
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


def _print_unbarred(one: Bar, due: WipeDue | None, json: bool, gallery: Path) -> None:
    if json:
        print_json({"unbarred": _as_json(one), "wipe_due": None if due is None else asdict(due)})
        return
    print(f"let in again: {_entries(one.counts)}")
    if due is not None:
        print(f"file: {due_in_words(due, gallery)}")


def _print_wiped(due: WipeDue | None, json: bool, gallery: Path) -> None:
    """Say that the wipe which was due is done."""
    if json:
        print_json({"wipe_due": None})
    elif due is None:
        print(f"no wipe of {gallery} is due")
    else:
        print(f"{gallery} was wiped: {in_words(due.bytes)} rewritten")


def due_in_words(due: WipeDue | None, gallery: Path) -> str:
    """What is still to be wiped in a gallery file, when that is done, and how it is done at once."""
    if due is None or not due.is_overwritten:
        return "in use, it is wiped when it is next opened"
    when = f"the next command after {due.until}" if due.until else "the next command"
    command = f"`lookalike forget {shlex.quote(str(gallery))} --now`"
    return f"rows overwritten; a wipe is due, {due}: by {when}, or at once by {command}"


def _entries(counts: Mapping[str, int]) -> str:
    """How many of each kind, in words."""
    return ", ".join(f"{count} {kind if count == 1 else MANY[kind]}" for kind, count in counts.items())


def _as_json(one: Bar) -> dict[str, object]:
    return {"number": one.number, "made": one.made, "entries": dict(one.counts), "models": list(one.models)}


def index(
    gallery: GalleryPath,
    similarity: Similarity = "max_max",
    prepare: Prepare = "auto",
    prepare_again: Annotated[
        bool,
        typer.Option("--prepare-again", help="Learn the preparation again, from the gallery as it is now."),
    ] = False,
    engine: Engine = None,
    address: Address = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare all sets with each other, ahead of `find`; only new ones are compared."""
    from lookalike import index as open_tables
    from lookalike import open_gallery, registry
    from lookalike.indexing import transform

    shown = Progresses(quiet)
    with open_engine(engine, address) as place, open_gallery(gallery) as opened:
        registry.build("similarities", similarity)  # says so if there is none, before anything is learnt
        if prepare_again:
            chosen = transform.choose(opened, prepare)
            if not chosen.is_learnt:
                say(f"{registry.spec(chosen)} learns nothing: there is nothing to learn again", quiet)
            elif len(opened):
                transform.prepare(opened, prepare, shown, again=True, before=shown.before)
        tables = open_tables(opened, similarity, shown, prepare, place, shown.before)
    written, prepared = registry.spec(tables.similarity), registry.spec(tables.preparation)
    if json:
        print_json({"sets": len(tables), "similarity": written, "preparation": prepared})
    else:
        after = f", prepared by {prepared}" if tables.preparation.is_learnt else ""
        print(f"{counted(len(tables))} indexed by {written}{after}")


def train(
    gallery: GalleryPath,
    reranker: OneReranker = "auto",
    similarity: Similarity = "max_max",
    prepare: Prepare = "auto",
    seed: Seed = 0,
    engine: Engine = None,
    address: Address = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Train the re-ranker on the gallery itself, without labels, ahead of `find`."""
    from lookalike import open_gallery, open_search, registry

    shown = Progresses(quiet)
    with open_engine(engine, address) as place, open_gallery(gallery) as opened:
        search = open_search(
            opened, similarity, reranker, seed, shown, False, prepare, place, before=shown.before
        )
        say_caution(search.reranker, quiet)
    if json:
        print_json(
            {
                "reranker": registry.spec(search.reranker),
                "sets": len(search.tables),
                "seed": seed,
                "finding": search.reranker.finding,
            }
        )
    else:
        print(f"{registry.spec(search.reranker)} is ready on {counted(len(search.tables))}")
        if search.reranker.finding:
            print(search.reranker.finding[0].upper() + search.reranker.finding[1:])


def status(gallery: GalleryPath, engine: Engine = None, address: Address = None, json: Json = False) -> None:
    """Show what a gallery holds, which tables are up to date, and what a cluster has open."""
    from lookalike import open_gallery
    from lookalike.indexing.build import index_states
    from lookalike.indexing.slices import slice_states
    from lookalike.indexing.transform import preparation_states

    with open_engine(engine, address) as place, open_gallery(gallery) as opened:
        facts, tables, learnt = opened.facts(), index_states(opened), preparation_states(opened)
        slices, machines = ([], []) if place is None else slice_states(opened, place)
        due = opened.wipe_due()
    if not (place is None or place.is_here or machines):
        say("no cluster was named, so nobody was asked what is open: give --address HOST:PORT, or auto")
    if json:
        spread = {"slices": slices, "machines": [asdict(one) for one in machines]}
        wipe = None if due is None else asdict(due)
        print_json({**facts, "wipe_due": wipe, "preparations": learnt, "tables": tables, **spread})
        return
    for name, value in facts.items():
        print(f"{name}: {value}")
    if due is not None:
        print(f"file: {due_in_words(due, gallery)}")
    for one in learnt:
        print(f"preparation: {one['name']}{' (default)' if one['is_default'] else ''}{_learnt(one, gallery)}")
    for table in tables:
        print(f"table: {table['kind']}: {'up to date' if table['fits'] else 'made again when needed'}")
    # Where each slice of the index is in memory, and what the machines of a cluster say, if one was asked.
    for one in slices if machines else ():
        print(f"slice: {plain(_slice(one))}")
    if machines and not slices:
        print("slice: nobody holds one of this gallery")
    for machine in machines:
        print(f"machine: {plain(machine.host)}: {plain(_machine(machine))}")


def _learnt(one: Mapping[str, Any], gallery: Path) -> str:
    """What is known of a preparation, behind its name."""
    if "sets" not in one:
        return ": learnt when needed" if one["is_learnt"] else ""
    told = f": learnt from {counted(one['sets'])}, {one['new_sets']} are new since"
    told += f" ({one['reason']})" if one["reason"] else ""
    if one["is_stale"]:
        words = f"index {shlex.quote(str(gallery))} --prepare {one['name']} --prepare-again"
        told += f": stale, renew it by `lookalike {words}`"
    return told


def list_sets(
    gallery: GalleryPath,
    files: Annotated[bool, typer.Option("--files", help="List videos and photos instead of sets.")] = False,
    json: Json = False,
) -> None:
    """List the sets of a gallery, or its files."""
    from lookalike import open_gallery

    with open_gallery(gallery) as opened:
        if files:
            _print_files(opened.files(), json)
            return
        sets = sorted(opened.listing(), key=lambda one: natural_order(one.id))
        paths = opened.paths()
    if json:
        known = ("id", "origin", "faces", "start", "end")
        told = [{name: getattr(one, name) for name in known} for one in sets]
        print_json({"sets": [{**one, "files": paths.get(one["id"], [])} for one in told]})
        return
    columns = [("set", "left"), ("faces", "right"), ("time", "left"), ("origin", "left")]
    print_table(
        columns,
        (
            (one.id, one.faces, seen_from_to(one.start, one.end), _origin(one, paths.get(one.id, [])))
            for one in sets
        ),
    )


def _origin(one: SetFacts, paths: Sequence[str]) -> str:
    """Where a set is from: its file, or all photos of it, folder by folder."""
    if len(paths) < 2:
        return one.origin
    folders: dict[PurePath, list[str]] = {}
    for path in paths:
        folders.setdefault(PurePath(path).parent, []).append(path)
    if len(folders) == 1:
        # As it was given, which is shorter.
        return f"{PurePath(one.origin).parent}: {listed(paths)}"
    return "; ".join(f"{folder}: {listed(several)}" for folder, several in folders.items())


def _print_files(found: Sequence[MediaFile], json: bool) -> None:
    files = sorted(found, key=lambda one: natural_order(one.path))
    if json:
        known = ("path", "kind", "size", "content", "settings", "remark")
        told = [{name: getattr(one, name) for name in known} for one in files]
        print_json(
            {
                "files": [
                    {**one, "captured": file.captured or None} for one, file in zip(told, files, strict=True)
                ]
            }
        )
        return
    columns = [("file", "left"), ("kind", "left"), ("taken", "left"), ("remark", "left")]
    print_table(
        columns, ((one.path, one.kind, (one.captured or "").replace("T", " "), one.remark) for one in files)
    )


def remove(
    gallery: GalleryPath,
    sets: Annotated[list[str], typer.Argument(metavar="SET...", help="Set ids.")],
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Remove sets from a gallery and from everything derived from it."""
    from lookalike import open_gallery
    from lookalike.gallery.forget import remove as remove_sets

    with open_gallery(gallery) as opened:
        removed = remove_sets(opened, sets, Progresses(quiet))
        due = opened.wipe_due()
    if json:
        print_json({"removed": removed, "wipe_due": None if due is None else asdict(due)})
        return
    print(f"{counted(len(removed))} removed")
    if due is not None:
        print(f"file: {due_in_words(due, gallery)}")


def merge(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of the split gallery.")],
    path: Annotated[Path, typer.Argument(metavar="FILE", help="The gallery file to write.")],
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Merge the files of a gallery that version 0.9, 0.10 or 0.11 split."""
    from lookalike.gallery.split import merge as merge_files

    made = merge_files(folder, path, Progresses(quiet))
    if json:
        print_json({"sets": made.sets, "files": made.files, "gallery": str(path)})
    else:
        print(f"{counted(made.sets)} written to {path}; {folder} is as it was")


def split(context: typer.Context) -> None:
    """Say that a gallery is one file."""
    raise BadInput(
        "a gallery is one file now, and nothing was changed: machines share the arithmetic (--engine ray), "
        "and `lookalike merge DIR FILE` brings a split gallery back into one file"
    )


def _slice(one: Mapping[str, Any]) -> str:
    owner = f"for process {one['holder_process']} on {one['holder_host']}"
    if one["is_busy"]:
        return f"{one['slice']}: busy, or about to start, {owner}"
    taken = "" if one["memory"] is None else f" ({in_words(one['memory'])})"
    now = "up to date" if one["fits"] else "the gallery has changed since"
    place = f"process {one['process']}{taken} on {one['host']}"
    return f"{one['slice']}: {place}, {owner}: {one['kind']}: {now}"


def _machine(one: Machine) -> str:
    if not one.is_alive:
        return "lost"
    words = "1 processor" if one.processors == 1 else f"{one.processors} processors"
    if one.memory is not None and one.used is not None:
        words += f", {in_words(one.used)} of {in_words(one.memory)} memory in use"
    elif not one.wrong:
        words += ", does not answer yet"
    return f"{words}: {one.wrong}" if one.wrong else words
