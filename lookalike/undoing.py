"""Undo: take decisions back, as long as no later one builds on them."""

from __future__ import annotations

from collections.abc import Sequence

from lookalike.collection.gallery import Gallery
from lookalike.collection.verdicts import Pair, Verdicts
from lookalike.decision import Decision, draft
from lookalike.errors import Conflict, NotFound


def undo(gallery: Gallery, number: int | None = None) -> Decision | None:
    """Take back a decision, the last one that stands unless a number is given; None if there is none.

    Raises
    ------
    NotFound
        If there is no such decision.
    Conflict
        If it is undone already, or if a later decision builds on it.
    """
    found = undo_all(gallery, None if number is None else [number])
    return found[0] if found else None


def undo_all(gallery: Gallery, numbers: Sequence[int] | None) -> list[Decision]:
    """Take back several decisions, all of them or, if one cannot be, none; see `undo`.

    They are returned the newest first.
    """
    found: list[Decision] = []

    def make(log: list[Decision], apart: list[Pair]) -> list[Decision]:
        found[:] = _to_undo(log, numbers)
        gone = {one.number for one in found}
        verdicts = Verdicts(apart)
        for one in log:
            if not one.undone and one.number not in gone:
                try:
                    verdicts.take(one)
                except Conflict:
                    which = "decision" if len(gone) == 1 else "one of decisions"
                    raise Conflict(
                        f"decision {one.number} builds on {which} {', '.join(map(str, sorted(gone)))}: "
                        f"undo {one.number} first"
                    ) from None
        return [draft("undo", other=one.number) for one in found]

    gallery.decide(make)
    return found


def _to_undo(log: Sequence[Decision], numbers: Sequence[int] | None) -> list[Decision]:
    """The decisions of these numbers, or the last one that stands; the newest first."""
    if numbers is None:
        return [one for one in log if one.kind != "undo" and not one.undone][-1:]
    known = {one.number: one for one in log}
    for number in numbers:
        if number not in known:
            raise NotFound(f"there is no decision {number}: see the history")
        if known[number].undone:
            raise Conflict(f"decision {number} is undone already")
        if known[number].kind == "undo":
            raise Conflict(f"decision {number} took another back, which is final: decide anew")
    return [known[number] for number in sorted(set(numbers), reverse=True)]
