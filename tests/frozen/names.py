"""Public names: all that `docs/reference/python.md` imports or lists, with what can be given to it."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import re
from pathlib import Path
from typing import Any

import lookalike

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "python.md"


def public_names() -> str:
    """One line a name, and one below it for each member or field."""
    lines = []
    for module, name in sorted({("lookalike", one) for one in lookalike.__all__} | _imported()):
        found = getattr(importlib.import_module(module), name)
        lines.append(f"{module}.{name}{_called(found)}")
        if inspect.isclass(found):
            lines += [f"    {member}" for member in _members(found)]
    return "\n".join(lines) + "\n"


def _imported() -> set[tuple[str, str]]:
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    nodes = [node for block in blocks for node in ast.walk(ast.parse(block))]
    return {
        (str(node.module), alias.name)
        for node in nodes
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("lookalike")
        for alias in node.names
    }


def _members(found: type[Any]) -> list[str]:
    said = {}
    for name, member in inspect.getmembers(found):
        if not name.startswith("_") and not hasattr(Exception, name) and not hasattr(tuple, name):
            is_method = callable(member) and not isinstance(member, property)
            said[name] = f"{name}{_called(member)}" if is_method else name
    if dataclasses.is_dataclass(found):
        said |= {field.name: field.name for field in dataclasses.fields(found)}
    return [said[name] for name in sorted(said)]


def _called(found: Any) -> str:
    """The parameters with their defaults; a default that is a function or an object is told by its name."""
    try:
        given = inspect.signature(found).parameters.values()
    except (TypeError, ValueError):
        return ""
    told = [
        str(one.replace(annotation=one.empty, default=one.empty)) + _default(one.default)
        for one in given
        if one.name != "self"
    ]
    return f"({', '.join(told)})"


def _default(given: Any) -> str:
    if given is inspect.Parameter.empty:
        return ""
    simple = given is None or isinstance(given, str | int | float | tuple)
    return f"={given!r}" if simple else f"={getattr(given, '__name__', type(given).__name__)}"
