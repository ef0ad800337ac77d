"""Together: the files of one collection, read as they are at one moment and changed in one step."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lookalike.collection import intents
from lookalike.collection.connections import Connection
from lookalike.collection.failures import in_words
from lookalike.collection.intents import Intent
from lookalike.errors import Conflict

if TYPE_CHECKING:
    from lookalike.collection.gallery import Gallery

# Connections by the place of their shard, each in a transaction.
Held = dict[int, Connection]
# So often all shards are read again because one of them changed between the first and the last. Under more
# writers than that, only changes of several shards are seen wholly or not at all, since all of those change
# shard 0; of single sets that come meanwhile, some may be seen and some not.
TRIES: Final = 20


class Together:
    """Shards that belong together; one lock for all of them, so that threads cannot wait for each other.

    Parameters
    ----------
    path : Path
        The folder, as errors name it.
    shards : sequence of Gallery
        All of them, in order.
    finish : callable
        Finishes what somebody left half done.
    refusal : str
        Why nothing may be changed; empty if it may.
    """

    def __init__(
        self, path: Path, shards: Sequence[Gallery], finish: Callable[[Intent], None], refusal: str = ""
    ) -> None:
        self.path = path
        self._refusal = refusal
        self.shards = tuple(shards)
        self.lock = threading.RLock()
        self._finish = finish

    @contextmanager
    def reading(self, places: Iterable[int] | None = None) -> Iterator[Held]:
        """One version of some shards, or of all; shard 0 is always among them."""
        chosen = self._chosen(places)
        with self.lock:
            while True:
                with ExitStack() as stack:
                    held = {
                        place: stack.enter_context(self.shards[place]._opened.transaction())
                        for place in chosen
                    }
                    intent = self._pinned(held)
                    if intent is None:
                        yield held
                        return
                self._finish(intent)

    @contextmanager
    def changing(
        self, places: Iterable[int] | None = None, reading: Iterable[int] = (), despite: Intent | None = None
    ) -> Iterator[Held]:
        """Some shards, or all, locked for writing; at the end of the block shard 0 commits first.

        Parameters
        ----------
        places : iterable of int, optional
        reading : iterable of int
            Shards to be read as they are now; shard 0 always is.
        despite : Intent, optional
            What is being finished; anything else that is owed is done first.
        """
        self.check_whole()
        # From the last to the first: everybody does so, hence nobody waits in a circle. They are left in the
        # opposite order.
        chosen = sorted(range(len(self.shards)) if places is None else set(places), reverse=True)
        with self.lock:
            while True:
                with ExitStack() as stack:
                    held = {
                        place: stack.enter_context(self.shards[place]._opened.transaction(writing=True))
                        for place in chosen
                    }
                    for place in sorted({0, *reading} - held.keys()):
                        held[place] = stack.enter_context(self.shards[place]._opened.transaction())
                    intent = intents.read(held[0], self.shards[0].path)
                    if intent is None or intent == despite:
                        yield dict(sorted(held.items()))
                        return
                self._finish(intent)

    def check_whole(self) -> None:
        """Refuse a change where a shard is missing.

        Raises
        ------
        Conflict
            With the reason.
        """
        if self._refusal:
            raise Conflict(self._refusal)

    @contextmanager
    def streaming(self, places: Iterable[int] | None = None) -> Iterator[Held]:
        """As `reading`, by connections of its own, for long reading: nobody is held up."""
        chosen = self._chosen(places)
        while True:
            with ExitStack() as stack:
                with self.lock:
                    held = {
                        place: stack.enter_context(self.shards[place]._opened.stream()) for place in chosen
                    }
                    intent = self._pinned(held)
                if intent is None:
                    yield held
                    return
            self._finish(intent)

    def _chosen(self, places: Iterable[int] | None) -> list[int]:
        return list(range(len(self.shards))) if places is None else sorted({0, *places})

    def _pinned(self, held: Held) -> Intent | None:
        """Let all connections see one moment; what is owed at that moment."""
        with in_words(self.path):
            before: list[int] = []
            # If no shard changed between two looks at it, and every first look was before every second one,
            # then all second looks together are what there was between the two.
            for tried in itertools.count():
                now = [_looked(connection) for connection in held.values()]
                if now == before or len(now) == 1 or (tried > TRIES and now[0] == before[0]):
                    break
                before = now
            return intents.read(held[0], self.shards[0].path)


def _looked(connection: Connection) -> int:
    """Begin to read the newest version; its number."""
    connection.execute("ROLLBACK")
    connection.execute("BEGIN")
    return int(connection.execute("PRAGMA data_version").fetchone()[0])
