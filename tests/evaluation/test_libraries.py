from __future__ import annotations

import subprocess
import sys

import pytest

from lookalike.errors import BadInput
from lookalike.evaluation.drawing import LIBRARIES, check_libraries


def test_installed_libraries_pass() -> None:
    check_libraries()


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_missing_library_is_named_with_its_cure(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, LIBRARIES[name], None)
    with pytest.raises(BadInput, match=rf"needs {name}.*pip install 'lookalike\[report\]'"):
        check_libraries()


def test_importing_loads_neither() -> None:
    modules = ("report", "drawing", "figures", "learning", "sampling")
    lines = "; ".join(f"import lookalike.evaluation.{name}" for name in modules)
    check = f"{lines}; import sys; print({{'matplotlib', 'jinja2'}} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "set()"
