"""People: everybody in a gallery, named or not, and who most probably is one person though nobody said so."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any, Final, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import BadInput, NotFound
from lookalike.gallery.decisions import judged
from lookalike.gallery.gallery import Gallery
from lookalike.gallery.people import Judged
from lookalike.indexing.build import index
from lookalike.indexing.fit import kept_if_possible, kind_of, same_person_in, shaped_by, train
from lookalike.method.agreement import Agreement
from lookalike.method.calibration import NEVER
from lookalike.method.groups import RULE, Bonds, Groups, agreement_of_few, mean_directions, propose
from lookalike.method.tables import HeldGallery, Tables
from lookalike.progress import Before, Track, silent
from lookalike.ranking import MOST_SHOWN, Strip, percent, still_there, table
from lookalike.rerankers.contract import Reranker
from lookalike.similarities.contract import PreparedSets

# Raised whenever what is proposed, or how it is stored, changes.
FORMAT: Final = 3
# Faces by which somebody is shown.
MOST_FACES: Final = 6


class Face(NamedTuple):
    """A face of a set, by its place there."""

    set: str
    face: int


@dataclass(frozen=True)
class Identity:
    """Somebody in a gallery: named, known without a name, or proposed.

    Attributes
    ----------
    handle : str
        Id of the first of the sets. Whatever becomes of the others, who that set shows is found by it.
    name : str or None
    number : int or None
        That of a named person.
    proposed : bool
        Whether nobody has said yet that the sets show one person.
    sets : tuple of str
        Ids, in order: decided to be this person, or proposed to be.
    likely : tuple of str
        Ids of sets that are proposed as further ones of somebody who is known; none of a proposed person.
    unsure : tuple of str
        Ids of sets that may show the same person, the likeliest first.
    probability : float
        How likely all sets that are proposed, `likely` ones included, show one person; 1 if none is.
    faces : tuple of Face
        Those that show the person best: of the sets in the middle of the group, the face in its middle.
    pictures : callable, optional
        Gives the pictures of a set by its id, for notebooks; no part of what is known of somebody.

    Examples
    --------
    >>> from lookalike import Gallery, people
    >>> from lookalike.gallery.decisions import name
    >>> from lookalike.demo.vectors import vector_world
    >>> sets = [one for one, _ in vector_world(counts={3: 8}, faces=4, dimension=118)]
    >>> with Gallery("videos.gallery", create=True) as gallery:
    ...     for one in sets:
    ...         _ = gallery.add(one)
    ...     _ = name(gallery, ["video-0001", "video-0015"], "Ada")
    ...     [ada] = [one for one in people(gallery) if one.name]
    >>> ada.name, ada.sets, ada.proposed
    ('Ada', ('video-0001', 'video-0015'), False)
    """

    handle: str
    name: str | None
    number: int | None
    proposed: bool
    sets: tuple[str, ...]
    likely: tuple[str, ...]
    unsure: tuple[str, ...]
    probability: float
    faces: tuple[Face, ...]
    pictures: Callable[[str], Sequence[bytes]] | None = field(default=None, compare=False, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as ``people --json`` prints them."""
        told = {name: value for name, value in vars(self).items() if name != "pictures"}
        return told | {
            "faces": [face._asdict() for face in self.faces],
            "probability": round(self.probability, 4),
        }

    def _repr_html_(self) -> str:
        """The sets as strips of faces, for notebooks: those of the person first, then who else may be."""
        known = "proposed" if self.proposed else "decided"
        kinds = ((known, self.sets), ("likely", self.likely), ("unsure", self.unsure))
        told = [(kind, one) for kind, sets in kinds for one in sets]
        strips = [Strip(one, (kind,), still_there(self.pictures, one)) for kind, one in told[:MOST_SHOWN]]
        more = [f"{len(told) - MOST_SHOWN} more are not shown."] if len(told) > MOST_SHOWN else []
        sure = "" if self.probability == 1.0 else f", one person with probability {percent(self.probability)}"
        return table(f"{self.name or 'no name'}: {len(self.sets)} sets{sure}", ("how",), strips, more)


class Question(NamedTuple):
    """Two of whom it is worth to ask whether they are the same, by their handles, and how likely that is."""

    one: str
    other: str
    probability: float


