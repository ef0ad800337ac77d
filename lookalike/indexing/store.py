"""TableStore: named arrays derived from a gallery, kept beside it under a fingerprint of their origin."""

from __future__ import annotations

import errno
import hashlib
import logging
import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from numpy.typing import NDArray

from lookalike import atomic, registry
from lookalike.errors import BadInput, StorageFailed, in_words
from lookalike.indexing import manifest
from lookalike.indexing.manifest import FILE, Manifest, contradicted, damaged, note
from lookalike.preparations.none import Nothing

UNFINISHED: Final = re.compile(r"\.writing-[0-9a-f]{16}")


@contextmanager
def unfinished(parent: Path) -> Iterator[Path]:
    """A new folder to write in; unless it has been renamed by the end of the block, it is erased.

    Its writer holds a lock on it, which the system drops when the process dies: `sweep` can then tell litter
    from work. A process id in the name could not, since containers use the same few ids again and again.
    """
    path = atomic.claim_folder(parent, atomic.WRITING)
    try:
        yield path
    finally:
        atomic.release(path)
        erase(path)


def sweep(parent: Path) -> None:
    """Erase what dead processes left unfinished; what a living one is writing stays."""
    if not parent.is_symlink():
        for path in atomic.abandoned(parent, UNFINISHED):
            with suppress(OSError):
                erase(path)


def erase(path: Path) -> None:
    """Delete the files that a table consists of, then its folder unless other files lie in it.

    The manifest goes first: from then on the table counts as absent, wherever we are interrupted. A power cut
    does not bring it back, nor anything of it once this has returned.
    """
    if path.is_symlink() or not path.is_dir():
        return
    with suppress(FileNotFoundError):  # another process is erasing it too
        if (path / manifest.NAME).exists():
            atomic.delete(path / manifest.NAME)
            atomic.sync(path)
        for file in sorted(path.iterdir()):
            if manifest.ARRAY_FILE.fullmatch(file.name) or FILE.fullmatch(file.name):
                atomic.delete(file)
        atomic.remove_folders([path])
        atomic.sync(path if path.is_dir() else path.parent)


logger = logging.getLogger(__name__)

FINGERPRINT: Final = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{0,127}")
KIND_FOLDER: Final = re.compile(r"[0-9A-Za-z_-]{0,40}\.[0-9a-f]{16}")
# So often a table is written: another process, which knows another version of the gallery, may take it for an
# old one and erase it before it is read back.
TRIES: Final = 3


@dataclass(frozen=True)
class StoredTables:
    """One table as found on the disk."""

    arrays: Mapping[str, NDArray[Any]]  # mapped from their files; none can be written
    facts: Mapping[str, Any]  # what was said about them when they were saved
    fingerprint: str  # what they were derived from
    path: Path  # their folder
    manifest: Manifest  # files, types, shapes, checksums

    @property
    def is_index(self) -> bool:
        """Whether it is an index, and not something that was made from one."""
        return "similarity" in self.facts

    @property
    def made_by(self) -> tuple[str, str]:
        """Similarity and preparation of an index, or of the index that it was made from."""
        # What was stored before there were preparations does not say so.
        prepared = self.facts.get("preparation", registry.spec(Nothing()))
        return str(self.facts.get("on", self.facts.get("similarity", ""))), str(prepared)


# All that is wrong with what a table says, though it is what was saved; in words.
Look = Callable[[StoredTables], Iterable[str]]


