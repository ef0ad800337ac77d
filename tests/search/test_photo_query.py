"""Photos that are one question: which face of each is taken, by hand in a plane, and on drawn photos."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from lookalike import FaceSet, Gallery, add
from lookalike.cli.app import app
from lookalike.errors import BadInput, NotFound
from lookalike.search.photo_query import Pictured, agree, read_together
from lookalike.search.query import Several
from tests import media

# Faces of one person are at most 60 degrees apart here.
LEAST = 0.5


def shown(name: str, *degrees: float) -> Pictured:
    """A photo of people, each a direction in a plane."""
    radians = np.radians(degrees)
    faces = np.column_stack([np.cos(radians), np.sin(radians)])
    return Pictured(name, [FaceSet(f"{name}#{place}", one[None]) for place, one in enumerate(faces)])


def test_in_each_photo_the_face_is_taken_that_the_others_agree_on() -> None:
    found = agree([shown("a", 90, 0), shown("b", 10), shown("c", -170, 20, 100)], LEAST)
    assert found.taken == (("a", 2, 2), ("b", 1, 1), ("c", 2, 3))
    assert found.left_out == ()
    assert found.asked.id == "a#1 and 2 more"
    np.testing.assert_allclose(np.degrees(np.arctan2(*found.asked.faces.T[::-1])), [0, 10, 20], atol=1e-4)


def test_a_photo_of_somebody_else_is_left_out_and_named() -> None:
    found = agree([shown("a", 0), shown("b", 10), shown("c", 120)], LEAST, [("d", "no face was found in it")])
    assert [name for name, *_ in found.taken] == ["a", "b"]
    assert found.left_out == (
        ("d", "no face was found in it"),
        ("c", "it shows somebody else than the other photos do"),
    )
    # By hand: 50 degrees from the mean of the two is cos 55 on average, which is enough; 70 is not.
    assert len(agree([shown("a", 0), shown("b", 10), shown("c", 60)], LEAST).taken) == 3
    assert (np.cos(np.radians(60)) + np.cos(np.radians(50))) / 2 > LEAST
    assert len(agree([shown("a", 0), shown("b", 10), shown("c", 70)], LEAST).taken) == 2


def test_whoever_left_because_of_a_stranger_comes_back() -> None:
    # With the two strangers at 180 the mean of d is the lowest but one; without them it belongs.
    photos = [shown("a", 0), shown("b", 5), shown("c", -5), shown("d", -50), shown("e", 150), shown("f", 160)]
    assert [name for name, *_ in agree(photos, LEAST).taken] == ["a", "b", "c", "d"]


@pytest.mark.parametrize("photos", [(0, 120), (0, 5, 120, 125), (0, 5, 120, 240)])
def test_photos_of_different_people_are_no_question(photos: tuple[float, ...]) -> None:
    with pytest.raises(Several, match=r"do not show one person: of \d .* search with one of them"):
        agree([shown(f"photo{place}", one) for place, one in enumerate(photos)], LEAST)


def test_two_people_in_all_photos_need_one_more() -> None:
    both = [shown("a", 0, 90), shown("b", 95, 5)]
    with pytest.raises(Several, match="two people together in 2 of 2: give one more photo"):
        agree(both, LEAST)
    found = agree([*both, shown("c", 92)], LEAST)
    assert found.taken == (("a", 2, 2), ("b", 1, 2), ("c", 1, 1))


def test_one_photo_of_several_says_nobody() -> None:
    assert agree([shown("a", 0)], LEAST).asked.id == "a#0"
    with pytest.raises(Several, match="no other photo says who is meant"):
        agree([shown("a", 0, 90)], LEAST)


def test_where_people_cannot_be_told_no_photo_is_left_out() -> None:
    found = agree([shown("a", 0), shown("b", 170, 10), shown("c", 120)], None)
    assert found.taken == (("a", 1, 1), ("b", 2, 2), ("c", 1, 1))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(-8, 8), min_size=2, max_size=7),
    st.lists(st.lists(st.sampled_from([70.0, 150.0, 230.0, 290.0]), max_size=3, unique=True), max_size=7),
    st.randoms(use_true_random=False),
)
def test_a_person_is_found_among_bystanders_in_any_order(mine, others, random) -> None:  # type: ignore[no-untyped-def]
    others += [[] for _ in mine]
    beside = [*others[: len(mine) - 1], []]  # alone in one photo at least
    photos = []
    for place, (own, rest) in enumerate(zip(mine, beside, strict=True)):
        faces = [own, *rest]
        random.shuffle(faces)
        photos.append((shown(str(place), *faces), faces.index(own) + 1))
    random.shuffle(photos)
    found = agree([one for one, _ in photos], LEAST)
    assert [face for _, face, _ in found.taken] == [face for _, face in photos]


# Drawn photos, through the command line.


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Photos of two people, one of nobody, and a gallery of others."""
    folder = tmp_path_factory.mktemp("together")
    for number, person in enumerate((0, 0, 0, 1)):
        media.face(220 + 20 * number, person).save(folder / f"{number}.png")
    media.group_photo(folder, 2)
    media.Image.new("RGB", (200, 200), "white").save(folder / "nobody.png")
    (folder / "album").mkdir()
    for person in range(3):
        media.face(260, person).save(folder / "album" / f"{person}.png")
    add(folder / "g.gallery", [folder / "album"])
    return folder


