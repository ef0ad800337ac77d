"""Threads: order, exceptions, bounded waiting, and the linear algebra library held still."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from threadpoolctl import threadpool_info

from lookalike import resources
from lookalike.errors import StorageFailed
from lookalike.kernels import threads as ours
from lookalike.kernels.threads import Helpers, blocks, in_order, thread_count
from tests.waiting import PATIENCE


@pytest.fixture(params=[1, 2, 5])
def threads(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setenv("LOOKALIKE_THREADS", str(request.param))
    return request.param


def test_blocks_cover_everything_once() -> None:
    assert blocks(10, 4) == [slice(0, 4), slice(4, 8), slice(8, 10)]
    assert blocks(8, 4) == [slice(0, 4), slice(4, 8)]
    assert blocks(3, 10) == [slice(0, 3)]
    assert blocks(0, 4) == []


def test_order_is_kept_however_long_the_work_takes(threads: int) -> None:
    def work(item: int) -> int:
        time.sleep(0.002 * (item % 3 == 0))  # every third is slow
        return item * item

    assert list(in_order(work, range(30))) == [item * item for item in range(30)]


def test_nothing_to_do(threads: int) -> None:
    assert list(in_order(str, [])) == []


def test_an_exception_comes_after_the_results_before_it(threads: int) -> None:
    def work(item: int) -> float:
        return 12 / (3 - item)

    results = in_order(work, range(100))
    assert [next(results) for _ in range(3)] == [4.0, 6.0, 12.0]
    with pytest.raises(ZeroDivisionError):
        next(results)


def test_an_exception_of_the_items_propagates(threads: int) -> None:
    def items() -> Iterator[int]:
        yield 1
        raise KeyError("no more")

    with pytest.raises(KeyError, match="no more"):
        list(in_order(abs, items()))


def test_few_results_wait(threads: int) -> None:
    taken = 0

    def items() -> Iterator[int]:
        nonlocal taken
        while taken < 200:
            taken += 1
            yield taken

    for given, result in enumerate(in_order(lambda item: item, items()), start=1):
        assert result == given
        assert taken - given <= 2 * threads
    assert taken == 200


def test_no_more_threads_than_asked_for(threads: int) -> None:
    lock, running, most = threading.Lock(), 0, 0

    def work(item: int) -> int:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.001)
        with lock:
            running -= 1
        return threading.get_ident()

    workers = set(in_order(work, range(20)))
    assert most <= threads
    assert len(workers) <= threads
    if threads == 1:
        assert workers == {threading.get_ident()}


def blas_threads() -> list[int]:
    return [library["num_threads"] for library in arithmetic_libraries()]


def arithmetic_libraries() -> list[dict[str, Any]]:
    """Those of NumPy and SciPy; neither OpenCV's nor that of faiss, whose limits are each thread's own."""
    blas = (library for library in threadpool_info() if library["user_api"] == "blas")
    ours = (library for library in blas if library["threading_layer"] != "openmp")
    return [library for library in ours if "opencv" not in library["filepath"]]


def test_linear_algebra_is_held_to_one_thread_and_let_go(threads: int) -> None:
    before = blas_threads()
    assert all(set(inside) <= {1} for inside in in_order(lambda _: blas_threads(), range(3)))
    assert blas_threads() == before


def test_a_reader_who_leaves_early_stops_the_work(threads: int) -> None:
    before, started = blas_threads(), []

    def work(item: int) -> int:
        started.append(item)
        return item

    results = in_order(work, range(1000))
    assert next(results) == 0
    results.close()
    assert len(started) <= 2 * threads + 1
    assert blas_threads() == before


def test_the_environment_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOKALIKE_THREADS", "3")
    assert thread_count() == 3
    monkeypatch.delenv("LOOKALIKE_THREADS")
    processors = thread_count()
    assert processors >= 1
    for nonsense in ("", "0", "-2", "many", "1.5"):
        monkeypatch.setenv("LOOKALIKE_THREADS", nonsense)
        assert thread_count() == processors


def test_digits_that_are_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOKALIKE_THREADS", "²")
    assert thread_count() >= 1


def test_work_on_our_thread_has_it_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nested work runs on the thread it is on: no pool in a pool."""
    monkeypatch.setenv("LOOKALIKE_THREADS", "3")

    def inner(number: int) -> str:
        return threading.current_thread().name

    def outer(number: int) -> tuple[str, set[str]]:
        return threading.current_thread().name, set(in_order(inner, range(5)))

    for mine, used in in_order(outer, range(6)):
        assert used == {mine}


