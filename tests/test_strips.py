"""Strips of faces as HTML: what they show, and that a name is never more than a name."""

from __future__ import annotations

import base64
import io
import re

import pytest
from PIL import Image

from lookalike.faceset import check_id
from lookalike.ranking import FACES, Strip, data_address, faces, spread, table
from tests.hostile_names import NAMES, Tags


def picture(kind: str = "PNG", shade: int = 0) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (4, 4), (shade, 0, 0)).save(file, kind)
    return file.getvalue()


PICTURE = picture()


def drawn(name: str = "name", word: str = "word", pictures: tuple[bytes, ...] = (PICTURE,)) -> str:
    strips = [Strip(name, ("1", word), pictures), Strip(name, ("2", word), line=True)]
    return table(word, ["rank", word], strips, [word])


def test_a_row_has_words_name_and_faces() -> None:
    read = Tags(drawn("clip-1", "sure"))
    assert [attributes for tag, attributes in read.tags if tag == "img"] == [("src", "alt", "style")]
    [address] = read.addresses
    assert base64.b64decode(address.removeprefix("data:image/png;base64,")) == PICTURE
    assert read.text == "sureranksetsurefaces1clip-1sure2clip-1suresure"
    assert 'alt="face of clip-1"' in drawn("clip-1")


def test_without_pictures_it_is_a_table() -> None:
    for pictures in ((), (b"<svg onload=alert(1)>",)):
        read = Tags(drawn(pictures=pictures))
        assert not read.addresses
        assert "faces" not in read.text
        assert [tag for tag, _ in read.tags].count("tr") == 3


def test_a_line_is_drawn_where_one_is_asked_for() -> None:
    first, second = re.findall(r"<tr>.*?</tr>", drawn().partition("<tbody>")[2])
    assert "double" not in first
    assert second.count("double") == second.count("style=") == 4


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_pictures_say_what_they_are(kind: str) -> None:
    address = data_address(picture(kind))
    assert address
    assert address.startswith(f"data:image/{kind.lower()};base64,")


@pytest.mark.parametrize(
    "other", [b"", b"<svg/>", b"RIFF1234WAVE", b"\x89PNG", picture("GIF"), b'"><script>alert(1)</script>']
)
def test_other_bytes_are_no_picture(other: bytes) -> None:
    assert data_address(other) is None
    assert faces(Strip("a", (), (other, other))) == ""


@pytest.mark.parametrize(
    ("there", "kept"),
    [(0, []), (1, [0]), (3, [0, 1, 2]), (6, [0, 1, 2, 3, 4, 5]), (60, [0, 10, 20, 30, 40, 50])],
)
def test_faces_are_spread_over_the_set(there: int, kept: list[int]) -> None:
    pictures = [bytes([number]) for number in range(there)]
    assert spread(pictures, FACES) == [pictures[number] for number in kept]


def test_there_are_two_hundred_names_that_a_set_may_have() -> None:
    assert len(set(NAMES)) >= 200
    for name in NAMES:
        if name.strip():
            check_id(name)


def test_a_name_is_only_a_name() -> None:
    plain = Tags(drawn())
    for name in NAMES:
        read = Tags(drawn(name, name))
        assert read.tags == plain.tags, name
        assert read.addresses == plain.addresses, name
        # Seven times as text; the eighth is the description of the picture.
        assert read.text.count(name) >= 7, name
        assert read.text.replace(name, "") == plain.text.replace("name", "").replace("word", ""), name


def test_nothing_is_run_loaded_or_styled_elsewhere() -> None:
    text = drawn()
    assert not re.search(r"<(script|style|link)|https?:|url\(|@import", text)
    # On a dark page and on a light one: no colour but gray and that of the page.
    assert set(re.findall(r"(?:color|background)[\w-]*:([^;\"]+)", text)) <= {"inherit", "collapse"}
    # What stands between dollars stays as it is.
    assert text.startswith('<div class="tex2jax_ignore mathjax_ignore">')
