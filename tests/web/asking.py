"""A client for tests of the server: no socket, every header as it is given."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from fastapi import FastAPI
from PIL import Image

from lookalike import FaceSet, Gallery
from lookalike.web.app import Parts, create_app
from tests.small_world import small_world
from tests.waiting import PATIENCE

HOST = "127.0.0.1:8417"
ORIGIN = f"http://{HOST}"
TOKEN = "a" * 22
COOKIE = "lookalike-8417"

Headers = dict[str, str] | list[tuple[str, str]]


@dataclass(frozen=True)
class Said:
    """What the server answered."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> str:
        """The sentence that says why not."""
        said = self.json
        assert list(said) == ["error"]
        assert isinstance(said["error"], str)
        return said["error"]

    def header(self, name: str) -> str | None:
        return dict(self.headers).get(name)


class Asker:
    """Asks an app, as a browser that has opened the printed address would."""

    def __init__(self, app: FastAPI, runner: asyncio.Runner, enter: bool = True) -> None:
        self.app, self._runner = app, runner
        self.cookie = ""
        if enter:
            entered = self.raw("GET", f"/?token={TOKEN}", {"Host": HOST})
            assert entered.status == 303, entered
            self.cookie = (entered.header("set-cookie") or "").partition(";")[0].partition("=")[2]

    @property
    def parts(self) -> Parts:
        parts: Parts = self.app.state.parts
        return parts

    def raw(self, method: str, target: str, headers: Headers, body: bytes | list[bytes] = b"") -> Said:
        """Ask with these headers and no others."""
        path, _, query = target.partition("?")
        pairs = list(headers.items()) if isinstance(headers, dict) else headers
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": _decoded(path),
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in pairs],
            "client": ("127.0.0.1", 50000),
            "server": ("127.0.0.1", 8417),
            "app": self.app,
        }
        return self._runner.run(_exchange(self.app, scope, [body] if isinstance(body, bytes) else body))

    def __call__(self, method: str, target: str, asked: Any = None, **changes: str) -> Said:
        """Ask for something, as the page does."""
        headers = {"Host": HOST, "Cookie": f"{COOKIE}={self.cookie}", **changes}
        if method != "GET":
            headers |= {"Origin": ORIGIN, "X-Lookalike": "1", "Content-Type": "application/json"} | changes
        return self.raw(method, target, headers, b"" if asked is None else json.dumps(asked).encode())

    def get(self, target: str) -> Any:
        """What is there."""
        said = self("GET", target)
        assert said.status == 200, said
        return said.json

    def post(self, target: str, asked: Any) -> Any:
        """What comes of it."""
        said = self("POST", target, asked)
        assert said.status in (200, 202), said
        return said.json

    def upload(self, *files: tuple[str, bytes], to: str = "/api/uploads", key: str = "") -> Said:
        """Send files as a browser does, or as a program with a key."""
        parts = b"".join(
            b'--frontier\r\nContent-Disposition: form-data; name="files"; filename="%b"\r\n'
            b"Content-Type: application/octet-stream\r\n\r\n%b\r\n"
            % (name.replace('"', "%22").encode(), content)
            for name, content in files
        )
        headers = {"Host": HOST, "Content-Type": "multipart/form-data; boundary=frontier"}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        else:
            headers |= {"Cookie": f"{COOKIE}={self.cookie}", "Origin": ORIGIN, "X-Lookalike": "1"}
        return self.raw("POST", to, headers, parts + b"--frontier--\r\n")

    def done(self, number: int) -> Any:
        """Wait for a job to end, and say how."""
        assert self.parts.jobs.get(number).wait(PATIENCE)
        return self.get(f"/api/jobs/{number}")

    def keys(self) -> dict[str, str]:
        """Key of each set by its id."""
        return {one["id"]: one["key"] for one in self.get("/api/sets?limit=200")["sets"]}


async def _exchange(app: FastAPI, scope: dict[str, Any], body: list[bytes]) -> Said:
    pieces, said = list(body), []

    async def receive() -> dict[str, Any]:
        if not pieces:
            # Whoever asks stays until the answer has come.
            await asyncio.sleep(3600)
        return {"type": "http.request", "body": pieces.pop(0), "more_body": bool(pieces)}

    async def send(message: dict[str, Any]) -> None:
        said.append(message)

    await app(scope, receive, send)  # type: ignore[arg-type]
    start = said[0]
    headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in start["headers"]]
    return Said(start["status"], headers, b"".join(one.get("body", b"") for one in said[1:]))


def _decoded(path: str) -> str:
    from urllib.parse import unquote

    return unquote(path, errors="replace")


@contextmanager
def asker(path: Path, enter: bool = True, **options: Any) -> Iterator[Asker]:
    """The server of a gallery, for as long as the block runs."""
    app = create_app(path, TOKEN, [HOST], **options)
    with asyncio.Runner() as runner:
        yield Asker(app, runner, enter)
    app.state.parts.close()


def picture(shade: int, size: int = 24) -> bytes:
    """A small picture, each shade another."""
    held = BytesIO()
    Image.fromarray(np.full((size, size), shade % 256, np.uint8)).save(held, "PNG")
    return held.getvalue()


def fill(path: Path, people: int = 6, sets: int = 3, pictures: bool = True) -> Path:
    """A gallery of a small world whose right answers are known by construction."""
    with Gallery(path, create=True) as gallery:
        for number, one in enumerate(small_world(people, sets)[0]):
            shown = [picture(10 * number + face) for face in range(len(one))] if pictures else ()
            gallery.add(FaceSet(one.id, one.faces, f"films/{one.origin}", pictures=shown))
    return path
