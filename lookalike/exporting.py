"""Export: everything a gallery holds about some sets, in files that need no gallery."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.collection.gallery import Gallery
from lookalike.collection.queries import several
from lookalike.errors import BadInput, StorageFailed
from lookalike.faceset import FaceSet


def export(
    gallery: Gallery, path: Path, ids: Sequence[str] | None = None, pictures: Path | None = None
) -> int:
    """Write sets as one .npz file that `lookalike add` reads, and their pictures as files.

    Parameters
    ----------
    gallery : Gallery
    path : Path
        The .npz file; it must not exist. Arrays: ``descriptors`` (N, d), ``image_set`` (N,),
        ``image_names`` (N,), ``image_sightings`` (N,) (where and how well each face was seen, as JSON; empty
        if nobody knows), ``set_names`` (S,), ``set_origins`` (S,), ``apart`` (P, 2) (places in `set_names` of
        sets that are certainly of different people), ``descriptor`` (what made them).
    ids : sequence of str, optional
        Which sets; all unless given.
    pictures : Path, optional
        Folder for the pictures, one folder a set.

    Returns
    -------
    int
        How many sets were written.

    Raises
    ------
    BadInput
        If the file exists, or there is nothing to export.
    StorageFailed
        If the disk refuses; then the file is not there.
    """
    wanted = gallery.ids() if ids is None else dict.fromkeys(several(ids))
    sets = [gallery.get(id, pictures=pictures is not None) for id in wanted]
    if not sets:
        raise BadInput(f"there is nothing to export: no set was chosen, or {gallery.path} is empty")
    arrays = {
        "descriptors": np.concatenate([one.faces for one in sets]),
        "image_set": np.repeat(np.arange(len(sets)), [len(one) for one in sets]).astype(np.int32),
        "image_names": np.array([name for one in sets for name in (one.sources or [""] * len(one))]),
        "image_sightings": np.array([text for one in sets for text in _sightings(one)]),
        "set_names": np.array([one.id for one in sets]),
        "set_origins": np.array([one.origin for one in sets]),
        "apart": _apart(gallery, {one.id: place for place, one in enumerate(sets)}),
        "descriptor": np.array(gallery.descriptor),
    }
    try:
        for given in (path, pictures):
            if given is not None and given.exists():
                raise BadInput(f"{given} is there already: choose another name, or remove it")
        _write(path, arrays, sets, pictures)
    except OSError as reason:
        raise StorageFailed(f"{path} cannot be written: {reason.strerror}; nothing was exported") from reason
    return len(sets)


def _sightings(faceset: FaceSet) -> list[str]:
    return [one.as_text() for one in faceset.sightings] or [""] * len(faceset)


def _apart(gallery: Gallery, places: Mapping[str, int]) -> NDArray[np.int32]:
    pairs = [pair for pair in gallery.apart() if places.keys() >= set(pair)]
    return np.array([[places[id] for id in pair] for pair in pairs], dtype=np.int32).reshape(-1, 2)


def _suffix(picture: bytes) -> str:
    """Name the format: faces of footage are WebP, crops JPEG, and other programs may have added PNG."""
    formats = {b"RIFF": ".webp", b"\x89PNG": ".png"}
    return formats.get(picture[:4], ".jpg")


def _write(path: Path, arrays: Mapping[str, Any], sets: Sequence[FaceSet], pictures: Path | None) -> None:
    """Write everything aside, then give it its name: nobody sees half of it."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".unfinished-")
    aside = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez_compressed(file, **arrays)
            file.flush()
            os.fsync(file.fileno())
        if pictures is not None:
            for number, one in enumerate(sets):
                # Folders are numbered: a set id may hold anything, a file name may not.
                folder = pictures / f"{number:06d}"
                folder.mkdir(parents=True)
                for face, picture in enumerate(one.pictures):
                    (folder / f"{face:04d}{_suffix(picture)}").write_bytes(picture)
        aside.rename(path)
    except BaseException:
        if pictures is not None:
            shutil.rmtree(pictures, ignore_errors=True)
        raise
    finally:
        with suppress(OSError):
            aside.unlink()
