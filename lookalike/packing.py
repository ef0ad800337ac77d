"""Pack: the tables of a gallery as named arrays and back, and what such arrays were made by."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike import parts
from lookalike.collection.tables import StoredTables
from lookalike.preparations.contract import Preparation
from lookalike.preparations.none import Nothing
from lookalike.similarities.contract import PreparedSets, SetSimilarity
from lookalike.transitivity.tables import Neighbours, Tables


def to_arrays(tables: Tables) -> dict[str, NDArray[Any]]:
    """Name every array of the tables; similarity and preparation are kept elsewhere."""
    encoded = [id.encode() for id in tables.ids]
    arrays: dict[str, NDArray[Any]] = {
        "ids/bytes": np.frombuffer(b"".join(encoded), dtype=np.uint8),
        "ids/starts": np.cumsum([0, *map(len, encoded)], dtype=np.int64),
        "dimension": np.array([tables.dimension]),
    }
    arrays |= {f"prepared/{name}": array for name, array in tables.sets.arrays.items()}
    arrays |= {f"starts/{name}": array for name, array in tables.sets.starts.items()}
    return arrays | {f"neighbours/{name}": array for name, array in tables.neighbours._asdict().items()}


def from_arrays(
    arrays: Mapping[str, NDArray[Any]],
    similarity: SetSimilarity,
    preparation: Preparation,
    fingerprint: str = "",
) -> Tables:
    """Make tables of the arrays that `to_arrays` named."""
    text, ends = bytes(arrays["ids/bytes"]), arrays["ids/starts"]
    ids = tuple(text[a:b].decode() for a, b in pairwise(ends))

    def group(prefix: str) -> dict[str, NDArray[Any]]:
        # Plain views of the mapped files: looking something up in them is quicker.
        chosen = {name: np.asarray(array) for name, array in arrays.items() if name.startswith(prefix)}
        return {name.removeprefix(prefix): array for name, array in chosen.items()}

    sets = PreparedSets(group("prepared/"), group("starts/"))
    near = Neighbours(**group("neighbours/"))
    dimension = int(arrays["dimension"][0])
    return Tables(ids, dimension, similarity, sets, near, fingerprint, preparation=preparation)


def is_index(stored: StoredTables) -> bool:
    """Whether a stored table is an index, and not something that was made from one."""
    return "similarity" in stored.facts


def made_by(stored: StoredTables) -> tuple[str, str]:
    """Similarity and preparation of an index, or of the index that something was made from."""
    # What was stored before there were preparations does not say so.
    prepared = stored.facts.get("preparation", parts.spec(Nothing()))
    return str(stored.facts.get("on", stored.facts.get("similarity", ""))), str(prepared)
