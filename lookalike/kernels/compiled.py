"""Compiled: the hot loops, each with a readable twin elsewhere that a test compares it with.

numba turns them into machine code on first use and keeps that beside this file, or in the user's cache folder
if this one cannot be written. They hold no lock, so our threads run them side by side. Sums run in one fixed
order: results do not depend on how rows are cut into blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def compiled(kernel: Kernel) -> Kernel:
    """Compile a loop over arrays; a product and a sum may become one instruction, nothing else changes."""
    made: Kernel = numba.njit(cache=True, nogil=True, fastmath={"contract"}, error_model="numpy")(kernel)
    return made


def reordered(kernel: Kernel) -> Kernel:
    """Compile a loop whose sums may run in any order, because none of them is rounded."""
    made: Kernel = numba.njit(
        cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz"}, error_model="numpy"
    )(kernel)
    return made
