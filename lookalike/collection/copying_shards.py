"""Copying a collection in several files: all of them, as they are at one moment, into another folder."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

from lookalike import disk
from lookalike.collection import checking_shards, connections, copying, membership, queries, retelling
from lookalike.collection.connections import Connection
from lookalike.collection.failures import in_words
from lookalike.collection.sharded import ShardedGallery
from lookalike.errors import Conflict, GalleryUnreadable
from lookalike.progress import Track, silent


def back_up(gallery: ShardedGallery, target: Path, track: Track = silent) -> int:
    """Copy all shards into a new folder, while others write; how many sets it holds.

    Every shard is read as it was when the first copy began: nobody is held up, and all are of one moment.
    """
    with in_words(target), _aside(target) as working:
        with gallery._together.streaming() as held:
            for place in track(list(held), "copying shards", len(held)):
                copying.fill(held[place], working / membership.file_name(place), is_held=True)
            sets = sum(map(queries.count, held.values()))
        membership.write(working, gallery.membership)
        _publish(working, target)
    return sets


def bring_back(
    origin: Path, target: Path, wait: float, track: Track = silent
) -> tuple[Path | None, tuple[str, ...]]:
    """Make a collection of a backup, after all of it was read and found good.

    Parameters
    ----------
    origin : Path
        The backup, which stays as it is.
    target : Path
        Nothing, or a collection, which is kept under another name.
    wait : float
        Seconds to wait until nobody else uses what is replaced.
    track : callable
        Shows progress.

    Returns
    -------
    tuple of Path or None and tuple of str
        Where the old collection is kept, and which sets are back that it had forgotten.
    """
    with in_words(origin):
        told = membership.read(origin)
    digest, contents = hashlib.sha256(), dict[str, str]()
    with _aside(target) as working:
        for name in track(told.files, "copying shards", told.shards):
            with in_words(origin / name), closing(connections.connect(origin / name, wait)) as connection:
                copying.fill(connection, working / name)
                contents |= queries.contents(connection, origin / name)
            digest.update(copying.sha256(working / name).encode())
        membership.write(working, told)
        if wrong := checking_shards.findings(working, track=track):
            raise GalleryUnreadable(
                f"{origin} is damaged ({wrong[0].what}): nothing was changed; use another backup"
            )
        first, backup = working / membership.file_name(0), digest.hexdigest()
        if not target.exists():
            back = retelling.tell(first, backup, contents=contents)
            _publish(working, target)
            return None, back
        kept = copying.free(target, "before-restore")
        with ExitStack() as stack:
            old = _alone(stack, target, wait)
            back = retelling.tell(first, backup, old, kept, contents)
            # Two steps: who is killed between them finds the old collection under its new name.
            disk.rename(target, kept)
            disk.rename(working, target)
            disk.sync(target.parent)
        return kept, back


def _alone(stack: ExitStack, folder: Path, wait: float) -> Connection | None:
    """Let nobody else use a collection; its shard 0, or None where it is too damaged to be asked."""
    found: Connection | None = None
    for path in membership.shard_files(folder):
        # Damage may be why it is replaced.
        with suppress(GalleryUnreadable):
            connection, _ = stack.enter_context(copying.alone(path, wait))
            found = connection if path.name == membership.file_name(0) else found
    return found


@contextmanager
def _aside(target: Path) -> Iterator[Path]:
    """A folder beside `target` to be filled; at the end of the block it goes, unless it got another name."""
    with in_words(target):
        working = target.parent / f".new-gallery-{disk.beside(target).name.removeprefix('.writing-')}"
        disk.make_folder(working)
    try:
        yield working
    finally:
        disk.delete_tree(working)


def _publish(working: Path, target: Path) -> None:
    """Give a finished folder its name."""
    disk.sync(working)
    if target.exists() or target.is_symlink():
        raise Conflict(f"{target} was made meanwhile by somebody else: choose another name")
    disk.rename(working, target)
    disk.sync(target.parent)
