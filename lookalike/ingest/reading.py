"""Reading apart: faces and stills are read by a child process, which may fail and is not believed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TypeVar

from lookalike.errors import BadInput, LookalikeError, readable
from lookalike.faceset import check_most
from lookalike.ingest.pictures import Picture
from lookalike.ingest.readers.mat import Values, unpacked
from lookalike.ingest.readers.npz import MOST_BYTES
from lookalike.ingest.sandbox import Ended, Limits, Message, Sandbox
from lookalike.ingest.sourceset import SourceSet

Item = TypeVar("Item")
# The largest array that is read, its numbers with half the length, and as many pictures.
MOST_MEMORY: Final = 3 * MOST_BYTES
# So much memory is filled by the slowest decoder in this time.
SECONDS: Final = 600.0
# Three times that, if the disk is far away.
PATIENCE: Final = 1800.0


def read_apart(
    path: Path,
    array: str | None = None,
    features: Path | None = None,
    most: int | None = None,
    guessed: bool = False,
    limits: Limits | None = None,
    columns: Mapping[str, str] | None = None,
) -> Iterator[SourceSet]:
    """Find the sets of a source as `read_source` does, in a child process.

    Parsers and decoders are not made for files one does not trust: a damaged file can crash them. So they
    run in a child, one for each source, with limits on memory, time and what it may write. It reads one
    set ahead, while the last one is worked on, and is gone when the iterator is. If the array is
    `guessed`, a source without it is read as if none were asked for.

    Raises as `read_source` does; or BadInput if the source ends the child or takes too long, and
    StorageFailed if the child cannot be started.
    """
    check_most(most)
    request = {
        "source": str(path),
        "array": array,
        "features": None if features is None else str(features),
        "most": None if most is None else int(most),
        "guessed": guessed,
        "columns": None if columns is None else dict(columns),
    }
    sets = _sets(Path(path), request, limits or usual_limits(features))
    # What can be checked before the first set is read is checked here.
    next(sets, None)
    return (found for found in sets if found is not None)


def _sets(path: Path, request: dict[str, Any], limits: Limits) -> Iterator[SourceSet | None]:
    """Nothing at first, when the source was found to be readable; then its sets."""
    last = ""
    try:
        with Sandbox(limits) as child:
            child.ask(request)
            while (message := child.answer(PATIENCE)) is not None:
                found = None if "begun" in message.header else SourceSet.from_message(message)
                last = last if found is None else f", after {found.id!r},"
                yield found
    except Ended as how:
        raise BadInput(f"{readable(path)!r}{last} {how}") from None


def read_each_apart(
    paths: Sequence[Path], request: Callable[[Path], dict[str, Any]], read: Callable[[Message], Item]
) -> Iterator[Item | LookalikeError]:
    """Ask a child process for one message about each file; what is read in it, or why it cannot be.

    Only the file that ends a child is refused; another child reads the rest.
    """
    left = list(paths)
    while left:
        try:
            with Sandbox(usual_limits()) as child:
                while left:
                    yield _asked(child, request(left[0]), read)
                    left.pop(0)
        except Ended as how:
            yield BadInput(f"{readable(left.pop(0))!r} {how}")


def _asked(child: Sandbox, request: dict[str, Any], read: Callable[[Message], Item]) -> Item | LookalikeError:
    child.ask(request)
    try:
        message = child.answer(PATIENCE)
        if message is None:
            raise Ended
        found = read(message)
        if child.answer(PATIENCE) is not None:
            raise Ended
        return found
    except LookalikeError as reason:
        return reason
    # Whoever took over the child may write anything.
    except (ValueError, TypeError, KeyError, IndexError, ArithmeticError, AttributeError, RecursionError):
        raise Ended from None


def _read_one_apart(path: Path, request: dict[str, Any], read: Callable[[Message], Item]) -> Item:
    [found] = read_each_apart([path], lambda _: request, read)
    if isinstance(found, LookalikeError):
        raise found
    return found


def read_crops_apart(
    paths: Sequence[Path], largest: tuple[int, int] | None
) -> Iterator[Picture | LookalikeError | None]:
    """Read pictures that may be crops, or why not, in a child process; see `read_crop`."""
    return read_each_apart(
        paths,
        lambda path: {"crop": str(path), "largest": largest},
        lambda message: next(iter(SourceSet.from_message(message).pictures), None),
    )


def read_still_apart(path: Path, time: float | None = None) -> Picture:
    """Read a photo, or the frame that a film shows at a time, in a child process; see `read_still`."""
    return _read_one_apart(
        path, {"still": str(path), "time": time}, lambda message: SourceSet.from_message(message).pictures[0]
    )


def read_mat_apart(path: Path, names: Sequence[str]) -> dict[str, Values]:
    """Read variables of a .mat file in a child process; see `read_mat`."""
    return _read_one_apart(path, {"mat": str(path), "names": list(names)}, unpacked)


def usual_limits(features: Path | None = None) -> Limits:
    """What a child may take for a source, with its features."""
    memory = MOST_MEMORY
    # More than the machine has would end somebody else.
    with suppress(AttributeError, OSError, ValueError):
        memory = min(memory, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    # Features are never read whole, but have addresses, all of them.
    with suppress(OSError, ValueError):
        memory += 0 if features is None else os.stat(features).st_size
    return Limits(memory, SECONDS)
