"""Suspects: labels that are probably wrong, and pairs of labels that probably name one person."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from lookalike.errors import BadInput
from lookalike.evaluation.labels import Labels, check_labels
from lookalike.faceset import FaceSet
from lookalike.gallery.gallery import Gallery
from lookalike.progress import Track, silent
from lookalike.search.query import Search, open_search

# Answers that are looked at: nobody's label is told by a set that comes later.
DEPTH: Final = 100
# Two labels are listed that are more likely one person than not.
EVEN: Final = 0.5
# What counts for less than this adds up to nothing.
LEAST: Final = 0.01


@dataclass(frozen=True)
class SuspectSet:
    """A set that looks like somebody else's."""

    id: str
    label: str
    seems: str  # the label that the set should probably have
    nearest: str  # the likeliest set of that label
    probability: float  # that it shows whom `nearest` shows, and nobody of its own label


@dataclass(frozen=True)
class SuspectPair:
    """Two labels that are probably of one person."""

    one: str
    other: str
    sets: int  # how many have one of them
    # That a set of one label shows whom the other names, the mean over its sets; of both the lower.
    probability: float


@dataclass(frozen=True)
class Suspects:
    """What is probably wrong with labels, the most probable first."""

    # That look more like those of another label than like any other set of their own.
    sets: tuple[SuspectSet, ...]
    pairs: tuple[SuspectPair, ...]  # labels that are more likely one person than two
    labelled: int  # how many sets were looked at
    alone: int  # sets whose label nobody else has: whether it is right cannot be said

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as ``evaluate --suspects --json`` prints them."""
        return asdict(self)


def suspects(
    gallery: Gallery | Search | Iterable[FaceSet], labels: Labels, track: Track = silent
) -> Suspects:
    """Find labels that are probably wrong: every set asks, and labels are held against one another.

    `labels` has exactly one for each set. A search, as `open_search` makes it, chooses how sets are
    compared; what is decided does not count. Raise BadInput if labels do not fit the sets, or there are too
    few sets to tell probabilities.
    """
    search = gallery if isinstance(gallery, Search) else open_search(gallery, track=track)
    ids = search.tables.ids
    check_labels(labels, ids)
    names, who = np.unique([labels[one] for one in ids], return_inverse=True)
    counts = np.bincount(who)
    found: list[SuspectSet] = []
    beliefs: defaultdict[tuple[int, int], float] = defaultdict(float)
    for number, scoring in enumerate(track(search.scorings(ids, DEPTH), "asking for every set", len(ids))):
        if scoring.chances is None:
            raise BadInput(
                f"label errors cannot be found among {len(ids)} sets, which are too few for probabilities: "
                f"label more sets"
            )
        order = scoring.order(DEPTH)
        chances = scoring.chances[order]
        # Where each label comes first: nobody who comes later is likelier.
        there, places = np.unique(who[scoring.targets[order]], return_index=True)
        first = dict(zip(there.tolist(), places.tolist(), strict=True))
        own = int(who[number])
        mine = first.pop(own, None)
        chance = 0.0 if mine is None else float(chances[mine])
        for label, place in first.items():
            if chances[place] >= LEAST:
                beliefs[own, label] += float(chances[place])
        best = min(first, key=first.__getitem__, default=None)
        if counts[own] < 2 or best is None or not chances[first[best]] > chance:
            continue
        nearest = ids[scoring.targets[order[first[best]]]]
        wrong = float(chances[first[best]]) * (1 - chance)
        if wrong >= LEAST:
            found.append(SuspectSet(ids[number], str(names[own]), str(names[best]), nearest, wrong))
    return Suspects(
        tuple(sorted(found, key=lambda one: (-one.probability, one.id))),
        tuple(_pairs(beliefs, names.tolist(), counts.tolist())),
        len(ids),
        int((counts == 1).sum()),
    )


def _pairs(
    beliefs: Mapping[tuple[int, int], float], names: Sequence[str], counts: Sequence[int]
) -> list[SuspectPair]:
    """Pairs of labels whose sets take one another for the same person, the most probable first."""
    found = []
    for (one, other), told in beliefs.items():
        probability = min(told / counts[one], beliefs.get((other, one), 0.0) / counts[other])
        if one < other and probability >= EVEN:
            found.append(SuspectPair(names[one], names[other], counts[one] + counts[other], probability))
    return sorted(found, key=lambda pair: (-pair.probability, pair.one, pair.other))
