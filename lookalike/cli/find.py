"""Commands that ask a gallery: find, explain."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lookalike.cli.output import (
    Address,
    At,
    Engine,
    Face,
    GalleryPath,
    Json,
    OneReranker,
    Prepare,
    Progresses,
    Query,
    QuerySet,
    Quiet,
    Seed,
    Similarity,
    listed,
    plain,
    print_json,
    print_table,
    say,
    seen_from_to,
)
from lookalike.errors import BadInput, NotFound
from lookalike.faceset import natural_order, seconds
from lookalike.ranking import percent

if TYPE_CHECKING:
    from lookalike import FaceSet, Gallery
    from lookalike.engines import contract
    from lookalike.gallery.media import MediaFile
    from lookalike.gallery.set_rows import SetFacts
    from lookalike.rerankers.contract import Reranker
    from lookalike.search.query import Search
    from lookalike.search.scenes import Place


def open_engine(name: str, address: str | None) -> contract.Engine:
    """The engine that is asked for; to be closed when the work is done."""
    from lookalike import registry

    given = "" if address is None else f"{',' if ':' in name else ':'}address={address}"
    engine: contract.Engine = registry.build("engines", f"{name}{given}")
    return engine


def say_caution(reranker: Reranker, quiet: bool) -> None:
    """Say what is to be minded of a second stage, if anything is."""
    if reranker.caution:
        say(f"lookalike: {reranker.caution}", quiet)


def read_asked(
    gallery: Gallery, text: str, set_id: str | None, face: int | None = None, at: str | None = None
) -> str | FaceSet:
    """Tell a set id from a path; an id comes first."""
    from lookalike.errors import is_there

    time = None if at is None else seconds(at)
    if (set_id, face, time) == (None, None, None) and text in gallery:
        return text
    if text and is_there(Path(text)):
        # Here, since what reads films takes longer to load than a set of the gallery takes to be found.
        from lookalike.search.question import read_query

        return read_query(gallery, Path(text), set_id, face, time)
    try:
        gallery.get(text)
    except NotFound as reason:
        raise NotFound(f"{reason} (nor is {text!r} a file or folder)") from reason
    raise BadInput(f"{text!r} is a set of the gallery, not a file: leave --set, --face and --at out")


# Commands that ask a gallery: find, explain.


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
    picture: Annotated[
        Path | None,
        typer.Option(help="Also draw the answers, or the faces to choose from, into this PNG file."),
    ] = None,
    shortlist: Annotated[
        bool | None,
        typer.Option(
            "--shortlist/--exhaustive",
            help="Rank a shortlist or all sets (default: a shortlist from 50,000 sets on, where it can be).",
            show_default=False,
        ),
    ] = None,
    since: Annotated[
        str,
        typer.Option("--from", metavar="DATE", help="Only what was taken then or later: 2019, 2019-07-14."),
    ] = "",
    until: Annotated[
        str, typer.Option("--to", metavar="DATE", help="Only what was taken then or before.")
    ] = "",
    file: Annotated[
        str, typer.Option(metavar="NAME", help="Only films and photos with this in their path.")
    ] = "",
    quality: Annotated[
        str, typer.Option(metavar="any|good", help="Only sets most of whose faces are clear.")
    ] = "any",
    beside: Annotated[
        str | None,
        typer.Option(
            "--with", metavar="PERSON", help="List where both are seen: a set id, a photo or a name."
        ),
    ] = None,
    without: Annotated[
        str | None,
        typer.Option(
            "--without", metavar="PERSON", help="List where the query is seen and this person is not."
        ),
    ] = None,
    seed: Seed = 0,
    engine: Engine = "local",
    address: Address = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Order all sets by how sure we are that they show the query's person."""
    from lookalike import open_gallery, open_search
    from lookalike.search.filters import Filter, depth, narrowed
    from lookalike.search.picture import check_new, draw_faces, draw_ranking
    from lookalike.search.query import Several, check_top

    check_top(top)
    wanted = Filter(since, until, file, quality)
    if beside is not None and without is not None:
        raise BadInput("--with and --without ask two questions: give one of them")
    if (beside is not None or without is not None) and (wanted or picture is not None):
        raise BadInput(
            "--with and --without list places: leave --from, --to, --file, --quality, --picture out"
        )
    if picture is not None:
        check_new(picture)
        if not picture.absolute().parent.exists():  # a slip of the pen, more likely than a wish
            raise NotFound(f"the folder of {picture} does not exist: make it first, or choose another place")
    with open_engine(engine, address) as place, open_gallery(gallery) as opened:
        try:
            asked = read_asked(opened, _named(opened, query), set_id, face, at)
            other = (
                None
                if beside is without
                else read_asked(opened, _named(opened, beside or without or ""), None)
            )
        except Several as several:
            if picture is not None and several.boxes:
                draw_faces(several.path, several.at, several.boxes, picture)
                say(f"the faces are numbered in {picture}", quiet)
            raise
        shown = Progresses(quiet)
        search = open_search(
            opened, similarity, reranker, seed, shown, shortlist, prepare, place, before=shown.before
        )
        say_caution(search.reranker, quiet)
        if other is not None:
            _print_places(_places(search, opened, asked, other, without is not None), json)
            return
        ranking = search.find(asked, depth(search, top, wanted))
        ranking, left_out = narrowed(opened, ranking, wanted, top)
        if picture is not None:
            draw_ranking(opened, search, asked, picture, top)
        known = list(opened.listing(ranking.ids))
        files = opened.files_of_sets(ranking.ids)
    if ranking.total < ranking.sets:
        say(f"a shortlist of {ranking.total} of {ranking.sets} sets was ranked; see --exhaustive", quiet)
    if json:
        told = ranking.to_dict() | ({"left_out": left_out} if wanted else {})
        for answer, one in zip(told["answers"], known, strict=True):
            answer |= _place(one, files[one.id])
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
    # Only films have times, and only photos several files: where there are none, there is no column for them.
    seen = {
        "time": [seen_from_to(one.start, one.end) for one in known],
        "photos": ["" if one.start is not None else listed(_paths(files[one.id])) for one in known],
        "taken": [_taken(files[one.id]) for one in known],
    }
    seen = {name: words for name, words in seen.items() if any(words)}
    columns += [(name, "left") for name in seen]
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
                *(words[place] for words in seen.values()),
            )
            for place, a in enumerate(ranking)
        ),
    )
    print(plain(ranking.reading))
    if wanted:
        print(f"{left_out} answers were left out by date, file or quality; ranks are those of all")


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
    from lookalike import open_gallery, open_search
    from lookalike.cli.output import print_explanation

    with open_engine(engine, address) as place, open_gallery(gallery) as opened:
        asked = read_asked(opened, query, set_id, face, at)
        opened.get(target)  # says so if there is no such set
        shown = Progresses(quiet)
        search = open_search(
            opened, similarity, reranker, seed, shown, False, prepare, place, before=shown.before
        )
        say_caution(search.reranker, quiet)
        explanation = search.explain(asked, target)
        [known] = opened.listing([target])
        files = opened.files_of(target)
    if json:
        told = explanation.to_dict()
        told["answer"] |= _place(known, files)
        print_json(told)
    else:
        print_explanation(explanation)


