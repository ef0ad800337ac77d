from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pytest

from lookalike import FaceSet, Gallery, atomic, registry
from lookalike.descriptors.lbp import Lbp
from lookalike.errors import BadInput, LookalikeError, NotFound, StorageFailed
from lookalike.gallery.export import _put, export
from lookalike.ingest.add import add
from lookalike.ingest.pictures import decode_picture, encode_picture
from tests.small_world import small_world

LBP_SPEC = registry.spec(Lbp())


def pictures(count: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (count, 30, 26), dtype=np.uint8)


def pictured(name: str, count: int, seed: int, **more: Any) -> FaceSet:
    drawn = pictures(count, seed)
    return FaceSet(name, Lbp().describe_many(drawn), pictures=[encode_picture(one) for one in drawn], **more)


ODD = "../[red]ä\u2003名\U0001f600 'x'"
SETS = [
    pictured("b", 2, 1, origin="/films/b.mp4", sources=["b/0.png", "b/1.png"]),
    pictured(ODD, 3, 2),
    pictured("a", 1, 3, origin="näher"),
]


@pytest.fixture
def gallery(tmp_path: Path) -> Iterator[Gallery]:
    with Gallery(tmp_path / "g", create=True) as gallery:
        for faceset in SETS:
            gallery.add(faceset, LBP_SPEC)
        yield gallery


