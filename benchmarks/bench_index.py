"""Index: time to compare all pairs of sets, against the bare multiplications it needs."""

from __future__ import annotations

import numpy as np

from benchmarks.worlds import seconds, vector_sets
from lookalike.indexing import COUNT
from lookalike.kernels.threads import blocks, in_order
from lookalike.similarities.contract import PreparedSets
from lookalike.similarities.max_max import MaxMax
from lookalike.transitivity.proxies import find_neighbours


def run(toy: bool) -> dict[str, float]:
    count = 40 if toy else 1000
    similarity = MaxMax()
    sets = PreparedSets.join([similarity.prepare(one.faces) for one in vector_sets(count)])
    faces = np.asarray(sets.arrays["faces"], dtype=np.float64)
    runs = blocks(len(faces), 2048)
    upper = [(a, b) for i, a in enumerate(runs) for b in runs[i:]]

    def multiply() -> None:
        for _ in in_order(lambda pair: faces[pair[0]] @ faces[pair[1]].T, upper):
            pass

    bare = seconds(multiply, 2)
    whole = seconds(lambda: find_neighbours(similarity, sets, COUNT), 2)
    return {
        "sets": count,
        "seconds": round(whole, 3),
        "bare_multiplication_seconds": round(bare, 3),
        "ratio_to_bare_multiplication": round(whole / bare, 3),
    }