def _place(known: SetFacts, files: Sequence[MediaFile]) -> dict[str, object]:
    """What the gallery knows of an answer, beside what the ranking says."""
    ordered = sorted(files, key=lambda one: natural_order(one.path))
    return {
        "origin": known.origin,
        "files": [one.path for one in ordered],
        "captured": [one.captured or None for one in ordered],
        "start": known.start,
        "end": known.end,
    }


def _paths(files: Sequence[MediaFile]) -> list[str]:
    return sorted((one.path for one in files), key=natural_order)


def _taken(files: Sequence[MediaFile]) -> str:
    """The days on which a set was taken, as far as files say: the first and the last."""
    days = sorted(one.captured[:10] for one in files if one.captured)
    return "" if not days else days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"


# Two people.


def _named(gallery: Gallery, text: str) -> str:
    """A set of the person who has this name; what is a set or a file stays what it is."""
    from lookalike.errors import is_there
    from lookalike.gallery.decisions import judged

    if text in gallery or not text or is_there(Path(text)):
        return text
    folded = " ".join(text.split()).casefold()
    people = judged(gallery).people.values()
    return next((one.sets[0] for one in people if one.sets and one.name.casefold() == folded), text)


def _places(
    search: Search, gallery: Gallery, asked: str | FaceSet, other: str | FaceSet, without: bool
) -> list[Place]:
    from lookalike.search.scenes import alone, members, together, two_people

    both = two_people(members(search, gallery, asked), members(search, gallery, other))
    return (alone if without else together)(gallery, *both)


def _print_places(places: Sequence[Place], json: bool) -> None:
    if json:
        print_json({"places": [one.to_dict() for one in places]})
        return
    columns = [("file", "left"), ("time", "left"), ("probability", "right"), ("sets", "left")]
    rows = [
        (one.file, seen_from_to(one.start, one.end), percent(one.probability), ", ".join(one.sets))
        for one in places
    ]
    if rows:
        print_table(columns, rows)
    films = sum(one.kind == "video" for one in places)
    print(f"{len(places)} places: {films} in films, {len(places) - films} in photos")
