"""Labels: who is on each set, read from the formats in which data sets say it, for scoring only."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Final

import numpy as np

from lookalike.errors import BadInput, NotFound
from lookalike.ingest.readers.npz import Archive
from lookalike.ingest.readers.youtube_faces import default_videos, is_youtube_faces
from lookalike.ingest.reading import read_mat_apart

Labels = dict[str, str]
# What is said of each set, by column: one thing, unless a set has several rows.
Columns = Mapping[str, Mapping[str, AbstractSet[str]]]

# IJB-B and IJB-C: a template is a set of faces, with a row for each of them.
TEMPLATE: Final = ("template_id", "subject_id")


def from_csv(path: Path) -> Labels:
    """Read a table with the columns set_id, person, or TEMPLATE_ID, SUBJECT_ID as IJB-B and IJB-C have."""
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
    """Read what a table says of each set beside its person, by column."""
    found: dict[str, dict[str, set[str]]] = {}
    for row, (id_column, person_column), _ in _rows(path):
        for name, value in row.items():
            if name not in (id_column, person_column):
                said = found.setdefault(str(name), {})
                said.setdefault((row[id_column] or "").strip(), set()).add((value or "").strip())
    return found


def columns_of_npz(path: Path) -> Columns:
    """Read the arrays that say one thing of each set, beside set_names and set_person."""
    with Archive(path) as archive:
        if "set_names" not in archive.names():
            raise BadInput(f"{path} has no array set_names: labels need set_names and set_person")
        ids = [str(name) for name in archive.read("set_names").ravel().tolist()]
        found = {}
        for name in archive.names():
            if name not in ("set_names", "set_person") and name.startswith("set_"):
                values = archive.read(name)
                if values.shape == (len(ids),):
                    said = (str(value).strip() for value in values.tolist())
                    found[name] = {id: {one} for id, one in zip(ids, said, strict=True)}
    return found


def from_npz(path: Path) -> Labels:
    """Read the arrays set_names and set_person."""
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
    """Read video_names and video_labels of the file meta_and_splits.mat of YouTube Faces."""
    read = read_mat_apart(path, ["video_names", "video_labels"])
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
    """Take the folder of a video for its person, in the data set YouTube Faces or one of its parts."""
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


def read_labels(path: Path) -> Labels:
    """Read person by set id, whatever the labels are kept in; content decides, not the name.

    A csv has the columns set_id, person, or TEMPLATE_ID, SUBJECT_ID (IJB-B, IJB-C); a .npz has set_names,
    set_person; in the folder of YouTube Faces or one of its parts a subject's folder is the person; its
    ``meta_and_splits.mat`` has numbers for people.
    """
    readers = {"folder": from_youtube_faces, "npz": from_npz, "mat": from_mat, "csv": from_csv}
    return readers[_format(path)](path)


def read_groups(paths: Iterable[Path], column: str) -> Labels:
    """Read the group of each set, as a column of label files says; none of sets of which nothing is said.

    Files are those of `read_labels`: a csv, or a .npz with an array for each set whose name begins with
    ``set_``. Raise BadInput if none has the column, or a set is in two groups.
    """
    groups: Labels = {}
    columns: dict[str, None] = {}
    readers = {"npz": columns_of_npz, "csv": columns_of_csv}
    for path in paths:
        found = readers[form](path) if (form := _format(path)) in readers else {}
        columns |= dict.fromkeys(found)
        for id, said in found.get(column, {}).items():
            values = {*said, *([groups[id]] if id in groups else [])}
            if len(values) > 1:
                first, second, *_ = sorted(values)
                raise BadInput(
                    f"the column {column!r} says {first!r} and {second!r} of set {id!r}: a set is in one "
                    f"group, give another column"
                )
            groups[id] = values.pop()
    if column not in columns:
        there = f"give one of {', '.join(map(repr, columns))}" if columns else "they have no other columns"
        raise BadInput(f"no label file has a column {column!r} beside who is on each set: {there}")
    return groups


def _format(path: Path) -> str:
    """What labels are kept in, told by content."""
    if is_youtube_faces(path):
        return "folder"
    try:
        with path.open("rb") as file:
            start = file.read(128)
    except FileNotFoundError:
        raise NotFound(f"there is no label file {path}: give a csv with the columns set_id,person") from None
    except IsADirectoryError:
        raise BadInput(
            f"the label file {path} cannot be read: it is a folder, and not of YouTube Faces: give a csv "
            f"with the columns set_id,person"
        ) from None
    except OSError as reason:
        raise BadInput(f"the label file {path} cannot be read: {reason.strerror}") from reason
    if start.startswith(b"PK\x03\x04"):
        return "npz"
    # A damaged file is told from a csv by its name.
    return "mat" if start.startswith(b"MATLAB") or path.suffix.lower() == ".mat" else "csv"


def join_labels(read: Iterable[Labels]) -> Labels:
    """Put labels of several files together; BadInput if two of them name different people for a set."""
    joined: Labels = {}
    for labels in read:
        for id, person in labels.items():
            if joined.setdefault(id, person) != person:
                raise BadInput(
                    f"set {id!r} is {joined[id]!r} in one label file and {person!r} in another: "
                    f"remove what is wrong"
                )
    return joined


def with_nobody(labels: Labels, ids: Iterable[str]) -> tuple[Labels, int]:
    """Labels with a stranger for each set without one, so that it matches nobody; and how many these are."""
    missing = {id: f"(no label) {id}" for id in ids if id not in labels}
    return labels | missing, len(missing)


def check_measurable(persons: Collection[str], asked: Collection[str]) -> None:
    """Refuse people by whom nothing can be measured: no query with a match, or nobody but one person.

    `persons` are on each set of the gallery, `asked` on each query that has a match.
    """
    if not asked:
        raise BadInput(
            "no query has a match in the gallery, so there is nothing to measure: check the labels"
        )
    if len(set(persons)) == 1:
        raise BadInput(
            f"all {len(persons)} sets show one person, {next(iter(asked))!r}, so every order is perfect: "
            f"label more than one person"
        )


def check_labels(labels: Labels, ids: Iterable[str]) -> None:
    """Refuse labels that do not fit a gallery: each set has one, and each is of a set."""
    known = set(ids)
    missing, unknown = sorted(known - labels.keys()), sorted(labels.keys() - known)
    if missing:
        raise BadInput(
            f"{len(missing)} of {len(known)} sets have no label, for instance {missing[0]!r}: add them"
        )
    if unknown:
        raise BadInput(
            f"{len(unknown)} labels are for sets the gallery does not hold, for instance {unknown[0]!r}: "
            f"remove them, or check that this is the right file"
        )
