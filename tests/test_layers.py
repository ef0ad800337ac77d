"""Imports only go down: the table of layers, held against the import lines of every file."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from lookalike import registry
from lookalike.cli.app import COMMANDS

ROOT = Path(__file__).parents[1] / "lookalike"

# A folder is where a reader looks; a layer is what a file may import. Where they differ, the file is named.
LAYERS = {
    0: ("errors", "faceset", "ranking", "parameters", "registry", "progress", "atomic", "resources"),
    1: ("kernels",),
    2: ("similarities", "descriptors", "preparations", "engines"),
    3: ("method", "gallery", "ingest", "demo", "indexing.manifest", "indexing.store"),
    4: ("rerankers",),
    5: (
        "indexing",
        "search",
        "exchange",
        "gallery.backup",
        "gallery.export",
        "gallery.forget",
        "gallery.split",
        "gallery.verify",
        "ingest.add",
        "ingest.footage",
        "ingest.redescribe",
    ),
    6: ("evaluation",),
    7: ("web",),
    8: ("cli",),
}
LEVEL = {name: level for level, names in LAYERS.items() for name in names}
# Neighbours on these layers are strangers: they never import one another.
STRANGERS = {"similarities", "descriptors", "preparations", "engines", "method", "gallery", "ingest", "demo"}
# A gallery deletes derived tables that know removed sets; both say in the same words what a disk refuses.
ACQUAINTED = {("gallery", "indexing"), ("indexing", "gallery")}

# Modules that one sibling alone imports: why each is a file of its own. Files of commands are not counted:
# `cli/app.py` lists them.
JUSTIFIED = {
    "demo.hair": "hair and what is worn: a topic of drawing, which drawing and face would grow too long with",
    "demo.scenes": "who is where in a drawn film, which is known before anything is drawn",
    "engines._ray_actors": "runs in other processes than the engine",
    "engines._ray_cluster": "starting, entering and losing a cluster",
    "evaluation.figures": "one function for each figure",
    "evaluation.learning": "figures of what the regressor learns from",
    "evaluation.protocol": "who asks, and what is ranked: what people look for by this name",
    "evaluation.sampling": "figures of what choosing faces costs",
    "evaluation.verdict": "an evaluation in words",
    "ingest.remote": "films described by the workers of an engine",
    "ingest.shots": "cuts: what people look for by this name",
    "ingest.tracks": "tracking: what people look for by this name; runs in the sandbox",
    "web.guard": "who may ask the server anything, short enough to be read in one sitting",
    "web.pages": "the views for people, beside the JSON of `api`",
    "web.upload_faces": "who is in files that were dropped onto the page",
}

FILES = sorted(
    path for path in ROOT.rglob("*.py") if path not in (ROOT / "__init__.py", ROOT / "__main__.py")
)


def dotted(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


MODULES = {dotted(path) for path in FILES}


def imported(path: Path) -> list[str]:
    """Modules and names of the package that a file imports, wherever the import line stands."""
    found: list[str] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} imports relatively: write the whole name"
            found += [f"{node.module}.{alias.name}" for alias in node.names] if node.module else []
    return [name.removeprefix("lookalike.") for name in found if name.startswith("lookalike.")]


def level(name: str) -> int | None:
    """The layer of a module or of a name in it: that of the longest entry which it begins with."""
    pieces = name.split(".")
    entries = (".".join(pieces[:length]) for length in range(len(pieces), 0, -1))
    return next((LEVEL[entry] for entry in entries if entry in LEVEL), None)


def test_every_file_is_in_the_table() -> None:
    assert [str(path) for path in FILES if level(dotted(path)) is None] == []
    assert [entry for entry in LEVEL if entry not in MODULES] == []


def test_the_table_of_the_guide_is_this_one() -> None:
    guide = (ROOT.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d) [^|]*\|[^|]*\| (.*) \|$", guide, re.MULTILINE)
    told = {int(layer): set(re.findall(r"`([\w/]+)`", cell)) for layer, cell in rows}
    assert {layer: {one.strip("/").replace("/", ".") for one in named} for layer, named in told.items()} == {
        layer: set(names) for layer, names in LAYERS.items()
    }


def test_every_file_that_the_guide_for_contributors_names_is_there() -> None:
    guide = (ROOT.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:\w+/)+\w+)\.py\b", guide)
    assert len(named) > 30
    roots = (ROOT, ROOT.parent)
    assert [one for one in named if not any((root / f"{one}.py").is_file() for root in roots)] == []


def test_the_root_holds_at_most_ten_modules() -> None:
    assert len(list(ROOT.glob("*.py"))) <= 10


def test_imports_go_down() -> None:
    assert [sentence for path in FILES for sentence in climbing(path)] == []


def climbing(path: Path) -> Iterator[str]:
    """A sentence for each import of a file that does not go down."""
    own, folder = level(dotted(path)), dotted(path).split(".")[0]
    assert own is not None
    for name in imported(path):
        other, home = level(name), name.split(".")[0]
        if other is None:  # a public name that lookalike/__init__.py offers: for the doors only
            if own != max(LAYERS) and name != "__version__":
                yield f"{path.relative_to(ROOT)} must name the file of {name}"
            continue
        is_strange = other == own and home != folder and {home, folder} & STRANGERS
        if other > own or (is_strange and own < 5 and (folder, home) not in ACQUAINTED):
            yield f"{path.relative_to(ROOT)} ({own}) may not import {name} ({other})"


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


def test_a_module_that_one_sibling_imports_says_why_it_is_one() -> None:
    """A file is a topic, not the second half of another one that had become long."""
    importers: dict[str, set[str]] = defaultdict(set)
    for path in FILES:
        for name in imported(path):
            module = name if name in MODULES else name.rpartition(".")[0]
            if module in MODULES and module != dotted(path):
                importers[module].add(dotted(path))
    commands = {f"cli.{place.partition('.')[0]}" for place in COMMANDS.values()}
    for module in commands & importers.keys():
        importers[module].add("cli.app")
    lonely = {
        module
        for module, users in importers.items()
        if len(users) == 1 and "cli.app" not in users and folder(module) == folder(next(iter(users)))
    }
    assert lonely - set(JUSTIFIED) == set(), "fold these into the one that imports them, or justify them"
    assert set(JUSTIFIED) - lonely == set(), "these need no reason any more"
    assert len(JUSTIFIED) <= 15


def folder(module: str) -> str:
    return module.rpartition(".")[0]


def test_no_file_is_long() -> None:
    long = {path.name: n for path in FILES if (n := len(path.read_text().splitlines())) > 600}
    assert not long, f"cut these where the idea changes: {long}"


def test_no_part_is_named_outside_its_own_file() -> None:
    """Adding a part edits no other file: names of parts stand in defaults only, never in a switch."""
    names = {name for kind in registry.KINDS for name in registry.names(kind)}
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Compare):
                compared = {n.value for n in ast.walk(node) if isinstance(n, ast.Constant)}
                assert not compared & names, f"{path.name} compares with the part {compared & names}"
