"""What the local page answers programs: its description of itself, and some of its answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.web.asking import asker

# Described by FastAPI itself, in other words from version to version.
NOT_OURS = ("HTTPValidationError", "ValidationError")


def described(gallery: Path) -> dict[str, Any]:
    """``openapi.json`` without the versions of ourselves and of the format."""
    with asker(gallery) as ask:
        said: dict[str, Any] = ask.get("/api/openapi.json")
    del said["openapi"], said["info"]["version"]
    for name in NOT_OURS:
        said["components"]["schemas"].pop(name, None)
    return said
