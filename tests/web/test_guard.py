"""Only our own page is answered: every route, against foreign hosts, origins, sites, cookies and forms."""

from __future__ import annotations

import asyncio
import logging
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.routing import APIRoute

from lookalike.web import pages
from lookalike.web.app import create_app
from lookalike.web.guard import HEADERS, MOST_JSON, UPLOADS
from tests.web.asking import COOKIE, HOST, ORIGIN, TOKEN, Asker, Said, asker, fill

HOSTS = [
    HOST,
    None,
    "",
    "127.0.0.1",
    "127.0.0.1:80",
    "127.0.0.1:84170",
    "127.0.0.1.evil:8417",
    "localhost.evil:8417",
    "127.0.0.1.:8417",
    "[::1]:8417",
    "[::ffff:127.0.0.1]:8417",
    "2130706433:8417",
    "evil.example:8417",
    f"{HOST}, evil.example",
]
ORIGINS = [
    None,
    ORIGIN,
    "null",
    "",
    "https://127.0.0.1:8417",
    "http://127.0.0.1:3000",
    "http://127.0.0.1",
    "http://localhost:8417",
    "http://127.0.0.1:8417.evil.example",
    "http://evil.example",
]
SITES = [None, "same-origin", "none", "same-site", "cross-site", "elsewhere"]
COOKIES = ["right", "none", "wrong", "empty", "token"]
TYPES = [
    "application/json",
    "application/json; charset=utf-8",
    "multipart/form-data; boundary=frontier",
    "application/x-www-form-urlencoded",
    "text/plain",
    None,
]
MARKS = ["1", "0", None]
# What the guard says; nothing else may say it.
REFUSALS = re.compile(
    "reached by its printed address|Another page asked|Changes are made from|must be sent as|Open the address"
)
SEED = 24
# Of each route; all that differ from a good request in one thing come besides.
DRAWN = 40

Combination = dict[str, Any]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asker]:
    with asker(fill(tmp_path_factory.mktemp("guard") / "g.gallery")) as made:
        made.post("/api/searches", {"set": next(iter(made.keys().values()))})
        yield made


def routes(server: Asker) -> list[tuple[str, str]]:
    """Every route of the interface and of the page, with something in its places."""
    told = server.get("/api/openapi.json")
    found = [(method.upper(), path) for path, methods in told["paths"].items() for method in methods]
    assert len(found) > 25
    views = [one.path for one in pages.router.routes if isinstance(one, APIRoute)]
    assert {"/", "/sets/{key}/review", "/sets/{key}/why/{target}", "/uploads/{key}/find"} < set(views)
    found += [("GET", path) for path in [*views, "/api/openapi.json"]]
    key, target = list(server.keys().values())[:2]
    given = {"key": key, "target": target, "other": target, "face": "0", "number": "7", "token": "7"}
    return [(method, path.format(**given)) for method, path in found]


def good(method: str, path: str) -> Combination:
    kind = TYPES[2] if path in UPLOADS else TYPES[0]
    return {
        "host": HOST,
        "origin": ORIGIN,
        "site": "same-origin",
        "cookie": "right",
        "type": kind,
        "mark": "1",
    }


CHOICES = {"host": HOSTS, "origin": ORIGINS, "site": SITES, "cookie": COOKIES, "type": TYPES, "mark": MARKS}


def combinations(method: str, path: str, rng: random.Random) -> Iterator[Combination]:
    base = good(method, path)
    yield base
    for name, values in CHOICES.items():
        yield from ({**base, name: value} for value in values)
    for _ in range(DRAWN):
        # Mostly right, so that many have one or two faults and some have none.
        yield {
            name: value if rng.random() < 0.6 else rng.choice(CHOICES[name]) for name, value in base.items()
        }


