"""What users can see is what was recorded, unless somebody meant to change it."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest

from tests.frozen.__main__ import ACCEPT, RECORD
from tests.frozen.comparing import Record, differences, read, write
from tests.frozen.taking import take

SHOWN = 12


def sentence(found: list[str]) -> str:
    """What differs, and what to do about it."""
    more = f"\n... and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    shown = "\n".join(found[:SHOWN])
    return f"users will see something else than before; if that is meant, run `{ACCEPT}`:\n{shown}{more}"


def test_users_see_what_they_saw() -> None:
    found = differences(read(RECORD), take())
    assert not found, sentence(found)


def test_the_record_is_small() -> None:
    assert sum(path.stat().st_size for path in RECORD.iterdir()) < 500_000


@pytest.fixture
def record() -> Record:
    return {"a.json": {"x": [1.0, {"y": "z"}], "n": 0.1, "t": True}, "b.txt": "one\ntwo\n"}


def test_what_is_written_is_read(tmp_path: Path, record: Record) -> None:
    write(record, tmp_path)
    assert differences(read(tmp_path), record) == []
    write({"b.txt": "one\n"}, tmp_path)
    assert read(tmp_path) == {"b.txt": "one\n"}


def test_every_difference_is_told_with_its_place(record: Record) -> None:
    new = copy.deepcopy(record)
    new["a.json"]["x"][1]["y"] = "w"
    new["a.json"]["x"].append(2)
    new["a.json"]["n"] = 0.1000001
    new["a.json"]["t"] = 1
    new["a.json"]["more"] = None
    new["b.txt"] = "one\nthree\n"
    assert differences(record, new) == [
        'a.json: x / [1] / y was "z" and is "w"',
        "a.json: x / there were 2 and are 3",
        "a.json: n was 0.1 and is 0.1000001",
        "a.json: t was true and is 1",
        "a.json: more is new: null",
        "b.txt: there was the line 'two'",
        "b.txt: there is now the line 'three'",
    ]
    assert differences(record, {"a.json": record["a.json"]}) == ["b.txt is not recorded any more"]
    assert differences({}, {"c.txt": ""}) == ["c.txt was not recorded before"]


def test_last_bits_count_only_if_they_are_asked_for(tmp_path: Path, record: Record) -> None:
    new = copy.deepcopy(record)
    new["a.json"]["n"] = 0.1 + 1e-16
    assert new != record
    assert differences(record, new) == []
    assert differences(record, new, exact=True) == ["a.json: n was 0.1 and is 0.10000000000000010"[:-1]]
    write(new, tmp_path, exact=True)
    assert read(tmp_path) == new
