"""What a table may hold; a damaged table is absent, is named, is replaced when saved again."""

from __future__ import annotations

import hashlib
import json
import logging
import os
from pathlib import Path

import numpy as np
import pytest

from lookalike.errors import BadInput
from lookalike.indexing.store import TableStore
from tests.gallery.samples import some_arrays, wrong

KIND = "max_max:samples=10"


@pytest.mark.parametrize(
    "array",
    [np.array([{}, []], dtype=object), np.zeros(2, dtype="f4,i4"), np.array(["2020-01-01"], dtype="M8[D]")],
)
def test_no_pickle(store: TableStore, array: np.ndarray) -> None:
    with pytest.raises(BadInput, match=r"array 'bad' is of type .*: a table holds numbers"):
        store.save(KIND, "f0", {"bad": array}, {})
    assert not store.folder.exists()


@pytest.mark.parametrize("fact", [np.float32(1), object(), float("nan"), b"x", {1, 2}])
def test_facts_are_json(store: TableStore, fact: object) -> None:
    with pytest.raises(BadInput, match="must be JSON values"):
        store.save(KIND, "f0", {}, {"bad": fact})


# Damage.


def rewritten(path: Path, change) -> None:
    fields = json.loads(path.read_text())
    change(fields)
    # Somebody who does it on purpose makes the manifest fit itself.
    said = json.dumps({name: value for name, value in fields.items() if name != "sha256"}, sort_keys=True)
    fields["sha256"] = hashlib.sha256(said.encode()).hexdigest()
    path.write_text(json.dumps(fields))


def lead_outside(folder: Path) -> None:
    (folder.parent.parent.parent / "outside.npy").write_bytes((folder / "0000.npy").read_bytes())
    rewritten(
        folder / "manifest.json",
        lambda fields: fields["arrays"]["prepared/faces"].update(file="../../../outside.npy"),
    )


def plant_pickle(folder: Path) -> None:
    with (folder / "0000.npy").open("wb") as file:
        np.save(file, np.array({}, dtype=object), allow_pickle=True)
    size = (folder / "0000.npy").stat().st_size
    rewritten(
        folder / "manifest.json",
        lambda fields: fields["arrays"]["prepared/faces"].update(bytes=size, dtype="|O", shape=[]),
    )


def link_out(folder: Path) -> None:
    moved = (folder / "0000.npy").rename(folder.parent.parent.parent / "outside.npy")
    (folder / "0000.npy").symlink_to(moved)


def change_header(folder: Path) -> None:
    content = (folder / "0000.npy").read_bytes()
    (folder / "0000.npy").write_bytes(content.replace(b"'shape': (50, 8)", b"'shape': (8, 50)"))


DAMAGES = [
    lambda folder: (folder / "manifest.json").unlink(),
    lambda folder: (folder / "manifest.json").write_bytes(b""),
    lambda folder: (folder / "manifest.json").write_bytes(b"\xff{"),
    lambda folder: (folder / "manifest.json").write_text("[1, 2]"),
    lambda folder: (folder / "manifest.json").write_text("[" * 100_000),
    lambda folder: rewritten(folder / "manifest.json", lambda fields: fields.update(format=3)),
    lambda folder: rewritten(folder / "manifest.json", lambda fields: fields.update(kind="other")),
    lambda folder: rewritten(folder / "manifest.json", lambda fields: fields.pop("arrays")),
    lambda folder: (folder / "0000.npy").unlink(),
    lambda folder: os.truncate(folder / "0000.npy", 500),
    lambda folder: (folder / "0000.npy").write_bytes(bytes((folder / "0000.npy").stat().st_size)),
    change_header,
    lead_outside,
    plant_pickle,
    link_out,
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_tables_are_absent_then_replaced(
    store: TableStore, damage, caplog: pytest.LogCaptureFixture
) -> None:
    arrays = some_arrays()
    store.save(KIND, "older", arrays, {})
    path = store.save(KIND, "f0", arrays, {}).path
    damage(path)
    with caplog.at_level(logging.WARNING):
        assert store.load(KIND, "f0") is None
    assert f"the table in {path} is damaged and is made again" in caplog.text
    assert store.latest(KIND).fingerprint == "older"
    again = store.save(KIND, "f0", arrays, {})
    assert wrong(again) == []
    np.testing.assert_array_equal(again.arrays["prepared/faces"], arrays["prepared/faces"])
