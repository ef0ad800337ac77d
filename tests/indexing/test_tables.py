"""Derived tables: what goes in comes out, old ones go, what is not ours stays."""

from __future__ import annotations

import json
import mmap
import re
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from lookalike.errors import BadInput, StorageFailed
from lookalike.indexing.store import TableStore
from tests.gallery.samples import QUICK, files, some_arrays, wrong

KIND = "max_max:samples=10"


# Round trips.

numbers = st.sampled_from([np.float32, np.float64, np.int32, np.int64, np.uint8, np.bool_, ">f4"])
arrays = numbers.flatmap(
    lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, min_side=0, max_side=4))
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda each: st.lists(each, max_size=3) | st.dictionaries(st.text(), each, max_size=3),
    max_leaves=5,
)


@settings(max_examples=40, deadline=None)
@given(
    st.text(st.characters(), min_size=1),
    st.dictionaries(st.text(st.characters()), arrays, max_size=4),
    st.dictionaries(st.text(st.characters()), json_values, max_size=3),
)
def test_tables_come_back_as_they_were(kind: str, given: dict[str, np.ndarray], facts: dict) -> None:
    with tempfile.TemporaryDirectory(dir=QUICK) as folder:
        saved = TableStore(folder).save(kind, "f0", given, facts)
        for found in (saved, TableStore(folder).load(kind, "f0"), TableStore(folder).latest(kind)):
            assert dict(found.facts) == facts
            assert set(found.arrays) == set(given)
            for name, array in given.items():
                assert found.arrays[name].dtype == array.dtype
                np.testing.assert_array_equal(found.arrays[name], array)
            assert wrong(found) == []


def test_arrays_are_mapped_and_cannot_be_written(store: TableStore) -> None:
    stored = store.save(KIND, "f0", some_arrays(), {})
    assert isinstance(stored.arrays["prepared/faces"].base, mmap.mmap)
    for array in stored.arrays.values():
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    with pytest.raises(TypeError):
        stored.arrays["new"] = np.zeros(3)
    assert stored.fingerprint == "f0"


def test_layout_and_manifest(store: TableStore) -> None:
    assert store.folder.name == "x.gallery.derived"
    stored = store.save(KIND, "f0", {"prepared/faces": np.zeros((2, 3), np.float32)}, {"samples": 10})
    assert re.fullmatch(r"max_max-samples-10\.[0-9a-f]{16}", stored.path.parent.name)
    assert files(stored.path) == ["0000.npy", "checked.json", "manifest.json"]
    fields = json.loads((stored.path / "manifest.json").read_text())
    assert fields["arrays"]["prepared/faces"].pop("sha256")
    assert fields.pop("saved")
    assert fields.pop("sha256")
    assert fields == {
        "format": 2,
        "kind": KIND,
        "fingerprint": "f0",
        "facts": {"samples": 10},
        "arrays": {"prepared/faces": {"file": "0000.npy", "dtype": "<f4", "shape": [2, 3], "bytes": 152}},
    }
    assert np.load(stored.path / "0000.npy", allow_pickle=False).shape == (2, 3)
    assert {each.stat().st_mode & 0o777 for each in (store.folder, stored.path)} == {0o700}
    assert {each.stat().st_mode & 0o777 for each in stored.path.iterdir()} == {0o600}


def test_strided_arrays_are_saved_by_value(store: TableStore) -> None:
    wide = np.arange(24.0).reshape(4, 6)
    stored = store.save(KIND, "f0", {"turned": wide.T, "thinned": wide[::2, ::3]}, {})
    np.testing.assert_array_equal(stored.arrays["turned"], wide.T)
    np.testing.assert_array_equal(stored.arrays["thinned"], [[0, 3], [12, 15]])


def test_what_is_there_is_kept(store: TableStore) -> None:
    first = store.save(KIND, "f0", some_arrays(0), {"number": 1})
    again = store.save(KIND, "f0", some_arrays(1), {"number": 2})
    assert again.facts == {"number": 1}
    assert again.path == first.path
    assert len(files(store.folder)) == len(some_arrays()) + 2


