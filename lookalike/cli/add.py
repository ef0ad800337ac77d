"""Commands that fill a gallery: add, describe."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lookalike.cli.output import (
    Address,
    GalleryPath,
    Json,
    Progresses,
    Quiet,
    open_engine,
    plain,
    print_json,
    say,
)
from lookalike.errors import BadInput
from lookalike.progress import counted

if TYPE_CHECKING:
    from lookalike.ingest.plan import Plan


def add(
    gallery: GalleryPath,
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE...",
            help="Videos, photos and folders of them; or ready-made faces (.npz, Parquet, csv ...).",
        ),
    ],
    descriptor: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Model that describes faces (default: that of the gallery, or sface; lbp with --cropped).",
        ),
    ] = None,
    cropped: Annotated[
        bool | None,
        typer.Option(
            "--cropped/--photos",
            help="Take pictures as face crops, each innermost folder a set; or as photos in which to find "
            "faces (default: as in the gallery; photos if it is new).",
            show_default=False,
        ),
    ] = None,
    rate: Annotated[
        float, typer.Option(metavar="N", help="Frames per second of video in which to look for faces.")
    ] = 5.0,
    array: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Array or column to read (default: images, or the only one)."),
    ] = None,
    features: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The .npy or .npz file of vectors for a list (csv, IJB, MOT, COCO, RTTM)."
        ),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="NAME=COLUMN,...",
            help="Column names of a Parquet or .npz file, as in set_id=video,source=file.",
        ),
    ] = None,
    most: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Most faces to keep of a set, evenly spread (default: all; 50 of a track)."
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Only say which videos and photos are new, and how long they take."),
    ] = False,
    engine: Annotated[
        str | None,
        typer.Option(
            "--engine",
            metavar="NAME",
            show_default="local",
            help="Where to look through videos and photos: local or ray.",
        ),
    ] = None,
    address: Address = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Add faces to a gallery: from videos and photos, or ready-made."""
    from lookalike.ingest.add import add as add_sources

    if not all(sources):
        raise typer.BadParameter("a SOURCE is empty: name a folder or a file")

    def tell(plan: Plan) -> bool:
        say(f"{plan}", quiet and not dry_run)
        return True

    with open_engine(engine, address) as place:
        done = add_sources(
            gallery,
            sources,
            descriptor,
            array,
            Progresses(quiet),
            features=features,
            most=most,
            cropped=cropped,
            rate=rate,
            tell=tell,
            dry_run=dry_run,
            engine=place,
            columns=None if columns is None else _columns(columns),
        )
    for file, sentence in [*done.remarks, *done.failed]:
        # What is said of no file is advice: --quiet keeps it back, and with --json it is in `remarks`.
        say(f"lookalike: {plain(sentence)}", not file and (quiet or json))
    if json:
        print_json(
            {
                "added": done.added,
                "unchanged": done.unchanged,
                "grown": done.grown,
                "files": done.files,
                "known_files": done.known,
                "failed": [{"file": file, "reason": reason} for file, reason in done.failed],
                "remarks": [{"file": file or None, "remark": remark} for file, remark in done.remarks],
                "barred": done.barred,
            }
        )
    elif not dry_run:
        print(done)
    # Some bad files among good ones are usual; nothing but bad files is a mistake.
    if done.failed and not (done.files or done.known or done.added or done.unchanged):
        raise typer.Exit(BadInput.exit_code)


def _columns(text: str) -> dict[str, str]:
    """What columns are called, from NAME=COLUMN with commas between them."""
    found: dict[str, str] = {}
    for piece in text.split(","):
        name, is_given, column = (part.strip() for part in piece.partition("="))
        if not (name and is_given and column) or name in found:
            raise typer.BadParameter(f"--columns is written as set_id=video,source=file, got {text!r}")
        found[name] = column
    return found


def describe(
    gallery: GalleryPath,
    descriptor: Annotated[str, typer.Option(metavar="NAME", help="The other model, as in onnx:model=FILE.")],
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Describe all faces with another model, from the pictures in the gallery."""
    from lookalike import open_gallery
    from lookalike.ingest.redescribe import describe as describe_again

    with open_gallery(gallery) as opened:
        done = describe_again(opened, descriptor, Progresses(quiet))
    if json:
        print_json({"descriptor": done.descriptor, "before": done.before, "described": done.sets})
    elif done.descriptor == done.before:
        print(f"{done.descriptor} is in use already")
    else:
        print(f"{counted(done.sets)} described; {done.descriptor} is in use, {done.before} is kept beside it")
