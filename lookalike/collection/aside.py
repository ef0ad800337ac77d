"""Folders that are written aside until they are finished, or erased when nobody needs them."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from lookalike import disk
from lookalike.collection import checked, manifest

try:
    import fcntl
except ImportError:  # Windows: litter is then left to `drop` by hand
    fcntl = None  # type: ignore[assignment]

UNFINISHED: Final = re.compile(r"\.writing-[0-9a-f]{16}")


@contextmanager
def unfinished(parent: Path) -> Iterator[Path]:
    """A new folder to write in; unless it has been renamed by the end of the block, it is erased.

    Its writer holds a lock on it, which the system drops when the process dies: `sweep` can then tell litter
    from work. A process id in the name could not, since containers use the same few ids again and again.
    """
    path, handle = _claim(parent)
    try:
        yield path
    finally:
        if handle is not None:
            os.close(handle)
        erase(path)


def _claim(parent: Path) -> tuple[Path, int | None]:
    while True:
        path = parent / f".writing-{secrets.token_hex(8)}"
        disk.make_folder(path)
        if fcntl is None:
            return path, None
        # Before the lock is held, a sweeping process may take the new folder for litter: then try another.
        with suppress(FileNotFoundError):
            try:
                handle = _locked(path)
            except OSError as reason:
                if isinstance(reason, FileNotFoundError):
                    raise
                return path, None  # a file system without locks: `sweep` will leave its litter alone
            if handle is not None and path.exists():
                return path, handle
            if handle is not None:
                os.close(handle)


def _locked(path: Path) -> int | None:
    """Lock a folder; None if somebody else holds it, OSError where the file system knows no locks."""
    handle = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return None
    except OSError:
        os.close(handle)
        raise
    return handle


def sweep(parent: Path) -> None:
    """Erase what dead processes left unfinished; what a living one is writing stays."""
    if fcntl is None or parent.is_symlink() or not parent.is_dir():
        return
    for path in sorted(parent.iterdir()):
        if UNFINISHED.fullmatch(path.name) and path.is_dir() and not path.is_symlink():
            with suppress(OSError):
                handle = _locked(path)
                if handle is not None:
                    erase(path)
                    os.close(handle)


def erase(path: Path) -> None:
    """Delete the files that a table consists of, then its folder unless other files lie in it.

    The manifest goes first: from then on the table counts as absent, wherever we are interrupted. A power cut
    does not bring it back, nor anything of it once this has returned.
    """
    if path.is_symlink() or not path.is_dir():
        return
    with suppress(FileNotFoundError):  # another process is erasing it too
        if (path / manifest.NAME).exists():
            disk.delete(path / manifest.NAME)
            disk.sync(path)
        for file in sorted(path.iterdir()):
            if manifest.ARRAY_FILE.fullmatch(file.name) or checked.FILE.fullmatch(file.name):
                disk.delete(file)
        disk.remove_folders([path])
        disk.sync(path if path.is_dir() else path.parent)
