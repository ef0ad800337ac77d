"""Two people in one film or photo: times by hand, intervals by generated input, places in a small gallery."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike import Gallery, open_search
from lookalike.errors import BadInput
from lookalike.gallery.decisions import judge
from lookalike.search.filters import alone, members, outside, shared, together, two_people
from tests.gallery.samples import a_file, a_set, sightings

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
