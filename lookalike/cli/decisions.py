"""Commands that decide: judge, name, undo."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lookalike.cli.output import GalleryPath, Json, plain, print_json
from lookalike.errors import NotFound

if TYPE_CHECKING:
    from lookalike.gallery.decision_log import Decision

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
