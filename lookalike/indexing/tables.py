"""Pack: the tables of a gallery as named arrays and back, and what such arrays were made by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike import registry
from lookalike.indexing.store import StoredTables
from lookalike.method.tables import Held, Neighbours, Tables, whole
from lookalike.preparations.contract import Preparation
from lookalike.preparations.none import Nothing
from lookalike.similarities.contract import PreparedSets, SetSimilarity


def to_arrays(tables: Tables) -> dict[str, NDArray[Any]]:
    """Name every array of the tables; similarity and preparation are kept elsewhere."""
    arrays = {**ids_to_arrays(tables.ids), "dimension": np.array([tables.dimension])}
    arrays |= prepared_to_arrays(whole(tables.sets).here if isinstance(tables.sets, Held) else tables.sets)
    return arrays | {f"neighbours/{name}": array for name, array in tables.neighbours._asdict().items()}


def from_arrays(
    arrays: Mapping[str, NDArray[Any]],
    similarity: SetSimilarity,
    preparation: Preparation,
    fingerprint: str = "",
    ids: tuple[str, ...] | None = None,
) -> Tables:
    """Make tables of the arrays that `to_arrays` named; ids that are known already need not be read."""
    sets = prepared_of(arrays)
    near = Neighbours(**_group(arrays, "neighbours/"))
    dimension = int(arrays["dimension"][0])
    known = ids_of(arrays) if ids is None else ids
    return Tables(known, dimension, similarity, sets, near, fingerprint, preparation=preparation)


def ids_to_arrays(ids: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Name the arrays that hold ids."""
    encoded = [id.encode() for id in ids]
    return {
        "ids/bytes": np.frombuffer(b"".join(encoded), dtype=np.uint8),
        "ids/starts": np.cumsum([0, *map(len, encoded)], dtype=np.int64),
    }


def ids_of(arrays: Mapping[str, NDArray[Any]]) -> tuple[str, ...]:
    """Undo `ids_to_arrays`."""
    text, ends = bytes(arrays["ids/bytes"]), arrays["ids/starts"]
    return tuple(text[a:b].decode() for a, b in pairwise(ends))


def hashes_of(contents: Mapping[str, str]) -> NDArray[np.uint8]:
    """Content hashes of sets as rows of bytes; (n, 32)."""
    return np.array([list(bytes.fromhex(value)) for value in contents.values()], dtype=np.uint8)


def prepared_to_arrays(sets: PreparedSets) -> dict[str, NDArray[Any]]:
    """Name the arrays of prepared sets, and where each set begins in them."""
    arrays = {f"prepared/{name}": array for name, array in sets.arrays.items()}
    return arrays | {f"starts/{name}": array for name, array in sets.starts.items()}


def prepared_of(arrays: Mapping[str, NDArray[Any]]) -> PreparedSets:
    """Undo `prepared_to_arrays`."""
    return PreparedSets(_group(arrays, "prepared/"), _group(arrays, "starts/"))


def _group(arrays: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    # Plain views of the mapped files: looking something up in them is quicker.
    chosen = {name: np.asarray(array) for name, array in arrays.items() if name.startswith(prefix)}
    return {name.removeprefix(prefix): array for name, array in chosen.items()}


def is_index(stored: StoredTables) -> bool:
    """Whether a stored table is an index, and not something that was made from one."""
    return "similarity" in stored.facts


def made_by(stored: StoredTables) -> tuple[str, str]:
    """Similarity and preparation of an index, or of the index that something was made from."""
    # What was stored before there were preparations does not say so.
    prepared = stored.facts.get("preparation", registry.spec(Nothing()))
    return str(stored.facts.get("on", stored.facts.get("similarity", ""))), str(prepared)


def not_finite(arrays: Mapping[str, NDArray[Any]]) -> Iterator[str]:
    """Names of arrays that hold a NaN or an infinite number."""
    for name, array in arrays.items():
        if array.dtype.kind in "fc" and not np.isfinite(array).all():
            yield name
