"""Readable: what can be asked of a gallery; whatever changes one is in `gallery`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from lookalike.collection import events, media, models, pairs, purge, queries, rows
from lookalike.collection.barred import Barred, RememberedBarred
from lookalike.collection.decisions import RememberedLog
from lookalike.collection.events import Backup, Event
from lookalike.collection.media import MediaFile, RememberedFiles
from lookalike.collection.models import Model, Vectors
from lookalike.collection.opened import Opened
from lookalike.collection.queries import SetFacts
from lookalike.collection.verdicts import Pair
from lookalike.decision import Decision
from lookalike.faceset import FaceSet
from lookalike.ordering import natural_order


class Snapshot(NamedTuple):
    """The list of sets in one version of a gallery: its fingerprint, content hashes by id, facts by id."""

    fingerprint: str
    contents: dict[str, str]
    listing: list[SetFacts]


class Readable:
    """The half of `Gallery` that only reads; its parameters are those of `Gallery`."""

    def __init__(self, path: str | Path, create: bool = False, wait: float = 30.0) -> None:
        self._opened = Opened(path, create, wait)
        self.path = self._opened.path
        self._remembered = queries.Remembered()
        self._log = RememberedLog()
        self._files = RememberedFiles()
        # The version in which `checking.check_counts` found every face.
        self._counted: queries.Version | None = None
        self._barred = RememberedBarred()

    @property
    def descriptor(self) -> str | None:
        """What made the faces; None while the gallery is empty."""
        with self._opened.transaction() as connection:
            return queries.fact(connection, "descriptor")

    @property
    def dimension(self) -> int | None:
        """How many numbers describe a face; None while the gallery is empty."""
        with self._opened.transaction() as connection:
            return queries.dimension(connection, self.path)

    def __len__(self) -> int:
        with self._opened.transaction() as connection:
            return queries.count(connection)

    def __contains__(self, set_id: object) -> bool:
        with self._opened.transaction() as connection:
            return queries.has(connection, set_id)

    def ids(self) -> list[str]:
        """Every set id, sorted by code point."""
        with self._opened.transaction() as connection:
            return queries.ids(connection, self.path)

    def contents(self) -> dict[str, str]:
        """Id -> content hash of each set, sorted by id."""
        with self._opened.transaction() as connection:
            return self._remembered.contents(connection, self.path)

    def fingerprint(self) -> str:
        """SHA-256 of descriptor, dimension, contents: two galleries with the same one rank alike."""
        with self._opened.transaction() as connection:
            return self._remembered.fingerprint(connection, self.path)

    def snapshot(self, known: str = "") -> Snapshot | None:
        """Fingerprint, contents and listing, all of one version; None if its fingerprint is the known one."""
        with self._opened.transaction() as connection:
            fingerprint = self._remembered.fingerprint(connection, self.path)
            if fingerprint == known:
                return None
            contents = self._remembered.contents(connection, self.path)
            return Snapshot(fingerprint, contents, queries.listing(connection, self.path))

    def listing(self, ids: Iterable[str] | None = None) -> Iterator[SetFacts]:
        """What is known of each set without reading its faces, by id; or of some, in the order asked for."""
        with self._opened.transaction() as connection:
            return iter(queries.listing(connection, self.path, ids))

    def facts(self) -> dict[str, str | int | bool | None]:
        """Format, counts, size, descriptor, dimension, creation time, whether a wipe is due."""
        with self._opened.transaction() as connection:
            return queries.overview(connection, self.path)

    def has_crops(self) -> bool:
        """Whether some of its pictures came as crops, and were not found in films or photos."""
        with self._opened.transaction() as connection:
            return queries.has_crops(connection)

    def files(self) -> list[MediaFile]:
        """Every video and photo that was looked at, by path."""
        with self._opened.transaction() as connection:
            return media.everything(connection, self.path)

    def files_of(self, set_id: str) -> list[MediaFile]:
        """The videos and photos that a set has faces of, by path; none if that is not known."""
        with self._opened.transaction() as connection:
            if not queries.has(connection, set_id):
                raise queries.unknown(connection, self.path, set_id)
            self._files.keep(queries.version(connection))
            return self._files.of_set(connection, self.path, set_id)

    def paths(self, ids: Iterable[str] | None = None) -> dict[str, list[str]]:
        """Where the videos and photos of some sets lie, as people order them.

        Of all sets unless ids are given, those left out then of which no file is known.
        """
        if ids is not None:
            files = {one: self.files_of(one) for one in queries.several(ids)}
            return {one: sorted((file.path for file in files[one]), key=natural_order) for one in files}
        with self._opened.transaction() as connection:
            return media.paths(connection, self.path)

    def file_of(self, content: str) -> MediaFile | None:
        """The file whose bytes have this SHA-256, if it was looked at."""
        with self._opened.transaction() as connection:
            return media.of(connection, self.path, content)

    def sets_of(self, content: str) -> list[str]:
        """Ids of the sets that have faces of the file whose bytes have this SHA-256, by code point."""
        with self._opened.transaction() as connection:
            return media.set_ids(connection, content)

    def file_at(self, path: str, size: int, changed: int) -> MediaFile | None:
        """The file that was last seen at this path, if it has this size and time of change: a quick look."""
        with self._opened.transaction() as connection:
            return media.at(connection, self.path, path, size, changed)

    def apart(self) -> list[tuple[str, str]]:
        """Pairs of sets that are certainly of different people, the smaller id first, in order."""
        with self._opened.transaction() as connection:
            return pairs.everything(connection, self.path)

    def decisions(self) -> list[Decision]:
        """What the user decided about sets and people, in the order in which it was decided."""
        return list(self.judgements()[0])

    def judgements(self) -> tuple[tuple[Decision, ...], tuple[Pair, ...]]:
        """`decisions` and `apart`, of one version; while they do not change, the very same objects."""
        with self._opened.transaction() as connection:
            self._log.catch_up(connection, self.path)
            return self._log.log, self._log.apart

    def models(self) -> list[Model]:
        """The current model, then those whose vectors lie beside it; none while the gallery is empty."""
        with self._opened.transaction() as connection:
            return models.everything(connection, self.path)

    def undescribed(self, name: str) -> list[str]:
        """Ids of the sets with faces that a model has not described yet."""
        with self._opened.transaction() as connection:
            return models.undescribed(connection, self.path, name)

    def vectors(self, set_id: str, name: str) -> Vectors:
        """What a model other than the current one made of the faces of a set (n, d); none it has not seen."""
        with self._opened.transaction() as connection:
            return models.vectors(connection, self.path, set_id, name)

    def events(self) -> list[Event]:
        """What was done to the gallery as a whole, in order: forgetting, upgrades, restores."""
        with self._opened.transaction() as connection:
            return events.everything(connection, self.path)

    def backups(self) -> list[Backup]:
        """The backups that were made, in order."""
        with self._opened.transaction() as connection:
            return events.backups(connection, self.path)

    def barred(self) -> Barred:
        """What must not enter again."""
        with self._opened.transaction() as connection:
            return self._barred.read(connection, self.path)

    def derived_mark(self) -> str | None:
        """What stands while derived tables may know removed sets; None if none does."""
        with self._opened.transaction() as connection:
            return purge.derived_mark(connection)

    def hint(self, name: str) -> str | None:
        """What `set_hint` was told last, or None."""
        queries.check_hint(name)
        with self._opened.transaction() as connection:
            return queries.fact(connection, name)

    def get(self, set_id: str, pictures: bool = False) -> FaceSet:
        """Read one set; raise NotFound with similar ids, or GalleryUnreadable if a checksum does not fit."""
        with self._opened.transaction() as connection:
            return rows.get(connection, self.path, set_id, pictures, seen=True)

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
        with self._opened.stream() as connection:
            with self._opened.reading(connection):
                # SQLite chooses the version at the first read, not at BEGIN.
                asked = queries.ids(connection, self.path) if ids is None else iter(queries.several(ids))
                queries.count(connection)
            for set_id in asked:
                with self._opened.reading(connection):
                    found = rows.get(connection, self.path, set_id)
                yield found
