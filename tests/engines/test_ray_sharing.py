"""Several engines in one process, which can be in one cluster only: they share it, or are told so."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from lookalike.engines.ray import Ray
from lookalike.errors import BadInput, StorageFailed
from tests.engines import places
from tests.engines.nodes import one_node
from tests.engines.places import GIVEN
from tests.engines.programs import run_code

# Engines are dropped here, and garbage is collected: Ray lets go of processes that it has not waited for.
pytestmark = pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning")


@pytest.fixture
def first(address: str) -> Iterator[Ray]:
    with Ray(address) as engine:
        assert engine.workers == 2
        yield engine


def test_a_cluster_is_left_with_the_last_engine(first: Ray, address: str) -> None:
    second = Ray(address)
    residents = second.hold(places.opened, GIVEN)
    assert residents.ask_all(places.total, 1.0) == [3.0, 3.0]
    first.close()
    assert residents.ask_all(places.total, 1.0) == [3.0, 3.0]
    second.close()
    import ray

    assert not ray.is_initialized()
    with pytest.raises(StorageFailed, match=r"^the Ray cluster does not answer any more"):
        residents.ask_all(places.total, 1.0)


def test_what_was_open_before_is_opened_anew_after_a_cluster_was_left(first: Ray, address: str) -> None:
    import ray

    before = first.hold(places.opened, GIVEN)
    ray.shutdown()  # somebody does
    ray.init(address=address, log_to_driver=False)
    try:
        with pytest.raises(StorageFailed, match=r"^the Ray cluster does not answer any more"):
            before.ask_all(places.total, 1.0)
        assert first.hold(places.opened, GIVEN).ask_all(places.total, 1.0) == [3.0, 3.0]
        first.close()
        assert ray.is_initialized(), "it was entered by somebody else"
    finally:
        ray.shutdown()


def test_another_cluster_is_not_taken_for_the_one_that_was_asked_for(first: Ray) -> None:
    for other in ("127.0.0.1:1", None):
        with pytest.raises(BadInput, match=r"^this process is in the Ray cluster at \S+, and can be in one"):
            Ray(other).hold(places.opened, GIVEN)
    assert first.hold(places.opened, GIVEN).ask_all(places.total, 1.0) == [3.0, 3.0]


def test_an_engine_that_was_let_go_keeps_nobody_from_another_cluster(address: str) -> None:
    forgotten = Ray(address)
    assert forgotten.hold(places.opened, GIVEN).ask_all(places.total, 1.0) == [3.0, 3.0]
    del forgotten
    gc.collect()
    with Ray() as engine:
        engine.hold(places.opened, GIVEN)
        assert engine._head is not None
        assert engine._head.reached_at != address


def test_a_cluster_is_not_left_while_slices_are_open_whose_engine_nobody_knows(address: str) -> None:
    """As of a search that was opened by the name of the engine."""
    residents = Ray(address).hold(places.opened, GIVEN)
    gc.collect()
    with Ray(address) as other:
        assert other.workers == 2
    assert residents.ask_all(places.total, 1.0) == [3.0, 3.0]
    residents.close()
    del residents
    gc.collect()
    with Ray(address) as other:
        assert other.workers == 2
    import ray

    assert not ray.is_initialized()


def test_engines_that_enter_at_once_are_in_the_same_cluster(address: str) -> None:
    engines, found = [Ray(address) for _ in range(4)], []

    def work(engine: Ray) -> None:
        found.append(engine.hold(places.opened, GIVEN).ask_all(places.total, 1.0))

    threads = [threading.Thread(target=work, args=(one,)) for one in engines]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[3.0, 3.0]] * 4
    assert len({id(one._head) for one in engines}) == 1
    for one in engines:
        one.close()


def test_a_cluster_without_processors_says_so() -> None:
    with one_node(0) as cluster, Ray(cluster.address) as engine:
        sentence = r"^no machine of the Ray cluster has a processor to give: start one with"
        with pytest.raises(StorageFailed, match=sentence):
            next(engine.map(places.square, [1]))


FOLDER = """
import os, stat
from lookalike.engines.ray import Ray
from tests.engines import places

engine = Ray()
engine.hold(places.opened, places.GIVEN).ask_all(places.total, 1.0)
import ray

session = ray._private.worker._global_node.get_session_dir_path()
print(folder := os.path.dirname(os.path.dirname(session)))
print(oct(stat.S_IMODE(os.stat(folder).st_mode)))
if {closes}:
    engine.close()
    print(os.path.exists(folder))
"""


@pytest.mark.parametrize("closes", [True, False])
def test_what_ray_writes_is_for_its_owner_and_ends_with_it(closes: bool) -> None:
    """What has no room in memory is written there, faces among it."""
    folder, mode, *after = run_code(FOLDER.format(closes=closes)).out.splitlines()
    assert mode == "0o700"
    assert after == (["False"] if closes else [])
    assert not Path(folder).exists()
