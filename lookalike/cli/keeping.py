"""Commands that keep a gallery: index, train, status, list, remove, export, merge."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lookalike.cli.options import (
    Address,
    Engine,
    GalleryPath,
    Json,
    OneReranker,
    Prepare,
    Quiet,
    Seed,
    Similarity,
)
from lookalike.cli.terminal import Progresses, counted, listed, print_json, print_table, say, seen_from_to
from lookalike.errors import BadInput
from lookalike.ordering import natural_order

if TYPE_CHECKING:
    from lookalike.collection.media import MediaFile
    from lookalike.collection.queries import SetFacts


def index(
    gallery: GalleryPath,
    similarity: Similarity = "max_max",
    prepare: Prepare = "auto",
    prepare_again: Annotated[
        bool,
        typer.Option("--prepare-again", help="Learn the preparation anew, from the gallery as it is now."),
    ] = False,
    engine: Engine = "local",
    address: Address = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Prepare the sets and find the neighbours of each; only what is new is compared."""
    from lookalike import open_gallery, parts
    from lookalike.cli.opening import open_engine, open_tables

    with open_engine(engine, address) as place, open_gallery(gallery) as opened:
        tables = open_tables(opened, similarity, quiet, prepare, prepare_again, place)
    written, prepared = parts.spec(tables.similarity), parts.spec(tables.preparation)
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
    engine: Engine = "local",
    address: Address = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Learn the second stage from the gallery itself, without a label."""
    from lookalike import open_gallery, parts
    from lookalike.cli.opening import open_engine, open_search_of

    with open_engine(engine, address) as place, open_gallery(gallery) as opened:
        search = open_search_of(opened, similarity, reranker, seed, quiet, prepare=prepare, engine=place)
    if json:
        print_json(
            {
                "reranker": parts.spec(search.reranker),
                "sets": len(search.tables),
                "seed": seed,
                "finding": search.reranker.finding,
            }
        )
    else:
        print(f"{parts.spec(search.reranker)} is ready on {counted(len(search.tables))}")
        if search.reranker.finding:
            print(search.reranker.finding[0].upper() + search.reranker.finding[1:])


def status(
    gallery: GalleryPath, engine: Engine = "local", address: Address = None, json: Json = False
) -> None:
    """Say what a gallery holds, which of its tables are up to date, and which slices of it are open where."""
    from lookalike import open_gallery
    from lookalike.cli.opening import open_engine
    from lookalike.cli.slices import print_machines, print_slices
    from lookalike.indexing import index_states
    from lookalike.preparing import preparation_states
    from lookalike.slicing import slice_states

    with open_engine(engine, address) as place, open_gallery(gallery) as opened:
        facts, tables, learnt = opened.facts(), index_states(opened), preparation_states(opened)
        slices, machines = slice_states(opened, place)
    if not (place.is_here or machines):
        say("no cluster was named, so nobody was asked what is open: give --address HOST:PORT, or auto")
    if json:
        spread = {"slices": slices, "machines": [asdict(one) for one in machines]}
        print_json({**facts, "preparations": learnt, "tables": tables, **spread})
        return
    for name, value in facts.items():
        print(f"{name}: {value}")
    for one in learnt:
        print(f"preparation: {one['name']}{' (default)' if one['is_default'] else ''}{_learnt(one, gallery)}")
    for table in tables:
        print(f"table: {table['kind']}: {'up to date' if table['fits'] else 'made again when needed'}")
    print_slices(slices, is_asked=bool(machines))
    print_machines(machines)


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
    files: Annotated[bool, typer.Option("--files", help="List films and photos instead.")] = False,
    json: Json = False,
) -> None:
    """List the sets of a gallery, or the files it knows."""
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
        print_json({"files": [{name: getattr(one, name) for name in known} for one in files]})
        return
    columns = [("file", "left"), ("kind", "left"), ("remark", "left")]
    print_table(columns, ((one.path, one.kind, one.remark) for one in files))


def remove(
    gallery: GalleryPath,
    sets: Annotated[list[str], typer.Argument(metavar="SET...", help="Set ids.")],
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Remove sets from a gallery and from everything derived from it."""
    from lookalike import open_gallery
    from lookalike.removing import remove as remove_sets

    with open_gallery(gallery) as opened:
        removed = remove_sets(opened, sets, Progresses(quiet))
    if json:
        print_json({"removed": removed})
    else:
        print(f"{counted(len(removed))} removed")


def export(
    gallery: GalleryPath,
    path: Annotated[
        Path, typer.Argument(metavar="FILE", help="The .npz file to write; with --person, a folder.")
    ],
    sets: Annotated[
        list[str] | None, typer.Argument(metavar="[SET...]", help="Set ids (default: all).")
    ] = None,
    pictures: Annotated[Path | None, typer.Option(help="Also write the pictures into this folder.")] = None,
    person: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Write everything held about a person, for them to read."),
    ] = None,
    json: Json = False,
) -> None:
    """Write sets into a file that needs no gallery, and that `add` reads."""
    from lookalike import open_gallery
    from lookalike.exporting import export as export_sets
    from lookalike.exporting import export_person

    if person is not None and (sets or pictures):
        raise BadInput("--person writes all sets and pictures of a person: leave SET and --pictures out")
    with open_gallery(gallery) as opened:
        if person is not None:
            count = export_person(opened, path, person)
        else:
            count = export_sets(opened, path, sets or None, pictures)
    if json:
        print_json({"sets": count, "file": str(path)})
    else:
        print(f"{counted(count)} written to {path}")


def merge(
    folder: Annotated[
        Path,
        typer.Argument(metavar="DIR", help="The folder of a gallery that an earlier version split."),
    ],
    path: Annotated[Path, typer.Argument(metavar="FILE", help="The gallery file to make.")],
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Bring a gallery that an earlier version split into several files back into one."""
    from lookalike.collection.split import merge as merge_files

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
