"""Two nodes, one of which has another lookalike, or none: a search is refused, `status` shows the node."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

import lookalike
from lookalike import Gallery
from lookalike.engines._ray_actors import versions
from tests.cli_process import run, tree, works
from tests.engines.nodes import two_nodes
from tests.small_world import small_world
from tests.waiting import until

SETS = small_world(people=6, sets=4, faces=3)[0]
OTHER = "0.0.1"
HERE = versions()
THERE = HERE.replace(f"lookalike {lookalike.__version__}", f"lookalike {OTHER}")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The processes of the second node find a copy of lookalike first, which calls itself older."""
    modules = tmp_path_factory.mktemp("modules")
    copy = shutil.copytree(Path(lookalike.__file__).parent, modules / "lookalike")
    text, own = (copy / "__init__.py").read_text(), f'__version__ = "{lookalike.__version__}"'
    assert text.count(own) == 1
    (copy / "__init__.py").write_text(text.replace(own, f'__version__ = "{OTHER}"'))
    with two_nodes({"PYTHONPATH": str(modules)}) as nodes:
        yield nodes.address


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A gallery that was searched before, so that a search has nothing to write."""
    found = tmp_path_factory.mktemp("galleries") / "one.gallery"
    with Gallery(found, create=True) as gallery:
        for one in SETS:
            gallery.add(one)
    for _ in range(2):  # the first writes tables, the second notes that it has looked through them
        works("find", found, SETS[0].id, cwd=found.parent)
    return found


def files_of(folder: Path) -> dict[str, str]:
    """What lies there for good: SQLite's own files come and go."""
    return {name: held for name, held in tree(folder).items() if not name.endswith(("-shm", "-wal"))}


def test_a_search_is_refused_with_both_versions_and_changes_nothing(address: str, path: Path) -> None:
    before = files_of(path.parent)
    said = run("find", path, SETS[0].id, "--engine", "ray", "--address", address, cwd=path.parent)
    assert (said.code, said.out) == (3, ""), said
    who = f"{socket.gethostname()}, a machine of the cluster,"
    why = f"{who} has {THERE}, the one that asks has {HERE}: install the same on all"
    assert said.err == f"lookalike: {why}\n"
    assert files_of(path.parent) == before


def test_status_shows_which_machine_it_is(address: str, path: Path) -> None:
    before = files_of(path.parent)
    asked = ("status", path, "--engine", "ray", "--address", address)
    # On a busy machine a node may need longer to start a process than `status` waits.
    until(lambda: "does not answer yet" not in works(*asked, cwd=path.parent).out)
    lines = works(*asked, cwd=path.parent).out.splitlines()
    [good, wrong] = sorted((one for one in lines if one.startswith("machine: ")), key=len)
    assert good.startswith(f"machine: {socket.gethostname()}: 1 processor, ")
    assert good.endswith(" memory in use")
    assert wrong.startswith(f"machine: {socket.gethostname()}: 1 processor, ")
    assert wrong.endswith(f" memory in use: it has {THERE}, this one {HERE}")
    told = works(*asked, "--json", cwd=path.parent).json
    assert sorted(one["wrong"] for one in told["machines"]) == ["", f"it has {THERE}, this one {HERE}"]
    assert files_of(path.parent) == before


def test_a_machine_without_lookalike(path: Path, tmp_path: Path) -> None:
    """Ray finds that out before anything of ours is asked there."""
    (tmp_path / "lookalike").mkdir()
    lacks = "raise ModuleNotFoundError(\"No module named 'lookalike'\", name='lookalike')"
    (tmp_path / "lookalike" / "__init__.py").write_text(lacks)
    with two_nodes({"PYTHONPATH": str(tmp_path)}) as nodes:
        where = ("--engine", "ray", "--address", nodes.address)
        said = run("find", path, SETS[0].id, *where, cwd=path.parent)
        lines = works("status", path, *where, cwd=path.parent).out.splitlines()
    assert (said.code, said.out) == (4, ""), said
    assert said.err == (
        "lookalike: a machine of the cluster lacks lookalike: install lookalike there; "
        "`lookalike status` shows which it is\n"
    )
    assert sum(": lookalike cannot run there (" in line for line in lines) == 1
