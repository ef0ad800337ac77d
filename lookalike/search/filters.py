"""Filters: which answers are shown, by date, file and quality; ranks stay those of the whole gallery."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Final

from lookalike.errors import BadInput
from lookalike.gallery.gallery import Gallery
from lookalike.gallery.media import MediaFile
from lookalike.gallery.set_rows import SetFacts
from lookalike.ranking import Answer, Ranking
from lookalike.search.query import Search

QUALITIES: Final = ("any", "good")
_DAY: Final = re.compile(r"(\d{4})(?:-(\d\d))?(?:-(\d\d))?", re.ASCII)


@dataclass(frozen=True)
class Filter:
    """Which answers are wanted; all of them unless something is given.

    Parameters
    ----------
    since, until : str
        A year, month or day (2019, 2019-07, 2019-07-14), both included: the set has a photo or video
        that was taken then, as its file says. Files without a date are left out.
    file : str
        Words that stand in the path of a video or photo of the set, in capitals or not.
    quality : str
        ``good``: at least half of the faces are neither small, blurred, dark, bright, turned nor unsure.

    Raises
    ------
    BadInput
        If a date or quality is none, or the first date is after the second.
    """

    since: str = ""
    until: str = ""
    file: str = ""
    quality: str = "any"

    def __post_init__(self) -> None:
        for given in (self.since, self.until):
            check_day(given)
        shorter = min(len(self.since), len(self.until))
        if self.since[:shorter] > self.until[:shorter]:
            raise BadInput(f"no day is both from {self.since} on and up to {self.until}: exchange the two")
        if self.quality not in QUALITIES:
            raise BadInput(f"a quality is one of {', '.join(QUALITIES)}, got {self.quality!r}")

    def __bool__(self) -> bool:
        return self != Filter()

    def keeps(self, facts: SetFacts, files: Sequence[MediaFile]) -> bool:
        """Whether an answer is wanted: one and the same file has to have the date and the name."""
        if self.quality == "good" and not (facts.good is not None and 2 * facts.good >= facts.faces):
            return False
        if not (self.since or self.until or self.file):
            return True
        words = self.file.casefold().split()
        places = [(file.path, file.captured) for file in files] or [(facts.origin, None)]
        return any(
            all(word in path.casefold() for word in words) and self._is_then(captured)
            for path, captured in places
        )

    def _is_then(self, captured: str | None) -> bool:
        if not (self.since or self.until):
            return True
        # Year first: texts are in the order of time, and the first letters of one are its year or month.
        return bool(
            captured
            and captured[: len(self.since)] >= self.since
            and captured[: len(self.until)] <= self.until
        )

    def narrow(
        self, answers: Sequence[Answer], facts: Mapping[str, SetFacts], files: Mapping[str, list[MediaFile]]
    ) -> list[Answer]:
        """The answers that are wanted, in their order and with their ranks."""
        return [one for one in answers if self.keeps(facts[one.id], files.get(one.id, []))]


def check_day(given: str) -> None:
    """Refuse what is no year, month or day, unless it is empty.

    Raises
    ------
    BadInput
        If it is none.
    """
    found = _DAY.fullmatch(given)
    try:
        if given and found is None:
            raise ValueError
        if found is not None:
            date(int(found[1]), int(found[2] or 1), int(found[3] or 1))
    except ValueError:
        raise BadInput(
            f"a date is written as 2019-07-14, 2019-07 or 2019, got {given!r}: write year, month and day"
        ) from None


def depth(search: Search, top: int | None, wanted: Filter) -> int | None:
    """How far down answers are looked for, so that as many as asked for can pass a filter; None for all."""
    if not wanted:
        return top
    return None if search.shortlist is None else search.shortlist.sizes.served


def narrowed(gallery: Gallery, ranking: Ranking, wanted: Filter, top: int | None) -> tuple[Ranking, int]:
    """The first answers of a ranking that pass a filter, and how many did not before as many were found.

    Parameters
    ----------
    gallery : Gallery
    ranking : Ranking
        As deep as `depth` says.
    wanted : Filter
    top : int, optional
        How many answers are wanted.

    Returns
    -------
    tuple of Ranking and int
        The ranking with these answers alone; its totals, and ranks and probabilities of answers, are
        unchanged. Then how many answers the filter left out, of all that were looked at.
    """
    if not wanted:
        return ranking, 0
    facts = {one.id: one for one in gallery.listing(ranking.ids)}
    kept = wanted.narrow(ranking.answers, facts, gallery.files_of_sets(ranking.ids))
    return replace(ranking, answers=tuple(kept[:top])), len(ranking) - len(kept)
