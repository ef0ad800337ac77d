"""Find a named part: the one look-up rule of the project.

A part is a choice a user makes by name: a set similarity, a descriptor, a preparation, a reranker, an engine.
Its name is the name of its file in the folder of its kind, or of an entry point that another package
registers under ``lookalike.<kind>``. Each kind has a ``contract.py`` whose ``PART`` is the class to keep to.
What is stored of a part bears its class's ``stored_name``, wherever the class lies by then.

A part written as text is its name, then its options: ``max_correlation:dimension=4,centre=True``.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import pkgutil
import sys
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from lookalike.errors import BadInput, NotFound

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

KINDS = ("similarities", "descriptors", "preparations", "rerankers", "engines")


def names(kind: str) -> list[str]:
    """Names of all parts of a kind, ours and those of other packages, in alphabetical order."""
    return sorted({*_own_names(kind), *_entry_points(kind)})


def is_known(kind: str, name: str) -> bool:
    """Whether there is a part of this name; other packages are asked only if it is none of ours."""
    return name in _own_names(kind) or name in _entry_points(kind)


def part_class(kind: str, name: str) -> type[Any]:
    """Return the class of a named part, importing its file only now."""
    if name in _own_names(kind):
        module = importlib.import_module(f"lookalike.{kind}.{name}")
        own = [c for c in vars(module).values() if inspect.isclass(c) and c.__module__ == module.__name__]
        [found] = [c for c in own if issubclass(c, contract(kind)) and not inspect.isabstract(c)]
        return found
    offered = _entry_points(kind).get(name)
    if offered is None:
        raise NotFound(
            f"there is no {_singular(kind)} called {name!r}: choose one of {', '.join(names(kind))}"
        )
    try:
        found = offered.load()
    except Exception as reason:
        raise NotFound(
            f"the {_singular(kind)} {name!r} of another package cannot be loaded: {reason}"
        ) from reason
    if not (inspect.isclass(found) and issubclass(found, contract(kind))):
        raise NotFound(
            f"{offered.value} is offered as {_singular(kind)} {name!r} but does not keep the contract"
        )
    return found


def build(kind: str, given: Any) -> Any:
    """Return a part: a name with options is looked up and built; an object that keeps the contract stays."""
    if isinstance(given, contract(kind)):
        return given
    if not isinstance(given, str):
        raise BadInput(
            f"a {_singular(kind)} is a name or a {contract(kind).__name__}, got {type(given).__name__}: "
            f"choose one of {', '.join(names(kind))}"
        )
    name, _, text = given.partition(":")
    cls = part_class(kind, name)
    known = list(_parameters(cls))  # type: ignore[arg-type]  # classes can be hashed
    options: dict[str, Any] = {}
    for piece in filter(None, (p.strip() for p in text.split(","))):
        key, equals, value = (text.strip() for text in piece.partition("="))
        if not equals or key not in known:
            allowed = ", ".join(f"{k}=..." for k in known) or "none"
            # A path with a comma in it comes here in pieces.
            hint = "" if equals else " (commas separate options)"
            raise BadInput(f"{name!r} has no option {piece!r}: its options are {allowed}{hint}")
        options[key] = _value(value)
    return cls(**options)


def spec(part: Any) -> str:
    """Write a part as text with every option, so that equal texts mean equal parts.

    Stored tables are found by this text. An option that a part was given later is named in its
    ``added_options`` and left out at its default: what was stored before is still found.
    """
    cls = type(part)
    # Of the class itself: who derives from a part makes another one.
    name = vars(cls).get("stored_name") or _offered_name(f"{cls.__module__}:{cls.__qualname__}")
    added = getattr(part, "added_options", ())
    options = ",".join(
        f"{key}={getattr(part, key)}"
        for key, option in _parameters(cls).items()  # type: ignore[arg-type]
        if key not in added or getattr(part, key) != option.default
    )
    return f"{name}:{options}" if options else name


def contract(kind: str) -> type[Any]:
    """Return the class that every part of a kind derives from."""
    found: type[Any] = importlib.import_module(f"lookalike.{kind}.contract").PART
    return found


@cache
def _own_names(kind: str) -> tuple[str, ...]:
    folder = importlib.import_module(f"lookalike.{kind}").__path__
    found = (module.name for module in pkgutil.iter_modules(folder))
    return tuple(name for name in found if name != "contract" and not name.startswith("_"))


@cache
def _parameters(cls: type[Any]) -> Mapping[str, inspect.Parameter]:
    """The options of a part; looking for them takes long, and they are asked for several times a query."""
    return inspect.signature(cls).parameters


def _entry_points(kind: str) -> dict[str, EntryPoint]:
    """What other packages offer, read again when something was installed: it takes longer than a query."""
    return _read_entry_points(kind, tuple((folder, _changed(folder)) for folder in sys.path))


@lru_cache(maxsize=2 * len(KINDS))
def _read_entry_points(kind: str, folders: tuple[tuple[str, int], ...]) -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points  # which reads mail, and takes long to load

    return {point.name: point for point in entry_points(group=f"lookalike.{kind}")}


def _changed(folder: str) -> int:
    try:
        return os.stat(folder or ".").st_mtime_ns
    except OSError:
        return 0


@cache
def _offered_name(where: str) -> str:
    """Name under which another package offers the class that lies there; its full name if no package does."""
    found = (name for kind in KINDS for name, point in _entry_points(kind).items() if point.value == where)
    return next(found, where.replace(":", "."))


def _singular(kind: str) -> str:
    return "similarity" if kind == "similarities" else kind.removesuffix("s")


def _value(text: str) -> Any:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
