"""Loose: sets that lie in memory only, made ready to be asked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lookalike import preparing
from lookalike.errors import BadInput
from lookalike.faceset import FaceSet, unique_ids
from lookalike.preparations.contract import Preparation
from lookalike.progress import Track
from lookalike.similarities.contract import PreparedSets, SetSimilarity
from lookalike.slicing import Hold
from lookalike.transitivity.proxies import find_neighbours
from lookalike.transitivity.tables import Tables


def index_loose(
    given: Iterable[FaceSet],
    similarity: SetSimilarity,
    count: int,
    track: Track,
    preparation: Preparation | str,
    hold: Hold,
) -> Tables:
    """Prepare sets and compare all pairs, keeping so many neighbours of each.

    Raises
    ------
    BadInput
        If there are no sets, two have one name, or they are described differently.
    """
    sets = _listed(given)
    if not sets:
        raise BadInput("there are no sets to search: give at least one")
    unique_ids(sets)
    lengths = {faceset.dimension for faceset in sets}
    if len(lengths) > 1:
        raise BadInput(
            f"faces of different sets have {sorted(lengths)} numbers: describe all of them the same way"
        )
    ordered = sorted(sets, key=lambda faceset: faceset.id)
    learnt = preparing.prepare_sets(ordered, preparation)
    prepared = PreparedSets.join(
        track(preparing.prepared_sets(ordered, similarity, learnt), "preparing sets", len(ordered))
    )
    held = hold(prepared)
    near = find_neighbours(similarity, held, count, track)
    ids = tuple(faceset.id for faceset in ordered)
    return Tables(ids, lengths.pop(), similarity, held, near, preparation=learnt)


def _listed(given: Any) -> list[FaceSet]:
    """Sets in memory as a list, or a sentence that says what was given instead."""
    sets = list(given) if isinstance(given, Iterable) else [given]
    wrong = [type(one).__name__ for one in sets if not isinstance(one, FaceSet)]
    if wrong:
        raise BadInput(f"a gallery is a Gallery or a list of FaceSet, got {wrong[0]}: make sets of it")
    return sets
