"""What does not belong together is refused in one sentence, and nothing is changed."""

from __future__ import annotations

import json
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from lookalike import Gallery, open_gallery
from lookalike.collection import membership
from lookalike.collection.sharded import ShardedGallery
from lookalike.errors import BadInput, Conflict, GalleryUnreadable
from lookalike.sharding import split
from tests.collection.samples import a_set
from tests.shards import empty_collection


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A gallery, and two collections of it."""
    place = tmp_path_factory.mktemp("made")
    with Gallery(place / "g", create=True) as gallery:
        for number in range(6):
            gallery.add(a_set(f"clip-{number}#1", number))
    split(place / "g", place / "d", 3)
    split(place / "g", place / "other", 3)
    return place


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "copy")
    return tmp_path / "copy" / "d"


def said(folder: Path) -> dict[str, object]:
    return json.loads((folder / "manifest.json").read_text())


def rewrite(folder: Path, **changed: object) -> None:
    (folder / "manifest.json").write_text(json.dumps(said(folder) | changed))


def swap(folder: Path) -> None:
    (folder / "shard-001.gallery").rename(folder / "x")
    (folder / "shard-002.gallery").rename(folder / "shard-001.gallery")
    (folder / "x").rename(folder / "shard-002.gallery")


def test_a_manifest_is_small_and_readable(folder: Path) -> None:
    told = said(folder)
    assert membership.IDENTITY.fullmatch(str(told.pop("collection")))
    assert told == {
        "format": 1,
        "shards": 3,
        "rule": "sha256-before-last-hash",
        "files": ["shard-000.gallery", "shard-001.gallery", "shard-002.gallery"],
    }
    assert said(folder)["collection"] != said(folder.parent / "other")["collection"]
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(one.stat().st_mode) for one in folder.iterdir()} == {0o600}


WRONG: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (lambda d: (d / "shard-001.gallery").unlink(), "lacks shard-001.gallery, one of its 3 shards"),
    "too many": (
        lambda d: shutil.copy(d / "shard-001.gallery", d / "shard-003.gallery"),
        "holds shard-003.gallery, which is not one of its 3 shards: move it away",
    ),
    "swapped": (swap, "says that it is shard 2 of 3 by sha256-before-last-hash, and the manifest that it is"),
    "copied over another": (
        lambda d: shutil.copy(d / "shard-001.gallery", d / "shard-002.gallery"),
        "says that it is shard 1 of 3",
    ),
    "of another collection": (
        lambda d: shutil.copy(d.parent / "other" / "shard-001.gallery", d / "shard-001.gallery"),
        "shard-001.gallery is a shard of another collection: move it away",
    ),
    "a gallery of its own": (
        lambda d: shutil.copy(d.parent / "g", d / "shard-001.gallery"),
        "shard-001.gallery is a gallery of its own, not a shard",
    ),
    "two manifests": (
        lambda d: shutil.copy(d / "manifest.json", d / "manifest (1).json"),
        "holds two manifests, manifest.json and manifest",
    ),
    "another manifest": (
        lambda d: shutil.copy(d.parent / "other" / "manifest.json", d / "manifest.json"),
        "shard-000.gallery is a shard of another collection",
    ),
    "no JSON": (lambda d: (d / "manifest.json").write_text("{"), "manifest.json is damaged"),
    "a list": (lambda d: (d / "manifest.json").write_text("[]"), "manifest.json is damaged"),
    "no identity": (lambda d: rewrite(d, collection="../x"), "manifest.json is damaged"),
    "no files": (lambda d: rewrite(d, files=["../../x"]), "manifest.json is damaged"),
    "no number": (lambda d: rewrite(d, shards="3"), "manifest.json is damaged"),
    "fewer shards": (
        lambda d: rewrite(d, shards=2, files=["shard-000.gallery", "shard-001.gallery"]),
        "holds shard-002.gallery, which is not one of its 2 shards",
    ),
    "a newer manifest": (lambda d: rewrite(d, format=2), "newer lookalike"),
    "another rule": (lambda d: rewrite(d, rule="by-hand"), "assigns sets by the rule 'by-hand'"),
    "no manifest": (lambda d: (d / "manifest.json").unlink(), "is a folder, not a gallery"),
    "a manifest too large": (lambda d: (d / "manifest.json").write_bytes(b" " * 2**21), "damaged"),
    "not a gallery": (lambda d: (d / "shard-001.gallery").write_text("x" * 200), "is not a gallery"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_does_not_belong_is_refused_unchanged(folder: Path, case: str) -> None:
    change, sentence = WRONG[case]
    change(folder)
    before = {one.name: one.read_bytes() for one in folder.iterdir()}
    with pytest.raises(GalleryUnreadable) as refused:
        open_gallery(folder)
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)
    assert {one.name: one.read_bytes() for one in folder.iterdir()} == before


def test_a_shard_opens_on_its_own_and_is_not_changed_on_its_own(folder: Path) -> None:
    with open_gallery(folder) as whole:
        ids = whole.ids()
    found = []
    for name in said(folder)["files"]:  # type: ignore[attr-defined]
        with Gallery(folder / name) as shard:
            assert shard.shards == (shard,)
            found += shard.ids()
            for change in (
                lambda: shard.add(a_set("new")),
                lambda: shard.remove(shard.ids()),
                lambda: shard.set_hint("model_file", "x"),
            ):
                if len(shard):
                    with pytest.raises(Conflict, match="changes only as a whole: name its folder"):
                        change()
    assert sorted(found) == ids


def test_a_moved_folder_opens(folder: Path) -> None:
    shutil.move(folder, folder.parent / "elsewhere")
    with open_gallery(folder.parent / "elsewhere") as gallery:
        assert isinstance(gallery, ShardedGallery)
        assert len(gallery) == 6


@pytest.mark.parametrize("shards", [0, -1, 1001, True, 2.0, "2"])
def test_a_number_that_is_none(tmp_path: Path, shards: object) -> None:
    with pytest.raises(BadInput, match="a collection has 1 to 1000 shards"):
        membership.new(shards)  # type: ignore[arg-type]


def test_many_shards_need_many_open_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from lookalike.collection import handles
    from lookalike.errors import StorageFailed

    empty_collection(tmp_path / "d", 2)
    monkeypatch.setattr(handles.resource, "getrlimit", lambda _: (100, 100))
    with pytest.raises(StorageFailed, match="2 shards, for which 212 files must be open at once"):
        open_gallery(tmp_path / "d")
