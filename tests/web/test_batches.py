"""Verdicts on many clips at once: one row of the history, that unfolds and is undone at once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from lookalike import FaceSet, Gallery
from lookalike.faceset import Sighting
from lookalike.gallery import schema
from lookalike.gallery.decision_log import Decision
from lookalike.web import pages
from lookalike.web.catalogue import key_of
from lookalike.web.people import batched
from lookalike.web.people_models import MOST_AT_ONCE
from tests.web.asking import Asker, asker, fill

KEYS = [key_of(f"clip-{number:03d}") for number in range(18)]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Asker]:
    with asker(fill(tmp_path / "g.gallery")) as made:
        yield made


def said(number: int, made: str, kind: str, *sets: str) -> Decision:
    return Decision(number, made, kind, sets)


def numbers(log: list[Decision]) -> list[list[int]]:
    return [[one.number for one in batch] for batch in batched(log)]


def test_what_is_one_batch() -> None:
    log = [
        said(1, "10:00", "same", "q", "a"),
        said(2, "10:00", "same", "q", "b"),
        said(3, "10:00", "different", "q", "c"),  # another verdict
        said(4, "10:00", "different", "p", "c"),  # another query
        said(5, "10:01", "different", "p", "d"),  # another time
        said(7, "10:01", "different", "p", "e"),  # what stood between was forgotten with its set
        said(8, "10:01", "undo"),
        said(9, "10:01", "different", "p", "f"),  # said after second thoughts
        said(10, "10:01", "name", "a", "b"),
        said(11, "10:01", "name", "a", "c"),  # each is about many sets by itself
    ]
    assert numbers(log) == [[1, 2], [3], [4], [5, 7], [9], [10], [11]]
    assert numbers([]) == []


def test_no_batch_is_larger_than_an_undo() -> None:
    log = [said(number, "10:00", "same", "q", f"s{number}") for number in range(MOST_AT_ONCE + 2)]
    assert [len(batch) for batch in batched(log)] == [MOST_AT_ONCE, 2]


def rows(server: Asker, address: str = "/history") -> list[str]:
    """The rows of the history, each with what is folded into it."""
    told = server("GET", address)
    assert told.status == 200
    [log] = re.findall(r'<ol class="log panel">(.*)</ol>', told.body.decode(), re.DOTALL)
    return re.split(
        r"(?<=</li>)(?=<li)", re.sub(r"<ol>.*?</ol>", lambda one: one[0].replace("li", "LI"), log, flags=re.S)
    )


def test_a_bulk_verdict_is_one_row_with_one_undo(server: Asker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "now", lambda: "2026-01-01T10:00:00+00:00")
    server.post("/api/judgements", {"query": KEYS[0], "targets": KEYS[1:9], "verdict": "different"})
    server.post("/api/judgements", {"query": KEYS[0], "targets": KEYS[9:10], "verdict": "same"})
    single, many = rows(server)
    assert "clip-009 shows the same person as clip-000." in single
    assert "<details" not in single
    assert "8 clips show somebody else than clip-000." in many
    assert 'data-numbers="8 7 6 5 4 3 2 1">Undo all 8<' in many
    assert many.count('data-do="undo"') == 9
    assert [f'data-numbers="{number}"' in many for number in range(1, 9)] == [True] * 8
    # Programs get every decision by itself, as before.
    assert server.get("/api/judgements")["total"] == 9
    server.post("/api/judgements/undo", {"numbers": [3, 5]})
    _, many = rows(server)
    assert "2 of 8 taken back" in many
    assert 'data-numbers="8 7 6 4 2 1">Undo the rest<' in many
    server.post("/api/judgements/undo", {"numbers": [8, 7, 6, 4, 2, 1]})
    _, many = rows(server)
    assert many.startswith('<li class="undone">')
    assert 'data-do="undo"' not in many


def test_clips_are_called_as_elsewhere_on_the_page(tmp_path: Path) -> None:
    with Gallery(tmp_path / "g", create=True) as gallery:
        for number in range(3):
            seen = [Sighting((1, 1, 90, 90), 0.9, 0.5, 0.5, 0.1, 60.0 + number)]
            gallery.add(FaceSet(f"s{number}", np.eye(3)[number : number + 1], "a/b.mp4", sightings=seen))
    keys = [key_of(f"s{number}") for number in range(3)]
    with asker(tmp_path / "g") as server:
        server.post("/api/judgements", {"query": keys[0], "targets": keys[1:2], "verdict": "same"})
        server.post("/api/judgements", {"query": keys[0], "targets": keys[2:], "verdict": "different"})
        last, first = server.get("/api/judgements")["decisions"]
        assert first["words"] == "s1, 00:01:01 shows the same person as s0, 00:01:00."
        assert [(one["id"], one["title"]) for one in last["sets"]] == [
            ("s0", "s0, 00:01:00"),
            ("s2", "s2, 00:01:02"),
        ]
        assert "<bdi>s2, 00:01:02</bdi></a>" in rows(server)[0]


def test_pages_of_the_history_count_rows(server: Asker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "LOG", 2)
    monkeypatch.setattr(schema, "now", lambda: "2026-01-01T10:00:00+00:00")
    for first in (3, 6, 9):
        asked = {"query": KEYS[first // 3], "targets": KEYS[first + 1 : first + 4], "verdict": "unsure"}
        server.post("/api/judgements", asked)
    assert len(rows(server)) == 2
    [oldest] = rows(server, "/history?offset=2")
    assert "3 clips may or may not show the person of clip-001." in oldest
    assert "1 to 2 of 3" in server("GET", "/history").body.decode()
