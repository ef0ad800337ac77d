"""What is promised about privacy, where no other test holds it."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# Variables that hold a set, a person, a film or a picture; the path of the gallery itself may be named.
PRIVATE = {"id", "set_id", "ids", "name", "names", "origin", "source", "file", "picture", "faceset"}
LOUD = {"logger.warning", "logger.error", "logger.exception", "logger.critical"}


def loud_calls() -> list[tuple[str, ast.Call]]:
    found = []
    for path in sorted((ROOT / "lookalike").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            called = node.func if isinstance(node, ast.Call) else None
            if isinstance(called, ast.Attribute) and ast.unparse(called) in LOUD:
                found.append((f"{path.relative_to(ROOT)}:{node.lineno}", node))
    return found


def test_logs_name_nobody() -> None:
    """Whatever is logged unless somebody asks for more speaks of numbers, tables and the gallery."""
    calls = loud_calls()
    assert len(calls) > 8
    for where, call in calls:
        for argument in call.args:
            said = {
                part.attr if isinstance(part, ast.Attribute) else part.id
                for part in ast.walk(argument)
                if isinstance(part, ast.Attribute | ast.Name)
            }
            assert not said & PRIVATE, f"{where} logs {said & PRIVATE}"


def test_every_dependency_has_a_recorded_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *(one for kept in extras.values() for one in kept)]
    recorded = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    for one in wanted:
        name = re.match(r"[\w-]+", one)
        assert name
        if name[0] == project["name"]:
            continue  # an extra that stands for others
        assert re.search(rf"\b{re.escape(name[0])} \d", recorded), (
            f"SECURITY.md records no version of {name[0]}"
        )


@pytest.mark.parametrize("page", ["docs/explanation/privacy.md", "SECURITY.md"])
def test_links_lead_somewhere(page: str) -> None:
    path = ROOT / page
    for link in re.findall(r"\]\(([^)\s#]+)", path.read_text(encoding="utf-8")):
        assert (path.parent / link).exists(), f"{page} points to {link}"
