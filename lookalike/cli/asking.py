"""Commands that ask a gallery: find, explain."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lookalike.cli.opening import open_engine, open_search_of, read_asked, say_unreachable
from lookalike.cli.options import (
    Address,
    At,
    Engine,
    Face,
    GalleryPath,
    Json,
    OneReranker,
    Prepare,
    Query,
    QuerySet,
    Quiet,
    Seed,
    Similarity,
)
from lookalike.cli.terminal import plain, print_json, print_table, say, seen_from_to

if TYPE_CHECKING:
    from lookalike.collection.queries import SetFacts


def find(
    gallery: GalleryPath,
    query: Query,
    top: Annotated[int, typer.Option(help="How many answers.")] = 10,
    reranker: OneReranker = "auto",
    similarity: Similarity = "max_max",
    prepare: Prepare = "auto",
    set_id: QuerySet = None,
    face: Face = None,
    at: At = None,
    picture: Annotated[Path | None, typer.Option(help="Also draw the answers into this PNG file.")] = None,
    shortlist: Annotated[
        bool | None,
        typer.Option(
            "--shortlist/--exhaustive",
            help="Rank a shortlist or all sets (default: a shortlist from 50,000 sets on, where it can be).",
            show_default=False,
        ),
    ] = None,
    seed: Seed = 0,
    engine: Engine = "local",
    address: Address = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Order all sets by how sure we are that they show the query's person."""
    from lookalike import open_gallery
    from lookalike.asking import check_top
    from lookalike.showing import check_new, draw_ranking

    check_top(top)
    if picture is not None:
        check_new(picture)
    with open_engine(engine, address) as place, open_gallery(gallery, partial=True) as opened:
        say_unreachable(opened)
        asked = read_asked(opened, query, set_id, face, at)
        search = open_search_of(opened, similarity, reranker, seed, quiet, shortlist, prepare, place)
        ranking = search.find(asked, top)
        if picture is not None:
            draw_ranking(opened, search, asked, picture, top)
        known = list(opened.listing(ranking.ids))
    if ranking.total < ranking.sets:
        say(f"a shortlist of {ranking.total} of {ranking.sets} sets was ranked; see --exhaustive", quiet)
    if json:
        told = ranking.to_dict()
        for answer, one in zip(told["answers"], known, strict=True):
            answer |= _place(one)
        print_json(told)
        return
    columns = [
        ("rank", "right"),
        ("set", "left"),
        ("sure", "right"),
        ("score", "right"),
        ("baseline", "right"),
        ("through", "left"),
    ]
    # Only films have times: where there are none, there is no column for them.
    times = [seen_from_to(one.start, one.end) for one in known]
    columns += [("time", "left")] if any(times) else []
    print_table(
        columns,
        (
            (
                a.rank,
                a.id,
                a.sure,
                f"{a.score:.3f}",
                f"{a.baseline:.3f} (rank {a.baseline_rank})",
                a.way,
                *([time] if any(times) else []),
            )
            for a, time in zip(ranking, times, strict=True)
        ),
    )
    print(plain(ranking.reading))


def explain(
    gallery: GalleryPath,
    query: Query,
    target: Annotated[str, typer.Argument(metavar="TARGET", help="A set id.")],
    reranker: OneReranker = "auto",
    similarity: Similarity = "max_max",
    prepare: Prepare = "auto",
    set_id: QuerySet = None,
    face: Face = None,
    at: At = None,
    seed: Seed = 0,
    engine: Engine = "local",
    address: Address = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show the evidence for one answer: the baseline, each proxy, s1 to s5, the regression, which faces."""
    from lookalike import open_gallery
    from lookalike.cli.reasons import print_explanation

    with open_engine(engine, address) as place, open_gallery(gallery, partial=True) as opened:
        say_unreachable(opened)
        asked = read_asked(opened, query, set_id, face, at)
        opened.get(target)  # says so if there is no such set
        search = open_search_of(opened, similarity, reranker, seed, quiet, prepare=prepare, engine=place)
        explanation = search.explain(asked, target)
        [known] = opened.listing([target])
    if json:
        told = explanation.to_dict()
        told["answer"] |= _place(known)
        print_json(told)
    else:
        print_explanation(explanation)


def _place(known: SetFacts) -> dict[str, str | float | None]:
    """What the gallery knows of an answer, beside what the ranking says."""
    return {"origin": known.origin, "start": known.start, "end": known.end}
