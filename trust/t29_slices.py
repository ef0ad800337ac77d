"""T29: a gallery cut into slices answers as it does in one piece, to the last bit, by every engine."""

from __future__ import annotations

import importlib.util
import json
import random
import shutil
import time
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from lookalike import FaceSet, Gallery, index, registry
from lookalike.engines.contract import Engine
from lookalike.errors import BadInput
from lookalike.indexing.fit import calibrate, open_shortlist, train
from lookalike.indexing.slices import SpreadSets
from lookalike.indexing.transform import AUTO
from lookalike.method.shortlist import Sizes
from lookalike.method.tables import Tables
from lookalike.progress import Track, silent
from lookalike.search.query import Search
from trust.apart import run_apart
from trust.outcome import Outcome, share_of

TITLE: Final = (
    "slices: queries to a gallery in one piece, and in 1, 2, 3 and 7 slices held by every engine, with every "
    "similarity and second stage: rankings, shortlists, probabilities and evidence, bit by bit"
)
# Sixteen worlds: each engine with each similarity in two numbers of slices, each of these four times.
RELEASE: Final = 1_344
LEFT_OUT: Final = "processors of different kinds, which may round differently; machines apart, which T31 has"
# Two first: the smallest share that reaches Ray tries these.
SLICES: Final = (2, 3, 7, 1)
# So many queries by id, and as many from outside, for each second stage of a world.
OF_A_KIND: Final = 3
# Few references, since learning takes longer than all else here.
OPTIONS: Final = {"learnt": "learnt:references=3"}
# Of worlds so small only such shortlists are shorter than the gallery.
SHORT: Final = Sizes(guessed=8, kept=12, alone=10, trusted=3, friends=3, served=6)


