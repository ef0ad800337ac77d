"""Gallery: one SQLite file that is the only truth about which face sets there are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Self

from numpy.typing import ArrayLike

from lookalike.collection import filing, media, models, pairs, purge, queries, rows
from lookalike.collection.media import MediaFile
from lookalike.collection.models import Model
from lookalike.collection.opened import Opened
from lookalike.collection.queries import SetFacts
from lookalike.faceset import FaceSet


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
    NotFound
        If there is no such file and `create` is false.
    GalleryUnreadable, StorageFailed
        If the file is not a gallery, is damaged or was written by a newer version; or if the disk refuses.
    """

    def __init__(self, path: str | Path, create: bool = False, wait: float = 30.0) -> None:
        self._opened = Opened(path, create, wait)
        self.path = self._opened.path
        self._remembered = queries.Remembered()

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
            If the id is taken by other content, or the faces are of another descriptor or dimension.
        """
        rows.check(faceset, descriptor)
        with self._opened.transaction(writing=True) as connection:
            return rows.add(connection, self.path, faceset, descriptor)

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
            As `add`, or if a set is given twice or grows by faces of which more or less is known.
        NotFound
            If a set that grows, or one of a pair, is not there.
        """
        given = filing.Filed(file, tuple(new), tuple(grown), pairs.checked(apart), descriptor)
        with self._opened.transaction(writing=True) as connection:
            return filing.keep(connection, self.path, given)

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
        """Remember a hint, or forget it: ``model_file`` says where the file of the current model lies."""
        queries.check_hint(name)
        with self._opened.transaction(writing=True) as connection:
            queries.set_hint(connection, name, value)

    # Asking.

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

    def file_of(self, content: str) -> MediaFile | None:
        """The file whose bytes have this SHA-256, if it was looked at."""
        with self._opened.transaction() as connection:
            return media.of(connection, self.path, content)

    def file_at(self, path: str, size: int, changed: int) -> MediaFile | None:
        """The file that was last seen at this path, if it has this size and time of change: a quick look."""
        with self._opened.transaction() as connection:
            return media.at(connection, self.path, path, size, changed)

    def apart(self) -> list[tuple[str, str]]:
        """Pairs of sets that are certainly of different people, the smaller id first, in order."""
        with self._opened.transaction() as connection:
            return pairs.everything(connection, self.path)

    def models(self) -> list[Model]:
        """The current model, then those whose vectors lie beside it; none while the gallery is empty."""
        with self._opened.transaction() as connection:
            return models.everything(connection, self.path)

    def undescribed(self, name: str) -> list[str]:
        """Ids of the sets with faces that a model has not described yet."""
        with self._opened.transaction() as connection:
            return models.undescribed(connection, self.path, name)

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
