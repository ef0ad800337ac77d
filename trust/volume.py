"""Volume: a small model of a disk, which says what is left of recorded operations after a power cut.

A file has bytes that were synced, and writes since. A folder has names that were synced, and changes since.
POSIX promises the synced ones only: of the others any may be on the disk, whole, in part or not at all.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.trust.shim import Operation

# What a power cut does to what was not synced: lost; any of the writes kept; any sectors of them kept.
DAMAGES: Final = ("dropped", "reordered", "torn-512", "torn-4096")
# Nothing lost: the process was killed, the machine was not.
KILLED: Final = "killed"
UNIT: Final = {"reordered": 0, "torn-512": 512, "torn-4096": 4096}


@dataclass(eq=False)
class File:
    """Synced bytes, and what was done since: (offset, bytes), or (size, None) for a truncation."""

    synced: bytes = b""
    pending: list[tuple[int, bytes | None]] = field(default_factory=list)

    def sync(self) -> None:
        """Bring everything to the disk."""
        self.synced, self.pending = _applied(self.synced, self.pending), []


@dataclass(eq=False)
class Folder:
    """Names that were synced, and names as a process sees them."""

    synced: dict[str, Node] = field(default_factory=dict)
    seen: dict[str, Node] = field(default_factory=dict)


Node = File | Folder
# One change of names happens whole or not at all: (folder, name, what it names now).
Change = list[tuple[Folder, str, Node | None]]


class Volume:
    """The folder `root` as it is now, all of it synced.

    Parameters
    ----------
    root : Path
        The folder that operations were recorded in, before the first of them.
    """

    def __init__(self, root: Path) -> None:
        self._root = str(root)
        self._top = _loaded(root)
        self._open: dict[int, Node] = {}
        self._changes: list[Change] = []

    def apply(self, operation: Operation) -> None:
        """Do what was recorded."""
        letter = operation.letter
        if letter == "o":
            self._opened(operation)
        elif letter in "wt":
            file = self._open[operation.file]
            assert isinstance(file, File)
            file.pending.append((operation.where, operation.data if letter == "w" else None))
        elif letter == "s":
            self._synced(self._open[operation.file])
        elif letter == "m":
            self._change([(*self._at(operation.path), Folder())])
        elif letter in "ud":
            self._change([(*self._at(operation.path), None)])
        elif letter in "rl":
            folder, name = self._at(operation.path)
            node = folder.seen[name]
            gone: Change = [(folder, name, None)] if letter == "r" else []
            self._change([*gone, (*self._at(operation.other), node)])

    def write(self, place: Path, damage: str, chance: random.Random) -> None:
        """Write into an empty folder what a power cut now may leave."""
        if damage == KILLED:
            chosen = list(self._changes)
        elif damage == "dropped":
            chosen = []
        elif chance.random() < 0.5:
            # A journal of names, as of ext4 or XFS, keeps their order.
            chosen = self._changes[: chance.randint(0, len(self._changes))]
        else:
            chosen = [change for change in self._changes if chance.random() < 0.5]
        names: dict[int, dict[str, Node]] = {}
        for change in chosen:
            for folder, name, node in change:
                held = names.setdefault(id(folder), dict(folder.synced))
                if node is None:
                    held.pop(name, None)
                else:
                    held[name] = node
        self._write(self._top, place, names, damage, chance)

    # Workings.

    def _opened(self, operation: Operation) -> None:
        if operation.path == self._root:
            self._open[operation.file] = self._top
            return
        folder, name = self._at(operation.path)
        if name not in folder.seen and operation.where & os.O_CREAT:
            self._change([(folder, name, File())])
        node = self._open[operation.file] = folder.seen[name]
        if isinstance(node, File) and operation.where & os.O_TRUNC:
            node.pending.append((0, None))

    def _synced(self, node: Node) -> None:
        if isinstance(node, File):
            node.sync()
            return
        for change in [one for one in self._changes if any(folder is node for folder, _, _ in one)]:
            self._changes.remove(change)
            for folder, name, named in change:
                _set(folder.synced, name, named)

    def _change(self, change: Change) -> None:
        self._changes.append(change)
        for folder, name, node in change:
            _set(folder.seen, name, node)

    def _at(self, path: str) -> tuple[Folder, str]:
        *parents, name = path.removeprefix(self._root).strip("/").split("/")
        folder = self._top
        for parent in parents:
            inner = folder.seen[parent]
            assert isinstance(inner, Folder)
            folder = inner
        return folder, name

    def _write(
        self,
        folder: Folder,
        place: Path,
        names: dict[int, dict[str, Node]],
        damage: str,
        chance: random.Random,
    ) -> None:
        for name, node in names.get(id(folder), folder.synced).items():
            path = place / name
            if isinstance(node, Folder):
                path.mkdir(mode=0o700)
                self._write(node, path, names, damage, chance)
            else:
                content = _left(node, damage, chance)
                # Mapped memory, which SQLite never trusts after a crash: anything may stand there.
                path.write_bytes(chance.randbytes(len(content)) if name.endswith("-shm") else content)
                path.chmod(0o600)


def _loaded(place: Path) -> Folder:
    made = Folder()
    for path in sorted(place.iterdir()):
        made.synced[path.name] = _loaded(path) if path.is_dir() else File(path.read_bytes())
    made.seen = dict(made.synced)
    return made


def _set(names: dict[str, Node], name: str, node: Node | None) -> None:
    if node is None:
        names.pop(name, None)
    else:
        names[name] = node


def _left(file: File, damage: str, chance: random.Random) -> bytes:
    if damage == "dropped" or not file.pending:
        return file.synced
    if damage == KILLED:
        return _applied(file.synced, file.pending)
    kept = [one for one in _pieces(file.pending, UNIT[damage]) if chance.random() < 0.5]
    return _applied(file.synced, kept)


def _pieces(pending: Iterable[tuple[int, bytes | None]], unit: int) -> Iterable[tuple[int, bytes | None]]:
    """Writes, cut at the borders of sectors if there are any."""
    for where, data in pending:
        if data is None or not unit:
            yield where, data
            continue
        start = 0
        while start < len(data):
            end = min(len(data), (where + start) // unit * unit + unit - where)
            yield where + start, data[start:end]
            start = end


def _applied(content: bytes, pending: Iterable[tuple[int, bytes | None]]) -> bytes:
    made = bytearray(content)
    for where, data in pending:
        end = where + len(data or b"")
        if len(made) < end:
            made.extend(bytes(end - len(made)))
        if data is None:
            del made[where:]
        else:
            made[where:end] = data
    return bytes(made)
