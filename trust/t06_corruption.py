"""T6: damage to any file is told with the name of the file, or changes no answer."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Final

from lookalike import Gallery
from lookalike.errors import LookalikeError
from lookalike.gallery.verify import verify
from lookalike.progress import Track, silent
from trust import held
from trust.apart import run_apart
from trust.held import Ready, prepare
from trust.outcome import Outcome, share_of
from trust.spoiling import spoilt

TITLE: Final = "corruption: bits, cuts, zeroed ranges and exchanged files in every file of a gallery"
RELEASE: Final = 500
LEFT_OUT: Final = (
    "damage in memory, and to files that are open; how many faces a model beside the current one described, "
    "which only verify compares"
)

__all__ = ["case", "prepare", "run"]


def run(share: float = 1.0, seed: int = 0, track: Track = silent) -> Outcome:
    """Spoil a file of a copy, ask, and compare."""
    return run_apart("T6", __name__, range(share_of(RELEASE, share)), seed, track)


def case(ready: Ready, number: int) -> tuple[str | None, str]:
    """Spoil one file, or exchange two; then ask for everything."""
    chance = random.Random(f"{ready.seed} {number}")
    path = held.copy(ready)
    if chance.random() < 0.2:  # files that were found good a moment ago are noted as such
        with Gallery(path) as gallery:
            held.ranked(gallery)
    what = _spoil(path, chance)
    named = "identical"
    try:
        with Gallery(path) as gallery:
            answers = (held.ranked(gallery), held.told(gallery))
        if answers != (ready.ranked, ready.told):
            which = "rankings" if answers[0] != ready.ranked else "sets, names or files"
            return f"{what}: other {which}, silently", ""
    except LookalikeError as reason:
        if held.NAME not in str(reason):
            return f"{what}: no file is named: {reason}", ""
        named = "refused"
    return _verified(path, what, named), named


def _verified(path: Path, what: str, named: str) -> str | None:
    """Verify must not die of it, and must find what a search was refused for."""
    try:
        found = [one for one in verify(path) if not one.is_harmless]
    except LookalikeError:
        return None
    if named == "refused" and not found:
        return f"{what}: a search is refused, but verify finds nothing"
    return None


def _spoil(path: Path, chance: random.Random) -> str:
    derived = [one for one in held.files(path.parent) if one != path]
    file = path if chance.random() < 0.5 or not derived else chance.choice(derived)
    if file != path and chance.random() < 0.15:
        other = chance.choice([*derived, path])
        one, two = file.read_bytes(), other.read_bytes()
        file.write_bytes(two)
        if other != path:
            other.write_bytes(one)
        return f"{file.name} exchanged for {other.name}"
    content, how = spoilt(file.read_bytes(), chance)
    file.write_bytes(content)
    return f"{how} in {file.relative_to(path.parent)}"
