"""Commands about people: people, judge, name, undo."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from lookalike.cli.output import GalleryPath, Json, Progresses, Quiet, plain, print_json, print_table, say
from lookalike.errors import BadInput, NotFound
from lookalike.ranking import percent

if TYPE_CHECKING:
    from lookalike.gallery.decision_log import Decision
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

    if yes is not None and no is not None:
        raise BadInput("--yes and --no are two answers: give one of them")
    if name is not None and yes is None:
        raise BadInput(
            "--name goes with --yes SET, which says whose name it is: give both, or name a single set by "
            "`lookalike name`"
        )
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


SetId = Annotated[str, typer.Argument(metavar="SET", help="A set id.")]


def judge(
    gallery: GalleryPath,
    one: SetId,
    other: Annotated[str, typer.Argument(metavar="OTHER", help="The id of another set.")],
    verdict: Annotated[str, typer.Argument(metavar="VERDICT", help="same, different or unsure.")],
    json: Json = False,
) -> None:
    """Decide whether two sets show one person; this replaces an earlier decision on the two."""
    from lookalike import open_gallery
    from lookalike.gallery.decisions import judge as say_of

    with open_gallery(gallery) as opened:
        [found] = say_of(opened, one, [other], verdict)
    if json:
        print_json({"decision": _entry(found.decision), "new": found.is_new})
        return
    words = {"same": "show one person", "different": "show different people"}
    said = words.get(verdict, "may or may not show one person")
    print(plain(f"{one} and {other} {said} {_number(found.decision, found.is_new)}"))


def name(
    gallery: GalleryPath,
    set_id: SetId,
    called: Annotated[str, typer.Argument(metavar="NAME", help="The name of the person.")],
    json: Json = False,
) -> None:
    """Name the person that a set shows; a person of that name gets the set too."""
    from lookalike import open_gallery
    from lookalike.gallery.decisions import name as give_name

    with open_gallery(gallery) as opened, opened.deciding() as log:
        person = give_name(log, [set_id], called)
    if json:
        made = [_entry(one) for one in log.new]
        print_json({"person": asdict(person), "decision": made[0] if made else None, "new": bool(made)})
        return
    number = _number(log.new[0], True) if log.new else "(that was said before)"
    print(plain(f"{person.name} is shown by {', '.join(person.sets)} {number}"))


def undo(
    gallery: GalleryPath,
    number: Annotated[
        int | None,
        typer.Option(
            "--decision",
            metavar="N",
            help="The decision to undo, by its number in `history` (default: the last).",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Undo the last decision, or another one; an undo itself cannot be undone."""
    from lookalike import open_gallery
    from lookalike.gallery.decisions import undo as take_back

    with open_gallery(gallery) as opened:
        found = take_back(opened, number)
    if found is None:
        raise NotFound(f"no decision stands in {gallery}: there is nothing to undo")
    if json:
        print_json({"undone": _entry(found)})
        return
    name = f" {found.name}" if found.name else ""
    about = f" of {', '.join(found.sets)}" if found.sets else ""
    print(plain(f"decision {found.number} is undone: {found.kind}{name}{about}"))


def _entry(decision: Decision) -> dict[str, Any]:
    """A decision as JSON, as `history` prints it: what is empty is left out."""
    return {name: value for name, value in asdict(decision).items() if value not in (None, "", (), False)}


def _number(decision: Decision, is_new: bool) -> str:
    again = "" if is_new else ", said before"
    return f"(decision {decision.number}{again})"
