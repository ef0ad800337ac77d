"""IJB-B and IJB-C in miniature: templates become sets, people are not read, bad lists are refused."""

import io
from pathlib import Path

import numpy as np
import pytest

from lookalike.errors import BadInput, NotFound
from lookalike.ingest.readers.lists import MOST_CHARACTERS, is_ijb, read_ijb, short_lines

# The columns of the real file, of which most say what nobody here may know.
HEADER = "TEMPLATE_ID,SUBJECT_ID,FILENAME,SIGHTING_ID,FACE_X,FACE_Y,FACE_WIDTH,FACE_HEIGHT,GENDER,SKINTONE"
ROWS = [
    "1,1047,img/57910.png,1,262,165,132,132,0,2",
    "1,1047,frames/10042_00240.png,2,13,44,50,61,0,2",
    "12,3,img/9.jpg,3,1,2,3,4,1,1",
    "1,1047,frames/10042_00300.png,2,13,44,50,61,0,2",
]
FACES = np.array([[0.0, 1.0], [10.0, 11.0], [20.0, 21.0], [30.0, 31.0]])


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ijbc_1N_gallery_G1.csv"


def read(path, lines, end="\n", encoding="utf-8", faces=FACES, **options):
    path.write_bytes((end.join(lines) + end).encode(encoding))
    np.save(path.with_name("f.npy"), faces)
    assert is_ijb(path.read_bytes()[:4096])
    return list(read_ijb(path, path.with_name("f.npy"), **options))


def check(found):
    one, twelve = found
    assert (one.id, twelve.id) == ("1", "12")
    assert one.sources == ("img/57910.png", "frames/10042_00240.png", "frames/10042_00300.png")
    assert twelve.sources == ("img/9.jpg",)
    assert one.faces.tolist() == FACES[[0, 1, 3]].tolist()
    assert twelve.faces.tolist() == FACES[[2]].tolist()
    assert one.array == "features"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_templates_are_sets(path, end, encoding):
    found = read(path, [HEADER, *ROWS], end, encoding)
    check(found)
    assert found[0].origin == str(path)


@pytest.mark.parametrize(
    "header", [HEADER.lower(), HEADER.title(), HEADER.replace(",", ", "), HEADER.replace("SUBJECT", "X")]
)
def test_columns_in_any_case_and_without_people(path, header):
    check(read(path, [header, *ROWS]))


def test_columns_in_any_order_and_quoted(path):
    rows = ['"img/57910.png","1"', "frames/10042_00240.png,1", "img/9.jpg,12", "frames/10042_00300.png,1"]
    check(read(path, ['"FILENAME","TEMPLATE_ID"', *rows]))


def test_commas_quotes_and_lines_inside_a_name(path):
    [found] = read(path, [HEADER, '7,1,"img/a, ""b""\nc.png",1,2,3,4,5,6,7'], faces=FACES[:1])
    assert found.sources == ('img/a, "b"\nc.png',)


def test_lines_with_nothing_in_them_have_no_features(path):
    check(read(path, [HEADER, ROWS[0], "", *ROWS[1:], "", ""]))


def test_people_do_not_matter(path):
    """The same list with other people, or with what is not even a person, gives the same sets."""
    check(read(path, [HEADER, *(row.replace(",1047,", ",\0Dorothea,") for row in ROWS)]))


def test_most(path):
    one, twelve = read(path, [HEADER, *ROWS], most=2)
    assert one.sources == ("img/57910.png", "frames/10042_00300.png")
    assert len(twelve) == 1


META = ["1.jpg 1 69544", "2.jpg 1 69544", "3.jpg 12 7", "10.jpg 1 69545"]


@pytest.mark.parametrize("end", ["\n", "\r\n", " \n"])
def test_the_list_of_insightface(tmp_path, end):
    path = tmp_path / "ijbc_face_tid_mid.txt"
    one, twelve = read(path, [*META, ""], end)
    assert (one.id, one.sources) == ("1", ("1.jpg", "2.jpg", "10.jpg"))
    assert (twelve.id, twelve.sources) == ("12", ("3.jpg",))
    assert one.faces.tolist() == FACES[[0, 1, 3]].tolist()


@pytest.mark.parametrize(
    "start",
    [
        b"",
        b"1 2 1\n",  # pairs of templates
        b"1,11065\n",
        b"1.jpg 30.5 40.2 1 2 3 4 5 6 7 8 0.99\n",  # points and scores
        b"set_id,person\n",
        b"1,-1,2,3,4,5,1,-1,-1,-1\n",
        b"\xff\xfe\x00",
    ],
)
def test_what_is_no_list_of_templates(start):
    assert not is_ijb(start)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (
            ["TEMPLATE_ID,SUBJECT_ID", "1,2"],
            "FILENAME once each, it has TEMPLATE_ID, SUBJECT_ID$",
        ),
        (["TEMPLATE_ID,template_id,FILENAME", "1,2,x"], "once each"),
        ([HEADER], "lists no faces"),
        (
            [HEADER, ROWS[0], "1,1047,img/1.png"],
            "3 values in line 3 but 10 columns: quote what holds a comma",
        ),
        ([HEADER, ROWS[0] + ",x"], "has 11 values in line 2 but 10 columns"),
        ([HEADER, ROWS[0], ROWS[1].replace("1,", " ,", 1)], "template in line 3 without a name: .*non-empty"),
        ([HEADER, ROWS[0].replace("img", '"img')], r"not a csv file in UTF-8 \(unexpected end of data\)"),
        ([META[0], "2.jpg 1"], "has '2.jpg 1' in line 2: write a picture and two whole numbers"),
        ([META[0], "2.jpg one 1"], "has '2.jpg one 1' in line 2"),
    ],
)
def test_refused(path, lines, said):
    with pytest.raises(BadInput, match=said) as caught:
        read(path, lines)
    assert str(caught.value).startswith(repr(str(path)))


def test_not_utf8(path):
    with pytest.raises(BadInput, match=r"not a csv file in UTF-8"):
        read(path, [HEADER, ROWS[0].replace("img", "bé")], encoding="latin-1")


def test_features_for_another_list(path):
    with pytest.raises(BadInput, match=r"f\.npy' has 3 rows in its array, but .*G1\.csv' lists 4 faces"):
        read(path, [HEADER, *ROWS], faces=FACES[:3])


def test_nothing_there(path):
    with pytest.raises(NotFound, match="G1"):
        read_ijb(path, path)


# Lines of a list are read one by one, and a line that never ends is refused.


def test_lines_keep_their_ends():
    text = "a\n\nlast"
    assert list(short_lines(Path("x"), io.StringIO(text))) == ["a\n", "\n", "last"]


def test_a_line_that_is_too_long():
    longest = "x" * (MOST_CHARACTERS - 1) + "\n"
    assert list(short_lines(Path("x"), io.StringIO(longest))) == [longest]
    with pytest.raises(BadInput, match=r"'x' has more than 100,000 characters in line 2: write one line"):
        list(short_lines(Path("x"), io.StringIO("a\n" + "x" + longest)))
