"""Batches: what was said in one request, about many clips at once, as one row of the history."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from lookalike.decision import VERDICTS, Decision
from lookalike.server.models import MOST_AT_ONCE, DecisionView, Mentioned
from lookalike.server.wording import counted

# What many clips do to one query.
MANY: Final = {
    "same": "show the same person as",
    "different": "show somebody else than",
    "unsure": "may or may not show the person of",
}


@dataclass(frozen=True)
class Batch:
    """Decisions that were made together, the newest first.

    Attributes
    ----------
    decisions : list of DecisionView
        One, or several verdicts of one kind on one query.
    words : str
        All of them in a sentence.
    """

    decisions: list[DecisionView]
    words: str

    @property
    def standing(self) -> list[int]:
        """The numbers of those that were not taken back."""
        return [one.number for one in self.decisions if not one.undone]

    @property
    def undone(self) -> int:
        """How many were taken back."""
        return len(self.decisions) - len(self.standing)

    @property
    def mentioned(self) -> list[Mentioned]:
        """The sets that are spoken of: those of one decision, or the query of many."""
        sets = self.decisions[0].sets
        return sets if len(self.decisions) == 1 else sets[:1]


@dataclass(frozen=True)
class BatchPage:
    """Some batches, the newest first, out of so many."""

    total: int
    offset: int
    limit: int
    batches: list[Batch]


def batched(log: Iterable[Decision]) -> list[list[Decision]]:
    """Put decisions together that were made in one request, as far as a gallery tells.

    It keeps the time to the second and no mark of a request. Verdicts that follow one another, of one kind on
    one query in the same second, are one batch: faster than that nobody goes from clip to clip.

    Parameters
    ----------
    log : iterable of Decision
        In the order in which they were made.

    Returns
    -------
    list of lists of Decision
        In the same order, without what took others back.
    """
    found: list[list[Decision]] = []
    last: tuple[object, ...] | None = None
    for one in log:
        # An undo stands between two requests.
        mark = (one.made, one.kind, one.sets[0]) if one.kind in VERDICTS else None
        if mark is not None and mark == last and len(found[-1]) < MOST_AT_ONCE:
            found[-1].append(one)
        elif one.kind != "undo":
            found.append([one])
        last = mark
    return found


def batch_of(views: Sequence[DecisionView]) -> Batch:
    """The decisions of one request, in words."""
    if len(views) == 1:
        return Batch(list(views), views[0].words)
    query = views[0].sets[0].title
    return Batch(list(views), f"{counted(len(views), 'clip')} {MANY[views[0].kind]} {query}.")
