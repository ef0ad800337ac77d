"""Reside: where each shard of a collection is open now, and whether what is open is what its file holds."""

from __future__ import annotations

from typing import Any

from lookalike.collection.gallery import Gallery
from lookalike.collection.sharded import ShardedGallery
from lookalike.engines.contract import Engine, Label, Machine, Resident, State
from lookalike.preparations.contract import Preparation
from lookalike.preparing import table_kind
from lookalike.similarities.contract import SetSimilarity


def shard_label(
    gallery: ShardedGallery, one: Gallery, similarity: SetSimilarity, preparation: Preparation
) -> Label:
    """By what other processes know a shard whose sets are prepared."""
    kind = table_kind(similarity, preparation)
    return Label(gallery.membership.collection, one.path.name, kind, one.fingerprint())


def shard_states(gallery: Gallery, engine: Engine) -> tuple[list[dict[str, Any]], list[Machine]]:
    """What is known of every shard, and of the machines where they can be open; nothing of one file.

    Parameters
    ----------
    gallery : Gallery
    engine : Engine
        Which is asked for what is open; nothing is opened for that.

    Returns
    -------
    shards : list of dict
        Of each its ``file``, ``sets``, ``bytes``, and ``open``: where, for whom and what of it is open.
    machines : list of Machine
    """
    if not isinstance(gallery, ShardedGallery):
        return [], []
    state = engine.state(gallery.membership.collection)
    return [_shard_state(one, state) for one in gallery.shards], list(state.machines)


def _shard_state(one: Gallery, state: State) -> dict[str, Any]:
    facts, name, content = one.facts(), one.path.name, one.fingerprint()
    return {
        "file": name,
        "sets": facts["sets"],
        "bytes": facts["bytes"],
        "open": [_open_state(held, content) for held in state.residents if held.part == name],
    }


def _open_state(held: Resident, content: str) -> dict[str, Any]:
    """Who does not answer is busy, and what it holds is not known."""
    return {
        "host": held.host,
        "process": held.process,
        "holder_host": held.holder_host,
        "holder_process": held.holder_process,
        "kind": None if held.label is None else held.label.kind,
        "memory": held.memory,
        "is_busy": held.label is None,
        "fits": None if held.label is None else held.label.content == content,
    }
