"""The command that tells who is in a gallery: named people, and those who are proposed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from lookalike.cli.output import GalleryPath, Json, Progresses, Quiet, print_json, print_table, say
from lookalike.errors import BadInput
from lookalike.ranking import percent

if TYPE_CHECKING:
    from lookalike.gallery.gallery import Gallery
    from lookalike.indexing.people import Census, Identity


COLUMNS: Final = [
    ("who", "left"),
    ("sets", "right"),
    ("also likely", "right"),
    ("unsure", "right"),
    ("one person", "right"),
    ("first set", "left"),
]


def people(
    gallery: GalleryPath,
    yes: Annotated[
        str | None,
        typer.Option(metavar="SET", help="Confirm: all sets proposed with this one show one person."),
    ] = None,
    no: Annotated[
        str | None, typer.Option(metavar="SET", help="Reject: do not propose these sets as one person again.")
    ] = None,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="With --yes: the name of the person.")
    ] = None,
    pairs: Annotated[
        bool, typer.Option("--pairs", help="List pairs of people to compare, the most useful first.")
    ] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """List the people in a gallery, largest first: named, confirmed and proposed."""
    from lookalike import open_gallery
    from lookalike.indexing.people import census

    if (yes is not None and no is not None) or (name is not None and yes is None):
        raise BadInput("--yes and --no are two answers, and --name goes with --yes: give one answer")
    with open_gallery(gallery) as opened:
        shown = Progresses(quiet)
        found = census(opened, shown, shown.before)
        if yes is not None or no is not None:
            say(_decide(opened, found, yes, no, name), quiet)
            found = census(opened, shown)
    if json:
        print_json(as_json(found))
    elif pairs:
        rows = ([one, other, percent(chance)] for one, other, chance in found.questions)
        print_table([("one", "left"), ("other", "left"), ("the same", "right")], rows)
    else:
        print_table(COLUMNS, map(_row, found.people))


def as_json(found: Census) -> dict[str, Any]:
    """Everybody, and the pairs that are worth a question, as plain values."""
    told = [one.to_dict() for one in found.people]
    pairs = [{**one._asdict(), "probability": round(one.probability, 4)} for one in found.questions]
    return {"people": told, "pairs": pairs}


def _row(one: Identity) -> list[str]:
    who = one.name if one.name is not None else "proposed" if one.proposed else "no name"
    counts = [str(len(some)) if some else "" for some in (one.sets, one.likely, one.unsure)]
    sure = percent(one.probability) if one.proposed or one.likely else ""
    return [who, *counts, sure, one.handle]


def _decide(gallery: Gallery, found: Census, yes: str | None, no: str | None, name: str | None) -> str:
    """Answer a proposal with one decision; say what was decided."""
    from lookalike.gallery import decisions

    one = found.of(yes or no or "")
    sets = [*one.sets, *one.likely]
    if not (one.proposed or one.likely or name):
        raise BadInput(f"nothing is proposed of {one.handle!r}: see the list of people")
    if no is not None:
        decisions.part(gallery, one.likely, one.sets) if one.likely else decisions.reject(gallery, sets)
        return f"{len(sets)} sets are not proposed as one person again"
    if name is not None or one.number is not None:
        decisions.name(gallery, sets, name or "", one.number if name is None else None)
    else:
        decisions.accept(gallery, sets)
    return f"{len(sets)} sets are one person now"
