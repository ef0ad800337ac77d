"""Gallery: one SQLite file that is the only truth about which face sets there are."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import numpy as np

from lookalike.collection import connections, purge, queries, rows
from lookalike.collection.connections import Connection
from lookalike.collection.failures import in_words
from lookalike.collection.queries import SetFacts
from lookalike.errors import BadInput, Conflict, LookalikeError, NotFound
from lookalike.faceset import FaceSet, checked_faces

logger = logging.getLogger(__name__)


class Gallery:
    """The sets of one collection, in one file.

    Use it from any thread: short operations share one connection behind a lock, which is simpler than a
    connection for each thread and leaves none behind when a thread ends; `sets`, which may take minutes,
    reads through a connection of its own so that it holds up nobody. Do not carry it into a forked process:
    open the gallery there again.

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
    NotFound
        If there is no such file and `create` is false.
    GalleryUnreadable
        If the file is not a gallery, is damaged, or was written by a newer version.
    StorageFailed
        If the disk refuses.
    """

    def __init__(self, path: str | Path, create: bool = False, wait: float = 30.0) -> None:
        if "\0" in str(path):
            raise BadInput(f"a gallery path may not hold a NUL character, got {str(path)!r}: rename the file")
        self.path = Path(path)
        self._file = self.path.absolute()
        self._wait = wait
        self._lock = threading.RLock()
        self._streams = 0
        self._remembered = queries.Remembered()
        with in_words(self.path):
            if not self._file.exists():
                if not create:
                    raise NotFound(
                        f"there is no gallery at {path}: make one by adding sets to it (`lookalike add`)"
                    )
                connections.create(self._file)
            connections.check_file(self._file)
            connections.check_list(self._file, wait)
            self._connection: Connection | None = connections.connect(self._file, wait)
        self._catch_up()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the file back; closing twice does nothing."""
        with self._lock:
            if self._connection is None:
                return
            try:
                self._catch_up()
            finally:
                self._connection.close()
                self._connection = None

    # Changing.

    def add(self, faceset: FaceSet, descriptor: str = "array") -> bool:
        """Add a set, wholly or not at all; when this returns, the set is on the disk.

        Parameters
        ----------
        faceset : FaceSet
            The set.
        descriptor : str
            What made its faces, for instance ``lbp:rows=6,columns=5``; the first set fixes it for all.

        Returns
        -------
        bool
            True if added, False if the same set is there already.

        Raises
        ------
        Conflict
            If the id is taken by other content, or the faces are of another descriptor or dimension.
        """
        if not isinstance(faceset, FaceSet):
            raise BadInput(f"only a FaceSet can be added, got {type(faceset).__name__}: make one of it")
        if not isinstance(descriptor, str) or not descriptor.strip() or not descriptor.isprintable():
            raise BadInput(
                f"a descriptor must be named by printable text, got {descriptor!r}: say what made the faces"
            )
        # Rounding to single precision can make a row constant, and such a set could never be read back.
        checked_faces(faceset.faces, f"set {faceset.id!r} in single precision")
        content = faceset.content_hash()
        with self._transaction(writing=True) as connection:
            rows.settle_kind(connection, self.path, faceset, descriptor)
            there = connection.execute(
                "SELECT content, faces FROM sets WHERE id = ?", (faceset.id,)
            ).fetchone()
            if there is None:
                rows.insert(connection, faceset, content)
                return True
            # The same descriptors are the same set, however their pictures were encoded.
            same = there[0] == content or np.array_equal(
                self._read(connection, faceset.id, pictures=False).faces, faceset.faces
            )
            if not same:
                raise Conflict(
                    f"{self.path} already has a set {faceset.id!r}, with {there[1]} faces; the one given has "
                    f"{len(faceset)} faces with other content: remove it first or choose another id"
                )
            return False

    def remove(self, ids: Iterable[str]) -> list[str]:
        """Remove sets, all of them or none, then wipe what they leave behind in the file.

        The wipe rewrites the whole file (`purge` says why). If somebody is reading meanwhile, or we are
        killed, it stays due: it is done when this object is closed or the gallery is next opened.

        Parameters
        ----------
        ids : iterable of str
            Which sets.

        Returns
        -------
        list of str
            The ids removed, each once, in the order given.

        Raises
        ------
        NotFound
            If one of them is not there; then none is removed.
        """
        asked = list(dict.fromkeys(queries.several(ids)))
        if not asked:
            return []
        with self._transaction(writing=True) as connection:
            for set_id in asked:
                if not queries.has(connection, set_id):
                    raise queries.unknown(connection, self.path, set_id)
            for set_id in asked:
                rows.delete(connection, set_id)
            if queries.count(connection) == 0:
                # An empty gallery takes any kind of face again.
                connection.execute("DELETE FROM facts WHERE name IN ('descriptor', 'dimension')")
            purge.mark(connection)
        self._catch_up(wait=self._wait)
        return asked

    # Asking.

    @property
    def descriptor(self) -> str | None:
        """What made the faces; None while the gallery is empty."""
        with self._transaction() as connection:
            return queries.fact(connection, "descriptor")

    @property
    def dimension(self) -> int | None:
        """How many numbers describe a face; None while the gallery is empty."""
        with self._transaction() as connection:
            return queries.dimension(connection, self.path)

    def __len__(self) -> int:
        with self._transaction() as connection:
            return queries.count(connection)

    def __contains__(self, set_id: object) -> bool:
        with self._transaction() as connection:
            return queries.has(connection, set_id)

    def ids(self) -> list[str]:
        """Every set id, sorted by code point."""
        with self._transaction() as connection:
            return queries.ids(connection, self.path)

    def contents(self) -> dict[str, str]:
        """Id -> content hash of each set, sorted by id."""
        with self._transaction() as connection:
            return self._remembered.contents(connection, self.path)

    def fingerprint(self) -> str:
        """SHA-256 of descriptor, dimension, contents: two galleries with the same one rank alike."""
        with self._transaction() as connection:
            return self._remembered.fingerprint(connection, self.path)

    def listing(self) -> Iterator[SetFacts]:
        """What is known of each set without reading its faces, by id."""
        with self._transaction() as connection:
            return iter(queries.listing(connection, self.path))

    def facts(self) -> dict[str, str | int | bool | None]:
        """Format, counts, size, descriptor, dimension, creation time, whether a wipe is due."""
        with self._transaction() as connection:
            return queries.overview(connection, self.path)

    def get(self, set_id: str, pictures: bool = False) -> FaceSet:
        """Read one set; raise NotFound with similar ids, or GalleryUnreadable if a checksum does not fit."""
        with self._transaction() as connection:
            return self._read(connection, set_id, pictures)

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
        with self._lock, in_words(self.path):
            connections.check_same(self._open(), self._file)
            connection = connections.connect(self._file, self._wait)
            self._streams += 1
        try:
            with in_words(self.path):
                connection.execute("BEGIN")
                # SQLite chooses the version at the first read, not at BEGIN.
                asked = queries.ids(connection, self.path) if ids is None else iter(queries.several(ids))
                queries.count(connection)
            for set_id in asked:
                with in_words(self.path):
                    self._open()
                    found = self._read(connection, set_id, pictures=False)
                    connections.check_same(connection, self._file)
                yield found
        finally:
            connection.close()
            with self._lock:
                self._streams -= 1

    # Workings.

    def _open(self) -> Connection:
        if self._connection is None:
            raise BadInput(f"the gallery {self.path} was closed: open it again to use it")
        return self._connection

    @contextmanager
    def _transaction(self, writing: bool = False) -> Iterator[Connection]:
        with self._lock, in_words(self.path):
            connection = self._open()
            with connections.transaction(connection, self._file, writing):
                yield connection

    def _read(self, connection: Connection, set_id: str, pictures: bool) -> FaceSet:
        if not queries.has(connection, set_id):
            raise queries.unknown(connection, self.path, set_id)
        dimension = queries.dimension(connection, self.path)
        found = rows.read(connection, self.path, set_id, dimension, pictures) if dimension else None
        if found is None:
            raise rows.damaged(self.path, f"set {set_id!r} is listed but cannot be found")
        return found

    def _catch_up(self, wait: float = 0.0) -> None:
        """Do the wipe that removals owe; what prevents it is logged, since the sets are removed already."""
        with self._lock:
            connection = self._open()
            if not connections.is_writable(self._file):
                return
            try:
                with in_words(self.path):
                    # Waiting for a reader of our own could be waiting for ourselves.
                    done = purge.wipe(connection, 0.0 if self._streams else wait)
                reason = "others are using it"
            except LookalikeError as error:
                done, reason = False, str(error)
        if not done:
            logger.warning("%s still holds traces of removed sets, to be wiped later: %s", self.path, reason)
