"""Features: descriptors in a file of their own, one row for each face of a list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput
from lookalike.faceset import checked_faces
from lookalike.intake.paths import is_folder, readable, unreadable
from lookalike.intake.readers.archive import Archive, Header, npy_header
from lookalike.intake.sampling import evenly
from lookalike.intake.sourceset import SourceSet

# The array of an .npy file has no name. The file's own name will not do: two sequences with a file
# each were then described by two different things.
NAME: Final = "features"
NPY_MAGIC: Final = b"\x93NUMPY"
ZIP_MAGIC: Final = b"PK\x03\x04"


def feature_names(path: Path) -> list[str]:
    """Names of the arrays of a features file; that of an .npy file is always ``features``.

    Raises
    ------
    NotFound, BadInput
        If it cannot be read, or is neither an .npy nor an .npz file.
    """
    if _is_npy(path):
        return [NAME]
    with Archive(path) as archive:
        return archive.names()


def join_features(
    path: Path,
    groups: Mapping[str, Sequence[int]],
    sources: Sequence[str],
    features: Path,
    array: str | None = None,
    most: int | None = None,
) -> Iterator[SourceSet]:
    """Make sets of a list of faces and the file that describes them.

    Parameters
    ----------
    path : Path
        The list, for people to read.
    groups : mapping
        The faces of each set, as places in the list.
    sources : sequence of str (N,)
        Where each face of the list came from.
    features : Path
        An .npy file, or an .npz file, with an array of floats (N, d): row i describes face i of the
        list. The first is never read whole, however large it is.
    array : str, optional
        Which array of an .npz file; the only one of floats (N, d) unless given.
    most : int, optional
        Keep at most so many faces of a set, evenly spread.

    Raises
    ------
    NotFound, BadInput
        Naming the features file and what is wrong with it.
    """
    if _is_npy(features):
        name, rows = NAME, _mapped(features, array, path, len(sources))
    else:
        name, rows = _unpacked(features, array, path, len(sources))
    return _sets(path, groups, sources, features, name, rows, most)


def _sets(
    path: Path,
    groups: Mapping[str, Sequence[int]],
    sources: Sequence[str],
    features: Path,
    name: str,
    rows: NDArray[Any],
    most: int | None,
) -> Iterator[SourceSet]:
    for id, places in groups.items():
        kept = [places[place] for place in evenly(len(places), most)]
        try:
            faces = checked_faces(rows[kept], f"set {id!r}")
        except BadInput as reason:
            raise _refusal(features, f"cannot be used: {reason}") from None
        yield SourceSet(
            id=id,
            origin=readable(path),
            sources=tuple(sources[place] for place in kept),
            faces=faces.astype(np.float32),
            array=name,
        )


def _is_npy(path: Path) -> bool:
    if is_folder(path):
        raise _refusal(path, "is a folder: give the features as an .npy or .npz file")
    try:
        with path.open("rb") as stream:
            start = stream.read(len(NPY_MAGIC))
    except OSError as reason:
        raise unreadable(path, reason) from None
    if start != NPY_MAGIC and not start.startswith(ZIP_MAGIC):
        raise _refusal(path, "holds no features: give an .npy or .npz file with floats (N, d)")
    return start == NPY_MAGIC


def _mapped(features: Path, array: str | None, path: Path, count: int) -> NDArray[Any]:
    if array not in (None, NAME):
        raise _refusal(features, f"has no array {array!r}, but one without a name: leave the array out")
    try:
        with features.open("rb") as stream:
            size = features.stat().st_size
            header = npy_header(stream, size, "its array", lambda text: _refusal(features, text))
            _check_shape(features, "its array", header, path, count)
        mapped: NDArray[Any] = np.load(features, mmap_mode="r", allow_pickle=False)
    except OSError as reason:
        raise unreadable(features, reason) from None
    return mapped


def _unpacked(features: Path, array: str | None, path: Path, count: int) -> tuple[str, NDArray[Any]]:
    with Archive(features) as archive:
        if array is None:
            headers = {name: archive.header(name) for name in archive.names()}
            tables = [name for name, header in headers.items() if _is_table(header)]
            if len(tables) != 1:
                there = ", ".join(tables or headers) or "no arrays at all"
                advice = "choose the array" if tables else "it has"
                number = "several arrays" if tables else "no array"
                raise archive.refusal(f"has {number} of floats (N, d): {advice}: {there}")
            array = tables[0]
        _check_shape(features, repr(array), archive.header(array), path, count)
        return array, archive.read(array)


def _check_shape(features: Path, what: str, header: Header, path: Path, count: int) -> None:
    if not _is_table(header):
        raise _refusal(
            features, f"has shape {header.shape} of type {header.dtype} in {what}: it must be floats (N, d)"
        )
    if header.shape[0] != count:
        raise _refusal(
            features,
            f"has {header.shape[0]} rows in {what}, but {readable(path)!r} lists {count} faces: "
            f"row i must describe face i of the list",
        )


def _is_table(header: Header) -> bool:
    return header.dtype.kind == "f" and len(header.shape) == 2


def _refusal(path: Path, text: str) -> BadInput:
    return BadInput(f"{readable(path)!r} {text}")
