"""Collections of nobody, one and two: every view opens, and says what there is."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from lookalike import FaceSet, Gallery
from lookalike.web.catalogue import key_of
from tests.waiting import PATIENCE
from tests.web.asking import Asker, asker, fill

QUERY, OTHER = key_of("clip-000"), key_of("clip-001")
NOBODY = "There is nobody else in this collection yet."


def text(server: Asker, address: str) -> str:
    """A view once it is ready, without its tags."""
    told = server("GET", address)
    while b"data-preparing" in told.body:
        assert server.parts.jobs.get(server.parts.jobs.views()[0].number).wait(PATIENCE)
        told = server("GET", address)
    assert told.status == 200, told
    return " ".join(re.sub(r"<[^>]*>", " ", told.body.decode()).split())


@pytest.mark.parametrize("what", ["", "?stage=learnt", "?stage=baseline&face=0", "?view=both", "?plain=1"])
def test_somebody_who_is_alone_is_shown_and_can_be_named(tmp_path: Path, what: str) -> None:
    with asker(fill(tmp_path / "g.gallery", 1, 1)) as server:
        shown = text(server, f"/sets/{QUERY}{what}")
        assert NOBODY in shown
        assert "Who is this?" in shown
        assert "Same person" not in shown.replace("“Same person”", "")
        assert "0 compared" not in shown
        assert "Nothing left to judge" in text(server, f"/sets/{QUERY}/review{what}")
        server.post("/api/people", {"name": "Ada", "sets": [QUERY]})
        assert "All of Ada" in text(server, f"/sets/{QUERY}{what}")
        assert "Ada" in text(server, "/people/1")


def test_a_search_where_nobody_else_is_has_no_answers(tmp_path: Path) -> None:
    with asker(fill(tmp_path / "g.gallery", 1, 1)) as server:
        for ask in ({}, {"faces": [0, 2]}, {"reranker": "learnt", "proxies": 2}, {"decisions": False}):
            found = server.post("/api/searches", {"set": QUERY, **ask})
            assert (found["answers"], found["baseline"], found["total"], found["sets"]) == ([], [], 0, 0)
            assert (found["worth_reading"], found["reading"]) == (None, NOBODY)
            assert found["query"]["key"] == QUERY
        said = server("POST", "/api/searches/evidence", {"ask": {"set": QUERY}, "target": QUERY})
        assert (said.status, "query itself" in said.error) == (400, True)


def test_whoever_comes_next_is_announced_and_then_found(tmp_path: Path) -> None:
    path = fill(tmp_path / "g.gallery", 1, 1)
    with asker(path) as server:
        assert server.post("/api/searches", {"set": QUERY})["newer"] == 0
        with Gallery(path) as gallery:
            width = gallery.get("clip-000").dimension
            gallery.add(FaceSet("clip-001", np.random.default_rng(0).normal(size=(2, width)), "films/b"))
        server.parts.browsing.catalogue(at_once=True)
        shown = text(server, f"/sets/{QUERY}")
        assert NOBODY not in shown
        assert "1 new clip or photo will be searched" in shown or "clip-001" in shown
        server.done(server.post("/api/jobs", {"kind": "train"})["number"])
        assert [one["set"]["key"] for one in server.post("/api/searches", {"set": QUERY})["answers"]] == [
            OTHER
        ]


@pytest.mark.parametrize("verdict", ["same", "different"])
def test_when_the_only_other_is_decided_on_nobody_is_left(tmp_path: Path, verdict: str) -> None:
    with asker(fill(tmp_path / "g.gallery", 2, 1)) as server:
        assert len(server.post("/api/searches", {"set": QUERY})["answers"]) == 1
        server.post("/api/judgements", {"query": QUERY, "targets": [OTHER], "verdict": verdict})
        found = server.post("/api/searches", {"set": QUERY})
        assert found["answers"] == []
        assert found["reading"] == "No set is left to compare: all others are decided."
        assert found["reading"] in text(server, f"/sets/{QUERY}")
        assert NOBODY not in text(server, f"/sets/{QUERY}")


def test_two_can_be_asked_compared_and_explained(tmp_path: Path) -> None:
    with asker(fill(tmp_path / "g.gallery", 2, 1)) as server:
        shown = text(server, f"/sets/{QUERY}")
        assert "There are too few clips for probabilities." in shown
        # Nothing may look as if somebody were sure: neither a heading nor a bar.
        assert "Nearest first: any may be a stranger" in shown
        assert "Most likely" not in shown
        assert b'class="bar"' not in server("GET", f"/sets/{QUERY}").body
        for what in ("?view=both", "/review", f"/why/{OTHER}"):
            text(server, f"/sets/{QUERY}{what}")


def test_an_empty_collection_has_views_that_lead_on(tmp_path: Path) -> None:
    Gallery(tmp_path / "g.gallery", create=True).close()
    with asker(tmp_path / "g.gallery") as server:
        assert "This collection is empty" in text(server, "/")
        assert "Nobody has a name yet" in text(server, "/people")
        assert "Nothing decided yet" in text(server, "/history")
        assert server("GET", f"/sets/{QUERY}").status == 404
