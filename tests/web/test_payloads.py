"""Paths, addresses and hostile names wherever text is taken: nothing outside is read or called."""

from __future__ import annotations

import itertools
import json
import random
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from lookalike.web.catalogue import key_of
from tests.hostile_names import NAMES
from tests.web.asking import Asker, asker, fill
from tests.web.test_guard import guarded

SEED = 25
COUNT = 500
CANARY = "canary-6f1d"

PLACES = ["etc/passwd", "canary.txt", "g.gallery", "proc/self/environ", "windows/win.ini", "app.py"]
CLIMBS = ["", "/", "../", "../../../", "..\\..\\", "....//", "..%2f..%2f", "%2e%2e/", "..%252f", "..%c0%af"]
CLIMBS += [
    "..;/",
    "/./",
    "//",
    "\\\\server\\share\\",
    "C:\\",
    "file:",
    "file://",
    "file:///",
    "~/",
    "\0",
    "/%00/",
]
HOSTS = [
    "http://169.254.169.254/",
    "http://127.0.0.1:1/",
    "https://evil.example/",
    "ftp://x/",
    "gopher://x:70/_",
]
HOSTS += [
    "jar:file:///",
    "data:text/html,<script>",
    "javascript:alert(1)//",
    "dict://x:11211/",
    "\\\\evil\\x",
]
ENDS = ["", "\0.jpg", "%00.png", "?x", "#x", "/.", "::$DATA", "\r\nX-Evil: 1"]


def payloads(folder: Path) -> list[str]:
    """So many texts that would lead somewhere, if anybody followed them."""
    starts = [*CLIMBS, *HOSTS, f"{folder}/", f"file://{folder}/"]
    every = ["".join(parts) for parts in itertools.product(starts, PLACES, ENDS)]
    return random.Random(SEED).sample(every, COUNT)


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Asker]:
    (tmp_path / "canary.txt").write_text(CANARY)
    (tmp_path / "link").symlink_to(tmp_path / "canary.txt")

    def refused(*given: object) -> None:
        raise AssertionError(f"a request made us call somebody: {given}")

    with asker(fill(tmp_path / "g.gallery")) as made:
        made.post("/api/searches", {"set": key_of("clip-000")})
        monkeypatch.setattr(socket.socket, "connect", refused)
        monkeypatch.setattr(socket, "getaddrinfo", refused)
        yield made


def fields(server: Asker) -> list[tuple[str, str, Any]]:
    """Method, place and body of every request that takes a text, with PAYLOAD where it goes."""
    key = key_of("clip-000")
    found: list[tuple[str, str, Any]] = []
    told = server.get("/api/openapi.json")
    for path, methods in told["paths"].items():
        for method, about in methods.items():
            named = {one["name"]: one for one in about.get("parameters", ())}
            usual = {"key": key, "number": "1", "token": "x"}
            for name, one in named.items():
                if one["in"] == "path":
                    others = {other: value for other, value in usual.items() if other != name}
                    place = path.replace(f"{{{name}}}", "PAYLOAD")
                    for other, value in others.items():
                        place = place.replace(f"{{{other}}}", value)
                    found.append((method.upper(), place, None))
                elif one["in"] == "query":
                    found.append((method.upper(), f"{path}?{name}=PAYLOAD", None))
    bodies = {
        "/api/searches": [{"set": key, "reranker": "auto", "similarity": "max_max"}, {"upload": "x"}],
        "/api/searches/evidence": [{"ask": {"set": key}, "target": key}],
        "/api/judgements": [{"query": key, "targets": [key], "verdict": "same"}],
        "/api/people": [{"name": "Ada", "sets": [key]}],
        "/api/people/1/rename": [{"name": "Ada"}],
        "/api/people/1/split": [{"sets": [key], "name": "Ada"}],
        "/api/jobs": [{"kind": "train", "reranker": "auto", "similarity": "max_max"}],
    }
    for place, given in bodies.items():
        for body in given:
            found += [("POST", place, {**body, name: "PAYLOAD"}) for name in body]
    return found


def test_payloads_lead_nowhere(server: Asker, tmp_path: Path) -> None:
    """Each payload in one field after the other, so that every field sees a few dozen of them."""
    places = fields(server)
    assert len(places) > 35
    jobs = len(server.parts.jobs.views())
    rng, outside = random.Random(SEED), (CANARY, "root:", "[extensions]", "PYTHONPATH=", "def create_app")
    for number, payload in enumerate(payloads(tmp_path)):
        for method, place, body in (places[number % len(places)], rng.choice(places), rng.choice(places)):
            target = place.replace("PAYLOAD", quote(payload, safe=rng.choice(["", "/", "/:%"])))
            said = server(method, target, _filled(body, payload))
            guarded(said)
            assert not any(text in said.body.decode("utf-8", "replace") for text in outside), (method, target)
    # A word may be a name, so that somebody is called so; but no work was begun by any of them.
    assert len(server.parts.jobs.views()) == jobs
    assert (tmp_path / "canary.txt").read_text() == CANARY


def _filled(body: Any, payload: str) -> Any:
    if body is None:
        return None
    return json.loads(json.dumps(body).replace('"PAYLOAD"', json.dumps(payload)))


def test_hostile_names_come_back_as_they_are(server: Asker) -> None:
    """Two hundred names of people: taken or refused with a sentence, and told back letter by letter."""
    assert len(NAMES) >= 200
    key, taken = key_of("clip-000"), 0
    for name in NAMES:
        said = server("POST", "/api/people", {"name": name, "sets": [key]})
        guarded(said)
        if said.status != 200:
            assert said.status in (400, 422), said
            assert said.error
            continue
        taken += 1
        [told] = server.get("/api/people")["people"]
        assert told["name"] == said.json["person"]["name"]
        [row] = server.get("/api/people.json")
        assert row["name"] == told["name"]
        for place in ("/people", f"/people/{told['number']}", "/history", "/"):
            page = server("GET", place)
            guarded(page)
            assert page.status == 200
        assert server("POST", "/api/judgements/undo", {}).status == 200
    assert taken > 100
