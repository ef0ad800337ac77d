"""The views against the JSON that they are made of: what is shown is what was asked for."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from lookalike import FaceSet, Gallery
from lookalike.gallery import opened
from lookalike.gallery.connection import Connection
from lookalike.gallery.decisions import judge, name
from lookalike.gallery.forget import remove
from lookalike.search.explain import Relative
from lookalike.web import pages, proposals
from lookalike.web.catalogue import key_of
from lookalike.web.evidence import effect
from lookalike.web.models import FaceView, SearchAsk, UploadedPerson, UploadView
from lookalike.web.wording import ordinal
from tests.web.asking import Asker, asker, fill

QUERY = key_of("clip-000")
WAITING = "Getting the collection ready"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Asker]:
    with asker(fill(tmp_path / "g.gallery", 8, 4)) as made:
        made.post("/api/searches", {"set": QUERY})
        yield made


def view(server: Asker, address: str) -> str:
    said = server("GET", address)
    assert said.status == 200, said
    return said.body.decode()


@pytest.mark.parametrize("what", ["", "/review", f"/why/{key_of('clip-001')}"])
def test_a_method_that_is_not_ready_is_waited_for_and_then_shown(server: Asker, what: str) -> None:
    address = f"/sets/{QUERY}{what}"
    assert WAITING not in view(server, address)
    waiting = view(server, f"{address}?stage=csls")
    assert WAITING in waiting
    # The page that waits asks just this, and has begun: it needs no script to end.
    assert f'data-ask="{{&#34;set&#34;:&#34;{QUERY}&#34;,&#34;reranker&#34;:&#34;csls&#34;}}"' in waiting
    assert [job["kind"] for job in server.get("/api/jobs")["jobs"]] == ["train", "train"]
    server.done(2)
    assert WAITING not in view(server, f"{address}?stage=csls")


@pytest.mark.parametrize("stage", ["auto", "learnt"])
def test_more_answers_take_no_more_transactions(server: Asker, stage: str) -> None:
    server.post("/api/searches", {"set": QUERY, "reranker": stage})
    # Nobody else changes the gallery: it need not be looked at again meanwhile.
    server.parts.browsing._catalogues._next = math.inf
    begun: list[str] = []
    server.parts.gallery._opened.connection.set_trace_callback(begun.append)
    counts = []
    for top in (2, 20):
        begun.clear()
        shown = view(server, f"/sets/{QUERY}?stage={stage}&top={top}")
        counts.append((shown.count('data-do="why"'), sum(one.startswith("BEGIN") for one in begun)))
    (few, first), (many, second) = counts
    assert few < many
    assert first == second < 12


def test_what_sqlite_does_for_a_page_does_not_grow_with_the_gallery(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted in instructions of its machine, on every connection, and for people in transactions."""
    addresses = (
        f"/sets/{QUERY}?top=10",
        "/?limit=10",
        "/people",
        "/api/sets?limit=10",
        "/api/sets?limit=10&offset=10",
        "/api/sets?limit=10&text=clip&sort=added",
        "/api/sets?limit=10&source=films&sort=faces",
        "/api/sets?limit=10&named=unnamed&sort=person",
        "/api/gallery",
    )
    steps: list[int] = []
    connect = opened.connect

    def counted(path: Path, wait: float) -> Connection:
        connection = connect(path, wait)
        connection.set_progress_handler(partial(steps.append, 1), 1)
        return connection

    monkeypatch.setattr(opened, "connect", counted)
    # As many are proposed in both: the larger has more, and more questions.
    for most, count in (("MOST_PROPOSED", 2), ("MOST_PAIRS", 0), ("MOST_UNSURE", 0)):
        monkeypatch.setattr(proposals, most, count)
    counts, transactions = [], []
    for people in (12, 36):
        with asker(fill(tmp_path / f"{people}.gallery", people, 4)) as server:
            gallery = server.parts.gallery
            server.post("/api/searches", {"set": QUERY, "top": 10})
            assert server("GET", "/people").status == 200
            # Nobody else changes the gallery.
            server.parts.browsing._catalogues._next = math.inf
            found = {}
            for address in addresses:
                gallery._remembered.files.clear()
                steps.clear()
                assert server("GET", address).status == 200
                found[address] = len(steps)
            begun: list[str] = []
            gallery._opened.connection.set_trace_callback(begun.append)
            assert server("GET", "/people").status == 200
            transactions.append(sum(one.startswith("BEGIN") for one in begun))
            # What this process writes is taken in without reading the others again.
            gallery.add(FaceSet("clip-0005", np.random.default_rng(0).normal(size=(2, 12))))
            gallery._remembered.files.clear()
            steps.clear()
            assert "clip-0005" in {one["id"] for one in server.get("/api/sets?limit=10&text=0005")["sets"]}
            found["after an own change"] = len(steps)
            counts.append(found)
    assert transactions[0] == transactions[1]
    few, many = counts
    assert all(few.values())
    # A tree of more sets may be a page deeper.
    assert [one for one in few if many[one] > few[one] + 60] == [], counts


