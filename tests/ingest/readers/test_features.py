"""Features: the rows of a second file, joined to a list of faces, and everything that is refused."""

import os

import numpy as np
import pytest

from lookalike.errors import BadInput, NotFound
from lookalike.ingest.readers.lists import feature_names, join_features

FACES = np.array([[0.0, 1.0], [10.0, 11.0], [20.0, 21.0], [30.0, 31.0]])
GROUPS = {"b": [0, 2, 3], "a": [1]}
SOURCES = ["w", "x", "y", "z"]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "feat.npy"


def join(path, array=None, most=None):
    return list(join_features(path.with_name("list.csv"), GROUPS, SOURCES, path, array, most))


def check(found, name):
    b, a = found
    assert (b.id, a.id) == ("b", "a")
    assert (b.sources, a.sources) == (("w", "y", "z"), ("x",))
    assert b.faces.dtype == np.float32
    assert (b.faces.tolist(), a.faces.tolist()) == (FACES[[0, 2, 3]].tolist(), FACES[[1]].tolist())
    assert b.origin.endswith("list.csv")
    assert b.array == name


@pytest.mark.parametrize("kind", ["<f4", ">f8", "<f2"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy(path, kind, order):
    np.save(path, np.asarray(FACES, kind, order=order))
    check(join(path), "features")
    check(join(path, "features"), "features")
    assert feature_names(path) == ["features"]


def test_an_npy_file_is_never_read_whole(path, monkeypatch):
    np.save(path, FACES)
    loaded = []
    plain = np.load

    def load(*given, **options):
        loaded.append(plain(*given, **options))
        return loaded[-1]

    monkeypatch.setattr(np, "load", load)
    check(join(path), "features")
    assert isinstance(loaded[0], np.memmap)


def test_npz(path):
    path = path.with_suffix(".npz")
    np.savez(path, emb=FACES, ids=np.arange(4), names=np.array(SOURCES))
    check(join(path), "emb")
    check(join(path, "emb"), "emb")
    assert feature_names(path) == ["emb", "ids", "names"]


def test_the_content_decides_not_the_name(path):
    np.savez(path.with_suffix(".npz"), emb=FACES)
    os.rename(path.with_suffix(".npz"), path)
    check(join(path), "emb")


def test_several_arrays_must_be_chosen_from(path):
    path = path.with_suffix(".npz")
    np.savez(path, e=FACES, f=FACES + 1)
    assert join(path, "f")[1].faces.tolist() == [[11, 12]]
    with pytest.raises(BadInput, match=r"several arrays of floats \(N, d\): choose the array: e, f$"):
        join(path)
    with pytest.raises(BadInput, match="no array 'g': it has e, f"):
        join(path, "g")


def test_most(path):
    np.save(path, FACES)
    b, a = join(path, most=2)
    assert (b.faces[:, 0].tolist(), b.sources, a.sources) == ([0, 30], ("w", "z"), ("x",))


@pytest.mark.parametrize(
    ("array", "said"),
    [
        (FACES[:3], r"has 3 rows in its array, but .*list\.csv' lists 4 faces: row i must describe face i"),
        (np.empty((0, 2)), "has 0 rows in its array"),
        (FACES.astype(int), r"has shape \(4, 2\) of type int64 in its array: it must be floats \(N, d\)"),
        (FACES[0], r"has shape \(2,\)"),
        (FACES[None], r"has shape \(1, 4, 2\)"),
        (FACES[:, :1], "1 numbers long"),
        (FACES * [[1], [1], [1], [np.nan]], "face 2 of set 'b' has a NaN or infinite number"),
        (FACES * [[1], [0], [1], [1]], "face 0 of set 'a' has all numbers equal"),
    ],
)
def test_refused(path, array, said):
    np.save(path, array)
    with pytest.raises(BadInput, match=said) as caught:
        join(path)
    assert str(caught.value).startswith(repr(str(path)))
    np.savez(path.with_suffix(".npz"), emb=array)
    with pytest.raises(BadInput, match=r"feat\.npz"):
        join(path.with_suffix(".npz"))


def test_npz_without_a_table(path):
    path = path.with_suffix(".npz")
    np.savez(path, ids=np.arange(4))
    with pytest.raises(BadInput, match=r"no array of floats \(N, d\): it has: ids"):
        join(path)
    np.savez(path)
    with pytest.raises(BadInput, match="holds no features"):
        join(path)


def test_a_name_for_what_has_none(path):
    np.save(path, FACES)
    with pytest.raises(BadInput, match="no array 'emb', but one without a name: leave the array out"):
        join(path, "emb")


def test_nothing_is_unpickled(path):
    np.save(path, np.array([[{}]] * 4, dtype=object), allow_pickle=True)
    with pytest.raises(BadInput, match="Python objects in its array"):
        join(path)


def test_cut_short_at_any_length(path):
    np.save(path, FACES)
    whole = path.read_bytes()
    for length in range(0, len(whole), 5):
        path.write_bytes(whole[:length])
        with pytest.raises(BadInput, match=r"feat\.npy' (is damaged: its array|holds no features)"):
            join(path)
    path.write_bytes(whole + b"x")
    with pytest.raises(BadInput, match="is damaged"):
        join(path)


def test_other_files(path, tmp_path):
    with pytest.raises(NotFound, match=r"feat\.npy"):
        join(path)
    path.write_text("1,2,3")
    with pytest.raises(BadInput, match=r"holds no features: give an \.npy or \.npz file"):
        join(path)
    (tmp_path / "folder").mkdir()
    with pytest.raises(BadInput, match=r"folder' is a folder: give the features as"):
        join(tmp_path / "folder")
