"""Whatever goes wrong on a cluster ends in one sentence, and what is asked next is answered."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from lookalike import Gallery
from lookalike.engines import _ray_cluster
from lookalike.engines import ray as engines_ray
from lookalike.engines.ray import Ray
from lookalike.errors import LookalikeError, NotFound, StorageFailed
from tests.cli_process import Ended, environment, run
from tests.engines import places
from tests.engines.nodes import one_node
from tests.engines.places import GIVEN
from tests.engines.programs import run_code, started, until_begun
from tests.small_world import small_world
from tests.waiting import PATIENCE, until


@pytest.fixture(scope="module")
def engine(address: str) -> Iterator[Ray]:
    with Ray(address) as found:
        yield found


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with Gallery(tmp_path / "one.gallery", create=True) as gallery:
        for one in small_world(people=4, sets=3, faces=2)[0]:
            gallery.add(one)
    return tmp_path / "one.gallery"


RAISED = {
    "memory": (StorageFailed, r"^a machine of the cluster ran out of memory: use more machines"),
    "array": (StorageFailed, r"^a machine of the cluster ran out of memory: use more machines"),
    "disk": (StorageFailed, r"^the disk of a machine of the cluster refused \(No space left on device: /x\)"),
    "module": (NotFound, r"^a machine of the cluster lacks nosuchthing: install lookalike there; `look"),
    "mistake": (
        LookalikeError,
        r"^a process of the cluster stumbled \(ZeroDivisionError: division by zero\)",
    ),
}


@pytest.mark.parametrize("what", RAISED)
def test_what_is_raised_elsewhere_arrives_as_a_sentence(engine: Ray, what: str) -> None:
    kind, sentence = RAISED[what]
    with engine.hold(places.opened, GIVEN) as residents:
        with pytest.raises(kind, match=sentence) as caught:
            residents.ask_all(places.raising, what)
        assert type(caught.value) is kind
        assert "\n" not in str(caught.value)
        assert residents.ask_all(places.total, 1.0) == [3.0, 3.0]
    with pytest.raises(kind, match=sentence):
        list(engine.map(places.raised, [what]))


def test_a_slice_that_is_lost_again_and_again_is_given_up(
    engine: Ray, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines_ray, "SECONDS_OF_LOSSES", 0.0)
    with engine.hold(places.opened, GIVEN) as residents:
        with pytest.raises(StorageFailed, match=r"^a slice was lost again and again while it answered"):
            residents.ask(places.killed, {0: ()})
        assert residents.ask_all(places.total, 1.0) == [3.0, 3.0], "it is opened again for the next question"


def test_a_slice_that_somebody_ended_is_told(engine: Ray) -> None:
    import ray

    residents = engine.hold(places.opened, GIVEN)
    residents.ask_all(places.total, 1.0)
    ray.kill(residents._actors[0].handle)  # type: ignore[attr-defined]

    def ask_until_it_is_gone() -> None:
        # Ray ends it when it comes to it: on a busy machine it may still answer.
        for _ in range(600):
            residents.ask_all(places.total, 1.0)
            time.sleep(0.1)

    with pytest.raises(StorageFailed, match=r"^a slice was lost and could not be opened elsewhere: check"):
        ask_until_it_is_gone()
    with engine.hold(places.opened, GIVEN) as others:
        assert others.ask_all(places.total, 1.0) == [3.0, 3.0]


def test_every_error_of_ray_becomes_a_sentence() -> None:
    """Also of those that cannot be brought about here."""
    import ray

    known = [one for one in vars(ray.exceptions).values() if isinstance(one, type)]
    errors = [one for one in known if issubclass(one, ray.exceptions.RayError)]
    assert len(errors) > 20
    for one in errors:
        worded = type(one.__name__, (one,), {"__str__": lambda self: "it failed\nin many lines"})
        made = worded.__new__(worded)
        made.cause = ValueError("x")
        with pytest.raises(LookalikeError) as caught, _ray_cluster.in_words(ray):
            raise made
        assert "\n" not in str(caught.value)


def test_a_cluster_that_wants_a_token(address: str, path: Path, tmp_path: Path) -> None:
    asked = ("status", path, "--engine", "ray", "--address", address)
    sentences: Mapping[str, str] = {
        "": "lookalike: Ray wants a token, and none is known here: set RAY_AUTH_MODE=token",
        "0" * 64: f"lookalike: the Ray cluster at {address} wants a token, or another one: set RAY_AUTH_MODE",
    }
    for token, sentence in sentences.items():
        told = {"HOME": str(tmp_path), "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": token}
        said = run(*asked, cwd=tmp_path, **told)
        assert said.code == 3
        assert said.err.startswith(sentence)
        assert said.err.count("\n") == 1


def test_a_cluster_of_another_version(path: Path) -> None:
    """Told so by Ray itself, from what the cluster says of its version."""
    with one_node(1) as cluster:
        address, client = cluster.address, cluster.head_node.get_gcs_client()
        about = json.loads(client.internal_kv_get(b"CLUSTER_METADATA", b"cluster"))
        older = {**about, "ray_version": "1.0.0"}
        client.internal_kv_put(b"CLUSTER_METADATA", json.dumps(older).encode(), True, b"cluster")
        said = run("status", path, "--engine", "ray", "--address", address, cwd=path.parent)
    assert said.code == 3
    assert f"the Ray cluster at {address} has another version (Version mismatch: " in said.err
    assert "Ray: 1.0.0" in said.err
    assert said.err.count("\n") == 1


def test_ray_without_room(tmp_path: Path) -> None:
    """A store of a hundred megabytes, on a machine whose disk counts as full."""
    code = (
        "import ray, numpy as np\n"
        "from lookalike.engines.ray import Ray\n"
        "from lookalike.errors import StorageFailed\n"
        "from tests.engines import places\n"
        "ray.init(num_cpus=1, include_dashboard=False, object_store_memory=100_000_000)\n"
        "with Ray() as engine, engine.hold(places.opened, [('a', [1])]) as residents:\n"
        "    try:\n"
        "        residents.share(np.zeros(50_000_000))\n"
        "    except StorageFailed as reason:\n"
        "        print(reason)\n"
        "    try:\n"
        "        engine.hold(places.opened, [('b', np.zeros(50_000_000))])\n"
        "    except StorageFailed as reason:\n"
        "        print(reason)\n"
        "    print(residents.ask_all(places.total, 1.0))\n"
    )
    done = run_code(code, environment(RAY_local_fs_capacity_threshold="0.0001"))
    *sentences, answer = done.out.splitlines()
    assert len(sentences) == 2
    assert set(sentences) <= {_ray_cluster.DISK, _ray_cluster.STORE}
    assert answer == "[1.0]"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_who_waits_for_a_cluster_can_be_interrupted(
    engine: Ray, address: str, tmp_path: Path, number: int, code: int
) -> None:
    begun = tmp_path / "begun"
    with started("tests.engines.waiting_command", "wait", address, begun) as waiter:
        until_begun(waiter, begun)
        [held] = engine.state("waiting").residents
        assert held.holder_process == waiter.pid
        waiter.send_signal(number)
        out, err = waiter.communicate(timeout=PATIENCE)
    assert (waiter.returncode, out) == (code, "")
    # Ray's own threads may say that nobody listens any more.
    assert err.splitlines()[-1] == (
        "lookalike: interrupted; what is finished is kept, run the same command to go on"
    )
    assert "Traceback" not in err
    # Ended by the cluster, which takes a moment.
    until(lambda: not engine.state("waiting").residents)
    until(lambda: not Path(f"/proc/{held.process}").exists())


def test_nothing_is_printed_when_a_process_is_lost(address: str, tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from lookalike.engines.ray import Ray\n"
        "from tests.engines import places\n"
        f"with Ray({address!r}) as engine, engine.hold(places.opened, [('a', [1, 2])]) as residents:\n"
        f"    print(residents.ask(places.dying_once, {{0: ({str(tmp_path / 'died')!r},)}}))\n"
    )
    done = run_code(code)
    assert (tmp_path / "died").exists()
    assert done == Ended(0, "{0: 3.0}\n", "")
