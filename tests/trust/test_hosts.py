"""Hosts that the tests of trust make are apart from each other and from this machine."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.waiting import PATIENCE
from trust.hosts import Hosts, why_not

# Answers whoever connects, for ever, with its own name and the number of its first process.
SERVER = """
import os, socket
with socket.create_server(("", 5000)) as door:
    print("open", flush=True)
    while True:
        visitor, _ = door.accept()
        with visitor:
            visitor.sendall(f"{socket.gethostname()} {os.getpid() < 100}".encode())
"""
VISITOR = """
import socket, sys
with socket.create_connection((sys.argv[1], 5000), 5.0) as there:
    print(there.recv(100).decode())
"""


@pytest.fixture(scope="module")
def hosts() -> Iterator[Hosts]:
    if reason := why_not():
        pytest.skip(reason)
    with Hosts(2) as made:
        yield made


def visit(hosts: Hosts) -> subprocess.CompletedProcess[str]:
    """Connect with the first host from the second."""
    words = hosts.words(2, sys.executable, "-c", VISITOR, hosts.address(1))
    return subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE)


def test_hosts_are_apart_and_joined_by_cables(hosts: Hosts) -> None:
    server = subprocess.Popen(hosts.words(1, sys.executable, "-c", SERVER), stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    assert server.stdout.readline() == "open\n"
    assert visit(hosts).stdout == "host1 True\n"
    hosts.cut(1)
    assert any(words in visit(hosts).stderr for words in ("timed out", "No route to host"))
    hosts.mend(1)
    assert visit(hosts).stdout == "host1 True\n"
    # What runs there ends with whoever had it run.
    server.kill()
    assert server.stdout.read() == ""
    server.stdout.close()
    server.wait()
    assert "refused" in visit(hosts).stderr


def test_a_host_that_is_switched_off_takes_its_processes_with_it(hosts: Hosts) -> None:
    with subprocess.Popen(hosts.words(1, "sleep", "600")) as sleeping:
        hosts.switch_off(1)
        assert sleeping.wait(PATIENCE) != 0
    hosts.switch_on(1)
    assert subprocess.run(hosts.words(1, "hostname"), capture_output=True, text=True).stdout == "host1\n"
