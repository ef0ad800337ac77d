"""Verify: read all of a gallery and of what is derived from it, tell what is wrong, mend what can be."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from lookalike import preparing
from lookalike.collection import checking, manifest, shelved
from lookalike.collection.failures import in_words
from lookalike.collection.findings import Finding, of_gallery, of_table
from lookalike.collection.gallery import Gallery
from lookalike.collection.opening import open_gallery
from lookalike.collection.tables import StoredTables, TableStore
from lookalike.errors import GalleryUnreadable, LookalikeError
from lookalike.indexing import index
from lookalike.packing import ids_of, is_index
from lookalike.progress import Track, silent
from lookalike.training import train

UNFINISHED: Final = "unfinished "


class Repaired(NamedTuple):
    """What a repair did."""

    deleted: tuple[str, ...]  # kinds or folders of tables
    rebuilt: tuple[str, ...]  # kinds that were made again at once; the others are when they are needed
    left: tuple[Finding, ...]  # what is not derived: only a backup helps, or removing sets


def verify(gallery: Gallery | str | Path, track: Track = silent) -> list[Finding]:
    """Read everything and tell what is not as it was written; nothing is changed.

    Parameters
    ----------
    gallery : Gallery or path
        A gallery that is too damaged to be opened can be named by its path.
    track : callable
        Shows progress.

    Returns
    -------
    list of Finding
        Empty if all is sound. Those of kind ``litter`` do no harm.

    Raises
    ------
    NotFound, GalleryUnreadable
        If there is no such file, or it is not a gallery, or one of a newer format.
    StorageFailed
        If the disk refuses.
    """
    path = gallery.path if isinstance(gallery, Gallery) else Path(gallery)
    found = [_called(one, path) for one in checking.findings(path.absolute(), track=track)]
    with in_words(path):
        found += shelved.strangers(path.resolve())
        tables = shelved.paths(TableStore.beside(path).folder)
    advice = f"make it again by `lookalike verify {shlex.quote(str(path))} --repair`"
    opened = gallery if isinstance(gallery, Gallery) else None
    if opened is None:
        try:
            opened = open_gallery(path)
        except GalleryUnreadable as reason:
            # Mostly told already; tables can then only be held against themselves.
            found += [] if any(one.kind == "gallery" for one in found) else [of_gallery(path, reason)]
    try:
        for one in track(tables, "checking derived tables", len(tables)):
            found += _table_findings(one, opened, advice)
    finally:
        if opened is not None and opened is not gallery:
            opened.close()
    return found


def repair(gallery: Gallery, findings: Sequence[Finding], track: Track = silent) -> Repaired:
    """Delete the derived tables that are not sound, and make them again where the gallery allows it.

    Parameters
    ----------
    gallery : Gallery
    findings : sequence of Finding
        As `verify` returned them.
    track : callable
        Shows progress.
    """
    bad = {Path(one.where) for one in findings if one.is_derived}
    store = TableStore.beside(gallery.path)
    kinds = {path: _kind(path) for path in bad}
    store.erase_others([path for path in shelved.paths(store.folder) if path not in bad])
    made = {kind for kind in kinds.values() if kind is not None and _made_again(gallery, kind, track)}
    names = {kind if kind is not None else path.parent.name for path, kind in kinds.items()}
    left = tuple(one for one in findings if one.kind == "gallery")
    return Repaired(tuple(sorted(names)), tuple(sorted(made)), left)


def _called(one: Finding, path: Path) -> Finding:
    """The gallery as the user calls it."""
    full, said = str(path.absolute()), str(path)
    where = one.where.replace(full, said)
    return Finding(one.what.replace(full, said), where, one.kind, one.advice, one.sets)


# Derived tables.


def _table_findings(path: Path, gallery: Gallery | None, advice: str) -> Iterator[Finding]:
    seen = shelved.look(path, advice)
    yield from seen.findings
    if seen.stored is None or gallery is None or seen.stored.manifest.kind.startswith(UNFINISHED):
        return
    try:
        with in_words(path):
            for what in _sets_that_left(seen.stored, gallery):
                yield of_table(path, what, advice)
    except GalleryUnreadable:
        return  # of the gallery, which is told where it is read
    except (LookalikeError, ValueError, KeyError, IndexError, TypeError) as reason:
        yield of_table(path, f"it cannot be held against the gallery ({reason})", advice)


def _sets_that_left(stored: StoredTables, gallery: Gallery) -> Iterator[str]:
    """Say that an index knows sets which the gallery does not hold."""
    if is_index(stored) and (gone := set(ids_of(stored.arrays)) - set(gallery.ids())):
        yield f"it knows {len(gone)} sets that the gallery does not hold (any more)"


# Repair.


def _kind(path: Path) -> str | None:
    with suppress(Exception):
        return manifest.read(path).kind
    return None


def _made_again(gallery: Gallery, kind: str, track: Track) -> bool:
    """Make an index, a preparation or a second stage again; the rest is made when it is needed."""
    try:
        if kind.startswith("preparation "):
            preparing.prepare(gallery, kind.removeprefix("preparation "), track)
            return True
        learnt, _, on = kind.rpartition(" on ")
        seed = re.search(r" seed (\d+)$", on)
        similarity, _, preparation = (on[: seed.start()] if seed else on).partition(" after ")
        tables = index(gallery, similarity, track, preparation or "none")
        if learnt:
            train(tables, learnt, int(seed[1]) if seed else 0, gallery, track)
    except LookalikeError:  # a gallery that is damaged itself, or a kind that is no such part
        return False
    return True
