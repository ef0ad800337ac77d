"""Pack: the tables of a gallery as named arrays and back, and what such arrays were made by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike import parts
from lookalike.collection.tables import StoredTables
from lookalike.preparations.contract import Preparation
from lookalike.preparations.none import Nothing
from lookalike.similarities.contract import PreparedSets, SetSimilarity
from lookalike.transitivity.held import Held, whole
from lookalike.transitivity.tables import Neighbours, Tables


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
) -> Tables:
    """Make tables of the arrays that `to_arrays` named."""
    sets = prepared_of(arrays)
    near = Neighbours(**_group(arrays, "neighbours/"))
    dimension = int(arrays["dimension"][0])
    return Tables(ids_of(arrays), dimension, similarity, sets, near, fingerprint, preparation=preparation)


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
    prepared = stored.facts.get("preparation", parts.spec(Nothing()))
    return str(stored.facts.get("on", stored.facts.get("similarity", ""))), str(prepared)


# What is wrong with arrays, though they are those that were saved.


def faults(arrays: Mapping[str, NDArray[Any]]) -> Iterator[str]:
    """All that arrays of an index say which no index can say, in words."""
    near = [f"neighbours/{name}" for name in Neighbours._fields]
    if missing := [name for name in ("dimension", *near) if name not in arrays]:
        yield f"it has no array {missing[0]!r}"
        return
    wrong = list(_list_faults(arrays))
    yield from wrong
    if wrong:
        return
    count = len(arrays["ids/starts"]) - 1
    if arrays["dimension"].shape != (1,) or arrays["dimension"][0] < 2:
        yield "it does not tell how many numbers describe a face"
    yield from _prepared_faults(arrays, count)
    yield from _neighbour_faults(count, *(np.asarray(arrays[name]) for name in near))


def _list_faults(arrays: Mapping[str, NDArray[Any]]) -> Iterator[str]:
    if missing := [name for name in ("ids/bytes", "ids/starts", "hashes") if name not in arrays]:
        yield f"it has no array {missing[0]!r}"
        return
    if not starts_fit(arrays["ids/starts"], len(arrays["ids/bytes"])):
        yield "its ids do not begin and end where they should"
        return
    count = len(arrays["ids/starts"]) - 1
    text = bytes(arrays["ids/bytes"])
    ids = [text[a:b] for a, b in pairwise(arrays["ids/starts"].tolist())]
    if any(one >= other for one, other in pairwise(ids)):
        yield "its ids are not in order, or one comes twice"
    if arrays["hashes"].shape != (count, 32) or arrays["hashes"].dtype != np.uint8:
        yield "it does not tell the content of every set"


def not_finite(arrays: Mapping[str, NDArray[Any]]) -> Iterator[str]:
    """Names of arrays that hold a NaN or an infinite number."""
    for name, array in arrays.items():
        if array.dtype.kind in "fc" and not np.isfinite(array).all():
            yield name


def _prepared_faults(arrays: Mapping[str, NDArray[Any]], count: int) -> Iterator[str]:
    prepared = {name.removeprefix("prepared/") for name in arrays if name.startswith("prepared/")}
    starts = {name.removeprefix("starts/") for name in arrays if name.startswith("starts/")}
    if not prepared or prepared != starts:
        yield "its prepared sets are not told where they begin"
        return
    for name in sorted(prepared):
        ends, array = arrays[f"starts/{name}"], arrays[f"prepared/{name}"]
        if len(ends) != count + 1 or not starts_fit(ends, len(array)):
            yield f"the prepared sets in {name!r} do not begin and end where they should"


def _neighbour_faults(
    count: int, sets: NDArray[Any], scores: NDArray[Any], own: NDArray[Any], their: NDArray[Any]
) -> Iterator[str]:
    if sets.dtype.kind != "i" or sets.ndim != 2 or len(sets) != count or scores.shape != sets.shape:
        yield f"its neighbours are {sets.shape} sets with {scores.shape} similarities, of {count} sets"
        return
    if len(own) != count or own.shape != their.shape or own.shape[1] > max(sets.shape[1], 1):
        yield "its neighbours do not have a mode of appearance each"
    if ((sets < 0) | (sets >= count)).any():
        yield "a neighbour is a set that does not exist"
    if (sets == np.arange(count)[:, None]).any():
        yield "a set is its own neighbour"
    ordered = np.sort(sets, axis=1)
    if (ordered[:, 1:] == ordered[:, :-1]).any():
        yield "a set is twice the neighbour of another"
    if not np.isfinite(scores).all() or (scores[:, 1:] > scores[:, :-1]).any():
        yield "neighbours are not in order of their similarity"


def starts_fit(starts: NDArray[Any], length: int) -> bool:
    """Whether numbers tell where parts of something of this length begin, and its end."""
    if starts.ndim != 1 or not len(starts) or starts.dtype.kind not in "iu":
        return False
    return bool(starts[0] == 0 and starts[-1] == length and (np.diff(starts) >= 0).all())
