"""Explain: what each proxy, stranger, kin and neighbour did to one answer, and through which faces."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.explanation import Influence, Relative, Witness
from lookalike.kernels.order import places
from lookalike.rerankers.contract import Beliefs, Reranker
from lookalike.similarities.contract import Prepared
from lookalike.transitivity.evidence import Evidence, Group, Sides
from lookalike.transitivity.kin import SURE
from lookalike.transitivity.tables import Row, Tables

# So many of each kind are shown: more than anybody reads.
SHOWN = 6
# Kin who are less likely than this are told together: few of them show one of the two.
LEAST = 0.05
# Scores are shown to three places.
SEEN = 0.001


class Mover(NamedTuple):
    """A set that moved a score, whatever sides it is on."""

    number: int
    of: str
    chance: float | None
    moved: float


def witnesses(
    tables: Tables, reranker: Reranker, prepared: Prepared, row: Row, target: int, said: Beliefs
) -> Iterator[Witness]:
    """What every proxy of the target says, the most convinced first; ``prepared`` is the query."""
    show = tables.similarity.exemplar
    for place in np.argsort(-said.beliefs[target], kind="stable"):
        proxy, slot = int(said.proxies[target, place]), int(said.slots[target, place])
        silenced = said.beliefs.copy()
        silenced[target, place] = -np.inf
        others = without(row.member, reranker.decide(row, said.proxies, silenced).scores)
        regressions = said.regressions
        yield Witness(
            proxy=tables.ids[proxy],
            numbers=tuple(float(s) for s in said.features[target, place]),  # type: ignore[arg-type]
            regression=None if regressions is None else float(regressions[target, place]),
            belief=float(said.beliefs[target, place]),
            query_face=show(prepared, row.query_modes[proxy]),
            proxy_face_to_query=show(tables.sets[proxy], row.set_modes[proxy]),
            proxy_face_to_target=show(tables.sets[proxy], tables.neighbours.their_modes[target, slot]),
            target_face_to_proxy=show(tables.sets[target], tables.neighbours.own_modes[target, slot]),
            rank_without=1 + int(places(others, row.scores, np.array([target]))[0]),
        )


def relations(
    tables: Tables, reranker: Reranker, prepared: Prepared, row: Row, target: int
) -> dict[str, Any]:
    """What a score is the sum of, who had a say in it, and the target's place on the way there.

    Returns
    -------
    fields : dict
        Those of `Explanation`; empty if the second stage does not tell.
    """
    found = reranker.evidence(row, tables, target)
    if found is None:
        return {}
    influences, relatives = [], []
    for kind, moved, count, movers in _kinds(found):
        shown = sum(one.moved for one in movers)
        influences.append(Influence(kind, moved, count - len(movers), moved - shown))
        relatives += [_relative(tables, prepared, row, target, kind, one) for one in movers]
    return {
        "alone": found.alone,
        "influences": tuple(influences),
        "relatives": tuple(relatives),
        "trust": found.trust,
        "rank_before_kin": _place(row, found.before_kin, target),
        "rank_before_lists": _place(row, found.before_lists, target),
    }


def _kinds(found: Evidence) -> Iterator[tuple[str, float, int, list[Mover]]]:
    """Each kind that was asked: what all moved, how many they are, and those that are shown."""
    yield "everybody", found.everybody, 0, []
    kin = _together(found.kin)
    likely = [one for one in kin if one.chance is not None and one.chance >= LEAST]
    if found.strangers is not None:
        strangers = _together(found.strangers)
        # Nobody is shown as probably the same person and as probably somebody else.
        taken = {one.number for one in likely}
        yield "stranger", _sum(strangers), len(strangers), _most(strangers, taken)
    yield "kin", _sum(kin), len(kin), _most(likely)
    near = found.neighbours
    pairs = zip(near.sets, near.moved, strict=True)
    shared = [Mover(int(number), "both", None, float(moved)) for number, moved in pairs]
    yield "neighbour", _sum(shared), len(shared), _most(shared)
    yield "mutual", found.mutual, 0, []


def _together(sides: Sides) -> list[Mover]:
    """Each set once, though it may be on both sides."""
    ours, theirs = (_by_number(group) for group in sides)
    return [_merged(number, ours.get(number), theirs.get(number)) for number in (ours | theirs)]


def _by_number(group: Group) -> dict[int, tuple[float | None, float]]:
    chances = group.chances if len(group.chances) else [None] * len(group.sets)
    return {
        int(number): (None if chance is None else float(chance), float(moved))
        for number, chance, moved in zip(group.sets, chances, group.moved, strict=True)
    }


def _merged(
    number: int, ours: tuple[float | None, float] | None, theirs: tuple[float | None, float] | None
) -> Mover:
    """One of both sides; kin of both only if it is rather so than not, else of the likelier side."""
    if ours is None or theirs is None:
        [(chance, moved)] = [side for side in (ours, theirs) if side is not None]
        return Mover(number, "query" if theirs is None else "target", chance, moved)
    (one, by_one), (other, by_other) = ours, theirs
    moved = by_one + by_other
    if one is None or other is None or min(one, other) > SURE:
        return Mover(number, "both", None if one is None or other is None else min(one, other), moved)
    return Mover(number, "query" if one >= other else "target", max(one, other), moved)


def _most(movers: list[Mover], taken: Collection[int] = ()) -> list[Mover]:
    """Those who moved the score most, if it can be seen."""
    others = [one for one in movers if one.number not in taken and abs(one.moved) >= SEEN]
    return sorted(others, key=lambda one: -abs(one.moved))[:SHOWN]


def _sum(movers: list[Mover]) -> float:
    return sum(one.moved for one in movers)


def _place(row: Row, values: NDArray[np.float64], target: int) -> int:
    return 1 + int(places(without(row.member, values), row.scores, np.array([target]))[0])


def _relative(tables: Tables, prepared: Prepared, row: Row, target: int, kind: str, mover: Mover) -> Relative:
    number, show = mover.number, tables.similarity.exemplar
    its_set = tables.sets[number]
    with_target = tables.similarity.match(its_set, tables.sets[target])
    return Relative(
        id=tables.ids[number],
        kind=kind,
        of=mover.of,
        chance=mover.chance,
        moved=mover.moved,
        query_face=show(prepared, row.query_modes[number]),
        face_to_query=show(its_set, row.set_modes[number]),
        face_to_target=show(its_set, with_target.mode_a),
        target_face=show(tables.sets[target], with_target.mode_b),
    )


def without(member: int | None, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores with the query behind everybody: it is not ranked."""
    if member is None or member >= len(scores):
        return scores
    others = scores.copy()
    others[member] = -np.inf
    return others
