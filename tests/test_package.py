"""The package as a whole: its names, and that it can be run."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

import lookalike


def test_dir_is_the_public_names() -> None:
    """What tab completion shows, in a process that has loaded none of it."""
    assert set(dir(lookalike)) == {*lookalike.__all__, "__version__"}
    assert all(hasattr(lookalike, name) for name in dir(lookalike))


def test_it_can_be_run_by_its_name() -> None:
    words = [sys.executable, "-m", "lookalike"]
    shown = subprocess.run([*words, "--version"], capture_output=True, text=True, check=True)
    assert shown.stdout == f"lookalike {lookalike.__version__}\n"
    refused = subprocess.run(
        [*words, "find", "none.gallery", "x"], capture_output=True, text=True, check=False
    )
    assert refused.returncode == 4
    assert refused.stderr.startswith("lookalike: there is no gallery at none.gallery")
    assert "Traceback" not in refused.stderr
    helped = subprocess.run([*words, "--help"], capture_output=True, text=True, check=True)
    assert "Usage: python -m lookalike " in helped.stdout


def test_modules_are_found_under_the_names_that_were_documented() -> None:
    code = """
import importlib, lookalike
for former, now in lookalike._FORMER.items():
    assert importlib.import_module(f"lookalike.{former}") is importlib.import_module(f"lookalike.{now}")
"""
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", code]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_former_name_warns() -> None:
    sys.modules.pop("lookalike.judging", None)
    with pytest.warns(DeprecationWarning, match=r"lookalike\.judging is lookalike\.gallery\.decisions now"):
        importlib.import_module("lookalike.judging")
