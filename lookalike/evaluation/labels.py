"""Labels: who is on each set, read from a file, for scoring only."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from lookalike.errors import BadInput, NotFound
from lookalike.evaluation.label_files import (
    Labels,
    columns_of_csv,
    columns_of_npz,
    from_csv,
    from_mat,
    from_npz,
    from_youtube_faces,
)
from lookalike.intake.readers.youtube_faces import is_youtube_faces

__all__ = ["Labels", "check_labels", "check_measurable", "join_labels", "read_groups", "read_labels"]


def read_labels(path: Path) -> Labels:
    """Read person by set id, whatever the labels are kept in; content decides, not the name.

    Parameters
    ----------
    path : Path
        A csv with the columns set_id, person, or TEMPLATE_ID, SUBJECT_ID (IJB-B, IJB-C); a .npz with
        set_names, set_person; the folder of YouTube Faces or one of its parts, where a subject's
        folder is the person; or its ``meta_and_splits.mat``, with numbers for people.

    Raises
    ------
    NotFound, BadInput
        If there is no such file, or it is none of these.
    """
    readers = {"folder": from_youtube_faces, "npz": from_npz, "mat": from_mat, "csv": from_csv}
    return readers[_format(path)](path)


def read_groups(paths: Iterable[Path], column: str) -> Labels:
    """Read the group of each set: what a column of label files says of it.

    Parameters
    ----------
    paths : iterable of Path
        As for `read_labels`; a csv, or a .npz with an array for each set whose name begins with ``set_``.
    column : str
        One of them at least must have it.

    Returns
    -------
    dict of str to str
        Group by set id, without sets of which nothing is said.

    Raises
    ------
    BadInput
        If no file has the column, or a set is in two groups.
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
    """Put the labels of several files together, for instance those of a gallery and of its queries.

    Raises
    ------
    BadInput
        If two of them name different people for a set.
    """
    joined: Labels = {}
    for labels in read:
        for id, person in labels.items():
            if joined.setdefault(id, person) != person:
                raise BadInput(
                    f"set {id!r} is {joined[id]!r} in one label file and {person!r} in another: "
                    f"remove what is wrong"
                )
    return joined


def check_measurable(persons: Collection[str], asked: Collection[str]) -> None:
    """Refuse people by whom nothing can be measured.

    Parameters
    ----------
    persons : collection of str
        Who is on each set of the gallery.
    asked : collection of str
        Who is on each query that has a match.

    Raises
    ------
    BadInput
        If there is no such query, or nobody but one person.
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
