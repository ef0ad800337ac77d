from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from lookalike import Gallery, atomic
from lookalike.errors import BadInput, NotFound, StorageFailed
from lookalike.gallery.export import export_person
from lookalike.ingest.add import add
from tests.canaries import FILE, IDS, NAMES, OTHER_MARK, PICTURE, canary, fill
from tests.small_world import small_world


@pytest.fixture(scope="module")
def gallery(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("export") / "g"
    fill(path, tables=False)
    return path


def test_everything_held_about_a_person(gallery: Path, tmp_path: Path) -> None:
    with Gallery(gallery) as opened:
        assert export_person(opened, tmp_path / "out", NAMES[1].upper()) == 2
    about = json.loads((tmp_path / "out" / "about.json").read_text())
    assert about["name"] == NAMES[1]
    assert about["names"] == sorted(NAMES)
    assert [one["id"] for one in about["sets"]] == list(IDS)
    assert about["sets"][0]["sources"] == ["canary-frame"] * 4
    assert about["sets"][0]["sightings"][1] == json.loads(canary().sightings[1].as_text())
    [file] = about["files"]
    assert (file["path"], file["content"], file["remark"]) == (FILE.path, FILE.content, FILE.remark)
    assert about["sets"][0]["files"] == [FILE.content]
    others = small_world(people=4, sets=2)[0]
    assert about["apart"] == [[IDS[0], others[0].id]]
    assert [one["what"] for one in about["decisions"]] == [
        "different",
        "undo",
        "same",
        "name",
        "name",
        "rename",
    ]
    assert "Somebody Else" not in json.dumps(about)
    with np.load(tmp_path / "out" / "sets.npz", allow_pickle=False) as arrays:
        np.testing.assert_array_equal(arrays["descriptors"][:4], canary(0).faces)
    with np.load(tmp_path / "out" / "vectors.npz", allow_pickle=False) as arrays:
        assert arrays["names"].tolist() == ["another"]
        assert arrays["0"].shape == (8, 5)
        np.testing.assert_array_equal(arrays["0"][0, :3], OTHER_MARK)
    pictures = sorted((tmp_path / "out" / "pictures").rglob("*.png"))
    assert len(pictures) == 8
    assert {one.read_bytes() for one in pictures} == {PICTURE}
    assert add(tmp_path / "new", [tmp_path / "out" / "sets.npz"], array="descriptors").added == list(IDS)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_it_is_for_its_owner_only(gallery: Path, tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        with Gallery(gallery) as opened:
            export_person(opened, tmp_path / "out", NAMES[1])
    finally:
        os.umask(before)
    found = [tmp_path / "out", *(tmp_path / "out").rglob("*")]
    assert {one.stat().st_mode & 0o777 for one in found if one.is_file()} == {0o600}
    assert {one.stat().st_mode & 0o777 for one in found if one.is_dir()} == {0o700}


def test_refusals_leave_nothing(gallery: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "taken").mkdir()
    with Gallery(gallery) as opened:
        with pytest.raises(NotFound, match="knows nobody called 'Nobody'"):
            export_person(opened, tmp_path / "out", "Nobody")
        with pytest.raises(BadInput, match="is there already"):
            export_person(opened, tmp_path / "taken", NAMES[1])
        with pytest.raises(StorageFailed, match="nothing was exported"):
            export_person(opened, tmp_path / "missing" / "out", NAMES[1])
        for name in ("write_new", "rename", "make_folder"):

            def refused(*_: object, **__: object) -> None:
                raise OSError(28, "No space left on device")

            with monkeypatch.context() as patch:
                patch.setattr(atomic, name, refused)
                with pytest.raises(StorageFailed, match="No space left"):
                    export_person(opened, tmp_path / "out", NAMES[1])
    assert [one.name for one in tmp_path.iterdir()] == ["taken"]
