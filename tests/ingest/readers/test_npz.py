"""Files of arrays: how rows become sets, which array is chosen, and everything that is refused."""

import os

import numpy as np
import pytest

from lookalike.errors import BadInput, NotFound
from lookalike.ingest.readers.npz import read_npz

# Four faces in two sets, rows scattered: set a is rows 1 and 3, set b is rows 0 and 2.
IMAGES = np.arange(4 * 6 * 5, dtype=np.uint8).reshape(4, 6, 5)
FACES = np.array([[0.0, 1.0, 2.0], [10.0, 11.0, 12.0], [20.0, 21.0, 22.0], [30.0, 31.0, 32.0]])
GOOD = {"images": IMAGES, "image_set": np.array([1, 0, 1, 0]), "set_names": np.array(["a", "b"])}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "faces.npz"


def save(path, without=(), **changes):
    np.savez(path, **{name: array for name, array in (GOOD | changes).items() if name not in without})
    return path


def damage(path, text: bytes):
    """Change a byte of the data of the member that holds this text, so that its checksum is wrong."""
    content = bytearray(path.read_bytes())
    content[content.index(text)] ^= 1
    path.write_bytes(content)


def test_rows_may_be_scattered(path):
    a, b = read_npz(save(path))
    assert (a.id, b.id) == ("a", "b")
    assert (a.sources, b.sources) == (("faces.npz#1", "faces.npz#3"), ("faces.npz#0", "faces.npz#2"))
    assert a.origin == str(path)
    assert a.faces is None
    np.testing.assert_array_equal(a.pictures, IMAGES[[1, 3]])
    np.testing.assert_array_equal(b.pictures, IMAGES[[0, 2]])


def test_colour(path):
    colour = np.random.default_rng(0).integers(0, 256, (4, 6, 5, 3), dtype=np.uint8)
    a, _ = read_npz(save(path, images=colour), array="images")
    np.testing.assert_array_equal(a.pictures, colour[[1, 3]])


def test_image_names_are_sources(path):
    names = np.array(["p", "q", "r", "ü"])
    a, b = read_npz(save(path, image_names=names))
    assert (a.sources, b.sources) == (("q", "ü"), ("p", "r"))


@pytest.mark.parametrize("names", [np.array(["p", "q"]), np.arange(4), np.array([["p"] * 4])])
def test_image_names_that_do_not_fit_are_not_used(path, names):
    a, _ = read_npz(save(path, image_names=names))
    assert a.sources == ("faces.npz#1", "faces.npz#3")


@pytest.mark.parametrize("kind", ["float64", "float32", ">f4", "float16"])
def test_chosen_descriptors_bring_their_pictures(path, kind):
    a, b = read_npz(save(path, embeddings=FACES.astype(kind)), array="embeddings")
    assert a.faces.dtype == np.float32
    np.testing.assert_array_equal(a.faces, FACES[[1, 3]])
    np.testing.assert_array_equal(b.faces, FACES[[0, 2]])
    np.testing.assert_array_equal(b.pictures, IMAGES[[0, 2]])


def test_images_come_first_unless_an_array_is_chosen(path):
    a, _ = read_npz(save(path, embeddings=FACES))
    assert a.faces is None


def test_the_only_descriptors_need_not_be_named(path):
    a, _ = read_npz(
        save(path, without=["images"], embeddings=FACES, quality=np.ones(4), other=np.ones((3, 2)))
    )
    np.testing.assert_array_equal(a.faces, FACES[[1, 3]])
    assert a.pictures == ()


@pytest.mark.parametrize("images", [np.zeros((4, 6, 5)), np.zeros((3, 6, 5), np.uint8), np.array([{}] * 4)])
def test_unusable_pictures_do_not_spoil_descriptors(path, images):
    a, _ = read_npz(save(path, images=images, embeddings=FACES), array="embeddings")
    assert a.pictures == ()
    assert len(a.faces) == 2


def test_two_candidates_must_be_chosen_from(path):
    save(path, without=["images"], first=FACES, second=FACES)
    with pytest.raises(BadInput, match=r"faces\.npz.*no array 'images': choose the array: first, second"):
        read_npz(path)


def test_no_candidate(path):
    save(path, without=["images"], quality=np.ones(4))
    with pytest.raises(BadInput, match="it has image_set, set_names, quality"):
        read_npz(path)


class Bomb:
    """Whoever unpickles it fails the test."""

    def __reduce__(self):
        return (pytest.fail, ("a label was unpickled",))


def test_people_are_never_read(path):
    bomb = np.array([Bomb(), Bomb()], dtype=object)
    a, _ = read_npz(save(path, set_person=bomb, person_names=bomb))
    assert len(a) == 2
    # Neither as candidates, when every other array is looked at.
    a, _ = read_npz(save(path, without=["images"], e=FACES, set_person=bomb, person_names=bomb))
    assert len(a) == 2
    for label in ("set_person", "person_names"):
        with pytest.raises(BadInput, match=f"no faces in '{label}': choose the array: images"):
            read_npz(save(path, set_person=bomb, person_names=bomb), array=label)


def test_damaged_people_do_not_matter(path):
    save(path, set_person=np.array([0x5A5A5A5A5A5A, 1]), person_names=np.array(["Mallory", "Trent"]))
    damage(path, b"ZZZZZZ")
    damage(path, "Mallory".encode("utf-32-le"))
    with np.load(path) as data, pytest.raises(Exception, match="CRC"):
        _ = data["set_person"]
    assert len(list(read_npz(path))) == 2


