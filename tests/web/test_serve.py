"""The real command as a process of its own: printed address, one browser, a clean end."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest

from lookalike.cli.serve import PORT, TRIED, _listening, _names
from lookalike.errors import BadInput, StorageFailed
from tests.cli_process import Ended, environment, run
from tests.waiting import PATIENCE
from tests.web.asking import fill

COMMAND = [sys.executable, "-W", "error", "-c", "from lookalike.cli import main; main()", "serve"]
OURS = {"X-Lookalike": "1", "Sec-Fetch-Site": "same-origin"}


@contextmanager
def serve(path: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], str, str, list[str]]]:
    """The process, where it is, the one-time way in, and what it says besides."""
    process = subprocess.Popen(
        [*COMMAND, str(path), "--no-browser", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    assert process.stdout
    assert process.stderr
    said: list[str] = []
    listener = threading.Thread(target=said.extend, args=(process.stderr,), daemon=True)
    listener.start()
    try:
        found = re.fullmatch(r"(http://\S+:\d+)(/\?token=[\w-]{22})\n", process.stdout.readline())
        assert found, said
        yield process, found[1], found[2], said
    finally:
        process.kill()
        process.wait()
        listener.join(PATIENCE)
        process.stdout.close()
        process.stderr.close()


def test_serve_from_start_to_end(tmp_path: Path) -> None:
    path = fill(tmp_path / "films.gallery")
    with serve(path, "--port", "0") as (process, base, entry, said):
        assert base.startswith("http://127.0.0.1:")
        with httpx.Client(base_url=base, headers=OURS, timeout=PATIENCE) as client:
            assert client.get("/api/gallery").status_code == 401
            assert client.get(entry, follow_redirects=True).status_code == 200
            assert httpx.get(base + entry).status_code == 401
            sets = client.get("/api/sets").json()["sets"]
            found = client.post("/api/searches", json={"set": sets[0]["key"]})
            assert found.json()["total"] == 17
            target = found.json()["answers"][0]["set"]["key"]
            asked = {"query": sets[0]["key"], "targets": [target], "verdict": "same"}
            assert client.post("/api/judgements", json=asked).status_code == 200
            job = client.post("/api/jobs", json={"kind": "train", "reranker": "learnt"}).json()["number"]
            with client.stream("GET", f"/api/jobs/{job}/events") as events:
                told = [line for line in events.iter_lines() if line]
            assert '"state":"done"' in told[-1]
            # Who hangs up in the middle must not end the server.
            port = int(base.rpartition(":")[2])
            cookie = f"{next(iter(client.cookies.jar)).name}={next(iter(client.cookies.jar)).value}"
            for _ in range(20):
                with socket.create_connection(("127.0.0.1", port)) as rude:
                    rude.sendall(
                        f"GET /api/sets HTTP/1.1\r\nHost: {base[7:]}\r\nCookie: {cookie}\r\n\r\n".encode()
                    )
            time.sleep(0.2)
            assert client.get("/api/gallery").status_code == 200
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0
    whole = "".join(said)
    assert "Traceback" not in whole
    token = entry.partition("=")[2]
    assert token not in whole
    assert "works once" in whole
    assert not list(tmp_path.glob("films.gallery-wal"))


def test_a_stream_does_not_hold_up_the_end(tmp_path: Path) -> None:
    path = fill(tmp_path / "films.gallery", 30, 4)
    asked = {"kind": "train", "reranker": "learnt"}
    with (
        serve(path, "--port", "0") as (process, base, entry, said),
        httpx.Client(base_url=base, headers=OURS, timeout=PATIENCE) as client,
    ):
        client.get(entry)
        job = client.post("/api/jobs", json=asked).json()["number"]
        with client.stream("GET", f"/api/jobs/{job}/events") as events:
            next(events.iter_lines())
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE) == 0
    assert "Traceback" not in "".join(said)


def test_another_host_says_what_it_means(tmp_path: Path) -> None:
    path = fill(tmp_path / "films.gallery", 2, 2)
    keys = tmp_path / "keys"
    keys.touch(mode=0o600)
    keys.write_text(f"nightly read {'k' * 22}\n")
    words = ("--port", "0", "--host", "0.0.0.0", "--key-file", str(keys))
    with serve(path, *words) as (process, base, entry, said):
        port = base.rpartition(":")[2]
        assert httpx.get(f"http://127.0.0.1:{port}/api/gallery").status_code == 401
        shown = {"Authorization": f"Bearer {'k' * 22}"}
        assert httpx.get(f"http://127.0.0.1:{port}/api/gallery", headers=shown).status_code == 200
        foreign = {"Host": f"evil.example:{port}"}
        assert httpx.get(f"http://127.0.0.1:{port}{entry}", headers=foreign).status_code == 400
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0
    assert "other machines can reach this page" in "".join(said)
    assert "keys are sent as they are" in "".join(said)
    assert "put a server that speaks TLS in front" in " ".join("".join(said).split())


def test_what_cannot_be_served(tmp_path: Path) -> None:
    def refused(*words: object) -> Ended:
        ended = run("serve", *words, "--no-browser", cwd=tmp_path)
        assert ended.out == ""
        assert len(ended.err.splitlines()) == 1, ended.err
        return ended

    assert refused("nowhere.gallery", "--port", "0").code == 4
    (tmp_path / "text.gallery").write_text("hello")
    assert refused("text.gallery", "--port", "0").code == 6
    fill(tmp_path / "g.gallery", 2, 2)
    assert refused("g.gallery", "--port", "70000").code == 3
    (tmp_path / "keys").write_text("nightly read short\n")
    (tmp_path / "keys").chmod(0o600)
    assert "a key of 5 characters" in refused("g.gallery", "--port", "0", "--key-file", "keys").err
    assert refused("g.gallery", "--host", "no such host", "--port", "0").code == 3


def test_a_port_that_is_taken() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(StorageFailed, match="choose another one with --port"):
            _listening("127.0.0.1", taken.getsockname()[1])
    with pytest.raises(BadInput):
        _listening("127.0.0.1", -1)


def test_the_next_free_port_is_taken_unless_one_is_asked_for() -> None:
    with _listening("127.0.0.1", None) as first, _listening("127.0.0.1", None) as second:
        ports = first.getsockname()[1], second.getsockname()[1]
        assert PORT <= ports[0] < ports[1] < PORT + TRIED


def test_names_by_which_the_server_may_be_called() -> None:
    assert _names("127.0.0.1") == _names("localhost") == {"127.0.0.1", "localhost"}
    assert _names("::1") == {"[::1]", "localhost"}
    assert _names("192.0.2.7") == {"192.0.2.7", "127.0.0.1", "localhost"}
    assert socket.gethostname().lower() in _names("0.0.0.0")
    assert "0.0.0.0" not in _names("0.0.0.0")


@pytest.mark.parametrize(
    ("host", "seconds"),
    [("127.0.0.1", 600), ("::1", 600), ("0.0.0.0", 5), ("192.0.2.7", 5), ("fe80::1%lo", 5)],
)
def test_strangers_cannot_hold_all_connections(
    host: str, seconds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lookalike.web import app as running
    from lookalike.web.load import LimitedProtocol

    begun: list[running.Server] = []
    monkeypatch.setattr(running.Server, "run", lambda self, sockets: begun.append(self))
    app = SimpleNamespace(state=SimpleNamespace(parts=SimpleNamespace(jobs=None)))
    running.run(app, SimpleNamespace(getsockname=lambda: (host, 8417)))  # type: ignore[arg-type]
    assert begun[0].config.timeout_keep_alive == seconds
    assert begun[0].config.http is LimitedProtocol


def test_nothing_of_the_server_is_loaded_without_need() -> None:
    code = (
        "import sys, lookalike, lookalike.cli.app; "
        "print({'fastapi', 'uvicorn', 'starlette', 'pydantic', 'lookalike.web'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE)
    assert done.stdout == "set()\n", done.stderr
