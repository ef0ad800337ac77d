"""Commands that ask a gallery: find, explain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lookalike.cli.output import (
    Address,
    At,
    Engine,
    Face,
    GalleryPath,
    Json,
    OneReranker,
    Plain,
    Prepare,
    Progresses,
    Queries,
    Query,
    QuerySet,
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
from lookalike.errors import BadInput, NotFound, is_there
from lookalike.faceset import natural_order, seconds
from lookalike.ranking import percent

if TYPE_CHECKING:
    from lookalike import FaceSet, Gallery
    from lookalike.gallery.media import MediaFile
    from lookalike.gallery.set_rows import SetFacts
    from lookalike.ranking import Ranking
    from lookalike.search.filters import Filter, Place
    from lookalike.search.photo_query import Together
    from lookalike.search.query import Search


def read_asked(
    gallery: Gallery, text: str, set_id: str | None, face: int | None = None, at: str | None = None
) -> str | FaceSet:
    """Tell a set id from a path; an id comes first."""
    time = None if at is None else seconds(at)
    if (set_id, face, time) == (None, None, None) and text in gallery:
        return text
    if _is_file(text):
        # Here, since what reads films takes longer to load than a set of the gallery takes to be found.
        from lookalike.search.question import read_query

        return read_query(gallery, Path(text), set_id, face, time)
    try:
        gallery.get(text)
    except NotFound as reason:
        raise NotFound(f"{reason} (nor is {text!r} a file or folder)") from reason
    raise BadInput(f"{text!r} is a set of the gallery, not a file: leave --set, --face and --at out")


def _is_file(text: str) -> bool:
    """Whether it is the path of something; an empty one would be that of the folder we are in."""
    return bool(text) and is_there(Path(text))


# So many confirmed sets are listed before the answers; whoever has named hundreds looks for others.
CONFIRMED = 10


@dataclass(frozen=True)
class Question:
    """What is asked with: faces or a set, other sets of the same person, and what photos were taken for."""

    asked: str | FaceSet
    confirmed: Sequence[str] = ()
    together: Together | None = None


def read_question(
    gallery: Gallery,
    texts: Sequence[str],
    person: str | None = None,
    set_id: str | None = None,
    face: int | None = None,
    at: str | None = None,
) -> Question:
    """Make one question of set ids, photos and videos that are given together, and of a person's sets."""
    if not texts and person is None:
        raise typer.BadParameter("there is no query: give a set id, a photo or a video as QUERY, or --person")
    is_choice = (set_id, face) != (None, None)
    if is_choice and (len(texts) != 1 or person is not None):
        raise BadInput(
            f"--set and --face choose in one QUERY, and {len(texts)} are given: search with one alone"
        )
    if person is None and len(texts) == 1:
        [text] = texts
        if not (is_choice or text in gallery or _is_file(text)):
            from lookalike.gallery.decisions import person_called

            with suppress(NotFound, BadInput):  # then it is no set either, which is said below
                return read_question(gallery, [], person_called(gallery, text).name)
        if is_choice or text in gallery or not (_is_file(text) and Path(text).is_dir()):
            return Question(read_asked(gallery, text, set_id, face, at))
    ids = [text for text in texts if text in gallery]
    paths = [Path(text) for text in texts if text not in gallery]
    for text in texts:
        if not (text in gallery or _is_file(text)):
            read_asked(gallery, text, None)  # says so
    if person is not None:
        from lookalike.gallery.decisions import person_called

        sets = gallery.listing(person_called(gallery, person).sets)
        # The set that asks is the one that shows most of the person; the others ask too.
        ids += [one.id for one in sorted(sets, key=lambda one: (-one.faces, one.id))]
    if not paths:
        if at is not None:
            raise BadInput("--at chooses in a video, and none is given: leave it out")
        return Question(ids[0], ids[1:])
    # Here, since what reads films takes longer to load than a set of the gallery takes to be found.
    from lookalike.search.photo_query import read_together

    together = read_together(gallery, paths, None if at is None else seconds(at))
    return Question(together.asked, ids, together)


