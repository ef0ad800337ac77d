"""The mistakes a caller can make, each with the exit code the command line ends with."""

from __future__ import annotations


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
