"""Back up: a whole copy of a gallery while others write it, and back again."""

from __future__ import annotations

from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from lookalike import disk
from lookalike.collection import checking, connections, copying, events, queries, retelling
from lookalike.collection.failures import in_words
from lookalike.collection.gallery import Gallery
from lookalike.collection.opening import open_gallery
from lookalike.collection.tables import TableStore
from lookalike.errors import BadInput, Conflict, GalleryUnreadable, LookalikeError, NotFound, StorageFailed
from lookalike.indexing import table_fits
from lookalike.progress import Track, silent


@dataclass(frozen=True)
class BackedUp:
    """A backup that was made.

    Parameters
    ----------
    path : Path
        Where it lies.
    sets : int
        How many sets it holds.
    is_noted : bool
        Whether the gallery knows of it, so that ``forget`` can name it.
    """

    path: Path
    sets: int
    is_noted: bool


@dataclass(frozen=True)
class Restored:
    """A gallery that was restored.

    Parameters
    ----------
    sets : int
        How many sets it holds.
    kept : Path or None
        Where the gallery lies that was there before.
    back : tuple of str
        Sets that were forgotten after the backup was made, and are back.
    """

    sets: int
    kept: Path | None
    back: tuple[str, ...]


def backup(gallery: Gallery, destination: str | Path, track: Track = silent) -> BackedUp:
    """Copy a gallery as it is now into a new file; others may go on reading and writing.

    Parameters
    ----------
    gallery : Gallery
    destination : path
        The file to write, or a folder, in which it is called after the gallery and the time.
    track : callable
        Shows progress.

    Raises
    ------
    Conflict
        If there is such a file already: nothing is ever overwritten.
    StorageFailed
        If the disk refuses; then there is no backup.
    """
    target = _target(gallery.path, Path(destination)).absolute()
    if target.exists() or target.is_symlink():
        raise Conflict(f"{target} is there already, and a backup overwrites nothing: choose another name")
    _check_folder(target)
    # Noted before it is there: a note too many is harmless, a backup that nobody knows of is not.
    note = _noted(gallery, target)
    try:
        with in_words(target), copying.aside(target) as working:
            with gallery._opened.stream() as connection:
                copying.fill(connection, working, track, is_held=True)
                sets = queries.count(connection)
            if not disk.publish(working, target):
                raise Conflict(f"{target} was made meanwhile by somebody else: choose another name")
    except BaseException:
        if note is not None:
            with suppress(LookalikeError), gallery._opened.transaction(writing=True) as connection:
                events.forget_backup(connection, note)
        raise
    return BackedUp(target, sets, note is not None)


def restore(
    source: str | Path, path: str | Path, replace: bool = False, track: Track = silent, wait: float = 30.0
) -> Restored:
    """Make a gallery of a backup, after all of it was read and found good.

    Parameters
    ----------
    source : path
        The backup; it stays as it is.
    path : path
        The gallery to make.
    replace : bool
        Whether a gallery that is there may be replaced; it is kept beside it as ``.before-restore``.
    track : callable
        Shows progress.
    wait : float
        Seconds to wait until nobody else uses the gallery that is replaced.

    Raises
    ------
    BadInput
        If `path` is the backup itself, or a folder.
    Conflict
        If there is something at `path` and it may not be replaced.
    NotFound, GalleryUnreadable
        If there is no backup or no folder to put it in, or it is damaged: nothing is changed.
    StorageFailed
        If the disk refuses, or others use the gallery: nothing is changed.
    """
    origin, target = Path(source), Path(path).absolute()
    if not origin.exists():
        raise NotFound(f"there is no backup at {origin}: name the file that `lookalike backup` made")
    with in_words(origin):
        connections.check_file(origin)
        if target.exists() and target.samefile(origin):
            raise BadInput(f"{origin} cannot be restored to itself: name another gallery")
    if target.is_dir():
        raise BadInput(f"{path} is a folder: name the gallery file to make")
    is_there = target.exists() or target.is_symlink()
    if is_there and not replace:
        raise Conflict(
            f"{path} is there already: restore to another name, or replace it (--replace), "
            f"which keeps the old one"
        )
    _check_folder(target)
    target = target.resolve()  # a link leads to its gallery, which is what is replaced
    if not is_there and Path(f"{target}-wal").exists():
        raise StorageFailed(
            f"{target}-wal is left from a gallery that is gone: bring that back, or delete it"
        )
    with in_words(target), copying.aside(target) as new:
        with in_words(origin), closing(connections.connect(origin.absolute(), wait)) as connection:
            copying.fill(connection, new, track)
        _check(new, origin, track)
        if is_there:
            kept, back = _replace(new, origin, target, wait)
        else:
            kept, back = None, ()
            retelling.tell(new, copying.sha256(origin))
            if not disk.publish(new, target):
                raise Conflict(f"{path} was made meanwhile by somebody else: choose another name")
    return _restored(target, kept, back)


def _restored(target: Path, kept: Path | None, back: tuple[str, ...]) -> Restored:
    with open_gallery(target) as gallery:
        store = TableStore.beside(target)
        # Tables of the gallery that was there may know sets that this one does not.
        store.erase_others([one.path for one in store.stored() if table_fits(gallery, one)])
        return Restored(len(gallery), kept, back)


def _target(gallery: Path, destination: Path) -> Path:
    if not destination.is_dir():
        return destination
    when = datetime.now(UTC).strftime("%Y-%m-%dT%H%M%SZ")
    return destination / f"{gallery.stem}-{when}{gallery.suffix or '.gallery'}"


def _check_folder(target: Path) -> None:
    if not target.parent.is_dir():
        raise NotFound(f"the folder {target.parent} does not exist: make it first, or choose another place")


def _noted(gallery: Gallery, target: Path) -> int | None:
    """Note a backup in the gallery; not in one of an older format, which that would change, or read-only."""
    if int(gallery.facts()["format"] or 0) < events.SINCE or not connections.is_writable(gallery.path):
        return None
    with gallery._opened.transaction(writing=True) as connection:
        return events.note_backup(connection, target)


def _check(new: Path, origin: Path, track: Track) -> None:
    wrong = checking.findings(new, track=track)
    if wrong:
        raise GalleryUnreadable(
            f"{origin} is damaged ({wrong[0].what}): nothing was changed; use another backup"
        )


def _replace(new: Path, origin: Path, target: Path, wait: float) -> tuple[Path, tuple[str, ...]]:
    kept = copying.free(target, "before-restore")
    with ExitStack() as stack:
        try:
            old, _ = stack.enter_context(copying.alone(target, wait))
        except GalleryUnreadable:
            # It is damaged, which is why it is replaced; nothing can be carried over from it.
            back = retelling.tell(new, copying.sha256(origin), None, kept)
            copying.put_over_damaged(new, target, kept)
        else:
            back = retelling.tell(new, copying.sha256(origin), old, kept)
            copying.put(new, target, kept)
    return kept, back
