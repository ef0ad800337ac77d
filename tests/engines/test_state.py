"""What is open where: seen from any process, told also by who is busy, gone with who held it."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from lookalike import FaceSet, Gallery, open_gallery, parts
from lookalike.engines.contract import Engine, Label
from lookalike.engines.local import Local
from lookalike.engines.ray import Ray
from lookalike.residing import shard_states
from tests.cli_process import Ended, run
from tests.engines import places
from tests.engines.places import GIVEN
from tests.engines.programs import started
from tests.shards import split_gallery
from tests.small_world import small_world
from tests.waiting import until

HERE = socket.gethostname()


@pytest.fixture(params=parts.names("engines"))
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """One for each test, since other tests here are in a cluster of their own."""
    with parts.build("engines", request.param) as found:
        yield found


def labels(whole: str) -> list[Label]:
    """Every test has its own whole: what an earlier one held may be kept."""
    return [Label(whole, "a", "kind", "1"), Label(whole, "b", "kind", "2")]


def collection(folder: Path) -> Path:
    return split_gallery(folder, small_world(people=4, sets=3, faces=2)[0], 2)


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


def test_one_file_is_told_nothing_of(tmp_path: Path) -> None:
    with Gallery(tmp_path / "one.gallery", create=True) as gallery:
        assert shard_states(gallery, Local()) == ([], [])


def status(folder: Path, *words: str) -> Ended:
    return run("status", folder, *words, cwd=folder.parent)


def test_status_shows_the_shards_of_another_process(address: str, tmp_path: Path) -> None:
    folder = collection(tmp_path)
    asked = ("--engine", "ray", "--address", address)
    with open_gallery(folder) as gallery:
        sets = [len(one) for one in gallery.shards]
    with started("tests.engines.holder", folder, address) as holder:
        try:
            assert holder.stdout is not None
            assert holder.stdout.readline() == "open\n"
            told = status(folder, *asked, "--json").json
            assert [one["sets"] for one in told["shard_files"]] == sets
            for one in told["shard_files"]:
                [held] = one["open"]
                assert (held["holder_host"], held["holder_process"]) == (HERE, holder.pid)
                assert Path(f"/proc/{held['process']}").exists()
                assert held["memory"] > 10**6
                assert held["kind"].startswith("max_max:")
                assert (held["fits"], held["is_busy"]) == (True, False)
            [machine] = told["machines"]
            assert (machine["host"], machine["is_alive"], machine["wrong"]) == (HERE, True, "")
            assert 0 < machine["used"] < machine["memory"]
            with open_gallery(folder) as gallery:
                gallery.add(FaceSet("new", small_world(people=2, seed=9)[0][0].faces))
                changed = gallery.shards[gallery.shard_of("new")].path.name
            said = status(folder, *asked)
            assert (said.code, said.err) == (0, "")
            lines = [line for line in said.out.splitlines() if line.startswith("open: ")]
            assert len(lines) == 2
            for line in lines:
                assert f"for process {holder.pid} on {HERE}: max_max:" in line
                now = "the file has changed since: opened again when asked"
                assert line.endswith(now if changed in line else ": up to date"), line
        finally:
            holder.communicate()
    said = status(folder, *asked)
    assert [line for line in said.out.splitlines() if line.startswith("open: ")] == [
        f"open: shard-00{number}.gallery: nobody has it open" for number in range(2)
    ]


def test_status_of_a_folder_shows_its_files(tmp_path: Path) -> None:
    folder = collection(tmp_path)
    said = status(folder, "--json").json
    assert said["machines"] == []
    for one in said["shard_files"]:
        assert one["open"] == []
        assert one["bytes"] == (folder / one["file"]).stat().st_size
    said = status(folder, "--engine", "ray")
    assert said.code == 0
    assert "shard: shard-001.gallery: " in said.out
    assert "open: " not in said.out
    assert said.err.startswith("no cluster was named, so nobody was asked what is open")
    said = run("status", "one.gallery", "--engine", "ray", cwd=tmp_path)
    assert said.code == 3
    assert "one.gallery is one file, which the engine ray:address=None cannot spread" in said.err