def passes(method: str, path: str, one: Combination) -> bool:
    """What the rules say, told another way than the guard tells it."""
    if one["host"] != HOST or one["origin"] not in (None, ORIGIN) or one["cookie"] != "right":
        return False
    if one["site"] in ("same-site", "cross-site", "elsewhere"):
        return False
    if method == "GET":
        return True
    ours = one["origin"] == ORIGIN or one["site"] == "same-origin"
    wanted = [TYPES[2]] if path in UPLOADS else TYPES[:2]
    return ours and one["mark"] == "1" and (method == "DELETE" or one["type"] in wanted)


def send(server: Asker, method: str, path: str, one: Combination) -> Said:
    values = {"right": server.cookie, "wrong": "0" * 32, "empty": "", "token": TOKEN}
    cookie = None if one["cookie"] == "none" else f"{COOKIE}={values[one['cookie']]}"
    headers = {
        "Host": one["host"],
        "Origin": one["origin"],
        "Sec-Fetch-Site": one["site"],
        "Cookie": cookie,
        "Content-Type": one["type"],
        "X-Lookalike": one["mark"],
    }
    # Not understood by any route: whatever passes is refused by the route, and nothing changes.
    body = b'{"unknown": 1}' if method == "POST" else b""
    return server.raw(
        method, path, {name: value for name, value in headers.items() if value is not None}, body
    )


def guarded(said: Said, kept: bool = False) -> None:
    """The headers that every answer has, whatever it says; files of our own may be kept by the browser."""
    for name, value in (HEADERS | ({"Cache-Control": "no-cache"} if kept else {})).items():
        assert said.headers.count((name.lower(), value)) == 1, (name, said)
    assert not [name for name, _ in said.headers if name.startswith("access-control")]
    assert said.status < 500, said


def test_the_matrix(server: Asker) -> None:
    """Host x Origin x Sec-Fetch-Site x cookie x content type x header, on every route there is."""
    rng, tried, passed = random.Random(SEED), 0, 0
    before = state(server)
    for method, path in routes(server):
        if path.endswith(("/keep", "/undo", "/events")) or method == "DELETE":
            # These would do something without a body, or wait: they lead to nothing that is there.
            path = path.replace(next(iter(server.keys().values())), "0" * 16)
        for one in combinations(method, path, rng):
            said = send(server, method, path, one)
            guarded(said)
            refused = said.status in (400, 401, 403, 405, 415) and REFUSALS.search(said.body.decode())
            assert bool(refused) != passes(method, path, one), (SEED, method, path, one, said)
            tried, passed = tried + 1, passed + passes(method, path, one)
    assert tried > 2000
    assert passed > 300
    assert state(server) == before


def state(server: Asker) -> tuple[object, ...]:
    parts = server.parts
    return (
        parts.gallery.fingerprint(),
        len(parts.gallery.decisions()),
        len(parts.jobs.views()),
        parts.deciding.people(),
    )


def test_no_get_changes_anything(server: Asker) -> None:
    before = state(server)
    for method, path in routes(server):
        if method == "GET":
            server("GET", path)
        else:
            assert server("GET", path).status in (200, 404, 405)
    assert state(server) == before


@pytest.mark.parametrize("method", ["PUT", "PATCH", "OPTIONS", "TRACE", "CONNECT", "get", "PROPFIND"])
def test_other_methods_do_nothing(server: Asker, method: str) -> None:
    for path in ("/", "/api/gallery", "/api/judgements", "/static/base.css"):
        said = server(method, path)
        guarded(said)
        assert said.status == 405
        assert not any(name.startswith("access-control") for name, _ in said.headers)


@pytest.mark.parametrize("name", ["Host", "Origin", "Sec-Fetch-Site"])
def test_a_header_that_comes_twice_is_refused(server: Asker, name: str) -> None:
    pairs = [("Host", HOST), ("Cookie", f"{COOKIE}={server.cookie}"), (name, "http://evil.example")]
    assert server.raw("GET", "/api/gallery", pairs).status in (400, 403)