def test_the_list_of_people_is_cut_into_pages(server: Asker, monkeypatch: pytest.MonkeyPatch) -> None:
    with server.parts.gallery.deciding() as log:
        for number in range(5):
            name(log, [f"clip-{4 * number:03d}"], f"Person {number}")
    monkeypatch.setattr(pages, "PEOPLE", 2)
    monkeypatch.setattr(proposals, "MOST_PROPOSED", 1)
    census = server.get("/api/groups")["people"]
    known = [one for one in census if not one["proposed"] and one["number"] is None]
    waiting = [one for one in census if one["proposed"] or one["likely"]]
    assert len(waiting) > 1
    shown = [view(server, f"/people?offset={offset}") for offset in range(0, 5 + len(known), 2)]
    names = [re.findall(r'title="(Person \d)"', page) for page in shown]
    assert names == [
        ["Person 0", "Person 1"],
        ["Person 2", "Person 3"],
        ["Person 4"],
        *[[]] * (len(names) - 3),
    ]
    assert sum(page.count(">No name yet<") for page in shown) == len(known)
    assert [page.count('class="panel proposal"') for page in shown][1:] == [0] * (len(shown) - 1)
    assert f"1 of {len(waiting)} are shown" in shown[0]
    ways = [re.findall(r'rel="(prev|next)"', page) for page in shown]
    assert ways == [["next"], *[["prev", "next"]] * (len(shown) - 2), ["prev"]]


def test_after_a_removal_waiting_ends_for_every_method(server: Asker) -> None:
    server.post("/api/searches", {"set": QUERY, "reranker": "baseline"})
    with Gallery(server.parts.gallery.path) as gallery:
        remove(gallery, ["clip-005"])
    server.parts.browsing.catalogue(at_once=True)
    for stage in ("baseline", "auto"):
        assert WAITING in view(server, f"/sets/{QUERY}?stage={stage}")
        server.post("/api/searches", {"set": QUERY, "reranker": stage, "top": 1})
        assert WAITING not in view(server, f"/sets/{QUERY}?stage={stage}")


def test_a_method_that_there_is_not_is_refused(server: Asker) -> None:
    assert server("GET", f"/sets/{QUERY}?stage=sideways").status == 404
    assert server("GET", f"/sets/{'0' * 16}?stage=cprr").status == 404
    assert server("GET", f"/sets/{'0' * 16}/review?stage=cprr").status == 404


def test_review_is_of_the_answers_that_were_shown(server: Asker) -> None:
    asked = "stage=learnt&k=2&likeness=max_correlation&face=0&top=20"
    ask = SearchAsk(set=QUERY, reranker="learnt", proxies=2, similarity="max_correlation", faces=[0], top=20)
    server.post("/api/searches", ask.model_dump())
    shown = view(server, f"/sets/{QUERY}?{asked}")
    address = f"/sets/{QUERY}/review?{asked}"
    assert address.replace("&", "&amp;") in shown
    rows = re.findall(r'class="answer[^"]*" data-key="(\w+)"', shown)
    assert len(rows) == 20
    assert re.findall(r'data-title="[^"]*" data-key="(\w+)"', view(server, address)) == rows


