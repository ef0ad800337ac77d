from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

from lookalike import resources
from lookalike.errors import StorageFailed
from lookalike.kernels import compiled as compiling
from lookalike.kernels.cohorts import pool_known
from lookalike.kernels.compiled import compiled, forget_older, is_worthwhile, machine_code, reordered


def test_machine_code_older_than_any_source_is_forgotten(tmp_path: Path) -> None:
    kept = tmp_path / "__pycache__"
    kept.mkdir()
    for name, when in (("a.py", 10), ("b.py", 30), ("__pycache__/a.nbi", 20), ("__pycache__/b.nbi", 40)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (when, when))
    forget_older(tmp_path)
    assert [path.name for path in kept.iterdir()] == ["b.nbi"]
    forget_older(tmp_path / "nowhere")


def test_without_room_nothing_is_compiled_and_a_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiler itself would end the process. What is compiled already needs no more room."""

    def doubled(values: np.ndarray) -> np.ndarray:
        return values * 2

    monkeypatch.setattr(compiling, "_compiler", lambda: lambda cache, **options: numba.njit(**options))
    loops = [compiled(doubled), reordered(doubled)]
    for loop in loops:
        monkeypatch.setattr(resources, "free_memory", lambda: 60_000_000)
        with pytest.raises(StorageFailed, match="loading machine code needs about 64 MB of memory and 60 MB"):
            loop(np.arange(3))
        assert not machine_code(loop).signatures  # type: ignore[arg-type]
        monkeypatch.setattr(resources, "free_memory", lambda: 70_000_000)
        assert loop(np.arange(3)).tolist() == [0, 2, 4]
        monkeypatch.setattr(resources, "free_memory", lambda: 0)
        assert loop(np.arange(4)).tolist() == [0, 2, 4, 6]


def test_a_loop_is_compiled_with_those_that_it_calls_when_it_is_first_called() -> None:
    """In a process of its own: here numba is loaded already."""
    words = """
import sys, pickle
import numpy as np
from lookalike.kernels import cohorts
assert "numba" not in sys.modules
starts, sets, values = np.array([0, 2, 3]), np.array([0, 1, 0]), np.array([1.0, 2.0, 3.0])
found = np.empty(3)
cohorts.pool_known(starts, sets, values, np.array([[1], [0]]), np.full((2, 1), 0.5), 0, 2, found)
assert "numba" in sys.modules
assert pickle.loads(pickle.dumps(cohorts.residual_of)) is cohorts.residual_of
print(found.tolist(), cohorts.residual_of(starts, sets, values, 0, 1))
"""
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    slow = np.empty(3)
    given = np.array([0, 2, 3]), np.array([0, 1, 0]), np.array([1.0, 2.0, 3.0])
    pool_known.py_func(*given, np.array([[1], [0]]), np.full((2, 1), 0.5), 0, 2, slow)  # type: ignore[attr-defined]
    assert done.stdout == f"{slow.tolist()} 2.0\n"


def test_machine_code_is_worthwhile_where_it_is_there_or_where_there_is_much_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert is_worthwhile(1)  # numba is loaded
    monkeypatch.delitem(sys.modules, "numba")
    monkeypatch.setattr(compiling._spent, "products", 0)
    assert not is_worthwhile(compiling.ENOUGH)
    assert is_worthwhile(1)  # what was done before counts
