"""Keys of programs: every route against every scope, files of keys, how often one may ask."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lookalike import Gallery
from lookalike.errors import BadInput, NotFound
from lookalike.web.guard import HEADERS, UPLOADS
from lookalike.web.keys import BURST, RATE, SCOPES, Key, Keys, hashed, read_keys
from tests.web.asking import HOST, Asker, Said, asker, fill
from tests.web.test_guard import routes, state

# Every request of the interface, and the scope that it needs: a new one has to be put here.
NEEDS = {
    "GET": "read",
    "POST /api/searches": "read",
    "POST /api/searches/evidence": "read",
    "POST /api/uploads": "read",
    "POST /api/uploads/{key}/together": "read",
    "DELETE /api/uploads/{key}": "read",
    "POST /api/judgements": "decide",
    "POST /api/judgements/undo": "decide",
    "POST /api/people": "decide",
    "POST /api/people/{number}/rename": "decide",
    "POST /api/people/{number}/merge": "decide",
    "POST /api/people/{number}/split": "decide",
    "POST /api/groups": "decide",
    "POST /api/sets": "add",
    "POST /api/files": "add",
    "POST /api/uploads/{key}/keep": "add",
    "POST /api/uploads/{key}/unkeep": "add",
    "POST /api/jobs": "add",
    "DELETE /api/jobs/{number}": "add",
    "POST /api/intake": "add",
}
GIVEN = {"key": "0" * 16, "target": "0" * 16, "other": "0" * 16, "face": "0", "number": "777", "token": "7"}
REFUSED = "This key may not do that"


def secret(scopes: tuple[str, ...]) -> str:
    return "-".join(scopes or ("none",)).ljust(22, "0")


SETS = [some for count in range(4) for some in itertools.combinations(SCOPES, count)]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asker]:
    keys = Keys([Key(secret(some), frozenset(some), hashed(secret(some))) for some in SETS], count_up())
    with asker(fill(tmp_path_factory.mktemp("keys") / "g.gallery"), keys=keys) as made:
        made.post("/api/searches", {"set": next(iter(made.keys().values()))})
        yield made


def count_up() -> Any:
    """A clock on which every look comes seconds later."""
    return itertools.count(0.0, 10.0).__next__


def ask(server: Asker, method: str, path: str, key: str, asked: Any = None, **more: str) -> Said:
    kind = "multipart/form-data; boundary=frontier" if path in UPLOADS else "application/json"
    headers = {"Host": HOST, "Authorization": f"Bearer {key}"} | more
    if method == "POST":
        headers = {"Content-Type": kind} | headers
    body = b"" if method != "POST" else json.dumps({"unknown": 1} if asked is None else asked).encode()
    return server.raw(method, path, headers, body)


def documented(server: Asker) -> list[tuple[str, str]]:
    paths = server.get("/api/openapi.json")["paths"]
    return [(method.upper(), path) for path, methods in paths.items() for method in methods]


def test_every_route_by_every_scope(server: Asker) -> None:
    before = state(server)
    seen = set()
    for method, pattern in documented(server):
        name = "GET" if method == "GET" else f"{method} {pattern}"
        assert name in NEEDS, f"say in NEEDS which scope {name} needs"
        seen.add(name)
        if pattern.endswith("/events"):
            continue  # which would wait for a job
        for some in SETS:
            said = ask(server, method, pattern.format(**GIVEN), secret(some))
            opened = NEEDS[name] in some
            assert (said.status == 403) != opened, (method, pattern, some, said)
            assert (REFUSED in said.body.decode()) != opened
            assert said.status not in (401, 415, 429, 500)
            for header, value in HEADERS.items():
                assert said.header(header.lower()) == value
    assert seen == set(NEEDS)
    assert state(server) == before


def test_pages_are_no_matter_of_keys(server: Asker) -> None:
    everything = secret(SETS[-1])
    for method, path in routes(server):
        if not path.startswith(("/api/", "/pictures/", "/films/")):
            said = ask(server, method, path, everything)
            assert said.status == 403, path
            assert b"Keys are for the interface" in said.body


def test_a_key_is_no_way_around_the_rest_of_the_guard(server: Asker) -> None:
    key = secret(("read",))
    assert ask(server, "GET", "/api/gallery", key).status == 200
    assert ask(server, "GET", "/api/gallery", key, Host="evil.example:8417").status == 400
    assert ask(server, "GET", "/api/gallery", key, Origin="http://evil.example").status == 403
    assert ask(server, "GET", "/api/gallery", key, **{"Sec-Fetch-Site": "cross-site"}).status == 403
    assert ask(server, "PUT", "/api/gallery", key).status == 405
    assert ask(server, "OPTIONS", "/api/gallery", key).status == 405
    plain = {"Content-Type": "text/plain"}
    assert ask(server, "POST", "/api/searches", key, **plain).status == 415


def test_what_is_no_key_opens_nothing(server: Asker) -> None:
    key = secret(("read",))
    for header in (f"Basic {key}", key, "Bearer", "Bearer ", f"Bearer {key}x", f"Bearer {key[:-1]}"):
        said = server.raw("GET", "/api/gallery", {"Host": HOST, "Authorization": header})
        assert said.status == 401, header
    for number in range(20):
        said = ask(server, "GET", "/api/gallery", f"wrong-{number}".ljust(22, "x"))
    assert said.status == 429
    assert 1 <= int(said.header("retry-after") or 0) <= 60
    # Who has a right one is not held up by others who guess.
    assert ask(server, "GET", "/api/gallery", key).status == 200


def test_without_keys_the_header_means_nothing(tmp_path: Path) -> None:
    with asker(fill(tmp_path / "g.gallery", 2, 2)) as server:
        assert ask(server, "GET", "/api/gallery", secret(("read",))).status == 401
        said = server("GET", "/api/gallery", Authorization="Bearer x")
        assert said.status == 200  # by the cookie


def test_a_key_may_ask_so_often(tmp_path: Path) -> None:
    now = [0.0]
    key = Key("often", frozenset({"read"}), hashed(secret(("read",))), seen=0.0)
    with asker(fill(tmp_path / "g.gallery", 2, 2), keys=Keys([key], lambda: now[0])) as server:
        said = [ask(server, "GET", "/api/jobs", secret(("read",))) for _ in range(BURST + 3)]
        assert [one.status for one in said] == [200] * BURST + [429] * 3
        assert [one.header("retry-after") for one in said[-4:]] == [None, "1", "1", "1"]
        now[0] = 1 / RATE
        assert ask(server, "GET", "/api/jobs", secret(("read",))).status == 200
        assert (
            "at most 60 at once and 20 a second" in ask(server, "GET", "/api/jobs", secret(("read",))).error
        )
        now[0] = 1000.0
        said = [ask(server, "GET", "/api/jobs", secret(("read",))).status for _ in range(BURST + 1)]
        assert said == [200] * BURST + [429]


def test_a_decision_says_whose_key_made_it(tmp_path: Path) -> None:
    path = fill(tmp_path / "g.gallery", 4, 2)
    names = ("nightly", "Zoë;<b>&")
    keys = Keys([Key(one, frozenset(SCOPES), hashed(one.ljust(22, "x"))) for one in names], count_up())
    with asker(path, keys=keys) as server:
        one, two, three, four = list(server.keys().values())[:4]

        def say(by: str, where: str, asked: dict[str, Any]) -> list[int]:
            said = ask(server, "POST", f"/api/{where}", by.ljust(22, "x"), asked)
            assert said.status == 200, said
            return said.json.get("new", [])

        server.post("/api/judgements", {"query": one, "targets": [two], "verdict": "unsure"})  # on the page
        [different] = say(names[0], "judgements", {"query": one, "targets": [three], "verdict": "different"})
        [named] = say(names[1], "people", {"name": "Ada", "sets": [one]})
        say(names[1], f"people/{named}/rename", {"name": "Ada L."})
        [other] = say(names[0], "people", {"name": "Eve", "sets": [three, four]})
        say(names[0], f"people/{other}/split", {"sets": [four], "name": "Grace"})
        say(names[1], "groups", {"sets": [one, two], "answer": "no"})
        say(names[0], "judgements/undo", {"numbers": [different]})
        history = server.get("/api/judgements")["decisions"][::-1]
        told = [(decision["kind"], decision["by"]) for decision in history]
        assert told == [
            ("unsure", ""),
            ("different", names[0]),
            ("name", names[1]),
            ("rename", names[1]),
            ("name", names[0]),
            ("split", names[0]),
            ("reject", names[1]),
        ]
        rows = server.get("/api/judgements.json")
        assert [(row["what"], row["by"]) for row in rows if row["what"] == "undo"] == [("undo", names[0])]
        page = server("GET", "/history").body.decode()
        assert "with the key <bdi>nightly</bdi>" in page
        assert "with the key <bdi>Zoë;&lt;b&gt;&amp;</bdi>" in page
        made = server.parts.gallery.decisions()
    with Gallery(path) as gallery:
        assert gallery.decisions() == made
        assert [event.kind for event in gallery.events()] == ["decided"] * 7


# What a program does with them.


def test_a_search_by_vectors_answers_as_one_by_the_set(server: Asker) -> None:
    one = next(iter(server.keys()))
    faces = server.parts.gallery.get(one).faces.astype(float).tolist()
    said = ask(server, "POST", "/api/searches", secret(("read",)), {"vectors": faces, "top": 3})
    assert said.status == 200, said
    assert said.json["answers"][0]["set"]["id"] == one  # it is from outside, so the set itself is found
    found = ask(
        server,
        "POST",
        "/api/searches/evidence",
        secret(("read",)),
        {"ask": {"vectors": faces}, "target": said.json["answers"][1]["set"]["key"]},
    )
    assert found.status == 200, found
    for wrong, words in (
        ({"vectors": [[0.5, 1.0]]}, "numbers a face"),
        ({"vectors": faces, "set": "0" * 16}, "with one of a set, an upload and vectors"),
        ({}, "with one of a set, an upload and vectors"),
        ({"vectors": [[1.0] * 12]}, "all numbers equal"),
        ({"vectors": [[1.0, 2.0], [1.0]]}, "vectors.1"),
        ({"vectors": faces, "faces": [99]}, "face"),
    ):
        refused = ask(server, "POST", "/api/searches", secret(("read",)), wrong)
        assert refused.status in (400, 404, 422)
        assert words in refused.error


def test_sets_are_added_by_a_job_all_or_none(tmp_path: Path) -> None:
    keys = Keys([Key("all", frozenset(SCOPES), hashed(secret(SCOPES)))], count_up())
    with asker(fill(tmp_path / "g.gallery", 3, 2), keys=keys) as server:
        rows = [[float(row + column * column) for column in range(12)] for row in range(2)]

        def add(*sets: tuple[str, Any]) -> Any:
            asked = {"sets": [{"id": id, "vectors": vectors, "origin": "a program"} for id, vectors in sets]}
            said = ask(server, "POST", "/api/sets", secret(SCOPES), asked)
            return server.done(said.json["number"]) if said.status == 202 else said.error

        done = add(("new-1", rows), ("new-2", [rows[1]]))
        assert done["state"] == "done"
        assert done["result"].split(",") == [server.keys()["new-1"], server.keys()["new-2"]]
        assert add(("new-1", rows))["state"] == "done"  # the same again changes nothing
        before = state(server)
        assert add(("new-3", rows), ("new-1", [rows[1]]))["state"] == "failed"
        assert "2 numbers" in add(("new-3", [[1.0, 2.0]]))["error"]
        assert "Two sets are called 'new-3'" in add(("new-3", rows), ("new-3", rows))
        assert "all numbers equal" in add(("new-3", [[1.0] * 12]))
        assert state(server)[0] == before[0]


# Files of keys.


def write(path: Path, text: str, mode: int = 0o600) -> Path:
    path.write_text(text)
    path.chmod(mode)
    return path


def test_a_key_file(tmp_path: Path) -> None:
    first, second = "a" * 22, "B-_9" * 6
    path = write(
        tmp_path / "keys", f"# who, what for\n\nnightly read,add {first}\n  desk  decide\t{second}\n"
    )
    keys = read_keys(path)
    found = keys.find(f"Bearer {first}"), keys.find(f"bearer  {second}")
    assert [(one.name, one.scopes) for one in found if one] == [
        ("nightly", {"read", "add"}),
        ("desk", {"decide"}),
    ]
    assert first not in repr(vars(keys))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "has no key"),
        ("# nothing\n", "has no key"),
        ("nightly read\n", "line 1 .* has 2 words"),
        (f"{'n' * 101} read {'a' * 22}\n", "line 1 .* at most 100 letters"),
        (f"night\u202ely read {'a' * 22}\n", "line 1 .* letters that can be seen"),
        ("nightly write aaaaaaaaaaaaaaaaaaaaaaaa\n", "scope 'write': choose from read, decide, add"),
        ("nightly read, aaaaaaaaaaaaaaaaaaaaaaaa\n", "scope ''"),
        ("nightly read short\n", "a key of 5 characters"),
        ("nightly read aaaaaaaaaaaaaaaaaaaaaaaaaä\n", "a key of 26 characters"),
        (
            "one read aaaaaaaaaaaaaaaaaaaaaaaa\none add baaaaaaaaaaaaaaaaaaaaaaaa\n",
            "line 2 .* name that is taken",
        ),
        ("one read aaaaaaaaaaaaaaaaaaaaaaaa\ntwo add aaaaaaaaaaaaaaaaaaaaaaaa\n", "one key twice"),
    ],
)
def test_a_bad_key_file_is_refused_without_showing_a_key(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(BadInput, match=words) as refused:
        read_keys(write(tmp_path / "keys", text))
    assert "aaaa" not in str(refused.value)


def test_a_key_file_that_is_not_ours_alone(tmp_path: Path) -> None:
    text = f"one read {'a' * 22}\n"
    if os.name == "posix":
        for mode in (0o640, 0o604, 0o620):
            with pytest.raises(BadInput, match="can be read or changed by others"):
                read_keys(write(tmp_path / "keys", text, mode))
    with pytest.raises(NotFound):
        read_keys(tmp_path / "nowhere")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    (tmp_path / "bytes").chmod(0o600)
    with pytest.raises(BadInput, match="no text in UTF-8"):
        read_keys(tmp_path / "bytes")
    with pytest.raises(BadInput, match="cannot be read"):
        read_keys(tmp_path)
