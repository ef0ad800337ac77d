"""Export: everything a gallery holds about some sets, in files that need no gallery."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from lookalike.collection.gallery import Gallery
from lookalike.errors import BadInput, StorageFailed


def export(
    gallery: Gallery, path: Path, ids: Sequence[str] | None = None, pictures: Path | None = None
) -> int:
    """Write sets as one .npz file that `lookalike add` reads, and their pictures as files.

    Parameters
    ----------
    gallery : Gallery
    path : Path
        The .npz file; it must not exist. Arrays: ``descriptors`` (N, d), ``image_set`` (N,),
        ``image_names`` (N,), ``set_names`` (S,), ``set_origins`` (S,), ``descriptor`` (what made them).
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
    if path.exists():
        raise BadInput(f"{path} is there already: choose another name, or remove it")
    if pictures is not None and pictures.exists():
        raise BadInput(f"{pictures} is there already: choose another folder for the pictures, or remove it")
    wanted = gallery.ids() if ids is None else dict.fromkeys(ids)
    sets = [gallery.get(id, pictures=pictures is not None) for id in wanted]
    if not sets:
        raise BadInput(f"{gallery.path} holds no sets, so there is nothing to export")
    arrays = {
        "descriptors": np.concatenate([one.faces for one in sets]),
        "image_set": np.repeat(np.arange(len(sets)), [len(one) for one in sets]).astype(np.int32),
        "image_names": np.array([name for one in sets for name in (one.sources or [""] * len(one))]),
        "set_names": np.array([one.id for one in sets]),
        "set_origins": np.array([one.origin for one in sets]),
        "descriptor": np.array(gallery.descriptor),
    }
    aside = path.with_name(f"{path.name}.unfinished")
    try:
        with aside.open("wb") as file:
            np.savez_compressed(file, allow_pickle=False, **arrays)
            file.flush()
            os.fsync(file.fileno())
        if pictures is not None:
            for number, one in enumerate(sets):
                # Folders are numbered: a set id may hold anything, a file name may not.
                folder = pictures / f"{number:06d}"
                if one.pictures:
                    folder.mkdir(parents=True)
                for face, picture in enumerate(one.pictures):
                    (folder / f"{face:04d}.jpg").write_bytes(picture)
        aside.rename(path)
    except OSError as reason:
        if pictures is not None:
            shutil.rmtree(pictures, ignore_errors=True)
        raise StorageFailed(f"{path} cannot be written: {reason.strerror}; nothing was exported") from reason
    finally:
        aside.unlink(missing_ok=True)
    return len(sets)
