"""Upgrade: bring a gallery to today's format at once; the old file stays until the new one is complete."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from lookalike import disk
from lookalike.collection import checking, connections, copying, events, queries, schema
from lookalike.collection.failures import in_words
from lookalike.errors import GalleryUnreadable, NotFound
from lookalike.progress import Track, silent


@dataclass(frozen=True)
class Upgraded:
    """What became of a gallery: its format before and now, and where the old file is kept, if it is."""

    before: int
    after: int
    kept: Path | None


def upgrade(path: str | Path, keep: bool = True, track: Track = silent, wait: float = 30.0) -> Upgraded:
    """Bring a gallery to today's format.

    A copy is brought to it and read whole, then takes the place of the gallery in one step. Until then the
    gallery is as it was; nobody else can use it meanwhile.

    Parameters
    ----------
    path : path
        The gallery.
    keep : bool
        Whether the old file is kept beside it, as ``.format-3`` for format 3.
    track : callable
        Shows progress.
    wait : float
        Seconds to wait until nobody else uses it.

    Raises
    ------
    NotFound, GalleryUnreadable
        If there is no gallery, or it is damaged, or of a newer format: nothing is changed.
    StorageFailed
        If the disk refuses, or others use it: nothing is changed.
    """
    if not Path(path).exists():
        raise NotFound(f"there is no gallery at {path}: name the gallery file")
    target = Path(path).resolve()
    with in_words(Path(path)):
        connections.check_file(target)
        with closing(connections.connect(target, wait)) as connection:
            connections.check_whole(connection, Path(path))
            before = schema.found(connection)
    if before == schema.FORMAT:
        return Upgraded(before, before, None)
    kept = copying.free(target, f"format-{before}") if keep else None
    with in_words(Path(path)), copying.alone(target, wait) as (old, file), copying.aside(target) as new:
        before = schema.found(old)  # somebody may have changed it meanwhile, and so upgraded it
        if before == schema.FORMAT:
            return Upgraded(before, before, None)
        # Nobody else has it open and the journal is folded in: its bytes are the gallery.
        disk.copy_new(new, file)
        with copying.changed(new) as connection:
            schema.migrate(connection)
            events.insert(connection, "upgrade", {"from": before, "to": schema.FORMAT})
            if kept is not None:
                events.note_backup(connection, kept)
            same = queries.contents(connection, new) == queries.contents(old, target)
        wrong = checking.findings(new, track=track)
        if wrong or not same:
            what = wrong[0].what if wrong else "its sets are not those of the old format"
            raise GalleryUnreadable(
                f"{path} is damaged ({what}) and was left as it is: look at `lookalike verify {path}`"
            )
        copying.put(new, target, kept)
    return Upgraded(before, schema.FORMAT, kept)
