"""Relatives: who else had a say in an answer, each once, and in words."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

from lookalike.ranking import Relative, percent
from lookalike.server.models import EvidenceView, RelativeView

# Kin who are less likely than this weigh next to nothing, and are not spoken of.
LEAST: Final = 0.05
# Rows that each list shows.
MOST: Final = 6


class Listed(NamedTuple):
    """One list of relatives on the page; `more` are those that there is no row for."""

    name: str
    title: str
    words: str
    rows: list[RelativeView]
    more: int


def kin_of(relatives: Sequence[Relative]) -> set[str]:
    """The ids of those who may show one of the two, each once though it may be kin of both."""
    return {one.id for one in relatives if one.chance is not None and one.chance >= LEAST}


def effect(one: Relative, asker: str, same: Collection[str], different: Collection[str]) -> str:
    """What somebody was taken for and did to the score, in words.

    Parameters
    ----------
    one : Relative
    asker : str
        What the page calls whoever asked.
    same, different : collection of str
        The sets that the user said show the person who is asked for, and somebody else.
    """
    of, other = (asker, "the answer") if one.of == "query" else ("the answer", asker)
    did = f"{'raised' if one.moved >= 0 else 'lowered'} the score by {abs(one.moved):.3f}"
    if one.chance is None:
        fits = f"less like {other}" if one.moved >= 0 else f"like {other} too"
        return f"looks like {of}, {fits}: {did}"
    fits = "fits" if one.moved >= 0 else "fits less well"
    said = f"{percent(one.chance)} likely the same as {of}"
    if one.of == "query" and one.id in same:
        said = f"you said it is the same person ({percent(one.chance)} likely by its faces alone)"
    elif one.of == "query" and one.id in different:
        said = f"you said it is somebody else ({percent(one.chance)} likely the same by its faces alone)"
    return f"{said}; {fits} with {other}: {did}"


def listed(evidence: EvidenceView) -> list[Listed]:
    """The lists of the page: kin, the likeliest first, then those strangers who are not among them."""
    kin = [one for one in evidence.relatives if one.kind == "kin" and (one.chance or 0.0) >= LEAST]
    kin = _once(sorted(kin, key=lambda one: -(one.chance or 0.0)), ())
    strangers = [one for one in evidence.relatives if one.kind == "stranger"]
    strangers = _once(sorted(strangers, key=lambda one: -abs(one.moved)), [one.set.key for one in kin])
    groups = (
        (
            "kin",
            "Others that may show one of the two",
            "They were asked too, and the score is a mean: the likelier one is the same person, the more it "
            "counts. Who fits better than the rest raises it, who fits less well lowers it.",
            kin,
        ),
        (
            "stranger",
            "Strangers who look alike",
            "Near one of the two, and probably neither. If both are like a stranger, being alike says "
            "little, and the score is lowered; if only one is, it says more. Nobody stands in both lists.",
            strangers,
        ),
    )
    return [
        Listed(name, title, words, some[:MOST], len(some[MOST:]))
        for name, title, words, some in groups
        if some
    ]


def _once(relatives: Sequence[RelativeView], seen: Collection[str]) -> list[RelativeView]:
    """Each set once, by its first row."""
    first: dict[str, RelativeView] = {}
    for one in relatives:
        first.setdefault(one.set.key, one)
    return [one for key, one in first.items() if key not in seen]
