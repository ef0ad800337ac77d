"""The record as files that people read in a review, and what differs between two of them, in sentences."""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

# A part of the record by the name of its file: text, or what JSON holds.
Record = dict[str, Any]

# Linear algebra gives other last bits on other processors, and the same ones on any number of threads.
RELATIVE, ABSOLUTE = 1e-9, 1e-10
DIGITS = 12
WIDTH = 160


def write(record: Record, folder: Path, exact: bool = False) -> None:
    """Write each part into its file; a file whose part is as good as equal keeps its bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    there = read(folder)
    for name in there.keys() - record.keys():
        (folder / name).unlink()
    for name, part in record.items():
        if name not in there or next(_differing(there[name], part, exact), None) is not None:
            text = part if isinstance(part, str) else _laid_out(part if exact else _rounded(part)) + "\n"
            (folder / name).write_text(text, encoding="utf-8")


def read(folder: Path) -> Record:
    """Read what `write` wrote."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.iterdir())}
    return {name: json.loads(text) if name.endswith(".json") else text for name, text in texts.items()}


def differences(old: Record, new: Record, exact: bool = False) -> list[str]:
    """What differs between two records, each in one sentence that names the file and the place in it."""
    found = [f"{name} is not recorded any more" for name in sorted(old.keys() - new.keys())]
    found += [f"{name} was not recorded before" for name in sorted(new.keys() - old.keys())]
    for name in sorted(old.keys() & new.keys()):
        found += [f"{name}{place}" for place in _differing(old[name], new[name], exact)]
    return found


def _differing(old: Any, new: Any, exact: bool, place: str = ":") -> Iterator[str]:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in old:
            if key in new:
                yield from _differing(old[key], new[key], exact, f"{place} {key} /")
            else:
                yield f"{place} {key} was there and is gone: {_short(old[key])}"
        yield from (f"{place} {key} is new: {_short(new[key])}" for key in new if key not in old)
        if list(old) != list(new) and set(old) == set(new):
            yield f"{place} the order of names was {_short(list(old))} and is {_short(list(new))}"
    elif isinstance(old, list | tuple) and isinstance(new, list | tuple):
        for number, (one, other) in enumerate(zip(old, new, strict=False)):
            yield from _differing(one, other, exact, f"{place} [{number}] /")
        if len(old) != len(new):
            yield f"{place} there were {len(old)} and are {len(new)}"
    elif isinstance(old, str) and isinstance(new, str) and "\n" in old + new:
        for line in difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=0):
            if line[:1] in "+-" and line[:3] not in ("---", "+++"):
                yield f"{place} {'there is now' if line[0] == '+' else 'there was'} the line {line[1:]!r}"
    elif not _equal(old, new, exact):
        yield f"{place.removesuffix(' /')} was {_short(old)} and is {_short(new)}"


def _equal(old: Any, new: Any, exact: bool) -> bool:
    if not exact and isinstance(old, float) and isinstance(new, float):
        return math.isclose(old, new, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    return type(old) is type(new) and bool(old == new)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 3]}..."


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, Mapping):
        return {key: _rounded(one) for key, one in value.items()}
    return [_rounded(one) for one in value] if isinstance(value, list | tuple) else value


def _laid_out(value: Any, indent: int = 0) -> str:
    """JSON with one line for what fits into one, and several values a line where they are many."""
    short = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if len(short) + indent <= WIDTH or not value or not isinstance(value, dict | list | tuple):
        return short
    inner = " " * (indent + 1)
    if isinstance(value, dict):
        body = [f"{_laid_out(key)}: {_laid_out(one, indent + 1)}" for key, one in value.items()]
    elif any(isinstance(one, dict | list | tuple) for one in value):
        body = [_laid_out(one, indent + 1) for one in value]
    else:
        body = _filled([_laid_out(one) for one in value], WIDTH - indent - 1)
    first, last = "{}" if isinstance(value, dict) else "[]"
    return f"{first}\n{inner}" + f",\n{inner}".join(body) + f"\n{' ' * indent}{last}"


def _filled(words: list[str], width: int) -> list[str]:
    lines = [words[0]]
    for word in words[1:]:
        if len(lines[-1]) + len(word) + 2 <= width:
            lines[-1] += f", {word}"
        else:
            lines.append(word)
    return lines
