"""The mistakes a caller can make, each with its exit code; and what a disk refuses, in words."""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from pathlib import Path

DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT, sqlite3.SQLITE_CONSTRAINT)
BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# Larger numbers than this say nothing, and their squares overflow.
_LARGEST = 1e9


class LookalikeError(Exception):
    """Base of every error raised on purpose: its text is one sentence a user can act on.

    Examples
    --------
    >>> from lookalike import FaceSet, LookalikeError
    >>> try:
    ...     FaceSet("clip-7", [[0.0, 0.0]])
    ... except LookalikeError as reason:
    ...     print(reason)
    face 0 of set 'clip-7' has all numbers equal, which describes nothing: leave such faces out
    """

    exit_code = 1


class BadInput(LookalikeError):
    """What was given cannot be used: wrong shape, not finite, empty, unreadable."""

    exit_code = 3


class NotFound(LookalikeError):
    """What was asked for is not there: a file, a set, a part."""

    exit_code = 4


class Conflict(LookalikeError):
    """What was given contradicts what is stored: a used id, another descriptor."""

    exit_code = 5


class GalleryUnreadable(LookalikeError):
    """The file is not a gallery, is damaged, or was written by a newer version."""

    exit_code = 6


class StorageFailed(LookalikeError):
    """The disk refused: full, read-only, locked by another process, or failing."""

    exit_code = 7


def readable(path: Path | str) -> str:
    r"""Write a path as valid text: a byte that is not UTF-8 becomes an escape like ``\xff``."""
    try:
        return os.fsencode(path).decode("utf-8", "backslashreplace")
    # Half a surrogate pair, which no file name can hold but a caller can write.
    except UnicodeEncodeError:
        return str(path).encode("utf-8", "backslashreplace").decode()


def unreadable(path: Path, reason: OSError | ValueError) -> LookalikeError:
    """Return the error that says why a path cannot be read; ValueError is of one that cannot be a path."""
    if isinstance(reason, FileNotFoundError | NotADirectoryError):
        return NotFound(f"there is no file or folder {readable(path)!r}: check the path")
    if isinstance(reason, PermissionError):
        return BadInput(f"{readable(path)!r} may not be read: ask its owner for permission to read it")
    said = reason.strerror if isinstance(reason, OSError) else None
    return BadInput(f"{readable(path)!r} cannot be read ({said or reason}): check the path or the disk")


def is_folder(path: Path) -> bool:
    """Tell a folder from a plain file.

    Raise NotFound if there is nothing; BadInput if it may not be read, or is neither (a pipe or a device,
    which could be read for ever).
    """
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError) as reason:
        raise unreadable(path, reason) from None
    if not (stat.S_ISDIR(mode) or stat.S_ISREG(mode)):
        raise BadInput(f"{readable(path)!r} is neither a file nor a folder: give one of these")
    return stat.S_ISDIR(mode)


def leads_out(path: Path, folder: Path) -> bool:
    """Whether a path below a folder is a link to a place that is not below it; nothing is opened.

    Who packed the folder may have put it there: what the user has elsewhere was not given to be read.
    """
    try:
        there = os.path.realpath(path)
        return path.is_symlink() and not Path(there).is_relative_to(os.path.realpath(folder))
    except (OSError, ValueError):
        return True


def is_there(path: Path) -> bool:
    """Whether there is something at a path; a name that no file can have names nothing."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def is_whole(value: object, least: int, most: int | None = None) -> bool:
    """Whether a parameter is a whole number in range; a truth value is not one."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        return False
    return int(value) >= least and (most is None or int(value) <= most)


def is_positive(value: object) -> bool:
    """Whether a parameter is a number greater than 0 that arithmetic can use."""
    return isinstance(value, Real) and not isinstance(value, bool) and 0 < float(value) <= _LARGEST


@contextmanager
def in_words(path: Path) -> Iterator[None]:
    """Let no sqlite3.Error or OSError about a file or folder leave the block untranslated.

    It becomes StorageFailed if the disk refused, GalleryUnreadable if it is damaged, NotFound if it is gone.
    """
    try:
        yield
    except sqlite3.Error as error:
        raise from_sqlite(error, path) from error
    except UnicodeDecodeError as error:
        # Python could not even read SQLite's complaint, which quotes the damaged part of the file.
        raise damaged(path, "text that is not text") from error
    except OSError as error:
        raise from_system(error, path) from error


def primary_code(error: sqlite3.Error) -> int | None:
    """The kind of an SQLite error without its detail; None if Python itself raised it."""
    code: int | None = getattr(error, "sqlite_errorcode", None)
    # SQLite keeps the kind in the low byte: SQLITE_IOERR_WRITE is SQLITE_IOERR with a detail above it.
    return None if code is None else code & 0xFF


def from_sqlite(error: sqlite3.Error, path: Path) -> LookalikeError:
    """Choose the error that tells a user what SQLite said about the gallery at `path`."""
    code = primary_code(error)
    if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_IOERR_FSYNC:
        # It was written, and may be there when the file is next opened.
        return StorageFailed(
            f"the disk did not confirm a change of {path} ({error}): whether it was kept shows when it is "
            "opened again; check the health of the disk, then repeat"
        )
    if code == sqlite3.SQLITE_FULL:
        return disk_full(path)
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
        return StorageFailed(
            f"{path} can be read but not written (the file or its folder is read-only): "
            f"copy it to a place you may write, or change its permissions"
        )
    if code in BUSY:
        return StorageFailed(f"another process is writing {path}: try again when it has finished")
    if code == sqlite3.SQLITE_CANTOPEN:
        return StorageFailed(
            f"{path} cannot be opened for writing or its folder is read-only: "
            f"check that you may write both, or copy the gallery elsewhere"
        )
    if code == sqlite3.SQLITE_TOOBIG:
        return BadInput(f"a face, picture or name is too large for {path}: the limit is 1 GB for each")
    # Without a code the complaint is Python's: text in the file that is not text, or numbers that are not.
    if code in DAMAGED or code in (None, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_MISMATCH):
        return damaged(path, str(error))
    return StorageFailed(
        f"the disk refused to read or write {path} ({error}): check its free space and health, then repeat"
    )


def from_system(error: OSError, path: Path) -> LookalikeError:
    """Choose the error that tells a user what the operating system said about `path`."""
    if error.errno in FULL:
        return disk_full(path)
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return StorageFailed(
            f"permission to use {path} was refused ({error.strerror}): "
            f"check that you may read it and write its folder, or choose another place"
        )
    if error.errno == errno.ENOTDIR:
        return StorageFailed(f"a file is where the folder {path} should be: move it away, then repeat")
    if error.errno == errno.ENOENT:
        return NotFound(f"the folder of {path} does not exist: make it first, or choose another place")
    return StorageFailed(
        f"the disk refused {path} ({error.strerror or error}): repeat, or choose another place"
    )


def damaged(path: Path, why: str) -> GalleryUnreadable:
    """The one sentence for a file that SQLite cannot make sense of."""
    return GalleryUnreadable(
        f"{path} is damaged or is not a gallery ({why}): restore it from a backup, or add the sets again"
    )


def damaged_rows(
    path: Path, what: str, advice: str = "restore it from a backup, or remove and add that set again"
) -> GalleryUnreadable:
    """The error for rows that SQLite can read but that contradict themselves."""
    return GalleryUnreadable(f"{path} is damaged: {what}: {advice}")


def disk_full(path: Path) -> StorageFailed:
    """The one sentence for a full disk, whoever noticed it."""
    return StorageFailed(
        f"the disk holding {path} is full: free some space, then repeat; nothing is half done"
    )
