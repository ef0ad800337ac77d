"""Filters: dates, names and quality by hand; what is left keeps its rank."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike import Gallery, open_search
from lookalike.errors import BadInput
from lookalike.gallery.decisions import judge
from lookalike.gallery.set_rows import SetFacts
from lookalike.search.filters import (
    Filter,
    alone,
    depth,
    members,
    narrowed,
    outside,
    shared,
    together,
    two_people,
)
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


# Two people in one film or photo: times by hand, intervals by generated input, places in a small gallery.

Spans = st.tuples(st.integers(0, 20), st.integers(0, 20)).map(
    lambda pair: (float(min(pair)), float(max(pair)))
)


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        ((0.0, 5.0), (3.0, 9.0), (3.0, 5.0)),
        ((3.0, 4.0), (0.0, 9.0), (3.0, 4.0)),
        ((0.0, 5.0), (5.0, 9.0), (5.0, 5.0)),  # both are seen in one frame
        ((2.0, 2.0), (2.0, 2.0), (2.0, 2.0)),
        ((0.0, 5.0), (5.1, 9.0), None),
    ],
)
def test_shared_times(one, other, found) -> None:
    assert shared(one, other) == shared(other, one) == found


@pytest.mark.parametrize(
    ("span", "others", "left"),
    [
        ((0.0, 10.0), [], [(0.0, 10.0)]),
        ((0.0, 10.0), [(2.0, 3.0), (5.0, 7.0)], [(0.0, 2.0), (3.0, 5.0), (7.0, 10.0)]),
        ((0.0, 10.0), [(5.0, 7.0), (2.0, 6.0)], [(0.0, 2.0), (7.0, 10.0)]),
        ((0.0, 10.0), [(8.0, 12.0)], [(0.0, 8.0)]),
        ((0.0, 10.0), [(0.0, 10.0)], []),
        ((0.0, 10.0), [(0.0, 4.0), (4.0, 10.0)], []),
        ((3.0, 3.0), [(2.0, 4.0)], []),
        ((3.0, 3.0), [(4.0, 5.0)], [(3.0, 3.0)]),
    ],
)
def test_what_is_left_of_a_time(span, others, left) -> None:
    assert outside(span, others) == left


@given(Spans, st.lists(Spans, max_size=6))
def test_every_moment_is_either_left_or_taken(span, others) -> None:
    """Asked at all halves between whole numbers, where no span begins or ends."""
    left = outside(span, others)
    for half in range(2 * 21):
        time = Fraction(2 * half + 1, 4)
        inside = span[0] <= time <= span[1] and not any(a <= time <= b for a, b in others)
        assert any(a <= time <= b for a, b in left) == inside
    assert left == sorted(left)
    assert all(span[0] <= a <= b <= span[1] for a, b in left)


@given(Spans, Spans)
def test_shared_and_left_make_the_whole(one, other) -> None:
    both, left = shared(one, other), outside(one, [other])
    length = (0.0 if both is None else both[1] - both[0]) + sum(b - a for a, b in left)
    assert length == one[1] - one[0]


@pytest.fixture
def seen(tmp_path: Path):
    """A film: a 0 to 1, b .5 to 1.5, c 10 to 11, d (a again) 10.5 to 11.5; photos of a and b, of a alone."""
    with Gallery(tmp_path / "g", create=True) as gallery:
        film = [
            a_set(name, number, sightings=sightings(3, start), origin="film")
            for number, (name, start) in enumerate([("a", 0.0), ("b", 0.5), ("c", 10.0), ("d", 10.5)])
        ]
        gallery.keep_file(a_file("film.mp4", captured="2019-07-14T10:30:05+00:00"), film, (), [("a", "b")])
        for name, who in (("1.jpg", ("p", "q")), ("2.jpg", ("r",))):
            photos = [a_set(one, 10 + ord(one), 1, sightings=sightings(1, None)) for one in who]
            gallery.keep_file(a_file(name), photos)
        yield gallery


def shown(places):
    return [(Path(one.file).name, one.start, one.end, one.sets, one.probability) for one in places]


def test_places_of_two(seen: Gallery) -> None:
    one, other = {"a": 1.0, "d": 0.9, "p": 1.0, "r": 0.8}, {"b": 1.0, "c": 0.5, "q": 0.7}
    assert shown(together(seen, one, other)) == [
        ("1.jpg", None, None, ("p", "q"), 0.7),
        ("film.mp4", 0.5, 1.0, ("a", "b"), 1.0),
        ("film.mp4", 10.5, 11.0, ("d", "c"), 0.45),
    ]
    assert shown(alone(seen, one, other)) == [
        ("2.jpg", None, None, ("r",), 0.8),
        ("film.mp4", 0.0, 0.5, ("a",), 1.0),
        ("film.mp4", 11.0, 11.5, ("d",), 0.9),
    ]
    assert together(seen, one, other)[1].captured == "2019-07-14T10:30:05+00:00"
    assert together(seen, {"a": 1.0}, {"c": 1.0}) == []
    assert together(seen, {"a": 1.0}, {"gone": 1.0}) == []


def test_a_set_is_of_one_of_them(seen: Gallery) -> None:
    assert two_people({"a": 1.0, "b": 0.6}, {"b": 0.7, "c": 1.0}) == ({"a": 1.0}, {"b": 0.7, "c": 1.0})
    assert two_people({"a": 1.0, "b": 0.6}, {"b": 0.6}) == ({"a": 1.0}, {"b": 0.6})
    with pytest.raises(BadInput, match="both are the same person, as 'a' shows"):
        two_people({"a": 1.0}, {"a": 1.0})


def test_who_is_meant(seen: Gallery) -> None:
    """Of so few sets no probability is known: the set and what was confirmed."""
    search = open_search(seen)
    assert members(search, "a") == {"a": 1.0}
    judge(seen, "a", ["d"], "same")
    assert members(search, "a") == {"a": 1.0, "d": 1.0}
    assert members(search, a_set("outside", 3)) == {}
