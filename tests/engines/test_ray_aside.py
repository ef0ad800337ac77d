"""What is left to do when objects are let go is done by nobody who is in the midst of something."""

from __future__ import annotations

import gc
import threading
from pathlib import Path

from lookalike.engines._ray_actors import Aside
from tests.engines.programs import run_code


class Leaving:
    """Leaves something to do when it is let go, as part of a ring that only a collection finds."""

    def __init__(self, aside: Aside, done: list[str]) -> None:
        self.aside, self.done, self.ring = aside, done, self

    def __del__(self) -> None:
        self.aside.leave(lambda: self.done.append(threading.current_thread().name))


def test_what_is_left_is_done_in_its_order_by_another_thread() -> None:
    aside, done = Aside(), list[str]()
    aside.open()
    aside.leave(lambda: done.append("first"))
    Leaving(aside, done)
    gc.collect()
    aside.wait()
    assert done == ["first", "lookalike-aside"]


def test_what_fails_keeps_nothing_else_from_being_done() -> None:
    aside, done = Aside(), list[str]()
    aside.open()
    aside.leave(lambda: done.remove("missing"))
    aside.leave(lambda: done.append("second"))
    aside.wait()
    assert done == ["second"]


def test_what_is_left_before_there_is_a_thread_is_done_by_it() -> None:
    aside, done = Aside(), list[str]()
    aside.wait()
    aside.leave(lambda: done.append("early"))
    assert done == []
    for _ in range(2):
        aside.open()
    aside.wait()
    assert done == ["early"]


# Ray calls back in a thread without which it does nothing: slices that are let go there, where Python happens
# to collect what nobody uses, must not wait for it.
LET_GO_THERE = """
import faulthandler
import gc
import time

from lookalike.engines.ray import Ray
from tests.engines import places

faulthandler.dump_traceback_later(120, exit=True)
gc.disable()


def collect(answer):
    print(gc.collect() > 0)


with Ray() as engine:
    held = engine.hold(places.opened, places.GIVEN)
    print(held.ask_all(places.total, 1.0))
    unused = engine.hold(places.opened, [("c", [1])])
    unused.begin(places.waiting, {{0: ({begun!r}, "/nowhere")}})
    work = engine.map(places.working, ["", {begun!r}, *[""] * 2 * engine.workers])
    next(work)
    ring = [unused, work]
    ring.append(ring)
    del unused, work, ring
    asked = held._actors[0].handle.answer.remote(places.total, 1.0).future()
    asked.add_done_callback(collect)
    print(held.ask_all(places.total, 1.0))
    while engine.state("-").residents[2:]:  # all that has no label is of one whole
        time.sleep(0.1)
    print(held.ask_all(places.total, 1.0))
"""


def test_slices_and_work_that_are_let_go_in_a_thread_of_ray(tmp_path: Path) -> None:
    done = run_code(LET_GO_THERE.format(begun=str(tmp_path / "begun")))
    assert done.err == ""
    assert sorted(done.out.splitlines()) == ["True", *["[3.0, 3.0]"] * 3]
