"""Atomic changes: the one place that creates, writes, syncs, renames, links and deletes files.

Only SQLite and numba write files of their own. What is written is for the owner's eyes: files have mode 0600,
folders 0700. Nothing is overwritten: a file is written aside, brought to the disk, then renamed. A test reads
the syntax tree of the package and finds nobody else who writes.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, BinaryIO, Final

try:
    import fcntl
except ImportError:  # Windows: what a killed process leaves stays there
    fcntl = None  # type: ignore[assignment]

FILE_MODE: Final = 0o600
FOLDER_MODE: Final = 0o700
# What refuses a hard link where there are none (exFAT, some network folders).
NO_LINKS: Final = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK)

# Folders in the temporary place; files and folders aside, beside what they are to become.
TEMPORARY: Final = "lookalike-held-"
WRITING, NEW_GALLERY = ".writing-", ".new-gallery-"
_IN_TEMPORARY: Final = re.compile(re.escape(TEMPORARY) + ".*")
_ASIDE: Final = re.compile(r"\.(writing|new-gallery)-[0-9a-f]{16}(-wal|-shm|-journal)?")
# The locks that this process holds on its own folders, and which others it has swept.
_HANDLES: dict[Path, int] = {}
_SWEPT: set[Path] = set()

# Files.


def new_file(path: Path, buffered: bool = True) -> BinaryIO:
    """Open a file for writing that must not be there yet (FileExistsError)."""
    opened: BinaryIO = open(  # noqa: SIM115  (whoever asked for it closes it)
        path, "xb", buffering=-1 if buffered else 0, opener=_private
    )
    return opened


def create(path: Path) -> None:
    """Make an empty file that must not be there yet, for SQLite to fill."""
    new_file(path).close()


def to_disk(file: BinaryIO) -> None:
    """Wait until what was written to an open file is on the disk."""
    file.flush()
    os.fsync(file.fileno())


def sync(path: Path) -> None:
    """Wait until a file's bytes, or a folder's names, are on the disk."""
    if os.name == "nt" and path.is_dir():
        return  # Windows does not open folders
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def writing(
    path: Path, over: bool = False, durable: bool = True, buffered: bool = True
) -> Iterator[BinaryIO]:
    """Write a file aside; at the end of the block it takes its name, whole, or there is none.

    The `name` of what is yielded is the path aside. FileExistsError unless it may go `over` a file of that
    name. A `durable` one is on the disk, name and all, when the block has ended. Who also reads the file by
    its name gives ``buffered=False``.
    """
    _sweep_once(path.parent)
    aside, file, handle = _claim_file(path, buffered)
    try:
        with file:
            yield file
            if durable:
                to_disk(file)
        if over:
            aside.replace(path)
        elif not link(aside, path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
        if durable:
            sync(path.parent)
    finally:
        # What could not be finished is of no use, and what cannot be deleted now is litter by its name.
        with suppress(OSError):
            delete(aside)
        if handle is not None:
            os.close(handle)


def write(path: Path, content: bytes, over: bool = False, durable: bool = True) -> None:
    """Write a whole file, as `writing` does."""
    with writing(path, over, durable) as file:
        file.write(content)


def write_new(path: Path, content: bytes, durable: bool = True) -> None:
    """Write a file straight to its name, for folders that are themselves aside; the folder is not synced."""
    with new_file(path) as file:
        file.write(content)
        if durable:
            to_disk(file)


def copy_new(path: Path, stream: IO[bytes]) -> None:
    """Copy a stream into a file that must not be there yet; nobody waits for the disk."""
    with new_file(path) as file:
        shutil.copyfileobj(stream, file, 2**20)


def beside(path: Path) -> Path:
    """A name that nobody has, hidden, in the folder of a file."""
    return path.with_name(f"{WRITING}{secrets.token_hex(8)}")


# Names.


def publish(aside: Path, path: Path) -> bool:
    """Give a finished file its name, which exactly one process can do; False if the name is taken.

    The file is brought to the disk first, its name afterwards. The name aside stays, to be deleted.
    """
    sync(aside)
    if not link(aside, path):
        return False
    sync(path.parent)
    return True


def link(aside: Path, path: Path) -> bool:
    """Give a file a second name, without syncing; False if it is taken. Without hard links it is moved."""
    try:
        os.link(aside, path)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        # Without hard links: whoever makes the placeholder may replace it.
        try:
            create(path)
        except FileExistsError:
            return False
        aside.replace(path)
    return True


def rename(source: Path, target: Path) -> None:
    """Rename a folder or file; a file of the new name is replaced. The folder is not synced."""
    source.rename(target)


def replace(source: Path, target: Path) -> None:
    """Rename a file over another, and wait until the new name is on the disk."""
    source.replace(target)
    sync(target.parent)


def delete(path: Path) -> None:
    """Delete a file, if it is there."""
    path.unlink(missing_ok=True)


# Folders.


def make_folder(path: Path) -> None:
    """Make one folder that must not be there yet."""
    path.mkdir(mode=FOLDER_MODE)


def make_folders(path: Path) -> list[Path]:
    """Make a folder with its missing parents; return those made, innermost first."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=FOLDER_MODE, exist_ok=True)
        sync(folder.parent)
    return missing


