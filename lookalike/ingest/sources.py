"""Sources: recognise what a path holds, let the right reader find its sets."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from lookalike.errors import BadInput, LookalikeError, is_folder, readable, unreadable
from lookalike.faceset import check_id, check_most
from lookalike.ingest.files import promises_media, recognise
from lookalike.ingest.pictures import FORMATS, looks_like_picture, read_picture
from lookalike.ingest.readers.folders import read_folder
from lookalike.ingest.readers.lists import (
    feature_names,
    is_coco,
    is_ijb,
    is_mot,
    is_rows,
    is_rttm,
    read_coco,
    read_ijb,
    read_mot,
    read_rows,
    read_rttm,
)
from lookalike.ingest.readers.npz import COLUMNS as NPZ_COLUMNS
from lookalike.ingest.readers.npz import read_npz
from lookalike.ingest.readers.parquet import COLUMNS as PARQUET_COLUMNS
from lookalike.ingest.readers.parquet import column_names, is_parquet, read_parquet
from lookalike.ingest.readers.youtube_faces import array_names as youtube_names
from lookalike.ingest.readers.youtube_faces import is_youtube_faces, read_youtube_faces
from lookalike.ingest.sourceset import SourceSet, limited

ZIP_MAGIC: Final = (b"PK\x03\x04", b"PK\x05\x06")
# The first line of a text must be in it; that of IJB-C has 300 characters.
START: Final = 4096

Sets = Iterator[SourceSet]


class _Plain(NamedTuple):
    """What has no arrays to choose from and needs no second file."""

    read: Callable[[Path, int | None], Sets]


class _Arrays(NamedTuple):
    """What may hold named arrays that describe the faces."""

    read: Callable[..., Sets]
    names: Callable[[Path], list[str]]
    # What its columns may be called otherwise.
    columns: Collection[str] = ()


class _List(NamedTuple):
    """What lists faces; a second file, the features, describes them."""

    read: Callable[[Path, Path, str | None, int | None], Sets]


_Kind = _Plain | _Arrays | _List


def read_source(
    path: Path,
    array: str | None = None,
    features: Path | None = None,
    most: int | None = None,
    columns: Mapping[str, str] | None = None,
) -> Sets:
    """Find the sets of a source, whatever it is; content decides, not the name.

    A folder of pictures has a set for each folder in it, YouTube Faces one for each video, an ``.npz`` or
    Parquet file those that its rows say, a list of templates (IJB) or tracks (MOT) one for each of them;
    a picture is a set of one face. What can be checked without reading every face is checked here, before
    the first set is handed out. Sets come in the order of the source, with one at a time in memory where
    the source allows it.

    Parameters
    ----------
    path : Path
        A folder or a file.
    array : str, optional
        Which array of the source, or of its features file, describes the faces; its reader says which
        it takes otherwise.
    features : Path, optional
        The file of descriptors that belongs to a list of templates or tracks.
    most : int, optional
        Keep at most so many faces of a set, evenly spread, the first and last among them; others are
        not even decoded where the source allows it.
    columns : mapping of str to str, optional
        What columns of a Parquet file, or arrays of an ``.npz`` file, are called that we call otherwise, as
        ``{"set_id": "video"}``.

    Raises
    ------
    NotFound, BadInput
        If there is nothing at the path, or nothing we can read; an option has no use, or is missing.
    """
    path = Path(path)
    check_most(most)
    kind = _kind(path)
    if columns:
        known = kind.columns if isinstance(kind, _Arrays) else ()
        unknown = [name for name in columns if name not in known]
        if unknown:
            there = f"choose from {', '.join(known)}" if known else "leave it out"
            raise BadInput(f"{readable(path)!r} has no column {unknown[0]!r} to be chosen: {there}")
    if isinstance(kind, _List):
        if features is None:
            raise BadInput(
                f"{readable(path)!r} lists faces but does not describe them: give their features, a row for "
                f"each, with `lookalike add --features FILE`"
            )
        return limited(kind.read(path, Path(features), array, most))
    if features is not None:
        raise BadInput(
            f"{readable(path)!r} needs no features, but {readable(features)!r} is given: leave it out, it is "
            f"for lists (csv, IJB, MOT, COCO, RTTM)"
        )
    if isinstance(kind, _Arrays):
        return limited(kind.read(path, array, most, *([dict(columns)] if columns else [])))
    if array is not None:
        raise BadInput(f"{readable(path)!r} has no array {array!r} to be chosen: leave the array out")
    return limited(kind.read(path, most))


def array_names(path: Path, features: Path | None = None) -> list[str]:
    """Names of the arrays to choose from in a source or its features file; none if there are no such."""
    try:
        kind = _kind(Path(path))
        if isinstance(kind, _List):
            return [] if features is None else feature_names(Path(features))
        return kind.names(Path(path)) if isinstance(kind, _Arrays) else []
    except LookalikeError:
        return []


def is_footage(path: Path, cropped: bool) -> bool:
    """Whether faces have to be looked for in a source: photos, films and folders of them.

    `cropped` says that pictures are faces that were cut out already, and folders hold such. Raises
    NotFound or BadInput if it is not there or cannot be read.
    """
    if is_folder(path):
        return not cropped and not is_youtube_faces(path)
    media = recognise(_start(path))
    if media is None:
        # What its name promises is missed and told, as in a folder.
        return not cropped and promises_media(path)
    return media.kind == "video" or not cropped


def _start(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(START)
    except OSError as reason:
        raise unreadable(path, reason) from None


def _kind(path: Path) -> _Kind:
    if is_folder(path):
        youtube = is_youtube_faces(path)
        return _Arrays(read_youtube_faces, youtube_names) if youtube else _Plain(read_folder)
    start = _start(path)
    for holds, kind in _FILES:
        if holds(start):
            return kind
    raise BadInput(
        f"{readable(path)!r} is nothing that can be read: give a folder of photos and videos, a video, a "
        f"picture ({', '.join(FORMATS)}, HEIC), an .npz file of NumPy arrays, a Parquet file, or a list (csv "
        f"with set_id, IJB, MOT, COCO, RTTM)"
    )


def _one_picture(path: Path, most: int | None) -> Sets:
    name = readable(path.name)
    check_id(name)
    found = SourceSet(id=name, origin=readable(path), sources=(name,), pictures=(read_picture(path),))
    return iter([found])


# How the start of a file tells its kind; texts come last, since they have no magic number.
_FILES: Final[tuple[tuple[Callable[[bytes], bool], _Kind], ...]] = (
    (lambda start: start.startswith(ZIP_MAGIC), _Arrays(read_npz, feature_names, NPZ_COLUMNS)),
    (is_parquet, _Arrays(read_parquet, column_names, PARQUET_COLUMNS)),
    (looks_like_picture, _Plain(_one_picture)),
    (is_ijb, _List(read_ijb)),
    (is_rows, _List(read_rows)),
    (is_rttm, _List(read_rttm)),
    (is_mot, _List(read_mot)),
    (is_coco, _List(read_coco)),
)
