"""Label files: the formats in which data sets say who is on each set."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Final

import numpy as np

from lookalike.errors import BadInput
from lookalike.intake.readers.archive import Archive
from lookalike.intake.readers.mat import MatFiles
from lookalike.intake.readers.youtube_layout import default_videos

Labels = dict[str, str]
# What is said of each set, by column: one thing, unless a set has several rows.
Columns = Mapping[str, Mapping[str, AbstractSet[str]]]

# IJB-B and IJB-C: a template is a set of faces, with a row for each of them.
TEMPLATE: Final = ("template_id", "subject_id")


def from_csv(path: Path) -> Labels:
    """Read a table with the columns set_id, person, or TEMPLATE_ID, SUBJECT_ID as IJB-B and IJB-C have.

    Raises
    ------
    BadInput
        If it is something else, empty, or contradicts itself.
    """
    labels: Labels = {}
    for row, (id_column, person_column), line in _rows(path):
        id, person = row[id_column], row[person_column]
        # A template has a row for each face, and its reader takes blanks away; a set has one row.
        many = id_column != "set_id"
        if many:
            id, person = (id or "").strip(), (person or "").strip()
        _put(labels, id, person, f"{path}, line {line}", many)
    if not labels:
        raise BadInput(f"the label file {path} holds no labels: write one line set_id,person for each set")
    return labels


def columns_of_csv(path: Path) -> Columns:
    """Read what a table says of each set beside its person, by column.

    Raises
    ------
    BadInput
        As `from_csv`.
    """
    found: dict[str, dict[str, set[str]]] = {}
    for row, (id_column, person_column), _ in _rows(path):
        for name, value in row.items():
            if name not in (id_column, person_column):
                said = found.setdefault(str(name), {})
                said.setdefault((row[id_column] or "").strip(), set()).add((value or "").strip())
    return found


def columns_of_npz(path: Path) -> Columns:
    """Read the arrays that say one thing of each set, beside set_names and set_person.

    Raises
    ------
    BadInput
        If there are no set_names.
    """
    with Archive(path) as archive:
        if "set_names" not in archive.names():
            raise BadInput(f"{path} has no array set_names: labels need set_names and set_person")
        ids = [str(one) for one in archive.read("set_names").ravel().tolist()]
        found = {}
        for name in archive.names():
            if name not in ("set_names", "set_person") and name.startswith("set_"):
                values = archive.read(name)
                if values.shape == (len(ids),):
                    said = (str(one).strip() for one in values.tolist())
                    found[name] = {id: {one} for id, one in zip(ids, said, strict=True)}
    return found


def from_npz(path: Path) -> Labels:
    """Read the arrays set_names and set_person.

    Raises
    ------
    BadInput
        If one is missing, they do not fit together, or contradict themselves.
    """
    with Archive(path) as archive:
        missing = {"set_names", "set_person"} - set(archive.names())
        if missing:
            raise BadInput(f"{path} has no array {min(missing)}: labels need set_names and set_person")
        names, persons = archive.read("set_names"), archive.read("set_person")
    if names.ndim != 1 or names.shape != persons.shape:
        raise BadInput(
            f"{path} has {names.shape} set_names and {persons.shape} set_person: give one for each set"
        )
    return _paired(map(str, names.tolist()), map(str, persons.tolist()), path)


def from_mat(path: Path) -> Labels:
    """Read video_names and video_labels of the file meta_and_splits.mat of YouTube Faces.

    Raises
    ------
    BadInput
        If one is missing, they do not fit together, or contradict themselves.
    """
    with MatFiles() as mats:
        read = mats.read(path, ["video_names", "video_labels"])
    names, persons = read["video_names"], read["video_labels"]
    if not isinstance(names, list) or isinstance(persons, list):
        raise BadInput(f"{path} must have text in video_names and numbers in video_labels: copy it again")
    if persons.size != len(names) or not names:
        raise BadInput(
            f"{path} has {len(names)} video_names and {persons.size} video_labels: there must be one for "
            f"each video, copy it again"
        )
    numbers = persons.ravel(order="F").astype(np.float64)
    # Infinity would pass for a whole number; NaN equals nothing.
    if not np.isfinite(numbers).all() or (numbers != np.floor(numbers)).any():
        raise BadInput(f"{path} has a label in video_labels that is no whole number: copy it again")
    ids = (name.strip().replace("\\", "/") for name in names)
    return _paired(ids, (str(int(number)) for number in numbers), path)


def from_youtube_faces(path: Path) -> Labels:
    """Take the folder of a video for its person, in the data set YouTube Faces or one of its parts.

    Raises
    ------
    BadInput
        If there is no video.
    """
    labels = {video.id: video.subject for video in default_videos(path)}
    if not labels:
        raise BadInput(f"{path} holds no video of YouTube Faces: unpack the data set there, or give a csv")
    return labels


def _rows(path: Path) -> Iterator[tuple[dict[str, str | None], tuple[str, str], int]]:
    """The rows of a table, each with the names of the columns of sets and of people, and its line."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            columns = _columns(path, list(reader.fieldnames or ()))
            for row in reader:
                if None in row:
                    raise BadInput(
                        f"{path}, line {reader.line_num} has more values than columns, from {row[None][0]!r} "
                        f"on: put a value with a comma into quotation marks"
                    )
                yield row, columns, reader.line_num
    except (UnicodeDecodeError, csv.Error) as reason:
        raise BadInput(
            f"the label file {path} is not a UTF-8 csv file ({reason}): give a csv with the columns "
            f"set_id,person"
        ) from reason


def _columns(path: Path, names: list[str]) -> tuple[str, str]:
    if names.count("set_id") > 1 or names.count("person") > 1:
        raise BadInput(f"the label file {path} has two columns of one name: keep one set_id and one person")
    if {"set_id", "person"} <= set(names):
        return "set_id", "person"
    plain = {name.strip().lower(): name for name in names if name}
    if set(TEMPLATE) <= set(plain):
        return plain[TEMPLATE[0]], plain[TEMPLATE[1]]
    first = ",".join(map(str, names))[:60]
    raise BadInput(
        f"the label file {path} starts with {first!r}: its first line must be set_id,person (or have the "
        f"columns TEMPLATE_ID and SUBJECT_ID)"
    )


def _paired(ids: Iterable[str], persons: Iterable[str], path: Path) -> Labels:
    labels: Labels = {}
    for id, person in zip(ids, persons, strict=True):
        _put(labels, id, person, str(path))
    return labels


def _put(labels: Labels, id: str | None, person: str | None, where: str, many: bool = False) -> None:
    if not id or not person:
        raise BadInput(f"{where}: a label needs a set_id and a person, got {id!r} and {person!r}")
    if labels.get(id, person) != person:
        raise BadInput(
            f"{where}: set {id!r} is labelled twice, as {labels[id]!r} and {person!r}: remove what is wrong"
        )
    if id in labels and not many:
        raise BadInput(f"{where}: set {id!r} is labelled twice, as {person!r}: remove one of them")
    labels[id] = person