@dataclass(frozen=True)
class Census:
    """Everybody who was found in a gallery, the largest first."""

    people: tuple[Identity, ...]
    # "Are these two the same?": those first whose answer is expected to join most
    questions: tuple[Question, ...]

    def of(self, set_id: str) -> Identity:
        """Whoever a set shows, by its id, or NotFound; a set that is only unsure shows nobody yet."""
        for one in self.people:
            if set_id in one.sets or set_id in one.likely:
                return one
        raise NotFound(f"nobody is known or proposed whom {set_id!r} shows: see the list of people")


def people(gallery: Gallery, track: Track = silent, before: Before | None = None) -> list[Identity]:
    """Everybody in a gallery: named people, others who were confirmed, and who is proposed; largest first.

    What is missing is made first and kept: index, re-ranker, groups. Nothing is decided by it. What is
    proposed contradicts no decision, and joins no sets that were seen side by side.

    Parameters
    ----------
    gallery : Gallery
    track : callable
        Shows progress.
    before : callable, optional
        Called with each thing that has to be made (`progress.Task`) before it is.

    Examples
    --------
    >>> from lookalike import Gallery, people
    >>> from lookalike.demo.vectors import vector_world
    >>> sets = [one for one, _ in vector_world(counts={3: 8}, faces=4, dimension=118)]
    >>> with Gallery("videos.gallery", create=True) as gallery:
    ...     for one in sets:
    ...         _ = gallery.add(one)
    ...     found = people(gallery)
    >>> all(one.proposed for one in found)  # nobody has said anything yet
    True
    """
    return list(census(gallery, track, before).people)


def census(gallery: Gallery, track: Track = silent, before: Before | None = None) -> Census:
    """As `people`, with the questions whose answers would join most."""
    if not isinstance(gallery, Gallery):
        raise BadInput(f"people are found in a gallery, got {type(gallery).__name__}: open one first")
    if not len(gallery):
        return Census((), ())
    tables = index(gallery, track=track, before=before)
    return counted(gallery, tables, train(tables, "auto", 0, gallery, track, before))


def counted(gallery: Gallery, tables: Tables, reranker: Reranker) -> Census:
    """Everybody by the tables and the re-ranker of a gallery, and by what is decided now."""
    from lookalike.search.query import pictures_of  # which shows answers in the same way

    known = judged(gallery)
    bonds = bonds_of(known, tables)
    groups = _groups(gallery, tables, reranker, bonds)
    return _told(known, tables, groups, partial(pictures_of, gallery.path.absolute()))


def bonds_of(known: Judged, tables: Tables) -> Bonds:
    """What decisions and frames say of the sets of an index."""
    numbers, total = tables.numbers, len(tables)
    leaders, names = np.arange(total), np.full(total, -1)
    for group in known.groups():
        there = [numbers[one] for one in group if one in numbers]
        leaders[there] = min(there, default=0)
        person = known.person_of(group[0])
        names[there] = -1 if person is None else person.number
    for person in known.people.values():  # with a single set they hang together with nobody
        names[[numbers[one] for one in person.sets if one in numbers]] = person.number
    verdicts = known.verdicts
    apart = {
        (numbers[one], numbers[other])
        for one in tables.ids
        for other in (*verdicts.different(one), *verdicts.apart(one))
        if other in numbers and one < other and leaders[numbers[one]] != leaders[numbers[other]]
    }
    rejected = {
        (numbers[one], number) for number, sets in verdicts.rejected.items() for one in sets if one in numbers
    }
    return Bonds(leaders, names, _pairs(apart), _pairs(rejected))


def _pairs(found: set[tuple[int, int]]) -> NDArray[np.int64]:
    return np.array(sorted(found), dtype=np.int64).reshape(-1, 2)


def _groups(gallery: Gallery, tables: Tables, reranker: Reranker, bonds: Bonds) -> Groups:
    """The groups of a gallery as they were kept, or made anew if sets or decisions came or went."""
    same_person = same_person_in(tables, gallery)
    digest = hashlib.sha256()
    for array in vars(bonds).values():
        digest.update(array.tobytes())
    kind = f"people of {kind_of(tables, reranker, 0)}"
    shape = f"people {FORMAT}|{RULE}|{same_person}|{shaped_by(reranker, 0)}|{digest.hexdigest()}"
    make = partial(grouped, tables, reranker, bonds, same_person)
    stored = (Groups.to_arrays, Groups.from_arrays)
    return kept_if_possible("proposed people are", gallery, tables, kind, shape, make, *stored)


