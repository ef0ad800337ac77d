"""Export: what a gallery holds about some sets, a person or the answers of a query, in files for others."""

from __future__ import annotations

import filecmp
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from io import BytesIO
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike import atomic
from lookalike.errors import BadInput, StorageFailed
from lookalike.exchange.appearances import Selection, appearances, as_json, as_parquet, as_table
from lookalike.exchange.names import as_xmp
from lookalike.exchange.sheet import as_sheet
from lookalike.exchange.timelines import as_edl, as_markers, as_otio, as_vtt
from lookalike.faceset import FaceSet
from lookalike.gallery.decision_log import Decision
from lookalike.gallery.decisions import decision_lines, judged
from lookalike.gallery.forget import find_person
from lookalike.gallery.gallery import Gallery
from lookalike.gallery.set_rows import several
from lookalike.ranking import Ranking

Arrays = Mapping[str, NDArray[Any]]

# What `add` reads; all other formats are for other programs.
OWN: Final = "npz"
# Each makes a file, or several with their names.
FORMATS: Final[Mapping[str, Callable[[Selection], bytes | dict[str, bytes]]]] = {
    "csv": as_table,
    "json": as_json,
    "parquet": as_parquet,
    "vtt": as_vtt,
    "edl": as_edl,
    "markers": as_markers,
    "otio": as_otio,
    "xmp": as_xmp,
    "html": as_sheet,
}


class Exported(NamedTuple):
    """What was written: how many sets and appearances, how many files, and what is to be said about it."""

    sets: int
    appearances: int
    files: int
    remarks: tuple[str, ...]


def format_of(path: Path, given: str | None = None, default: str | None = OWN) -> str:
    """The format that is asked for by name, or by the suffix of a file.

    `default` is that of a suffix that is none of a format; None refuses such a path.
    """
    found = path.suffix.lower().removeprefix(".") if given is None else given
    if found in (*FORMATS, OWN):
        return found
    if given is None and default is not None:
        return default
    known = ", ".join(FORMATS if default is None else (OWN, *FORMATS))
    told = (
        f"the suffix of {str(path)!r} is of no format" if given is None else f"there is no format {given!r}"
    )
    raise BadInput(f"{told}: choose one of {known} by --format")


def export_as(
    gallery: Gallery,
    path: Path,
    format: str,
    ids: Sequence[str] | None = None,
    person: str | None = None,
    ranking: Ranking | None = None,
    rate: float | None = None,
    start: str | None = None,
) -> Exported:
    """Write where people are seen into a file for another program.

    All sets are meant, unless ids, a person by name, or the answers of a ranking are given.

    Parameters
    ----------
    path : Path
        Must not exist. Sidecars, and what has one file for each video if there are several, become a folder.
    format : str
        One of `FORMATS`.
    rate : float, optional
        Frames a second of videos that do not say.
    start : str, optional
        Time code of the first frame of videos that have none, or none that can be read.
    """
    if format not in FORMATS:
        raise BadInput(f"there is no format {format!r}: choose one of {', '.join(FORMATS)}")
    somebody = None if person is None else find_person(gallery, person)
    seen = tuple(appearances(gallery, ids if somebody is None else somebody.sets, ranking))
    if not seen:
        raise BadInput(f"there is nothing to export: no set was chosen, or {gallery.path} is empty")
    title = somebody.name if somebody else ranking.query if ranking else gallery.path.name
    chosen = Selection(gallery, title, seen, somebody, ranking, rate, start)
    with _writing(path):
        written = FORMATS[format](chosen)
        _put(path, written)
    files = 1 if isinstance(written, bytes) else len(written)
    return Exported(len({one.set_id for one in seen}), len(seen), files, tuple(chosen.remarks))


def _put(path: Path, written: bytes | dict[str, bytes]) -> None:
    """Write a file, or a folder of files, whole or not at all."""
    if isinstance(written, bytes):
        atomic.write(path, written)
        return
    with _folder(path) as new:
        for name, content in written.items():
            atomic.make_folders((new / name).parent)
            atomic.write_new(new / name, content)


