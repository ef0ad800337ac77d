"""Our own threads over fixed blocks, so that results do not depend on how many there are.

The linear algebra library may split one product over threads and sum in another order; while our
threads run it is held to one thread each. A block's result is then a function of the block alone.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, partial
from typing import Any, Final, TypeVar

from threadpoolctl import OpenBLASController, ThreadpoolController

from lookalike.resources import check_memory, free_memory

# What OpenBLAS maps for each thread that uses it (32 MB), and some for the thread itself.
BUFFER: Final = 40_000_000

Item = TypeVar("Item")
Result = TypeVar("Result")


def thread_count() -> int:
    """How many threads to use: ``LOOKALIKE_THREADS`` if set, else the processors we may run on."""
    wanted = os.environ.get("LOOKALIKE_THREADS", "")
    if wanted.isdecimal() and int(wanted) > 0:
        return int(wanted)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_order(
    work: Callable[[Item], Result],
    items: Iterable[Item],
    threads: int | None = None,
    is_busy: bool = False,
) -> Iterator[Result]:
    """Apply work to each item on our threads and yield the results in the order of the items.

    Few results wait at a time, so memory stays bounded however many items there are. Work that is itself on
    one of our threads has that thread alone: all processors are busy already. Where no thread can be started,
    the caller's does the work. Where there is little memory, there are fewer threads than `thread_count` or
    the number that is given. If making the items keeps the caller's thread busy, it counts as one of several.
    """
    threads = 1 if getattr(_here, "is_ours", False) else _with_room(threads or thread_count())
    with one_blas_thread():
        if threads == 1:
            yield from map(work, items)
            return
        threads -= is_busy
        waiting: deque[tuple[Item, Future[Result] | None]] = deque()
        is_alone = False
        with ThreadPoolExecutor(threads) as pool:
            try:
                for item in items:
                    future = None if is_alone else _started(pool, work, item)
                    is_alone = future is None
                    waiting.append((item, future))
                    while len(waiting) > (0 if is_alone else 2 * threads):
                        yield _result(work, *waiting.popleft())
                while waiting:
                    yield _result(work, *waiting.popleft())
            finally:
                for _, future in waiting:
                    if future is not None:
                        future.cancel()


class Helpers:
    """Our threads for work that comes bit by bit; use it in a ``with`` statement.

    As with `in_order`, each piece of work has one thread alone. Where there is but one, or no other can be
    started, the work is done when it is begun.
    """

    def __init__(self) -> None:
        self.count = 1 if getattr(_here, "is_ours", False) else _with_room(thread_count())
        self._pool = ThreadPoolExecutor(self.count) if self.count > 1 else None

    def __enter__(self) -> Helpers:
        return self

    def __exit__(self, *error: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def begin(self, work: Callable[[Item], Result], item: Item) -> Callable[[], Result]:
        """Begin a piece of work; what is returned waits for its result, and may be asked again."""
        future = None if self._pool is None else _started(self._pool, work, item)
        return partial(_result, work, item, _done(work, item) if future is None else future)


_here = threading.local()


def _with_room(threads: int) -> int:
    """How many of so many threads have room for what the linear algebra library takes for each, for good.

    Where it finds no room it ends the whole process.

    Raises
    ------
    StorageFailed
        If there is no room for one.
    """
    with _inside.lock:
        if threads > _inside.roomy:
            free = free_memory()
            if _inside.roomy == 0:
                check_memory("comparing faces", BUFFER)
            _inside.roomy = threads if free is None else max(1, min(threads, free // BUFFER))
        return min(threads, _inside.roomy)


def _started(pool: ThreadPoolExecutor, work: Callable[[Item], Result], item: Item) -> Future[Result] | None:
    """Give an item to our threads; None if the system has no room for one, or no more threads to give."""
    try:
        return pool.submit(_on_our_thread, work, item)
    except (RuntimeError, MemoryError):
        # What no thread has begun is done here: the item must not wait for a thread that never comes.
        pool.shutdown(wait=True, cancel_futures=True)
        return None


def _done(work: Callable[[Item], Result], item: Item) -> Future[Result]:
    """Do a piece of work here and now."""
    future: Future[Result] = Future()
    try:
        future.set_result(work(item))
    except Exception as reason:
        future.set_exception(reason)
    return future


def _result(work: Callable[[Item], Result], item: Item, future: Future[Result] | None) -> Result:
    return work(item) if future is None or future.cancelled() else future.result()


def _on_our_thread(work: Callable[[Item], Result], item: Item) -> Result:
    _here.is_ours = True
    return work(item)


# SciPy has a linear algebra library of its own, which the first of these loads, at any time.
LOADING: Final = ("scipy.linalg._fblas", "scipy.special._ufuncs")


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold the linear algebra library to one thread, so that it sums in one order.

    On small problems it is also much quicker than several threads that wait for each other.
    """
    # Several of our callers' threads may be inside at once: the first sets the limit, the last restores it.
    with _inside.lock:
        _hold(is_new=_inside.count == 0)
        _inside.count += 1
    try:
        yield
    finally:
        with _inside.lock:
            _inside.count -= 1
            if _inside.count == 0:
                _take_control()
                while _inside.limits:
                    _inside.limits.pop().restore_original_limits()


def _hold(is_new: bool) -> None:
    """Set the limit, unless all libraries that are loaded have it."""
    libraries = tuple(name in sys.modules for name in LOADING)
    if is_new or libraries != _inside.libraries:
        _take_control()
        _inside.limits.append(_controller(libraries).limit(limits=1, user_api="blas"))
        _inside.libraries = libraries


def scipy_linalg() -> Any:
    """The module ``scipy.linalg``, loaded when it is first needed, and held too inside `one_blas_thread`."""
    import scipy.linalg

    with _inside.lock:
        if _inside.count:
            _hold(is_new=False)
    return scipy.linalg


def blocks(total: int, size: int) -> list[slice]:
    """Cut 0..total into slices of at most size."""
    return [slice(start, min(start + size, total)) for start in range(0, total, size)]


class _Inside:
    """Who is inside `one_blas_thread`: the library's limit is one for the whole process."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.count = 0
        self.limits: list[Any] = []
        self.libraries: tuple[bool, ...] = ()
        # For so many threads there was room, and is theirs since.
        self.roomy = 0


_inside = _Inside()


def _take_control() -> None:
    """Let this thread set limits: newer versions of threadpoolctl listen to the first thread only."""
    take = getattr(OpenBLASController, "clear_controlling_thread", None)
    if take is not None:
        take(force=True)


@cache
def _controller(libraries: tuple[bool, ...]) -> ThreadpoolController:
    """Who controls the linear algebra libraries that are loaded: NumPy's, and SciPy's if one of these did."""
    return ThreadpoolController()
