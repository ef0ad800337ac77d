"""Sources: recognise what a path holds, let the right reader find its sets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lookalike.errors import BadInput, LookalikeError
from lookalike.faceset import check_id
from lookalike.intake.paths import is_folder, readable, unreadable
from lookalike.intake.pictures import FORMATS, START, looks_like_picture, read_picture
from lookalike.intake.readers.archive import Archive
from lookalike.intake.readers.folders import read_folder
from lookalike.intake.readers.npz import read_npz
from lookalike.intake.sourceset import SourceSet

__all__ = ["SourceSet", "array_names", "read_source"]

ZIP_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")


def read_source(path: Path, array: str | None = None) -> Iterator[SourceSet]:
    """Find the sets of a source, whatever it is; content decides, not the name.

    A folder of pictures has a set for each folder in it, an ``.npz`` file has those its
    `image_set` says, a picture is a set of one face. What can be checked without reading every
    picture is checked here, before the first set is handed out.

    Parameters
    ----------
    path : Path
        A folder, a file of NumPy arrays or a picture.
    array : str, optional
        Which array of an ``.npz`` file describes the faces; see `read_npz`.

    Returns
    -------
    iterator of SourceSet
        In the order of the source, with one set at a time in memory where the source allows it.

    Raises
    ------
    NotFound
        If there is nothing at the path.
    BadInput
        If it holds nothing we can read, or `array` is given for what has no arrays.
    """
    path = Path(path)
    if is_folder(path):
        _refuse_array(path, array)
        return read_folder(path)
    try:
        with path.open("rb") as stream:
            start = stream.read(START)
    except OSError as reason:
        raise unreadable(path, reason) from None
    if start.startswith(ZIP_MAGIC):
        return read_npz(path, array)
    if looks_like_picture(start):
        _refuse_array(path, array)
        check_id(readable(path.name))
        picture = read_picture(path)
        name = readable(path.name)
        return iter([SourceSet(id=name, origin=readable(path), sources=(name,), pictures=(picture,))])
    raise BadInput(
        f"{readable(path)!r} is nothing that can be read: give a folder of pictures, an .npz file of "
        f"NumPy arrays, or a picture ({', '.join(FORMATS)})"
    )


def array_names(path: Path) -> list[str]:
    """Names of the arrays of an .npz file; none if it is something else."""
    try:
        with Archive(path) as archive:
            return archive.names()
    except LookalikeError:
        return []


def _refuse_array(path: Path, array: str | None) -> None:
    if array is not None:
        raise BadInput(f"{readable(path)!r} has no array {array!r}, only pictures: leave the array out")
