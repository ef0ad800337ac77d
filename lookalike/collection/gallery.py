"""Gallery: one SQLite file that is the only truth about which face sets there are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Self

from numpy.typing import ArrayLike

from lookalike.collection import barred, decisions, filing, leaving, models, pairs, purge, queries, rows
from lookalike.collection.barred import Entry
from lookalike.collection.leaving import Gone
from lookalike.collection.media import MediaFile
from lookalike.collection.readable import Readable
from lookalike.decision import Decision
from lookalike.errors import BadInput
from lookalike.faceset import FaceSet


class Gallery(Readable):
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
    NotFound
        If there is no such file and `create` is false.
    GalleryUnreadable, StorageFailed
        If the file is not a gallery, is damaged or was written by a newer version; or if the disk refuses.
    """

    def __init__(self, path: str | Path, create: bool = False, wait: float = 30.0) -> None:
        super().__init__(path, create, wait)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the file back; closing twice does nothing."""
        self._opened.close()

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
            If the id is taken by other content, or the faces are of another descriptor or dimension; or if
            the set was barred.
        """
        rows.check(faceset, descriptor)
        with self._opened.transaction(writing=True) as connection:
            found = self._barred.read(connection, self.path)
            filing.refuse_barred(self.path, found, (faceset,), descriptor)
            return rows.add(connection, self.path, faceset, descriptor)

    def add_together(
        self, sets: Sequence[FaceSet], apart: Iterable[tuple[str, str]] = (), descriptor: str = "array"
    ) -> None:
        """Add sets that were seen together, all of them or none.

        Parameters
        ----------
        sets : sequence of FaceSet
        apart : iterable of pairs of ids
            Sets, of these or of the gallery, that are certainly of different people.
        descriptor : str
            What made the faces.

        Raises
        ------
        Conflict
            As `add`.
        NotFound
            If one of a pair is not there.
        """
        for faceset in sets:
            rows.check(faceset, descriptor)
        pairs_apart = pairs.checked(apart)
        with self._opened.transaction(writing=True) as connection:
            filing.refuse_barred(self.path, self._barred.read(connection, self.path), sets, descriptor)
            for faceset in sets:
                rows.add(connection, self.path, faceset, descriptor)
            pairs.insert(connection, pairs_apart, queries.lookup(connection, self.path))

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
        with self._opened.transaction(writing=True) as connection:
            filing.forget(connection, self.path, asked)
            purge.mark(connection)
        self._opened.catch_up(wait=self._opened.wait)
        return asked

    def forget(self, ids: Iterable[str], bar: bool = False, people: Iterable[Entry] = ()) -> Gone:
        """Remove sets as `remove` does, write down that it was done, and bar what must not enter again.

        Parameters
        ----------
        ids : iterable of str
            Which sets, one at least.
        bar : bool
            Whether the content of the sets and of their files is barred.
        people : iterable of Entry
            What people look like who are barred.

        Raises
        ------
        NotFound
            If one of them is not there; then none is removed.
        """
        asked = list(dict.fromkeys(queries.several(ids)))
        if not asked:
            raise BadInput("there is nothing to forget: name one set at least")
        with self._opened.transaction(writing=True) as connection:
            gone = leaving.forget(connection, self.path, asked, bar, tuple(people))
        self._opened.catch_up(wait=self._opened.wait)
        return gone

    def unbar(self, event: int) -> int:
        """Let in again what one forgetting barred, and wipe it; return how many entries that were."""
        with self._opened.transaction(writing=True) as connection:
            dropped = barred.drop(connection, event)
            if dropped:
                purge.mark_file(connection)
        self._opened.catch_up(wait=self._opened.wait)
        return dropped

    def settle_derived(self, mark: str) -> None:
        """Note that no derived table knows the sets removed before `derived_mark` said this."""
        with self._opened.transaction(writing=True) as connection:
            purge.derived_done(connection, mark)

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
            True if kept. False if the content of the file is known: then only its place is kept.

        Raises
        ------
        Conflict
            As `add`, or if the file was barred, a set is given twice or grows by faces of which more or less
            is known.
        NotFound
            If a set that grows, or one of a pair, is not there.
        """
        given = filing.Filed(file, tuple(new), tuple(grown), pairs.checked(apart), descriptor)
        with self._opened.transaction(writing=True) as connection:
            return filing.keep(connection, self.path, given, self._barred.read(connection, self.path))

    def describe(self, name: str, vectors: Iterable[tuple[str, ArrayLike]]) -> None:
        """Keep what another model makes of the faces of some sets, beside what the current one made.

        All that is given is kept, or nothing. Give some sets at a time, and after an interruption go on with
        those that `undescribed` names. Raise Conflict if the model is the current one, or if it made vectors
        for more or fewer faces, or of another length.

        Parameters
        ----------
        name : str
            The model; its first vectors fix how many numbers it gives.
        vectors : iterable of (id, array (n, d))
            Sets, each with all of its faces in order.
        """
        rows.check_name(name)
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

        ``model_file`` says where the file of the current model lies, ``successor_told`` of which better model
        its owner was told.
        """
        queries.check_hint(name)
        with self._opened.transaction(writing=True) as connection:
            queries.set_hint(connection, name, value)

    def decide(self, make: decisions.Make) -> list[Decision]:
        """Store decisions that follow from what was decided before, all of them or none.

        Nobody else decides between the look at the log and the writing.

        Parameters
        ----------
        make : callable
            Called with all decisions and all pairs apart; returns decisions that are not stored yet. What it
            raises leaves everything as it was.

        Returns
        -------
        list of Decision
            Those stored, with their numbers.

        Raises
        ------
        NotFound
            If a set is not there.
        """
        with self._opened.lock:
            with self._opened.transaction(writing=True) as connection:
                self._log.catch_up(connection, self.path)
                log, before = self._log.log, queries.version(connection)
                drafts = make(list(log), list(self._log.apart))
                made = decisions.insert(connection, drafts, queries.lookup(connection, self.path))
                after = queries.version(connection)
            # Only the log has changed, and only now for certain: nothing else need be read again.
            self._log.log, self._log.version = decisions.followed(log, made), after
            self._remembered.skip(before, after)
        return made
