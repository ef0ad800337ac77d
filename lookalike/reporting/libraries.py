"""The libraries that only a report needs."""

from __future__ import annotations

from importlib import import_module
from typing import Final

from lookalike.errors import BadInput

LIBRARIES: Final = {"matplotlib": "matplotlib.figure", "jinja2": "jinja2"}


def check_libraries() -> None:
    """Refuse to start a report that could not be drawn in the end.

    Raises
    ------
    BadInput
        If a library is missing, with the command that installs it.
    """
    for name, module in LIBRARIES.items():
        try:
            import_module(module)
        except ImportError as reason:
            raise BadInput(
                f"a report needs {name}, which cannot be imported: pip install 'lookalike[report]'"
            ) from reason
