"""Entries: what a benchmark found, as a ratio to a limit or a rival of the same run."""

from __future__ import annotations

from typing import Any


def entry(name: str, ratio: float, target: float, **figures: Any) -> dict[str, Any]:
    """One line of a result: a ratio of at most the target is good; raw figures stand beside it."""
    rounded = {key: round(value, 4) if isinstance(value, float) else value for key, value in figures.items()}
    return {"name": name, "ratio": round(ratio, 4), "target": target, **rounded}
