"""Arrays are read when they may have changed, and only then; a note cannot vouch for damage."""

from __future__ import annotations

import json
import logging
import os
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.indexing import manifest
from lookalike.indexing.manifest import CHECKED_NAME, SECONDS_OF_TRUST, TICK
from lookalike.indexing.store import TableStore
from tests.gallery import children
from tests.gallery.samples import QUICK, files, flip, some_arrays, wrong

KIND = "max_max:samples=10"
PLACES = st.integers(0, 9999)
BITS = st.sampled_from([1, 2, 4, 8, 16, 32, 64, 128])


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Files that were hashed."""
    names: list[str] = []
    fits = manifest.fits

    def counting(folder: Path, entry: manifest.ArrayEntry) -> bool:
        names.append(entry.file)
        return fits(folder, entry)

    monkeypatch.setattr(manifest, "fits", counting)
    return names


def every() -> list[str]:
    return [f"{number:04d}.npy" for number in range(len(some_arrays()))]


def age(path: Path, seconds: float) -> None:
    noted = json.loads(path.read_text())
    noted["checked"] -= seconds
    path.write_text(json.dumps(noted))


def test_what_was_just_saved_is_not_read(store: TableStore, read: list[str]) -> None:
    stored = store.save(KIND, "f0", some_arrays(), {})
    assert store.load(KIND, "f0") is not None
    assert store.latest(KIND) is not None
    assert store._quietly(stored.path, KIND) is not None
    assert len(store.stored()) == 1
    assert read == []
    assert (stored.path / CHECKED_NAME).stat().st_mode & 0o777 == 0o600


def test_renaming_a_folder_does_not_change_the_times_of_its_files(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "file").write_text("x")
    before = (tmp_path / "a" / "file").stat()
    time.sleep(2 * TICK)
    (tmp_path / "a").rename(tmp_path / "b")
    after = (tmp_path / "b" / "file").stat()
    assert (after.st_ino, after.st_ctime_ns) == (before.st_ino, before.st_ctime_ns)


@pytest.mark.parametrize(
    "change",
    [
        lambda path: (path / "0000.npy").touch(),
        lambda path: (path / "0000.npy").chmod(0o640),
        lambda path: (path / "0000.npy").write_bytes((path / "0000.npy").read_bytes()),
        lambda path: (path / CHECKED_NAME).unlink(),
        lambda path: (path / CHECKED_NAME).write_bytes(b""),
        lambda path: (path / CHECKED_NAME).write_bytes(b"\xff{"),
        lambda path: (path / CHECKED_NAME).write_text("[1]"),
        lambda path: (path / CHECKED_NAME).write_text("[" * 100_000),
        lambda path: (path / CHECKED_NAME).write_text('{"checked": "now"}'),
        lambda path: age(path / CHECKED_NAME, SECONDS_OF_TRUST + 1),
        lambda path: age(path / CHECKED_NAME, -3600),
    ],
)
def test_what_may_have_changed_is_read_once(
    store: TableStore, read: list[str], change: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    path = store.save(KIND, "f0", some_arrays(), {}).path
    change(path)
    time.sleep(2 * TICK)
    assert store.load(KIND, "f0") is not None
    assert sorted(read) == every()
    assert store.load(KIND, "f0") is not None
    assert len(read) == len(every()), "what was found good is not read again"
    assert caplog.text == ""
    assert files(path) == [*every(), CHECKED_NAME, manifest.NAME]


def test_a_young_note_is_trusted(store: TableStore, read: list[str]) -> None:
    path = store.save(KIND, "f0", some_arrays(), {}).path
    age(path / CHECKED_NAME, SECONDS_OF_TRUST - 60)
    assert store.load(KIND, "f0") is not None
    assert read == []


def test_rot_below_the_file_system_is_found_within_a_week(
    store: TableStore, caplog: pytest.LogCaptureFixture
) -> None:
    path = store.save(KIND, "f0", some_arrays(), {}).path
    flip(path / "0001.npy")
    # As a disk does it: no time of the file says that it changed.
    noted = json.loads((path / CHECKED_NAME).read_text())
    found = (path / "0001.npy").stat()
    noted["files"]["0001.npy"] = [found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns]
    (path / CHECKED_NAME).write_text(json.dumps(noted))
    assert store.load(KIND, "f0") is not None
    age(path / CHECKED_NAME, SECONDS_OF_TRUST)
    assert store.load(KIND, "f0") is None
    assert "array 'neighbours' in 0001.npy is not as it was saved" in caplog.text


def test_a_change_that_keeps_the_time_of_writing_is_found(store: TableStore) -> None:
    path = store.save(KIND, "f0", some_arrays(), {}).path
    before = (path / "0000.npy").stat()
    flip(path / "0000.npy")
    os.utime(path / "0000.npy", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert store.load(KIND, "f0") is None


def test_what_has_just_changed_is_not_noted(store: TableStore, read: list[str]) -> None:
    """A second change within the same tick of the clock would not show."""
    path = store.save(KIND, "f0", {"x": np.zeros(3)}, {}).path
    (path / CHECKED_NAME).unlink()
    written = (path / "0000.npy").stat().st_ctime
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "time", lambda: written + TICK / 2)
        for times in (1, 2):
            assert store.load(KIND, "f0") is not None
            assert len(read) == times
    assert not (path / CHECKED_NAME).exists()


def test_the_note_of_another_table_is_passed_over(store: TableStore, read: list[str]) -> None:
    one, other = (store.save(KIND, name, some_arrays(), {}).path for name in ("f0", "f1"))
    (one / CHECKED_NAME).write_bytes((other / CHECKED_NAME).read_bytes())
    assert store.load(KIND, "f0") is not None
    assert sorted(read) == every()


@settings(max_examples=60, deadline=None)
@given(st.tuples(PLACES, BITS), st.tuples(PLACES, BITS))
def test_a_damaged_note_vouches_for_nothing(in_note: tuple[int, int], in_array: tuple[int, int]) -> None:
    """One byte of the note and one of an array differ: the array is always found."""
    with tempfile.TemporaryDirectory(dir=QUICK) as folder:
        path = TableStore(folder).save(KIND, "f0", {"x": np.arange(9)}, {}).path
        for name, (place, bit) in ((CHECKED_NAME, in_note), ("0000.npy", in_array)):
            flip(path / name, place % (path / name).stat().st_size, bit)
        assert TableStore(folder).load(KIND, "f0") is None


@settings(max_examples=100, deadline=None)
@given(PLACES, st.integers(0, 255))
def test_a_damaged_manifest_is_refused_or_says_the_same(store_of_one: Path, place: int, value: int) -> None:
    path = store_of_one
    good, before = (path / manifest.NAME).read_bytes(), manifest.read(path)
    changed = bytearray(good)
    changed[place % len(good)] = value
    try:
        (path / manifest.NAME).write_bytes(changed)
        with suppress(ValueError, KeyError, TypeError, AttributeError):
            assert manifest.read(path) == before
    finally:
        (path / manifest.NAME).write_bytes(good)


@pytest.fixture(scope="module")
def store_of_one(tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = TableStore(tmp_path_factory.mktemp("one"))
    return store.save(KIND, "f0", {"x": np.arange(9)}, {"done": 3, "version": 1, "on": "max_max"}).path


def test_a_folder_that_cannot_be_written_is_read_every_time(store: TableStore, obeying) -> None:
    path = store.save(KIND, "f0", some_arrays(), {}).path
    (path / CHECKED_NAME).unlink()
    code = """
    from lookalike.indexing import manifest
    fits, count = manifest.fits, []
    manifest.fits = lambda *given: count.append(1) or fits(*given)
    for _ in range(2):
        assert TableStore(sys.argv[1]).load(sys.argv[2], "f0") is not None
    print(len(count))
    """
    before = files(path)
    time.sleep(2 * TICK)
    path.chmod(0o500)
    try:
        assert children.run(code, store.folder, KIND, before=obeying) == str(2 * len(every()))
        assert files(path) == before
    finally:
        path.chmod(0o700)


def test_litter_of_a_note_goes_with_its_table(store: TableStore) -> None:
    path = store.save(KIND, "f0", some_arrays(), {}).path
    (path / f"{CHECKED_NAME}.0123456789abcdef").write_text("half")
    flip(path / "0000.npy")
    again = store.save(KIND, "f0", some_arrays(), {})
    assert wrong(again) == []
    assert files(path) == [*every(), CHECKED_NAME, manifest.NAME]
    store.drop()
    assert not store.folder.exists()


def test_damage_is_told_once(store: TableStore, caplog: pytest.LogCaptureFixture) -> None:
    path = store.save(KIND, "f0", some_arrays(), {}).path
    flip(path / "0000.npy")
    with caplog.at_level(logging.WARNING):
        assert store._quietly(path, KIND) is None
        assert store.load(KIND, "f0") is None
        assert store.latest(KIND, besides="f0") is None
        store.save(KIND, "f0", some_arrays(), {})
    assert len(caplog.records) == 1
    said = (
        f"the table in {path} is damaged and is made again: array 'prepared/faces' in 0000.npy is not as it"
    )
    assert said in caplog.text
