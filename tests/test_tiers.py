"""The tables of tiers: everything that they name is there, and each dear kind of thing is in both tiers."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.tiers import ONCE, SLOW, is_slow, may_be_quick, may_be_slow

HERE = Path(__file__).parent


def named(entry: str) -> list[Path]:
    """Files of tests that an entry names and that hold the test it names, if any."""
    files, _, test = entry.partition("::")
    found = [path for one in HERE.glob(files) for path in (one.rglob("test_*.py") if one.is_dir() else [one])]
    return [path for path in found if not test or test in functions(path)]


def functions(path: Path) -> set[str]:
    nodes = ast.parse(path.read_text(encoding="utf-8")).body
    return {node.name for node in nodes if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("table", [SLOW, ONCE], ids=["slow", "once"])
def test_everything_named_is_there(table: dict[str, tuple[str, ...]]) -> None:
    gone = [entry for entries in table.values() for entry in entries if not named(entry)]
    assert gone == [], "these tests are gone: take them out of tests/tiers.py, or write where they are now"


def test_what_is_tried_once_is_of_a_slow_kind() -> None:
    """Otherwise its line says nothing."""
    slow = {path for entries in SLOW.values() for entry in entries for path in named(entry)}
    once = {path for entries in ONCE.values() for entry in entries for path in named(entry)}
    assert once <= slow


def test_a_folder_a_pattern_and_a_test() -> None:
    assert is_slow("engines/test_ray.py", "test_any")
    assert not is_slow("engines/test_contract.py", "test_any")
    assert is_slow("web/test_browser_history.py", "test_any")
    assert is_slow("gallery/test_gallery_durability.py", "test_kill_while_keeping_files")
    assert not is_slow("gallery/test_gallery_durability.py", "test_kill_while_adding")
    assert not is_slow("kernels/test_exact.py", "test_any")


def test_files_of_one_tier_are_not_loaded_for_the_other() -> None:
    tiers = {
        "engines/test_ray.py": (False, True),
        "engines/test_contract.py": (True, False),
        "cli/test_footage.py": (True, True),
        "kernels/test_exact.py": (True, False),
    }
    assert {path: (may_be_quick(path), may_be_slow(path)) for path in tiers} == tiers


def test_nothing_is_marked_where_nobody_looks() -> None:
    """A file that is not in the tables is not loaded by `make test-slow`: a mark would hide its test."""
    files = [path for path in HERE.rglob("test_*.py") if path != Path(__file__)]
    marked = [path.name for path in files if "mark.slow" in path.read_text(encoding="utf-8")]
    assert marked == [], "write these into tests/tiers.py instead"
