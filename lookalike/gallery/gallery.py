"""Gallery: one SQLite file that is the only truth about which face sets there are."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

from numpy.typing import ArrayLike

from lookalike.errors import BadInput
from lookalike.faceset import FaceSet, natural_order
from lookalike.gallery import blocklist, deletion, history, media, models, opened, schema, set_rows
from lookalike.gallery.blocklist import Barred, Entry, RememberedBarred
from lookalike.gallery.connection import Connection
from lookalike.gallery.decision_log import Decision, Make, OpenLog, RememberedLog
from lookalike.gallery.deletion import Gone
from lookalike.gallery.history import Backup, Event
from lookalike.gallery.media import MediaFile, Pair
from lookalike.gallery.models import Model, Vectors
from lookalike.gallery.opened import Opened, WipeDue
from lookalike.gallery.set_rows import HINTS, Columns, SetFacts, Version

REMEMBERED: Final = 20_000  # sets whose files are remembered: about 1 kB each


@dataclass
class _Remembered:
    """What was read of one version of a gallery: pages and searches ask for it again and again."""

    version: Version | None = None
    contents: dict[str, str] | None = None
    fingerprint: str | None = None
    files: dict[str, list[MediaFile]] = field(default_factory=dict)


def open_gallery(path: str | Path, create: bool = False, wait: float = 30.0) -> Gallery:
    """Open the gallery file at a path; parameters and errors are those of `Gallery`.

    >>> from lookalike import open_gallery
    >>> open_gallery("new.gallery", create=True).close()
    """
    return Gallery(path, create, wait)


class Gallery:
    """The sets of one collection, in one file.

    Use it from any thread. Do not carry it into a forked process: open the gallery there again.

    Parameters
    ----------
    path : path
        The gallery file.
    create : bool
        Make an empty gallery if there is none.
    wait : float
        Seconds to wait for another process that is writing.

    Raises
    ------
    BadInput, NotFound
        If an earlier version split it into several files (see `lookalike merge`); or there is no such file.
    GalleryUnreadable, StorageFailed
        If the file is not a gallery, is damaged or was written by a newer version; or if the disk refuses.

    >>> from lookalike import FaceSet, Gallery
    >>> with Gallery("videos.gallery", create=True) as gallery:
    ...     gallery.add(FaceSet("clip-7", [[0.1, 0.9], [0.2, 0.8]])), len(gallery)
    (True, 1)
    """

    def __init__(self, path: str | Path, create: bool = False, wait: float = 30.0) -> None:
        self._opened = Opened(path, create, wait)
        self.path = self._opened.path
        self.is_closed = False
        self._remembered = _Remembered()
        self._log = RememberedLog()
        self._barred = RememberedBarred()
        # The version in which `opened.checked_version` found every face.
        self._counted: Version | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the file back; closing twice does nothing."""
        self.is_closed = True
        self._opened.close()

    # Reading.

    @property
    def descriptor(self) -> str | None:
        """What made the faces; None while the gallery is empty."""
        with self._opened.transaction() as connection:
            return set_rows.fact(connection, "descriptor")

    @property
    def dimension(self) -> int | None:
        """How many numbers describe a face; None while the gallery is empty."""
        with self._opened.transaction() as connection:
            return set_rows.dimension(connection, self.path)

    def __len__(self) -> int:
        with self._opened.transaction() as connection:
            return set_rows.count(connection)

    def __contains__(self, set_id: object) -> bool:
        with self._opened.transaction() as connection:
            return set_rows.has(connection, set_id)

    def ids(self) -> list[str]:
        """Every set id, sorted by code point."""
        with self._opened.transaction() as connection:
            return set_rows.ids(connection, self.path)

    def contents(self) -> dict[str, str]:
        """Id -> content hash of each set, sorted by id."""
        with self._opened.transaction() as connection:
            return dict(self._contents(connection))

    def fingerprint(self) -> str:
        """SHA-256 of descriptor, dimension, contents: two galleries with the same one rank alike."""
        with self._opened.transaction() as connection:
            return self._fingerprint(connection)

    def columns(self, ids: Iterable[str] | None = None) -> Iterator[Columns]:
        """The list of sets by id, some thousand at a time, or those of some ids; nobody waits meanwhile."""
        with self._opened.stream() as connection:
            some = set_rows.columns(connection, self.path, ids)
            with self._opened.reading(connection):
                found = next(some, None)
            while found is not None:
                yield found
                with self._opened.reading(connection):
                    found = next(some, None)

    def changed_elsewhere(self) -> int:
        """A number that is another one whenever somebody else has changed the gallery."""
        with self._opened.transaction() as connection:
            return set_rows.version(connection)[0]

    def changed_here(self) -> set[str]:
        """Ids of the sets that this object changed since it was asked last; the first time none."""
        with self._opened.lock:
            found, self._opened.connection.touched = self._opened.connection.touched, set()
            return found or set()

    def listing(self, ids: Iterable[str] | None = None) -> Iterator[SetFacts]:
        """What is known of each set without reading its faces, by id; or of some, in the order asked for."""
        with self._opened.transaction() as connection:
            return iter(set_rows.listing(connection, self.path, ids))

    def facts(self) -> dict[str, str | int | bool | None]:
        """Format, counts, size, descriptor, dimension, creation time, whether a wipe is due."""
        with self._opened.transaction() as connection:
            asked = "SELECT count(*), ifnull(sum(faces), 0), ifnull(sum(pictures), 0) FROM sets"
            sets, faces, pictures = connection.execute(asked).fetchone()
            asked = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
            size = connection.execute(asked).fetchone()[0]
            hints = {name: set_rows.fact(connection, name) for name in HINTS}
            return {
                "format": schema.found(connection),
                "sets": sets,
                "faces": faces,
                "pictures": pictures,
                "files": media.count(connection),
                "bytes": size,
                "descriptor": set_rows.fact(connection, "descriptor"),
                "dimension": set_rows.dimension(connection, self.path),
                "created": set_rows.fact(connection, "created"),
                "purge_due": opened.is_wipe_due(connection),
                **({"lacks": connection.lacks} if connection.lacks else {}),
                **{name: hint for name, hint in hints.items() if hint is not None},
            }

    def has_crops(self) -> bool:
        """Whether some of its pictures came as crops, and were not found in videos or photos."""
        with self._opened.transaction() as connection:
            unseen = " AND sighted IS NULL" if schema.found(connection) > 1 else ""
            asked = f"SELECT EXISTS (SELECT 1 FROM sets WHERE pictures > 0{unseen})"
            return bool(connection.execute(asked).fetchone()[0])

    def files(self) -> list[MediaFile]:
        """Every video and photo that was looked at, by path."""
        with self._opened.transaction() as connection:
            return media.everything(connection, self.path)

    def files_of(self, set_id: str) -> list[MediaFile]:
        """The videos and photos that a set has faces of, by path; none if that is not known."""
        with self._opened.transaction() as connection:
            return self._files_of(connection, set_id)

    def files_of_sets(self, ids: Iterable[str]) -> dict[str, list[MediaFile]]:
        """As `files_of`, of several sets in one version of the gallery; sets that it has not are left out."""
        with self._opened.transaction() as connection:
            return self._files(connection, [one for one in set_rows.several(ids) if isinstance(one, str)])

    def paths(self, ids: Iterable[str] | None = None) -> dict[str, list[str]]:
        """Where the videos and photos of some sets lie, as people order them.

        Of all sets unless ids are given, those left out then of which no file is known.
        """
        with self._opened.transaction() as connection:
            if ids is None:
                return media.paths(connection, self.path)
            files = {set_id: self._files_of(connection, set_id) for set_id in set_rows.several(ids)}
        return {one: sorted((file.path for file in files[one]), key=natural_order) for one in files}

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
            return media.pairs_apart(connection, self.path)

    def apart_of(self, ids: Iterable[str]) -> list[tuple[str, str]]:
        """As `apart`, those that name one of some sets: quick in a gallery of any size."""
        with self._opened.transaction() as connection:
            return media.pairs_apart_of(connection, self.path, set_rows.several(ids))

    def decisions(self) -> list[Decision]:
        """What the user decided about sets and people, in the order in which it was decided."""
        return list(self.decided())

    def decided(self) -> tuple[Decision, ...]:
        """As `decisions`; while nothing is decided, the very same object."""
        with self._opened.transaction() as connection:
            return self._log.read_log(connection, self.path)

    def judgements(self) -> tuple[tuple[Decision, ...], tuple[Pair, ...]]:
        """`decisions` and `apart`, of one version; while they do not change, the very same objects."""
        with self._opened.transaction() as connection:
            return self._log.read(connection, self.path)

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
            return history.everything(connection, self.path)

    def backups(self) -> list[Backup]:
        """The backups that were made, in order."""
        with self._opened.transaction() as connection:
            return history.backups(connection, self.path)

    def barred(self) -> Barred:
        """What must not enter again."""
        with self._opened.transaction() as connection:
            return self._barred.read(connection, self.path)

    def derived_mark(self) -> str | None:
        """What stands while derived tables may know removed sets; None if none does."""
        with self._opened.transaction() as connection:
            return opened.derived_mark(connection)

    @property
    def lacks(self) -> str:
        """Why it can only be read, having lost its journal, as a sentence; empty if it has not."""
        return self._opened.lacks

    def settle(self) -> bool:
        """Bring all that was kept into the file, as closing does; False while others use it."""
        return self._opened.settle()

    def wipe_due(self) -> WipeDue | None:
        """The wipe of the file that removals owe, if one is due: since when, how large, how long it takes."""
        return self._opened.wipe_due()

    def hint(self, name: str) -> str | None:
        """The hint that `set_hint` wrote last, or None."""
        _check_hint(name)
        with self._opened.transaction() as connection:
            return set_rows.fact(connection, name)

    def get(self, set_id: str, pictures: bool = False) -> FaceSet:
        """Read one set; raise NotFound with similar ids, or GalleryUnreadable if a checksum does not fit."""
        with self._opened.transaction() as connection:
            return set_rows.get(connection, self.path, set_id, pictures, seen=True)

    def sets(self, ids: Iterable[str] | None = None) -> Iterator[FaceSet]:
        """Read sets one by one, without pictures, all as they were when the first was asked for.

        All of them by id, or those of some ids in their order. What is removed meanwhile is wiped only when
        the iterator has ended or is dropped.
        """
        with self._opened.stream() as connection:
            with self._opened.reading(connection):
                # SQLite chooses the version at the first read, not at BEGIN.
                asked = set_rows.ids(connection, self.path) if ids is None else iter(set_rows.several(ids))
                set_rows.count(connection)
            for set_id in asked:
                with self._opened.reading(connection):
                    found = set_rows.get(connection, self.path, set_id)
                yield found

    # Changing.

    def add(self, faceset: FaceSet, descriptor: str = "array") -> bool:
        """Add a set, wholly or not at all; when this returns, the set is on the disk.

        Parameters
        ----------
        faceset : FaceSet
        descriptor : str
            What made its faces, for instance ``lbp:rows=6,columns=5``; the first set fixes it for all.

        Returns
        -------
        bool
            False if the same set is there already.

        Raises
        ------
        Conflict
            If the id is taken by other content, or the faces are of another kind, or the set is blocked.
        """
        set_rows.check(faceset, descriptor)
        with self._opened.transaction(writing=True) as connection:
            found = self._barred.read(connection, self.path)
            media.refuse_barred(self.path, found, (faceset,), descriptor)
            return set_rows.add(connection, self.path, faceset, descriptor)

    def add_together(
        self, sets: Sequence[FaceSet], apart: Iterable[tuple[str, str]] = (), descriptor: str = "array"
    ) -> None:
        """Add sets that were seen together, all of them or none; errors are those of `add`.

        Parameters
        ----------
        sets : sequence of FaceSet
        apart : iterable of pairs of ids, of these sets or of the gallery, certainly of different people
            NotFound if one is not there.
        descriptor : str
            What made the faces.
        """
        for faceset in sets:
            set_rows.check(faceset, descriptor)
        pairs_apart = media.checked_pairs(apart)
        with self._opened.transaction(writing=True) as connection:
            media.refuse_barred(self.path, self._barred.read(connection, self.path), sets, descriptor)
            for faceset in sets:
                set_rows.add(connection, self.path, faceset, descriptor)
            media.insert_pairs(connection, self.path, pairs_apart)

    def remove(self, ids: Iterable[str]) -> list[str]:
        """Remove sets, all of them or none, then wipe what they leave behind in the file; return their ids.

        The wipe rewrites the whole file (`opened` says why), at once if it is small. It stays due if the
        file is large, somebody is reading meanwhile, or we are killed: `wipe_due` tells, `wipe` does it.
        NotFound if one of them is not there.
        """
        asked = list(dict.fromkeys(set_rows.several(ids)))
        if not asked:
            return []
        with self._opened.transaction(writing=True) as connection:
            deletion.delete_sets(connection, self.path, asked)
            opened.mark_wipe_due(connection)
        self._opened.catch_up(wait=self._opened.wait)
        return asked

    def forget(self, ids: Iterable[str], bar: bool = False, people: Iterable[Entry] = ()) -> Gone:
        """Remove sets as `remove` does, write down that it was done, and bar what must not enter again.

        Parameters
        ----------
        ids : iterable of str
            Which sets, one at least. NotFound if one is not there; then none is removed.
        bar : bool
            Whether the content of the sets and of their files is blocked.
        people : iterable of Entry
            What people look like who are blocked.
        """
        asked = list(dict.fromkeys(set_rows.several(ids)))
        if not asked:
            raise BadInput("there is nothing to forget: name one set at least")
        with self._opened.transaction(writing=True) as connection:
            gone = deletion.forget_sets(connection, self.path, asked, bar, tuple(people))
        self._opened.catch_up(wait=self._opened.wait)
        return gone

    def unbar(self, event: int) -> int:
        """Let in again what one forgetting blocked, and wipe it; return how many entries that were."""
        with self._opened.transaction(writing=True) as connection:
            dropped = blocklist.drop(connection, event)
            if dropped:
                opened.mark_file_wipe_due(connection)
        self._opened.catch_up(wait=self._opened.wait)
        return dropped

    def wipe(self) -> None:
        """Do the wipe that removals owe, however large the file; raise StorageFailed if others use it."""
        self._opened.wipe()

    def settle_derived(self, mark: str) -> None:
        """Note that no derived table knows the sets removed before `derived_mark` said this."""
        with self._opened.transaction(writing=True) as connection:
            opened.settle_derived_mark(connection, mark)

    def keep_file(
        self,
        file: MediaFile,
        new: Sequence[FaceSet],
        grown: Sequence[FaceSet] = (),
        apart: Iterable[tuple[str, str]] = (),
        descriptor: str = "array",
    ) -> bool:
        """Keep a video or photo with everything found in it, wholly or not at all.

        Parameters
        ----------
        file : MediaFile
            One without any face is kept too, so that it is not looked at again.
        new : sequence of FaceSet
            Sets that begin with it.
        grown : sequence of FaceSet
            More faces of sets in the gallery, to be put behind those they have. Their origins stay.
        apart : iterable of pairs of ids
            Sets that are certainly of different people.
        descriptor : str
            What made the faces.

        Returns
        -------
        bool
            True if kept. False if the content of the file is known: then only its place is kept, and when it
            was taken if that was not asked before.

        Raises
        ------
        Conflict
            As `add`, or if the file is blocked, a set comes twice or grows by faces that are known otherwise.
        NotFound
            If a set that grows, or one of a pair, is not there.
        """
        given = media.Filed(file, tuple(new), tuple(grown), media.checked_pairs(apart), descriptor)
        with self._opened.transaction(writing=True) as connection:
            return media.keep(connection, self.path, given, self._barred.read(connection, self.path))

    def describe(self, name: str, vectors: Iterable[tuple[str, ArrayLike]]) -> None:
        """Keep what another model makes of the faces of some sets, beside what the current one made.

        All that is given is kept, or nothing. Give some sets at a time, and after an interruption go on with
        those that `undescribed` names. Raise Conflict if the model is the current one, or if it made vectors
        for more or fewer faces, or of another length.

        Parameters
        ----------
        name : str
            The model; its first vectors fix how many numbers it gives.
        vectors : iterable of (id, array (n, d)), each with all faces of its set in order
        """
        set_rows.check_name(name)
        given = models.checked(vectors)
        with self._opened.transaction(writing=True) as connection:
            models.insert(connection, self.path, name, given)

    def use(self, name: str) -> None:
        """Make a model the current one, and keep the vectors of the one it follows beside it.

        Content hashes change with the descriptors; ids, pictures and all else stay. Raise NotFound if the
        model has described nothing here, Conflict if it has not described every face.
        """
        with self._opened.transaction(writing=True) as connection:
            models.use(connection, self.path, name)

    def set_hint(self, name: str, value: str | None) -> None:
        """Remember a hint, or forget it.

        ``model_file`` says where the file of the current model lies, ``successor_told`` which better model
        was recommended to its owner.
        """
        _check_hint(name)
        with self._opened.transaction(writing=True) as connection:
            set_rows.set_fact(connection, name, value)

    def decide(self, make: Make) -> list[Decision]:
        """Store the decisions that `make` returns when it is given all decisions and all pairs apart.

        Nobody else decides in between. All are stored and returned with their numbers; or none, if `make`
        raises, or a set is not there (NotFound).
        """
        with self.deciding() as log:
            return log.add(make(list(log.decisions), list(log.apart)))

    @contextmanager
    def deciding(self, by: str = "") -> Iterator[OpenLog]:
        """The log of decisions, open for more: all that the block adds is stored, or, if it raises, nothing.

        Nobody else decides meanwhile. A program that shows a key gives what the key is called.
        """
        with self._opened.lock:
            with self._opened.transaction(writing=True) as connection:
                log = OpenLog(connection, self.path, *self._log.read(connection, self.path), by)
                before = set_rows.version(connection)
                yield log
                log.sign()
                after = set_rows.version(connection)
            # Only the log has changed, and only now for certain: nothing else need be read again.
            self._log.renew(log.decisions, after)
            if self._remembered.version == before:
                self._remembered.version = after

    # What is remembered of the version that a transaction sees.

    def _now(self, connection: Connection) -> _Remembered:
        version = set_rows.version(connection)
        if version != self._remembered.version:
            self._remembered = _Remembered(version)
        return self._remembered

    def _files_of(self, connection: Connection, set_id: str) -> list[MediaFile]:
        if not set_rows.has(connection, set_id):
            raise set_rows.unknown(connection, self.path, set_id)
        return self._files(connection, [set_id])[set_id]

    def _files(self, connection: Connection, ids: list[str]) -> dict[str, list[MediaFile]]:
        known = self._now(connection).files
        if len(known) + len(ids) > REMEMBERED:
            known.clear()
        known |= media.of_sets(connection, self.path, [one for one in ids if one not in known])
        return {one: list(known[one]) for one in ids if one in known}

    def _contents(self, connection: Connection) -> dict[str, str]:
        remembered = self._now(connection)
        if remembered.contents is None:
            remembered.contents = set_rows.contents(connection, self.path)
        return remembered.contents

    def _fingerprint(self, connection: Connection) -> str:
        remembered = self._now(connection)
        if remembered.fingerprint is None:
            kind = set_rows.fact(connection, "descriptor"), set_rows.dimension(connection, self.path)
            shaping = [*kind, list(self._contents(connection).items())]
            remembered.fingerprint = hashlib.sha256(json.dumps(shaping).encode()).hexdigest()
        return remembered.fingerprint


def _check_hint(name: object) -> None:
    if name not in HINTS:
        raise BadInput(f"a gallery keeps no hint {name!r}: give one of {', '.join(HINTS)}")
