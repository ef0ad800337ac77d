"""Opened: the file of a gallery while it is in use, shared by threads behind a lock."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lookalike.collection import connections, purge
from lookalike.collection.connections import Connection
from lookalike.collection.failures import in_words
from lookalike.collection.tables import TableStore
from lookalike.errors import BadInput, LookalikeError, NotFound

logger = logging.getLogger(__name__)


class Opened:
    """One gallery file, its connection and the wipe that removals owe.

    Short operations share one connection behind a lock, which is simpler than a connection for each thread
    and leaves none behind when a thread ends; long reading gets one of its own, so that it holds up nobody.

    Parameters
    ----------
    path : path
        The gallery file, as errors name it.
    create : bool
        Make an empty gallery if there is none.
    wait : float
        Seconds to wait for another process that is writing.
    """

    def __init__(self, path: str | Path, create: bool, wait: float) -> None:
        if "\0" in str(path):
            raise BadInput(f"a gallery path may not hold a NUL character, got {str(path)!r}: rename the file")
        self.path = Path(path)
        self.wait = wait
        self.streams = 0
        self._file = self.path.absolute()
        self.lock = threading.RLock()
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
            try:
                connections.check_whole(self._connection, self.path)
            except BaseException:
                self._connection.close()
                raise
        self.catch_up(derived=True)

    def close(self) -> None:
        """Give the file back; closing twice does nothing."""
        with self.lock:
            if self._connection is None:
                return
            try:
                self.catch_up(derived=True)
            finally:
                self._connection.close()
                self._connection = None

    @property
    def connection(self) -> Connection:
        """The connection of short operations; raise BadInput once the gallery is closed."""
        if self._connection is None:
            raise BadInput(f"the gallery {self.path} was closed: open it again to use it")
        return self._connection

    @contextmanager
    def transaction(self, writing: bool = False) -> Iterator[Connection]:
        """One version of the gallery; what the block writes is kept whole or not at all."""
        with self.lock, in_words(self.path):
            connection = self.connection
            with connections.transaction(connection, self._file, writing):
                yield connection

    @contextmanager
    def stream(self) -> Iterator[Connection]:
        """A connection of its own for long reading, to be asked inside `reading` blocks."""
        with self.lock, in_words(self.path):
            connections.check_same(self.connection, self._file)
            connection = connections.connect(self._file, self.wait)
            self.streams += 1
        try:
            with in_words(self.path):
                connection.execute("BEGIN")
            yield connection
        finally:
            connection.close()
            with self.lock:
                self.streams -= 1

    @contextmanager
    def reading(self, connection: Connection) -> Iterator[None]:
        """One step of a stream: refused once the gallery is closed, or if its file was exchanged."""
        with in_words(self.path):
            _ = self.connection
            yield
            connections.check_same(connection, self._file)

    def catch_up(self, wait: float = 0.0, derived: bool = False) -> None:
        """Do the wipe that removals owe; what prevents it is logged, since the sets are removed already.

        Parameters
        ----------
        wait : float
            Seconds to wait for those who read or write.
        derived : bool
            Whether derived tables go too, unless whoever removed sets has seen to them.
        """
        with self.lock:
            connection = self.connection
            if not connections.is_writable(self._file):
                return
            try:
                with in_words(self.path):
                    # Waiting for a reader of our own could be waiting for ourselves.
                    done = purge.wipe(connection, 0.0 if self.streams else wait)
                    mark = purge.derived_mark(connection) if derived else None
                    if mark is not None:
                        TableStore.beside(self._file).drop()
                        purge.derived_done(connection, mark)
                reason = "others are using it"
            except LookalikeError as error:
                done, reason = False, str(error)
        if not done:
            logger.warning("%s still holds traces of removed sets, to be wiped later: %s", self.path, reason)
