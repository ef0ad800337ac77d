"""Commands that ask a gallery: find, explain, evaluate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lookalike.cli.opening import open_gallery, read_asked
from lookalike.cli.options import GalleryPath, Json, OneReranker, Query, QuerySet, Quiet, Seed, Similarity
from lookalike.cli.terminal import Progresses, print_json, print_table


def find(
    gallery: GalleryPath,
    query: Query,
    top: Annotated[int, typer.Option(help="How many answers.")] = 10,
    reranker: OneReranker = "learnt",
    similarity: Similarity = "max_max",
    set_id: QuerySet = None,
    picture: Annotated[Path | None, typer.Option(help="Also draw the answers into this PNG file.")] = None,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Order all sets by how sure we are that they show the query's person."""
    from lookalike import Gallery
    from lookalike.retrieval import check_top
    from lookalike.showing import check_new, draw_ranking

    check_top(top)
    if picture is not None:
        check_new(picture)
    with Gallery(gallery) as opened:
        asked = read_asked(opened, query, set_id)
        search = open_gallery(opened, similarity, reranker, seed, quiet)
        ranking = search.find(asked, top)
        if picture is not None:
            draw_ranking(opened, search, asked, picture, top)
    if json:
        print_json(ranking.to_dict())
        return
    columns = [
        ("rank", "right"),
        ("set", "left"),
        ("score", "right"),
        ("baseline", "right"),
        ("through", "left"),
    ]
    print_table(
        columns,
        (
            (
                a.rank,
                a.id,
                f"{a.score:.3f}",
                f"{a.baseline:.3f} (rank {a.baseline_rank})",
                a.through or "directly",
            )
            for a in ranking
        ),
    )


def explain(
    gallery: GalleryPath,
    query: Query,
    target: Annotated[str, typer.Argument(metavar="TARGET", help="A set id.")],
    reranker: OneReranker = "learnt",
    similarity: Similarity = "max_max",
    set_id: QuerySet = None,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show the evidence for one answer: the baseline, each proxy, s1 to s5, the regression, which faces."""
    from lookalike import Gallery
    from lookalike.cli.reasons import print_explanation

    with Gallery(gallery) as opened:
        asked = read_asked(opened, query, set_id)
        opened.get(target)  # says so if there is no such set
        search = open_gallery(opened, similarity, reranker, seed, quiet)
        explanation = search.explain(asked, target)
    if json:
        print_json(explanation.to_dict())
    else:
        print_explanation(explanation)


def evaluate(
    gallery: GalleryPath,
    labels: Annotated[Path, typer.Option(help="csv with set_id,person, or .npz with set_names, set_person.")],
    rerankers: Annotated[str, typer.Option(help="Second stages to compare, separated by commas.")] = "learnt",
    similarity: Similarity = "max_max",
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure on your own data: every set with a match is a query, left out of its own gallery."""
    from lookalike import Gallery
    from lookalike.cli.reasons import print_evaluation
    from lookalike.evaluation.labels import check_labels, read_labels
    from lookalike.evaluation.protocol import leave_one_out

    known = read_labels(labels)
    names = list(dict.fromkeys(["baseline", *_names(rerankers)]))
    with Gallery(gallery) as opened:
        if len(opened):
            check_labels(known, opened.ids())
        fitted = {name: open_gallery(opened, similarity, name, seed, quiet) for name in names}
    tables = fitted["baseline"].tables
    rerankers_by_name = {name: search.reranker for name, search in fitted.items()}
    result = leave_one_out(tables, rerankers_by_name, known, Progresses(quiet))
    if json:
        print_json(result.to_dict())
    else:
        print_evaluation(result)


def _names(text: str) -> list[str]:
    """Split a list of parts at its commas, but not at those between the options of a part."""
    names: list[str] = []
    for piece in filter(None, (piece.strip() for piece in text.split(","))):
        if names and "=" in piece and ":" not in piece:
            names[-1] += f",{piece}"
        else:
            names.append(piece)
    return names
