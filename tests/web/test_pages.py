"""The views without a browser: every view answers, and holds nothing that its own policy forbids."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from lookalike import FaceSet
from lookalike.errors import BadInput
from lookalike.gallery import decisions
from lookalike.gallery.gallery import Gallery
from lookalike.web import pages
from lookalike.web.models import AnswerView, SetView
from lookalike.web.wording import changed, counted, days, doubtful, moment, ordinal, share, taken, took
from tests.hostile_names import NAMES
from tests.web.asking import HOST, Asker, asker
from tests.web.drawn import drawn_photo


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sets under hostile names, two of which are one hostile person."""
    path = tmp_path_factory.mktemp("hostile") / "hostile.gallery"
    rng, picture = np.random.default_rng(1), drawn_photo(0, 48)
    named = [name for name in dict.fromkeys(NAMES) if name.strip()]
    with Gallery(path, create=True) as gallery:
        for name in named:
            gallery.add(FaceSet(name, rng.normal(size=(3, 8)), origin=name, pictures=[picture] * 3))
        for number in range(0, 40, 2):
            pair = named[number : number + 2]
            try:
                decisions.name(gallery, pair, f"{named[number]} {number}"[:200])
            except BadInput:  # not what anybody is called
                decisions.name(gallery, pair, f"person {number}")
    return path


@pytest.fixture(scope="module")
def ask(path: Path) -> Iterator[Asker]:
    """Somebody who opened the printed address; the collection is ready."""
    with asker(path) as ask:
        key = ask.get("/api/sets?limit=1")["sets"][0]["key"]
        ask.post("/api/searches", {"set": key, "top": 1})
        yield ask


class Reader(HTMLParser):
    """Collects what a page could run or load."""

    def __init__(self) -> None:
        super().__init__()
        self.bad: list[str] = []
        self.inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.inside = tag
        for name, value in attrs:
            if name.startswith("on") or name == "style":
                self.bad.append(f"{tag} {name}={value}")
            if name in ("src", "href", "action") and not (value or "").startswith(("/", "#")):
                self.bad.append(f"{tag} {name}={value}")
        known = {"a", "body", "button", "datalist", "dd", "details", "dialog", "div", "dl", "dt", "fieldset"}
        known |= {"figcaption", "figure", "footer", "form", "h1", "h2", "h3", "head", "header", "html", "img"}
        known |= {"input", "kbd", "label", "legend", "li", "line", "link", "main", "meta", "nav", "noscript"}
        known |= {"ol", "option", "p", "path", "progress", "rect", "script", "section", "select", "span"}
        known |= {"summary", "svg", "time", "title", "ul", "b", "bdi", "br", "circle"}
        if tag not in known:
            self.bad.append(tag)

    def handle_data(self, data: str) -> None:
        if self.inside in ("script", "style") and data.strip():
            self.bad.append(data[:80])

    def handle_endtag(self, tag: str) -> None:
        self.inside = ""


def read(ask: Asker, address: str) -> str:
    """A view, of which nothing can run and nothing is loaded from elsewhere."""
    said = ask("GET", address)
    assert said.status == 200, said.body[:500]
    reader = Reader()
    reader.feed(said.body.decode())
    assert reader.bad == [], address
    return said.body.decode()


def test_no_view_runs_or_loads_anything_but_its_own(ask: Asker) -> None:
    keys: list[str] = []
    for offset in range(0, 240, pages.PAGE):
        keys += re.findall(r'data-key="([0-9a-f]{16})"', read(ask, f"/?offset={offset}"))
    assert len(keys) >= 200
    first = keys[0]
    for view in (
        "",
        "?view=both",
        "?stage=learnt&k=2&top=20&plain=1",
        "?face=0",
        "/review",
        "/review?order=borderline",
    ):
        read(ask, f"/sets/{first}{view}")
    for target in keys[1:4]:
        read(ask, f"/sets/{first}/why/{target}")
    read(ask, "/history")
    for address in re.findall(r'href="(/people/\d+)"', read(ask, "/people")):
        read(ask, address)


def test_filters_are_in_the_addresses_of_further_pages(ask: Asker) -> None:
    assert 'href="/?sort=faces&amp;named=unnamed&amp;offset=48"' in read(ask, "/?sort=faces&named=unnamed")


@pytest.mark.parametrize(
    "asked", ["sort=sideways", "offset=-1", "since=yesterday", "limit=9999", "named=maybe"]
)
def test_an_address_that_is_not_right_is_refused_in_words(ask: Asker, asked: str) -> None:
    said = ask("GET", f"/?{asked}")
    assert said.status == 400
    assert b"in this address is not right" in said.body


def test_without_the_cookie_only_the_message_is_shown(ask: Asker) -> None:
    said = ask.raw("GET", "/people", {"Host": HOST})
    assert said.status == 401
    assert b"Open the address that was printed" in said.body
    assert b"data-key" not in said.body


def test_before_the_collection_is_ready_the_page_says_so(path: Path) -> None:
    with asker(path) as fresh:
        key = fresh.get("/api/sets?limit=1")["sets"][0]["key"]
        assert "Getting the collection ready" in read(fresh, f"/sets/{key}")


def test_words() -> None:
    assert [ordinal(one) for one in (1, 2, 3, 4, 11, 12, 13, 21, 112, 1001)] == [
        *("1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "112th", "1,001st")
    ]
    assert [counted(1, "face"), counted(2000, "face"), counted(2, "person", "people")] == [
        *("1 face", "2,000 faces", "2 people")
    ]
    assert [share(-0.2), share(0.256), share(7.0)] == ["0.0", "25.6", "100.0"]
    assert [took(43.2), took(1234.0)] == ["43 ms", "1.2 s"]
    assert moment("never") == "never"
    assert "November 2026" in moment("2026-11-16T12:00:00+00:00")


def answer(rank: int, before: int | None, probability: float | None) -> AnswerView:
    shown = SetView(key=f"{rank:016x}", id=str(rank), title=str(rank), faces=1)
    return AnswerView(
        rank=rank,
        set=shown,
        score=0.5,
        baseline=0.5,
        baseline_rank=rank,
        moved=0,
        way="directly",
        probability=probability,
        sure="-",
        before=before,
    )


def test_what_changed_and_what_is_doubtful() -> None:
    found = [answer(1, 3, 0.9), answer(2, 2, 0.55), answer(3, 9, 0.1), answer(4, None, 0.0)]
    assert [one.rank for one in changed(found)] == [3, 1]
    assert [one.rank for one in doubtful(found, True)] == [2, 1, 3, 4]
    assert [one.rank for one in doubtful(found, False)] == [1, 2, 3, 4]


def test_what_went_wrong_ends_as_a_sentence() -> None:
    for given, said in (("it is gone", "it is gone."), ("It is gone.", "It is gone."), ("Why?", "Why?")):
        assert f">{said}<" in bytes(pages.error_page(404, given).body).decode()


def test_when_files_were_taken_in_words() -> None:
    assert taken("2019-07-04T08:05:59+02:00") == "4 July 2019, 08:05"  # as the clock there said
    assert days([None, "2021-01-01T00:00:00", "2019-07-04T08:05:59"]) == "4 July 2019 to 1 January 2021"
    assert days(["2019-07-04T08:05:59", "2019-07-04T18:05:59"]) == "4 July 2019"
    assert days([None]) == days([]) == ""
