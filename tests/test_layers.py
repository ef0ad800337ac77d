"""Imports only go down: the table of layers, held against the import lines of every file."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from lookalike import parts

ROOT = Path(__file__).parents[1] / "lookalike"

LAYERS = {
    0: (
        "errors",
        "sighting",
        "faceset",
        "decision",
        "strips",
        "ranking",
        "explanation",
        "parameters",
        "parts",
        "progress",
        "ordering",
        "room",
        "disk",
        "modelcard",
    ),
    1: ("kernels",),
    2: ("similarities", "descriptors", "preparations", "engines"),
    3: ("transitivity", "collection", "intake", "worlds"),
    4: ("rerankers",),
    5: (
        "footage",
        "ingest",
        "describing",
        "everybody",
        "questions",
        "preparing",
        "packing",
        "estimating",
        "slicing",
        "loose",
        "indexing",
        "derived",
        "training",
        "calibrating",
        "shortlisting",
        "explaining",
        "asking",
        "retrieval",
        "removing",
        "exporting",
        "showing",
        "undoing",
        "naming",
        "judging",
        "refining",
        "forgetting",
        "verifying",
        "backing",
        "upgrading",
    ),
    6: ("evaluation",),
    7: ("reporting",),
    8: ("server",),
    9: ("cli",),
}
LEVEL = {name: level for level, names in LAYERS.items() for name in names}
# Neighbours on these layers are strangers: they never import one another.
STRANGERS = (2, 3)

FILES = sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")


def imported(path: Path) -> list[str]:
    """Modules of the package that a file imports, wherever the import line stands, as dotted names."""
    found: list[str] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} imports relatively: write the whole name"
            found += [f"{node.module}.{alias.name}" for alias in node.names] if node.module else []
    return [name.removeprefix("lookalike.") for name in found if name.startswith("lookalike.")]


def home(path: Path) -> str:
    return path.relative_to(ROOT).with_suffix("").parts[0]


def test_every_file_is_in_the_table() -> None:
    assert {home(path) for path in FILES} == set(LEVEL)


def test_imports_go_down() -> None:
    assert [sentence for path in FILES for sentence in climbing(path)] == []


def climbing(path: Path) -> Iterator[str]:
    """A sentence for each import of a file that does not go down."""
    own = home(path)
    for name in imported(path):
        other = name.split(".")[0]
        if other not in LEVEL:  # a public name that lookalike/__init__.py offers: for the doors only
            if LEVEL[own] != max(LAYERS) and other != "__version__":
                yield f"{path.relative_to(ROOT)} must name the file of {other}"
            continue
        is_strange = other != own and LEVEL[own] in STRANGERS
        if LEVEL[other] > LEVEL[own] or (is_strange and LEVEL[other] == LEVEL[own]):
            yield f"{path.relative_to(ROOT)} ({LEVEL[own]}) may not import {name} ({LEVEL[other]})"


@pytest.mark.parametrize("folder", ["similarities", "descriptors", "preparations", "rerankers"])
def test_parts_do_not_know_each_other(folder: str) -> None:
    """A part imports its contract and private patterns of its folder, never another part."""
    for path in (ROOT / folder).glob("*.py"):
        for name in imported(path):
            pieces = name.split(".")
            if pieces[0] == folder:
                assert pieces[1] == "contract" or pieces[1].startswith("_"), (
                    f"{path.name} may not import {name}"
                )


def test_no_file_is_long() -> None:
    long = {path.name: n for path in FILES if (n := len(path.read_text().splitlines())) > 600}
    assert not long, f"cut these where the idea changes: {long}"


def test_no_part_is_named_outside_its_own_file() -> None:
    """Adding a part edits no other file: names of parts stand in defaults only, never in a switch."""
    names = {name for kind in parts.KINDS for name in parts.names(kind)}
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Compare):
                compared = {n.value for n in ast.walk(node) if isinstance(n, ast.Constant)}
                assert not compared & names, f"{path.name} compares with the part {compared & names}"
