"""What `lookalike models` tells: every model file that may be used, and what is known of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, Final

from lookalike import parts
from lookalike.cli.terminal import print_json
from lookalike.errors import LookalikeError
from lookalike.intake.describer import FOOTAGE_DESCRIPTOR
from lookalike.intake.yunet import YUNET
from lookalike.modelcard import ModelCard

OWN: Final = (
    "A model of your own (--descriptor onnx:model=FILE) is known by its SHA-256 alone: ask whoever made it "
    "what it may be used for, what it was trained on, and for whom it is weak."
)


def report(json: bool) -> None:
    """Print what was found."""
    found = list(models())
    if json:
        print_json({"models": found})
        return
    for one in found:
        print(f"{one['name']}: {one['user']}{' (the default)' if one['is_default'] else ''}")
        print(f"  file        {one['file']}, {one['size']:,} bytes, in the package {one['package']}")
        print(f"  SHA-256     {one['sha256']}")
        print(f"  here        {one['problem'] or 'found, and it is the one that is meant'}")
        print(f"  licence     {one['licence']}")
        print(f"  source      {one['source']}")
        print(f"  trained on  {one['training']}")
        print(f"  weak for    {one['weak']}\n")
    print(OWN)


def models() -> Iterator[dict[str, Any]]:
    """Facts of every model, in use or possible; `problem` says why a file cannot be used here, or is None."""
    cards = [("", YUNET)]
    for name in parts.names("descriptors"):
        cards += [(name, card) for card in parts.part_class("descriptors", name).cards]
    for name, card in cards:
        yield {
            **asdict(card),
            "file": card.file,
            "is_default": name in ("", FOOTAGE_DESCRIPTOR),
            "problem": _problem(card),
        }


def _problem(card: ModelCard) -> str | None:
    try:
        card.read()
    except LookalikeError as reason:
        return str(reason)
    return None
