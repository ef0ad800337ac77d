"""What lies on the disk: the schema of a gallery file, its sets by their hashes, tables derived from it."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from lookalike import Gallery

# Stands for what another processor may learn with other last bits.
LEARNT = "(learnt)"


def schema(path: Path) -> str:
    """Every table and index of a gallery file, as SQL, with the numbers that tell its kind and format."""
    with closing(sqlite3.connect(path)) as connection:
        lines = [
            f"-- {name} = {connection.execute(f'PRAGMA {name}').fetchone()[0]}"
            for name in ("application_id", "user_version", "page_size", "journal_mode")
        ]
        asked = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type DESC, name"
        lines += [f"{sql};" for (sql,) in connection.execute(asked)]
    return "\n".join(lines) + "\n"


def contents(path: Path) -> dict[str, Any]:
    """The fingerprint of a gallery, and the hash of each set."""
    with Gallery(path) as gallery:
        return {
            "descriptor": gallery.descriptor,
            "dimension": gallery.dimension,
            "fingerprint": gallery.fingerprint(),
            "contents": gallery.contents(),
        }


def manifests(path: Path, exact: bool) -> dict[str, Any]:
    """What every derived table says about itself, by its folder.

    Times are left out. So are hashes of arrays, and whatever follows from a preparation that was learnt,
    since other processors give other last bits; unless they are asked for.
    """
    found = {}
    derived = Path(f"{path}.derived")
    for file in sorted(derived.glob("*/*/manifest.json")):
        said = json.loads(file.read_text(encoding="utf-8"))
        del said["saved"], said["sha256"]
        place = file.parent.relative_to(derived)
        if not exact:
            for entry in said["arrays"].values():
                del entry["sha256"]
            if said["kind"].startswith("preparation") or said["facts"].get("preparation") != "none":
                place = place.parent / LEARNT
                said["fingerprint"] = LEARNT
                said["facts"] |= {key: LEARNT for key in ("prepared", "index") if key in said["facts"]}
        said["arrays"] = {
            name: " ".join(str(entry[key]) for key in ("dtype", "shape", "sha256") if key in entry)
            for name, entry in said["arrays"].items()
        }
        found[str(place)] = said
    return found
