"""Forgetting: what remains of decisions when sets are removed, and of names when nobody has them any more.

A verdict on a removed set goes, a list of sets gets shorter, and a person without sets goes with every name
they were ever given. What is left says of the other sets what it said before; only what followed through a
removed set does not follow any more.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from lookalike.collection.judged import folded
from lookalike.decision import VERDICTS, Decision


def without(log: Sequence[Decision], removed: Collection[str]) -> list[Decision]:
    """The log without some sets; each decision has the number that it had.

    Parameters
    ----------
    log : sequence of Decision
    removed : collection of str
        Ids of sets.
    """
    shorter = [
        replace(one, sets=tuple(set_id for set_id in one.sets if set_id not in removed))
        for one in log
        if one.kind not in VERDICTS or not set(one.sets) & set(removed)
    ]
    gone = _without_sets(shorter)
    found = [left for one in shorter if (left := _left(one, gone)) is not None]
    numbers = {one.number for one in found}
    return [one for one in found if one.kind != "undo" or one.other in numbers]


def _without_sets(log: Sequence[Decision]) -> set[int]:
    """Numbers of the people who have no set, and of those who became them."""
    verdicts = folded(log)
    roots = {number for number in verdicts.people() if not verdicts.sets(number)}
    found = {number for number in verdicts.names if verdicts.person(number) in roots}
    # People of decisions that were undone: their names go when no set is left that they were given to.
    return found | {one.number for one in log if one.undone and one.makes_person and not one.sets}


def _left(one: Decision, gone: set[int]) -> Decision | None:
    """What remains of a decision when these people have gone; None if nothing does."""
    if one.kind == "split":
        # It still says that its sets hang together with no others, whoever they were split off from.
        person = None if one.person in gone else one.person
        called = "" if one.number in gone else one.name
        return replace(one, person=person, name=called) if one.sets or called else None
    if one.kind in ("name", "rename", "merge"):
        is_empty = one.kind == "name" and one.person is not None and not one.sets
        mentions = {one.number if one.makes_person else one.person, one.other}
        return None if is_empty or mentions & gone else one
    return one
