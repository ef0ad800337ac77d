"""Ray as an engine: what only a cluster can do wrong."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lookalike.engines._ray_actors import check_versions, versions
from lookalike.engines.contract import Lost
from lookalike.engines.ray import Ray
from lookalike.errors import BadInput, NotFound
from tests.engines import places
from tests.engines.nodes import one_node
from tests.engines.programs import run_code
from tests.waiting import until


def test_a_slice_whose_process_dies_is_opened_again(tmp_path: Path) -> None:
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
        found = engine.map(places.working, ["", str(trace), *[""] * 2 * engine.workers])
        assert next(found) == ""
        until(trace.exists)  # what has not begun is not begun any more
        del found  # the last who could ask for it
        until(lambda: trace.read_text() not in ("", "begun"))
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
            done = run_code(code, {**known, **told})
            assert done.code != 0
            assert "in 7" not in done.out
            assert "authentication" in done.err.lower()


def told_nothing() -> dict[str, str]:
    """The environment of somebody who never heard of Ray's secrets."""
    return {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}


def test_a_cluster_that_nobody_named_is_not_joined() -> None:
    code = (
        "from lookalike.engines.ray import Ray\n"
        "from tests.engines import places\n"
        "with Ray() as engine, engine.hold(places.opened, [('a', [1, 2])]) as residents:\n"
        "    print('found', residents.ask_all(places.total, 1.0))"
    )
    done = run_code(code, told_nothing() | {"RAY_ADDRESS": "127.0.0.1:1"})
    assert "found [3.0]" in done.out, done.err


def test_another_version_is_refused_with_both() -> None:
    check_versions(versions())
    with pytest.raises(
        BadInput, match=r"has Python 3.*, the one that asks has lookalike 0: install the same"
    ):
        check_versions("lookalike 0")


@pytest.mark.parametrize("first", ["", "import ray"])
def test_a_process_that_knows_no_secret_makes_one(first: str) -> None:
    """Ray takes it only if it is there before Ray is loaded."""
    code = (
        f"{first}\n"
        "from lookalike.engines.ray import Ray\n"
        "from lookalike.errors import BadInput\n"
        "from tests.engines import places\n"
        "try:\n"
        "    with Ray() as engine, engine.hold(places.opened, [('a', [1, 2])]) as residents:\n"
        "        print(residents.ask_all(places.total, 1.0))\n"
        "except BadInput as reason:\n    print(reason)"
    )
    known = {name: value for name, value in os.environ.items() if not name.startswith("RAY_AUTH")}
    done = run_code(code, known)
    assert done.err == ""
    if first:
        assert done.out.startswith("Ray was loaded before lookalike could give it a secret, without")
    else:
        assert done.out == "[3.0]\n"


def test_a_cluster_of_somebody_else_on_this_machine_is_not_entered() -> None:
    with (
        one_node(1) as cluster,
        Ray() as engine,
        engine.hold(places.opened, [("a", [1, 2])]) as residents,
    ):
        import ray

        assert ray.get_runtime_context().gcs_address != cluster.address
        assert residents.ask_all(places.total, 1.0) == [3.0]


def test_without_ray_one_sentence_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['ray'] = None\n"
        "from lookalike.engines.ray import Ray\n"
        "try:\n    Ray().hold(print, [()])\n"
        "except Exception as reason:\n    print(type(reason).__name__, reason)"
    )
    assert run_code(code).out == "NotFound the engine ray needs Ray: pip install 'lookalike[ray]'\n"


def test_an_address_where_nobody_is_gets_one_sentence() -> None:
    with pytest.raises(
        NotFound, match=r"^no Ray cluster can be had at 127\.0\.0\.1:1 \(.+\): start one with"
    ):
        Ray("127.0.0.1:1").hold(places.opened, [("a", [1])])


@pytest.mark.parametrize("address", ["nowhere", ":1", "host:", "host:port", "host:99999"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(BadInput, match=r"^an address is HOST:PORT, as `ray start --head` prints it, or auto"):
        Ray(address).hold(places.opened, [("a", [1])])
