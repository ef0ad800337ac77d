"""Verify: read all of a gallery and of what is derived from it, tell what is wrong, mend what can be."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from numpy.typing import NDArray

from lookalike import atomic
from lookalike.errors import GalleryUnreadable, LookalikeError, in_words
from lookalike.gallery import checks
from lookalike.gallery.checks import Finding, litter, of_gallery, of_table
from lookalike.gallery.gallery import Gallery, open_gallery
from lookalike.indexing import manifest, store, transform
from lookalike.indexing.build import index
from lookalike.indexing.fit import train
from lookalike.indexing.manifest import CHECKED_NAME
from lookalike.indexing.store import FINGERPRINT, KIND_FOLDER, StoredTables, TableStore
from lookalike.method.tables import ids_of
from lookalike.progress import Track, silent

# What lookalike writes aside beside a gallery, and leaves there if it is killed.
ASIDE = (atomic.NEW_GALLERY, atomic.WRITING)


@dataclass(frozen=True)
class Shelved:
    """One table folder."""

    path: Path
    stored: StoredTables | None  # its arrays, if they can be opened and are those that were saved
    findings: tuple[Finding, ...]  # what is wrong with its files


def paths(folder: Path) -> list[Path]:
    """The folders of all tables, readable or not."""
    kinds = [each for each in _entries(folder) if _is_folder(each) and KIND_FOLDER.fullmatch(each.name)]
    return [
        each
        for kind in kinds
        for each in _entries(kind)
        if _is_folder(each) and FINGERPRINT.fullmatch(each.name)
    ]


def look(path: Path, repair: str) -> Shelved:
    """Read every array of one table, whatever was noted of it; `repair` is the advice of a finding."""
    try:
        described = manifest.read(path)
        home = TableStore(path.parent.parent)._place(described.kind, described.fingerprint)
        if home != path:
            raise ValueError(f"it describes {described.kind!r} {described.fingerprint!r}")
    except FileNotFoundError:
        # The manifest goes first when a table is erased: from then on it counts as absent.
        return Shelved(path, None, (litter(path, "a table that was being deleted"),))
    except Exception as reason:
        finding = of_table(path, f"{manifest.NAME} is of no use ({reason!r})", repair)
        return Shelved(path, None, (finding,))
    found: list[Finding] = []
    arrays: dict[str, NDArray[Any]] = {}
    for name, entry in described.arrays.items():
        try:
            if not manifest.fits(path, entry):
                raise ValueError("it is not as it was saved")
            arrays[name] = manifest.open_array(path, entry)
        except Exception as reason:
            found.append(of_table(path, f"array {name!r} in {entry.file} is of no use ({reason})", repair))
    if found:
        return Shelved(path, None, tuple(found))
    facts = MappingProxyType(dict(described.facts))
    stored = StoredTables(MappingProxyType(arrays), facts, path.name, path, described)
    return Shelved(path, stored, ())


def strangers(gallery: Path) -> Iterator[Finding]:
    """What lies among the files of a gallery and is not read: left by a killed process, or a stranger's."""
    for each in _entries(gallery if gallery.is_dir() else gallery.parent):
        if each.name.startswith(ASIDE):
            yield litter(each, "a file aside, being written or left by a process that was killed")
    folder = TableStore.beside(gallery).folder
    for each in _entries(folder):
        if (
            store.UNFINISHED.fullmatch(each.name)
            or not KIND_FOLDER.fullmatch(each.name)
            or not _is_folder(each)
        ):
            yield litter(each, "not a kind of table")
            continue
        for table in _entries(each):
            if store.UNFINISHED.fullmatch(table.name) and _is_folder(table):
                yield litter(table, "a table being written, or left by a process that was killed")
            elif not FINGERPRINT.fullmatch(table.name) or not _is_folder(table):
                yield litter(table, "not a table")
            else:
                yield from (litter(file, "no file of a table") for file in _others(table))


def _others(table: Path) -> Iterator[Path]:
    try:
        known = {entry.file for entry in manifest.read(table).arrays.values()}
    except Exception:  # told by `look`
        known = set()
    for file in _entries(table):
        ours = file.name == manifest.NAME or file.name == CHECKED_NAME or file.name in known
        if not ours and not (not known and manifest.ARRAY_FILE.fullmatch(file.name)):
            yield file


def _entries(folder: Path) -> list[Path]:
    if folder.is_symlink() or not folder.is_dir():
        return []
    return sorted(folder.iterdir())


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


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
        Empty if all is sound. Those of kind ``litter`` and ``wipe`` do no harm.

    Raises
    ------
    NotFound, GalleryUnreadable
        If there is no such file, or it is not a gallery, or one of a newer format.
    StorageFailed
        If the disk refuses.

    Examples
    --------
    >>> from lookalike import Gallery, verify
    >>> Gallery("videos.gallery", create=True).close()
    >>> verify("videos.gallery")  # nothing is wrong
    []
    """
    path = gallery.path if isinstance(gallery, Gallery) else Path(gallery)
    found = [_called(one, path) for one in checks.findings(path.absolute(), track=track)]
    with in_words(path):
        found += strangers(path.resolve())
        tables = paths(TableStore.beside(path).folder)
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
        if opened is not None and (due := opened.wipe_due()) is not None:
            left = "old copies of removed rows may be in free space" if due.is_overwritten else "it is in use"
            command = f"do it at once by `lookalike forget {shlex.quote(str(path))} --now`"
            found.append(Finding(f"a wipe is due ({left}; {due})", str(path), "wipe", command))
    finally:
        if opened is not None and opened is not gallery:
            opened.close()
    return found


def repair(gallery: Gallery, findings: Sequence[Finding], track: Track = silent) -> Repaired:
    """Delete the derived tables of which `verify` found something, and make them again where possible."""
    bad = {Path(one.where) for one in findings if one.is_derived}
    store = TableStore.beside(gallery.path)
    kinds = {path: _kind(path) for path in bad}
    store.erase_others([path for path in paths(store.folder) if path not in bad])
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
    seen = look(path, advice)
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
    if stored.is_index and (gone := set(ids_of(stored.arrays)) - set(gallery.ids())):
        yield f"it knows {len(gone)} sets that the gallery does not hold (any more)"


# Repair.


def _kind(path: Path) -> str | None:
    with suppress(Exception):
        return manifest.read(path).kind
    return None


def _made_again(gallery: Gallery, kind: str, track: Track) -> bool:
    """Make an index, a preparation or a re-ranker again; the rest is made when it is needed."""
    try:
        if kind.startswith("preparation "):
            transform.prepare(gallery, kind.removeprefix("preparation "), track)
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
