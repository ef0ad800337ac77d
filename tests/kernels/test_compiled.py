from __future__ import annotations

import os
from pathlib import Path

from lookalike.kernels.compiled import forget_older


def test_machine_code_older_than_any_source_is_forgotten(tmp_path: Path) -> None:
    kept = tmp_path / "__pycache__"
    kept.mkdir()
    for name, when in (("a.py", 10), ("b.py", 30), ("__pycache__/a.nbi", 20), ("__pycache__/b.nbi", 40)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (when, when))
    forget_older(tmp_path)
    assert [path.name for path in kept.iterdir()] == ["b.nbi"]
    forget_older(tmp_path / "nowhere")
