"""Compiled: the hot loops, each with a readable twin elsewhere that a test compares it with.

numba turns them into machine code on first use and keeps that beside this file, or in the user's cache folder
if this one cannot be written. They hold no lock, so our threads run them side by side. Sums run in one fixed
order: results do not depend on how rows are cut into blocks.

Loading numba takes longer than a query of some hundred sets. So it is loaded with the first loop that is
called, and who knows another way to the same bits goes there while there is little to do (`is_worthwhile`).

Where memory ends in the midst of compiling, the compiler ends the whole process without a word. So there must
be room before it begins.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache, update_wrapper, wraps
from pathlib import Path
from threading import RLock
from typing import Any, Final, TypeVar, cast

from lookalike import atomic
from lookalike.resources import check_memory

Kernel = TypeVar("Kernel", bound=Callable[..., Any])
# The first loop takes 45 MB with the compiler itself, each other one at most 20; threads take some too.
ROOM: Final = 64_000_000
# Products that NumPy makes in less time than loading the compiler takes, and as how many a call of it counts.
ENOUGH: Final = 2**29
CALL: Final = 10_000


class Loop:
    """A loop over arrays that is compiled when it is first called, or when a loop that calls it is.

    Parameters
    ----------
    kernel : function
        The same lines in Python, kept as ``py_func``.
    fastmath : set of str
        What the compiler may change in the arithmetic.
    """

    def __init__(self, kernel: Callable[..., Any], fastmath: set[str]) -> None:
        self.py_func, self.fastmath = kernel, fastmath
        update_wrapper(self, kernel)

    def __call__(self, *arguments: Any) -> Any:
        """Run it as machine code."""
        return machine_code(self)(*arguments)

    def __reduce__(self) -> str:
        return self.py_func.__qualname__  # whoever gets it finds it where it lies


def compiled(kernel: Kernel) -> Kernel:
    """Compile a loop over arrays; a product and a sum may become one instruction, nothing else changes."""
    return cast(Kernel, Loop(kernel, {"contract"}))


def reordered(kernel: Kernel) -> Kernel:
    """Compile a loop whose sums may run in any order, because none of them is rounded."""
    return cast(Kernel, Loop(kernel, {"contract", "reassoc", "nsz"}))


def is_worthwhile(products: int) -> bool:
    """Whether machine code is worth its loading, for so many products and all that were made without.

    Who asks must get the same bits either way.
    """
    if "numba" not in sys.modules:
        _spent.products += products
    return "numba" in sys.modules or _spent.products > ENOUGH


def expect_much() -> None:
    """Have machine code loaded with the next work that has any, however little it is: much will follow."""
    _spent.products = ENOUGH


class _Spent:
    """What was done without machine code in this process."""

    products = 0


_spent = _Spent()
_one_at_a_time = RLock()


def machine_code(loop: Loop) -> Any:
    """What numba makes of a loop, for each types of arguments when they first come."""
    with _one_at_a_time:
        return _made(loop)


@cache
def _made(loop: Loop) -> Any:
    made = _compiler()(cache=True, nogil=True, fastmath=loop.fastmath, error_model="numpy")(loop.py_func)
    make = made._compile_for_args  # called for types of arguments that are new

    @wraps(make)
    def with_room(*arguments: Any, **named: Any) -> Any:
        """Refuse to make or load machine code where it would not fit, in a sentence."""
        check_memory("loading machine code", ROOM)
        return make(*arguments, **named)

    made._compile_for_args = with_room
    return made


@cache
def _compiler() -> Any:
    """Load numba, and let it see in a loop that is called by another what it makes of it."""
    import numba
    from numba.extending import typeof_impl

    @typeof_impl.register(Loop)  # type: ignore[untyped-decorator]
    def type_of(loop: Loop, context: object) -> Any:
        return numba.typeof(machine_code(loop))

    forget_older(Path(__file__).parent)
    return numba.njit


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
