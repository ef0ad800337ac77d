"""The package as strangers get it: built from the sources alone, installed elsewhere, and used."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

from tests.cli_process import Ended
from tests.test_docs import DOCS, ROOT, blocks, check_session
from tests.waiting import PATIENCE


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an archive of the sources, and the wheel that was made of it."""
    out = tmp_path_factory.mktemp("dist")
    words = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(ROOT)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stdout + done.stderr
    return out


def test_the_wheel_holds_the_package_and_nothing_else(built: Path) -> None:
    [wheel] = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as opened:
        held = set(opened.namelist())
        [metadata] = [name for name in held if name.endswith(".dist-info/METADATA")]
        said = Parser().parsestr(opened.read(metadata).decode())
    listed = subprocess.run(
        ["git", "ls-files", "lookalike"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert {name for name in held if ".dist-info/" not in name} == set(listed.stdout.split())
    assert "lookalike/py.typed" in held
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(said.get_all("Provides-Extra") or ()) == set(project["optional-dependencies"])
    assert said["License-Expression"] == "Apache-2.0"


def test_the_archive_holds_what_a_contributor_needs(built: Path) -> None:
    [archive] = built.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        held = {name.partition("/")[2] for name in opened.getnames()}
    wanted = (
        "Makefile",
        "CONTRIBUTING.md",
        "CITATION.cff",
        "mkdocs.yml",
        "docs/index.md",
        "tests/test_package.py",
    )
    assert {*wanted, "README.md", "LICENSE"} <= held


def test_the_tutorial_runs_from_the_wheel(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In an environment that has the wheel and, instead of a download, the libraries of this one."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "there"], check=True)
    python = tmp_path / "there" / "bin" / "python"
    [place] = (tmp_path / "there" / "lib").glob("python*/site-packages")
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps", "--quiet"]
    subprocess.run([*pip, *built.glob("*.whl")], check=True, timeout=PATIENCE)
    # Found after the wheel; what these folders say of an editable lookalike is not read there.
    (place / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    monkeypatch.delenv("PYTHONPATH", raising=False)

    class There:
        """Runs what was installed."""

        def run(self, *words: str, cwd: Path) -> Ended:
            done = subprocess.run(
                [tmp_path / "there" / "bin" / "lookalike", *words],
                cwd=cwd,
                capture_output=True,
                text=True,
                timeout=PATIENCE,
            )
            return Ended(done.returncode, done.stdout, done.stderr)

    folder = tmp_path / "work"
    folder.mkdir()
    page = DOCS["first-people.md"]
    for kind, text, line in blocks(page):
        if kind == "python":
            text += "\nimport lookalike\nprint(lookalike.__file__)"
            done = subprocess.run(
                [python, "-c", text], cwd=folder, capture_output=True, text=True, timeout=PATIENCE
            )
            assert done.stdout.startswith(str(place)), done.stdout + done.stderr
        elif kind == "console":
            check_session(text, There(), folder, f"{page.name}, line {line}")
