"""Terms: what a score is the sum of, in words."""

from __future__ import annotations

from typing import Final

from lookalike.explanation import Explanation, Line, agreeing
from lookalike.ranking import percent
from lookalike.server.models import TermView
from lookalike.server.relatives import did
from lookalike.server.wording import counted

# Amounts are shown to three places.
LEAST: Final = 0.0005


def terms_of(told: Explanation) -> list[TermView]:
    """What the score is the sum of; nothing if it is no sum."""
    if told.alone is None:
        return []
    lines = told.lines
    found = [_term(told, "alone", told.alone, 0, 0.0, lines)]
    for one in told.influences:
        found.append(_term(told, one.kind, one.moved, one.others, one.others_moved, lines))
    return found


def _term(
    told: Explanation, kind: str, moved: float, others: int, others_moved: float, lines: list[Line]
) -> TermView:
    own = [one for one in lines if one.kind == kind]
    amount = sum(one.rounded for one in own)
    rest = sum(one.rounded for one in own if one.relative is None)
    shown = sum(one.relative is not None for one in own)
    return TermView(
        kind=kind,  # type: ignore[arg-type]  # one of those
        moved=moved,
        others=others,
        others_moved=others_moved,
        amount=f"{amount:+.3f}".replace("-", "\N{MINUS SIGN}"),
        words=_words(told, kind, amount, shown + others),
        others_words=f"{counted(others, 'other')} together {did(rest)}" if others else "",
    )


def _words(told: Explanation, kind: str, amount: float, count: int) -> str:
    """What a term is, for people who know no methods."""
    clips, trust = counted(count, "clip"), told.trust or 0.0
    like = "few others" if amount > 0 else "many others, so being alike says less"
    if abs(amount) < LEAST:
        like = "others no more than any clip does"
    near = agreeing(told).replace("sets", "clips")
    return {
        "alone": f"The two by themselves: how alike clips look counts {percent(1 - trust)} here",
        "everybody": f"The answer looks like {like}",
        "stranger": f"Somebody else who looks alike: {clips}",
        "kin": f"May show one of the two people: {clips}",
        "neighbour": f"Found near both: {near}, which counts {percent(trust)} here",
        "mutual": f"The two are {'' if amount > LEAST else 'not '}found near each other",
    }[kind]
