"""Whoever is killed while forgetting has forgotten when the gallery is next opened, or has not begun."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.canaries import fill
from tests.waiting import PATIENCE

ROOT = Path(__file__).parents[2]
POINTS = 24


@pytest.mark.skipif(not hasattr(os, "fork"), reason="copies of a process need fork")
def test_killed_at_any_step(tmp_path: Path) -> None:
    (tmp_path / "template").mkdir()
    fill(tmp_path / "template" / "g")
    words = [sys.executable, "-m", "tests.forget_kills", str(tmp_path / "template"), str(POINTS)]
    ended = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE)
    assert ended.returncode == 0, ended.stderr
    told = re.fullmatch(r"(\d+) steps, (\d+) kills, (\d+) before it was done, (\d+) after\n", ended.stdout)
    assert told
    assert int(told[1]) > 200
    assert min(int(told[3]), int(told[4])) > 1, "kills on both sides of the moment"