def export(
    gallery: Gallery, path: Path, ids: Sequence[str] | None = None, pictures: Path | None = None
) -> int:
    """Write sets as one .npz file that `lookalike add` reads; return how many.

    Their pictures go into another folder if one is given, a folder for each set. Neither file nor folder may
    be there already. Arrays: ``descriptors`` (N, d), ``image_set`` (N,), ``image_names`` (N,),
    ``image_sightings`` (N,) (where and how well each face was seen, as JSON; empty if nobody knows),
    ``set_names`` (S,), ``set_origins`` (S,), ``apart`` (P, 2) (places in `set_names` of sets that are
    certainly of different people), ``descriptor`` (what made them).
    """
    wanted = gallery.ids() if ids is None else dict.fromkeys(several(ids))
    sets = [gallery.get(id, pictures=pictures is not None) for id in wanted]
    if not sets:
        raise BadInput(f"there is nothing to export: no set was chosen, or {gallery.path} is empty")
    arrays = _arrays(gallery, sets)
    with _writing(path):
        _write(path, arrays, sets, pictures)
    return len(sets)


def export_person(gallery: Gallery, path: Path, name: str) -> int:
    """Write everything that a gallery holds about a person into a new folder; return how many sets that is.

    ``sets.npz`` is what `export` writes, ``pictures/`` the pictures, ``vectors.npz`` what other models made
    of the faces (arrays ``names``, then ``0``, ``1`` and so on, one face a row), ``about.json`` all the
    rest: names, sets, videos and photos, decisions, and where each face was seen.
    """
    person = find_person(gallery, name)
    sets = [gallery.get(one, pictures=True) for one in person.sets]
    about = json.dumps(_about(gallery, person.number, sets), indent=1, ensure_ascii=False) + "\n"
    with _writing(path), _folder(path) as new:
        atomic.write_new(new / "about.json", about.encode("utf-8", "backslashreplace"))
        atomic.write_new(new / "vectors.npz", _packed(_vectors(gallery, person.sets)))
        _write(new / "sets.npz", _arrays(gallery, sets), sets, new / "pictures")
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


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Refuse a place that is taken, and say what the disk refuses."""
    try:
        _refuse_taken(path)
        yield
    except OSError as reason:
        raise StorageFailed(f"{path} cannot be written: {reason.strerror}; nothing was exported") from reason


@contextmanager
def _folder(path: Path) -> Iterator[Path]:
    """A new folder aside, which takes its name at the end of the block."""
    with atomic.folder_aside(path.absolute().parent) as aside:
        new = aside / "new"
        atomic.make_folder(new)
        yield new
        atomic.rename(new, path)
    atomic.sync(path.absolute().parent)


def _refuse_taken(path: Path) -> None:
    if path.exists():
        raise BadInput(f"{path} is there already: choose another name, or remove it")


def _packed(arrays: Arrays) -> bytes:
    packed = BytesIO()
    np.savez_compressed(packed, **dict(arrays))  # type: ignore[arg-type]  # every value is an array
    return packed.getvalue()


def _write(path: Path, arrays: Arrays, sets: Sequence[FaceSet], pictures: Path | None) -> None:
    """Write everything aside, then give it its name: nobody sees half of it."""
    is_named = False
    try:
        with atomic.writing(path) as file:
            np.savez_compressed(file, **dict(arrays))  # type: ignore[arg-type]  # every value is an array
            if pictures is not None:
                atomic.make_folders(pictures.parent)
                with atomic.folder_aside(pictures.parent) as aside:
                    _write_pictures(aside / "new", sets)
                    is_named = _name_pictures(aside / "new", pictures)
    except BaseException:
        if pictures is not None and is_named:
            atomic.delete_tree(pictures)
        raise


def _write_pictures(folder: Path, sets: Sequence[FaceSet]) -> None:
    for number, one in enumerate(sets):
        # Folders are numbered: a set id may hold anything, a file name may not.
        own = folder / f"{number:06d}"
        atomic.make_folders(own)
        for face, picture in enumerate(one.pictures):
            atomic.write_new(own / f"{face:04d}{_suffix(picture)}", picture, durable=False)


def _name_pictures(aside: Path, pictures: Path) -> bool:
    """Give a folder its name, unless just these pictures are there: left by an export that was killed."""
    if pictures.is_dir() and _are_alike(aside, pictures):
        return False
    _refuse_taken(pictures)
    atomic.rename(aside, pictures)
    return True


def _are_alike(one: Path, other: Path) -> bool:
    """Whether two folders hold the same files; of large foreign ones little is read."""
    expected = {path.relative_to(one): path for path in one.rglob("*") if path.is_file()}
    found = 0
    for path in other.rglob("*"):
        if path.is_dir() and not path.is_symlink():
            continue
        same = expected.get(path.relative_to(other))
        if same is None or not path.is_file() or not filecmp.cmp(same, path, shallow=False):
            return False
        found += 1
    return found == len(expected)
