"""A cluster whose head is lost: whoever waits is told, lives on, and enters the next one."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from lookalike.engines._ray_cluster import GONE, knock
from tests.engines.nodes import kill_head, one_node
from tests.engines.programs import run_code, started, until_begun
from tests.waiting import PATIENCE


def test_a_command_that_waits_ends_with_a_sentence(tmp_path: Path) -> None:
    """Ray itself would end it after a minute, with words of its own."""
    begun = tmp_path / "begun"
    with (
        one_node() as cluster,
        started("tests.engines.waiting_command", "wait", cluster.address, begun, "--silence", 2) as waiter,
    ):
        until_begun(waiter, begun)
        kill_head(cluster)
        out, err = waiter.communicate(timeout=PATIENCE)
    assert (waiter.returncode, out) == (7, "")
    # Ray's own threads may say before that nobody listens any more.
    assert err.splitlines()[-1] == f"lookalike: {GONE}"
    assert "Traceback" not in err


LIVING_ON = """
import os
import time

from lookalike.engines import _ray_cluster
from lookalike.engines.ray import Ray
from lookalike.errors import LookalikeError
from tests.engines import places
from tests.engines.nodes import kill_head, one_node

_ray_cluster.OFTEN, _ray_cluster.SILENCE = 0.2, 1.0


def said(ask, *given):
    try:
        return ask(*given)
    except LookalikeError as reason:
        return str(reason)


with one_node(port={port}) as cluster:
    engine = Ray(cluster.address)
    first = engine.hold(places.opened, places.GIVEN)
    print(first.ask_all(places.total, 1.0))
    kill_head(cluster)
    print(said(first.ask_all, places.waiting, os.devnull, "/nowhere"))
    print(said(engine.hold, places.opened, places.GIVEN))
    print(said(list, engine.map(places.total, [1])))
    while not engine._head.is_over:  # it takes a while to leave
        time.sleep(0.1)
    print(said(engine.hold, places.opened, places.GIVEN))
with one_node(port={port}):
    second = engine.hold(places.opened, places.GIVEN)
    print(second.ask_all(places.total, 1.0))
    print(said(first.ask_all, places.total, 1.0))
    print(said(first.share, 1))
    engine.close()
    print(engine._head)
"""


def test_an_engine_lives_on_and_enters_the_next_cluster() -> None:
    with socket.socket() as free:
        free.bind(("", 0))
        port = free.getsockname()[1]
    done = run_code(LIVING_ON.format(port=port))
    assert done.code == 0, done
    before, waiting, holding, mapping, leaving, after, stale, sharing, closed = done.out.splitlines()
    assert before == after == "[3.0, 3.0]"
    assert waiting == stale == sharing == GONE
    # Told at once, while it is being left and when it is.
    assert all(one == GONE or one.startswith("no Ray cluster can be had at ") for one in (holding, mapping))
    assert leaving.startswith("no Ray cluster can be had at ")
    assert closed == "None"


def test_knocking_where_nobody_is() -> None:
    with socket.create_server(("127.0.0.1", 0)) as door:
        port = door.getsockname()[1]
        knock(f"127.0.0.1:{port}")
    with pytest.raises(OSError, match="refused"):
        knock(f"127.0.0.1:{port}")
