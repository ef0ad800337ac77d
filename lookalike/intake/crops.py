"""Crops: pictures that may be faces cut out already, told by their size before they are decoded."""

from __future__ import annotations

from pathlib import Path

from PIL import Image

from lookalike.intake.pictures import FORMATS, Picture, read_picture


def read_crop(path: Path, largest: tuple[int, int] | None) -> Picture | None:
    """Read a picture, unless it is too large for a crop.

    Parameters
    ----------
    path : Path
    largest : tuple of two ints, or None
        Width and height up to which a picture may be a crop, turned or not; None if every one may be.

    Returns
    -------
    uint8 array (height, width) or (height, width, 3), or None
        None if it is larger, or is nothing whose size is known before it is decoded.

    Raises
    ------
    NotFound, BadInput
        If it cannot be read.
    """
    if largest is not None and not _is_small(path, largest):
        return None
    return read_picture(path)


def _is_small(path: Path, largest: tuple[int, int]) -> bool:
    try:
        with Image.open(path, formats=FORMATS) as image:
            return any(
                width <= largest[0] and height <= largest[1]
                for width, height in (image.size, image.size[::-1])
            )
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError, Image.DecompressionBombWarning):
        # Whoever reads it will say what is wrong with it.
        return False
