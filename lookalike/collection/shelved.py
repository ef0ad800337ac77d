"""Shelved: every file beside a gallery, read whole and held against the manifest of its table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from numpy.typing import NDArray

from lookalike.collection import aside, checked, manifest
from lookalike.collection.findings import Finding, litter, of_table
from lookalike.collection.tables import FINGERPRINT, KIND_FOLDER, StoredTables, TableStore

# What lookalike writes aside beside a gallery, and leaves there if it is killed.
ASIDE = (".new-gallery-", ".writing-")


@dataclass(frozen=True)
class Shelved:
    """One table folder.

    Parameters
    ----------
    path : Path
    stored : StoredTables or None
        Its arrays, if they can be opened and are those that were saved.
    findings : tuple of Finding
        What is wrong with its files.
    """

    path: Path
    stored: StoredTables | None
    findings: tuple[Finding, ...]


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
            aside.UNFINISHED.fullmatch(each.name)
            or not KIND_FOLDER.fullmatch(each.name)
            or not _is_folder(each)
        ):
            yield litter(each, "not a kind of table")
            continue
        for table in _entries(each):
            if aside.UNFINISHED.fullmatch(table.name) and _is_folder(table):
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
        ours = file.name == manifest.NAME or file.name == checked.NAME or file.name in known
        if not ours and not (not known and manifest.ARRAY_FILE.fullmatch(file.name)):
            yield file


def _entries(folder: Path) -> list[Path]:
    if folder.is_symlink() or not folder.is_dir():
        return []
    return sorted(folder.iterdir())


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()
