"""All that a gallery holds, to be compared with what another one holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lookalike import open_gallery


def whole(path: Path) -> dict[str, Any]:
    """Ids, faces, pictures, where they were seen, files, who is apart, and the fingerprint of it all."""
    with open_gallery(path) as gallery:
        sets = [vars(gallery.get(one, pictures=True)) for one in gallery.ids()]
        return {
            "fingerprint": gallery.fingerprint(),
            "descriptor": gallery.descriptor,
            "contents": gallery.contents(),
            "sets": [one | {"faces": one["faces"].tobytes()} for one in sets],
            "files": gallery.files(),
            "apart": sorted(map(sorted, gallery.apart())),
        }
