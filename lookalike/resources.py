"""Resources: how much memory and disk is free, so that too little is said before long work, not amidst it.

And that no library takes more than that, such as the network.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from lookalike.errors import StorageFailed

PROC = Path("/proc")
CGROUPS = Path("/sys/fs/cgroup")


class Need(NamedTuple):
    """What work will take beyond what is taken now, about, in bytes."""

    memory: int
    disk: int

    def __str__(self) -> str:
        return f"about {in_words(self.memory)} of memory, {in_words(self.disk)} of disk"


def check(work: str, need: Need, folder: Path) -> None:
    """Refuse work, named as the subject of a sentence, if there is no room for it in memory or in a folder.

    Where nobody can tell what is free, nothing is refused.
    """
    check_memory(work, need.memory)
    free = free_disk(folder)
    if free is not None and free < need.disk:
        raise StorageFailed(
            f"{work} needs about {in_words(need.disk)} on the disk of {folder} and {in_words(free)} is free: "
            f"free some space, then repeat"
        )


def check_memory(work: str, memory: int) -> None:
    """Refuse work that needs more memory than is free; see `check`."""
    free = free_memory()
    if free is not None and free < memory:
        raise StorageFailed(
            f"{work} needs about {in_words(memory)} of memory and {in_words(free)} is free: close other "
            f"programs, or keep fewer faces of each set (`lookalike add --most`, options of the similarity)"
        )


def free_memory() -> int | None:
    """Bytes that this process may still take without swapping; None if the system does not tell."""
    found = [*_system(), *_groups(), *_own_limit()]
    return max(0, min(found)) if found else None


def own_memory() -> int | None:
    """Bytes of memory that this process takes, with those of files that it maps; None if nobody tells."""
    with suppress(OSError, ValueError, IndexError, AttributeError):
        return int((PROC / "self" / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return None


def memory_of_machine() -> tuple[int, int] | None:
    """Bytes of memory that this machine has, and how many are taken; None if the system does not tell."""
    stated = _table(PROC / "meminfo")
    if not {"MemTotal:", "MemAvailable:"} <= stated.keys():
        return None
    return 1024 * stated["MemTotal:"], 1024 * (stated["MemTotal:"] - stated["MemAvailable:"])


def free_disk(path: Path) -> int | None:
    """Bytes that may still be written where a path lies or will lie; None if the system does not tell."""
    for folder in (path, *path.absolute().parents):
        with suppress(OSError):
            return shutil.disk_usage(folder).free
    return None


def in_words(size: int) -> str:
    """A size to read: two digits are more than an estimate knows."""
    for unit, name in ((10**9, "GB"), (10**6, "MB")):
        if size >= unit:
            return f"{size / unit:.1f} {name}" if size < 10 * unit else f"{size / unit:.0f} {name}"
    return f"{size / 1000:.0f} kB"


# Workings: each yields what one authority leaves us, and nothing where there is none.


def _system() -> Iterator[int]:
    stated = _table(PROC / "meminfo")
    if "MemAvailable:" in stated:
        yield stated["MemAvailable:"] * 1024
        return
    with suppress(AttributeError, ValueError, OSError):  # macOS has no such file, Windows no such function
        yield os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _groups() -> Iterator[int]:
    """What control groups leave: a container may hold less than the machine it runs on."""
    with suppress(OSError):
        for line in (PROC / "self" / "cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers in ("", "memory"):
                root = CGROUPS / controllers
                place = root / path.lstrip("/")
                # Inside a container the path may be that of the host, of which only the root is mounted.
                for folder in {root, *(one for one in (place, *place.parents) if one.is_relative_to(root))}:
                    yield from _group(folder)


def _group(folder: Path) -> Iterator[int]:
    names = (
        ("memory.max", "memory.current", ""),
        ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_"),
    )
    for limit, usage, prefix in names:
        with suppress(OSError, ValueError):  # "max" is no limit
            left = int((folder / limit).read_text()) - int((folder / usage).read_text())
            # Files that were read count as used, but are given back when somebody needs the memory.
            stated = _table(folder / "memory.stat")
            yield left + sum(stated.get(f"{prefix}{name}_file", 0) for name in ("active", "inactive"))


def _own_limit() -> Iterator[int]:
    """What ``ulimit -v`` leaves."""
    with suppress(ImportError, OSError, ValueError, IndexError):
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit != resource.RLIM_INFINITY:
            pages = int((PROC / "self" / "statm").read_text().split()[0])
            yield limit - pages * resource.getpagesize()


def _table(path: Path) -> dict[str, int]:
    """Lines of a name and a number."""
    found = {}
    with suppress(OSError, ValueError):
        for line in path.read_text().splitlines():
            name, number, *_ = line.split()
            found[name] = int(number)
    return found


def keep_runtime_quiet() -> None:
    """Tell ONNX Runtime to report nothing to its makers; it listens only before it is loaded.

    Left alone, version 1.31 looks for their server, and keeps a file of what it would tell them.
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