def run(share: float = 1.0, seed: int = 0, track: Track = silent) -> Outcome:
    """In children; one Ray serves all worlds of a child. Cases are queries."""
    started, queries = time.monotonic(), 2 * OF_A_KIND * len(registry.names("rerankers"))
    numbers = [one for one in range(-(-share_of(RELEASE, share) // queries)) if _can_run(one)]
    found = run_apart("T29", __name__, numbers, seed, track)
    note = f"worlds: {found.note}" + ("" if _has_ray() else "; Ray is not installed")
    return Outcome("T29", queries * found.cases, found.failures, time.monotonic() - started, note)


class Way(NamedTuple):
    """How a case holds its sets."""

    engine: str
    slices: int
    similarity: str


def way(number: int) -> Way:
    """All ways in turn: every similarity in this process, each in other slices; then by the next engine."""
    engines = sorted(registry.names("engines"), key=lambda name: not registry.build("engines", name).is_here)
    every = list(product(range(len(SLICES)), engines, enumerate(registry.names("similarities"))))
    turn, engine, (place, similarity) = every[number % len(every)]
    return Way(engine, SLICES[(turn + place) % len(SLICES)], similarity)


class Ready(NamedTuple):
    """What a child needs."""

    folder: Path
    seed: int
    engines: dict[tuple[str, int], Engine]


def prepare(folder: Path, seed: int) -> Ready:
    """Engines that serve all cases; they start with the first."""
    every = product(registry.names("engines"), SLICES)
    return Ready(folder, seed, {one: registry.build("engines", f"{one[0]}:slices={one[1]}") for one in every})


def case(ready: Ready, number: int) -> tuple[str | None, str]:
    """One world in one piece and in slices, asked the same."""
    chance, chosen = random.Random(f"{ready.seed} {number}"), way(number)
    folder = ready.folder / "world"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    sets = world(chance)
    preparation = written(folder, sets, chosen, chance)
    note = f"in {chosen.slices} by {chosen.engine}"
    with Gallery(folder / "one") as whole, Gallery(folder / "cut") as cut:
        about, engine = (chosen.similarity, silent, preparation), ready.engines[chosen.engine, chosen.slices]
        tables, spread = index(whole, *about), index(cut, *about, engine)
        try:
            for name in registry.names("rerankers"):
                queries = drawn_queries(sets, chance)
                expected = answers(whole, tables, name, queries)
                if wrong := difference(answers(cut, spread, name, queries, at_once=True), expected):
                    return f"{chosen}, {name}, {preparation}, {len(sets)} sets: {wrong}", note
                if wrong := _of_shortlists((whole, tables), (cut, spread), name, queries):
                    return f"{chosen}, shortlist, {name}, {preparation}, {len(sets)} sets: {wrong}", note
        finally:
            let_go(spread)
    return None, note


# Worlds.


def world(chance: random.Random, smallest: int = 30, largest: int = 120) -> list[FaceSet]:
    """People with several sets each, some alike to the bit, under ids of films and others, in any order."""
    rng = np.random.default_rng(chance.randrange(2**32))
    dimension, count = chance.choice([5, 12, 33, 128]), round(chance.triangular(smallest, largest, smallest))
    people = rng.normal(size=(chance.randint(4, max(5, count // 3)), dimension)) + chance.choice([0.0, 1.0])
    ids = [
        "a",
        "B",
        "ä",
        "名",
        *(f"s{n}" for n in range(count)),
        *(f"film {n % 9}.mp4#{n}" for n in range(count)),
    ]
    sets: list[FaceSet] = []
    for id in chance.sample(ids, count):
        if sets and chance.random() < 0.1:
            faces = np.array(chance.choice(sets).faces)  # a tie
        else:
            clip = people[chance.randrange(len(people))] + 0.6 * rng.normal(size=dimension)
            faces = clip + chance.choice([0.05, 0.3, 1.0]) * rng.normal(
                size=(chance.randint(1, 8), dimension)
            )
            faces = faces * chance.choice([1.0, 1.0, 1e-6, 1e6])
        sets.append(FaceSet(id, faces.astype(np.float32)))
    return sets


def written(folder: Path, sets: Sequence[FaceSet], chosen: Way, chance: random.Random) -> str:
    """Write the sets into two galleries; return how their faces are to be prepared.

    Every fourth of those to be cut is indexed when it holds half of them, and takes the others then.
    """
    write(folder / "one", sets)
    if chance.random() < 0.75:
        write(folder / "cut", sets)
        return chance.choice([AUTO, *registry.names("preparations")])
    half = len(sets) // 2
    write(folder / "cut", sets[:half])
    # What is learnt of half of the sets is kept: only where nothing is do both prepare alike.
    preparation = "none"
    with Gallery(folder / "cut") as cut:
        index(cut, chosen.similarity, preparation=preparation)
        for one in sets[half:]:
            cut.add(one)
    return preparation


def write(path: Path, sets: Sequence[FaceSet]) -> None:
    """A gallery in one file."""
    with Gallery(path, create=True) as gallery:
        for one in sets:
            gallery.add(one)


# Questions and answers.


def drawn_queries(sets: Sequence[FaceSet], chance: random.Random) -> list[str | FaceSet]:
    """Ids of sets; then as many from outside: strangers, or faces much like those of a set."""
    rng = np.random.default_rng(chance.randrange(2**32))
    found: list[str | FaceSet] = [chance.choice(sets).id for _ in range(OF_A_KIND)]
    for _ in range(OF_A_KIND):
        like = np.asarray(chance.choice(sets).faces, dtype=np.float64)
        noise = rng.normal(size=like.shape) * np.abs(like).max()
        found.append(FaceSet("asked", (like + chance.choice([0.0, 0.1, 3.0]) * noise).astype(np.float32)))
    return found


def answers(
    gallery: Gallery, tables: Tables, reranker: str, queries: Sequence[str | FaceSet], at_once: bool = False
) -> list[str]:
    """What a gallery says, as text: a ranking of all sets for each query, then evidence for some answers."""
    fitted = train(tables, OPTIONS.get(reranker, reranker), 0, gallery)
    search = Search(tables, fitted, None, calibrate(tables, fitted, 0, gallery))
    ranked = list(search.find_many(queries)) if at_once else [search.find(one) for one in queries]
    asked = zip(queries[::OF_A_KIND], ranked[::OF_A_KIND], strict=True)
    proofs = [search.explain(query, one.ids[len(one.ids) // 4]) for query, one in asked]
    return [*(text(one.to_dict()) for one in ranked), *(text(one.to_dict()) for one in proofs)]


def text(said: dict[str, Any]) -> str:
    """Plain values as text, in which numbers that differ in one bit differ."""
    return json.dumps(said)


def difference(found: Sequence[str], expected: Sequence[str]) -> str:
    """The first place where two lists of answers differ, or nothing."""
    for number, (one, other) in enumerate(zip(found, expected, strict=True)):
        if one != other:
            place = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)
            start = max(0, place - 60)
            return f"answer {number} is …{one[start : place + 60]}… instead of …{other[start : place + 60]}…"
    return ""


def _of_shortlists(
    whole: tuple[Gallery, Tables],
    cut: tuple[Gallery, Tables],
    reranker: str,
    queries: Sequence[str | FaceSet],
) -> str:
    """What a shortlist says, against that of the gallery in one piece."""
    try:
        expected = shortlisted(*whole, reranker, queries)
    except BadInput:  # it cannot be had of these parts
        return ""
    return difference(shortlisted(*cut, reranker, queries), expected)


def shortlisted(
    gallery: Gallery, tables: Tables, reranker: str, queries: Sequence[str | FaceSet]
) -> list[str]:
    """The first few of a shortlist for each query."""
    fitted = train(tables, OPTIONS.get(reranker, reranker), 0, gallery)
    shortlist = open_shortlist(tables, fitted, True, gallery)
    assert shortlist is not None
    shortlist.sizes = SHORT
    search = Search(tables, fitted, shortlist, calibrate(tables, fitted, 0, gallery))
    return [text(search.find(one, SHORT.served).to_dict()) for one in queries]


def let_go(tables: Tables) -> None:
    """Close the slices behind tables."""
    if isinstance(tables.sets, SpreadSets):
        tables.sets.residents.close()


def _has_ray() -> bool:
    return importlib.util.find_spec("ray") is not None


def _can_run(number: int) -> bool:
    return _has_ray() or bool(registry.build("engines", way(number).engine).is_here)
