"""Files of other packages: found without running them, and held to what they must be."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from lookalike import registry
from lookalike.descriptors.contract import ModelCard
from lookalike.errors import BadInput
from tests.waiting import PATIENCE

CONTENT = b"weights" * 100


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package that must not be imported, with a file in it."""
    folder = tmp_path / "some_models"
    (folder / "data").mkdir(parents=True)
    (folder / "__init__.py").write_text("raise RuntimeError('its code is never run')")
    (folder / "data" / "net.bin").write_bytes(CONTENT)
    monkeypatch.syspath_prepend(tmp_path)
    return folder


CARD = ModelCard(
    name="Net",
    user="the descriptor net",
    package="some_models",
    path="data/net.bin",
    size=len(CONTENT),
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    install="pip install some-models",
    release="some-models==1.2",
    licence="CC0-1.0",
    source="nowhere",
    training="nothing",
    weak="everybody",
)
# pip leaves what is there as it is, unless it is told.
AGAIN = "pip install --force-reinstall --no-deps some-models==1.2$"


def test_the_file_is_found_and_the_package_is_not_imported(package: Path) -> None:
    assert CARD.find() == package / "data" / "net.bin"
    assert CARD.read() == CONTENT
    assert CARD.file == "net.bin"
    assert "some_models" not in sys.modules


def test_without_the_package() -> None:
    with pytest.raises(BadInput) as refused:
        replace(CARD, package="no_such_models").read()
    assert str(refused.value) == (
        "the descriptor net needs net.bin of the package no_such_models, which is not installed: "
        "pip install some-models"
    )


def test_a_package_that_moved_it(package: Path) -> None:
    (package / "data" / "net.bin").rename(package / "net.bin")
    with pytest.raises(BadInput, match=rf"has no 'data/net\.bin', as if it had moved the file: {AGAIN}"):
        CARD.read()


def test_a_file_that_is_cut_off(package: Path) -> None:
    (package / "data" / "net.bin").write_bytes(CONTENT[:-1])
    with pytest.raises(BadInput, match=f"is cut off: it has 699 of 700 bytes: {AGAIN}"):
        CARD.read()


def test_another_file(package: Path) -> None:
    other = CONTENT[:-1] + b"!"
    (package / "data" / "net.bin").write_bytes(other)
    digits = hashlib.sha256(other).hexdigest()[:12]
    with pytest.raises(
        BadInput, match=f"another one: its SHA-256 starts with {digits}, not {CARD.sha256[:12]}: {AGAIN}"
    ):
        CARD.read()


def test_a_file_that_cannot_be_read(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(BadInput, match=rf"cannot be read \(.*Permission denied\): {AGAIN}"):
        CARD.read()


@pytest.mark.parametrize("name", registry.names("descriptors"))
def test_our_own_cards_are_true(name: str) -> None:
    for card in registry.part_class("descriptors", name).cards:
        assert len(card.read()) == card.size
        assert name in card.user
        assert all((card.licence, card.source, card.training, card.weak))


@pytest.mark.parametrize(
    "work",
    [
        "from lookalike.ingest.detect import YUNET; YUNET.read(); import onnxruntime",
        "from lookalike import registry; registry.build('descriptors', 'sface').check()",
        "from lookalike.kernels.rounded import is_quick; is_quick()",
        "from lookalike.cli.doctor import findings; from pathlib import Path; findings(Path('.'))",
    ],
)
def test_onnx_runtime_reports_nothing(work: str, tmp_path: Path) -> None:
    """Left alone it keeps what it will tell its makers in the user's folder for caches, from the first."""
    pytest.importorskip("onnxruntime")
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / ".cache")}
    told = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    done = subprocess.run(
        [sys.executable, "-c", f"{work}\nimport sys; assert 'onnxruntime' in sys.modules"],
        env={**told, **home, "NUMBA_CACHE_DIR": str(tmp_path / "numba")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    assert not list(tmp_path.rglob("*Microsoft*"))
