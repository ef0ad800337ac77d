"""Catalogue: the list of sets as the page knows it, in columns, kept up with a gallery that others change.

A gallery has no index for the order in which people read names, nor for what they type into a search box, so
the list is held in memory. It is read once, and again in the background when others have changed the gallery;
what this process changes is taken in at once, set by set. No request makes SQLite go through a whole list.
"""

from __future__ import annotations

import hashlib
import threading
import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property, partial
from itertools import chain
from math import isnan
from typing import Any, Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import LookalikeError, NotFound
from lookalike.faceset import natural_order
from lookalike.gallery.gallery import Gallery
from lookalike.gallery.set_rows import Columns, SetFacts

# Seconds after which the gallery is looked at again, at the earliest; longer where looking takes long.
OFTEN: Final = 0.25
RESTS: Final = 5
# Looking that takes longer than so many seconds is not waited for.
QUICK: Final = 0.05
# Beyond so many changed sets the whole list is read again.
MOST_CHANGED: Final = 1_000
# So many facts are remembered ready to be used.
REMEMBERED: Final = 20_000

Value = TypeVar("Value")
Rows = NDArray[np.int32]
Mask = NDArray[np.bool_]
Arrays = dict[str, NDArray[Any]]


def key_of(set_id: str) -> str:
    """The opaque key of a set: the same in every run, and nothing can be read from it."""
    return hashlib.sha256(set_id.encode()).hexdigest()[:16]


class ById(Mapping[str, Value], Generic[Value]):
    """Something that a catalogue knows of each set, by id and in the order of ids."""

    def __init__(self, catalogue: Catalogue, read: Callable[[int], Value]) -> None:
        self._catalogue, self._read = catalogue, read

    def __getitem__(self, set_id: str) -> Value:
        row = self._catalogue.row(set_id)
        if row is None:
            raise KeyError(set_id)
        return self._read(row)

    def __contains__(self, set_id: object) -> bool:
        return self._catalogue.row(set_id) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self._catalogue.names)

    def __len__(self) -> int:
        return len(self._catalogue.names)


