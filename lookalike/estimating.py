"""Estimate: what an index will take, told before the work begins."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lookalike import parts, preparing
from lookalike.collection.gallery import Gallery
from lookalike.collection.tables import StoredTables
from lookalike.preparations.contract import Preparation
from lookalike.room import Need
from lookalike.similarities.contract import SetSimilarity
from lookalike.transitivity.sizes import index_need, spread


def work(contents: Mapping[str, str], similarity: SetSimilarity) -> str:
    """What is done, in words."""
    return f"indexing {len(contents)} sets by {parts.spec(similarity)}"


def need(
    gallery: Gallery,
    similarity: SetSimilarity,
    preparation: Preparation,
    contents: Mapping[str, str],
    count: int,
) -> Need:
    """Estimate from a few sets, which are prepared for it."""
    counts = {one.id: one.faces for one in gallery.listing()}
    ids = [id for id in contents if id in counts]
    faces = np.array([counts[id] for id in ids], dtype=np.int64)
    chosen = spread(faces)
    # Read whole: a stream that a refusal interrupts would keep the gallery open.
    some = list(gallery.sets([ids[number] for number in chosen]))
    prepared = list(preparing.prepared_sets(some, similarity, preparation))
    return index_need(similarity, faces, chosen, prepared, count)


def need_with(old: StoredTables, contents: Mapping[str, str]) -> Need:
    """Estimate from the tables of the same gallery as it was."""
    size = sum(entry.bytes for entry in old.manifest.arrays.values())
    grown = size * len(contents) // max(1, len(old.arrays.get("hashes", contents)))
    return Need(grown, grown)
