"""TableStore: named arrays derived from a gallery, kept beside it under a fingerprint of their origin."""

from __future__ import annotations

import errno
import hashlib
import logging
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from numpy.typing import NDArray

from lookalike.collection import aside, manifest
from lookalike.collection.connections import sync
from lookalike.collection.failures import in_words
from lookalike.collection.manifest import Manifest
from lookalike.errors import BadInput, StorageFailed

logger = logging.getLogger(__name__)

FINGERPRINT: Final = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{0,127}")
KIND_FOLDER: Final = re.compile(r"[0-9A-Za-z_-]{0,40}\.[0-9a-f]{16}")


@dataclass(frozen=True)
class StoredTables:
    """One table as found on the disk.

    Parameters
    ----------
    arrays : mapping of str to array
        The arrays, mapped from their files: opening reads none of them, and none can be written.
    facts : mapping
        What was said about them when they were saved.
    fingerprint : str
        What they were derived from.
    path : Path
        Their folder.
    manifest : Manifest
        Files, types, shapes, checksums.
    """

    arrays: Mapping[str, NDArray[Any]]
    facts: Mapping[str, Any]
    fingerprint: str
    path: Path
    manifest: Manifest


class TableStore:
    """Tables of several kinds in one folder. A table that can be seen is finished; nothing is overwritten.

    Parameters
    ----------
    folder : path
        Where the tables lie; made, for its owner only, when the first one is saved.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    @classmethod
    def beside(cls, gallery: str | Path) -> TableStore:
        """The store of a gallery: ``x.gallery.derived`` for ``x.gallery``; a link has that of its gallery."""
        return cls(Path(f"{Path(gallery).resolve()}.derived"))

    def save(
        self, kind: str, fingerprint: str, arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]
    ) -> StoredTables:
        """Keep arrays under their kind with their fingerprint; a readable table that is there already stays.

        Parameters
        ----------
        kind : str
            What the arrays are, for instance ``max_max:samples=10``.
        fingerprint : str
            What they were derived from: letters, digits, ``-`` or ``_``.
        arrays : mapping of str to array
            The arrays by name.
        facts : mapping
            JSON values to keep with them.

        Raises
        ------
        BadInput
            If an array holds objects, or a fact is not a JSON value.
        StorageFailed
            If the disk refuses; then nothing has changed.
        """
        target = self._place(kind, fingerprint)
        checked = {str(name): manifest.checked_array(name, array) for name, array in arrays.items()}
        said = manifest.checked_facts(facts)
        there = self.load(kind, fingerprint)
        if there is not None:
            return there
        with in_words(self.folder):
            made = aside.make_folders(target.parent)
            try:
                with aside.unfinished(target.parent) as working:
                    files = {
                        name: manifest.write_array(working, number, array)
                        for number, (name, array) in enumerate(checked.items())
                    }
                    saved = manifest.timestamp()
                    manifest.write(working, Manifest(kind, fingerprint, saved, said, files))
                    sync(working)
                    self._show(working, kind, fingerprint)
            except BaseException:
                aside.remove_folders(made)
                raise
        stored = self.load(kind, fingerprint)
        if stored is None:
            raise StorageFailed(
                f"the table written to {target} cannot be read back: check the disk, then repeat"
            )
        return stored

    def load(self, kind: str, fingerprint: str) -> StoredTables | None:
        """Open a table; None if there is none, or if what is there is damaged, which is logged."""
        path = self._place(kind, fingerprint)
        if path.is_symlink() or not path.is_dir():
            return None
        # Whatever is wrong with a derived table, the answer is the same: build it again.
        try:
            described = manifest.read(path)
            if (described.kind, described.fingerprint) != (kind, fingerprint):
                raise ValueError(f"it describes {described.kind!r} {described.fingerprint!r}")
            arrays = {name: manifest.open_array(path, entry) for name, entry in described.arrays.items()}
        except Exception as error:
            logger.warning("the table in %s is not readable, so it counts as absent: %s", path, error)
            return None
        return StoredTables(
            MappingProxyType(arrays), MappingProxyType(dict(described.facts)), fingerprint, path, described
        )

    def latest(self, kind: str) -> StoredTables | None:
        """Open the newest readable table of a kind, whatever it was derived from."""
        dated = []
        for path in self._tables(self._folder_of(kind)):
            with suppress(Exception):
                dated.append((manifest.read(path).saved, path.name))
        found = (self.load(kind, name) for _, name in sorted(dated, reverse=True))
        return next((stored for stored in found if stored is not None), None)

    def stored(self) -> list[StoredTables]:
        """Open the newest readable table of every kind."""
        kinds = []
        for folder in self._kinds():
            for path in self._tables(folder):
                with suppress(Exception):
                    kinds.append(manifest.read(path).kind)
        found = (self.latest(kind) for kind in sorted(set(kinds)))
        return [stored for stored in found if stored is not None]

    def check(self, stored: StoredTables) -> list[str]:
        """Names of the arrays whose bytes are not those that were saved; this reads them all."""
        entries = stored.manifest.arrays.items()
        return [name for name, entry in entries if not manifest.fits(stored.path, entry)]

    def keep_only(self, kind: str, fingerprint: str) -> None:
        """Delete the other tables of a kind, with what dead processes left unfinished."""
        kept = self._place(kind, fingerprint)
        with in_words(self.folder):
            for path in self._tables(kept.parent):
                if path != kept:
                    aside.erase(path)
            aside.sweep(kept.parent)

    def erase_others(self, kept: Collection[Path]) -> None:
        """Delete every table but these, readable or not, with what dead processes left unfinished."""
        with in_words(self.folder):
            kinds = list(self._kinds())
            for folder in kinds:
                for path in self._tables(folder):
                    if path not in kept:
                        aside.erase(path)
                aside.sweep(folder)
            aside.remove_folders([*kinds, self.folder])

    def drop(self, kind: str | None = None) -> None:
        """Delete the tables of one kind, or of every kind; files that are not ours stay."""
        with in_words(self.folder):
            chosen = [self._folder_of(kind)] if kind is not None else list(self._kinds())
            for folder in chosen:
                for path in self._tables(folder):
                    aside.erase(path)
                aside.sweep(folder)
            aside.remove_folders([*chosen, self.folder])

    # Workings.

    def _folder_of(self, kind: str) -> Path:
        if not isinstance(kind, str) or not kind:
            raise BadInput(f"the kind of a table must be a non-empty string, got {kind!r}: name the table")
        # The kind may hold any character: a readable beginning is followed by what makes it unique.
        readable = re.sub(r"[^0-9A-Za-z_-]+", "-", kind)[:40]
        unique = hashlib.sha256(kind.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        return self.folder / f"{readable}.{unique}"

    def _place(self, kind: str, fingerprint: str) -> Path:
        if not isinstance(fingerprint, str) or not FINGERPRINT.fullmatch(fingerprint):
            raise BadInput(f"a fingerprint is letters, digits, - or _, at most 128; got {fingerprint!r}")
        return self._folder_of(kind) / fingerprint

    def _kinds(self) -> Iterator[Path]:
        return _subfolders(self.folder, KIND_FOLDER)

    def _tables(self, folder: Path) -> Iterator[Path]:
        return _subfolders(folder, FINGERPRINT)

    def _show(self, working: Path, kind: str, fingerprint: str) -> None:
        target = self._place(kind, fingerprint)
        for _ in range(2):
            try:
                working.rename(target)
            except OSError as error:
                if error.errno not in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR):
                    raise
                # Somebody else was first, which is as good; or what lies there is damaged.
                if self.load(kind, fingerprint) is not None:
                    return
                aside.erase(target)
            else:
                sync(target.parent)
                return
        raise StorageFailed(f"{target} holds files that lookalike did not write: move them away, then repeat")


def _subfolders(folder: Path, pattern: re.Pattern[str]) -> Iterator[Path]:
    if folder.is_symlink() or not folder.is_dir():
        return iter(())
    return iter(
        path
        for path in sorted(folder.iterdir())
        if pattern.fullmatch(path.name) and path.is_dir() and not path.is_symlink()
    )
