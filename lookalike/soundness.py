"""Soundness: whether a table that is about to be used can be what it says, though its checksums fit.

A program that went wrong, or somebody who writes checksums too, may have left numbers of sets that do not
exist, faces that are no numbers, or neighbours of somebody else. A search would stumble over the first and
rank by the last. What is found here is made again; whether the faces are the gallery's is for `verify`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lookalike.collection.tables import StoredTables
from lookalike.errors import BadInput
from lookalike.packing import faults, from_arrays, not_finite, starts_fit
from lookalike.preparations.contract import Preparation
from lookalike.similarities.contract import SetSimilarity
from lookalike.transitivity.held import Held
from lookalike.transitivity.tables import Tables, sizes_of

# So many sets are compared with their neighbours again.
SAMPLE: Final = 16
# Another processor sums in another order; somebody else is further away than that.
ROUNDING: Final = 1e-4
# Enough faces for any part to prepare, of which only the form is looked at.
FACES: Final = 4


def index_faults(
    stored: StoredTables,
    similarity: SetSimilarity,
    preparation: Preparation,
    contents: Mapping[str, str],
    dimension: int | None,
) -> Iterator[str]:
    """All that an index says which cannot be, in words.

    Parameters
    ----------
    stored : StoredTables
    similarity, preparation
        What it was made by.
    contents : mapping of str to str
        The sets of the gallery and their content, in order.
    dimension : int or None
        How many numbers describe a face of the gallery.
    """
    wrong = list(array_faults(stored))
    if wrong:
        yield from wrong
        return
    tables = from_arrays(stored.arrays, similarity, preparation)
    if list(tables.ids) != list(contents):
        yield "its sets are not those of the gallery"
    elif stored.arrays["hashes"].tobytes() != bytes.fromhex("".join(contents.values())):
        yield "the content of its sets is not that of the gallery"
    if tables.dimension != dimension:
        yield f"its faces have {tables.dimension} numbers, those of the gallery {dimension}"
        return
    yield from contradictions(tables)


def array_faults(stored: StoredTables) -> Iterator[str]:
    """What no index can say, of whatever gallery."""
    yield from faults(stored.arrays)
    yield from (f"array {name!r} holds a number that is not finite" for name in not_finite(stored.arrays))


def learnt_faults(arrays: Mapping[str, NDArray[Any]], count: int) -> Iterator[str]:
    """What nothing can say that was learnt from an index of so many sets.

    Its arrays are named by who learns them; those called ``sets`` or ``lists`` hold numbers of sets, those
    called ``starts`` where the parts of ``sets`` begin.
    """
    yield from (f"array {name!r} holds a number that is not finite" for name in not_finite(arrays))
    for name, array in arrays.items():
        before, _, called = name.rpartition("/")
        if called in ("sets", "lists") and (array.dtype.kind not in "iu" or _outside(array, count)):
            yield f"array {name!r} holds a set that does not exist"
        if called == "starts" and not starts_fit(array, len(arrays.get(f"{before}/sets", ()))):
            yield f"array {name!r} does not tell where things begin"


def _outside(numbers: NDArray[Any], count: int) -> bool:
    return bool(((numbers < 0) | (numbers >= count)).any())


def contradictions(tables: Tables) -> Iterator[str]:
    """How the parts of an index contradict each other; its arrays have no `faults`."""
    wrong = [*_of_another_form(tables), *_modes_of_nobody(tables)]
    yield from wrong
    if wrong or not tables.neighbours.sets.size:
        return
    chosen = np.unique(np.linspace(0, len(tables) - 1, min(SAMPLE, len(tables))).astype(np.int64))
    for number in chosen.tolist():
        others = tables.neighbours.sets[number]
        again = tables.similarity.match_many(tables.sets[number : number + 1], tables.sets[others]).scores[0]
        if not np.allclose(again, tables.neighbours.scores[number], rtol=ROUNDING, atol=ROUNDING):
            yield f"set number {number} is not as similar to its neighbours as is written"
            return


def _of_another_form(tables: Tables) -> Iterator[str]:
    """Prepared sets have the arrays that the similarity makes, of their type and width."""
    if isinstance(tables.sets, Held):  # looked at where they lie
        return
    drawn = np.random.default_rng(0).normal(size=(FACES, tables.dimension))
    try:
        like = tables.similarity.prepare(tables.preparation.apply(drawn))
    except BadInput:  # a part may refuse faces that nobody has
        return
    form = {name: (array.dtype, array.shape[1:]) for name, array in like.items()}
    if form != {name: (array.dtype, array.shape[1:]) for name, array in tables.sets.arrays.items()}:
        yield "its sets are not prepared as this similarity prepares them"


def _modes_of_nobody(tables: Tables) -> Iterator[str]:
    """Modes have the shape and type that they have in this similarity; if they are faces, these exist."""
    similarity, near = tables.similarity, tables.neighbours
    kept, sizes = near.own_modes.shape[1], sizes_of(similarity, tables.sets)
    for modes, of in (
        (near.own_modes, np.arange(len(tables))[:, None]),
        (near.their_modes, near.sets[:, :kept]),
    ):
        if modes.shape[2:] != similarity.mode_shape or modes.dtype != similarity.mode_type:
            yield "its modes of appearance are not those of this similarity"
        elif similarity.compares_faces and ((modes < 0) | (modes >= sizes[of])).any():
            yield "a mode of appearance is a face that does not exist"
