"""Once a run: what takes long to make is made by the first worker that needs it, and copied by each."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """A folder of this worker's own, with what `make` put into one, which stays for what it names."""
    base = factory.getbasetemp()
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / f"once-{name}"
    shared.mkdir(exist_ok=True)
    made, is_made = shared / "made", shared / "is made"
    with (shared / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not is_made.exists():
            shutil.rmtree(made, ignore_errors=True)  # of a worker that was ended
            made.mkdir()
            make(made)
            is_made.touch()
    return shutil.copytree(made, factory.mktemp(name) / name)
