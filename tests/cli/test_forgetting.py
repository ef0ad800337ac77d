from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from lookalike import FaceSet, Gallery
from lookalike.gallery import opened
from tests.canaries import FILE, IDS, NAMES, fill
from tests.cli_process import Ready


@pytest.fixture(scope="module")
def ready() -> Iterator[Ready]:
    process = Ready()
    yield process
    process.close()


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("filled")
    fill(folder / "g", tables=False)
    return folder / "g"


@pytest.fixture
def folder(filled: Path, tmp_path: Path) -> Path:
    shutil.copy(filled, tmp_path / "g")
    return tmp_path


def test_forgetting_and_its_receipt(folder: Path, ready: Ready) -> None:
    ended = ready.run("forget", "g", "--person", NAMES[1], "--bar", "--receipt", "r.json", cwd=folder)
    assert (ended.code, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert lines[0].startswith("2 sets forgotten at 20")
    assert "file: rewritten" in lines
    assert f"untouched: {FILE.path}" in lines
    assert "blocked: 1 file, 2 sets, 8 faces" in lines
    assert "canary" not in (folder / "r.json").read_text().lower()
    shown = ready.run("forget", "g", "--barred", cwd=folder)
    assert "1 file, 2 sets, 8 faces" in shown.out
    let_in = ready.run("forget", "g", "--unbar", "1", cwd=folder)
    assert let_in.out == "let in again: 1 file, 2 sets, 8 faces\n"
    assert ready.run("forget", "g", "--barred", "--json", cwd=folder).json == {"barred": []}


def test_what_is_barred_is_left_out_and_counted(folder: Path, ready: Ready) -> None:
    ready.works("export", "g", "sets.npz", IDS[0], cwd=folder)
    ready.works("forget", "g", IDS[0], "--bar", cwd=folder)
    ended = ready.works("add", "g", "sets.npz", cwd=folder)
    assert ended.out == "0 sets added, 0 were there already; 1 blocked and left out\n"
    assert ended.err.startswith(f"lookalike: set {IDS[0]!r} was left out: it has ")
    told = ready.works("add", "g", "sets.npz", "--json", cwd=folder).json
    assert (told["added"], told["barred"]) == ([], [IDS[0]])


def test_a_backup_that_holds_it_is_named_with_what_to_do(folder: Path, ready: Ready) -> None:
    ready.works("backup", "g", "copy", cwd=folder)
    said = ready.works("forget", "g", IDS[0], cwd=folder).out
    assert f"backup: {folder / 'copy'} holds it: delete it, or forget in it too" in said.splitlines()


def test_as_json(folder: Path, ready: Ready) -> None:
    ended = ready.run("forget", "g", *IDS, "--json", "--receipt", "r.json", cwd=folder)
    told = ended.json
    assert told.pop("forgotten") == list(IDS)
    assert told.pop("originals") == [FILE.path]
    assert told == json.loads((folder / "r.json").read_text())
    assert told["wiped"]
    assert told["rows"]["faces"] == 8


def test_a_wipe_that_is_due_is_said_and_carried_out(folder: Path, ready: Ready) -> None:
    since = datetime.now(UTC).isoformat(timespec="seconds")
    grow(folder / "g")
    removed = ready.works("remove", "g", IDS[0], cwd=folder)
    assert removed.out.startswith("1 set removed\nfile: rows overwritten; a wipe is due, ")
    ended = ready.works("forget", "g", IDS[1], cwd=folder)
    [said] = [line for line in ended.out.splitlines() if line.startswith("file: ")]
    assert "MB to be rewritten, about 1 s: by the next command after " in said
    assert said.endswith("or at once by `lookalike forget g --now`")
    status = ready.works("status", "g", cwd=folder).out
    assert said in status
    assert "purge_due: True" in status
    due = ready.works("status", "g", "--json", cwd=folder).json["wipe_due"]
    assert due["since"] >= since
    assert due["bytes"] == (folder / "g").stat().st_size
    assert (due["seconds"], due["is_overwritten"]) == (1, True)
    assert "wipe: g: a wipe is due" in ready.works("verify", "g", cwd=folder).out
    wiped = ready.works("forget", "g", "--now", cwd=folder)
    assert wiped.out.startswith("g was wiped: ")
    assert ready.works("forget", "g", "--now", cwd=folder).out == "no wipe of g is due\n"
    assert ready.works("forget", "g", "--now", "--json", cwd=folder).json == {"wipe_due": None}
    assert ready.works("status", "g", "--json", cwd=folder).json["wipe_due"] is None


def grow(path: Path) -> None:
    """Make a gallery larger than what is wiped at once."""
    with Gallery(path) as gallery:
        faces = np.arange(12, dtype=np.float32)[None]
        pictures = [bytes(8_100_000)]
        for number in range(8):
            gallery.add(FaceSet(f"large {number}", faces + number, pictures=pictures))
    assert path.stat().st_size > opened.AT_ONCE


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ((), 3),
        (("--barred", "--now"), 3),
        (("canary-clip#1", "--barred"), 3),
        (("--barred", "--unbar", "1"), 3),
        (("canary-clip#1", "--person", "x"), 3),
        (("canary-clip#1", "--bar-alike"), 3),
        (("nobody",), 4),
        (("--person", "nobody"), 4),
        (("--unbar", "7"), 4),
        (("canary-clip#1", "--receipt", "missing/r.json"), 4),
    ],
)
def test_refusals(folder: Path, ready: Ready, given: tuple[str, ...], code: int) -> None:
    before = (folder / "g").read_bytes()
    ended = ready.run("forget", "g", *given, cwd=folder)
    assert ended.code == code
    assert ended.err.count("\n") == 1
    assert (folder / "g").read_bytes() == before


def test_export_of_a_person(folder: Path, ready: Ready) -> None:
    ended = ready.run("export", "g", "out", "--person", NAMES[1], cwd=folder)
    assert ended.out == "2 sets written to out\n"
    assert sorted(one.name for one in (folder / "out").iterdir()) == [
        "about.json",
        "pictures",
        "sets.npz",
        "vectors.npz",
    ]
    assert ready.run("export", "g", "more", "x", "--person", NAMES[1], cwd=folder).code == 3
