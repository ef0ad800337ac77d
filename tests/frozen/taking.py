"""Take the record: make small galleries in an empty folder, and write down what each door says of them."""

from __future__ import annotations

import logging
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from lookalike import FaceSet, Gallery, open_search
from lookalike.gallery.decisions import judge, judged, name
from lookalike.search.feedback import refine
from tests.cli_process import Ready
from tests.frozen import asking, commands, files, page, sources
from tests.frozen.comparing import Record
from tests.frozen.names import public_names
from tests.gallery.samples import QUICK, write_format_1

QUERY = "22c"
OLD_SETS = 24


def take(exact: bool = False) -> Record:
    """Make the record in a folder of its own; `exact` adds hashes that only this machine gives."""
    logger = logging.getLogger("lookalike")
    level = logger.level
    logger.setLevel(logging.ERROR)  # remarks on how little there is to learn from
    try:
        with tempfile.TemporaryDirectory(dir=QUICK) as folder:
            return _taken(Path(folder).resolve(), exact)
    finally:
        logger.setLevel(level)


def _taken(folder: Path, exact: bool) -> Record:
    sets, labels = sources.people()
    _write_sources(folder, sets, labels)
    record: Record = {
        "help.txt": commands.help_texts(),
        "public_names.txt": public_names(),
        "gallery.json": files.contents(folder / "asked.gallery"),
        "schema.sql": files.schema(folder / "asked.gallery"),
        "schema_format_1.sql": files.schema(folder / "old.gallery"),
        "openapi.json": page.described(folder / "asked.gallery"),
    }
    record["rankings.json"], record["evidence.json"] = asking.answers(
        folder / "asked.gallery", asking.choices(), QUERY
    )
    record["tables.json"] = files.manifests(folder / "asked.gallery", exact)
    record["decisions.json"] = _decided(folder / "judged.gallery")
    old = asking.answers(folder / "old.gallery", asking.choices(reduced=True), QUERY)
    record["older_format.json"] = {
        "before": files.contents(folder / "old.gallery"),
        "rankings": old[0],
        "evidence": {one: old[1][one] for one in ("max_max auto", "max_max learnt")},
    }
    ready = Ready()
    try:
        record["commands.json"] = commands.session(ready, folder)
        record["exit_codes.txt"] = commands.exit_codes(ready, folder)
    finally:
        ready.close()
    record["older_format.json"]["after"] = files.contents(folder / "old.gallery")
    record["schema_upgraded.sql"] = files.schema(folder / "old.gallery")
    record["added.json"] = _added(folder / "films.gallery")
    return record


def _write_sources(folder: Path, sets: list[FaceSet], labels: dict[str, str]) -> None:
    """All files that the record is made from."""
    sources.write_people(folder / "people.npz", sets)
    sources.write_people(folder / "asked.npz", [FaceSet("asked", sets[0].faces[:3] + sets[1].faces[:3])])
    sources.write_people(folder / "conflicting.npz", [FaceSet(sets[0].id, sets[1].faces)])
    np.savez(folder / "broken.npz", embeddings=np.full((2, 64), np.nan, dtype=np.float32))
    sources.write_labels(folder / "labels.csv", labels)
    sources.write_crops(folder / "crops")
    sources.write_media(folder)
    # A few sets of those with most clips, so that there is something to find.
    chosen = sorted(sets, key=lambda one: one.id)[-OLD_SETS:]
    write_format_1(folder / "old.gallery", chosen)
    with Gallery(folder / "empty.gallery", create=True):
        pass
    for own in ("asked.gallery", "judged.gallery", "damaged.gallery", "newer.gallery"):
        with Gallery(folder / own, create=True) as gallery:
            for one in sets:
                gallery.add(one, descriptor="array")
    _change(folder / "damaged.gallery", "UPDATE faces SET descriptor = zeroblob(256) WHERE number = 5")
    _change(folder / "newer.gallery", "PRAGMA user_version = 99")


def _change(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(statement)


def _decided(path: Path) -> dict[str, Any]:
    """A few decisions, what they add up to, and what they change in a ranking."""
    with Gallery(path) as gallery:
        judge(gallery, QUERY, ["22f", "22b"], "same")
        judge(gallery, QUERY, ["06a"], "different")
        judge(gallery, QUERY, ["23a"], "unsure")
        person = name(gallery, [QUERY], "Ada")
        known = judged(gallery)
        confirmed, rejected = known.confirmed(QUERY), known.rejected(QUERY)
        refined = refine(open_search(gallery), QUERY, confirmed, rejected, top=asking.SHOWN)
        return {
            "person": {"name": person.name, "sets": sorted(person.sets)},
            "confirmed": sorted(confirmed),
            "rejected": sorted(rejected),
            "refined": refined.ranking.to_dict(),
            "before": dict(refined.before),
        }


def _added(path: Path) -> dict[str, Any]:
    """The sets that `add` found in a film and in photos: how they are called, and when they are seen."""
    with Gallery(path) as gallery:
        return {
            one.id: {"faces": one.faces, "start": one.start, "end": one.end, "files": _names(gallery, one.id)}
            for one in gallery.listing()
        }


def _names(gallery: Gallery, id: str) -> list[str]:
    return sorted(Path(one.path).name for one in gallery.files_of(id))