class Keys(Mapping[str, str]):
    """The id of each key."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    def __getitem__(self, key: str) -> str:
        row = self._catalogue.row_of_key(key)
        if row is None:
            raise KeyError(key)
        return self._catalogue.names[row]

    def __iter__(self) -> Iterator[str]:
        return iter(self._catalogue.keys.values())

    def __len__(self) -> int:
        return len(self._catalogue.names)


class Catalogue:
    """One version of the list of sets, a row a set, by id; the same for the same sets and content.

    The names are ids, in order; the arrays (n,) are the other columns, where what is not known is -1 or
    NaN. The texts are those of the columns `origin` and `place`, each once, which the columns name by
    their numbers. A place is, in small letters, the origin of a set with the paths of all of its files.
    `natural` and `by_key` are rows in the order in which people read ids, and by key. By id there are
    `facts`, `contents` (hashes) and `keys`; by key, `ids`.
    """

    def __init__(
        self,
        version: str,
        names: list[str],
        arrays: Arrays,
        texts: dict[str, list[str]],
        natural: Rows,
        by_key: Rows,
    ) -> None:
        self.version, self.names, self.natural = version, names, natural
        self._arrays, self._texts, self._by_key = arrays, texts, by_key
        # Of these a single value is read in a moment, and is a number of Python.
        self._plain = [
            memoryview(np.asarray(arrays[name]).data)
            for name in ("faces", "pictures", "start", "end", "good", "origin")
        ]
        self._remembered: dict[str, int] = {}
        self.facts = ById(self, self._facts)
        self.contents: Mapping[str, str] = ById(self, lambda row: str(arrays["content"][row].decode()))
        self.keys: Mapping[str, str] = ById(self, lambda row: f"{arrays['key'][row]:016x}")
        self.ids: Mapping[str, str] = Keys(self)

    def id(self, key: str) -> str:
        """The set of a key; raise NotFound if there is none."""
        row = self.row_of_key(key)
        if row is None:
            raise NotFound(
                "there is no such clip or photo in the collection: it was removed, or the address is wrong"
            )
        return self.names[row]

    def row(self, set_id: object) -> int | None:
        """The row of an id, if there is one."""
        if not isinstance(set_id, str):
            return None
        row = self._remembered.get(set_id)
        if row is None:
            row = bisect_left(self.names, set_id)
            if row == len(self.names) or self.names[row] != set_id:
                return None
            if len(self._remembered) >= REMEMBERED:
                self._remembered.clear()
            self._remembered[set_id] = row
        return row

    def row_of_key(self, key: str) -> int | None:
        """The row of a key, if there is one."""
        keys = self._arrays["key"]
        try:
            asked = int(key, 16)
        except ValueError:
            return None
        place = bisect_left(self._by_key, asked, key=lambda row: int(keys[row]))
        if place == len(self._by_key):
            return None
        row = int(self._by_key[place])
        return row if f"{keys[row]:016x}" == key else None

    @cached_property
    def faces(self) -> int:
        """How many faces there are in all sets."""
        return int(self._arrays["faces"].sum())

    def _facts(self, row: int) -> SetFacts:
        faces, pictures, start, end, good, origin = (column[row] for column in self._plain)
        return SetFacts(
            self.names[row],
            self._texts["origin"][origin],
            faces,
            pictures,
            self._arrays["added"][row].decode(),
            None if isnan(start) else start,
            None if isnan(end) else end,
            None if good < 0 else good,
        )

    # Orders and filters: arrays of rows, and for each row whether it is let through.

    @cached_property
    def newest(self) -> Rows:
        """Rows from what was added last to what was added first; what was added at once as people read it."""
        _, ranks = np.unique(self._arrays["added"], return_inverse=True)
        return self._sorted(-ranks)

    @cached_property
    def largest(self) -> Rows:
        """Rows from those with most faces to those with fewest."""
        return self._sorted(-self._arrays["faces"])

    def _sorted(self, by: NDArray[Any]) -> Rows:
        return self.natural[np.argsort(by[self.natural], kind="stable")]

    def those(self, ids: Iterable[str]) -> list[int]:
        """The rows of those of some ids that are there, in their order."""
        return [row for one in ids if (row := self.row(one)) is not None]

    def are(self, ids: Iterable[str]) -> Mask:
        """Whether a set is one of some."""
        mask = np.zeros(len(self.names), dtype=bool)
        mask[self.those(ids)] = True
        return mask

    def added_between(self, since: str, until: str) -> Mask:
        """Whether a set was added in some days, both included; an empty one is no bound."""
        # Times are written in UTC, year first: their texts are in the order of time.
        days = self._arrays["added"].astype("S10")
        found: Mask = (days >= since.encode()) & (days <= (until or "9").encode())
        return found

    def mostly_clear(self) -> Mask:
        """Whether at least half of the faces of a set are good to go by."""
        good = self._arrays["good"]
        found: Mask = (good >= 0) & (2 * good >= self._arrays["faces"])
        return found

    def from_place(self, part: str) -> Mask:
        """Whether the place of a set holds some letters, which must be small."""
        texts = self._texts["place"]
        found = np.fromiter((part in text for text in texts), dtype=bool, count=len(texts))
        return found[self._arrays["place"]]

    def called(self, part: str) -> Mask:
        """Whether the id of a set holds some letters, in capitals or not."""
        found: Mask = np.strings.find(self._small, part) >= 0
        return found

    @cached_property
    def _small(self) -> NDArray[Any]:
        return np.array([one.casefold() for one in self.names], dtype=np.dtypes.StringDType())

    # Changes.

    def changed(self, ids: Iterable[str], gallery: Gallery) -> Catalogue:
        """The same list with some sets as they are in the gallery now; they may have come or gone."""
        gone = np.array(sorted(self.those(ids)), dtype=np.int64)
        kept = self.names.copy()
        for row in gone[::-1].tolist():
            del kept[row]
        names, arrays = _read(
            gallery.columns(ids), {name: _grown(some) for name, some in self._texts.items()}
        )
        places = np.array([bisect_left(kept, one) for one in names], dtype=np.int64)
        new = places + np.arange(len(names))
        for row, one in zip(new.tolist(), names, strict=True):
            kept.insert(row, one)
        joined = {
            name: _inserted(np.delete(column, gone), places, arrays[name])
            for name, column in self._arrays.items()
        }
        orders = []
        for order, key in (
            (self.natural, lambda row: natural_order(kept[row])),
            (self._by_key, lambda row: int(joined["key"][row])),
        ):
            old = order[~np.isin(order, gone)]
            old = old - np.searchsorted(gone, old).astype(np.int32)
            old = old + np.searchsorted(places, old, side="right").astype(np.int32)
            added = sorted(new.tolist(), key=key)
            where = [bisect_left(old, key(row), key=key) for row in added]
            orders.append(np.insert(old, where, added) if added else old)
        return Catalogue(_version(kept, joined), kept, joined, self._texts, *orders)


def whole(gallery: Gallery) -> Catalogue:
    """The list of sets as it is now."""
    texts: dict[str, list[str]] = {"origin": [], "place": []}
    numbers: dict[str, dict[str, int]] = {name: {} for name in texts}

    def number(name: str, text: str) -> int:
        if text not in numbers[name]:
            numbers[name][text] = len(texts[name])
            texts[name].append(text)
        return numbers[name][text]

    names, arrays = _read(gallery.columns(), {name: partial(number, name) for name in texts})
    keyed = list(map(natural_order, names))
    natural = np.array(sorted(range(len(names)), key=keyed.__getitem__), dtype=np.int32)
    by_key = np.argsort(arrays["key"]).astype(np.int32)
    return Catalogue(_version(names, arrays), names, arrays, texts, natural, by_key)


def _grown(texts: list[str]) -> Callable[[str], int]:
    """Numbers new texts behind those that are there; catalogues of before go on with the first of them."""

    def number(text: str) -> int:
        texts.append(text)
        return len(texts) - 1

    return number


def _read(parts: Iterable[Columns], numbers: dict[str, Callable[[str], int]]) -> tuple[list[str], Arrays]:
    """Ids, and the other columns as arrays."""
    names: list[str] = []
    nothing = Columns(*((),) * len(Columns._fields))
    held: list[Arrays] = []
    for one in chain([nothing], parts):
        names += one.ids
        places = (
            (origin if path is None else f"{origin}\n{path}").casefold()
            for origin, path in zip(one.origins, one.paths, strict=True)
        )
        keys = b"".join(hashlib.sha256(each.encode()).digest()[:8] for each in one.ids)
        held.append(
            {
                "origin": np.array([numbers["origin"](each) for each in one.origins], dtype=np.int32),
                "place": np.array([numbers["place"](each) for each in places], dtype=np.int32),
                "faces": np.array(one.faces, dtype=np.int64),
                "pictures": np.array(one.pictures, dtype=np.int64),
                "good": np.array([-1 if each is None else each for each in one.good], dtype=np.int64),
                "start": np.array(one.starts, dtype=np.float64),
                "end": np.array(one.ends, dtype=np.float64),
                "added": np.array([each.encode() for each in one.added], dtype=bytes),
                "content": np.array([each.encode() for each in one.contents], dtype=bytes),
                "key": np.frombuffer(keys, dtype=">u8").astype(np.uint64),
            }
        )
    return names, {name: np.concatenate([one[name] for one in held]) for name in held[0]}


def _inserted(column: NDArray[Any], places: NDArray[np.int64], values: NDArray[Any]) -> NDArray[Any]:
    # Texts of a column may get longer.
    return np.insert(column.astype(np.result_type(column, values), copy=False), places, values)


def _version(names: list[str], arrays: Arrays) -> str:
    # Whoever asks waits for this, so it is not the fingerprint of the gallery, which takes ten times as long.
    digest = hashlib.blake2b("\0".join(names).encode(), digest_size=16)
    digest.update(arrays["content"].tobytes())
    return digest.hexdigest()


class Catalogues:
    """Keeps up with a gallery that others may be changing."""

    def __init__(self, gallery: Gallery) -> None:
        self._gallery = gallery
        # Whoever looks through the gallery holds the first; whoever exchanges the list, the second.
        self._looking, self._lock = threading.Lock(), threading.Lock()
        self._now: Catalogue | None = None
        # What others had done when it was read, and how long that took.
        self._elsewhere, self._took, self._next = -1, 0.0, 0.0
        # Sets to be taken in, and those that were changed since somebody began to look, while one does.
        self._due: set[str] = set()
        self._since: set[str] | None = None
        gallery.changed_here()

    def now(self, at_once: bool = False) -> Catalogue:
        """The list with all that this process has written.

        A change of somebody else may be missed for a moment, unless asked at once.
        """
        if self._now is None or at_once:
            with self._looking:
                # Who waited while somebody looked for the first time has what that gave.
                if self._now is None or at_once:
                    self._look()
        elif time.monotonic() >= self._next and self._looking.acquire(blocking=False):
            is_aside = False
            try:
                is_aside = self._took > QUICK and self._is_old(self._gallery.changed_elsewhere())
                if is_aside:
                    threading.Thread(target=self._look_aside, name="looking at the list", daemon=True).start()
                else:
                    self._look()
            except RuntimeError:  # no memory for a thread: whoever asks next tries again
                is_aside = False
            finally:
                if not is_aside:
                    self._looking.release()
        return self._take_in()

    def _look_aside(self) -> None:
        try:
            with suppress(LookalikeError):
                self._look()
                return
            # Whoever asks next looks, and is told what is wrong.
            self._took = 0.0
        finally:
            self._looking.release()

    def _is_old(self, elsewhere: int) -> bool:
        return elsewhere != self._elsewhere or len(self._due) > MOST_CHANGED

    def _look(self) -> None:
        """Read the list if anybody else may have changed it; the caller holds `_looking`."""
        began, elsewhere = time.monotonic(), self._gallery.changed_elsewhere()
        if self._is_old(elsewhere):
            with self._lock:
                self._gather()
                self._since = set()
            # One version, however fast others add: looking again until nothing changed might never end.
            found = whole(self._gallery)
            with self._lock:
                self._gather()
                self._now, self._due, self._since = found, self._since, None
            self._elsewhere, self._took = elsewhere, time.monotonic() - began
        self._next = time.monotonic() + max(OFTEN, RESTS * (time.monotonic() - began))

    def _take_in(self) -> Catalogue:
        """The list with what this process has changed meanwhile."""
        with self._lock:
            self._gather()
            assert self._now is not None
            if len(self._due) > MOST_CHANGED:
                self._next = 0.0  # many sets one by one take longer than all at once
            elif self._due:
                self._now, self._due = self._now.changed(self._due, self._gallery), set()
            return self._now

    def _gather(self) -> None:
        changed = self._gallery.changed_here()
        self._due |= changed
        if self._since is not None:
            self._since |= changed
