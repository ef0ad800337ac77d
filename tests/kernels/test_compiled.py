from __future__ import annotations

import os
from pathlib import Path

import numba
import numpy as np
import pytest

from lookalike import resources
from lookalike.errors import StorageFailed
from lookalike.kernels.compiled import compiled, forget_older, reordered


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

    monkeypatch.setattr(numba, "njit", lambda cache, **options: _njit(**options))
    loops = [compiled(doubled), reordered(doubled)]
    for loop in loops:
        monkeypatch.setattr(resources, "free_memory", lambda: 60_000_000)
        with pytest.raises(StorageFailed, match="loading machine code needs about 64 MB of memory and 60 MB"):
            loop(np.arange(3))
        assert not loop.signatures  # type: ignore[attr-defined]
        monkeypatch.setattr(resources, "free_memory", lambda: 70_000_000)
        assert loop(np.arange(3)).tolist() == [0, 2, 4]
        monkeypatch.setattr(resources, "free_memory", lambda: 0)
        assert loop(np.arange(4)).tolist() == [0, 2, 4, 6]


_njit = numba.njit