def test_a_websocket_is_closed(server: Asker) -> None:
    import asyncio

    said: list[dict[str, Any]] = []

    async def ask() -> None:
        async def receive() -> dict[str, Any]:
            return {"type": "websocket.connect"}

        async def send(message: dict[str, Any]) -> None:
            said.append(message)

        scope = {"type": "websocket", "path": "/api/jobs", "headers": [], "query_string": b""}
        await server.app(scope, receive, send)  # type: ignore[arg-type]

    asyncio.run(ask())
    assert said == [{"type": "websocket.close", "code": 1008}]


# The token.


def test_the_token_works_once(tmp_path: Path) -> None:
    with asker(fill(tmp_path / "g.gallery", 2, 2), enter=False) as server:
        first = server.raw("GET", f"/?token={TOKEN}", {"Host": HOST})
        assert (first.status, first.header("location")) == (303, "/")
        cookie = first.header("set-cookie") or ""
        assert re.fullmatch(rf"{COOKIE}=[0-9a-f]{{32}}; HttpOnly; Path=/; SameSite=strict", cookie)
        assert TOKEN not in cookie
        guarded(first)
        for _ in range(5):
            again = server.raw("GET", f"/?token={TOKEN}", {"Host": HOST})
            assert again.status == 401
            assert again.header("set-cookie") is None
        # Who is in already may load the printed address again.
        known = {"Host": HOST, "Cookie": cookie.partition(";")[0]}
        assert server.raw("GET", f"/?token={TOKEN}", known).status == 303
        assert server.raw("GET", "/", known).status == 200
        assert TOKEN.encode() not in server.raw("GET", "/", known).body


@pytest.mark.parametrize("host", ["[::1]", "127.0.0.1", "localhost", "[::1]:80"])
def test_the_usual_port_of_the_web(tmp_path: Path, host: str) -> None:
    """Browsers leave it out of the name; the cookie is called by it all the same."""
    app = create_app(fill(tmp_path / "g.gallery", 2, 2), TOKEN, [host])

    async def listening_there(scope: Any, receive: Any, send: Any) -> None:
        await app({**scope, "server": ("::1", 80)}, receive, send)

    with asyncio.Runner() as runner:
        server = Asker(app, runner, enter=False)
        server.app = listening_there  # type: ignore[assignment]
        first = server.raw("GET", f"/?token={TOKEN}", {"Host": host})
        assert first.status == 303
        cookie = (first.header("set-cookie") or "").partition(";")[0]
        assert cookie.startswith("lookalike-80=")
        assert server.raw("GET", "/people", {"Host": host, "Cookie": cookie}).status == 200
    app.state.parts.close()


def test_nothing_but_our_own_is_shown() -> None:
    assert "blob:" not in HEADERS["Content-Security-Policy"]
    assert HEADERS["Cache-Control"] == "no-store"


def test_wrong_tokens_are_held_up_and_the_right_one_is_not(tmp_path: Path) -> None:
    with asker(fill(tmp_path / "g.gallery", 2, 2), enter=False) as server:
        rng = random.Random(SEED)
        told = []
        for _ in range(500):
            wrong = "".join(rng.choices("abcdefghij-_0123456789", k=22))
            told.append(server.raw("GET", f"/?token={wrong}", {"Host": HOST}).status)
        assert told == [401] * 10 + [429] * 490
        assert server.raw("GET", "/?token=", {"Host": HOST}).status == 429
        assert server.raw("GET", "/?token=%ff%00", {"Host": HOST}).status == 429
        assert server.raw("GET", f"/?token={TOKEN}", {"Host": HOST}).status == 303


