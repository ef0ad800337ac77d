"""Catalogue: the sets of a gallery as they are now, with a short opaque key for each."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from lookalike.collection.gallery import Gallery
from lookalike.collection.queries import SetFacts
from lookalike.errors import NotFound

# Seconds after which the gallery is looked at again, at the earliest; longer where looking takes long.
OFTEN = 0.25
RESTS = 5


def key_of(set_id: str) -> str:
    """The opaque key of a set: the same in every run, and nothing can be read from it."""
    return hashlib.sha256(set_id.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Catalogue:
    """One version of the list of sets.

    Parameters
    ----------
    version : str
        Fingerprint of the gallery.
    facts : mapping
        What is known of each set, by id and in the order of ids.
    contents : mapping
        Content hash of each set by id.
    keys, ids : mappings
        Key of each id, and id of each key.
    """

    version: str
    facts: Mapping[str, SetFacts]
    contents: Mapping[str, str]
    keys: Mapping[str, str]
    ids: Mapping[str, str]

    @cached_property
    def faces(self) -> int:
        """How many faces there are in all sets."""
        return sum(one.faces for one in self.facts.values())

    def id(self, key: str) -> str:
        """The set of a key; raise NotFound if there is none."""
        if key not in self.ids:
            raise NotFound(
                "there is no such clip or photo in the collection: it was removed, or the address is wrong"
            )
        return self.ids[key]


class Catalogues:
    """Keeps up with a gallery that others may be changing.

    Parameters
    ----------
    gallery : Gallery
    """

    def __init__(self, gallery: Gallery) -> None:
        self._gallery = gallery
        self._lock = threading.Lock()
        self._now = Catalogue("", {}, {}, {}, {})
        self._next = 0.0

    def now(self, at_once: bool = False) -> Catalogue:
        """The newest version; a change of somebody else may be missed for a moment, unless asked at once."""
        # Who comes while somebody is looking takes what there was, except at the very beginning.
        if not at_once and self._now.version and (time.monotonic() < self._next or self._lock.locked()):
            return self._now
        with self._lock:
            if at_once or time.monotonic() >= self._next:
                began = time.monotonic()
                self._look()
                ended = time.monotonic()
                self._next = ended + max(OFTEN, RESTS * (ended - began))
            return self._now

    def _look(self) -> None:
        # One version, however fast others add: looking again until nothing changed might never end.
        found = self._gallery.snapshot(self._now.version)
        if found is None:
            return
        facts = {one.id: one for one in found.listing}
        old = self._now.keys
        keys = {set_id: old.get(set_id) or key_of(set_id) for set_id in facts}
        ids = {key: set_id for set_id, key in keys.items()}
        self._now = Catalogue(found.fingerprint, facts, found.contents, keys, ids)
