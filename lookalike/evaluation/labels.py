"""Labels: who is on each set, read from a file, for scoring only."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from lookalike.errors import BadInput, NotFound
from lookalike.evaluation.label_files import Labels, from_csv, from_mat, from_npz, from_youtube_faces
from lookalike.intake.readers.youtube_faces import is_youtube_faces

__all__ = ["Labels", "check_labels", "check_measurable", "join_labels", "read_labels"]


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
    if is_youtube_faces(path):
        return from_youtube_faces(path)
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
        return from_npz(path)
    # A damaged file is told from a csv by its name.
    return from_mat(path) if start.startswith(b"MATLAB") or path.suffix.lower() == ".mat" else from_csv(path)


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
