"""The collection, searches and evidence by JSON: they say what the library says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lookalike import FaceSet, Gallery
from lookalike.faceset import Sighting
from lookalike.gallery.media import MediaFile
from lookalike.search.query import open_search
from lookalike.web.answers import _depth
from lookalike.web.catalogue import key_of
from lookalike.web.films import Latest
from tests.gallery.samples import a_file
from tests.small_world import small_world
from tests.web.asking import Asker, asker, fill, picture


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fill(tmp_path_factory.mktemp("looking") / "films.gallery")


@pytest.fixture(scope="module")
def server(path: Path) -> Iterator[Asker]:
    with asker(path) as made:
        yield made


def test_the_collection_in_numbers(server: Asker) -> None:
    told = server.get("/api/gallery")
    assert (told["name"], told["sets"], told["faces"], told["people"]) == ("films", 18, 72, 0)
    assert told["rerankers"][0]["name"] == "auto"
    assert {one["name"]: one["proxies"] for one in told["rerankers"]}["learnt"]
    assert "max_max" in told["similarities"]


def test_sets_are_cut_into_pages(server: Asker) -> None:
    whole = server.get("/api/sets?limit=200")
    assert whole["total"] == len(whole["sets"]) == 18
    second = server.get("/api/sets?offset=5&limit=5")
    assert second["sets"] == whole["sets"][5:10]
    assert server.get("/api/sets?offset=18")["sets"] == []
    one = whole["sets"][0]
    assert one["key"] == key_of(one["id"])
    assert [face["face"] for face in one["strip"]] == [0, 1, 2, 3]
    assert server.get(f"/api/sets/{one['key']}") == one


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("text=CLIP-00", 10),
        ("text=clip-003", 1),
        ("text=clip 003", 1),
        ("text=nobody", 0),
        ("source=films/clip-01", 8),
        ("since=2000-01-01", 18),
        ("since=2999-01-01", 0),
        ("until=2000-01-01", 0),
        ("quality=good", 0),
        ("named=unnamed", 18),
        ("named=named", 0),
        ("person=7", 0),
    ],
)
def test_filters(server: Asker, asked: str, found: int) -> None:
    assert server.get(f"/api/sets?{asked.replace(' ', '%20')}")["total"] == found


@pytest.mark.parametrize("sort", ["id", "added", "faces", "person"])
def test_sorting_loses_nobody(server: Asker, sort: str) -> None:
    found = [one["id"] for one in server.get(f"/api/sets?sort={sort}&limit=200")["sets"]]
    assert sorted(found) == [f"clip-{number:03d}" for number in range(18)]


@pytest.mark.parametrize(
    "asked", ["limit=0", "limit=201", "offset=-1", "sort=size", "since=yesterday", "unknown=1", "limit=x"]
)
def test_what_makes_no_sense_is_refused(server: Asker, asked: str) -> None:
    said = server("GET", f"/api/sets?{asked}")
    assert said.status == 422
    assert said.error.startswith(f"'{asked.partition('=')[0]}' is not right")


def same_answers(told: dict[str, Any], ranking: Any) -> None:
    assert [one["set"]["id"] for one in told["answers"]] == ranking.ids
    for one, answer in zip(told["answers"], ranking, strict=True):
        assert (one["rank"], one["baseline_rank"]) == (answer.rank, answer.baseline_rank)
        assert one["score"] == pytest.approx(answer.score, abs=1e-12)
        assert one["moved"] == answer.baseline_rank - answer.rank
        assert one["sure"] == answer.sure


@pytest.mark.parametrize(
    "asked", [{}, {"reranker": "learnt", "proxies": 3}, {"similarity": "dffs", "top": 4}]
)
def test_answers_are_those_of_the_library(server: Asker, path: Path, asked: dict[str, Any]) -> None:
    method = asked.get("reranker", "auto")
    method += f":proxies={asked['proxies']}" if "proxies" in asked else ""
    with Gallery(path) as gallery:
        search = open_search(gallery, asked.get("similarity", "max_max"), method)
    for set_id in ("clip-000", "clip-007"):
        told = server.post("/api/searches", {"set": key_of(set_id), **asked})
        ranking = search.find(set_id, asked.get("top", 50))
        same_answers(told, ranking)
        assert told["reading"] == ranking.reading
        assert (told["total"], told["version"]) == (ranking.total, search.tables.fingerprint)


@pytest.mark.parametrize("top", [4, 50])
def test_the_order_by_likeness_alone_is_that_of_the_baseline(server: Asker, top: int) -> None:
    asked = {"set": key_of("clip-000"), "reranker": "geometric_mean", "top": top}
    found = server.post("/api/searches", asked)
    plain = server.post("/api/searches", {**asked, "reranker": "baseline"})
    whole = server.post("/api/searches", {**asked, "top": 50})["answers"]
    ranks = {one["set"]["id"]: one["rank"] for one in whole}
    shown = [(one["rank"], one["set"]["id"], one["learnt_rank"]) for one in found["baseline"]]
    assert shown == [(one["rank"], one["set"]["id"], ranks[one["set"]["id"]]) for one in plain["answers"]]
    assert [one["set"]["id"] for one in found["answers"]] != [set_id for _, set_id, _ in shown]


def test_an_answer_is_looked_for_in_the_ranking_that_is_shown() -> None:
    """A shortlist serves the first few: who asks for more gets another ranking, and maybe another rank."""
    search = open_search(small_world(12, 6)[0], reranker="baseline", shortlist=True)
    assert (_depth(search, 50), _depth(search, 100), _depth(search, 101)) == (100, 100, 101)
    search.shortlist = None
    assert (_depth(search, 50), _depth(search, 501)) == (500, 501)


def test_the_latest_are_remembered_by_how_large_they_are() -> None:
    held: Latest[bytes] = Latest(100, len)
    for name in "abc":
        held.put(name, bytes(40))
    assert [held.get(name) is not None for name in "abc"] == [False, True, True]
    assert held.get("b")
    held.put("d", bytes(60))
    assert [held.get(name) is not None for name in "bcd"] == [True, False, True]
    held.put("e", bytes(1000))  # too large for all others, and yet it is what is looked at now
    assert [held.get(name) is not None for name in "bde"] == [False, False, True]
    held.put("e", bytes(10))
    held.put("f", bytes(90))
    assert [held.get(name) is not None for name in "ef"] == [True, True]


def test_only_some_faces_count(server: Asker, path: Path) -> None:
    """The set whose faces are asked with is neither answer nor proxy; all faces are the set itself."""
    key = key_of("clip-003")
    whole = server.post("/api/searches", {"set": key})
    every = server.post("/api/searches", {"set": key, "faces": [3, 1, 2, 0, 0]})
    assert [one["set"]["id"] for one in every["answers"]] == [one["set"]["id"] for one in whole["answers"]]
    one = server.post("/api/searches", {"set": key, "faces": [2]})
    assert one["total"] == 17
    assert "clip-003" not in [answer["set"]["id"] for answer in one["answers"]]
    with Gallery(path) as gallery:
        others = [each for each in gallery.sets() if each.id != "clip-003"]
        asked = FaceSet("asked", gallery.get("clip-003").faces[[2]])
        plain = open_search(others, reranker="baseline").find(asked)
    alone = server.post("/api/searches", {"set": key, "faces": [2], "reranker": "baseline"})
    assert [answer["set"]["id"] for answer in alone["answers"]] == plain.ids
    target = one["answers"][0]["set"]["key"]
    why = server.post("/api/searches/evidence", {"ask": {"set": key, "faces": [2]}, "target": target})
    assert why["direct"]["query_face"]["face"] == 2


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ({}, 400),
        ({"set": "0" * 16, "upload": "0" * 16}, 400),
        ({"set": "0" * 16}, 404),
        ({"upload": "0" * 16}, 404),
        ({"set": "KEY", "faces": []}, 400),
        ({"set": "KEY", "faces": [4]}, 404),
        ({"set": "KEY", "reranker": "nothing"}, 404),
        ({"set": "KEY", "reranker": "learnt:references=1000000000"}, 404),
        ({"set": "KEY", "similarity": "max_max:samples=3"}, 404),
        ({"set": "KEY", "top": 0}, 422),
        ({"set": "KEY", "top": 501}, 422),
        ({"set": "KEY", "proxies": 11}, 422),
        ({"set": "clip-000"}, 422),
        ({"set": "KEY", "path": "/etc/passwd"}, 422),
    ],
)
def test_questions_that_cannot_be_asked(server: Asker, asked: dict[str, Any], status: int) -> None:
    given = {name: key_of("clip-000") if value == "KEY" else value for name, value in asked.items()}
    said = server("POST", "/api/searches", given)
    assert (said.status, bool(said.error)) == (status, True)


@pytest.mark.parametrize(
    "body", [b"", b"[", b"[]", b"null", b'"x"', b"\xff\xfe", b'{"set": NaN}', b"[" * 50_000]
)
def test_bodies_that_are_no_question(server: Asker, body: bytes) -> None:
    headers = {
        "Host": "127.0.0.1:8417",
        "Origin": "http://127.0.0.1:8417",
        "Cookie": f"lookalike-8417={server.cookie}",
        "X-Lookalike": "1",
        "Content-Type": "application/json",
    }
    for path in ("/api/searches", "/api/judgements", "/api/people", "/api/jobs"):
        said = server.raw("POST", path, headers, body)
        assert said.status in (400, 422), said
        assert said.error


@pytest.mark.parametrize("reranker", ["auto", "adaptive", "learnt", "baseline", "csls"])
def test_evidence_is_that_of_the_library(server: Asker, path: Path, reranker: str) -> None:
    key, ask = key_of("clip-000"), {"set": key_of("clip-000"), "reranker": reranker}
    target = server.post("/api/searches", ask)["answers"][2]["set"]
    told = server.post("/api/searches/evidence", {"ask": ask, "target": target["key"]})
    with Gallery(path) as gallery:
        known = open_search(gallery, reranker=reranker).explain("clip-000", target["id"])
    assert (told["query"]["key"], told["asked"]["key"]) == (key, key)
    assert told["answer"]["rank"] == known.answer.rank == 3
    assert told["direct"]["query_face"]["face"] == known.query_face
    assert told["direct"]["target_face"]["face"] == known.target_face
    assert [one["proxy"]["id"] for one in told["chains"]] == [one.proxy for one in known.witnesses]
    for one, witness in zip(told["chains"], known.witnesses, strict=True):
        assert [number["value"] for number in one["numbers"]] == pytest.approx(list(witness.numbers))
        assert (one["rank_without"], one["belief"]) == (witness.rank_without, pytest.approx(witness.belief))
        assert one["decided"] == (witness.proxy == known.answer.through)
    assert [one["set"]["id"] for one in told["relatives"]] == [one.id for one in known.relatives]
    assert told["rank_before_kin"] == known.rank_before_kin
    assert told["rank_before_lists"] == known.rank_before_lists
    assert told["score"] == known.answer.score
    terms = [] if known.alone is None else [known.alone, *(one.moved for one in known.influences)]
    assert [one["moved"] for one in told["terms"]] == terms
    assert told["sentences"][0] == f"{target['title']} is answer 3 of 17."


def test_evidence_needs_two_sets(server: Asker) -> None:
    key = key_of("clip-000")
    for target, status in ((key, 400), ("0" * 16, 404)):
        said = server("POST", "/api/searches/evidence", {"ask": {"set": key}, "target": target})
        assert said.status == status


# Pictures.


def test_pictures_come_by_opaque_names(server: Asker) -> None:
    one = server.get(f"/api/sets/{key_of('clip-004')}")
    with Gallery(server.parts.gallery.path) as gallery:
        kept = gallery.get("clip-004", pictures=True).pictures
    for face, expected in zip(one["strip"], kept, strict=True):
        said = server("GET", face["picture"])
        assert (said.status, said.body, said.header("content-type")) == (200, expected, "image/png")
        assert "clip-004" not in face["picture"]


def test_no_picture_name_can_be_made_up(server: Asker) -> None:
    shown = server.get(f"/api/sets/{key_of('clip-004')}")["strip"][0]["picture"]
    rng = np.random.default_rng(0)
    for place in range(len("/pictures/"), len(shown)):
        other = (
            shown[:place] + rng.choice([c for c in "ABCxyz019-_" if c != shown[place]]) + shown[place + 1 :]
        )
        if other[:-1] == shown[:-1]:
            continue  # the last letter of base64 has bits that say nothing
        assert server("GET", other).status == 404
    for name in ("", "A", "A" * 43, "%00", "..%2f..%2fetc%2fpasswd", shown[10:] + "A", "é" * 10):
        assert server("GET", f"/pictures/{name}").status in (404, 405)


def test_sets_without_pictures_have_none(tmp_path: Path) -> None:
    with asker(fill(tmp_path / "g.gallery", pictures=False)) as server:
        one = server.get(f"/api/sets/{key_of('clip-004')}")
        assert [face["picture"] for face in one["strip"]] == [None] * 4
        token = server.parts.pictures.token(b"s", one["key"])
        assert server("GET", f"/pictures/{token}").status == 404


def test_a_strip_is_spread_over_a_long_set(tmp_path: Path) -> None:
    with Gallery(tmp_path / "g.gallery", create=True) as gallery:
        faces = np.random.default_rng(0).normal(size=(35, 8))
        gallery.add(FaceSet("long", faces, pictures=[picture(face) for face in range(35)]))
    with asker(tmp_path / "g.gallery") as server:
        [one] = server.get("/api/sets")["sets"]
        assert [face["face"] for face in one["strip"]] == [0, 3, 7, 10, 14, 17, 21, 24, 28, 31]
        assert len(server.get(f"/api/sets/{one['key']}")["strip"]) == 35


def test_an_empty_gallery_says_so(tmp_path: Path) -> None:
    Gallery(tmp_path / "g.gallery", create=True).close()
    with asker(tmp_path / "g.gallery") as server:
        assert server.get("/api/sets")["sets"] == []
        told = server.get("/api/gallery")
        assert (told["sets"], told["ready"], told["descriptor"]) == (0, False, None)
        assert server("POST", "/api/searches", {"set": "0" * 16}).status in (400, 404)


@pytest.fixture(scope="module")
def album(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asker]:
    """People of an album and of a film, as `add` names them: two of each begin at one time."""
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("album") / "g.gallery"
    photo = Sighting((1, 1, 90, 90), 0.9, 0.5, 0.5, 0.1)

    def one(set_id: str, *seen: Sighting) -> FaceSet:
        return FaceSet(set_id, rng.normal(size=(len(seen), 8)), "/somewhere", sightings=seen)

    with Gallery(path, create=True) as gallery:
        for number in (1, 2, 10):
            first, second = (replace(a_file(f"IMG_{number}{place}.jpg"), kind="photo") for place in (10, 9))
            gallery.keep_file(first, [one(f"party#{number}", photo)])
            gallery.keep_file(second, [], [one(f"party#{number}", photo)])
        seen = replace(photo, time=70.0), replace(photo, time=71.0)
        gallery.keep_file(a_file("film.mp4"), [one(f"a/film.mp4#{number}", *seen) for number in (1, 2)])
    with asker(path) as made:
        yield made


def test_no_two_sets_have_one_title_and_ten_comes_after_two(album: Asker) -> None:
    sets = album.get("/api/sets")["sets"]
    assert [one["title"] for one in sets] == [
        "a/film.mp4 #1, 00:01:10",
        "a/film.mp4 #2, 00:01:10",
        "party #1",
        "party #2",
        "party #10",
    ]


def test_all_photos_of_an_album_are_named_and_found(album: Asker) -> None:
    photos = ["/films/IMG_109.jpg", "/films/IMG_1010.jpg"]
    [one] = album.get("/api/sets?text=img_109.jpg")["sets"]
    assert (one["id"], one["files"]) == ("party#10", photos)
    assert [found["id"] for found in album.get("/api/sets?source=IMG_1010")["sets"]] == ["party#10"]
    album.post("/api/searches", {"set": one["key"]})
    shown = album("GET", f"/sets/{one['key']}").body.decode()
    assert shown.index("IMG_109.jpg</bdi>") < shown.index("IMG_1010.jpg</bdi>")


def test_who_is_seen_at_a_moment_of_a_film(tmp_path: Path) -> None:
    """Of the same film, at that time, from left to right, and where they are then."""
    rng = np.random.default_rng(0)
    content = tmp_path / "film.mp4"
    content.write_bytes(b"a film")
    said = content.stat()

    def one(set_id: str, *seen: tuple[float, float]) -> FaceSet:
        seen_at = [Sighting((left, 20, 40, 50), 0.9, 0.5, 0.5, 0.1, time) for time, left in seen]
        return FaceSet(set_id, rng.normal(size=(len(seen), 8)), str(content), sightings=seen_at)

    with Gallery(tmp_path / "g", create=True) as gallery:
        people = [
            one("film.mp4#1", (1.0, 300.0), (3.0, 200.0)),
            one("film.mp4#2", (1.0, 100.0), (3.0, 100.0)),
            one("film.mp4#3", (3.4, 10.0), (9.0, 10.0)),
        ]
        file = MediaFile("1" * 64, str(content), said.st_size, said.st_mtime_ns, "video")
        gallery.keep_file(file, people)
        gallery.keep_file(a_file("other.mp4"), [one("other.mp4#1", (1.0, 5.0), (9.0, 5.0))])
    with asker(tmp_path / "g") as server:
        server.post("/api/people", {"sets": [key_of("film.mp4#1")], "name": "Anna"})
        film = server.get(f"/api/sets/{key_of('film.mp4#3')}")["film"]

        def at(time: float) -> list[tuple[int, str, float]]:
            told = server.get(f"/api{film}/moment?at={time}")
            assert told["at"] == time
            return [
                (face["number"], face["title"].partition(",")[0], face["box"][0]) for face in told["faces"]
            ]

        assert at(2.0) == [(1, "film.mp4 #2", 100.0), (2, "film.mp4 #1", 250.0)]
        # Beside a time at which nobody is seen.
        assert [title for _, title, _ in at(3.2)] == ["film.mp4 #3", "film.mp4 #2", "film.mp4 #1"]
        assert at(20.0) == []
        assert server.get(f"/api{film}/moment?at=20&ahead=9")["tracks"] == []
        named = server.get(f"/api{film}/moment?at=2")["faces"][1]
        assert (named["key"], named["person"]["name"]) == (key_of("film.mp4#1"), "Anna")
        # Who is asked for: the set whose film it is, another set, and whoever is confirmed of either.
        told = server.get(f"/api{film}/moment?at=1.5&ahead=2&asked={key_of('film.mp4#1')}")
        assert told["until"] == 3.5
        assert {one["title"].partition(",")[0]: one["asked"] for one in told["tracks"]} == {
            "film.mp4 #1": True,
            "film.mp4 #2": False,
            "film.mp4 #3": True,
        }
        assert told["tracks"][0]["looks"] == [[1.0, 300, 20, 40, 50], [3.0, 200, 20, 40, 50]]
        assert server("GET", f"/api{film}/moment?at=soon").status == 422
        assert server("GET", f"/api{film[:-4]}AAAA/moment?at=1").status == 404