def find(
    gallery: GalleryPath,
    queries: Queries = None,
    person: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Search with every set that is confirmed to show this person."),
    ] = None,
    each: Annotated[
        bool, typer.Option("--each", help="Search with each QUERY separately: they are different people.")
    ] = False,
    top: Annotated[int, typer.Option(metavar="N", help="Number of answers.")] = 10,
    reranker: OneReranker = "auto",
    similarity: Similarity = "max_max",
    prepare: Prepare = "auto",
    set_id: QuerySet = None,
    face: Face = None,
    at: At = None,
    leave_out: Plain = False,
    picture: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Also draw the answers, or the faces to choose from, to this PNG file."
        ),
    ] = None,
    export: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write the answers to this file.")
    ] = None,
    format: Annotated[
        str | None, typer.Option(metavar="NAME", help="Format of --export (default: by its suffix).")
    ] = None,
    shortlist: Annotated[
        bool | None,
        typer.Option(
            "--shortlist/--exhaustive",
            help="Rank a shortlist or all sets (default: a shortlist from 20,000 sets on, if possible).",
            show_default=False,
        ),
    ] = None,
    since: Annotated[
        str,
        typer.Option(
            "--from", metavar="DATE", help="Only what was taken on this date or later: 2019, 2019-07-14."
        ),
    ] = "",
    until: Annotated[
        str, typer.Option("--to", metavar="DATE", help="Only what was taken on this date or before.")
    ] = "",
    file: Annotated[
        str, typer.Option(metavar="NAME", help="Only videos and photos with this in their path.")
    ] = "",
    quality: Annotated[
        str, typer.Option(metavar="any|good", help="good: only sets with at least half of their faces clear.")
    ] = "any",
    beside: Annotated[
        str | None,
        typer.Option(
            "--with", metavar="PERSON", help="List where both people are seen; a set id, a photo or a name."
        ),
    ] = None,
    without: Annotated[
        str | None,
        typer.Option("--without", metavar="PERSON", help="List where the query is seen without this person."),
    ] = None,
    seed: Seed = 0,
    engine: Engine = None,
    address: Address = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Rank all sets by how likely they show the person of the query."""
    from lookalike import open_gallery, open_search
    from lookalike.search.query import Several, check_top

    check_top(top)
    texts = queries or []
    if each and (person is not None or picture is not None or export is not None):
        raise BadInput("--each asks several questions: leave --person, --picture and --export out")
    wanted = _filter(since, until, file, quality)
    if beside is not None and without is not None:
        raise BadInput("--with and --without ask two questions: give one of them")
    other = without if beside is None else beside
    if other is not None and (wanted or each or picture is not None or export is not None):
        raise BadInput(
            "--with and --without list places: leave --from, --to, --file, --quality, --each, --picture and "
            "--export out"
        )
    _check_export(export, format)
    if picture is not None:
        from lookalike.search.picture import check_new, draw_faces, draw_ranking

        check_new(picture)
        if not picture.absolute().parent.exists():  # a slip of the pen, more likely than a wish
            raise NotFound(f"the folder of {picture} does not exist: make it first, or choose another place")
    with open_engine(engine, address) as place, open_gallery(gallery) as opened:
        try:
            parts = [[text] for text in texts] if each else [texts]
            asked = [read_question(opened, part, person, set_id, face, at) for part in parts]
            others = [] if other is None else [read_question(opened, [other])]
        except Several as several:
            if picture is not None and several.boxes:
                draw_faces(several.path, several.at, several.boxes, picture)
                say(f"the faces are numbered in {picture}", quiet)
            raise
        for name, reason in [out for one in asked + others if one.together for out in one.together.left_out]:
            say(f"left out: {name}: {reason}", quiet)
        shown = Progresses(quiet)
        search = open_search(
            opened, similarity, reranker, seed, shown, shortlist, prepare, place, before=shown.before
        )
        say_caution(search.reranker, quiet)
        if others:
            _print_scenes(_scenes(search, opened, asked + others, without is not None, not leave_out), json)
            return
        deep: int | None = top
        if wanted is not None:
            from lookalike.search.filters import depth, narrowed

            deep = depth(search, top, wanted)
        found = [search.find(one.asked, deep, one.confirmed, decisions=not leave_out) for one in asked]
        left_out = [0] * len(found)
        if wanted is not None:
            narrow = [narrowed(opened, one, wanted, top) for one in found]
            found, left_out = [one for one, _ in narrow], [count for _, count in narrow]
        if picture is not None:
            draw_ranking(opened, search, asked[0].asked, picture, top, ranking=found[0])
        _export_answers(opened, found[0], export, format, quiet)
        places = [_known(opened, ranking) for ranking in found]
    for ranking in found:
        if ranking.total < ranking.sets and search.shortlist is not None:
            compared = f"compared with {search.shortlist.sizes.guessed} of {ranking.sets} sets"
            say(f"{compared}, of which {ranking.total} were ranked; --exhaustive compares all", quiet)
    if json:
        told = [_told(*one) for one in zip(asked, found, places, strict=True)]
        if wanted:
            told = [one | {"filtered_out": count} for one, count in zip(told, left_out, strict=True)]
        print_json({"rankings": told} if each else told[0])
        return
    for ranking, seen, count in zip(found, places, left_out, strict=True):
        if each:
            print(plain(f"{ranking.query}:"))
        _print_ranking(ranking, seen)
        if wanted:
            sets = "1 answer is" if count == 1 else f"{count} answers are"
            print(f"{sets} left out by date, file or quality; ranks are those of all.")


def _filter(since: str, until: str, file: str, quality: str) -> Filter | None:
    """Which answers are wanted; None if all are."""
    if not (since or until or file) and quality == "any":
        return None
    from lookalike.search.filters import Filter

    return Filter(since, until, file, quality)


def _export_answers(
    gallery: Gallery, ranking: Ranking, path: Path | None, format: str | None, quiet: bool
) -> None:
    """Write the answers of a query, if a file was named for them."""
    if path is not None:
        from lookalike.gallery.export import export_as, format_of

        for remark in export_as(gallery, path, format_of(path, format, None), ranking=ranking).remarks:
            say(plain(remark), quiet)
        say(f"the answers are in {path}", quiet)


def _check_export(path: Path | None, format: str | None) -> None:
    """Refuse a file for the answers that could not be written, before anything is computed."""
    if path is None:
        if format is not None:
            raise BadInput("--format is about --export: give a file too")
        return
    from lookalike.gallery.export import OWN, format_of

    if format_of(path, format, None) == OWN:
        raise BadInput("answers are not written as npz: choose csv, json or another --format")
    if path.exists():
        raise BadInput(f"{path} is there already: choose another name, or remove it")
    if not path.absolute().parent.exists():
        raise NotFound(f"the folder of {path} does not exist: make it first, or choose another place")


def _known(gallery: Gallery, ranking: Ranking) -> dict[str, dict[str, Any]]:
    """What a gallery knows of the answers and of what is confirmed, beside what the ranking says."""
    ids = [*ranking.ids, *(one.id for one in ranking.confirmed)]
    files = gallery.files_of_sets(ids)
    return {one.id: _place(one, files[one.id]) for one in gallery.listing(ids)}


def _told(asked: Question, ranking: Ranking, places: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """A ranking for programs."""
    told = ranking.to_dict()
    for one in (*told["answers"], *told["confirmed"]):
        one |= places[one["id"]]
    return told | ({} if asked.together is None else asked.together.to_dict())


def _print_ranking(ranking: Ranking, places: Mapping[str, dict[str, Any]]) -> None:
    """A ranking for people: what is confirmed, then the answers."""
    columns = [
        ("rank", "right"),
        ("set", "left"),
        ("probability", "right"),
        ("score", "right"),
        ("baseline", "right"),
        ("through", "left"),
    ]
    rows: list[tuple[object, ...]] = [
        ("", one.id, "confirmed", "", "", one.reason) for one in ranking.confirmed[:CONFIRMED]
    ]
    rows += [
        (a.rank, a.id, a.sure, f"{a.score:.3f}", f"{a.baseline:.3f} (rank {a.baseline_rank})", a.way)
        for a in ranking
    ]
    # Only films have times, and only photos several files: where there are none, there is no column for them.
    known = [places[str(row[1])] for row in rows]
    seen = {
        "time": [seen_from_to(one["start"], one["end"]) for one in known],
        "photos": ["" if one["start"] is not None else listed(one["files"]) for one in known],
        "taken": [_taken(one["captured"]) for one in known],
    }
    seen = {name: words for name, words in seen.items() if any(words)}
    columns += [(name, "left") for name in seen]
    print_table(columns, ((*row, *more) for row, *more in zip(rows, *seen.values(), strict=True)))
    print(plain(ranking.reading))
    if more := len(ranking.confirmed[CONFIRMED:]):
        print(f"{'1 more set is' if more == 1 else f'{more} more sets are'} confirmed.")
    if ranking.rejected:
        count = len(ranking.rejected)
        sets = "1 set is" if count == 1 else f"{count} sets are"
        print(f"{sets} left out, known to show somebody else; --plain ranks them too.")


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
    leave_out: Plain = False,
    seed: Seed = 0,
    engine: Engine = None,
    address: Address = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Explain an answer: which faces are alike, and which other sets spoke for or against it."""
    from lookalike import open_gallery, open_search
    from lookalike.cli.output import print_explanation

    with open_engine(engine, address) as place, open_gallery(gallery) as opened:
        asked = read_question(opened, [query], None, set_id, face, at)
        opened.get(target)  # says so if there is no such set
        shown = Progresses(quiet)
        search = open_search(
            opened, similarity, reranker, seed, shown, False, prepare, place, before=shown.before
        )
        say_caution(search.reranker, quiet)
        explanation = search.explain(asked.asked, target, decisions=not leave_out)
        [known] = opened.listing([target])
        files = opened.files_of(target)
    if json:
        told = explanation.to_dict()
        told["answer"] |= _place(known, files)
        print_json(told)
    else:
        print_explanation(explanation)


def _place(known: SetFacts, files: Sequence[MediaFile]) -> dict[str, Any]:
    """What the gallery knows of an answer, beside what the ranking says."""
    ordered = sorted(files, key=lambda one: natural_order(one.path))
    return {
        "origin": known.origin,
        "files": [one.path for one in ordered],
        "captured": [one.captured or None for one in ordered],
        "start": known.start,
        "end": known.end,
    }


def _taken(captured: Sequence[str | None]) -> str:
    """The days on which a set was taken, as far as files say: the first and the last."""
    days = sorted(one[:10] for one in captured if one)
    return "" if not days else days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"


# Two people.


def _scenes(
    search: Search, gallery: Gallery, asked: Sequence[Question], without: bool, decisions: bool
) -> list[Place]:
    from lookalike.search.filters import alone, members, together, two_people

    meant = two_people(*(members(search, one.asked, one.confirmed, decisions) for one in asked))
    return (alone if without else together)(gallery, *meant)


def _print_scenes(places: Sequence[Place], json: bool) -> None:
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
    told = "1 place" if len(places) == 1 else f"{len(places)} places"
    print(f"{told}: {films} in videos, {len(places) - films} in photos")