def test_several_photos_are_one_question(drawn: Path) -> None:
    words = ["find", str(drawn / "g.gallery"), *(str(drawn / f"{one}.png") for one in (0, 1, 2, "nobody"))]
    said = CliRunner().invoke(app, [*words, "--json"], catch_exceptions=False)
    found = json.loads(said.stdout)
    assert found["query"].endswith(" and 2 more")
    assert [Path(one["file"]).name for one in found["asked_with"]] == ["0.png", "1.png", "2.png"]
    [left] = found["left_out"]
    assert (Path(left["file"]).name, left["reason"]) == ("nobody.png", "no face was found in it")
    assert "no face was found in it" in said.stderr
    with Gallery(drawn / "g.gallery") as gallery:
        asked = read_together(gallery, [drawn / "0.png", drawn / "1.png"]).asked
        assert len(asked) == len(asked.pictures) == len(asked.sightings) == 2


def test_photos_that_show_nobody_are_refused(drawn: Path) -> None:
    with Gallery(drawn / "g.gallery") as gallery:
        with pytest.raises(BadInput, match="none of 2 files shows a face to search with"):
            read_together(gallery, [drawn / "nobody.png", drawn / "nobody.png"])
        (drawn / "empty").mkdir()
        with pytest.raises(BadInput, match="empty' holds no photo and no video: give a photo"):
            read_together(gallery, [drawn / "empty"])
        with pytest.raises(BadInput, match="photos have no times"):
            read_together(gallery, [drawn / "0.png", drawn / "1.png"], at=1.0)


def test_of_twenty_faces_one_has_to_be_chosen(drawn: Path) -> None:
    crowd = media.Image.new("RGB", (5 * 240, 4 * 240))
    for number in range(20):
        crowd.paste(media.face(240, number), (number % 5 * 240, number // 5 * 240))
    crowd.save(drawn / "crowd.png")
    words = ["find", str(drawn / "g.gallery"), str(drawn / "crowd.png")]
    with pytest.raises(Several, match=r"several people: choose one with --face \(1 to 20"):
        CliRunner().invoke(app, words, catch_exceptions=False)
    found = CliRunner().invoke(app, [*words, "--face", "20", "--json"], catch_exceptions=False)
    assert json.loads(found.stdout)["answers"]
    with pytest.raises(NotFound, match="no face number 21"):
        CliRunner().invoke(app, [*words, "--face", "21"], catch_exceptions=False)
