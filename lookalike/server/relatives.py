"""Relatives: who else had a say in an answer, in words."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, NamedTuple

from lookalike.explanation import Explanation, Relative
from lookalike.ranking import percent
from lookalike.server.models import EvidenceView, RelativeView

# What a list of the page is called, and what it says of those in it.
LISTS: Final = {
    "kin": (
        "Others that may show one of the two people",
        "They were asked too, and what they say is averaged with what the two say: the likelier one is the "
        "same person, the more it counts. Who fits better than the two raises the score, who fits less well "
        "lowers it.",
    ),
    "neighbour": (
        "Found near both",
        "Around who is asked for and around the answer there are clips that are near to them, and to each "
        "other. What is found around both ties the two together, though they may not look alike. A clip that "
        "may show one of the two people is told here again, for what it did here.",
    ),
    "stranger": (
        "Somebody else who looks alike",
        "Near one of the two, and probably neither. If both are like a stranger, being alike says little, "
        "and the score is lowered; if only one is, it says more.",
    ),
}


class Listed(NamedTuple):
    """One list of relatives on the page, and what those did that there is no row for."""

    name: str
    title: str
    words: str
    rows: list[RelativeView]
    rest: str


def kin_of(told: Explanation) -> int:
    """How many were asked who may show one of the two people."""
    shown = sum(one.kind == "kin" for one in told.relatives)
    return shown + sum(one.others for one in told.influences if one.kind == "kin")


def did(amount: float) -> str:
    """What somebody did to the score; the amount is rounded."""
    return f"{'raised' if amount >= 0 else 'lowered'} the score by {abs(amount):.3f}"


def effect(
    one: Relative, amount: float, asker: str, same: Collection[str], different: Collection[str]
) -> str:
    """What somebody was taken for and did to the score, in words.

    Parameters
    ----------
    one : Relative
    amount : float
        What it added to the score, rounded so that what is shown adds up.
    asker : str
        What the page calls whoever asked.
    same, different : collection of str
        The sets that the user said show the person who is asked for, and somebody else.
    """
    if one.kind == "neighbour":
        return f"found near both: {did(amount)}"
    of, other = {
        "query": (asker, "the answer"),
        "target": ("the answer", asker),
        "both": ("both", "the other"),
    }[one.of]
    if one.kind == "stranger":
        if one.of == "both":
            fits = "less than one would expect" if amount >= 0 else "so being alike says less"
        else:
            fits = f"less like {other}" if amount >= 0 else f"like {other} too"
        return f"looks like {of}, {fits}: {did(amount)}"
    fits = f"is like {other} too" if amount >= 0 else f"is not so like {other}"
    said = f"{percent(one.chance)} likely the same as {of}"
    if one.of != "target" and one.id in same:
        said = f"you said it is the same person ({percent(one.chance)} likely by its faces alone)"
    elif one.of != "target" and one.id in different:
        said = f"you said it is somebody else ({percent(one.chance)} likely the same by its faces alone)"
    return f"{said}; {fits}: {did(amount)}"


def listed(evidence: EvidenceView) -> list[Listed]:
    """The lists of the page; kinds that nobody stands out of are in the sum alone."""
    rest = {one.kind: one.others_words for one in evidence.terms}
    groups = [
        (kind, [one for one in evidence.relatives if one.kind == kind]) for kind in LISTS if kind in rest
    ]
    return [Listed(kind, *LISTS[kind], rows, rest[kind]) for kind, rows in groups if rows]
