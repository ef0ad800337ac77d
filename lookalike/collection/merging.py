"""Merging: what the shards of a collection say together, value for value what one file would say."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterable
from itertools import chain, groupby
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from lookalike.collection import media, models, placing, queries, sealing
from lookalike.collection.connections import Connection
from lookalike.collection.models import Model
from lookalike.collection.queries import Lookup, SetFacts
from lookalike.collection.together import Held
from lookalike.collection.verdicts import Pair
from lookalike.decision import Decision
from lookalike.errors import NotFound

if TYPE_CHECKING:
    from lookalike.collection.gallery import Gallery

Said = TypeVar("Said")
# What made the faces, and how many numbers they have; twice None while there is no set.
Kind = tuple[str | None, int | None]
# Facts of shard 0 that settle it for all shards, before the first set comes into any of them; and what stands
# while derived tables of the collection may know removed sets.
DESCRIPTOR: Final = "collection_descriptor"
DIMENSION: Final = "collection_dimension"
DERIVED: Final = "purge_collection"
NOTHING: Final[Kind] = (None, None)


class Merged:
    """The shards of a collection, asked through connections that see one moment.

    Parameters
    ----------
    path : Path
        The folder, as errors name it.
    shards : sequence of Gallery
    """

    def __init__(self, path: Path, shards: Iterable[Gallery]) -> None:
        self.path = path
        self.shards = tuple(shards)
        self._parts: list[dict[str, str]] = []
        self._contents: dict[str, str] = {}
        self._fingerprint: tuple[Kind, str] | None = None
        self._logs: list[tuple[Pair, ...]] = []
        self._apart: tuple[Pair, ...] = ()

    def each(self, held: Held, ask: Callable[[Connection, Path], Said]) -> list[Said]:
        """What every shard says to one question."""
        return [ask(held[place], one.path) for place, one in enumerate(self.shards)]

    def kind(self, held: Held) -> Kind:
        """What made the faces, with their dimension."""
        return claimed(held[0]) if any(map(has_sets, held.values())) else NOTHING

    def ids(self, held: Held) -> list[str]:
        """Every id, by code point."""
        return sorted(chain(*self.each(held, queries.ids)))

    def contents(self, held: Held) -> dict[str, str]:
        """Id -> content hash, by id; not to be changed."""
        parts = [one._remembered.known(held[place], one.path) for place, one in enumerate(self.shards)]
        if len(parts) != len(self._parts) or any(
            one is not other for one, other in zip(parts, self._parts, strict=True)
        ):
            self._contents = dict(sorted(chain(*(part.items() for part in parts))))
            self._parts, self._fingerprint = parts, None
        return self._contents

    def fingerprint(self, held: Held) -> str:
        """SHA-256 of everything that shapes a ranking."""
        contents, kind = self.contents(held), self.kind(held)
        if self._fingerprint is None or self._fingerprint[0] != kind:
            self._fingerprint = kind, queries.fingerprint(*kind, contents)
        return self._fingerprint[1]

    def listing(self, held: Held) -> list[SetFacts]:
        """What is known of each set, by id."""
        return sorted(chain(*self.each(held, queries.listing)), key=lambda one: one.id)

    def lookup(self, held: Held) -> Lookup:
        """How ids are looked up in all shards."""

        def found(set_id: str) -> NotFound | None:
            place = self.place_of(set_id)
            if queries.has(held[place], set_id):
                return None
            sets = sum(map(queries.count, held.values()))
            return queries.missing(self.path, set_id, sets, lambda: self.ids(held))

        return found

    def place_of(self, set_id: object) -> int:
        """The shard of an id; what cannot be an id would lie in the first, where it is not."""
        return placing.place_of(set_id, len(self.shards)) if isinstance(set_id, str) else 0

    def judgements(self, held: Held) -> tuple[tuple[Decision, ...], tuple[Pair, ...]]:
        """Decisions, which lie in shard 0, and pairs apart; the same objects while they do not change."""
        for place, one in enumerate(self.shards):
            one._log.catch_up(held[place], one.path)
        logs = [one._log.apart for one in self.shards]
        if len(logs) != len(self._logs) or any(
            one is not other for one, other in zip(logs, self._logs, strict=True)
        ):
            self._logs, self._apart = logs, tuple(sorted(chain(*logs)))
        return self.shards[0]._log.log, self._apart

    def models(self, held: Held) -> list[Model]:
        """The current model, then the others by name."""
        name, dimension = self.kind(held)
        current, others = 0, dict[str, Model]()
        for one in chain(*self.each(held, models.everything)):
            if one.is_current:
                current += one.faces
            else:
                faces = one.faces + (others[one.name].faces if one.name in others else 0)
                others[one.name] = Model(one.name, one.dimension, False, faces)
        found = [] if name is None or dimension is None else [Model(name, dimension, True, current)]
        return found + [others[other] for other in sorted(others)]

    def facts(self, held: Held) -> dict[str, str | int | bool | None]:
        """The numbers of the whole collection, for `lookalike status`."""
        each = self.each(held, queries.overview)
        descriptor, dimension = self.kind(held)
        summed = ("sets", "faces", "pictures", "bytes")
        return {
            **each[0],
            **{name: sum(int(one[name] or 0) for one in each) for name in summed},
            "format": min(int(one["format"] or 0) for one in each),
            # A film that shows sets of two shards, from before they were split, is told by both.
            "files": sum(1 for _ in groupby(heapq.merge(*map(media.contents, held.values())))),
            "descriptor": descriptor,
            "dimension": dimension,
            "purge_due": any(one["purge_due"] for one in each) or queries.fact(held[0], DERIVED) is not None,
            "shards": len(self.shards),
        }


def has_sets(connection: Connection) -> bool:
    """Whether a shard holds any set."""
    return bool(connection.execute("SELECT EXISTS (SELECT 1 FROM sets)").fetchone()[0])


def claimed(first: Connection) -> Kind:
    """What shard 0 says made all faces."""
    dimension = queries.fact(first, DIMENSION)
    return queries.fact(first, DESCRIPTOR), None if dimension is None else int(dimension)


def claim(first: Connection, kind: Kind) -> None:
    """Settle in shard 0 what makes all faces, or let it be unsettled; the caller holds the transaction."""
    queries.forget_facts(first, DESCRIPTOR, DIMENSION)
    told = [(name, str(value)) for name, value in zip((DESCRIPTOR, DIMENSION), kind, strict=True) if value]
    first.executemany("INSERT INTO facts VALUES (?, ?)", told)
    sealing.seal(first)


def places(merged: Merged, ids: Collection[str]) -> set[int]:
    """The shards in which some sets lie."""
    return {merged.place_of(one) for one in ids}
