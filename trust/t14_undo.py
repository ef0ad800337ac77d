"""T14: any judgements, then undo all: names and rankings are what they were."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from lookalike import Gallery, Search, open_search
from lookalike.errors import LookalikeError
from lookalike.gallery import decisions
from lookalike.progress import Track, silent
from lookalike.search.feedback import refine
from tests.small_world import small_world
from trust.apart import run_apart
from trust.outcome import Outcome, share_of

TITLE: Final = (
    "undo: up to 50 judgements, names, merges and splits, then undo all: rankings and names as at the start"
)
RELEASE: Final = 150
MOST: Final = 50
NAMES: Final = ("Ada", "Bo", "Cleo", "dora", "Ève")


def run(share: float = 1.0, seed: int = 0, track: Track = silent) -> Outcome:
    """In children."""
    return run_apart("T14", __name__, range(share_of(RELEASE, share)), seed, track)


class Ready(NamedTuple):
    """What a child needs."""

    folder: Path
    seed: int
    search: Search


def prepare(folder: Path, seed: int) -> Ready:
    """A gallery in which nothing is decided; its search is opened once, since decisions do not change it."""
    with Gallery(folder / "g", create=True) as gallery:
        for one in small_world(people=4, sets=3, faces=2)[0]:
            gallery.add(one)
    with Gallery(folder / "g") as gallery:
        return Ready(folder, seed, open_search(gallery, reranker="baseline"))


def state(gallery: Gallery, search: Search) -> str:
    """Names, verdicts, and rankings that know them."""
    judged = decisions.judged(gallery)
    people = sorted((one.name, sorted(one.sets)) for one in judged.people.values())
    said = [repr(people)]
    for set_id in gallery.ids():
        ranking = refine(search, set_id, judged.confirmed(set_id), judged.rejected(set_id)).ranking
        said.append(repr([(one.id, one.score) for one in ranking]))
    return "\n".join(said)


def case(ready: Ready, number: int) -> tuple[str | None, str]:
    """Some decisions to begin with, then more, then undo those."""
    chance = random.Random(f"{ready.seed} {number}")
    path = ready.folder / "work"
    for old in ready.folder.glob("work*"):
        old.unlink()
    path.write_bytes((ready.folder / "g").read_bytes())
    with Gallery(path) as gallery:
        for _ in range(chance.randrange(5)):
            _decide(gallery, chance)
        before, count = state(gallery, ready.search), _standing(gallery)
        for _ in range(chance.randint(1, MOST)):
            _decide(gallery, chance)
        between = state(gallery, ready.search)
        # One undo may take back several that were made at once.
        while _standing(gallery) > count:
            if decisions.undo(gallery) is None:
                return "nothing could be undone, though decisions stand", ""
        if _standing(gallery) != count:
            return f"{_standing(gallery)} decisions stand instead of {count}", ""
        if state(gallery, ready.search) != before:
            return "names or rankings are not those of the start", ""
        after = "changed between" if between != before else "not changed between"
    with Gallery(path) as gallery:
        if state(gallery, ready.search) != before:
            return "names or rankings are not those of the start after it was opened again", ""
    return None, after


def _standing(gallery: Gallery) -> int:
    return sum(one.kind != "undo" and not one.undone for one in gallery.decisions())


def _decide(gallery: Gallery, chance: random.Random) -> None:
    ids = gallery.ids()
    people = sorted(decisions.judged(gallery).people)
    query, *others = chance.sample(ids, chance.choice([2, 2, 3, 4]))
    ways: list[Callable[[], object]] = [
        lambda: decisions.judge(gallery, query, others, chance.choice(["same", "same", "different"])),
        lambda: decisions.judge(gallery, query, others[:1], "different"),
        lambda: decisions.name(gallery, [query], chance.choice(NAMES)),
    ]
    if people:
        person = chance.choice(people)
        own = decisions.judged(gallery).people[person].sets
        ways.append(lambda: decisions.rename(gallery, person, chance.choice(NAMES)))
        ways.append(lambda: decisions.merge(gallery, person, chance.choice(people)))
        ways.append(lambda: decisions.split(gallery, person, chance.sample(own, 1)))
    with suppress(LookalikeError):  # what contradicts itself is refused, and changes nothing
        chance.choice(ways)()
