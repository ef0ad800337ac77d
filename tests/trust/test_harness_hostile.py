"""The tests of trust at toy size: files and requests that mean no good."""

from __future__ import annotations

import pytest

from trust.t22_code import forbidden
from trust.tests import every_test

SEED = 20261116
TESTS = every_test()


@pytest.mark.parametrize(
    ("name", "share", "least"),
    [
        ("T19", 0.02, 20),
        ("T20", 0.01, 2),
        ("T21", 0.05, 50),
        ("T22", 0.1, 5),
        ("T23", 0.4, 20),
        ("T28", 0.08, 200),
    ],
)
def test_nothing_fails(name: str, share: float, least: int) -> None:
    outcome = TESTS[name].run(share, SEED)
    assert outcome.failures == []
    assert outcome.cases >= least


@pytest.mark.parametrize(
    "line",
    [
        "import pickle",
        "from joblib import load",
        "eval(text)",
        "os.system(text)",
        "np.load(path)",
        "np.load(path, allow_pickle=True)",
        "subprocess.run(text, shell=True)",
    ],
)
def test_the_syntax_tree_is_really_read(tmp_path, line: str) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "a.py").write_text(f"x = 1\n{line}\n")
    [found] = forbidden(tmp_path / "package")
    assert found.startswith("package/a.py:2 ")
