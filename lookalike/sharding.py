"""Split: spread a gallery over several files, which every command takes as it takes one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lookalike import disk
from lookalike.collection import connections, dividing, membership, queries, schema
from lookalike.collection.failures import in_words
from lookalike.collection.gallery import Gallery
from lookalike.collection.membership import NAME, UNFINISHED, Membership
from lookalike.errors import BadInput, GalleryUnreadable, NotFound
from lookalike.progress import Track, silent
from lookalike.room import Need, check


@dataclass(frozen=True)
class Divided:
    """What was written: the folder, and how many sets lie in how many shards."""

    folder: Path
    sets: int
    shards: int


def split(source: str | Path, folder: str | Path, shards: int, track: Track = silent) -> Divided:
    """Copy a gallery into a new collection of several files; the gallery stays as it is.

    Everything is in the collection: sets with pictures, sightings, vectors of other models, files, pairs,
    decisions, history, what is barred, hints, backups. Derived tables are made again when they are needed.
    Nobody can add to the gallery meanwhile. Killed half-way, what is there does not open, and the same
    command begins again.

    Parameters
    ----------
    source : path
        The gallery file, of today's format.
    folder : path
        Where to put the collection; a new or an empty folder.
    shards : int
        How many files, from 1 to 1000.
    track : callable
        Shows progress.

    Raises
    ------
    BadInput
        If the folder is not empty, the gallery is a collection or a shard already, or of an older format.
    NotFound, GalleryUnreadable, StorageFailed
        If there is no gallery, it is damaged, or the disk refuses: then there is no collection.
    """
    told, path, target = membership.new(shards), Path(source), Path(folder)
    if membership.is_collection(path):
        raise BadInput(f"{path} is a collection in several files already: name a gallery file")
    if not target.absolute().parent.is_dir():
        raise NotFound(f"the folder of {target} does not exist: make it first, or choose another place")
    with in_words(target):
        own = _unfinished(target)
        membership.check_folder(target, own)
    with Gallery(path) as gallery:
        check("splitting the gallery", Need(0, int(gallery.facts()["bytes"] or 0)), target.absolute().parent)
        # Nobody changes it while it is copied; a gallery that may not be written does not change anyway.
        writable = connections.is_writable(path)
        with gallery._opened.transaction() as connection:
            _check_source(connection, path)
        with gallery._opened.transaction(writing=writable) as connection:
            with in_words(target):
                _begin(target, own, told)
                given = dividing.shares(connection, shards)
                for place in track(range(shards), "writing shards", shards):
                    name = target / membership.file_name(place)
                    dividing.write_shard(connection, path, name, told, place, given)
                if wrong := dividing.lost(connection, path, target, told):
                    raise GalleryUnreadable(
                        f"{path} is damaged ({wrong}) and was not split: look at `lookalike verify {path}`"
                    )
                # From now on it is a collection.
                disk.replace(target / UNFINISHED, target / NAME)
            return Divided(target, queries.count(connection), shards)


def _check_source(connection: connections.Connection, path: Path) -> None:
    if queries.is_shard(connection):
        raise BadInput(f"{path} is a shard of a collection: name a gallery of its own")
    found = schema.found(connection)
    if found < schema.FORMAT:
        raise BadInput(
            f"{path} is of format {found}, and only format {schema.FORMAT} is split: "
            f"bring it there first by `lookalike upgrade {path}`"
        )


def _unfinished(folder: Path) -> list[str]:
    """Names in a folder that an interrupted split left there, and nobody else."""
    if not (folder / UNFINISHED).exists() or (folder / NAME).exists():
        return []
    return [one.name for one in folder.iterdir() if _is_own(one.name)]


def _is_own(name: str) -> bool:
    shard = name.removesuffix("-wal").removesuffix("-shm").removesuffix("-journal")
    return bool(membership.SHARD.fullmatch(shard)) or name == UNFINISHED or name.startswith(".")


def _begin(folder: Path, own: list[str], told: Membership) -> None:
    """Make the folder, or clear what an interrupted split left in it; from now on it is ours to fill."""
    if not folder.exists():
        disk.make_folder(folder)
        disk.sync(folder.absolute().parent)
    # The mark goes last: until then the rest is known as ours.
    for name in sorted(own, key=lambda one: one == UNFINISHED):
        disk.delete(folder / name)
    membership.write(folder, told, UNFINISHED)
