"""A gallery that an earlier version split, brought back into one file.

The galleries in ``split_galleries.tar.xz`` were made by version 0.10: ``one.gallery`` and ``split`` by the
same steps, the latter in three files from the middle on; the others are changes of several files that were
done, and the same killed after the first file had changed.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lookalike import Gallery, open_gallery
from lookalike.errors import BadInput, Conflict, GalleryUnreadable, NotFound
from lookalike.gallery import decisions
from lookalike.gallery.backup import upgrade
from lookalike.gallery.deletion import HOLDS, find_copies
from lookalike.gallery.split import merge
from lookalike.gallery.verify import verify
from tests.cli_process import run, tree, works
from tests.gallery.samples import a_file, a_set

CHANGES = ("remove", "forget", "remove-all", "use", "add-together")
ROOT = Path(__file__).parents[2]


@pytest.fixture
def made(tmp_path: Path) -> Path:
    with tarfile.open(Path(__file__).with_name("split_galleries.tar.xz")) as archive:
        archive.extractall(tmp_path, filter="data")
    return tmp_path


def said(path: Path) -> dict[str, Any]:
    with Gallery(path) as gallery:
        return answers(gallery)


def answers(gallery: Gallery) -> dict[str, Any]:
    """What a gallery says to every question; but for size, format, backups and when sets were added."""
    facts = gallery.facts()
    for name in ("bytes", "created", "format"):
        facts.pop(name)
    ids = gallery.ids()
    names = [one.name for one in gallery.models() if not one.is_current]
    files = gallery.files()
    return {
        "facts": facts,
        "ids": ids,
        "contents": gallery.contents(),
        "fingerprint": gallery.fingerprint(),
        "listing": [one._replace(added="") for one in gallery.listing()],
        "kind": (gallery.descriptor, gallery.dimension, len(gallery), gallery.has_crops()),
        "files": files,
        "files again": [gallery.file_of(one.content) for one in files],
        "files at": [gallery.file_at(one.path, one.size, one.changed) for one in files],
        "sets of": [gallery.sets_of(one.content) for one in files],
        "paths": gallery.paths(),
        "some paths": gallery.paths(ids[::-2]),
        "files of": {one: gallery.files_of(one) for one in ids},
        "apart": gallery.apart(),
        "decisions": [replace(one, made="") for one in gallery.judgements()[0]],
        "models": gallery.models(),
        "undescribed": {one: gallery.undescribed(one) for one in (*names, "unheard of", facts["descriptor"])},
        "vectors": {(one, name): gallery.vectors(one, name).tobytes() for one in ids for name in names},
        "events": [(one.kind, one.said) for one in gallery.events()],
        "barred": [(one.kind, one.content, one.model, one.event) for one in gallery.barred().entries],
        "hint": gallery.hint("model_file"),
        "sets": [_said(one) for one in gallery.sets()],
        "some sets": [_said(one) for one in gallery.sets(ids[::-2])],
        "whole sets": [_said(gallery.get(one, pictures=True)) for one in ids],
    }


def _said(one: Any) -> tuple[Any, ...]:
    return one.id, one.faces.tobytes(), one.origin, one.sources, one.pictures, one.sightings


def merged(folder: Path) -> Path:
    path = folder.with_name(f"{folder.name}.gallery")
    merge(folder, path)
    return path


def test_the_file_says_what_one_file_would_have_said(made: Path) -> None:
    before = tree(made / "split")
    found = merged(made / "split")
    assert said(found) == said(made / "one.gallery")
    assert verify(found) == []
    after = tree(made / "split")
    assert {name: after[name] for name in after if not name.endswith(("-shm", "-wal"))} == before
    with Gallery(found) as gallery, Gallery(made / "one.gallery") as one:
        assert [event.kind for event in gallery.events()] == [event.kind for event in one.events()]
        assert gallery.backups()[-1].path == str(made / "split")
        assert not gallery.facts()["purge_due"]


def test_it_goes_on_as_one_file_would(made: Path) -> None:
    """Numbers that were used are not used again, and what is barred does not enter."""
    found = merged(made / "split")
    after = []
    for path in (found, made / "one.gallery"):
        with Gallery(path) as gallery:
            assert gallery.add(a_set("later", 60), "kind")
            assert gallery.keep_file(a_file("later.mp4"), [a_set("later.mp4#1", 61)], descriptor="kind")
            gallery.forget(["later"], bar=True)
            with pytest.raises(Conflict, match="must not enter"):
                gallery.add(a_set("later", 60), "kind")
            decisions.name(gallery, ["z"], "Zoe")
            after.append(answers(gallery))
    assert after[0] == after[1]


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_that_was_killed_is_finished_or_taken_back(made: Path, change: str) -> None:
    """Who came only in part comes not at all; whatever else was decided is done."""
    killed = merged(made / f"{change}-killed")
    expected = "before" if change == "add-together" else f"{change}-done"
    assert said(killed) == said(merged(made / expected))
    assert verify(killed) == []
    if change in ("remove", "forget", "remove-all"):
        with Gallery(merged(made / "before")) as before:
            faces = [one.faces[0].tobytes() for one in before.sets() if one.id in "abcd"]
        assert len(faces) == 4
        assert not any(one in killed.read_bytes() for one in faces)


def test_sets_that_all_came_stay(made: Path) -> None:
    assert said(merged(made / "add-together-late")) == said(merged(made / "add-together-done"))


def test_killed_at_any_moment_the_folder_is_as_it_was(made: Path) -> None:
    """Killed before each step on the disk, as its system sees it: there is no file then, or all of it."""
    expected = said(merged(made / "use-killed"))
    code = (
        "import os, sys\n"
        "from lookalike import atomic as disk\n"
        "from lookalike.gallery import connection, split\n"
        "left = int(sys.argv[3])\n"
        "def counted(real):\n"
        "    def step(*given, **named):\n"
        "        global left\n"
        "        left -= 1\n"
        "        if left < 0:\n"
        "            os._exit(9)\n"
        "        return real(*given, **named)\n"
        "    return step\n"
        "for place, names in ((disk, ('create', 'sync', 'link', 'delete')), (connection, ('connect',)),\n"
        "                     (split._Copier, ('copy', 'finish', '_insert', '_last'))):\n"
        "    for name in names:\n"
        "        setattr(place, name, counted(getattr(place, name)))\n"
        "split.merge(sys.argv[1], sys.argv[2])\n"
    )
    path, ends = made / "killed.gallery", []
    for steps in range(0, 80, 3):
        words = [sys.executable, "-c", code, str(made / "use-killed"), str(path), str(steps)]
        ended = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
        assert ended.returncode in (0, 9), ended.stderr
        ends.append(path.exists())
        if path.exists():
            assert said(path) == expected
            path.unlink()
        if not ended.returncode:
            break
    assert ends[0] is False
    assert ends[-1] is True
    assert said(merged(shutil.copytree(made / "use-killed", made / "again"))) == expected


def test_nothing_is_overwritten_and_what_is_no_split_gallery_is_told(made: Path, tmp_path: Path) -> None:
    (tmp_path / "there").write_bytes(b"x")
    (tmp_path / "plain").mkdir()
    (tmp_path / "never").mkdir()
    (tmp_path / "never" / "unfinished.json").touch()
    (tmp_path / "never" / "shard-000.gallery").touch()
    cases: list[tuple[str, str, type[Exception], str]] = [
        ("split", "there", Conflict, "there already, and nothing is overwritten"),
        ("split", "nowhere/new.gallery", NotFound, "does not exist: make it first"),
        ("nowhere", "new.gallery", NotFound, "there is no folder"),
        ("plain", "new.gallery", BadInput, "is no split gallery"),
        ("one.gallery", "new.gallery", BadInput, "is no split gallery"),
        ("never", "new.gallery", GalleryUnreadable, "was never finished by `lookalike split`"),
    ]
    for folder, path, kind, sentence in cases:
        with pytest.raises(kind, match=sentence):
            merge(tmp_path / folder, tmp_path / path)
    assert (tmp_path / "there").read_bytes() == b"x"
    assert not (tmp_path / "new.gallery").exists()


@pytest.mark.parametrize("damage", ["missing", "swapped", "manifest", "cut"])
def test_a_folder_that_is_damaged_makes_no_file(made: Path, damage: str) -> None:
    one, other = (made / "split" / f"shard-00{place}.gallery" for place in (0, 1))
    if damage == "missing":
        other.unlink()
    elif damage == "swapped":
        shutil.copy(one, other)
    elif damage == "manifest":
        (made / "split" / "manifest.json").write_text("{}")
    else:
        other.write_bytes(other.read_bytes()[:70_000])
    with pytest.raises(GalleryUnreadable) as caught:
        merge(made / "split", made / "new.gallery")
    assert "\n" not in str(caught.value)
    assert not list(made.glob("new*"))
    assert not list(made.glob(".new*"))


def test_where_the_folder_may_not_be_written(made: Path, obeying: None) -> None:
    found = said(merged(shutil.copytree(made / "split", made / "copy")))
    for one in (made / "split").iterdir():
        one.chmod(0o400)
    (made / "split").chmod(0o500)
    try:
        assert said(merged(made / "split")) == found
    finally:
        (made / "split").chmod(0o700)


def test_every_door_names_the_command(made: Path) -> None:
    for path in (made / "split", made / "split" / "shard-001.gallery"):
        for door in (open_gallery, Gallery, verify, upgrade):
            with pytest.raises(
                BadInput, match=r"an earlier version split into several files: .*lookalike merge"
            ):
                door(path)  # type: ignore[operator]
    asked = {
        "find": ("a",),
        "add": ("one.gallery",),
        "status": (),
        "index": (),
        "list": (),
        "forget": ("a",),
        "backup": ("elsewhere",),
        "restore": ("new.gallery",),
        "verify": (),
        "upgrade": (),
        "export": ("x.npz",),
    }
    before = tree(made / "split")
    for command, words in asked.items():
        ended = run(command, "split", *words, cwd=made)
        assert (ended.code, ended.out) == (3, ""), (command, ended)
        assert "lookalike merge " in ended.err
        assert "split FILE`" in ended.err
        assert ended.err.count("\n") == 1, ended.err
    assert tree(made / "split") == before


def test_commands(made: Path) -> None:
    told = works("merge", "split", "new.gallery", "--json", "--quiet", cwd=made).json
    assert told == {"sets": 8, "files": 3, "gallery": "new.gallery"}
    assert works("merge", "use-done", "use.gallery", cwd=made).out == (
        "9 sets written to use.gallery; use-done is as it was\n"
    )
    ended = run("split", "new.gallery", "there", "--shards", "3", cwd=made)
    assert (ended.code, ended.out) == (3, "")
    assert ended.err.startswith("lookalike: a gallery is one file now, and nothing was changed: ")
    assert not (made / "there").exists()
    assert not re.search(r"^\W*split ", works("--help", cwd=made).out, re.MULTILINE)


def test_a_folder_that_was_merged_is_named_when_somebody_is_forgotten(made: Path) -> None:
    found = merged(made / "split")
    with Gallery(found) as gallery:
        ids = gallery.ids()
        backups = [one.path for one in gallery.backups()]
        told = {
            one.path: one.state for one in find_copies(found, backups, [ids[0]], [gallery.contents()[ids[0]]])
        }
    assert told[str(made / "split")] == HOLDS
