"""Placing: in which shard of a collection a set lies, told by its id alone."""

from __future__ import annotations

import hashlib
from typing import Final

# The name of the rule, which every collection writes down: another rule would look for sets in other files.
RULE: Final = "sha256-before-last-hash"
MOST_SHARDS: Final = 1000


def place_of(set_id: str, shards: int) -> int:
    """The shard of a set: SHA-256 of what stands before the last ``#`` of its id, modulo the shards.

    Sets of one film or album are called ``clip.mp4#1``, ``clip.mp4#2`` and so on: they lie in one shard, so
    that a film is kept with everything found in it in one transaction.

    Parameters
    ----------
    set_id : str
    shards : int
        How many there are.
    """
    together = set_id.rpartition("#")[0] or set_id
    digest = hashlib.sha256(together.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") % shards


def place_of_file(content: str, shards: int) -> int:
    """The shard of a film or photo in which no face was found, by the SHA-256 of its bytes."""
    return place_of(content, shards)
