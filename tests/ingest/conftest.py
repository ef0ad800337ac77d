"""What tests of several parts of the intake need."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from lookalike.ingest import sandbox
from tests.cli_process import vectors, write_npz
from tests.ingest.apart import Started


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Started:
    """Every child that is started."""
    processes: Started = []
    plain = sandbox._started

    def start(limits: sandbox.Limits) -> subprocess.Popen[bytes]:
        processes.append(plain(limits))
        return processes[-1]

    monkeypatch.setattr(sandbox, "_started", start)
    return processes


@pytest.fixture
def npz(tmp_path: Path) -> Path:
    return write_npz(tmp_path / "x.npz", embeddings=vectors())
