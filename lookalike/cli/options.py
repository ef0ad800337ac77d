"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

GalleryPath = Annotated[
    Path, typer.Argument(metavar="GALLERY", help="The gallery file, or the folder of a split one.")
]
Query = Annotated[
    str, typer.Argument(metavar="QUERY", help="A set id, a photo, a film, a folder of photos, an .npz file.")
]
QuerySet = Annotated[
    str | None, typer.Option("--set", metavar="ID", help="Which set of a QUERY that holds several.")
]
Face = Annotated[
    int | None, typer.Option(metavar="N", help="Which face of a photo or film, counted from the left.")
]
At = Annotated[
    str | None, typer.Option(metavar="TIME", help="When the face is seen in a film, as 00:01:10 or 70.5.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no remarks.")]
Similarity = Annotated[str, typer.Option(help="Set similarity, with options as in max_max:samples=10.")]
Prepare = Annotated[
    str,
    typer.Option(
        "--prepare",
        metavar="NAME",
        help="What is done to faces first, as in within:root=true; none leaves them as they are.",
    ),
]
Engine = Annotated[
    str, typer.Option("--engine", metavar="NAME", help="Where sets are compared: local or ray.")
]
Address = Annotated[
    str | None,
    typer.Option(metavar="HOST:PORT", help="The Ray cluster (default: one for as long as this runs)."),
]
OneReranker = Annotated[str, typer.Option(help="Second stage, with options as in learnt:proxies=5.")]
Seed = Annotated[int, typer.Option(help="Chooses the sets from which the second stage learns.")]
