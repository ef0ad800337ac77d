"""What a long study has measured so far: one file for each piece, so that an interrupted run goes on."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import lookalike

# Sources that decide what is measured; a piece that other code measured is measured again.
FOLDERS = (
    "rerankers",
    "method",
    "kernels",
    "similarities",
    "preparations",
    "descriptors",
    "evaluation",
)
FILES = ("indexing/build.py", "indexing/fit.py", "indexing/transform.py", "search/query.py")
MEASURING = ("data", "families", "galleries", "measure", "parts", "shapes", "worlds")


class Kept:
    """Pieces of a study in a folder of their own, by the code that measured them.

    Parameters
    ----------
    folder : Path
        Made when the first piece is kept.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder / code()

    def once(self, name: str, measure: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """The piece of this name as it was measured, or measure it now; a file that is there is whole."""
        path = self.folder / f"{name}.json"
        if not path.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            aside = path.with_suffix(f".{os.getpid()}.part")
            aside.write_text(json.dumps(measure(), allow_nan=False), encoding="utf-8")
            aside.replace(path)
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return found


def code() -> str:
    """Fingerprint of the sources that decide what is measured."""
    digest = hashlib.sha256()
    for path in _sources():
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _sources() -> Iterator[Path]:
    root = Path(lookalike.__file__).parent
    yield from (root / name for name in FILES)
    for folder in FOLDERS:
        yield from sorted((root / folder).rglob("*.py"))
    yield from (Path(__file__).with_name(f"stages_{name}.py") for name in MEASURING)
