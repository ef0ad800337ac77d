"""Amending: which decisions put a set beside a query, so that they can be taken back where it is seen."""

from __future__ import annotations

from lookalike.judging import Judged
from lookalike.server.models import SearchView


def ways_back(found: SearchView, known: Judged) -> dict[str, list[int]]:
    """The decisions that confirm or reject sets for a query.

    Parameters
    ----------
    found : SearchView
    known : Judged
        What all decisions say.

    Returns
    -------
    dict of str to list of int
        Key of a set, and the numbers of the decisions that stand between it and the person of the query.
        Without those that a name holds there, or that were seen side by side with the person.
    """
    own = {found.query.id, *(one.id for one in found.confirmed)}
    ways: dict[str, list[int]] = {}
    for one in found.confirmed:
        pairs = ((min(one.id, other), max(one.id, other)) for other in own - {one.id})
        said = [known.verdicts.direct[pair] for pair in pairs if pair in known.verdicts.direct]
        ways[one.key] = sorted(each.number for each in said if each.kind == "same")
    for one in found.rejected:
        theirs = (one.id, *known.confirmed(one.id))
        against = [known.verdicts.different(each) for each in theirs]
        ways[one.key] = sorted({number for each in against for other, number in each.items() if other in own})
    return {key: numbers for key, numbers in ways.items() if numbers}
