"""Asking: what a search can be asked with: a set of the gallery, some of its faces, or faces from outside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput
from lookalike.faceset import FaceSet
from lookalike.parameters import is_whole
from lookalike.sighting import Box
from lookalike.transitivity.tables import Tables


@dataclass(frozen=True, eq=False)
class Excerpt(FaceSet):
    """Faces that stand for the set of the gallery whose id they have: that set is neither answer nor proxy.

    They may be some of its faces, or all of them where the search does not know the set yet.
    """


class Several(BadInput):
    """Several people could be meant.

    Attributes
    ----------
    path : Path
        The photo or film that shows them.
    at : float or None
        When, in a film.
    boxes : list of boxes
        Where they are, from left to right, as `--face` counts them; none where they are in no one picture.
    """

    def __init__(self, sentence: str, path: Path, at: float | None = None, boxes: Sequence[Box] = ()) -> None:
        super().__init__(sentence)
        self.path, self.at, self.boxes = path, at, list(boxes)


def name_of(query: str | FaceSet) -> str:
    """What a query is called."""
    return query if isinstance(query, str) else query.id


def member(tables: Tables, query: str | FaceSet) -> int | None:
    """The number of the set that asks, which is no answer; None for faces from outside.

    Raises
    ------
    BadInput
        If there is no other set that could be an answer.
    """
    if isinstance(query, Excerpt):
        number = tables.numbers.get(query.id)
    else:
        number = tables.number(query) if isinstance(query, str) else None
    if number is not None and len(tables) == 1:
        raise BadInput("the gallery holds only the query itself: add more sets to search in")
    return number


def prepared(tables: Tables, query: str | FaceSet) -> dict[str, NDArray[np.generic]]:
    """The faces of a query as the similarity of the tables wants them.

    Raises
    ------
    BadInput
        If it is neither an id nor faces, or the faces are described otherwise than the gallery.
    """
    if isinstance(query, str):
        return dict(tables.sets[tables.number(query)])
    if not isinstance(query, FaceSet):
        raise BadInput(f"a query is a set id or a FaceSet, got {type(query).__name__}: make a set of it")
    if query.dimension != tables.dimension:
        raise BadInput(
            f"query {query.id!r} is described by {query.dimension} numbers a face, the gallery by "
            f"{tables.dimension}: describe both the same way"
        )
    return dict(tables.similarity.prepare(tables.preparation.apply(query.faces)))


def check_top(top: object) -> None:
    """Refuse a number of answers that makes no sense; None means all.

    Raises
    ------
    BadInput
        If it is not a whole number of at least 1.
    """
    if top is not None and not is_whole(top, 1):
        raise BadInput(f"top must be a whole number of at least 1, got {top!r}")
