"""Costs of scale: what one slice takes on this machine, on one thread, on drawn faces.

Seconds are of the processor, the best of a few: what else runs on the machine then counts less.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks import scale_model as model
from benchmarks.embeddings import draw_faces, draw_people
from benchmarks.scale_model import NEIGHBOURS, PROXIES, Costs
from lookalike.engines.local import Local
from lookalike.faceset import FaceSet
from lookalike.gallery.gallery import Gallery
from lookalike.indexing import slices
from lookalike.indexing.slices import Slice, own_copy
from lookalike.kernels.codes import Codes
from lookalike.kernels.threads import one_blas_thread
from lookalike.method.metafeatures import metafeatures
from lookalike.method.proxies import _State, proxy_slots
from lookalike.method.shortlist import Shortlist
from lookalike.method.tables import Neighbours, Row, Tables, compare, means_of
from lookalike.rerankers.adaptive import Adaptive
from lookalike.similarities.contract import PreparedSets
from lookalike.similarities.max_max import MaxMax

# A set whose id is a path or a shot of a film.
ID = "archive/2026/film-{0:09d}.mp4#shot-{1:04d}"
PARTS = 2


def drawn(count: int, faces: int, dimension: int) -> PreparedSets:
    """Prepared sets of drawn people."""
    people = draw_people(count)
    return PreparedSets.join(MaxMax().prepare(one) for one in draw_faces(people, faces, dimension))


def processor_seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """Least processor time of a few runs."""

    def once() -> float:
        start = time.process_time()
        work()
        return time.process_time() - start

    return min(once() for _ in range(repeats))


def measure(count: int, faces: int, dimension: int, folder: Path) -> Costs:
    """All costs for sets of one shape, from so many of them; ``folder`` is for a gallery file."""
    people = draw_people(count)
    raw = list(draw_faces(people, faces, dimension))
    similarity = MaxMax()
    some = raw[: min(count, 500)]
    similarity.prepare(raw[0])  # compiles
    prepare = processor_seconds(lambda: [similarity.prepare(one) for one in some]) / len(some)
    sets = PreparedSets.join(similarity.prepare(one) for one in raw)
    with one_blas_thread():
        multiply_rate, near_rate, finish = _products(sets)
        features = _features(sets)
        pool = _pooling(sets)
        look = _looking(sets)
    row, some_row = _rows(sets)
    list_merge, pair_merge = _merging(max(count, 2 * NEIGHBOURS))
    whole = _held(sets)
    wanted = np.arange(min(model.run_sets(faces), count))
    fetch = processor_seconds(lambda: own_copy(whole[wanted])) / len(wanted)
    pieces = [np.zeros((1, len(own)), dtype=float) for own in whole.places]
    # Scores and both modes.
    place = 3 * processor_seconds(lambda: slices._merged(whole.places, pieces), 5) / count
    arrays = sum(array.nbytes for array in sets.arrays.values())
    starts = sum(array.nbytes for array in sets.starts.values())
    return Costs(
        faces=faces,
        dimension=dimension,
        set_bytes=(arrays + starts) / count,
        gallery_bytes=_gallery(raw[: min(count, 300)], folder),
        id_bytes=_ids(),
        prepare=prepare,
        multiply_rate=multiply_rate,
        near_rate=near_rate,
        finish=finish,
        row=row,
        some_row=some_row,
        place_row=place,
        fetch=fetch,
        list_merge=list_merge,
        pair_merge=pair_merge,
        feature=features[0],
        agreement=features[1],
        pool=pool,
        code_bytes=look[0],
        look_fixed=look[1],
        look_face=look[2],
        look_batch=look[3],
    )


def _products(sets: PreparedSets) -> tuple[float, float, float]:
    """Rate of bare multiplications and of comparing two runs; seconds a pair that is finished."""
    similarity = MaxMax()
    size = min(model.run_sets(len(sets[0]["faces"])), len(sets) // 2)
    a, b = sets[:size], sets[size : 2 * size]
    left, right = a.arrays["faces"], b.arrays["faces"]
    work = 2.0 * len(left) * len(right) * left.shape[1]
    bare = processor_seconds(lambda: left @ right.T, 7)
    high, low = np.full(size, 1.0), np.full(size, -np.inf)
    none = processor_seconds(lambda: similarity.match_near(a, b, high, high, NEIGHBOURS), 7)
    found = len(similarity.match_near(a, b, low, low, NEIGHBOURS).scores)
    near = processor_seconds(lambda: similarity.match_near(a, b, low, low, NEIGHBOURS), 7)
    return work / bare, work / none, max(near - none, 0.0) / found


def _rows(sets: PreparedSets) -> tuple[float, float]:
    """Seconds a set of a query's row: of all sets, and of some that lie all over the memory."""
    similarity = MaxMax()
    query, chosen = sets[:1], np.random.default_rng(1).choice(len(sets), len(sets) // 4, replace=False)
    whole = processor_seconds(lambda: compare(similarity, query, sets), 7)
    some = processor_seconds(lambda: compare(similarity, query, sets[chosen]), 5)
    return whole / len(sets), some / len(chosen)


def _merging(total: int) -> tuple[float, float]:
    """Seconds a list that changes and a pair that is offered."""
    rng = np.random.default_rng(2)
    rows = np.arange(total)

    def state() -> _State:
        fresh = _State(MaxMax(), total, NEIGHBOURS)
        first = rng.integers(0, total, (total, NEIGHBOURS))
        scores = -np.sort(-rng.random((total, NEIGHBOURS)), axis=1)
        modes = np.zeros((total, fresh.shown), dtype=np.int64)
        fresh.fill(rows, first, [scores, modes, modes])
        return fresh

    def offering(each: int) -> float:
        grown = state()
        who = np.repeat(rows, each)
        numbers, modes = rng.integers(0, total, len(who)), np.zeros(len(who), dtype=np.int64)
        best = iter(range(2, 9))
        # Better than everything before, so that each is taken.
        return processor_seconds(
            lambda: grown.offer(who, numbers, np.full(len(who), float(next(best))), modes, modes)
        )

    one, many = offering(1) / total, offering(17) / total
    pair = max(many - one, 0.0) / 16
    return max(one - pair, 0.0), pair


def _features(sets: PreparedSets) -> tuple[float, float]:
    """Seconds of the five numbers of a target and a proxy, without and of its look-ups of agreements."""
    tables = _tables(sets)
    total = len(sets)
    rng = np.random.default_rng(3)
    modes = rng.integers(0, len(sets[0]["faces"]), total)
    row = Row(rng.random(total), modes, modes, None)
    slots = proxy_slots(tables.neighbours, PROXIES, None)
    which = rng.integers(0, total, 2 * slots.size)
    agreed = processor_seconds(
        lambda: tables.similarity.agreement_many(sets, which, modes[which], modes[which])
    )
    whole = processor_seconds(lambda: metafeatures(row, tables, slots))
    return max(whole - agreed, 0.0) / slots.size, agreed / len(which)


def _pooling(sets: PreparedSets) -> float:
    """Seconds a set that `adaptive` weighs and pools for a query."""
    tables = _tables(sets)
    rng = np.random.default_rng(6)
    near = -np.sort(-rng.random(tables.neighbours.scores.shape), axis=1)
    tables = replace(tables, neighbours=tables.neighbours._replace(scores=near))
    stage = Adaptive().fit(tables, rng)
    row = Row(rng.random(len(sets)), np.empty(0), np.empty(0), None)
    return processor_seconds(lambda: stage.score(row, tables), 5) / len(sets)


def _looking(sets: PreparedSets) -> tuple[float, float, float, float]:
    """Bytes of a code; seconds of a query by shortlist, fixed and a coded set; and in batches."""
    sizes = [len(sets) // 4, len(sets)]
    times = []
    for size in sizes:
        part = sets[:size]
        codes = Codes.of(means_of(part.arrays["faces"], part.starts["faces"]))
        shortlist = Shortlist(_tables(part), codes)
        asked = [sets[number] for number in range(8)]
        shortlist.of(asked[0], True)
        times.append(
            processor_seconds(lambda s=shortlist, a=asked: [s.of(one, True) for one in a]) / len(asked)  # type: ignore[misc]
        )
    faces = sets.arrays["faces"]
    each = (times[1] - times[0]) / (len(faces) * (1 - sizes[0] / sizes[1]))
    each = max(each, 0.0)
    many = faces[:256]
    batch = processor_seconds(lambda: codes.nearest(many, NEIGHBOURS)) / (len(many) * len(faces))
    bytes_each = codes.to_arrays()["packed"].nbytes / len(faces)
    return bytes_each, max(times[1] - each * len(faces), 0.0), each, batch


def _tables(sets: PreparedSets) -> Tables:
    """Tables with random neighbours: what is looked up in them takes as long as in real ones."""
    total = len(sets)
    rng = np.random.default_rng(4)
    near = rng.integers(0, total, (total, min(NEIGHBOURS, total - 1)))
    modes = rng.integers(0, len(sets[0]["faces"]), (total, min(model.WITH_MODES, near.shape[1])))
    neighbours = Neighbours(near, np.zeros(near.shape), modes, modes)
    return Tables(tuple(map(str, range(total))), sets.arrays["faces"].shape[1], MaxMax(), sets, neighbours)


def _held(sets: PreparedSets) -> slices.SpreadSets:
    """The sets in two slices of this process."""
    places = shares(len(sets), PARTS)
    given = [(MaxMax(), own_copy(sets[place])) for place in places]
    return slices.SpreadSets(Local().hold(Slice, given), places, sets, MaxMax())


def shares(total: int, parts: int) -> list[np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """Numbers of the sets of each slice, by chance."""
    owners = np.random.default_rng(5).integers(0, parts, total)
    return [np.flatnonzero(owners == one) for one in range(parts)]


def _gallery(raw: list[np.ndarray[tuple[int, int], np.dtype[np.float32]]], folder: Path) -> float:
    """Bytes of a set in a gallery file, without pictures."""
    path = folder / f"{raw[0].shape[1]}.gallery"
    with Gallery(path, create=True) as gallery:
        empty = path.stat().st_size
        gallery.add_together([FaceSet(ID.format(number, 0), faces) for number, faces in enumerate(raw)])
    return (path.stat().st_size - empty) / len(raw)


def _ids() -> float:
    """Bytes that the coordinator has of a set besides its lists: id, hash of its content, number, place."""
    total = 10_000
    ids = [ID.format(number, number % 50) for number in range(total)]
    content = sys.getsizeof("0" * 64)
    numbers = sys.getsizeof({id: number for number, id in enumerate(ids)}) + total * sys.getsizeof(1 << 20)
    texts = sum(map(sys.getsizeof, ids)) + total * content
    # Two tuples of pointers; number, owner, place and size of each set as eight bytes.
    return (texts + numbers) / total + 2 * 8 + 4 * 8
