"""Verify: read all of a gallery and of what is derived from it, tell what is wrong, mend what can be."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from lookalike import parts, preparing
from lookalike.collection import checking, manifest, shelved
from lookalike.collection.failures import in_words
from lookalike.collection.findings import Finding, of_gallery, of_table
from lookalike.collection.gallery import Gallery
from lookalike.collection.opening import open_gallery
from lookalike.collection.tables import StoredTables, TableStore
from lookalike.errors import BadInput, GalleryUnreadable, LookalikeError, NotFound
from lookalike.indexing import index, table_fits
from lookalike.kernels import codes
from lookalike.packing import from_arrays, is_index, made_by
from lookalike.progress import Track, silent
from lookalike.similarities.contract import PreparedSets
from lookalike.soundness import SAMPLE, array_faults, contradictions, learnt_faults
from lookalike.training import train
from lookalike.transitivity.calibration import Calibration
from lookalike.transitivity.tables import Tables

UNFINISHED: Final = "unfinished "


class Repaired(NamedTuple):
    """What a repair did."""

    deleted: tuple[str, ...]  # kinds or folders of tables
    rebuilt: tuple[str, ...]  # kinds that were made again at once; the others are when they are needed
    left: tuple[Finding, ...]  # what is not derived: only a backup helps, or removing sets


def verify(gallery: Gallery | str | Path, track: Track = silent) -> list[Finding]:
    """Read everything and tell what is not as it was written; nothing is changed.

    Parameters
    ----------
    gallery : Gallery or path
        A gallery that is too damaged to be opened can be named by its path.
    track : callable
        Shows progress.

    Returns
    -------
    list of Finding
        Empty if all is sound. Those of kind ``litter`` do no harm.

    Raises
    ------
    NotFound, GalleryUnreadable
        If there is no such file, or it is not a gallery, or one of a newer format.
    StorageFailed
        If the disk refuses.
    """
    path = gallery.path if isinstance(gallery, Gallery) else Path(gallery)
    found = [_called(one, path) for one in checking.findings(path.absolute(), track=track)]
    with in_words(path):
        found += shelved.strangers(path.resolve())
        tables = shelved.paths(TableStore.beside(path).folder)
    advice = f"make it again by `lookalike verify {shlex.quote(str(path))} --repair`"
    opened = gallery if isinstance(gallery, Gallery) else None
    if opened is None:
        try:
            opened = open_gallery(path)
        except GalleryUnreadable as reason:
            # Mostly told already; tables can then only be held against themselves.
            found += [] if any(one.kind == "gallery" for one in found) else [of_gallery(path, reason)]
    try:
        for one in track(tables, "checking derived tables", len(tables)):
            found += _table_findings(one, opened, advice)
    finally:
        if opened is not None and opened is not gallery:
            opened.close()
    return found


def repair(gallery: Gallery, findings: Sequence[Finding], track: Track = silent) -> Repaired:
    """Delete the derived tables that are not sound, and make them again where the gallery allows it.

    Parameters
    ----------
    gallery : Gallery
    findings : sequence of Finding
        As `verify` returned them.
    track : callable
        Shows progress.
    """
    bad = {Path(one.where) for one in findings if one.is_derived}
    store = TableStore.beside(gallery.path)
    kinds = {path: _kind(path) for path in bad}
    store.erase_others([path for path in shelved.paths(store.folder) if path not in bad])
    made = {kind for kind in kinds.values() if kind is not None and _made_again(gallery, kind, track)}
    names = {kind if kind is not None else path.parent.name for path, kind in kinds.items()}
    left = tuple(one for one in findings if one.kind == "gallery")
    return Repaired(tuple(sorted(names)), tuple(sorted(made)), left)


def _called(one: Finding, path: Path) -> Finding:
    """The gallery as the user calls it."""
    full, said = str(path.absolute()), str(path)
    where = one.where.replace(full, said)
    return Finding(one.what.replace(full, said), where, one.kind, one.advice, one.sets)


# Derived tables.


def _table_findings(path: Path, gallery: Gallery | None, advice: str) -> Iterator[Finding]:
    seen = shelved.look(path, advice)
    yield from seen.findings
    if seen.stored is None or seen.stored.manifest.kind.startswith(UNFINISHED):
        return
    try:
        with in_words(path):
            for what in _said_wrongly(seen.stored, gallery):
                yield of_table(path, what, advice)
    except GalleryUnreadable:
        return  # of the gallery, which is told where it is read
    except (LookalikeError, ValueError, KeyError, IndexError, TypeError) as reason:
        yield of_table(path, f"it cannot be held against the gallery ({reason})", advice)


def _said_wrongly(stored: StoredTables, gallery: Gallery | None) -> Iterator[str]:
    if preparing.is_preparation(stored):
        yield from preparing.preparation_faults(stored)
        return
    if not is_index(stored):
        is_now = gallery is not None and table_fits(gallery, stored)
        yield from learnt_faults(
            stored.arrays, len(gallery) if gallery is not None and is_now else sys.maxsize
        )
        _take_up(stored)
        return
    wrong = list(array_faults(stored))
    yield from wrong
    if wrong or gallery is None:
        return
    written, prepared = made_by(stored)
    try:
        tables = from_arrays(
            stored.arrays, parts.build("similarities", written), parts.build("preparations", prepared)
        )
    except (BadInput, NotFound):  # of a part that is not installed any more
        return
    if gone := set(tables.ids) - set(gallery.ids()):
        yield f"it knows {len(gone)} sets that the gallery does not hold (any more)"
    elif table_fits(gallery, stored):
        yield from _unlike(stored, tables, gallery)


def _take_up(stored: StoredTables) -> None:
    """Read what was learnt as a search would, to see that it can be."""
    learnt = stored.manifest.kind.rpartition(" on ")[0]
    if learnt.startswith("probabilities of "):
        Calibration.from_arrays(stored.arrays)
    elif learnt == "shortlist":
        if codes.is_available():
            codes.Codes.from_arrays(stored.arrays)
    else:
        with suppress(NotFound):  # a part that is not installed any more
            parts.build("rerankers", learnt).from_arrays(stored.arrays)


def _unlike(stored: StoredTables, tables: Tables, gallery: Gallery) -> Iterator[str]:
    """Hold an index that claims to be of the gallery as it is now against it."""
    contents = gallery.contents()
    if list(tables.ids) != list(contents):
        yield "its sets are not those of the gallery"
        return
    if tables.dimension != gallery.dimension:
        yield f"its faces have {tables.dimension} numbers, those of the gallery {gallery.dimension}"
        return
    if [bytes(row).hex() for row in stored.arrays["hashes"]] != list(contents.values()):
        yield "the content of its sets is not that of the gallery"
        return
    similarity = tables.similarity
    preparation = preparing.prepare(gallery, tables.preparation)
    chosen = np.unique(np.linspace(0, len(tables) - 1, min(SAMPLE, len(tables))).astype(np.int64))
    some = preparing.prepared_sets(
        gallery.sets([tables.ids[number] for number in chosen]), similarity, preparation
    )
    for number, again in zip(chosen.tolist(), some, strict=True):
        kept = tables.sets[number]
        if kept.keys() != again.keys() or any(not np.array_equal(kept[name], again[name]) for name in kept):
            yield f"set {tables.ids[number]!r} is not prepared as the gallery says"
            return
        others = tables.neighbours.sets[number]
        if len(others):
            own = PreparedSets.join([again])
            scores = similarity.match_many(own, tables.sets[others]).scores[0]
            if not np.allclose(scores, tables.neighbours.scores[number], rtol=1e-9, atol=1e-9):
                yield f"set {tables.ids[number]!r} is not as similar to its neighbours as is written"
                return
    yield from contradictions(replace(tables, preparation=preparation))


# Repair.


def _kind(path: Path) -> str | None:
    with suppress(Exception):
        return manifest.read(path).kind
    return None


def _made_again(gallery: Gallery, kind: str, track: Track) -> bool:
    """Make an index, a preparation or a second stage again; the rest is made when it is needed."""
    try:
        if kind.startswith("preparation "):
            preparing.prepare(gallery, kind.removeprefix("preparation "), track)
            return True
        learnt, _, on = kind.rpartition(" on ")
        seed = re.search(r" seed (\d+)$", on)
        similarity, _, preparation = (on[: seed.start()] if seed else on).partition(" after ")
        tables = index(gallery, similarity, track, preparation or "none")
        if learnt:
            train(tables, learnt, int(seed[1]) if seed else 0, gallery, track)
    except LookalikeError:  # a gallery that is damaged itself, or a kind that is no such part
        return False
    return True
