"""What the local page answers programs: its description of itself, and some of its answers."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.web.asking import asker

# Described by FastAPI itself, in other words from version to version.
NOT_OURS = ("HTTPValidationError", "ValidationError")


DOCUMENT = Path(__file__).parents[2] / "docs" / "openapi.json"


def document() -> str:
    """The whole of ``openapi.json``, as it lies in the documentation."""
    from lookalike import Gallery
    from lookalike.web.app import create_app

    with TemporaryDirectory() as folder:
        path = Path(folder) / "g.gallery"
        Gallery(path, create=True).close()
        app = create_app(path, "token", ["127.0.0.1:1"])
        said = app.openapi()
        app.state.parts.close()
    return json.dumps(said, indent=1, ensure_ascii=False) + "\n"


def described(gallery: Path) -> dict[str, Any]:
    """``openapi.json`` without the versions of ourselves and of the format."""
    with asker(gallery) as ask:
        said: dict[str, Any] = ask.get("/api/openapi.json")
    del said["openapi"], said["info"]["version"]
    for name in NOT_OURS:
        said["components"]["schemas"].pop(name, None)
    return said
