"""Collections in several files for tests, and everything that can be asked of a gallery."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lookalike import FaceSet, Gallery
from lookalike.sharding import split


def empty_collection(folder: Path, shards: int) -> Path:
    """A collection without any set."""
    source = folder.with_name(f"{folder.name}.empty")
    Gallery(source, create=True).close()
    split(source, folder, shards)
    source.unlink()
    return folder


def split_gallery(folder: Path, sets: Iterable[FaceSet], shards: int) -> Path:
    """Sets as ``one.gallery`` in a folder, and as a collection beside it, which is returned: ``in-3``."""
    with Gallery(folder / "one.gallery", create=True) as gallery:
        for one in sets:
            gallery.add(one)
    found = folder / f"in-{shards}"
    split(folder / "one.gallery", found, shards)
    return found


def answers(gallery: Gallery) -> dict[str, Any]:
    """What a gallery says to every question; but for its size, its backups and its shards."""
    facts = gallery.facts()
    for name in ("bytes", "created", "shards"):
        facts.pop(name, None)
    ids = gallery.ids()
    names = [one.name for one in gallery.models() if not one.is_current]
    files = gallery.files()
    return {
        "facts": facts,
        "ids": ids,
        "contents": gallery.contents(),
        "fingerprint": gallery.fingerprint(),
        "snapshot": gallery.snapshot(),
        "listing": list(gallery.listing()),
        "some": list(gallery.listing(ids[::-2])),
        "kind": (gallery.descriptor, gallery.dimension, len(gallery), gallery.has_crops()),
        "files": files,
        "files again": [gallery.file_of(one.content) for one in files],
        "files at": [gallery.file_at(one.path, one.size, one.changed) for one in files],
        "sets of": [gallery.sets_of(one.content) for one in files],
        "paths": gallery.paths(),
        "some paths": gallery.paths(ids[::-2]),
        "files of": {one: gallery.files_of(one) for one in ids},
        "apart": gallery.apart(),
        "judgements": gallery.judgements(),
        "models": gallery.models(),
        "undescribed": {one: gallery.undescribed(one) for one in (*names, "unheard of", facts["descriptor"])},
        "vectors": {(one, name): gallery.vectors(one, name).tobytes() for one in ids for name in names},
        "events": [(one.kind, one.said) for one in gallery.events()],
        "barred": [(one.kind, one.content, one.model, one.event) for one in gallery.barred().entries],
        "hint": gallery.hint("model_file"),
        "sets": [_said(one) for one in gallery.sets()],
        "some sets": [_said(one) for one in gallery.sets(ids[::-2])],
        "whole sets": [_said(gallery.get(one, pictures=True)) for one in ids],
    }


def _said(one: Any) -> tuple[Any, ...]:
    return one.id, one.faces.tobytes(), one.origin, one.sources, one.pictures, one.sightings
