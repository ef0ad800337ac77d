"""Half: faces in half precision against full, in memory, time and answers."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.entries import entry
from benchmarks.worlds import YOUTUBE_FACES, prepared, seconds
from lookalike.method.tables import compare
from lookalike.similarities.max_max import MaxMax

TOP = 10


def run(toy: bool) -> list[dict[str, Any]]:
    count, asked = (30, 5) if toy else (YOUTUBE_FACES, 400)
    kinds = MaxMax(), MaxMax(half=True)
    full, half = (prepared(kind, count) for kind in kinds)
    times, tops, scores = [], [], []
    for kind, sets in zip(kinds, (full, half), strict=True):
        one = sets[:1]
        compare(kind, one, sets)  # compiles
        times.append(seconds(lambda k=kind, q=one, s=sets: compare(k, q, s), 7))  # type: ignore[misc]
        found = compare(kind, sets[:asked], sets).scores
        scores.append(found.copy())
        found[np.arange(asked), np.arange(asked)] = -1.0
        tops.append(np.argsort(-found, axis=1, kind="stable")[:, :TOP])
    same = (tops[0] == tops[1]).all(axis=1)
    return [
        entry("bytes of faces", half.arrays["faces"].nbytes / full.arrays["faces"].nbytes, 0.5, sets=count),
        entry("row in half precision to full", times[1] / times[0], 1.5, seconds=times[1]),
        entry(f"queries whose first {TOP} changed", float(1 - same.mean()), 0.05, queries=asked),
        entry("largest change of a similarity", float(np.abs(scores[0] - scores[1]).max()), 1e-3),
    ]
