"""Labeled Faces in the Wild in miniature: a folder for each person is a set, and nothing else is."""

import logging

import numpy as np
import pytest
from PIL import Image

from lookalike.ingest.sources import read_source

# Numbers of pictures by folder; real names have hyphens, and others could have dots or other letters.
PEOPLE = {
    "Aaron_Eckhart": [1],
    "Al-Farouq_Abdulla": [1, 2],
    "George_W_Bush": [1, 2, 9, 10, 20, 100, 530],
    "J.K._Rowling": [1],
    "Zoë_日本": [1, 2],
}


@pytest.fixture
def lfw(tmp_path):
    root = tmp_path / "lfw"
    for name, numbers in PEOPLE.items():
        (root / name).mkdir(parents=True)
        for number in reversed(numbers):
            # 250 x 250 as in the original; the number of the picture can be read off its pixels.
            picture = np.full((250, 250, 3), number % 256, dtype=np.uint8)
            Image.fromarray(picture).save(root / name / f"{name}_{number:04d}.jpg")
    (root / "pairs.txt").write_text("10\t300\nAaron_Eckhart\t1\t1\n")
    (root / "lfw-names.txt").write_text(
        "".join(f"{name}\t{len(numbers)}\n" for name, numbers in PEOPLE.items())
    )
    (root / "README.txt").write_text("Labeled Faces in the Wild")
    return root


def test_a_folder_is_a_set(lfw, caplog):
    with caplog.at_level(logging.INFO):
        found = list(read_source(lfw))
    assert [one.id for one in found] == list(PEOPLE)
    assert "3 files that are no pictures were ignored" in caplog.text
    for one in found:
        numbers = PEOPLE[one.id]
        assert one.sources == tuple(f"{one.id}/{one.id}_{number:04d}.jpg" for number in numbers)
        assert [picture.shape for picture in one.pictures] == [(250, 250, 3)] * len(numbers)
        # JPEG may be off by a little.
        seen = [int(picture[0, 0, 0]) for picture in one.pictures]
        np.testing.assert_allclose(seen, [number % 256 for number in numbers], atol=2)
        assert one.origin == str(lfw / one.id)


def test_9_comes_before_10_without_the_noughts(lfw):
    folder = lfw / "Aaron_Eckhart"
    for number in (9, 10):
        Image.fromarray(np.zeros((8, 8), np.uint8)).save(folder / f"Aaron_Eckhart_{number}.jpg")
    found = next(read_source(lfw))
    assert [source.rsplit("_", 1)[1] for source in found.sources] == ["0001.jpg", "9.jpg", "10.jpg"]


def test_only_the_pictures_that_are_kept_are_opened(lfw):
    (lfw / "George_W_Bush" / "George_W_Bush_0009.jpg").write_bytes(b"broken")
    found = {one.id: one for one in read_source(lfw, most=3)}
    assert [source[-8:-4] for source in found["George_W_Bush"].sources] == ["0001", "0010", "0530"]
    assert len(found["J.K._Rowling"]) == 1


def test_one_person_is_a_set_of_the_same_name(lfw):
    [found] = read_source(lfw / "J.K._Rowling")
    assert found.id == "J.K._Rowling"
