"""Export: everything a gallery holds about some sets, or about a person, in files that need no gallery."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike import atomic
from lookalike.errors import BadInput, StorageFailed
from lookalike.faceset import FaceSet
from lookalike.gallery.decision_log import Decision
from lookalike.gallery.decisions import decision_lines, judged
from lookalike.gallery.forget import find_person
from lookalike.gallery.gallery import Gallery
from lookalike.gallery.set_rows import several

Arrays = Mapping[str, NDArray[Any]]


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
    arrays = _arrays(gallery, sets)
    try:
        _refuse_taken(path, pictures)
        _write(path, arrays, sets, pictures)
    except OSError as reason:
        raise StorageFailed(f"{path} cannot be written: {reason.strerror}; nothing was exported") from reason
    return len(sets)


def export_person(gallery: Gallery, path: Path, name: str) -> int:
    """Write everything that a gallery holds about a person into a folder, for them to read.

    ``sets.npz`` is what `export` writes, ``pictures/`` the pictures, ``vectors.npz`` what other models made
    of the faces (arrays ``names``, then ``0``, ``1`` and so on, one face a row), ``about.json`` all the rest:
    names, sets, films and photos, decisions, and where each face was seen.

    Parameters
    ----------
    gallery : Gallery
    path : Path
        The folder; it must not exist.
    name : str
        What the person is called.

    Returns
    -------
    int
        How many sets were written.

    Raises
    ------
    NotFound
        If nobody is called so.
    BadInput, StorageFailed
        As `export`.
    """
    person = find_person(gallery, name)
    sets = [gallery.get(one, pictures=True) for one in person.sets]
    about = json.dumps(_about(gallery, person.number, sets), indent=1, ensure_ascii=False) + "\n"
    aside = atomic.beside(path)
    try:
        _refuse_taken(path)
        atomic.make_folder(aside)
        try:
            atomic.write_new(aside / "about.json", about.encode("utf-8", "backslashreplace"))
            atomic.write_new(aside / "vectors.npz", _packed(_vectors(gallery, person.sets)))
            _write(aside / "sets.npz", _arrays(gallery, sets), sets, aside / "pictures")
            atomic.rename(aside, path)
        finally:
            atomic.delete_tree(aside)
        atomic.sync(path.absolute().parent)
    except OSError as reason:
        raise StorageFailed(f"{path} cannot be written: {reason.strerror}; nothing was exported") from reason
    return len(sets)


def _about(gallery: Gallery, number: int, sets: Sequence[FaceSet]) -> dict[str, Any]:
    """What is known of a person besides numbers and pictures."""
    own = {one.id for one in sets}
    log = gallery.decisions()
    verdicts = judged(gallery).verdicts
    # Somebody who was merged into this person has names of their own.
    numbers = {one for one in verdicts.names if verdicts.person(one) == number}
    chosen = [one for one in log if own & set(one.sets) or _people(one) & numbers]
    undone = {one.number for one in chosen}
    chosen += [one for one in log if one.kind == "undo" and one.other in undone]
    named = {one.name for one in chosen if one.name and _people(one) & numbers}
    facts = {one.id: one._asdict() for one in gallery.listing(sorted(own))}
    files = {file.content: asdict(file) for one in sets for file in gallery.files_of(one.id)}
    return {
        "name": verdicts.names[number],
        "names": sorted({*named, *(verdicts.names[one] for one in numbers)}),
        "descriptor": gallery.descriptor,
        "sets": [
            {
                **facts[one.id],
                "sources": list(one.sources),
                "sightings": [json.loads(each.as_text()) for each in one.sightings],
                "files": [file.content for file in gallery.files_of(one.id)],
            }
            for one in sets
        ],
        "files": list(files.values()),
        "decisions": decision_lines(sorted(chosen, key=lambda one: one.number)),
        "apart": [pair for pair in gallery.apart() if own & set(pair)],
    }


def _people(one: Decision) -> set[int | None]:
    """Numbers of the people whom a decision is about."""
    return {one.number if one.makes_person else None, one.person, one.other if one.kind == "merge" else None}


def _vectors(gallery: Gallery, ids: Sequence[str]) -> dict[str, NDArray[Any]]:
    names = [model.name for model in gallery.models() if not model.is_current]
    found: dict[str, NDArray[Any]] = {"names": np.array(names, dtype=np.str_)}
    for place, name in enumerate(names):
        found[str(place)] = np.concatenate([gallery.vectors(one, name) for one in ids])
    return found


def _arrays(gallery: Gallery, sets: Sequence[FaceSet]) -> dict[str, NDArray[Any]]:
    return {
        "descriptors": np.concatenate([one.faces for one in sets]),
        "image_set": np.repeat(np.arange(len(sets)), [len(one) for one in sets]).astype(np.int32),
        "image_names": np.array([name for one in sets for name in (one.sources or [""] * len(one))]),
        "image_sightings": np.array([text for one in sets for text in _sightings(one)]),
        "set_names": np.array([one.id for one in sets]),
        "set_origins": np.array([one.origin for one in sets]),
        "apart": _apart(gallery, {one.id: place for place, one in enumerate(sets)}),
        "descriptor": np.array(gallery.descriptor),
    }


def _sightings(faceset: FaceSet) -> list[str]:
    return [one.as_text() for one in faceset.sightings] or [""] * len(faceset)


def _apart(gallery: Gallery, places: Mapping[str, int]) -> NDArray[np.int32]:
    pairs = [pair for pair in gallery.apart() if places.keys() >= set(pair)]
    return np.array([[places[id] for id in pair] for pair in pairs], dtype=np.int32).reshape(-1, 2)


def _suffix(picture: bytes) -> str:
    """Name the format: faces of footage are WebP, crops JPEG, and other programs may have added PNG."""
    formats = {b"RIFF": ".webp", b"\x89PNG": ".png"}
    return formats.get(picture[:4], ".jpg")


# Writing.


def _refuse_taken(*paths: Path | None) -> None:
    for given in paths:
        if given is not None and given.exists():
            raise BadInput(f"{given} is there already: choose another name, or remove it")


def _packed(arrays: Arrays) -> bytes:
    packed = BytesIO()
    np.savez_compressed(packed, **dict(arrays))  # type: ignore[arg-type]  # every value is an array
    return packed.getvalue()


def _write(path: Path, arrays: Arrays, sets: Sequence[FaceSet], pictures: Path | None) -> None:
    """Write everything aside, then give it its name: nobody sees half of it."""
    try:
        with atomic.writing(path) as file:
            np.savez_compressed(file, **dict(arrays))  # type: ignore[arg-type]  # every value is an array
            if pictures is not None:
                for number, one in enumerate(sets):
                    # Folders are numbered: a set id may hold anything, a file name may not.
                    folder = pictures / f"{number:06d}"
                    atomic.make_folders(folder)
                    for face, picture in enumerate(one.pictures):
                        atomic.write_new(folder / f"{face:04d}{_suffix(picture)}", picture, durable=False)
    except BaseException:
        if pictures is not None:
            atomic.delete_tree(pictures)
        raise
