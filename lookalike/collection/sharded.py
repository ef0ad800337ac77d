"""ShardedGallery: one collection in several gallery files, in a folder with a manifest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from numpy.typing import ArrayLike

from lookalike.collection import (
    arriving,
    barred,
    connections,
    decisions,
    finishing,
    handles,
    intents,
    membership,
    merging,
    models,
    purge,
    queries,
    rows,
)
from lookalike.collection.barred import Entry
from lookalike.collection.failures import in_words
from lookalike.collection.gallery import Gallery
from lookalike.collection.intents import Intent
from lookalike.collection.leaving import Gone
from lookalike.collection.media import MediaFile
from lookalike.collection.merging import Merged
from lookalike.collection.readable import Readable
from lookalike.collection.shards_read import ReadableShards
from lookalike.collection.standing_in import StandIns
from lookalike.collection.tables import TableStore
from lookalike.collection.together import Together
from lookalike.decision import Decision
from lookalike.errors import BadInput, LookalikeError
from lookalike.faceset import FaceSet


class Shard(Gallery):
    """One file of a collection, opened with all the others."""

    def __init__(self, path: Path, wait: float) -> None:
        Readable.__init__(self, path, wait=wait, is_part=True)


class ShardedGallery(ReadableShards, Gallery):
    """The sets of one collection, in several files; all that `Gallery` can do, with the same answers.

    Sets of one film or album lie in one file. What speaks of several sets (decisions), of the collection as
    a whole (history, backups, hints) or of what may enter it (barred) lies in shard 0.

    Parameters
    ----------
    path : path
        The folder.
    wait : float
        Seconds to wait for another process that is writing.
    partial : bool
        Whether to open it, for reading only, though shards are missing: their sets are as if they were not.

    Attributes
    ----------
    unreachable : tuple of int
        The places of the shards that are missing.

    Raises
    ------
    GalleryUnreadable
        If the folder is no collection, or a shard is missing, damaged or not where it belongs.
    StorageFailed
        If the disk refuses, or the system allows fewer open files than there are shards.
    """

    def __init__(self, path: str | Path, wait: float = 30.0, partial: bool = False) -> None:
        self.path = Path(path)
        # Where it was opened, should the process change its folder.
        folder = self.path.absolute()
        with in_words(self.path):
            self.membership = membership.read(self.path, partial)
            self.unreachable = membership.missing(self.path, self.membership)
        handles.make_room(self.path, self.membership.shards)
        shards: list[Shard] = []
        self._stand_ins = StandIns(self.membership, self.unreachable)
        try:
            for place, name in enumerate(self.membership.files):
                file = self._stand_ins.paths.get(place, self.path / name)
                shards.append(Shard(file, wait))
                with shards[-1]._opened.transaction() as connection:
                    membership.check(connection, file, self.membership, place)
            self._merged = Merged(self.path, shards)
            self._together = Together(self.path, shards, self._finish, self._why_not())
            self._store = TableStore.beside(folder)
            self._is_closed = False
            self._settle()
        except BaseException:
            for one in shards:
                one.close()
            self._stand_ins.close()
            raise

    def close(self) -> None:
        """Give the files back; closing twice does nothing."""
        with self._together.lock:
            if self._is_closed:
                return
            self._is_closed = True
            try:
                # What prevents it is told to whoever opens the collection next.
                with suppress(LookalikeError):
                    self._settle()
            finally:
                for one in self.shards:
                    one.close()
                self._stand_ins.close()

    @property
    def missing(self) -> str:
        """The names of the files that are missing; empty if none is."""
        return ", ".join(self.membership.files[place] for place in self.unreachable)

    def _why_not(self) -> str:
        """Why nothing can be changed; empty if it can."""
        if not self.unreachable:
            return ""
        why = f"{self.path} lacks {self.missing}, so nothing in it can be changed"
        return f"{why}: bring it back, or restore a backup"

    def _finish(self, intent: Intent) -> None:
        finishing.finish(self._together, self._merged, intent)

    def _settle(self) -> None:
        """Finish what somebody left half done, wipe what is due, delete tables that know removed sets."""
        if self.unreachable:
            return
        mark = self.derived_mark()
        if not connections.is_writable(self.shards[0].path):
            return
        for one in self.shards:
            one._opened.catch_up(derived=True)
        if mark is not None:
            with in_words(self.path):
                self._store.drop()
            self.settle_derived(mark)

    # Adding.

    def add(self, faceset: FaceSet, descriptor: str = "array") -> bool:
        """Add a set, wholly or not at all; when this returns, the set is on the disk. As `Gallery.add`."""
        rows.check(faceset, descriptor)
        return arriving.add(self._together, self._merged, faceset, descriptor)

    def add_together(
        self, sets: Sequence[FaceSet], apart: Iterable[tuple[str, str]] = (), descriptor: str = "array"
    ) -> None:
        """Add sets that were seen together, all of them or none. As `Gallery.add_together`."""
        arriving.add_together(self._together, self._merged, tuple(sets), apart, descriptor)

    def keep_file(
        self,
        file: MediaFile,
        new: Sequence[FaceSet],
        grown: Sequence[FaceSet] = (),
        apart: Iterable[tuple[str, str]] = (),
        descriptor: str = "array",
    ) -> bool:
        """Keep a video or photo with everything found in it, wholly or not at all. As `Gallery.keep_file`.

        Raises
        ------
        BadInput
            If its sets would lie in several shards: what stands before the last ``#`` of their ids must be
            the same.
        """
        found = tuple(new), tuple(grown)
        return arriving.keep_file(self._together, self._merged, file, *found, apart, descriptor)

    # Leaving.

    def remove(self, ids: Iterable[str]) -> list[str]:
        """Remove sets, all of them or none, then wipe what they leave behind. As `Gallery.remove`."""
        asked = list(dict.fromkeys(queries.several(ids)))
        if asked:
            finishing.remove(self._together, self._merged, asked)
        return asked

    def forget(self, ids: Iterable[str], bar: bool = False, people: Iterable[Entry] = ()) -> Gone:
        """Remove sets, write down that it was done, bar what must not enter again. As `Gallery.forget`."""
        asked = list(dict.fromkeys(queries.several(ids)))
        if not asked:
            raise BadInput("there is nothing to forget: name one set at least")
        return finishing.forget(self._together, self._merged, asked, bar, tuple(people))

    def unbar(self, event: int) -> int:
        """Let in again what one forgetting barred, and wipe it; return how many entries that were."""
        with self._together.changing((0,)) as held:
            dropped = barred.drop(held[0], event)
            if dropped:
                purge.mark_file(held[0])
        self.shards[0]._opened.catch_up(wait=self.shards[0]._opened.wait)
        return dropped

    def check_whole(self) -> None:
        """Refuse to go on where a shard is missing.

        Raises
        ------
        Conflict
            With its name.
        """
        self._together.check_whole()

    def settle_derived(self, mark: str) -> None:
        """Note that no derived table knows the sets removed before `derived_mark` said this."""
        with self._together.changing((0,)) as held:
            held[0].execute("DELETE FROM facts WHERE name = ? AND value = ?", (merging.DERIVED, mark))

    # Models, hints, decisions.

    def describe(self, name: str, vectors: Iterable[tuple[str, ArrayLike]]) -> None:
        """Keep what another model makes of the faces of some sets. As `Gallery.describe`.

        All that is given is kept, or nothing if it is refused. Who is killed may have kept that of some
        shards: `undescribed` names the rest.
        """
        rows.check_name(name)
        given = models.checked(vectors)
        owners = merging.places(self._merged, [set_id for set_id, _ in given])
        with self._together.changing({0, *owners}, reading=range(len(self.shards))) as held:
            current, lookup = self._merged.kind(held)[0], self._merged.lookup(held)
            found = {one.name: one.dimension for one in self._merged.models(held) if one.name != current}
            for set_id, faces in given:
                if name != current:
                    if reason := lookup(set_id):
                        raise reason
                    found.setdefault(name, faces.shape[1])
                    models.refuse_other_dimension(self.path, name, found[name], faces.shape[1])
            if name == current:
                models.insert(held[0], self.path, name, ())
            for place in owners:
                chosen = [one for one in given if self.shard_of(one[0]) == place]
                models.insert(held[place], self.path, name, chosen)

    def use(self, name: str) -> None:
        """Make a model the current one in all shards, or in none. As `Gallery.use`."""
        intent = Intent(intents.USE, (name,))
        with self._together.changing() as held:
            there = self._merged.models(held)
            if models.in_use(self.path, there, name).name == name:
                return
            for place, connection in held.items():
                finishing.use(connection, self._merged, place, name)
            [dimension] = [one.dimension for one in there if one.name == name]
            merging.claim(held[0], (name, dimension))
            queries.forget_facts(held[0], *queries.HINTS)
            intents.write(held[0], intent)
        finishing.clear(self._together, intent)

    def set_hint(self, name: str, value: str | None) -> None:
        """Remember a hint, or forget it. As `Gallery.set_hint`."""
        queries.check_hint(name)
        with self._together.changing((0,)) as held:
            queries.set_hint(held[0], name, value)

    def decide(self, make: decisions.Make) -> list[Decision]:
        """Store decisions that follow from earlier ones, all of them or none. As `Gallery.decide`."""
        first = self.shards[0]
        with self._together.lock:
            with self._together.changing((0,), reading=range(len(self.shards))) as held:
                log, apart = self._merged.judgements(held)
                before = queries.version(held[0])
                # Whoever removes a set locks shard 0 too: what is there now is there until this has ended.
                made = decisions.insert(held[0], make(list(log), list(apart)), self._merged.lookup(held))
                after = queries.version(held[0])
            # Only the log has changed, and only now for certain: nothing else need be read again.
            first._log.log, first._log.version = decisions.followed(log, made), after
            first._remembered.skip(before, after)
        return made