def grouped(tables: Tables, reranker: Reranker, bonds: Bonds, same_person: float = NEVER) -> Groups:
    """Propose groups of the sets of an index, whose similarity compares faces one by one.

    By other re-rankers than ``auto`` or ``adaptive``, and where there are too few sets for them, sets are
    compared by themselves. `same_person` is the similarity from which the descriptor takes two faces for
    one person's; 1 if it cannot tell.
    """
    agreement: Agreement | None = getattr(reranker, "agreement_", None)
    if agreement is None:
        agreement = agreement_of_few(tables)
    if agreement is None:
        everybody = np.arange(len(tables))
        alone = np.full(len(tables), np.inf)
        return Groups(bonds.leaders.copy(), alone, np.empty((0, 2), everybody.dtype), np.empty(0))
    vectors = mean_directions(*tables.similarity.faces(_here(tables)))
    return propose(agreement, vectors, bonds, same_person)


def _here(tables: Tables) -> PreparedSets:
    """The sets of an index in this process."""
    return tables.sets.here if isinstance(tables.sets, HeldGallery) else cast(PreparedSets, tables.sets)


def _told(
    known: Judged, tables: Tables, groups: Groups, pictures: Callable[[str], Sequence[bytes]]
) -> Census:
    """Everybody in words: who is known in a group, who is proposed, and what is not sure."""
    ids = tables.ids
    members: dict[int, list[int]] = {}
    for number, owner in enumerate(groups.owners.tolist()):
        members.setdefault(owner, []).append(number)
    unsure: dict[int, list[tuple[float, int]]] = {}
    for single, (group, score) in groups.unsure().items():
        if known.person_of(ids[single]) is None:
            unsure.setdefault(group, []).append((-score, single))
    found: dict[int, Identity] = {}
    for owner, own in members.items():
        core = _core(known, [ids[number] for number in own])
        if len(own) < 2 and not core:
            continue
        sets = core or tuple(ids[number] for number in own)
        likely = tuple(ids[number] for number in own if core and ids[number] not in core)
        person = known.person_of(sets[0])
        found[owner] = Identity(
            handle=sets[0],
            name=None if person is None else person.name,
            number=None if person is None else person.number,
            proposed=not core,
            sets=sets,
            likely=likely,
            unsure=tuple(ids[number] for _, number in sorted(unsure.get(owner, ()))),
            probability=groups.probability(owner) if likely or not core else 1.0,
            faces=_faces(tables, [tables.numbers[one] for one in sets]),
            pictures=pictures,
        )
    questions = [
        Question(found[one].handle, found[other].handle, probability)
        for one, other, probability in groups.questions()
        if one in found and other in found
    ]
    ordered = sorted(found.values(), key=lambda one: (-len(one.sets) - len(one.likely), one.handle))
    return Census(tuple(ordered), tuple(questions))


def _core(known: Judged, sets: Sequence[str]) -> tuple[str, ...]:
    """Those sets of a group of whom it was decided that they are one person; the named or most of them."""
    named = next((person for one in sets if (person := known.person_of(one)) is not None), None)
    if named is not None:
        return tuple(one for one in sets if known.person_of(one) == named)
    there = set(sets)
    groups = {tuple(sorted({one, *known.confirmed(one)} & there)) for one in sets if known.confirmed(one)}
    return min((group for group in groups if len(group) > 1), key=lambda one: (-len(one), one), default=())


def _faces(tables: Tables, numbers: Sequence[int]) -> tuple[Face, ...]:
    """The faces in the middle of a group: of the sets nearest to its mean, the face nearest to it."""
    own = _here(tables)[np.array(numbers)]
    faces, starts = tables.similarity.faces(own)
    middle = mean_directions(faces, starts).sum(axis=0)
    near = faces.astype(np.float64) @ middle
    best = [first + int(near[first:last].argmax()) for first, last in pairwise(starts.tolist())]
    order = sorted(range(len(own)), key=lambda place: (-near[best[place]], place))[:MOST_FACES]
    chosen = own.arrays.get("chosen")
    return tuple(
        Face(
            tables.ids[numbers[place]],
            int(best[place] - starts[place] if chosen is None else chosen[best[place]]),
        )
        for place in order
    )
