"""T7: what contradicts itself is found by verify, and a search never makes something else of it."""

from __future__ import annotations

import random
from typing import Final

from lookalike import Gallery
from lookalike.errors import LookalikeError
from lookalike.gallery.verify import verify
from lookalike.progress import Track, silent
from trust import held
from trust.apart import run_apart
from trust.held import Ready, prepare
from trust.outcome import Outcome, share_of
from trust.planting import IN_GALLERY, plant_in_gallery

TITLE: Final = "planted inconsistencies: verify finds each; a search refuses, or answers exactly as before"
RELEASE: Final = 200
LEFT_OUT: Final = "derived tables that say something wrong under checksums that fit"
NAMES: Final = tuple(IN_GALLERY)

__all__ = ["case", "prepare", "run"]


def run(share: float = 1.0, seed: int = 0, track: Track = silent) -> Outcome:
    """Plant one after the other, in other places each time."""
    count = share_of(RELEASE, share)
    step = 1 if count >= len(NAMES) else 7  # a few that are not all of one kind
    return run_apart("T7", __name__, [number * step % RELEASE for number in range(count)], seed, track)


def case(ready: Ready, number: int) -> tuple[str | None, str]:
    """Plant, verify, search."""
    chance = random.Random(f"{ready.seed} {number}")
    name = NAMES[number % len(NAMES)]
    path = held.copy(ready)
    plant_in_gallery(path, IN_GALLERY[name], chance)
    try:
        is_found = any(not one.is_harmless for one in verify(path))
    except LookalikeError:
        is_found = True
    if not is_found:
        return f"{name}: verify does not find it", ""
    try:
        with Gallery(path) as gallery:
            answers = held.ranked(gallery)
    except LookalikeError:
        return None, "refused"
    if answers != ready.ranked:
        return f"{name}: verify finds it, but a search answers otherwise than before", ""
    return None, "answered as before"
