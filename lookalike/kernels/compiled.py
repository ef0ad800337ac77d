"""Compiled: the hot loops, each with a readable twin elsewhere that a test compares it with.

numba turns them into machine code on first use and keeps that beside this file, or in the user's cache folder
if this one cannot be written. They hold no lock, so our threads run them side by side. Sums run in one fixed
order: results do not depend on how rows are cut into blocks.

Where memory ends in the midst of that, the compiler ends the whole process without a word. So there must be
room before it begins.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from pathlib import Path
from typing import Any, Final, TypeVar

import numba
import scipy.linalg  # noqa: F401  (compiled code calls its library, which `threads` must see before)

from lookalike import atomic
from lookalike.resources import check_memory

Kernel = TypeVar("Kernel", bound=Callable[..., Any])
# The first loop takes 45 MB with the compiler itself, each other one at most 20; threads take some too.
ROOM: Final = 64_000_000


def compiled(kernel: Kernel) -> Kernel:
    """Compile a loop over arrays; a product and a sum may become one instruction, nothing else changes."""
    made: Kernel = numba.njit(cache=True, nogil=True, fastmath={"contract"}, error_model="numpy")(kernel)
    return _with_room(made)


def reordered(kernel: Kernel) -> Kernel:
    """Compile a loop whose sums may run in any order, because none of them is rounded."""
    made: Kernel = numba.njit(
        cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz"}, error_model="numpy"
    )(kernel)
    return _with_room(made)


def _with_room(made: Kernel) -> Kernel:
    """Refuse to make or load machine code where it would not fit, in a sentence."""
    make = made._compile_for_args  # type: ignore[attr-defined]  # called for types of arguments that are new

    @wraps(make)
    def with_room(*arguments: Any, **named: Any) -> Any:
        check_memory("loading machine code", ROOM)
        return make(*arguments, **named)

    made._compile_for_args = with_room  # type: ignore[attr-defined]
    return made


def forget_older(folder: Path) -> None:
    """Delete machine code that is older than a source beside it.

    numba compares a loop with its own file only, but a loop holds copies of the loops that it calls: after a
    change of another file it would run the old ones.
    """
    with suppress(OSError):
        newest = max((source.stat().st_mtime_ns for source in folder.glob("*.py")), default=0)
        for made in (folder / "__pycache__").glob("*.nbi"):
            if made.stat().st_mtime_ns < newest:
                atomic.delete(made)


forget_older(Path(__file__).parent)
