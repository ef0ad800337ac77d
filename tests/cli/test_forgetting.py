from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

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
    assert "barred: 1 file, 2 sets, 8 faces" in lines
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
    assert ended.out == "0 sets added, 0 were there already; 1 barred and left out\n"
    assert ended.err.startswith(f"lookalike: set {IDS[0]!r} was left out: it has ")
    told = ready.works("add", "g", "sets.npz", "--json", cwd=folder).json
    assert (told["added"], told["barred"]) == ([], [IDS[0]])


def test_as_json(folder: Path, ready: Ready) -> None:
    ended = ready.run("forget", "g", *IDS, "--json", "--receipt", "r.json", cwd=folder)
    told = ended.json
    assert told.pop("forgotten") == list(IDS)
    assert told.pop("originals") == [FILE.path]
    assert told == json.loads((folder / "r.json").read_text())
    assert told["wiped"]
    assert told["rows"]["faces"] == 8


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ((), 3),
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