def test_damaged_pictures_are_refused_at_once(path):
    save(path)
    damage(path, IMAGES[2].tobytes())
    with pytest.raises(BadInput, match=r"faces\.npz.*'images' cannot be read"):
        read_npz(path)


@pytest.mark.parametrize("name", ["image_set", "set_names"])
def test_missing_arrays(path, name):
    with pytest.raises(BadInput, match=f"no array '{name}'"):
        read_npz(save(path, without=[name]))


OBJECTS = np.array([0, "a", None, 1], dtype=object)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"image_set": np.array([1, 0, 2, 0])},
            "2 in row 2 of 'image_set', but 2 sets: numbers go from 0 to 1",
        ),
        ({"image_set": np.array([1, 0, -1, 0])}, "-1 in row 2"),
        ({"image_set": np.array([1, 0, 2**63, 0], dtype=np.uint64)}, "9223372036854775808 in row 2"),
        ({"image_set": np.array([1.0, 0, 1, 0])}, "whole number.*float64"),
        ({"image_set": np.array([True, False, True, False])}, "whole number.*bool"),
        ({"image_set": np.array([[1, 0, 1, 0]])}, r"shape \(1, 4\)"),
        ({"image_set": np.array(1)}, r"shape \(\)"),
        ({"image_set": np.array([], dtype=int)}, "no faces or no sets"),
        ({"image_set": np.array([0, 0, 0, 0])}, "set 'b' has no faces: leave"),
        ({"image_set": np.array([1, 0, 1])}, r"'images'.*for 3 rows"),
        ({"image_set": OBJECTS}, "Python objects in 'image_set'"),
        ({"set_names": np.array(["a", "a"])}, "two sets called 'a'"),
        ({"set_names": np.array(["a", ""])}, "non-empty"),
        ({"set_names": np.array(["a", "b\n"])}, "control characters"),
        ({"set_names": np.array(["a", "x" * 2000])}, "1024 characters"),
        ({"set_names": np.array(["a", "b", "c"])}, "set 'c' has no faces"),
        ({"set_names": np.array(["a", "b", "c", "d"])}, "nor have 1 others"),
        ({"set_names": np.array([b"a", b"b"])}, "one text per set"),
        ({"set_names": np.array([["a", "b"]])}, r"shape \(1, 2\)"),
        ({"set_names": np.array([], dtype=str)}, "no faces or no sets"),
        ({"set_names": OBJECTS}, "Python objects in 'set_names'"),
        ({"set_names": np.array([0xFFFFFFFF, 98], dtype="<u4").view("<U1")}, "not Unicode"),
        ({"set_names": np.array([0xD800, 98], dtype="<u4").view("<U1")}, "not Unicode"),
        ({"image_names": np.array([0xD800, 1, 2, 3], dtype="<u4").view("<U1")}, "'image_names'.*not Unicode"),
        ({"images": IMAGES.astype(float)}, "float64.*pictures, uint8"),
        ({"images": IMAGES[:3]}, r"shape \(3, 6, 5\)"),
        ({"images": IMAGES[:, :0]}, r"shape \(4, 0, 5\)"),
        ({"images": IMAGES[..., None]}, r"shape \(4, 6, 5, 1\)"),
        ({"images": np.array([{}] * 4)}, "Python objects in 'images'"),
    ],
)
def test_refused_files(path, changes, sentence):
    with pytest.raises(BadInput, match=rf"faces\.npz.*{sentence}"):
        read_npz(save(path, **changes))


@pytest.mark.parametrize(
    ("faces", "sentence"),
    [
        (np.where(FACES == 21, np.nan, FACES), "face 2 of 'e' has a NaN"),
        (np.where(FACES == 21, np.inf, FACES), "infinite"),
        (np.where(FACES == 21, 1e60, FACES), "infinite"),
        (FACES * [[1], [0], [1], [0]], "faces 1, 3 of 'e' have all numbers equal"),
        (FACES[:, :1], "at least 2 numbers"),
        (FACES[:, :0], "at least 2 numbers"),
        (FACES[:3], r"float64 with shape \(3, 3\)"),
        (FACES.astype(int), "descriptors, floats"),
        (FACES[0], r"shape \(3,\)"),
    ],
)
def test_refused_descriptors(path, faces, sentence):
    with pytest.raises(BadInput, match=rf"faces\.npz.*{sentence}"):
        read_npz(save(path, e=faces), array="e")


def test_unknown_array(path):
    with pytest.raises(BadInput, match="no array 'gist': it has images, image_set, set_names"):
        read_npz(save(path), array="gist")


def test_missing_and_broken_files(path):
    with pytest.raises(NotFound, match=r"faces\.npz"):
        read_npz(path)
    save(path)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(BadInput, match=r"faces\.npz.*not a whole"):
        read_npz(path)


def test_sets_do_not_share_memory(path):
    a, b = read_npz(save(path))
    a.pictures[0][:] = 0
    np.testing.assert_array_equal(b.pictures, IMAGES[[0, 2]])


def test_file_name_that_is_not_utf8(path, tmp_path):
    odd = tmp_path / os.fsdecode(b"caf\xe9.npz")
    os.rename(save(path), odd)
    a, _ = read_npz(odd)
    assert a.sources[0] == r"caf\xe9.npz#1"
    a.origin.encode("utf-8")
