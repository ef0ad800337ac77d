"""Faults at commit size: the same code as `python -m trust T2 T3 T4 T5 T34`, on a share of the cases."""

from __future__ import annotations

import errno
import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from lookalike.gallery.gallery import Gallery
from tests.trust.shim import Bench, Operation, Spoil, library, read_log
from trust import t02_power_cuts, t03_io_errors, t04_recovery, t05_litter, t34_commands
from trust.outcome import Outcome
from trust.recording import workshop
from trust.scenarios import GALLERY, SCENARIOS
from trust.volume import KILLED, File, Volume, _applied, _pieces

SEED = 8


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """In memory, where nobody waits for a disk: what a disk keeps is modelled."""
    with workshop() as place:
        yield place


needs_shim = pytest.mark.skipif(library() is None, reason="needs Linux and a C compiler, for the shim")


def passed(outcome: Outcome, least: int) -> None:
    assert outcome.failures == [], f"seed {SEED}"
    assert outcome.cases >= least


@needs_shim
def test_power_cuts() -> None:
    passed(t02_power_cuts.run(0.03, SEED), 100)


@needs_shim
def test_io_errors() -> None:
    passed(t03_io_errors.run(0.08, SEED), 20)


@needs_shim
def test_faults_while_recovering() -> None:
    passed(t04_recovery.run(0.06, SEED), 5)


@needs_shim
def test_commands() -> None:
    passed(t34_commands.run(0.03, SEED), 8)


def test_litter() -> None:
    passed(t05_litter.run(0.24, SEED), 24)


# What is relied on: the shim and the model of a disk.


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with Bench("trust.scenarios", "tests.trust.jobs") as made:
        yield made


def tree(folder: Path) -> dict[str, bytes]:
    """Files by name; without the memory that SQLite maps, which no write shows."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.endswith("-shm")
    }


@needs_shim
@pytest.mark.parametrize("name", SCENARIOS)
def test_what_was_recorded_makes_the_same_folder(bench: Bench, tmp_path: Path, name: str) -> None:
    """Nothing that SQLite or we do escapes the shim, and the model does what the kernel does."""
    scenario, folder, log = SCENARIOS[name], tmp_path / "work", tmp_path / "log"
    folder.mkdir()
    scenario.prepare(folder)
    volume = Volume(folder)
    assert bench.run("trust.scenarios:act", name, str(folder), root=folder, log=log).code == 0
    for operation in read_log(log):
        if operation.letter != "A":
            volume.apply(operation)
    (tmp_path / "again").mkdir()
    volume.write(tmp_path / "again", KILLED, random.Random(0))
    assert tree(tmp_path / "again") == tree(folder)
    assert len(tree(folder)) >= (13 if name != "upgrade" else 1)


@needs_shim
def test_the_shim_kills_tears_and_refuses(bench: Bench, tmp_path: Path) -> None:
    def write(**spoil: object) -> tuple[int, bytes]:
        shutil.rmtree(tmp_path, ignore_errors=True)
        tmp_path.mkdir()
        job = "tests.trust.jobs:write_twice"
        ended = bench.run(job, str(tmp_path), root=tmp_path, spoil=Spoil(**spoil))
        return ended.code, b"".join(tree(tmp_path).values())

    assert write() == (0, b"onetwo!!")
    assert write(how="kill", first=3) == (-9, b"one")
    assert write(how="tear", first=3) == (-9, b"onetw")
    assert write(how="fail", first=3, errno=errno.ENOSPC) == (errno.ENOSPC, b"one")
    assert write(how="fail", first=1, last=9, errno=errno.EMFILE, kinds="o") == (errno.EMFILE, b"")
    assert write(how="short", first=3) == (0, b"onetwo!!"), "the rest is written after it"


def test_the_model_of_a_disk(tmp_path: Path) -> None:
    """By hand: a file is written, synced, written on and renamed, but its folder is never synced."""
    (tmp_path / "old").write_bytes(b"old")
    volume = Volume(tmp_path)
    created, new = os.O_CREAT | os.O_WRONLY, f"{tmp_path}/new"
    for letter, file, where, path, other, data in (
        ("o", 1, created, new, "", b""),
        ("w", 1, 0, "", "", b"new"),
        ("s", 1, 0, "", "", b""),
        ("w", 1, 3, "", "", b"er"),
        ("u", 0, 0, f"{tmp_path}/old", "", b""),
    ):
        volume.apply(Operation(letter, 0, file, where, path, other, data))

    def after(damage: str) -> dict[str, bytes]:
        place = tmp_path / "after"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        volume.write(place, damage, random.Random(0))
        return tree(place)

    assert after("dropped") == {"old": b"old"}
    assert after(KILLED) == {"new": b"newer"}
    volume.apply(Operation("o", 0, 2, os.O_RDONLY, str(tmp_path), "", b""))
    volume.apply(Operation("s", 0, 2, 0, "", "", b""))
    assert after("dropped") == {"new": b"new"}
    assert list(_pieces([(510, b"abcd")], 512)) == [(510, b"ab"), (512, b"cd")]
    assert _applied(b"abc", [(5, b"x"), (1, None), (2, b"y")]) == b"a\0y"
    assert File(b"a").synced == b"a"


# Once wrong.


@needs_shim
def test_a_new_gallery_is_whole_though_the_disk_refuses_its_last_page(bench: Bench, tmp_path: Path) -> None:
    """Closing folds the journal into the file and tells nobody if it cannot: half a gallery was published."""
    log = tmp_path / "log"
    ended = bench.run("tests.trust.jobs:create", str(tmp_path / "first"), root=tmp_path, log=log)
    assert ended.code == 0
    (tmp_path / "first").unlink()
    for operation in read_log(log):
        if operation.letter in "wst":
            spoil = Spoil("fail", operation.number, operation.number, errno.EIO)
            bench.run("tests.trust.jobs:create", str(tmp_path / GALLERY), root=tmp_path, spoil=spoil)
            with Gallery(tmp_path / GALLERY, create=True) as gallery:
                assert gallery.ids() == [], operation
            (tmp_path / GALLERY).unlink()


@needs_shim
def test_an_erased_table_does_not_come_back(bench: Bench, tmp_path: Path) -> None:
    """Deleted names were not synced: a power cut brought tables of forgotten sets back."""
    scenario, folder = SCENARIOS["forget"], tmp_path / "work"
    folder.mkdir()
    scenario.prepare(folder)
    volume, log = Volume(folder), tmp_path / "log"
    assert bench.run("trust.scenarios:act", "forget", str(folder), root=folder, log=log).code == 0
    for operation in read_log(log):
        if operation.letter != "A":
            volume.apply(operation)
    (tmp_path / "after").mkdir()
    volume.write(tmp_path / "after", "dropped", random.Random(0))
    assert scenario.traces(tmp_path / "after") == []
