"""A real client of the official library asks `lookalike mcp` over standard input and output."""

from __future__ import annotations

import base64
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import anyio
from mcp import ClientSession, StdioServerParameters, stdio_client

from lookalike import Gallery, find
from lookalike.gallery.decisions import name
from tests.web.asking import fill


def asked(path: Path, calls: list[tuple[str, dict[str, Any]]]) -> tuple[Any, list[Any]]:
    """The tools that are offered, and what each call answers."""
    program = "import sys; from lookalike.cli import main; sys.argv[0] = 'lookalike'; main()"
    server = StdioServerParameters(command=sys.executable, args=["-c", program, "mcp", str(path)])

    async def ask() -> tuple[Any, list[Any]]:
        async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            offered = await session.list_tools()
            return offered.tools, [await session.call_tool(tool, given) for tool, given in calls]

    return anyio.run(ask)


def test_a_client_searches_asks_why_and_changes_nothing(tmp_path: Path) -> None:
    path = fill(tmp_path / "g.gallery", 8, 3)
    with Gallery(path) as gallery:
        first = gallery.ids()[0]
        name(gallery, [first], "Ada")
        expected = find(first, gallery, top=3)
        held = len(gallery.decisions())
        shown = gallery.get(expected[0].id, pictures=True).pictures
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    tools, (found, by_name, why, everybody, status, wrong, path_asked, many) = asked(
        path,
        [
            ("search", {"query": first, "top": 3}),
            ("search", {"query": "Ada", "top": 3, "pictures": False}),
            ("explain", {"query": first, "target": expected[0].id}),
            ("people", {"pictures": True}),
            ("status", {}),
            ("search", {"query": "nobody"}),
            ("search", {"query": str(path)}),
            ("search", {"query": first, "top": 10_000}),
        ],
    )
    assert {one.name for one in tools} == {"search", "explain", "people", "status"}
    assert all(one.annotations.read_only_hint and one.description for one in tools)
    said = json.loads(found.content[0].text)
    assert [one["id"] for one in said["answers"]] == expected.ids
    pictures = [one for one in found.content if one.type == "image"]
    assert len(pictures) == 4  # the query, and each answer
    assert base64.b64decode(pictures[1].data) in shown
    assert pictures[1].mime_type == "image/png"
    assert json.loads(by_name.content[0].text)["answers"] == said["answers"]
    assert len(by_name.content) == 1
    evidence = json.loads(why.content[0].text)
    assert evidence["answer"]["id"] == expected[0].id
    assert [one.type for one in why.content] == ["text", "text", "image", "text", "image"]
    assert "Ada" in [one["name"] for one in json.loads(everybody.content[0].text)["people"]]
    assert json.loads(status.content[0].text)["sets"] == 24
    for refused, words in (
        (wrong, "neither a set nor a person 'nobody'"),
        (path_asked, "neither a set nor a person"),
        (many, "from 1 to 50, got 10000"),
    ):
        assert refused.is_error
        assert words in refused.content[0].text
    with Gallery(path) as gallery:
        assert len(gallery.decisions()) == held
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before