def temporary_place() -> Path:
    """Where the system keeps what is soon deleted."""
    return Path(tempfile.gettempdir())


def temporary_folder() -> Path:
    """Make a folder in the temporary place, which goes with this process; dead ones' are swept first."""
    sweep_temporary()
    return claim_folder(temporary_place(), TEMPORARY)


def sweep_temporary() -> None:
    """Delete the temporary folders of processes that ended without doing so, as far as that can be done."""
    with suppress(OSError):  # where there is no such place, as on a full disk
        for path in abandoned(temporary_place(), _IN_TEMPORARY):
            delete_tree(path)


@contextmanager
def folder_aside(parent: Path, prefix: str = NEW_GALLERY) -> Iterator[Path]:
    """A hidden folder to make files in that are linked out of it; at the end of the block it goes."""
    _sweep_once(parent)
    path = claim_folder(parent, prefix)
    try:
        yield path
    finally:
        delete_tree(path)


def sweep(folder: Path) -> None:
    """Delete what dead processes left aside in a folder; what a living one is writing stays."""
    for path in abandoned(folder, _ASIDE):
        with suppress(OSError):
            delete_tree(path) if path.is_dir() else delete(path)


def _sweep_once(folder: Path) -> None:
    if folder not in _SWEPT:
        _SWEPT.add(folder)
        sweep(folder)


def claim_folder(parent: Path, prefix: str) -> Path:
    """Make a folder on which this process holds a lock until `release`, or until it ends in any way."""
    while True:
        path = parent / f"{prefix}{secrets.token_hex(8)}"
        make_folder(path)
        if fcntl is None:
            return path
        # Before the lock is held, somebody who sweeps may take the new folder for litter: then try another.
        with suppress(FileNotFoundError):
            try:
                handle = _locked(path)
            except FileNotFoundError:
                raise
            except OSError:
                return path  # a file system without locks, where nobody sweeps
            if handle is not None and path.exists():
                _HANDLES[path] = handle
                return path
            if handle is not None:
                os.close(handle)


def release(path: Path) -> None:
    """Give up the lock on a folder, whatever it is called by now."""
    if (handle := _HANDLES.pop(path, None)) is not None:
        os.close(handle)


def abandoned(folder: Path, names: re.Pattern[str]) -> Iterator[Path]:
    """Files and folders of such names that are ours, and on which no living process holds a lock.

    A process id in the name could not tell, since containers use the same few ids again and again.
    """
    if fcntl is None:
        return
    with suppress(OSError):
        for path in sorted(path for path in folder.iterdir() if names.fullmatch(path.name)):
            with suppress(OSError):
                said = path.lstat()
                if said.st_uid != os.getuid() or not (
                    stat.S_ISDIR(said.st_mode) or stat.S_ISREG(said.st_mode)
                ):
                    continue
                handle = _locked(path)
                if handle is not None:
                    try:
                        yield path
                    finally:
                        os.close(handle)


def _locked(path: Path) -> int | None:
    """Lock a file or folder; None if somebody holds it, OSError where the file system knows no locks."""
    handle = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as reason:
        os.close(handle)
        if isinstance(reason, BlockingIOError):
            return None
        raise
    return handle


def _claim_file(path: Path, buffered: bool) -> tuple[Path, BinaryIO, int | None]:
    """Make a file beside another, and hold a lock on it until it has its name: nobody takes it for litter.

    Returns its path, the open file, and a second handle which has the lock; None where there are no locks.
    """
    while True:
        aside = beside(path)
        file = new_file(aside, buffered)
        if fcntl is None:
            return aside, file, None
        handle = os.dup(file.fileno())
        is_swept = False
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            is_swept = True  # somebody came before the lock, and takes it for litter
        except OSError:
            pass  # a file system without locks, where nobody sweeps
        if not is_swept and aside.exists():
            return aside, file, handle
        file.close()
        os.close(handle)


def nameless_file() -> int:
    """Open a file that has no name and leaves nothing behind; its descriptor, to be closed."""
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def remove_folder(path: Path) -> None:
    """Remove an empty folder."""
    path.rmdir()


def remove_folders(folders: Iterable[Path]) -> None:
    """Remove those of the folders that are empty, in the order given."""
    for folder in folders:
        with suppress(OSError):
            folder.rmdir()


def delete_tree(path: Path, quietly: bool = True) -> None:
    """Delete a folder with all that is in it; quietly, what cannot be deleted stays."""
    shutil.rmtree(path, ignore_errors=quietly)
    release(path)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, FILE_MODE)
