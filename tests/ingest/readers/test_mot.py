"""Tracks in the MOT format: one set for each track, in the order of the frames, bad lines are refused."""

import logging

import numpy as np
import pytest

from lookalike.errors import BadInput, NotFound
from lookalike.ingest.readers.lists import is_mot, read_mot

# As a tracker writes it, by frame; track 2 comes first, and frame 10 before frame 9 in the text.
LINES = [
    "1,2,912,484.5,97,109,1,-1,-1,-1",
    "10,10,1338,418,167,379,0.98,-1,-1,-1",
    "9,10,1337.123456,418,167,379,0.97,-1,-1,-1",
    "10,2,586,447,85,263,-1,-1,-1,-1",
]
FACES = np.array([[0.0, 1.0], [10.0, 11.0], [20.0, 21.0], [30.0, 31.0]])


@pytest.fixture
def path(tmp_path):
    return tmp_path / "MOT17-02.txt"


def read(path, lines, end="\n", encoding="utf-8", faces=FACES, **options):
    path.write_bytes((end.join(lines) + end).encode(encoding))
    np.save(path.with_name("f.npy"), faces)
    return list(read_mot(path, path.with_name("f.npy"), **options))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_tracks_are_sets(path, end, encoding):
    two, ten = read(path, LINES, end, encoding)
    assert is_mot(path.read_bytes()[:4096])
    assert (two.id, ten.id) == ("MOT17-02/2", "MOT17-02/10")
    assert two.sources == ("frame 1 [912,484.5,97,109]", "frame 10 [586,447,85,263]")
    assert ten.sources == ("frame 9 [1337.123456,418,167,379]", "frame 10 [1338,418,167,379]")
    assert two.faces.tolist() == FACES[[0, 3]].tolist()
    assert ten.faces.tolist() == FACES[[2, 1]].tolist()
    assert (two.origin, two.array) == (str(path), "features")


@pytest.mark.parametrize(
    "change",
    [
        lambda line: ",".join(line.split(",")[:7]),
        lambda line: ",".join(line.split(",")[:9]),  # ground truth: class and visibility
        lambda line: line.replace(",", ", "),
        lambda line: line.replace(",", ".0,", 1),  # written as a float
        lambda line: line.removesuffix("-1,-1,-1") + ",,",
    ],
)
def test_other_ways_to_write_it(path, change):
    two, ten = read(path, [change(line) for line in LINES])
    assert two.faces.tolist() == FACES[[0, 3]].tolist()
    assert ten.sources[0] == "frame 9 [1337.123456,418,167,379]"


def test_lines_with_nothing_in_them_have_no_features(path):
    two, _ = read(path, [LINES[0], "", *LINES[1:], "  ", ""])
    assert two.faces.tolist() == FACES[[0, 3]].tolist()


def test_lines_that_ground_truth_says_to_ignore(path, caplog):
    """They have a row of features all the same, which is not used."""
    with caplog.at_level(logging.INFO):
        two, ten = read(path, [LINES[0], LINES[1].replace("0.98", "0"), *LINES[2:]])
    assert two.faces.tolist() == FACES[[0, 3]].tolist()
    assert ten.faces.tolist() == FACES[[2]].tolist()
    assert "2 tracks; 1 lines with conf 0 were left out" in caplog.text


def test_most(path):
    lines = [f"{frame},5,0,0,1,1,1,-1,-1,-1" for frame in (4, 3, 2, 1)]
    [found] = read(path, lines, most=2)
    assert found.sources == ("frame 1 [0,0,1,1]", "frame 4 [0,0,1,1]")
    assert found.faces.tolist() == FACES[[3, 0]].tolist()


def test_tracks_come_in_the_order_of_their_numbers(path):
    lines = [f"1,{track},0,0,1,1,1" for track in (10, 9, 100, 1)]
    assert [one.id[9:] for one in read(path, lines)] == ["1", "9", "10", "100"]


def test_track_nought_is_a_track(path):
    assert [one.id for one in read(path, ["1,0,1,1,1,1,1"], faces=FACES[:1])] == ["MOT17-02/0"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "3,-1,1,2,3,4,0.5,-1,-1,-1",
            "id -1 in line 5, which stands for a detection that belongs to no track",
        ),
        ("0,7,1,2,3,4,1,-1,-1,-1", "frame 0 in line 5: frames count from 1"),
        ("-3,7,1,2,3,4,1,-1,-1,-1", "frame -3 in line 5"),
        ("3,7,1,2,3,4", "has 6 values in line 5: write 7 to 10, frame,id,bb_left"),
        ("3,7,1,2,3,4,1,-1,-1,-1,0.5", "has 11 values in line 5"),
        ("3.5,7,1,2,3,4,1", "has '3.5' for frame in line 5: write a whole number"),
        ("3,seven,1,2,3,4,1", "has 'seven' for id in line 5: write a whole number"),
        ("3,7,nan,2,3,4,1", "has 'nan' for bb_left in line 5: write a finite number"),
        ("3,7,1,2,inf,4,1", "has 'inf' for bb_width in line 5"),
        ("3,7,1,2,1_0,4,1", "has '1_0' for bb_width in line 5"),
        ("3,7,1,2,3,,1", "has '' for bb_height in line 5"),
        ("3,7,1,2,3,4,sure", "has 'sure' for conf in line 5"),
        ("9,10,1,2,3,4,1", "track 10 twice in frame 9, in lines 3 and 5: take one out"),
        ("3 7 1 2 3 4 1", "has 1 values in line 5"),
    ],
)
def test_refused(path, line, said):
    with pytest.raises(BadInput, match=said) as caught:
        read(path, [*LINES, line])
    assert str(caught.value).startswith(repr(str(path)))


def test_a_track_may_be_twice_in_a_frame_that_is_ignored(path):
    faces = np.concatenate([FACES, [[40.0, 41.0]]])
    assert len(read(path, [*LINES, "9,10,1,2,3,4,0"], faces=faces)) == 2


def test_nothing_but_what_is_to_be_ignored(path):
    with pytest.raises(BadInput, match="has no track: all its 1 lines have conf 0"):
        read(path, ["1,1,1,1,1,1,0"])


def test_not_text(path):
    with pytest.raises(BadInput, match="not text in UTF-8"):
        read(path, [*LINES, "é"], encoding="latin-1")


def test_features_for_another_file(path):
    with pytest.raises(BadInput, match=r"f\.npy' has 3 rows in its array, but .*02\.txt' lists 4 faces"):
        read(path, LINES, faces=FACES[:3])


def test_nothing_there(path):
    with pytest.raises(NotFound, match="MOT17"):
        read_mot(path, path)


@pytest.mark.parametrize(
    "start",
    [b"", b"1,2,3,4,5\n", b"frame,id,bb_left,bb_top,bb_width,bb_height,conf\n", b"a b c\n", b"\xff,,,,,,,\n"],
)
def test_what_is_not_in_the_format(start):
    assert not is_mot(start)
