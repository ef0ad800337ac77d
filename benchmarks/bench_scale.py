"""Scale: the whole chain on a world of the size and shape of YouTube Faces."""

from __future__ import annotations

import resource
import tempfile
from pathlib import Path

from benchmarks.worlds import seconds, vector_sets
from lookalike import Gallery, Search, index, train


def run(toy: bool) -> dict[str, float]:
    count = 30 if toy else 3425
    with tempfile.TemporaryDirectory() as folder, Gallery(Path(folder) / "g", create=True) as gallery:

        def add() -> None:
            for faceset in vector_sets(count):
                gallery.add(faceset)

        adding = seconds(add)
        indexing = seconds(lambda: index(gallery))
        tables = index(gallery)
        training = seconds(lambda: train(tables, "learnt", 0, gallery))
        search = Search(tables, train(tables, "learnt", 0, gallery))
        asking = seconds(lambda: search.find(tables.ids[0]), 3)
    return {
        "sets": count,
        "add_seconds": round(adding, 2),
        "index_seconds": round(indexing, 2),
        "train_seconds": round(training, 2),
        "find_seconds": round(asking, 3),
        "ratio_of_training_to_index": round(training / indexing, 3),
        "ratio_of_one_query_to_index": round(asking / indexing, 5),
        "peak_gigabytes": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 2),
    }
