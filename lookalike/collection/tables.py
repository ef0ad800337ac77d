"""TableStore: named arrays derived from a gallery, kept beside it under a fingerprint of their origin."""

from __future__ import annotations

import errno
import hashlib
import logging
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from numpy.typing import NDArray

from lookalike import disk
from lookalike.collection import aside, checked, manifest
from lookalike.collection.failures import in_words
from lookalike.collection.manifest import Manifest
from lookalike.errors import BadInput, StorageFailed

logger = logging.getLogger(__name__)

FINGERPRINT: Final = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{0,127}")
KIND_FOLDER: Final = re.compile(r"[0-9A-Za-z_-]{0,40}\.[0-9a-f]{16}")
# So often a table is written: another process, which knows another version of the gallery, may take it for an
# old one and erase it before it is read back.
TRIES: Final = 3


@dataclass(frozen=True)
class StoredTables:
    """One table as found on the disk.

    Parameters
    ----------
    arrays : mapping of str to array
        The arrays, mapped from their files; none can be written.
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


# All that is wrong with what a table says, though it is what was saved; in words.
Look = Callable[[StoredTables], Iterable[str]]


class TableStore:
    """Tables of several kinds in one folder. A table that can be seen is finished; nothing is overwritten.

    Parameters
    ----------
    folder : path
        Where they lie; made, for its owner only, when the first is saved.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    @classmethod
    def beside(cls, gallery: str | Path) -> TableStore:
        """The store of a gallery: ``x.gallery.derived`` for ``x.gallery``, ``x/derived`` for a folder `x`."""
        path = Path(gallery).resolve()  # a link has that of its gallery
        return cls(path / "derived" if path.is_dir() else Path(f"{path}.derived"))

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
        BadInput, StorageFailed
            If an array holds objects or a fact is no JSON value; if the disk refuses: nothing has changed.
        """
        target = self._place(kind, fingerprint)
        given = {str(name): manifest.checked_array(name, array) for name, array in arrays.items()}
        said = manifest.checked_facts(facts)
        for left in reversed(range(TRIES + 1)):
            there = self._quietly(target, kind)
            if there is not None:
                return there
            if left:
                self._write(target, kind, given, said)
        raise StorageFailed(f"the table written to {target} cannot be read back: check the disk, then repeat")

    def load(self, kind: str, fingerprint: str, look: Look | None = None) -> StoredTables | None:
        """Open a table to be used; None if there is none, or if it is damaged, which is logged.

        Its arrays are as they were saved: those that changed since they were last read are read again. What
        they say is looked through by `look`, once: a table of which it tells anything, or over which it
        stumbles, is deleted.
        """
        return self._open(self._place(kind, fingerprint), kind, look)

    def has(self, kind: str, fingerprint: str) -> bool:
        """Whether `load` would return a table; says nothing."""
        return self._quietly(self._place(kind, fingerprint), kind) is not None

    def latest(self, kind: str, besides: str = "", look: Look | None = None) -> StoredTables | None:
        """Open the newest good table of a kind, whatever it was derived from, besides one that is known.

        `look` is as in `load`.
        """
        paths = (path for path in self._tables(self._folder_of(kind)) if path.name != besides)
        newest = sorted(paths, key=_saved, reverse=True)
        return next(filter(None, (self._open(path, kind, look) for path in newest)), None)

    def stored(self) -> list[StoredTables]:
        """Open the newest table of every kind to tell what is there, not to be used: no array is read."""
        newest: dict[str, StoredTables] = {}
        for folder in self._kinds():
            for path in sorted(self._tables(folder), key=_saved):
                with suppress(Exception):
                    kind = manifest.read(path).kind
                    if self._folder_of(kind) == folder:
                        newest[kind] = _opened(path, kind)
        return [newest[kind] for kind in sorted(newest)]

    def keep_only(self, kind: str, fingerprint: str) -> None:
        """Delete the other tables of a kind, with what dead processes left unfinished."""
        kept = self._place(kind, fingerprint)
        with in_words(self.folder):
            for path in self._tables(kept.parent):
                if path != kept:
                    aside.erase(path)
            aside.sweep(kept.parent)

    def erase_older(self, kept: StoredTables) -> None:
        """Delete the tables of a kind that were saved before one of them."""
        with in_words(self.folder):
            for path in self._tables(kept.path.parent):
                if path != kept.path and _saved(path) < kept.manifest.saved:
                    aside.erase(path)

    def erase_others(self, kept: Collection[Path]) -> None:
        """Delete every table but these, readable or not, with what dead processes left unfinished."""
        with in_words(self.folder):
            kinds = list(self._kinds())
            for folder in kinds:
                for path in self._tables(folder):
                    if path not in kept:
                        aside.erase(path)
                aside.sweep(folder)
            disk.remove_folders([*kinds, self.folder])

    def drop(self, kind: str | None = None) -> None:
        """Delete the tables of one kind, or of every kind; files that are not ours stay."""
        with in_words(self.folder):
            chosen = [self._folder_of(kind)] if kind is not None else list(self._kinds())
            for folder in chosen:
                for path in self._tables(folder):
                    aside.erase(path)
                aside.sweep(folder)
            disk.remove_folders([*chosen, self.folder])

    # Workings.

    def _open(self, path: Path, kind: str, look: Look | None) -> StoredTables | None:
        if path.is_symlink() or not path.is_dir():
            return None
        # Whatever is wrong with a derived table, the answer is the same: build it again.
        try:
            stored = _opened(path, kind, whole=True)
        except Exception as error:
            logger.warning("the table in %s is damaged and is made again: %s", path, error)
            return None
        wrong = None if look is None else checked.contradicted(path, stored.manifest, lambda: look(stored))
        if wrong is None:
            return stored
        logger.warning("the table in %s contradicts itself or its gallery and is made again: %s", path, wrong)
        with in_words(self.folder):  # or it would stay, being what was saved
            aside.erase(path)
        return None

    def _quietly(self, path: Path, kind: str) -> StoredTables | None:
        with suppress(Exception):
            return _opened(path, kind, whole=True)
        return None

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

    def _write(
        self, target: Path, kind: str, arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]
    ) -> None:
        with in_words(self.folder):
            made = disk.make_folders(target.parent)
            try:
                with aside.unfinished(target.parent) as working:
                    files = {
                        name: manifest.write_array(working, number, array)
                        for number, (name, array) in enumerate(arrays.items())
                    }
                    described = Manifest(kind, target.name, manifest.timestamp(), facts, files)
                    manifest.write(working, described)
                    checked.note(working, described)
                    disk.sync(working)
                    self._show(working, target, kind)
            except BaseException:
                disk.remove_folders(made)
                raise

    def _show(self, working: Path, target: Path, kind: str) -> None:
        for _ in range(2):
            try:
                disk.rename(working, target)
            except OSError as error:
                if error.errno not in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR):
                    raise
                # Somebody else was first, which is as good; or what lies there is damaged.
                if self._quietly(target, kind) is not None:
                    return
                aside.erase(target)
            else:
                disk.sync(target.parent)
                return
        raise StorageFailed(f"{target} holds files that lookalike did not write: move them away, then repeat")


def _opened(path: Path, kind: str, whole: bool = False) -> StoredTables:
    """Map the arrays of a table; raise if they are not as the manifest says: all of them, if asked."""
    if path.is_symlink():
        raise ValueError("it is a link, which may lead anywhere")
    try:
        described = manifest.read(path)
        if (described.kind, described.fingerprint) != (kind, path.name):
            raise ValueError(f"it describes {described.kind!r} {described.fingerprint!r}")
    except Exception as error:
        raise ValueError(f"{manifest.NAME} is of no use ({error!r})") from error
    wrong = checked.damaged(path, described) if whole else []
    arrays = {}
    for name, entry in described.arrays.items():
        if name in wrong:
            raise ValueError(f"array {name!r} in {entry.file} is not as it was saved")
        try:
            arrays[name] = manifest.open_array(path, entry)
        except Exception as error:
            raise ValueError(f"array {name!r} in {entry.file} cannot be opened ({error})") from error
    facts = MappingProxyType(dict(described.facts))
    return StoredTables(MappingProxyType(arrays), facts, path.name, path, described)


def _saved(path: Path) -> str:
    """When a table was saved; one that cannot say so comes before all others."""
    with suppress(Exception):
        return manifest.read(path).saved
    return ""


def _subfolders(folder: Path, pattern: re.Pattern[str]) -> Iterator[Path]:
    if folder.is_symlink() or not folder.is_dir():
        return iter(())
    return iter(
        path
        for path in sorted(folder.iterdir())
        if pattern.fullmatch(path.name) and path.is_dir() and not path.is_symlink()
    )
