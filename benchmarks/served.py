"""Served: the real server as a process of its own, and a client that opened its address once."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

COMMAND = [sys.executable, "-c", "from lookalike.cli import main; main()", "serve"]
# The page itself sends these; a browser sends the second of its own accord.
HEADERS = {"X-Lookalike": "1", "Sec-Fetch-Site": "same-origin"}
# The first search may have to index first.
PATIENCE = httpx.Timeout(600.0)


class Served:
    """``lookalike serve`` for as long as the block runs.

    Parameters
    ----------
    path : Path
        The gallery.
    """

    def __init__(self, path: Path) -> None:
        self.process = subprocess.Popen(
            [*COMMAND, str(path), "--port", "0", "--no-browser"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.complaints: list[str] = []
        assert self.process.stdout
        assert self.process.stderr
        listener = threading.Thread(target=self.complaints.extend, args=(self.process.stderr,), daemon=True)
        listener.start()
        for line in self.process.stdout:
            if found := re.search(r"(http://[^/\s]+)(/\S*)", line):
                break
        else:
            self.process.wait()
            raise SystemExit(f"the server does not start: {''.join(self.complaints)}")
        self.base, self.opening = found[1], found[2]
        self.client = httpx.Client(base_url=self.base, headers=HEADERS, timeout=PATIENCE)
        began = time.perf_counter()
        self.client.get(self.opening, follow_redirects=True).raise_for_status()
        self.first_seconds = time.perf_counter() - began

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.client.close()
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if error is not None:
            print("".join(self.complaints), file=sys.stderr)

    def processor_seconds(self) -> float:
        """What the server took of the processor so far, to a hundredth of a second; on Linux."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def get(self, path: str, **asked: Any) -> httpx.Response:
        """The answer to a question that changes nothing."""
        return self.client.get(path, params=asked).raise_for_status()

    def search(self, key: str, **asked: Any) -> httpx.Response:
        """The answers for a set, as the page fetches them."""
        return self.client.post("/api/searches", json={"set": key, **asked}).raise_for_status()

    def keys(self, count: int) -> dict[str, str]:
        """Id and key of some sets, the first ones."""
        found: dict[str, str] = {}
        for offset in range(0, count, 200):
            page = self.get("/api/sets", offset=offset, limit=min(200, count - offset)).json()
            found |= {one["id"]: one["key"] for one in page["sets"]}
        return found
