"""Sources: what a path holds is recognised by content."""

import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image
from scipy.io import savemat

from lookalike.errors import BadInput, NotFound
from lookalike.ingest.sources import array_names, read_source
from lookalike.ingest.sourceset import SourceSet


@pytest.fixture
def picture():
    return np.arange(48, dtype=np.uint8).reshape(8, 6)


def test_folder(tmp_path, picture):
    (tmp_path / "a").mkdir()
    Image.fromarray(picture).save(tmp_path / "a" / "1.png")
    [found] = read_source(tmp_path)
    assert isinstance(found, SourceSet)
    assert (found.id, found.sources) == ("a", ("a/1.png",))


def test_npz_under_another_name(tmp_path, picture):
    np.savez(tmp_path / "x.npz", images=picture[None], image_set=[0], set_names=["a"])
    os.rename(tmp_path / "x.npz", tmp_path / "x.jpg")
    [found] = read_source(tmp_path / "x.jpg")
    np.testing.assert_array_equal(found.pictures[0], picture)


def test_npz_with_a_chosen_array(tmp_path, picture):
    np.savez(tmp_path / "x.npz", e=[[1.0, 2.0]], f=[[3.0, 4.0]], image_set=[0], set_names=["a"])
    [found] = read_source(tmp_path / "x.npz", array="f")
    assert found.faces.tolist() == [[3, 4]]


def test_one_picture_is_a_set_of_one(tmp_path, picture):
    Image.fromarray(picture).save(tmp_path / "query.png")
    [found] = read_source(str(tmp_path / "query.png"))
    assert (found.id, found.sources, found.origin) == (
        "query.png",
        ("query.png",),
        str(tmp_path / "query.png"),
    )
    np.testing.assert_array_equal(found.pictures[0], picture)


def test_a_damaged_picture_is_refused_at_once(tmp_path):
    (tmp_path / "query.png").write_bytes(b"\x89PNG\r\n\x1a\n and no more")
    with pytest.raises(BadInput, match=r"query\.png"):
        read_source(tmp_path / "query.png")


@pytest.mark.parametrize("content", [b"", b"hello", b"\x93NUMPY\x01\x00", bytes(64)])
def test_unknown(tmp_path, content):
    (tmp_path / "x.npz").write_bytes(content)
    with pytest.raises(BadInput, match=r"x\.npz.*folder of photos and videos.*JPEG.*\.npz file"):
        read_source(tmp_path / "x.npz")


def test_nothing_there(tmp_path):
    with pytest.raises(NotFound, match="no file or folder"):
        read_source(tmp_path / "missing")
    with pytest.raises(NotFound):
        read_source(tmp_path / "missing" / "deeper")


def test_pipes_are_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BadInput, match="neither a file nor a folder"):
        read_source(tmp_path / "pipe")


def test_array_where_there_are_none(tmp_path, picture):
    Image.fromarray(picture).save(tmp_path / "1.png")
    for path in (tmp_path, tmp_path / "1.png"):
        with pytest.raises(BadInput, match="no array 'embeddings'"):
            read_source(path, array="embeddings")


def test_file_that_may_not_be_read(tmp_path, monkeypatch):
    (tmp_path / "x").write_bytes(b"x")

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.open", refuse)
    with pytest.raises(BadInput, match="may not be read"):
        read_source(tmp_path / "x")


def test_name_that_is_not_utf8(tmp_path, picture):
    path = tmp_path / os.fsdecode(b"caf\xe9.png")
    Image.fromarray(picture).save(tmp_path / "x.png")
    os.rename(tmp_path / "x.png", path)
    [found] = read_source(path)
    assert found.id == r"caf\xe9.png"
    assert found.origin.encode("utf-8")


# Every kind of source, each under a name that says nothing: content decides.

FACES = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


def npz_file(path):
    with path.open("wb") as stream:
        np.savez(stream, e=FACES, image_set=[0, 0, 0], set_names=["s"])


def parquet_file(path):
    pq.write_table(pa.table({"set_id": ["s"] * 3, "e": FACES.tolist()}), path)


def ijb_file(path):
    path.write_text("TEMPLATE_ID,SUBJECT_ID,FILENAME\n" + "".join(f"s,9,{name}.png\n" for name in "abc"))


def meta_file(path):
    path.write_text("".join(f"{name}.jpg 7 1\n" for name in "abc"))


def mot_file(path):
    path.write_text("".join(f"{frame},7,1,2,3,4,1,-1,-1,-1\n" for frame in (1, 2, 3)))


def picture_folder(path):
    path.mkdir()
    for name in "abc":
        Image.fromarray(np.arange(48, dtype=np.uint8).reshape(8, 6)).save(path / f"{name}.png")


def youtube_folder(path):
    folder = path / "descriptors_DB" / "Aaron_Eckhart"
    folder.mkdir(parents=True)
    files = np.array([f"Aaron_Eckhart/0/0.{frame}.jpg" for frame in range(3)], dtype=object)
    for variant, more in (("aligned_video", 0), ("video", 10)):
        # One column for each frame, as long as the real ones are.
        lbp, cslbp = (np.arange(length)[:, None] + [0, 5, 9] + more for length in (1770, 480))
        columns = {"VID_DESCS_LBP": lbp.astype(float), "VID_DESCS_CSLBP": cslbp.astype(float)}
        savemat(folder / f"{variant}_0.mat", {**columns, "VID_DESCS_FILENAMES": files})


