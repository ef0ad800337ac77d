"""What tests of several parts of the intake need."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from lookalike.intake import source_child
from tests.cli_process import vectors, write_npz
from tests.intake.apart import Started


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Started:
    """Every child that is started."""
    processes: Started = []
    plain = source_child._started

    def start(limits: source_child.Limits) -> subprocess.Popen[bytes]:
        processes.append(plain(limits))
        return processes[-1]

    monkeypatch.setattr(source_child, "_started", start)
    return processes


@pytest.fixture
def npz(tmp_path: Path) -> Path:
    return write_npz(tmp_path / "x.npz", embeddings=vectors())
