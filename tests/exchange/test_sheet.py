"""The sheet: all that was found on one page, on which nothing runs and nothing is loaded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lookalike import Answer, FaceSet, Gallery, Ranking, __version__
from lookalike.errors import BadInput
from lookalike.exchange.appearances import appearances
from lookalike.gallery import decisions
from lookalike.gallery.export import export_as
from lookalike.ingest.pictures import encode_picture
from lookalike.ranking import data_address
from tests.exchange.samples import media, seen
from tests.hostile_names import NAMES, Tags

ALLOWED = {
    *(
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "h1",
        "h2",
        "h3",
        "p",
        "dl",
        "dt",
        "dd",
        "bdi",
        "img",
    ),
    *("article", "div", "table", "thead", "tbody", "tr", "th", "td", "declaration"),
}


def pictured(set_id: str, time: float | None = 1.5, seed: int = 0) -> FaceSet:
    """A set of two faces with pictures."""
    rng = np.random.default_rng(seed)
    pictures = [encode_picture(rng.integers(0, 255, (40, 40, 3), dtype=np.uint8)) for _ in range(2)]
    sightings = [seen(time=time), seen((0, 0, 90, 90), time=None if time is None else time + 0.4)]
    return FaceSet(set_id, rng.normal(size=(2, 8)), "somewhere", ["a", "b"], pictures, sightings)


def test_a_person_on_a_page(tmp_path: Path) -> None:
    with Gallery(tmp_path / "people.gallery", create=True) as gallery:
        film, other = media(tmp_path / "film.mp4"), media(tmp_path / "other.mp4")
        gallery.keep_file(film, [pictured("one"), pictured("two", 30, 1)])
        gallery.keep_file(other, [pictured("three", 5, 2)])
        decisions.name(gallery, ["one"], "Ada")
        decisions.name(gallery, ["three"], "Eve")
        export_as(gallery, tmp_path / "x.html", "html", person="ada")
        contents, face = gallery.contents(), gallery.get("one", pictures=True).pictures[0]
        fingerprint = gallery.fingerprint()
    page = (tmp_path / "x.html").read_text(encoding="utf-8")
    seen_as = Tags(page)
    for said in (
        *("Appearances of Ada", f"lookalike {__version__}", fingerprint, str(tmp_path / "film.mp4")),
        *("from 00:00:01.5 to 00:00:01.9 in the video", film.content, contents["one"], "90 x 90 pixels"),
    ):
        assert said in seen_as.text
    assert data_address(face) in seen_as.addresses
    assert len(seen_as.addresses) == 2
    # Nobody else's.
    for other_said in ("Eve", "three", other.content, "What the probability means"):
        assert other_said not in page
    assert "<td><bdi>name</bdi></td>" in page


def test_an_answer_on_a_page(tmp_path: Path) -> None:
    with Gallery(tmp_path / "g", create=True) as gallery:
        gallery.keep_file(media(tmp_path / "film.mp4"), [pictured("query"), pictured("answer", 30, 1)])
        decisions.judge(gallery, "query", ["answer"], "same")
        ranking = Ranking(
            "query", (Answer(1, "answer", 0.8, 0.7, 1, None, 0.83),), 40, "max_max", "auto", 40, 1
        )
        export_as(gallery, tmp_path / "x.html", "html", ranking=ranking)
    text = Tags((tmp_path / "x.html").read_text(encoding="utf-8")).text
    for said in (
        "Answers for query",
        "What the probability means",
        "83 %",
        "The query",
        "max_max",
        "same, 20",
    ):
        assert said in text


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    ids = [name for name in NAMES if name.strip()]
    with Gallery(tmp_path / "g", create=True) as gallery:
        gallery.keep_file(media(tmp_path / NAMES[60]), [pictured(one) for one in ids])
        export_as(gallery, tmp_path / "x.html", "html")
        count = len(list(appearances(gallery)))
    page = Tags((tmp_path / "x.html").read_text(encoding="utf-8"))
    assert {tag.removeprefix("/") for tag, _ in page.tags} <= ALLOWED
    assert {one for _, names in page.tags for one in names} <= {
        *("lang", "charset", "http-equiv", "content", "name", "src", "alt", "scope", "class", "tabindex"),
    }
    assert all(address.startswith("data:image/") for address in page.addresses)
    assert count == len(ids) == sum(tag == "article" for tag, _ in page.tags)
    assert all(one in page.text for one in ids)


def test_more_than_a_page_can_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lookalike.exchange.sheet.MOST", 2)
    with Gallery(tmp_path / "g", create=True) as gallery:
        gallery.keep_file(media(tmp_path / "film.mp4"), [pictured(f"s{n}") for n in range(3)])
        with pytest.raises(BadInput, match="a sheet shows up to 2 appearances, and 3 were chosen"):
            export_as(gallery, tmp_path / "x.html", "html")
    assert not (tmp_path / "x.html").exists()