LISTS = {"ijb": (ijb_file, "s"), "insightface": (meta_file, "7"), "mot": (mot_file, "x/7")}
ARRAYS = {"npz": (npz_file, "s", "e"), "parquet": (parquet_file, "s", "e")}


@pytest.fixture
def features(tmp_path):
    np.save(tmp_path / "features.npy", FACES)
    return tmp_path / "features.npy"


@pytest.mark.parametrize("kind", LISTS)
def test_lists_with_features(tmp_path, features, kind):
    write, id = LISTS[kind]
    write(tmp_path / "x.jpg")
    [found] = read_source(tmp_path / "x.jpg", features=features)
    assert (found.id, found.faces.tolist(), found.array) == (id, FACES.tolist(), "features")
    assert len(found.sources) == 3
    [found] = read_source(tmp_path / "x.jpg", features=str(features), most=2)
    assert found.faces.tolist() == FACES[[0, 2]].tolist()
    assert array_names(tmp_path / "x.jpg", features) == ["features"]
    assert array_names(tmp_path / "x.jpg") == []
    with pytest.raises(BadInput, match=r"x\.jpg' lists faces but does not describe them.*--features FILE"):
        read_source(tmp_path / "x.jpg")


@pytest.mark.parametrize("kind", ARRAYS)
def test_files_with_arrays(tmp_path, features, kind):
    write, id, array = ARRAYS[kind]
    write(tmp_path / "x.jpg")
    for asked in (array, None):
        [found] = read_source(tmp_path / "x.jpg", asked, most=2)
        assert (found.id, found.faces.tolist(), found.array) == (id, FACES[[0, 2]].tolist(), array)
    assert array in array_names(tmp_path / "x.jpg")
    with pytest.raises(
        BadInput, match=r"x\.jpg' needs no features, but .*features\.npy' is given: leave it out"
    ):
        read_source(tmp_path / "x.jpg", features=features)


def test_youtube_faces(tmp_path):
    youtube_folder(tmp_path / "ytf")
    [found] = read_source(tmp_path / "ytf")
    assert (found.id, found.array) == ("Aaron_Eckhart/0", "aligned_video/VID_DESCS_LBP")
    assert (found.faces.shape, found.faces[:, 7].tolist()) == ((3, 1770), [7, 12, 16])
    [found] = read_source(tmp_path / "ytf", "video/VID_DESCS_CSLBP", most=2)
    assert (found.faces.shape, found.faces[:, 7].tolist()) == ((2, 480), [17, 26])
    assert "video/VID_DESCS_CSLBP" in array_names(tmp_path / "ytf")
    with pytest.raises(BadInput, match="needs no features"):
        read_source(tmp_path / "ytf", features=tmp_path / "x.npy")


def test_pictures_have_neither_arrays_nor_features(tmp_path, features):
    picture_folder(tmp_path / "album")
    for path in (tmp_path / "album", tmp_path / "album" / "a.png"):
        assert array_names(path) == []
        with pytest.raises(BadInput, match="needs no features"):
            read_source(path, features=features)
    [found] = read_source(tmp_path / "album", most=2)
    assert found.sources == ("a.png", "c.png")
    assert len(list(read_source(tmp_path / "album" / "a.png", most=1))) == 1


def test_an_array_of_the_features_file(tmp_path):
    ijb_file(tmp_path / "x.csv")
    np.savez(tmp_path / "f.npz", e=FACES, f=FACES + 1)
    [found] = read_source(tmp_path / "x.csv", "f", tmp_path / "f.npz")
    assert (found.array, found.faces.tolist()) == ("f", (FACES + 1).tolist())
    assert array_names(tmp_path / "x.csv", tmp_path / "f.npz") == ["e", "f"]
    with pytest.raises(NotFound, match=r"g\.npz"):
        read_source(tmp_path / "x.csv", features=tmp_path / "g.npz")


def test_names_of_arrays_of_what_cannot_be_read(tmp_path):
    (tmp_path / "cut.parquet").write_bytes(b"PAR1")
    (tmp_path / "cut.npz").write_bytes(b"PK\x03\x04")
    for name in ("cut.parquet", "cut.npz", "missing"):
        assert array_names(tmp_path / name) == []


@pytest.mark.parametrize("most", [0, -1, 2.5, "2", True])
def test_most_is_checked_before_anything_is_looked_at(tmp_path, most):
    with pytest.raises(BadInput, match="a whole number from 1 up"):
        read_source(tmp_path / "missing", most=most)


def test_all_kinds_are_told_when_nothing_fits(tmp_path):
    (tmp_path / "x.csv").write_text("video,person\na,b\n")
    with pytest.raises(BadInput, match=r"a Parquet file, .*\(csv with set_id, IJB, MOT, COCO, RTTM"):
        read_source(tmp_path / "x.csv")
