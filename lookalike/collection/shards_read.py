"""ReadableShards: what can be asked of a collection in several files; the answers are those of one file."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sized
from itertools import chain

import numpy as np

from lookalike.collection import events, media, merging, models, pairs, queries, rows
from lookalike.collection.barred import Barred
from lookalike.collection.events import Backup, Event
from lookalike.collection.gallery import Gallery
from lookalike.collection.media import MediaFile
from lookalike.collection.merging import Merged
from lookalike.collection.models import Model, Vectors
from lookalike.collection.queries import SetFacts
from lookalike.collection.readable import Readable, Snapshot
from lookalike.collection.together import Together
from lookalike.collection.verdicts import Pair
from lookalike.decision import Decision
from lookalike.errors import NotFound
from lookalike.faceset import FaceSet


class ReadableShards(Readable):
    """The half of `ShardedGallery` that only reads."""

    _together: Together
    _merged: Merged

    @property
    def shards(self) -> tuple[Gallery, ...]:
        """The files of the collection, in order, each a gallery of its own."""
        return self._together.shards

    def shard_of(self, set_id: str) -> int:
        """The place in `shards` of the file in which a set lies, or would lie."""
        return self._merged.place_of(set_id)

    # Of all shards.

    @property
    def descriptor(self) -> str | None:
        """What made the faces; None while the collection is empty."""
        with self._together.reading() as held:
            return self._merged.kind(held)[0]

    @property
    def dimension(self) -> int | None:
        """How many numbers describe a face; None while the collection is empty."""
        with self._together.reading() as held:
            return self._merged.kind(held)[1]

    def __len__(self) -> int:
        with self._together.reading() as held:
            return sum(map(queries.count, held.values()))

    def ids(self) -> list[str]:
        """Every set id, sorted by code point."""
        with self._together.reading() as held:
            return self._merged.ids(held)

    def contents(self) -> dict[str, str]:
        """Id -> content hash of each set, sorted by id."""
        with self._together.reading() as held:
            return dict(self._merged.contents(held))

    def fingerprint(self) -> str:
        """SHA-256 of descriptor, dimension, contents: that of one file with the same sets."""
        with self._together.reading() as held:
            return self._merged.fingerprint(held)

    def snapshot(self, known: str = "") -> Snapshot | None:
        """Fingerprint, contents and listing, all of one version; None if its fingerprint is the known one."""
        with self._together.reading() as held:
            fingerprint = self._merged.fingerprint(held)
            if fingerprint == known:
                return None
            return Snapshot(fingerprint, dict(self._merged.contents(held)), self._merged.listing(held))

    def listing(self, ids: Iterable[str] | None = None) -> Iterator[SetFacts]:
        """What is known of each set without reading its faces, by id; or of some, in the order asked for."""
        asked = None if ids is None else list(queries.several(ids))
        with self._together.reading() as held:
            if asked is None:
                return iter(self._merged.listing(held))
            lookup, found = self._merged.lookup(held), list[SetFacts]()
            for set_id in asked:
                if reason := lookup(set_id):
                    raise reason
                place = self.shard_of(set_id)
                found += queries.listing(held[place], self.shards[place].path, [set_id])
            return iter(found)

    def facts(self) -> dict[str, str | int | bool | None]:
        """As of one file, with the numbers of all shards together; and how many shards there are."""
        with self._together.reading() as held:
            return self._merged.facts(held)

    def has_crops(self) -> bool:
        """Whether some of its pictures came as crops, and were not found in films or photos."""
        with self._together.reading() as held:
            return any(map(queries.has_crops, held.values()))

    def files(self) -> list[MediaFile]:
        """Every video and photo that was looked at, by path."""
        with self._together.reading() as held:
            found = {one.content: one for one in chain(*self._merged.each(held, media.everything))}
            return sorted(found.values(), key=lambda one: (one.path, one.content))

    def paths(self, ids: Iterable[str] | None = None) -> dict[str, list[str]]:
        """Where the videos and photos of some sets lie, as people order them. As `Gallery.paths`."""
        if ids is not None:
            return super().paths(ids)
        with self._together.reading() as held:
            each = self._merged.each(held, media.paths)
            return {set_id: several for found in each for set_id, several in found.items()}

    def file_of(self, content: str) -> MediaFile | None:
        """The file whose bytes have this SHA-256, if it was looked at."""
        with self._together.reading() as held:
            found = (media.of(held[place], one.path, content) for place, one in enumerate(self.shards))
            return next(filter(None, found), None)

    def sets_of(self, content: str) -> list[str]:
        """Ids of the sets that have faces of the file whose bytes have this SHA-256, by code point."""
        with self._together.reading() as held:
            return sorted(chain(*(media.set_ids(one, content) for one in held.values())))

    def file_at(self, path: str, size: int, changed: int) -> MediaFile | None:
        """The file that was last seen at this path, if it has this size and time of change: a quick look."""
        with self._together.reading() as held:
            each = enumerate(self.shards)
            found = (media.at(held[place], one.path, path, size, changed) for place, one in each)
            return next(filter(None, found), None)

    def apart(self) -> list[Pair]:
        """Pairs of sets that are certainly of different people, the smaller id first, in order."""
        with self._together.reading() as held:
            return sorted(chain(*self._merged.each(held, pairs.everything)))

    def judgements(self) -> tuple[tuple[Decision, ...], tuple[Pair, ...]]:
        """`decisions` and `apart`, of one version; while they do not change, the very same objects."""
        with self._together.reading() as held:
            return self._merged.judgements(held)

    def models(self) -> list[Model]:
        """The current model, then those whose vectors lie beside it; none while the collection is empty."""
        with self._together.reading() as held:
            return self._merged.models(held)

    def undescribed(self, name: str) -> list[str]:
        """Ids of the sets with faces that a model has not described yet."""
        with self._together.reading() as held:
            each = enumerate(self.shards)
            return sorted(chain(*(models.undescribed(held[place], one.path, name) for place, one in each)))

    # Of the shard of a set.

    def __contains__(self, set_id: object) -> bool:
        place = self._merged.place_of(set_id)
        with self._together.reading((place,)) as held:
            return queries.has(held[place], set_id)

    def get(self, set_id: str, pictures: bool = False) -> FaceSet:
        """Read one set; raise NotFound with similar ids, or GalleryUnreadable if a checksum does not fit."""
        place = self.shard_of(set_id)
        with self._together.reading((place,)) as held:
            if queries.has(held[place], set_id):
                return rows.get(held[place], self.shards[place].path, set_id, pictures, seen=True)
        raise self._unknown(set_id)

    def files_of(self, set_id: str) -> list[MediaFile]:
        """The videos and photos that a set has faces of, by path; none if that is not known."""
        place = self.shard_of(set_id)
        with self._together.reading((place,)) as held:
            if queries.has(held[place], set_id):
                files = self.shards[place]._files
                files.keep(queries.version(held[place]))
                return files.of_set(held[place], self.shards[place].path, set_id)
        raise self._unknown(set_id)

    def vectors(self, set_id: str, name: str) -> Vectors:
        """What a model other than the current one made of the faces of a set (n, d); none it has not seen."""
        place = self.shard_of(set_id)
        with self._together.reading() as held:
            if reason := self._merged.lookup(held)(set_id):
                raise reason
            known = {one.name: one for one in self._merged.models(held) if not one.is_current}
            if name not in known:
                raise models.no_vectors(self.path, name)
            if models.knows(held[place], name):
                return models.vectors(held[place], self.shards[place].path, set_id, name)
            return np.empty((0, known[name].dimension), dtype=np.float32)

    def sets(self, ids: Iterable[str] | None = None) -> Iterator[FaceSet]:
        """Read sets one by one, without pictures, all as they were when the first was asked for.

        Parameters
        ----------
        ids : iterable of str, optional
            Which sets, in which order; all of them by id if not given.

        Yields
        ------
        FaceSet
            The next set. What is removed meanwhile is wiped only when the iterator has ended or is dropped.
        """
        given = None if ids is None else queries.several(ids)
        # Where it is known which sets are asked for, only their shards are opened.
        places = None if given is None or not isinstance(given, Sized) else set(map(self.shard_of, given))
        with self._together.streaming(places) as held:
            if given is None:
                each = (queries.ids(held[place], self.shards[place].path) for place in held)
                given = heapq.merge(*each)
            for set_id in given:
                place = self.shard_of(set_id)
                with self.shards[place]._opened.reading(held[place]):
                    found = queries.has(held[place], set_id)
                    one = rows.get(held[place], self.shards[place].path, set_id) if found else None
                if one is None:
                    raise self._unknown(set_id)
                yield one

    # Of shard 0, which speaks for all.

    def events(self) -> list[Event]:
        """What was done to the collection as a whole, in order: forgetting, upgrades, restores."""
        with self._together.reading(()) as held:
            return events.everything(held[0], self.shards[0].path)

    def backups(self) -> list[Backup]:
        """The backups that were made, in order."""
        with self._together.reading(()) as held:
            return events.backups(held[0], self.shards[0].path)

    def barred(self) -> Barred:
        """What must not enter again, into any shard."""
        with self._together.reading(()) as held:
            return self.shards[0]._barred.read(held[0], self.shards[0].path)

    def derived_mark(self) -> str | None:
        """What stands while derived tables of the collection may know removed sets; None if none does."""
        with self._together.reading(()) as held:
            return queries.fact(held[0], merging.DERIVED)

    def hint(self, name: str) -> str | None:
        """What `set_hint` was told last, or None."""
        queries.check_hint(name)
        with self._together.reading(()) as held:
            return queries.fact(held[0], name)

    def _unknown(self, set_id: str) -> NotFound:
        with self._together.reading() as held:
            found = self._merged.lookup(held)(set_id)
        return found or NotFound(f"{self.path} had no set {set_id!r} just now: ask again")