@pytest.mark.parametrize("times", [2, 3])
def test_a_table_that_somebody_erases_at_once_is_written_again(
    store: TableStore, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    """As a process does that has just indexed an older version of the gallery."""
    shown, erased = TableStore._show, []

    def show_and_erase(self: TableStore, working: Path, target: Path, kind: str) -> None:
        shown(self, working, target, kind)
        if len(erased) < times:
            erased.append(target)
            TableStore(store.folder).keep_only(kind, "another")

    monkeypatch.setattr(TableStore, "_show", show_and_erase)
    if times == 3:
        with pytest.raises(StorageFailed, match="cannot be read back"):
            store.save("k", "f", {"a": np.arange(3)}, {})
    else:
        assert store.save("k", "f", {"a": np.arange(3)}, {}).arrays["a"].tolist() == [0, 1, 2]


def test_kinds_and_fingerprints_do_not_mix(store: TableStore) -> None:
    store.save("a/b", "f0", {}, {"number": 1})
    store.save("a:b", "f0", {}, {"number": 2})
    store.save("../../x", "f1", {}, {"number": 3})
    assert store.load("a/b", "f0").facts == {"number": 1}
    assert store.load("a:b", "f0").facts == {"number": 2}
    assert store.load("a:b", "f1") is None
    assert store.load("../../x", "f1").path.parent.parent == store.folder


@pytest.mark.parametrize("fingerprint", ["", "..", "a/b", ".writing-0", "x" * 129, None])
def test_bad_fingerprints(store: TableStore, fingerprint: object) -> None:
    with pytest.raises(BadInput, match="fingerprint is letters"):
        store.save(KIND, fingerprint, {}, {})
    with pytest.raises(BadInput, match="kind of a table"):
        store.load("", "f0")


def test_absent(store: TableStore, caplog: pytest.LogCaptureFixture) -> None:
    assert store.load(KIND, "f0") is None
    assert store.latest(KIND) is None
    store.keep_only(KIND, "f0")
    store.drop(KIND)
    store.drop()
    assert caplog.text == ""
    assert not store.folder.exists()


# Old tables.


def test_latest_is_the_last_saved(store: TableStore) -> None:
    for fingerprint in ("b", "c", "a"):
        store.save(KIND, fingerprint, {}, {})
    assert store.latest(KIND).fingerprint == "a"


def test_keep_only(store: TableStore) -> None:
    for fingerprint in ("a", "b", "c"):
        kept = store.save(KIND, fingerprint, some_arrays(), {})
    other = store.save("other", "a", {}, {})
    folder = kept.path.parent
    litter = folder / ".writing-0123456789abcdef"
    litter.mkdir()
    (litter / "0000.npy").write_bytes(b"half")
    outside = store.folder.parent / "outside"
    outside.mkdir()
    (outside / "manifest.json").write_text("{}")
    (folder / "link").symlink_to(outside)
    (folder / ".DS_Store").write_bytes(b"?")
    (folder / "a" / "notes.txt").write_text("mine")
    store.keep_only(KIND, "c")
    assert store.load(KIND, "c") is not None
    assert other.path.exists()
    assert sorted(each.name for each in folder.iterdir()) == [".DS_Store", "a", "c", "link"]
    assert files(folder / "a") == ["notes.txt"]
    assert files(outside) == ["manifest.json"]
    assert store.load(KIND, "a") is None
    with pytest.raises(StorageFailed, match="files that lookalike did not write: move them away"):
        store.save(KIND, "a", {}, {})
    assert files(folder / "a") == ["notes.txt"]
    assert sorted(each.name for each in folder.iterdir()) == [".DS_Store", "a", "c", "link"]


def test_an_open_table_survives_its_deletion(store: TableStore) -> None:
    arrays = some_arrays()
    stored = store.save(KIND, "a", arrays, {})
    store.keep_only(KIND, "b")
    np.testing.assert_array_equal(stored.arrays["prepared/faces"], arrays["prepared/faces"])


def test_drop(store: TableStore) -> None:
    for kind in ("one", "two", "three"):
        store.save(kind, "a", some_arrays(), {})
    store.drop("one")
    assert store.load("one", "a") is None
    assert store.load("two", "a") is not None
    (store.folder / "mine.txt").write_text("mine")
    (store.folder / "my folder").mkdir()
    store.drop()
    assert sorted(each.name for each in store.folder.iterdir()) == ["mine.txt", "my folder"]
    (store.folder / "mine.txt").unlink()
    (store.folder / "my folder").rmdir()
    store.drop()
    assert not store.folder.exists()
