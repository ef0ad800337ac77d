"""Another model describes what a gallery keeps, and everything else stays."""

from __future__ import annotations

import sys
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from lookalike import FaceSet, Gallery, add
from lookalike.errors import BadInput
from lookalike.gallery.decisions import decisions_table, judge, name, people_table
from lookalike.ingest import redescribe
from lookalike.ingest.describe import same_person_of
from lookalike.ingest.pictures import encode_picture
from lookalike.ingest.redescribe import describe
from tests import media


@pytest.fixture
def gallery(tmp_path: Path):  # type: ignore[no-untyped-def]
    add(tmp_path / "g.gallery", [media.photo(tmp_path), media.video(tmp_path)], "lbp")
    with Gallery(tmp_path / "g.gallery") as opened:
        yield opened


def test_the_other_model_is_used_and_the_first_is_kept(gallery: Gallery) -> None:
    ids, before = gallery.ids(), gallery.descriptor
    faces, seen = gallery.get(ids[0]).faces, gallery.get(ids[0], pictures=True).sightings
    done = describe(gallery, "deep")
    assert (done.descriptor, done.before, done.sets) == (gallery.descriptor, before, 2)
    assert gallery.dimension == 128
    assert gallery.ids() == ids
    assert gallery.get(ids[0], pictures=True).sightings == seen
    assert len(gallery.files()) == 2
    # Going back costs nothing.
    again = describe(gallery, "lbp")
    assert again.sets == 0
    np.testing.assert_array_equal(gallery.get(ids[0]).faces, faces)


def test_names_and_decisions_stay(gallery: Gallery) -> None:
    one, other = gallery.ids()
    judge(gallery, one, [other], "different")
    name(gallery, [one], "Ada")
    before = people_table(gallery), decisions_table(gallery)
    describe(gallery, "sface")
    assert (people_table(gallery), decisions_table(gallery)) == before


def test_whoever_adds_to_an_older_gallery_is_told_once_of_the_better_model(tmp_path: Path) -> None:
    path, photo, film = tmp_path / "old one.gallery", media.photo(tmp_path), media.video(tmp_path)
    assert not add(path, [photo], "deep").remarks
    command = f"lookalike describe '{path}' --descriptor sface"
    # Nothing new, nothing said.
    assert not add(path, [photo]).remarks
    [(_, said)] = add(path, [film]).remarks
    assert "sface, the default of new galleries, knows people better than deep" in said
    assert f"`{command}`" in said
    media.face(300, 3).save(tmp_path / "more.png")
    assert not add(path, [tmp_path / "more.png"]).remarks
    with Gallery(path) as gallery:
        assert gallery.descriptor == "deep"


def test_described_from_kept_pictures_is_described_from_the_file(gallery: Gallery, tmp_path: Path) -> None:
    describe(gallery, "deep")
    add(tmp_path / "fresh.gallery", [media.photo(tmp_path)], "deep")
    with Gallery(tmp_path / "fresh.gallery") as fresh:
        [one] = fresh.ids()
        np.testing.assert_array_equal(gallery.get(one).faces, fresh.get(one).faces)


@pytest.mark.parametrize("kept_by", ["number", "time"])
def test_an_interrupted_run_goes_on(gallery: Gallery, monkeypatch: pytest.MonkeyPatch, kept_by: str) -> None:
    if kept_by == "number":
        monkeypatch.setattr(redescribe, "TOGETHER", 1)
    else:
        clock = count(step=redescribe.SECONDS)
        monkeypatch.setattr(redescribe, "monotonic", lambda: next(clock))

    def stopping(items, text, total):  # type: ignore[no-untyped-def]
        for item in items:
            yield item
            raise KeyboardInterrupt

    before = gallery.descriptor
    with pytest.raises(KeyboardInterrupt):
        describe(gallery, "deep", stopping)
    assert gallery.descriptor == before
    monkeypatch.undo()
    assert describe(gallery, "deep").sets == 1
    assert (gallery.descriptor, gallery.undescribed("deep")) == ("deep", [])


def test_crops_are_described_whole(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    picture = rng.integers(0, 255, (96, 96, 3), dtype=np.uint8)
    kept = encode_picture(picture)
    with Gallery(tmp_path / "g.gallery", create=True) as gallery:
        gallery.add(FaceSet("a", rng.random((1, 4)), pictures=[kept]), "array:x")
        describe(gallery, "lbp")
        add(tmp_path / "h.gallery", [_saved(kept, tmp_path)], cropped=True)
        with Gallery(tmp_path / "h.gallery") as other:
            [one] = other.ids()
            np.testing.assert_array_equal(gallery.get("a").faces, other.get(one).faces)


def _saved(picture: bytes, folder: Path) -> Path:
    (folder / "a.jpg").write_bytes(picture)
    return folder / "a.jpg"


def test_sets_without_pictures_are_named(tmp_path: Path) -> None:
    with Gallery(tmp_path / "g.gallery", create=True) as gallery:
        with pytest.raises(BadInput, match="is empty"):
            describe(gallery, "lbp")
        gallery.add(FaceSet("a", np.eye(2, 3)), "array:x")
        with pytest.raises(BadInput, match="keeps no pictures of 1 set"):
            describe(gallery, "lbp")


def test_same_person_is_known_without_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Probabilities of an older gallery are the same where its model is not installed any more."""
    for missing in ("dlib", "onnxruntime"):
        monkeypatch.setitem(sys.modules, missing, None)
    assert same_person_of("deep") == 0.94
    assert same_person_of("sface") == 0.5
    assert same_person_of(f"onnx:sha256={'0' * 64},size=112") is None
    assert (
        same_person_of("array:embeddings") is same_person_of("somebody's own") is same_person_of(None) is None
    )
