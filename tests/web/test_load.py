"""Load: who holds many connections open takes the page from nobody, and does not fill the log."""

from __future__ import annotations

import resource
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx

from lookalike.web.load import FOR_HEADERS, MOST_CONNECTIONS
from tests.waiting import PATIENCE, until
from tests.web.asking import fill
from tests.web.test_serve import OURS, serve

# As many open files as most systems let a process have, and more connections than that.
FILES, STRANGERS = 1024, 1100


@contextmanager
def more_files(count: int) -> Iterator[None]:
    """This process may have so many files open in the block."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, count), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def is_ended(connection: socket.socket) -> bool:
    """Whether the other side has closed it."""
    connection.setblocking(False)
    try:
        return connection.recv(1) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def test_half_sent_requests_take_the_page_from_nobody(tmp_path: Path) -> None:
    path = fill(tmp_path / "films.gallery", 2, 2)
    with (
        more_files(2 * STRANGERS),
        serve(path, "--port", "0") as (process, base, entry, said),
        ExitStack() as held,
    ):
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (FILES, FILES))
        host, port = base.removeprefix("http://").split(":")
        owner = held.enter_context(httpx.Client(base_url=base, headers=OURS, timeout=PATIENCE))
        owner.get(entry)
        assert owner.get("/api/gallery").status_code == 200
        strangers = []
        for _ in range(STRANGERS):
            one = held.enter_context(socket.create_connection((host, int(port)), PATIENCE))
            one.sendall(b"GET / HTTP/1.1\r\nHost: " + f"{host}:{port}".encode() + b"\r\n")
            strangers.append(one)
        begun = time.monotonic()
        assert owner.get("/api/gallery").status_code == 200
        # A page that is opened now, by a connection of its own.
        assert httpx.get(base + "/api/gallery", headers=OURS, cookies=owner.cookies).status_code == 200
        until(lambda: sum(map(is_ended, strangers)) >= STRANGERS - MOST_CONNECTIONS)
        until(lambda: all(map(is_ended, strangers)))
        assert time.monotonic() - begun >= FOR_HEADERS / 2
        assert owner.get("/api/gallery").status_code == 200
    lines = [line for line in said if "Open this address" not in line]
    assert [line for line in lines if "connections at once" in line] == lines[:1] == lines, lines