def test_a_token_elsewhere_opens_nothing(tmp_path: Path) -> None:
    with asker(fill(tmp_path / "g.gallery", 2, 2), enter=False) as server:
        for path in ("/api/gallery", "/people", "/index.html"):
            assert server.raw("GET", f"{path}?token={TOKEN}", {"Host": HOST}).status == 401
        sent = {"Host": HOST, "Origin": ORIGIN, "X-Lookalike": "1", "Content-Type": "application/json"}
        assert server.raw("POST", f"/?token={TOKEN}", sent).status == 401
        assert (
            server.raw("GET", f"/?token={TOKEN}", {"Host": HOST, "Sec-Fetch-Site": "cross-site"}).status
            == 403
        )
        assert server.raw("GET", f"/?token={TOKEN}", {"Host": "evil.example:8417"}).status == 400
        # None of this has used it up.
        assert server.raw("GET", f"/?token={TOKEN}", {"Host": HOST}).status == 303


def test_static_files_need_no_cookie_and_nothing_else_is_static(tmp_path: Path) -> None:
    with asker(fill(tmp_path / "g.gallery", 2, 2), enter=False) as server:
        shown = server.raw("GET", "/static/base.css", {"Host": HOST})
        assert shown.status == 200
        guarded(shown, kept=True)
        same = {"Host": HOST, "If-None-Match": shown.header("etag") or ""}
        again = server.raw("GET", "/static/base.css", same)
        assert (again.status, again.body) == (304, b"")
        guarded(again, kept=True)
        for path in (
            "/static/../app.py",
            "/static/%2e%2e/app.py",
            "/static//etc/passwd",
            "/static/..%2fapp.py",
        ):
            said = server.raw("GET", path, {"Host": HOST})
            assert said.status == 404, said
            guarded(said)


# Sizes.


def test_a_body_that_is_too_large_is_not_read(server: Asker) -> None:
    headers = {
        "Host": HOST,
        "Cookie": f"{COOKIE}={server.cookie}",
        "Origin": ORIGIN,
        "X-Lookalike": "1",
        "Content-Type": "application/json",
    }
    said = server.raw("POST", "/api/searches", headers, b" " * (MOST_JSON + 1))
    assert (said.status, said.error) == (413, "This is too large: at most 1 MB can be taken.")
    guarded(said)
    # In pieces, without a word about the length; and with a length that is not true.
    pieces = [b" " * 2**18] * 5
    assert server.raw("POST", "/api/searches", headers, pieces).status == 413
    assert server.raw("POST", "/api/searches", {**headers, "Content-Length": "9" * 30}, b"{}").status == 413
    assert server.raw("POST", "/api/searches", headers, b" " * (MOST_JSON - 2) + b"{}").status == 400


def test_an_upload_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    with asker(fill(tmp_path / "g.gallery", 2, 2), most_upload=2**20) as server:
        assert server.upload(("a.jpg", b"\xff\xd8\xff" + bytes(2**20))).status == 413
        assert server.get("/api/jobs") == {"jobs": []}


def test_a_mistake_of_ours_is_a_sentence(server: Asker, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise RuntimeError("secret insides")

    monkeypatch.setattr(server.parts.deciding, "people", broken)
    said = server("GET", "/api/people")
    assert said.status == 500
    assert "secret" not in said.body.decode()
    assert said.error.startswith("Something went wrong on our side")
    for name in HEADERS:
        assert said.header(name.lower())


def test_a_mistake_of_ours_is_logged_without_what_it_was_about(
    server: Asker, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """An address, and what an error says, may name a set, a person or a path."""

    def broken(*given: object, **named: object) -> None:
        raise RuntimeError("no such person: Ada Lovelace")

    key = server.get("/api/sets")["sets"][0]["key"]
    monkeypatch.setattr(type(server.parts), "__getattribute__", broken)
    with caplog.at_level(logging.DEBUG, "lookalike"):
        assert server("GET", f"/api/sets/{key}").status == 500
    monkeypatch.undo()
    assert "at GET /api/sets/{" in caplog.text
    assert "RuntimeError in test_guard.py:" in caplog.text
    assert "lookalike/web/" in caplog.text
    for said in (key, "Ada Lovelace"):
        assert said not in caplog.text


def test_the_guard_can_be_read_in_one_sitting() -> None:
    from lookalike.web import guard

    assert len(Path(guard.__file__).read_text().splitlines()) < 200