def test_the_left_of_both_orders_is_the_plain_order(server: Asker) -> None:
    ask = {"set": QUERY, "reranker": "rl_sim", "top": 12}
    found = server.post("/api/searches", ask)
    plain = server.post("/api/searches", {**ask, "reranker": "baseline"})
    right = [one["set"]["key"] for one in found["answers"]]
    left = [one["set"]["key"] for one in plain["answers"]]
    assert left != right
    shown = view(server, f"/sets/{QUERY}?stage=rl_sim&top=12&view=both")
    lists = re.findall(r"<ol>(.*?)</ol>", shown, re.DOTALL)
    keys = [re.findall(r'href="/sets/(\w+)"', one) for one in lists]
    assert keys == [left, right]
    assert re.findall(r'class="rank">(\d+)<', lists[0]) == [str(rank) for rank in range(1, 13)]
    # A line for each that is on both sides; the others say where they went.
    gone = [one for one in found["baseline"] if one["set"]["key"] not in right]
    assert shown.count("<line ") == len(set(left) & set(right)) == 12 - len(gone)
    for one in gone:
        assert f"now {ordinal(one['learnt_rank'])}" in lists[0]


def test_evidence_never_mixes_two_rankings(server: Asker) -> None:
    ask = {"set": QUERY, "reranker": "learnt", "proxies": 3}
    before = server.post("/api/searches", ask)["answers"]
    with Gallery(server.parts.gallery.path) as gallery:
        judge(gallery, "clip-000", [one["set"]["id"] for one in before[:2]], "same")
        judge(gallery, "clip-000", [before[4]["set"]["id"]], "different")
    tried = 0
    for one in before[2:4] + before[5:9]:
        key = one["set"]["key"]
        told = server.post("/api/searches/evidence", {"ask": ask, "target": key})
        shown = view(server, f"/sets/{QUERY}/why/{key}?stage=learnt&k=3")
        said = re.findall(r"(\w+) with it, (\w+) without it( \(before your decisions\))?", shown)
        alone = ordinal(told["rank_alone"])
        assert [one[:2] for one in said] == [
            (alone, ordinal(chain["rank_without"])) for chain in told["chains"]
        ]
        if told["rank_alone"] != told["answer"]["rank"]:
            assert all(one[2] for one in said)
            tried += 1
    assert tried


def test_whom_another_name_has_can_be_merged_but_not_confirmed(server: Asker) -> None:
    first, second = (one["set"] for one in server.post("/api/searches", {"set": QUERY})["answers"][:2])
    with Gallery(server.parts.gallery.path) as gallery:
        anna = name(gallery, ["clip-000"], "Anna")
        bo = name(gallery, [first["id"]], "Bo <b>")
    for address in (f"/sets/{QUERY}", f"/sets/{QUERY}/review"):
        shown = view(server, address)
        offer = f'data-person="{bo.number}" data-name="Bo &lt;b&gt;" data-into="{anna.number}"'
        assert shown.count(offer) == 1
    rows = dict(
        re.findall(
            r'class="answer[^"]*" data-key="(\w+)"[^>]*>(.*?)\n  </li>', view(server, f"/sets/{QUERY}"), re.S
        )
    )
    assert 'data-do="join"' in rows[first["key"]]
    assert 'data-do="judge" data-verdict="same"' not in rows[first["key"]]
    assert 'data-do="judge" data-verdict="different"' in rows[first["key"]]
    assert 'data-do="join"' not in rows[second["key"]]
    assert 'data-do="judge" data-verdict="same"' in rows[second["key"]]
    # Why: this is what the server says to it.
    judged = {"query": QUERY, "targets": [first["key"]], "verdict": "same"}
    assert server("POST", "/api/judgements", judged).status == 409
    server.post(f"/api/people/{bo.number}/merge", {"into": anna.number})
    assert first["id"] in [one["id"] for one in server.post("/api/searches", {"set": QUERY})["confirmed"]]