@pytest.mark.parametrize("few", [0, 1, 2])
@pytest.mark.parametrize("error", [RuntimeError("can't start new thread"), MemoryError()])
def test_where_no_thread_can_be_started_the_caller_does_the_work(
    few: int, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each item is done once, in order, by the threads that are there or by our own."""
    monkeypatch.setenv("LOOKALIKE_THREADS", "3")
    start, started, done = threading.Thread.start, [], []

    def limited(self: threading.Thread) -> None:
        if len(started) == few:
            raise error
        started.append(self)
        start(self)

    def work(item: int) -> tuple[int, bool]:
        done.append(item)
        return item * item, threading.current_thread() in started

    monkeypatch.setattr(threading.Thread, "start", limited)
    results = list(in_order(work, iter(range(40))))
    assert [square for square, _ in results] == [item * item for item in range(40)]
    assert sorted(done) == list(range(40))
    assert not results[-1][1]  # by the caller
    assert all(not thread.is_alive() for thread in started)


def test_an_error_does_not_keep_the_items_open(threads: int) -> None:
    """Whoever holds the error holds its frames: a stream that is read must have ended all the same."""
    ended = []

    class Stream:
        def __iter__(self) -> Iterator[int]:
            try:
                yield from range(100)
            finally:
                ended.append(True)

    with pytest.raises(ZeroDivisionError) as kept:
        list(in_order(lambda item: 1 / item, Stream()))
    assert ended, kept


@pytest.mark.parametrize(("free", "expected"), [(50_000_000, 1), (90_000_000, 2), (10**9, 4), (None, 4)])
def test_little_memory_means_fewer_threads(
    free: int | None, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T17: the linear algebra library ended the process when a second thread found no room."""
    monkeypatch.setattr(ours, "free_memory", lambda: free)
    monkeypatch.setattr(resources, "free_memory", lambda: free)
    monkeypatch.setattr(ours._inside, "roomy", 0)
    assert ours._with_room(4) == expected
    # What was given is kept: the library does not give it back.
    monkeypatch.setattr(ours, "free_memory", lambda: 0)
    assert ours._with_room(expected) == expected


def test_no_room_for_one_thread_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ours, "free_memory", lambda: 10_000_000)
    monkeypatch.setattr(resources, "free_memory", lambda: 10_000_000)
    monkeypatch.setattr(ours._inside, "roomy", 0)
    with pytest.raises(StorageFailed, match="comparing faces needs about 40 MB of memory and 10 MB is free"):
        list(in_order(str, range(3)))


def test_a_number_of_threads_may_be_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOKALIKE_THREADS", "1")
    together = threading.Barrier(3, timeout=PATIENCE)
    assert sorted(in_order(lambda item: (together.wait(), item)[1], range(3), 3)) == [0, 1, 2]
    monkeypatch.setenv("LOOKALIKE_THREADS", "3")
    here = threading.get_ident()
    assert list(in_order(lambda item: threading.get_ident(), range(3), 1)) == [here] * 3


def test_a_busy_caller_counts_as_one_of_the_threads() -> None:
    """Who makes the items works too: beside it there is one thread fewer."""
    here = threading.get_ident()
    two, three = (
        set(in_order(lambda item: threading.get_ident(), range(40), count, is_busy=True)) for count in (2, 3)
    )
    assert len(two) == 1
    assert len(three) <= 2
    assert here not in two | three
    assert set(in_order(lambda item: threading.get_ident(), range(3), 1, is_busy=True)) == {here}


def test_helpers_work_side_by_side_and_keep_what_they_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOKALIKE_THREADS", "3")
    together = threading.Barrier(3, timeout=PATIENCE)
    begun = []

    def work(item: int) -> int:
        begun.append(item)
        together.wait()
        return item * item

    with Helpers() as helpers:
        results = [helpers.begin(work, item) for item in range(3)]
        assert [result() for result in results * 2] == [0, 1, 4] * 2
    assert sorted(begun) == [0, 1, 2]


def test_helpers_do_each_piece_once_and_give_its_exception_to_whoever_asks(threads: int) -> None:
    done = []

    def work(item: int) -> float:
        done.append(item)
        return 12 / item

    with Helpers() as helpers:
        good, bad = helpers.begin(work, 3), helpers.begin(work, 0)
        assert (good(), good()) == (4.0, 4.0)
        for _ in range(2):
            with pytest.raises(ZeroDivisionError):
                bad()
    assert done.count(3) == 1


def test_helpers_of_a_helper_are_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOKALIKE_THREADS", "3")

    def inner(_: int) -> tuple[int, int, int]:
        with Helpers() as own:
            return own.count, own.begin(lambda item: threading.get_ident(), 0)(), threading.get_ident()

    with Helpers() as helpers:
        count, one, other = helpers.begin(inner, 0)()
    assert (count, one) == (1, other)


def test_where_no_thread_can_be_started_helpers_are_not_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOKALIKE_THREADS", "3")

    def no_thread(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with Helpers() as helpers:
        monkeypatch.setattr(threading.Thread, "start", no_thread)
        results = [helpers.begin(abs, item) for item in (-1, -2)]
        assert [result() for result in results] == [1, 2]


LATER = """
from threadpoolctl import threadpool_info
from lookalike.kernels.threads import one_blas_thread

def threads():
    return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]

import importlib, numpy, sys
assert "scipy.special" not in sys.modules
before = threads()
with one_blas_thread():
    importlib.import_module(sys.argv[1])
    loaded = threads()
    with one_blas_thread():
        within = threads()
print(len(within) == len(loaded), set(within), threads()[: len(before)] == before, max(threads()) > 1)
"""


@pytest.mark.parametrize("name", ["scipy.linalg", "scipy.special"])
def test_a_library_that_is_loaded_later_is_held_too(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for limit in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(limit, "2")
    said = subprocess.run([sys.executable, "-c", LATER, name], capture_output=True, text=True, check=True)
    assert said.stdout.split() == ["True", "{1}", "True", "True"]
