"""What a gallery answers: every re-ranker with its order of all sets, some answers, some evidence."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from lookalike import Gallery, LookalikeError, Ranking, open_search

SIMILARITIES = ("max_max", "max_correlation")
RERANKERS = (
    "adaptive",
    "arithmetic_mean",
    "as_norm",
    "auto",
    "baseline",
    "cprr",
    "csls",
    "diffusion",
    "geometric_mean",
    "k_reciprocal",
    "learnt",
    "quadratic_mean",
    "query_expansion",
    "rl_sim",
)
# The other choices of a user, by the re-ranker that most are asked for.
OTHER_SIMILARITIES = ("dffs", "manifold")
PREPARATIONS = ("whitened", "within")
# Of so many places the sets are named; the others are told by a hash of them all.
NAMED, SHOWN = 6, 3


def choices(reduced: bool = False) -> list[dict[str, Any]]:
    """All combinations that are recorded, as options of `open_search`."""
    made: list[dict[str, Any]] = [
        {"similarity": similarity, "reranker": reranker}
        for similarity in SIMILARITIES
        for reranker in RERANKERS
    ]
    if reduced:
        return made
    made += [{"similarity": one, "reranker": "auto"} for one in OTHER_SIMILARITIES]
    return made + [{"similarity": "max_max", "reranker": "auto", "preparation": one} for one in PREPARATIONS]


def answers(path: Path, asked: list[dict[str, Any]], query: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Rankings and evidence of a gallery, by what was chosen."""
    rankings, evidence = {}, {}
    with Gallery(path) as gallery:
        for choice in asked:
            name = " ".join(choice.values())
            try:
                search = open_search(gallery, **choice)
            except LookalikeError as refusal:
                rankings[name] = {"refused": str(refusal)}
                continue
            found = {one.query: one for one in search.find_many(sorted(gallery.ids()))}
            said = found[query].to_dict()
            said["answers"] = said["answers"][:SHOWN]
            rankings[name] = {"orders": {id: _order(one) for id, one in found.items()}, "ranking": said}
            # Of the answer that rose most: who brought it up is its evidence.
            risen = max(found[query], key=lambda one: (one.baseline_rank - one.rank, -one.rank))
            evidence[name] = search.explain(query, risen.id).to_dict()
    return rankings, evidence


def _order(ranking: Ranking) -> str:
    whole = hashlib.sha256("\n".join(ranking.ids).encode()).hexdigest()[:8]
    return " ".join([*ranking.ids[:NAMED], "...", whole])