def test_names_are_kept_apart_from_the_words_around_them(server: Asker) -> None:
    with Gallery(server.parts.gallery.path) as gallery:
        person = name(gallery, ["clip-000", "clip-001"], "שרה")
    for address in (f"/sets/{QUERY}", f"/sets/{QUERY}/review", "/people", f"/people/{person.number}"):
        shown = re.sub(r"<(title|option|datalist).*?</\1>", "", view(server, address))
        words = re.sub(r"<[^>]*>", lambda tag: "<bdi>" if tag[0].startswith("<bdi") else "", shown)
        named = [one.start() for one in re.finditer("שרה", words)]
        assert named
        assert all(words[:place].endswith("<bdi>") for place in named), address


def test_all_faces_of_an_upload_can_be_chosen_and_few_are_loaded_at_once(server: Asker) -> None:
    faces = [FaceView(face=number, picture=f"/pictures/{number}") for number in range(90)]
    told = UploadView(
        key=QUERY, state="done", people=[UploadedPerson(person=0, title="party.mp4", faces=faces)]
    )
    shown = pages.render("upload.html", here="", upload=told, empty=False).body.decode()
    assert shown.count('name="face"') == 90
    assert shown.count('loading="lazy"') == 90
    kept = told.model_copy(update={"kept": [QUERY]})
    shown = pages.render("upload.html", here="", upload=kept, empty=False).body.decode()
    assert 'data-do="keep"' not in shown
    assert f'href="/sets/{QUERY}"' in shown
    nothing = pages.render("upload.html", here="", upload=told, empty=True).body.decode()
    assert "Find this person" not in nothing


def test_an_upload_to_an_empty_collection_leads_to_keeping_it(tmp_path: Path) -> None:
    Gallery(tmp_path / "g.gallery", create=True).close()
    with asker(tmp_path / "g.gallery") as server:
        told = UploadView(
            key=QUERY,
            state="done",
            people=[UploadedPerson(person=0, title="me.jpg", faces=[FaceView(face=0)])],
        )
        server.parts.uploads.view = lambda key: told  # type: ignore[method-assign]
        shown = view(server, f"/uploads/{QUERY}")
    assert "nothing yet to search in" in shown
    assert 'class="primary" data-do="keep"' in shown


def test_faces_that_are_not_seen_at_first_are_not_loaded_at_first(tmp_path: Path) -> None:
    with asker(fill(tmp_path / "g.gallery", 4, 4)) as server:
        server.post("/api/searches", {"set": QUERY})
        whole = server.parts.browsing.view(QUERY, whole=True)
        shown = view(server, f"/sets/{QUERY}")
        form = shown[shown.index('id="ask"') : shown.index("</fieldset>")]
        assert form.count('name="face"') == whole.faces
        assert form.count('loading="lazy"') == max(0, whole.faces - 10)


def test_what_was_found_in_the_collection_is_told(server: Asker) -> None:
    found = server.get("/api/gallery")["finding"]
    assert found
    assert f"In this collection: {found[:20]}" in view(server, f"/sets/{QUERY}")
    server.post("/api/searches", {"set": QUERY, "reranker": "baseline"})
    assert "In this collection" not in view(server, f"/sets/{QUERY}?stage=baseline")


def test_nobody_is_a_hundred_percent_sure() -> None:
    chance = pages.FILTERS["percent"]
    assert [chance(1.0), chance(0.0), chance(0.64)] == ["> 99 %", "< 1 %", "64 %"]
    kin = Relative("clip-001", "kin", "query", 1.0, 0.5, 0, 0, 0, 0)
    said = effect(kin, 0.5, "who you asked for", (), ())
    assert said.startswith("> 99 % likely the same as who you asked for;")