def left_by(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.fixture
def out(tmp_path: Path) -> Path:
    (tmp_path / "out").mkdir()
    return tmp_path / "out"


def test_what_is_written(gallery: Gallery, out: Path) -> None:
    assert export(gallery, out / "x.npz") == 3
    assert left_by(out) == ["x.npz"]
    with np.load(out / "x.npz", allow_pickle=False) as arrays:
        # By id: the odd one starts with a dot.
        assert arrays["set_names"].tolist() == [ODD, "a", "b"]
        assert arrays["set_origins"].tolist() == ["", "näher", "/films/b.mp4"]
        assert arrays["image_set"].tolist() == [0, 0, 0, 1, 2, 2]
        assert arrays["image_names"].tolist() == ["", "", "", "", "b/0.png", "b/1.png"]
        assert arrays["descriptor"].item() == LBP_SPEC
        assert arrays["descriptors"].dtype == np.float32
        expected = np.concatenate([SETS[1].faces, SETS[2].faces, SETS[0].faces])
        np.testing.assert_array_equal(arrays["descriptors"], expected)


def test_there_and_back_again(gallery: Gallery, out: Path) -> None:
    export(gallery, out / "x.npz")
    add(out / "new", [out / "x.npz"], descriptor="lbp", array="descriptors")
    with Gallery(out / "new") as new:
        assert new.ids() == gallery.ids()
        assert (new.descriptor, new.dimension) == (gallery.descriptor, gallery.dimension)
        for faceset in gallery.sets():
            np.testing.assert_array_equal(new.get(faceset.id).faces, faceset.faces)
        assert new.get("b").sources == ("b/0.png", "b/1.png")
        # And once more from there: the same arrays.
        export(new, out / "y.npz")
    with np.load(out / "x.npz") as first, np.load(out / "y.npz") as second:
        for name in ("descriptors", "image_set", "image_names", "set_names", "descriptor"):
            np.testing.assert_array_equal(first[name], second[name])


def test_extreme_numbers_survive_bit_for_bit(out: Path) -> None:
    edges = np.array([[1e-45, -0.0, 3.4028235e38], [1.0, np.nextafter(1, 2, dtype=np.float32), 0.1]])
    with Gallery(out / "g", create=True) as gallery:
        gallery.add(FaceSet("edges", edges), "array:e")
        export(gallery, out / "x.npz")
        add(out / "h", [out / "x.npz"], array="descriptors")
        with Gallery(out / "h") as again:
            assert again.get("edges").faces.tobytes() == gallery.get("edges").faces.tobytes()


def test_pictures_are_written_as_they_are_kept(gallery: Gallery, out: Path) -> None:
    export(gallery, out / "x.npz", pictures=out / "faces" / "here")
    files = [path for path in left_by(out / "faces" / "here") if path.endswith(".jpg")]
    assert files == [
        f"{number:06d}/{face:04d}.jpg" for number, face in [(0, 0), (0, 1), (0, 2), (1, 0), (2, 0), (2, 1)]
    ]
    for file, picture in zip(files, (*SETS[1].pictures, *SETS[2].pictures, *SETS[0].pictures), strict=True):
        assert (out / "faces" / "here" / file).read_bytes() == picture
    assert decode_picture((out / "faces" / "here" / files[0]).read_bytes()).shape == (30, 26)
    # They are a source themselves.
    assert add(out / "again", [out / "faces" / "here"], cropped=True).added == ["000000", "000001", "000002"]


def test_sets_without_pictures(tmp_path: Path, out: Path) -> None:
    with Gallery(tmp_path / "plain", create=True) as gallery:
        for faceset in small_world(people=2)[0]:
            gallery.add(faceset)
        assert export(gallery, out / "x.npz", pictures=out / "faces") == 6
    assert [path for path in out.rglob("*") if path.is_file()] == [out / "x.npz"]


def test_some_sets_in_the_order_given(gallery: Gallery, out: Path) -> None:
    assert export(gallery, out / "x.npz", ["b", "a"], out / "faces") == 2
    with np.load(out / "x.npz") as arrays:
        assert arrays["set_names"].tolist() == ["b", "a"]
        np.testing.assert_array_equal(arrays["descriptors"][:2], SETS[0].faces)
    assert (out / "faces" / "000001" / "0000.jpg").read_bytes() == SETS[2].pictures[0]


def test_a_set_named_twice_is_written_once(gallery: Gallery, out: Path) -> None:
    assert export(gallery, out / "x.npz", ["b", "a", "b"]) == 2
    assert add(out / "new", [out / "x.npz"], descriptor="lbp", array="descriptors").added == ["b", "a"]


@pytest.mark.parametrize("ids", [["nobody"], ["b", "nobody"]])
def test_an_unknown_set_writes_nothing(gallery: Gallery, out: Path, ids: list[str]) -> None:
    with pytest.raises(NotFound, match="has no set 'nobody'"):
        export(gallery, out / "x.npz", ids, out / "faces")
    assert left_by(out) == []


def test_nothing_to_export(gallery: Gallery, out: Path) -> None:
    with pytest.raises(BadInput, match="nothing to export"):
        export(gallery, out / "x.npz", [])
    with Gallery(out / "empty", create=True) as empty, pytest.raises(BadInput, match="nothing to export"):
        export(empty, out / "x.npz")
    assert not (out / "x.npz").exists()


@pytest.mark.parametrize("folder", [True, False])
def test_what_is_there_stays(gallery: Gallery, out: Path, folder: bool) -> None:
    path = out / "x.npz"
    if folder:
        path.mkdir()
    else:
        path.write_text("mine")
    with pytest.raises(BadInput, match=r"x\.npz is there already: choose another name"):
        export(gallery, path, pictures=out / "faces")
    assert left_by(out) == ["x.npz"]
    assert folder or path.read_text() == "mine"


def test_pictures_that_are_there_stay(gallery: Gallery, out: Path) -> None:
    (out / "faces" / "000001").mkdir(parents=True)
    (out / "faces" / "000001" / "0000.jpg").write_text("mine")
    before = left_by(out)
    with pytest.raises(LookalikeError, match="faces is there already"):
        export(gallery, out / "x.npz", pictures=out / "faces")
    assert left_by(out) == before
    assert (out / "faces" / "000001" / "0000.jpg").read_text() == "mine"


def test_pictures_of_an_export_that_was_killed_are_taken(gallery: Gallery, out: Path) -> None:
    export(gallery, out / "x.npz", pictures=out / "faces")
    (out / "x.npz").unlink()
    before = left_by(out)
    assert export(gallery, out / "x.npz", pictures=out / "faces") == 3
    assert set(left_by(out)) - set(before) == {"x.npz"}
    # Not those of other sets.
    with pytest.raises(BadInput, match="faces is there already"):
        export(gallery, out / "y.npz", ["b"], pictures=out / "faces")


def test_whoever_sweeps_leaves_what_is_being_exported(
    gallery: Gallery, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_new = atomic.write_new

    def swept(*given: Any, **more: Any) -> None:
        atomic.sweep(out)
        write_new(*given, **more)

    monkeypatch.setattr(atomic, "write_new", swept)
    export(gallery, out / "x.npz", pictures=out / "faces")
    assert len(list((out / "faces").rglob("*.*"))) == 6
    _put(out / "side", {"one.txt": b"1", "two.txt": b"2"})
    assert left_by(out / "side") == ["one.txt", "two.txt"]


def test_a_file_that_was_swept_before_it_was_locked_is_made_again(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new_file, made = atomic.new_file, []

    def swept(path: Path, buffered: bool = True) -> BinaryIO:
        made.append(path)
        file = new_file(path, buffered)
        if len(made) == 1:
            atomic.sweep(out)
        return file

    monkeypatch.setattr(atomic, "new_file", swept)
    atomic.write(out / "x", b"whole")
    assert (out / "x").read_bytes() == b"whole"
    assert len(made) == 2
    assert left_by(out) == ["x"]


def test_pictures_are_not_put_among_others(gallery: Gallery, out: Path) -> None:
    (out / "mine" / "in").mkdir(parents=True)
    (out / "mine" / "000000").write_text("mine")
    before = left_by(out)
    for folder in (out / "mine", out / "mine" / "in" / ".."):
        with pytest.raises(BadInput, match="is there already"):
            export(gallery, out / "x.npz", pictures=folder)
        assert left_by(out) == before


def test_a_folder_that_is_not_there(gallery: Gallery, out: Path) -> None:
    with pytest.raises(StorageFailed, match="No such file or directory; nothing was exported"):
        export(gallery, out / "missing" / "x.npz")
    assert left_by(out) == []


def test_a_full_disk_leaves_nothing(gallery: Gallery, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*given: Any, **more: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    for target, name in ((np, "savez_compressed"), (atomic, "write_new"), (os, "link")):
        with monkeypatch.context() as patch:
            patch.setattr(target, name, full)
            with pytest.raises(StorageFailed, match="No space left on device; nothing was exported"):
                export(gallery, out / "x.npz", pictures=out / "faces")
        assert left_by(out) == []
    assert export(gallery, out / "x.npz", pictures=out / "faces") == 3


def test_an_interruption_leaves_no_half_file(
    gallery: Gallery, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*given: Any, **more: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez_compressed", stop)
    with pytest.raises(KeyboardInterrupt):
        export(gallery, out / "x.npz")
    assert left_by(out) == []
