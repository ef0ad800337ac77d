"""Another model describes what a gallery keeps, and everything else stays."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lookalike import FaceSet, Gallery, add
from lookalike.describing import describe
from lookalike.errors import BadInput
from lookalike.intake.pictures import encode_picture
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


def test_described_from_kept_pictures_is_described_from_the_file(gallery: Gallery, tmp_path: Path) -> None:
    describe(gallery, "deep")
    add(tmp_path / "fresh.gallery", [media.photo(tmp_path)], "deep")
    with Gallery(tmp_path / "fresh.gallery") as fresh:
        [one] = fresh.ids()
        np.testing.assert_array_equal(gallery.get(one).faces, fresh.get(one).faces)


def test_an_interrupted_run_goes_on(gallery: Gallery, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lookalike.describing.TOGETHER", 1)

    def stopping(items, text, total):  # type: ignore[no-untyped-def]
        for number, item in enumerate(items):
            if number == 1:
                raise KeyboardInterrupt
            yield item

    before = gallery.descriptor
    with pytest.raises(KeyboardInterrupt):
        describe(gallery, "deep", stopping)
    assert gallery.descriptor == before
    assert describe(gallery, "deep").sets == 1


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
