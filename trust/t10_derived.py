"""T10: what is derived may be lost or damaged; it is made again, and the ranking stays what it was."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import Final

from lookalike import Gallery, index
from lookalike.errors import LookalikeError
from lookalike.gallery.verify import repair, verify
from lookalike.progress import Track, silent
from tests.test_damage import DAMAGES
from trust import held
from trust.apart import run_apart
from trust.held import Ready, prepare
from trust.outcome import Outcome, share_of

TITLE: Final = "derived data: tables, second stage, notes deleted or damaged; rebuilt, the ranking the same"
RELEASE: Final = 60
LEFT_OUT: Final = "thumbnails: none are kept on disk"

__all__ = ["case", "prepare", "run"]


def run(share: float = 1.0, seed: int = 0, track: Track = silent) -> Outcome:
    """In children."""
    return run_apart("T10", __name__, range(share_of(RELEASE, share)), seed, track)


def case(ready: Ready, number: int) -> tuple[str | None, str]:
    """Damage a table, a folder of tables or all of them; then search, or repair and search."""
    chance = random.Random(f"{ready.seed} {number}")
    path = held.copy(ready)
    what = _spoil(path, chance)
    how = chance.choice(["searched", "repaired"])
    try:
        with Gallery(path) as gallery:
            if how == "repaired":
                left = repair(gallery, verify(gallery)).left
                if left or [one for one in verify(gallery) if not one.is_harmless]:
                    return f"{what}: repair left something", how
            if held.ranked(gallery) != ready.ranked:
                return f"{what}, {how}: another ranking", how
            index(gallery, "max_correlation")  # which no search here has asked for
    except LookalikeError as reason:
        return f"{what}, {how}: refused, though it is derived: {reason}", how
    if wrong := [one for one in verify(path) if not one.is_harmless]:
        return f"{what}, {how}: afterwards verify finds {wrong[0].what}", how
    return None, how


def _spoil(path: Path, chance: random.Random) -> str:
    derived = Path(f"{path}.derived")
    way = chance.choice(["all", "a kind", "a table", *DAMAGES, *DAMAGES])
    if way == "all":
        shutil.rmtree(derived)
        return "all tables deleted"
    if way in ("a kind", "a table"):
        places = sorted(one for one in derived.glob("*" if way == "a kind" else "*/*") if one.is_dir())
        chosen = chance.choice(places)
        shutil.rmtree(chosen)
        return f"{way} deleted ({chosen.name})"
    file = chance.choice(held.files(derived))
    DAMAGES[way](file)
    return f"{way} of {file.relative_to(derived)}"
