"""A Ray that is started here: nobody elsewhere reaches it, and no change of the network takes it away."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.engines.programs import ROOT, run_code
from trust.hosts import Hosts, why_not

# As of somebody who never heard of Ray's settings: those of the tests would have it use the loopback address.
PLAIN = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}

LISTENING = """
import os
from pathlib import Path

from lookalike.engines.ray import Ray
from tests.engines import places


def ours():
    # This process and all that come of it.
    parents = {}
    for one in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(one.name)] = int((one / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            pass
    found = {os.getpid()}
    while more := {one for one, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def sockets(process):
    for one in Path(f"/proc/{process}/fd").iterdir():
        try:
            kind, _, number = os.readlink(one).partition(":")
        except OSError:
            continue
        if kind == "socket":
            yield number.strip("[]")


with Ray() as engine, engine.hold(places.opened, places.GIVEN) as residents:
    print(residents.ask_all(places.total, 1.0))
    held = {number for process in ours() for number in sockets(process)}
    for kind in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{kind}").read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == "0A" and words[9] in held:
                print(words[1].partition(":")[0])
"""
# 127.0.0.1 as Linux writes it, plain and as an address of IPv6.
LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F"}


@pytest.mark.skipif(sys.platform != "linux", reason="reads what Linux tells of sockets")
def test_it_listens_to_this_machine_only() -> None:
    done = run_code(LISTENING, PLAIN)
    answers, *listening = done.out.splitlines()
    assert answers == "[3.0, 3.0]"
    assert len(listening) > 4, "its processes listen to each other"
    assert set(listening) <= LOOPBACK


ASKING = """
import faulthandler

from lookalike.engines.ray import Ray
from tests.engines import places

faulthandler.dump_traceback_later(240, exit=True)
with Ray() as engine:
    residents = engine.hold(places.opened, places.GIVEN)
    print(residents.ask_all(places.total, 1.0), flush=True)
    input()
    print(residents.ask_all(places.total, 1.0))
    print(engine.hold(places.opened, [("c", [1])]).ask_all(places.total, 1.0))
    print(list(engine.map(places.square, [3])))
"""


@pytest.fixture
def host() -> Iterator[Hosts]:
    if reason := why_not():
        pytest.skip(reason)
    with Hosts(1) as made:
        # The way to everybody else, by which Ray finds out what this machine's address is.
        subprocess.run(made.words(1, "ip", "route", "add", "default", "dev", "cable"), check=True)
        yield made


def test_it_outlasts_the_network(host: Hosts) -> None:
    """As a laptop that is carried elsewhere: Ray would use the address that it had in the beginning."""
    words = host.words(1, sys.executable, "-c", ASKING)
    with subprocess.Popen(
        words, cwd=ROOT, env=PLAIN, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as asking:
        assert asking.stdout is not None
        assert asking.stdout.readline() == "[3.0, 3.0]\n"
        subprocess.run(host.words(1, "ip", "addr", "flush", "dev", "cable"), check=True)
        out, _ = asking.communicate("\n")
    assert asking.returncode == 0
    assert out.splitlines() == ["[3.0, 3.0]", "[1.0]", "[9]"]


def test_a_cluster_that_is_entered_keeps_its_addresses() -> None:
    """What is set while Ray starts is as before afterwards, or other clusters could not be entered."""
    code = (
        "from ray._private import ray_constants\n"
        "from lookalike.engines.ray import Ray\n"
        "from tests.engines import places\n"
        "before = ray_constants.ENABLE_RAY_CLUSTER\n"
        "with Ray() as engine, engine.hold(places.opened, places.GIVEN):\n"
        "    print(before, ray_constants.ENABLE_RAY_CLUSTER)\n"
    )
    told = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "0" * 64}
    assert run_code(code, PLAIN | told).out == "True True\n"
