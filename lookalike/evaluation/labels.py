"""Labels: who is on each set, read from a file, for scoring only."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

from lookalike.errors import BadInput, NotFound
from lookalike.intake.readers.archive import Archive

Labels = dict[str, str]


def read_labels(path: Path) -> Labels:
    """Read person by set id: a csv with the columns set_id, person, or a .npz with set_names, set_person.

    Raises
    ------
    NotFound, BadInput
        If there is no such file, or it is not one of the two.
    """
    try:
        with path.open("rb") as file:
            start = file.read(4)
    except FileNotFoundError:
        raise NotFound(f"there is no label file {path}: give a csv with the columns set_id,person") from None
    except OSError as reason:
        raise BadInput(f"the label file {path} cannot be read: {reason.strerror}") from reason
    return _from_npz(path) if start == b"PK\x03\x04" else _from_csv(path)


def check_labels(labels: Labels, ids: Iterable[str]) -> None:
    """Refuse labels that do not fit a gallery.

    Raises
    ------
    BadInput
        If a set has no label, or a label has no set.
    """
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


def _from_csv(path: Path) -> Labels:
    labels: Labels = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            if not {"set_id", "person"} <= set(reader.fieldnames or ()):
                first = ",".join(reader.fieldnames or [])[:60]
                raise BadInput(
                    f"the label file {path} starts with {first!r}: its first line must be set_id,person"
                )
            for row in reader:
                _put(labels, row["set_id"], row["person"], f"{path}, line {reader.line_num}")
    except (UnicodeDecodeError, csv.Error) as reason:
        raise BadInput(f"the label file {path} is not a UTF-8 csv file: {reason}") from reason
    if not labels:
        raise BadInput(f"the label file {path} holds no labels: write one line set_id,person for each set")
    return labels


def _from_npz(path: Path) -> Labels:
    with Archive(path) as archive:
        missing = {"set_names", "set_person"} - set(archive.names())
        if missing:
            raise BadInput(f"{path} has no array {min(missing)}: labels need set_names and set_person")
        names, persons = archive.read("set_names"), archive.read("set_person")
    if names.ndim != 1 or names.shape != persons.shape:
        raise BadInput(
            f"{path} has {names.shape} set_names and {persons.shape} set_person: give one for each set"
        )
    labels: Labels = {}
    for name, person in zip(names.tolist(), persons.tolist(), strict=True):
        _put(labels, str(name), str(person), str(path))
    return labels


def _put(labels: Labels, id: str | None, person: str | None, where: str) -> None:
    if not id or not person:
        raise BadInput(f"{where}: a label needs a set_id and a person, got {id!r} and {person!r}")
    if labels.get(id, person) != person:
        raise BadInput(f"{where}: set {id!r} is labelled twice, as {labels[id]!r} and {person!r}")
    labels[id] = person
