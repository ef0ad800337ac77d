"""Explain: what each proxy, each kin and each stranger did to one answer, and through which faces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels.order import places
from lookalike.ranking import Relative, Witness
from lookalike.rerankers.contract import Beliefs, Reranker
from lookalike.similarities.contract import Prepared
from lookalike.transitivity.evidence import Group
from lookalike.transitivity.tables import Row, Tables

# Strangers of each side that are shown: those that moved the score most.
SHOWN = 5


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
    """Kin and strangers of query and target, and the target's place before kin were pooled.

    Returns
    -------
    fields : dict
        Those of `Explanation`; empty if the second stage takes nobody as such.
    """
    found = reranker.evidence(row, tables, target)
    if found is None:
        return {}
    before = without(row.member, found.before_kin)
    groups = [
        ("kin", "query", found.kin_of_query),
        ("kin", "target", found.kin_of_target),
        ("stranger", "query", _most(found.strangers_of_query)),
        ("stranger", "target", _most(found.strangers_of_target)),
    ]
    return {
        "rank_before_kin": 1 + int(places(before, row.scores, np.array([target]))[0]),
        "relatives": tuple(
            _relative(tables, prepared, row, target, kind, of, group, place)
            for kind, of, group in groups
            for place in range(len(group.sets))
        ),
    }


def _relative(
    tables: Tables, prepared: Prepared, row: Row, target: int, kind: str, of: str, group: Group, place: int
) -> Relative:
    number, show = int(group.sets[place]), tables.similarity.exemplar
    its_set = tables.sets[number]
    with_target = tables.similarity.match(its_set, tables.sets[target])
    return Relative(
        id=tables.ids[number],
        kind=kind,
        of=of,
        chance=float(group.chances[place]) if len(group.chances) else None,
        moved=float(group.moved[place]),
        query_face=show(prepared, row.query_modes[number]),
        face_to_query=show(its_set, row.set_modes[number]),
        face_to_target=show(its_set, with_target.mode_a),
        target_face=show(tables.sets[target], with_target.mode_b),
    )


def _most(group: Group) -> Group:
    """Those who moved the score most."""
    order = np.argsort(-np.abs(group.moved), kind="stable")[:SHOWN]
    return Group(group.sets[order], group.chances, group.moved[order])


def without(member: int | None, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores with the query behind everybody: it is not ranked."""
    if member is None or member >= len(scores):
        return scores
    others = scores.copy()
    others[member] = -np.inf
    return others