class TableStore:
    """Tables of several kinds in one folder. A table that can be seen is finished; nothing is overwritten.

    The folder is made, for its owner only, when the first is saved.
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

        `kind` is for instance ``max_max:samples=10``; `fingerprint` tells what they were derived from, in
        letters, digits, ``-`` and ``_``; `facts` are JSON values. Raise BadInput if an array holds objects
        or a fact is no JSON value; StorageFailed if the disk refuses: nothing has changed.
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

    def latest(self, kind: str, besides: str = "", look: Look | None = None) -> StoredTables | None:
        """Open the newest good table of a kind, whatever it was derived from, but one (`load`)."""
        paths = (path for path in self._tables(self._folder_of(kind)) if path.name != besides)
        newest = reversed(_by_time({path: _described(path) for path in paths}))
        return next(filter(None, (self._open(path, kind, look, one) for path, one in newest)), None)

    def stored(self, known: Iterable[StoredTables] = ()) -> list[StoredTables]:
        """Open the newest table of every kind to tell what is there, not to be used: no array is read.

        Nor is the manifest of a table that is known already, from this function or from `save`.
        """
        opened = {table.path: table for table in known if (table.path / manifest.NAME).exists()}
        newest: dict[str, StoredTables] = {}
        for folder in self._kinds():
            described = {
                path: opened[path].manifest if path in opened else _described(path)
                for path in self._tables(folder)
            }
            for path, one in _by_time(described):
                if one is not None and self._folder_of(one.kind) == folder:
                    with suppress(Exception):
                        newest[one.kind] = opened.get(path) or _opened(path, one.kind, described=one)
        return [newest[kind] for kind in sorted(newest)]

    def reopen(self, stored: StoredTables, look: Look | None = None) -> StoredTables | None:
        """Open a table that `stored` told of, to be used as one that `load` returns."""
        return self._open(stored.path, stored.manifest.kind, look, stored.manifest)

    def keep_only(self, kind: str, fingerprint: str) -> None:
        """Delete the other tables of a kind, with what dead processes left unfinished."""
        kept = self._place(kind, fingerprint)
        with in_words(self.folder):
            for path in self._tables(kept.parent):
                if path != kept:
                    erase(path)
            sweep(kept.parent)

    def erase_older(self, kept: StoredTables) -> None:
        """Delete the tables of a kind that were saved before one of them."""
        with in_words(self.folder):
            for path in self._tables(kept.path.parent):
                if path != kept.path:
                    described = _described(path)
                    if described is None or described.saved < kept.manifest.saved:
                        erase(path)

    def erase_others(self, kept: Collection[Path]) -> None:
        """Delete every table but these, readable or not, with what dead processes left unfinished."""
        self._erase(None, kept)

    def drop(self, kind: str | None = None) -> None:
        """Delete the tables of one kind, or of every kind; files that are not ours stay."""
        self._erase(kind, ())

    # Workings.

    def _erase(self, kind: str | None, kept: Collection[Path]) -> None:
        with in_words(self.folder):
            chosen = [self._folder_of(kind)] if kind is not None else list(self._kinds())
            for folder in chosen:
                for path in self._tables(folder):
                    if path not in kept:
                        erase(path)
                sweep(folder)
            atomic.remove_folders([*chosen, self.folder])

    def _open(
        self, path: Path, kind: str, look: Look | None, described: Manifest | None = None
    ) -> StoredTables | None:
        if path.is_symlink() or not path.is_dir():
            return None
        # Whatever is wrong with a derived table, the answer is the same: build it again.
        try:
            stored = _opened(path, kind, True, described)
        except Exception as error:
            logger.warning("the table in %s is damaged and is made again: %s", path, error)
            return None
        wrong = None if look is None else contradicted(path, stored.manifest, lambda: look(stored))
        if wrong is None:
            return stored
        logger.warning("the table in %s contradicts itself or its gallery and is made again: %s", path, wrong)
        with in_words(self.folder):  # or it would stay, being what was saved
            erase(path)
        return None

    def _quietly(self, path: Path, kind: str) -> StoredTables | None:
        with suppress(Exception):
            return _opened(path, kind, whole=True) if path.is_dir() else None
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
            made = atomic.make_folders(target.parent)
            try:
                with unfinished(target.parent) as working:
                    files = {
                        name: manifest.write_array(working, number, array)
                        for number, (name, array) in enumerate(arrays.items())
                    }
                    described = Manifest(kind, target.name, manifest.timestamp(), facts, files)
                    manifest.write(working, described)
                    note(working, described)
                    atomic.sync(working)
                    self._show(working, target, kind)
            except BaseException:
                atomic.remove_folders(made)
                raise

    def _show(self, working: Path, target: Path, kind: str) -> None:
        for _ in range(2):
            try:
                atomic.rename(working, target)
            except OSError as error:
                if error.errno not in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR):
                    raise
                # Somebody else was first, which is as good; or what lies there is damaged.
                if self._quietly(target, kind) is not None:
                    return
                erase(target)
            else:
                atomic.sync(target.parent)
                return
        raise StorageFailed(f"{target} holds files that lookalike did not write: move them away, then repeat")


def _opened(path: Path, kind: str, whole: bool = False, described: Manifest | None = None) -> StoredTables:
    """Map the arrays of a table, all if asked; raise if they are not as the manifest, read or given, says."""
    if path.is_symlink():
        raise ValueError("it is a link, which may lead anywhere")
    try:
        described = described or manifest.read(path)
        if (described.kind, described.fingerprint) != (kind, path.name):
            raise ValueError(f"it describes {described.kind!r} {described.fingerprint!r}")
    except Exception as error:
        raise ValueError(f"{manifest.NAME} is of no use ({error!r})") from error
    wrong = damaged(path, described) if whole else []
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


def _described(path: Path) -> Manifest | None:
    """The manifest of a table; None if it cannot be read."""
    with suppress(Exception):
        return manifest.read(path)
    return None


def _by_time(described: Mapping[Path, Manifest | None]) -> list[tuple[Path, Manifest | None]]:
    """Tables in the order in which they were saved; one that cannot say so comes before all others."""
    return sorted(described.items(), key=lambda one: "" if one[1] is None else one[1].saved)


def _subfolders(folder: Path, pattern: re.Pattern[str]) -> Iterator[Path]:
    if folder.is_symlink() or not folder.is_dir():
        return iter(())
    return iter(
        path
        for path in sorted(folder.iterdir())
        if pattern.fullmatch(path.name) and path.is_dir() and not path.is_symlink()
    )


# Unfinished: how far long work has come, kept so that it goes on after an interruption.


Arrays = Mapping[str, NDArray[Any]]

# How much work a power cut may cost; any other end of the process costs one step.
SECONDS_BETWEEN_KEEPING: Final = 60.0


class Unfinished:
    """One piece of long work in the store of a gallery, whose state is kept every so many seconds.

    `kind` says what the work is, for instance ``unfinished max_max:samples=10``; `origin` is the fingerprint
    of everything that shapes its result: earlier work on anything else is not taken up.
    """

    def __init__(
        self, store: TableStore, kind: str, origin: str, seconds: float = SECONDS_BETWEEN_KEEPING
    ) -> None:
        self.store = store
        self.kind = kind
        self.origin = origin
        self.seconds = seconds
        self._done = 0
        self._kept_at = time.monotonic()

    def take_up(self) -> tuple[int, Arrays] | None:
        """How many steps are done already, and the state after them; None if there are none."""
        earlier = self.store.latest(self.kind)
        if earlier is None or earlier.facts.get("for") != self.origin:
            return None
        self._done = int(earlier.facts["done"])
        return self._done, earlier.arrays

    def step(self, done: int, state: Callable[[], Arrays]) -> None:
        """Tell that a step is done; the state is asked for only when it is time to keep it."""
        if time.monotonic() - self._kept_at > self.seconds:
            self.keep(done, state)

    def keep(self, done: int, state: Callable[[], Arrays]) -> None:
        """Keep the state now, if there is anything new."""
        if done > self._done:
            name = f"{self.origin}-{done}"
            self.store.save(self.kind, name, state(), {"for": self.origin, "done": done})
            self.store.keep_only(self.kind, name)
            self._done = done
        self._kept_at = time.monotonic()

    @contextmanager
    def kept_at_the_end(self, done: Callable[[], int], state: Callable[[], Arrays]) -> Iterator[None]:
        """Keep the state if the block is left by an error, an interruption among them."""
        try:
            yield
        except BaseException:
            self.keep(done(), state)
            raise

    def drop(self) -> None:
        """The work is finished: nothing is left to go on from."""
        self.store.drop(self.kind)
