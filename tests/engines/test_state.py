"""What is open where: seen from any process, told also by who is busy, gone with who held it."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from lookalike import FaceSet, Gallery, registry
from lookalike.engines.contract import Engine, Label
from lookalike.engines.local import Local
from lookalike.engines.ray import Ray
from lookalike.indexing.slices import slice_states
from tests.cli_process import Ended, run
from tests.engines import places
from tests.engines.places import GIVEN
from tests.engines.programs import started
from tests.small_world import small_world
from tests.waiting import until

HERE = socket.gethostname()


@pytest.fixture(params=registry.names("engines"))
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """One for each test, since other tests here are in a cluster of their own."""
    with registry.build("engines", request.param) as found:
        yield found


def labels(whole: str) -> list[Label]:
    """Every test has its own whole: what an earlier one held may be kept."""
    return [Label(whole, "a", "kind", "1"), Label(whole, "b", "kind", "2")]


def written(folder: Path) -> Path:
    with Gallery(folder / "one.gallery", create=True) as gallery:
        for one in small_world(people=4, sets=3, faces=2)[0]:
            gallery.add(one)
    return folder / "one.gallery"


def test_every_engine_tells_what_is_open(engine: Engine) -> None:
    with engine.hold(places.opened, GIVEN, labels("whole")) as residents:
        residents.ask_all(places.total, 1.0)
        found = engine.state("whole").residents
        assert [one.label for one in found] == labels("whole")
        assert {(one.holder_host, one.holder_process, one.host) for one in found} == {
            (HERE, os.getpid(), HERE)
        }
        assert all(one.process and (one.memory or 0) > 10**6 for one in found)
        assert engine.state("whol").residents == ()
    if isinstance(engine, Local):
        assert engine.state("whole").residents == ()


def test_who_is_busy_tells_all_the_same(address: str, tmp_path: Path) -> None:
    own = labels("busy")[:1]
    with Ray(address) as engine, engine.hold(places.opened, GIVEN[:1], own) as residents:
        residents.ask_all(places.total, 1.0)
        begun, go_on = tmp_path / "begun", tmp_path / "go on"
        answers = residents.begin(places.waiting, {0: (str(begun), str(go_on))})
        until(begun.exists)
        [found] = engine.state("busy").residents
        assert found.label == own[0]
        assert not go_on.exists()
        go_on.touch()
        assert answers() == {0: 3.0}


def test_questions_are_answered_one_at_a_time(address: str) -> None:
    with Ray(address) as engine, engine.hold(places.opened, GIVEN[:1]) as residents:
        rounds = [residents.begin(places.alone, {0: ()}) for _ in range(20)]
        assert [one() for one in rounds] == [{0: True}] * 20


def test_who_cannot_answer_is_not_waited_for(address: str) -> None:
    own = labels("stopped")
    with Ray(address) as engine, engine.hold(places.opened, GIVEN, own) as residents:
        residents.ask_all(places.total, 1.0)
        first = engine.state("stopped").residents[0].process
        assert first is not None
        os.kill(first, signal.SIGSTOP)
        try:
            found = {one.part: one for one in engine.state("stopped").residents}
        finally:
            os.kill(first, signal.SIGCONT)
        assert (found["a"].label, found["a"].host, found["a"].holder_process) == (None, None, os.getpid())
        assert found["b"].label == own[1]
        assert residents.ask_all(places.total, 1.0) == [3.0, 3.0]


def test_an_engine_that_was_not_started_is_not_started_for_this() -> None:
    engine = Ray()
    assert engine.state("whole").machines == ()
    assert engine._head is None


def test_nothing_is_told_of_a_gallery_that_nobody_cut(tmp_path: Path) -> None:
    with Gallery(tmp_path / "one.gallery", create=True) as gallery:
        assert slice_states(gallery, Local()) == ([], [])


def status(path: Path, *words: str) -> Ended:
    return run("status", path, *words, cwd=path.parent)


def test_status_shows_the_slices_of_another_process(address: str, tmp_path: Path) -> None:
    path = written(tmp_path)
    asked = ("--engine", "ray", "--address", address)
    with started("tests.engines.holder", path, address) as holder:
        try:
            assert holder.stdout is not None
            assert holder.stdout.readline() == "open\n"
            told = status(path, *asked, "--json").json
            assert [one["slice"] for one in told["slices"]] == ["1 of 2", "2 of 2"]
            for held in told["slices"]:
                assert (held["holder_host"], held["holder_process"]) == (HERE, holder.pid)
                assert Path(f"/proc/{held['process']}").exists()
                assert held["memory"] > 10**6
                assert held["kind"].startswith("max_max:")
                assert (held["fits"], held["is_busy"]) == (True, False)
            [machine] = told["machines"]
            assert (machine["host"], machine["is_alive"], machine["wrong"]) == (HERE, True, "")
            assert 0 < machine["used"] < machine["memory"]
            for change in (False, True):
                if change:
                    with Gallery(path) as gallery:
                        gallery.add(FaceSet("new", small_world(people=2, seed=9)[0][0].faces))
                said = status(path, *asked)
                assert (said.code, said.err) == (0, "")
                lines = [line for line in said.out.splitlines() if line.startswith("slice: ")]
                assert len(lines) == 2
                for line in lines:
                    assert f"for process {holder.pid} on {HERE}: max_max:" in line
                    assert line.endswith("the gallery has changed since" if change else "up to date"), line
        finally:
            holder.communicate()
    lines = status(path, *asked).out.splitlines()
    assert [line for line in lines if line.startswith("slice: ")] == [
        "slice: nobody holds one of this gallery"
    ]


def test_status_without_a_cluster(tmp_path: Path) -> None:
    path = written(tmp_path)
    said = status(path, "--json").json
    assert (said["slices"], said["machines"]) == ([], [])
    said = status(path, "--engine", "ray")
    assert said.code == 0
    assert "slice: " not in said.out
    assert said.err.startswith("no cluster was named, so nobody was asked what is open")
