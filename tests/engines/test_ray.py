"""Ray as an engine: what only a cluster can do wrong."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lookalike.engines import ray as engines_ray
from lookalike.engines.contract import Lost
from lookalike.engines.ray import Ray
from lookalike.errors import BadInput, NotFound
from tests.engines import places

ROOT = Path(__file__).parents[2]


def test_a_shard_whose_process_dies_is_opened_again(tmp_path: Path) -> None:
    with Ray() as engine, engine.hold(places.opened, [("a", [1, 2]), ("b", [3])]) as residents:
        trace = str(tmp_path / "died")
        assert residents.ask(places.dying_once, {0: (trace,)}) == {0: 3.0}
        assert Path(trace).exists()
        assert residents.ask_all(places.total, 1.0) == [3.0, 3.0]


def test_work_whose_process_dies_is_repeated_but_not_for_ever(tmp_path: Path) -> None:
    with Ray() as engine:
        assert list(engine.map(places.dying, [0, 1, 2], tries=2)) == [0, Lost(2), 2]
        traces = [str(tmp_path / "a"), str(tmp_path / "b")]
        assert list(engine.map(places.dying_first, traces)) == traces


def test_work_that_nobody_waits_for_any_more_is_given_up(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    with Ray() as engine:
        found = engine.map(places.waiting, ["", str(trace), *[""] * 2 * engine.workers])
        assert next(found) == ""
        while not trace.exists() or trace.read_text() in ("", "begun"):
            found = None  # the last who could ask for it
            time.sleep(0.1)
        assert trace.read_text() != "done"


def test_nobody_gets_in_who_does_not_know_the_secret() -> None:
    with Ray() as engine, engine.hold(places.opened, [("a", [1, 2])]) as residents:
        assert residents.ask_all(places.total, 1.0) == [3.0]
        import ray

        address = ray.get_runtime_context().gcs_address
        code = (
            f"import ray; ray.init(address={address!r}); print('in', ray.get(ray.remote(lambda: 7).remote()))"
        )
        for told in ({"RAY_AUTH_MODE": "disabled"}, {"RAY_AUTH_TOKEN": "0" * 64}):
            known = {name: value for name, value in os.environ.items() if name != "RAY_AUTH_TOKEN"}
            done = subprocess.run(
                [sys.executable, "-c", code],
                env={**known, **told},
                capture_output=True,
                text=True,
                timeout=120,
            )
            assert done.returncode != 0
            assert "in 7" not in done.stdout
            assert "authentication" in done.stderr.lower()


def told_nothing() -> dict[str, str]:
    """The environment of somebody who never heard of Ray's secrets."""
    return {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}


@pytest.mark.parametrize("told", [{}, {"RAY_ADDRESS": "127.0.0.1:1"}])
def test_a_cluster_of_its_own_starts_in_a_process_that_knows_no_secret(told: dict[str, str]) -> None:
    """What tests/engines/conftest.py sets, no user does; nor is a cluster joined that nobody named."""
    code = (
        "from lookalike.engines.ray import Ray\n"
        "from tests.engines import places\n"
        "with Ray() as engine, engine.hold(places.opened, [('a', [1, 2])]) as residents:\n"
        "    print('found', residents.ask_all(places.total, 1.0))"
    )
    words, env = [sys.executable, "-c", code], told_nothing() | told
    done = subprocess.run(words, env=env, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert "found [3.0]" in done.stdout, done.stderr


def test_ray_that_was_imported_without_a_secret_is_not_started() -> None:
    code = (
        "import ray\nfrom lookalike.engines.ray import Ray\n"
        "try:\n    Ray().hold(print, [()])\n"
        "except Exception as reason:\n    print(type(reason).__name__, reason)"
    )
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, env=told_nothing(), cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.stdout == (
        "BadInput Ray was imported before it could be given a secret: set RAY_AUTH_MODE=token and "
        "RAY_AUTH_TOKEN before, or give the address of a cluster\n"
    )


def test_another_version_is_refused_with_both() -> None:
    engines_ray.check_versions(engines_ray.versions())
    with pytest.raises(
        BadInput, match=r"has Python 3.*, the one that asks has lookalike 0: install the same"
    ):
        engines_ray.check_versions("lookalike 0")


def test_without_ray_one_sentence_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['ray'] = None\n"
        "from lookalike.engines.ray import Ray\n"
        "try:\n    Ray().hold(print, [()])\n"
        "except Exception as reason:\n    print(type(reason).__name__, reason)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout == "NotFound the engine ray needs Ray: pip install 'lookalike[cluster]'\n"


def test_an_address_where_nobody_is_gets_one_sentence() -> None:
    with pytest.raises(
        NotFound, match=r"^no Ray cluster can be had at 127\.0\.0\.1:1 \(.+\): start one with"
    ):
        Ray("127.0.0.1:1").hold(places.opened, [("a", [1])])


@pytest.mark.parametrize("address", ["nowhere", ":1", "host:", "host:port", "host:99999"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(BadInput, match=r"^an address is HOST:PORT, as `ray start --head` prints it, or auto"):
        Ray(address).hold(places.opened, [("a", [1])])
