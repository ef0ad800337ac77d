"""Commands that ask a gallery: find, explain, evaluate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lookalike.cli.options import GalleryPath, Json, OneReranker, Query, QuerySet, Quiet, Seed, Similarity
from lookalike.cli.terminal import Progresses, print_json, print_table, say
from lookalike.errors import NotFound

if TYPE_CHECKING:
    from lookalike import FaceSet, Gallery, Search


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
    from lookalike.showing import draw_ranking

    with Gallery(gallery) as opened:
        search = _search(opened, similarity, reranker, seed, quiet)
        asked = _query(opened, query, set_id)
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
        search = _search(opened, similarity, reranker, seed, quiet)
        explanation = search.explain(_query(opened, query, set_id), target)
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
    from lookalike import train as fit
    from lookalike.cli.reasons import print_evaluation
    from lookalike.evaluation.labels import read_labels
    from lookalike.evaluation.protocol import leave_one_out
    from lookalike.indexing import index as make_index

    known, track = read_labels(labels), Progresses(quiet)
    names = list(dict.fromkeys(["baseline", *filter(None, rerankers.split(","))]))
    with Gallery(gallery) as opened:
        tables = make_index(opened, similarity, track)
        fitted = {name: fit(tables, name, seed, opened, track) for name in names}
    result = leave_one_out(tables, fitted, known, track)
    if json:
        print_json(result.to_dict())
    else:
        print_evaluation(result)


def _search(gallery: Gallery, similarity: str, reranker: str, seed: int, quiet: bool) -> Search:
    """Open a gallery for questions, saying first what has to be made."""
    from lookalike import index as make_index
    from lookalike import parts
    from lookalike import train as fit
    from lookalike.indexing import is_indexed
    from lookalike.retrieval import Search
    from lookalike.training import is_trained

    track = Progresses(quiet)
    second = parts.build("rerankers", reranker)
    if not is_indexed(gallery, parts.build("similarities", similarity)):
        say(f"indexing {len(gallery)} sets by {similarity} first; this is kept", quiet)
    tables = make_index(gallery, similarity, track)
    if not is_trained(gallery, tables, second, seed):
        say(f"training {reranker} on {len(tables)} sets first; this is kept", quiet)
    return Search(tables, fit(tables, second, seed, gallery, track))


def _query(gallery: Gallery, text: str, set_id: str | None) -> str | FaceSet:
    """Tell a set id from a path; an id comes first."""
    from lookalike.ingest import read_query

    if set_id is None and text in gallery:
        return text
    if Path(text).exists():
        return read_query(gallery, Path(text), set_id)
    raise NotFound(
        f"{text!r} is neither one of the {len(gallery)} sets of {gallery.path} nor a file or folder: "
        f"see `lookalike list {gallery.path}`"
    )
