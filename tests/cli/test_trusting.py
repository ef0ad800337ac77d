"""Verify, backup, restore, upgrade and history, as they are called from a shell."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from lookalike import FaceSet, Gallery, find
from lookalike.gallery import schema
from lookalike.gallery.decisions import accept
from lookalike.indexing.store import TableStore
from tests.cli_process import Ready
from tests.full_gallery import copied, planted, write_full_gallery
from tests.gallery.samples import flip
from tests.gallery.test_upgrade import write_format


@pytest.fixture(scope="module")
def ready() -> Iterator[Ready]:
    process = Ready()
    yield process
    process.close()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("made") / "g.gallery"
    write_full_gallery(path)
    with Gallery(path) as gallery:
        find("film#1", gallery, reranker="baseline")
    return path


@pytest.fixture
def path(made: Path, tmp_path: Path) -> Path:
    return copied(made, tmp_path)


def test_verify_a_sound_gallery(ready: Ready, path: Path) -> None:
    ended = ready.works("verify", "g.gallery", cwd=path.parent)
    assert (ended.out, ended.err) == ("g.gallery is sound\n", "")
    ended = ready.works("verify", "g.gallery", "--json", cwd=path.parent)
    assert ended.json == {"sound": True, "findings": [], "repaired": None}


def test_litter_is_told_and_the_end_is_good(ready: Ready, path: Path) -> None:
    (path.parent / ".new-gallery-0123456789abcdef").touch()
    ended = ready.works("verify", "g.gallery", cwd=path.parent)
    first, last = ended.out.splitlines()
    assert first.startswith("litter: ")
    assert last == "g.gallery is sound"


def test_damage_of_a_table(ready: Ready, path: Path) -> None:
    [stored] = [one for one in TableStore.beside(path).stored() if "similarity" in one.facts]
    flip(stored.path / "0003.npy")
    ended = ready.run("verify", "g.gallery", cwd=path.parent)
    assert ended.code == 6
    [line] = ended.out.splitlines()
    assert line.startswith(f"derived: {stored.path}: array ")
    assert line.endswith(": make it again by `lookalike verify g.gallery --repair`")
    assert ended.err == (
        "lookalike: g.gallery is not sound: 1 finding, 0 of them in the gallery itself: "
        "repair it by --repair\n"
    )
    ended = ready.works("verify", "g.gallery", "--repair", cwd=path.parent)
    assert ended.out.splitlines()[1:] == [
        f"repaired: {stored.manifest.kind}: made again",
        "g.gallery is sound",
    ]
    ready.works("verify", "g.gallery", cwd=path.parent)


def test_damage_of_the_gallery(ready: Ready, path: Path) -> None:
    planted(path, "UPDATE faces SET descriptor = zeroblob(24) WHERE set_number = 2")
    [stored] = [one for one in TableStore.beside(path).stored() if "similarity" in one.facts]
    flip(stored.path / "0003.npy")
    ended = ready.run("verify", "g.gallery", "--repair", "--json", cwd=path.parent)
    assert ended.code == 6
    assert not ended.json["sound"]
    assert [one["kind"] for one in ended.json["findings"]] == ["gallery", "derived"]
    assert len(ended.json["findings"][0]["sets"]) == 1
    assert ended.json["repaired"] == {"deleted": [stored.manifest.kind], "rebuilt": []}
    assert "restore a backup, or remove the sets that are named" in ended.err
    content = bytearray(path.read_bytes())
    content[100:16384] = bytes(16284)
    path.write_bytes(content)
    ended = ready.run("verify", "g.gallery", "--repair", cwd=path.parent)
    assert ended.code == 6
    assert "Traceback" not in ended.err
    assert ended.out.startswith("gallery: g.gallery: ")


def test_there_and_back(ready: Ready, path: Path) -> None:
    ended = ready.works("backup", "g.gallery", "saved", cwd=path.parent)
    assert ended.out == f"15 sets backed up to {path.parent / 'saved'}\n"
    assert ready.run("backup", "g.gallery", "saved", cwd=path.parent).code == 5
    assert ready.run("restore", "saved", "g.gallery", cwd=path.parent).code == 5
    ended = ready.works("restore", "saved", "new", "--json", cwd=path.parent)
    assert ended.json == {"sets": 15, "kept": None, "back": []}
    ended = ready.works("restore", "saved", "g.gallery", "--replace", cwd=path.parent)
    kept = path.parent / "g.gallery.before-restore"
    assert ended.out == f"15 sets restored to g.gallery; the gallery that was there is kept as {kept}\n"


def test_what_was_forgotten_and_is_back_is_said(ready: Ready, path: Path) -> None:
    ready.works("backup", "g.gallery", "saved", cwd=path.parent)
    ready.works("forget", "g.gallery", "film#1", cwd=path.parent)
    ended = ready.works("restore", "saved", "g.gallery", "--replace", cwd=path.parent)
    assert "forgotten after this backup was made, and back: 1 set;" in ended.err
    assert "`lookalike forget g.gallery 'film#1'`" in ended.err


def test_upgrade(ready: Ready, tmp_path: Path) -> None:
    write_format(tmp_path / "old", 2)
    ended = ready.works("upgrade", "old", cwd=tmp_path)
    now = schema.FORMAT
    assert ended.out == (
        f"old was of format 2 and is of format {now} now; "
        f"the old file is kept as {tmp_path / 'old.format-2'}\n"
    )
    assert ready.works("upgrade", "old", cwd=tmp_path).out == f"old is of format {now} already\n"
    write_format(tmp_path / "other", 3)
    ended = ready.works("upgrade", "other", "--no-keep", "--json", cwd=tmp_path)
    assert ended.json == {"before": 3, "format": now, "kept": None}
    ended = ready.works("backup", "old.format-2", "copy", cwd=tmp_path)
    assert "does not note this backup" in ended.err


def test_history(ready: Ready, path: Path) -> None:
    ended = ready.works("history", "g.gallery", "--json", cwd=path.parent)
    kinds = [one["kind"] for one in ended.json["history"]]
    assert sorted(kinds) == sorted(
        ["name", "same", "different", "name", "rename", "unsure", "undo", "forget"]
    )
    [event] = [one for one in ended.json["history"] if one["kind"] == "forget"]
    assert (event["sets"], event["contents"]) == (1, ["0" * 64])
    assert [one["made"] for one in ended.json["history"]] == sorted(
        one["made"] for one in ended.json["history"]
    )
    ended = ready.works("history", "g.gallery", cwd=path.parent)
    assert ended.out.splitlines()[0].split() == ["time", "what", "said"]
    assert "name=Anna" in ended.out
    assert "undone=True" in ended.out
    assert f"contents={'0' * 12}..." in ended.out


def test_the_history_names_five_sets_of_many(ready: Ready, tmp_path: Path) -> None:
    ids = [f"clip-{number}" for number in range(7)]
    with Gallery(tmp_path / "g.gallery", create=True) as gallery:
        for id in ids:
            gallery.add(FaceSet(id, np.eye(2)))
        accept(gallery, ids)
    said = ready.works("history", "g.gallery", cwd=tmp_path).out
    assert " ".join(said.split()).endswith("sets=clip-0,clip-1,clip-2,clip-3,clip-4 and 2 more")
    [entry] = ready.works("history", "g.gallery", "--json", cwd=tmp_path).json["history"]
    assert entry["sets"] == ids


def test_the_history_of_a_forgetting_in_words(ready: Ready, path: Path) -> None:
    ready.works("forget", "g.gallery", "film#1", "--bar", cwd=path.parent)
    last = ready.works("history", "g.gallery", cwd=path.parent).out.splitlines()[-1]
    assert "barred=face:" in last
    assert "rows=" in last
    assert "{" not in last
