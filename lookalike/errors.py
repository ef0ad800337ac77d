"""The mistakes a caller can make, each with the exit code of the command line; and paths in words."""

from __future__ import annotations

import os
import stat
from pathlib import Path


class LookalikeError(Exception):
    """Base of every error raised on purpose: its text is one sentence a user can act on."""

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


# Paths in words: how a path is written in a sentence, why it cannot be read.


def readable(path: Path | str) -> str:
    r"""Write a path as valid text: a byte that is not UTF-8 becomes an escape like ``\xff``."""
    try:
        return os.fsencode(path).decode("utf-8", "backslashreplace")
    # Half a surrogate pair, which no file name can hold but a caller can write.
    except UnicodeEncodeError:
        return str(path).encode("utf-8", "backslashreplace").decode()


def unreadable(path: Path, reason: OSError | ValueError) -> LookalikeError:
    """Return the error that says why a path cannot be read.

    Parameters
    ----------
    path : Path
        What was to be read.
    reason : OSError or ValueError
        What the operating system answered; a ValueError is a path it would not even look at.
    """
    if isinstance(reason, FileNotFoundError | NotADirectoryError):
        return NotFound(f"there is no file or folder {readable(path)!r}: check the path")
    if isinstance(reason, PermissionError):
        return BadInput(f"{readable(path)!r} may not be read: ask its owner for permission to read it")
    said = reason.strerror if isinstance(reason, OSError) else None
    return BadInput(f"{readable(path)!r} cannot be read ({said or reason}): check the path or the disk")


def is_folder(path: Path) -> bool:
    """Tell a folder from a plain file.

    Raises
    ------
    NotFound
        If there is nothing at the path.
    BadInput
        If it may not be read, or is neither (a pipe or a device, which could be read for ever).
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
