"""Filters: dates, names and quality by hand; what is left keeps its rank."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike import Gallery, open_search
from lookalike.errors import BadInput
from lookalike.gallery.set_rows import SetFacts
from lookalike.search.filters import Filter, depth, narrowed
from tests.gallery.samples import a_file, a_set, sightings

JULY = "2019-07-14T23:30:05+02:00"


def facts(gallery: Gallery, name: str = "a") -> SetFacts:
    return next(iter(gallery.listing([name])))


@pytest.fixture
def gallery(tmp_path: Path):
    with Gallery(tmp_path / "g", create=True) as gallery:
        for number, name in enumerate("abcdef"):
            said = {"a": JULY, "b": "", "c": "2021-01-01T00:00:00"}.get(name)
            gallery.keep_file(
                a_file(f"Holiday {name}.mp4", captured=said), [a_set(name, number, sightings=sightings())]
            )
        yield gallery


@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        (Filter(), "abcdef"),
        (Filter(since="2019"), "ac"),
        (Filter(since="2019-07-14"), "ac"),
        (Filter(since="2019-07-15"), "c"),
        (Filter(until="2019"), "a"),
        (Filter(until="2019-07"), "a"),
        (Filter(until="2019-07-13"), ""),
        (Filter("2019-07-14", "2019-07-14"), "a"),
        (Filter("2019", "2021-01-01"), "ac"),
        (Filter(file="holiday B"), "b"),
        (Filter(since="2021", file="Holiday a.mp4"), ""),
        (Filter(quality="good"), "abcdef"),
    ],
)
def test_what_is_kept(gallery: Gallery, asked: Filter, kept: str) -> None:
    files = gallery.files_of_sets(list("abcdef"))
    assert "".join(one.id for one in gallery.listing() if asked.keeps(one, files[one.id])) == kept


def test_half_of_the_faces_have_to_be_clear(gallery: Gallery) -> None:
    known = facts(gallery)
    for good, is_kept in ((None, False), (1, False), (2, True)):
        assert Filter(quality="good").keeps(known._replace(good=good, faces=3), []) == is_kept


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"since": "14.7.2019"}, "a date is written as 2019-07-14, 2019-07 or 2019, got '14.7.2019'"),
        ({"until": "2019-02-30"}, "got '2019-02-30'"),
        ({"until": "0000"}, "got '0000'"),
        ({"since": "2019-7-4"}, "got '2019-7-4'"),
        ({"since": "2020", "until": "2019-07"}, "no day is both from 2020 on and up to 2019-07"),
        ({"quality": "best"}, "a quality is one of any, good, got 'best'"),
    ],
)
def test_what_is_no_filter(given: dict[str, str], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        Filter(**given)


@given(st.dates())
def test_every_day_is_one_and_its_month_and_year(day: date) -> None:
    said = day.isoformat()
    assert Filter(said[:4], said).since == said[:4]
    assert Filter(said, said[:7]).until == said[:7]


@given(st.text(alphabet="0123456789-: ./", min_size=1, max_size=12))
def test_any_other_text_is_refused(text: str) -> None:
    try:
        date.fromisoformat(text + {4: "-01-01", 7: "-01"}.get(len(text), ""))
    except ValueError:
        with pytest.raises(BadInput, match="a date is written as"):
            Filter(since=text)


def test_ranks_and_probabilities_stay(gallery: Gallery) -> None:
    search, asked = open_search(gallery), Filter(since="2019")
    whole = search.find("f", depth(search, 2, asked))
    kept, left_out = narrowed(gallery, whole, asked, 2)
    assert [one.id for one in kept] == [one.id for one in whole if one.id in "ac"]
    assert set(kept.answers) <= set(whole.answers)
    assert (left_out, kept.total, kept.worth_reading) == (3, whole.total, whole.worth_reading)
    assert narrowed(gallery, whole, Filter(), 2) == (whole, 0)
    assert narrowed(gallery, whole, asked, 1)[0].answers == kept.answers[:1]
