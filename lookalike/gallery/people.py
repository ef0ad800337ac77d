"""People: what all decisions of a gallery add up to.

Sets and people are points. ``same`` ties two sets, ``join`` several, ``name`` ties sets to a person,
``merge`` ties two people; whatever hangs together is one person. A later verdict on a pair takes the place of
the earlier one, and ``split`` cuts the ties between the sets that leave and all others. ``part`` says of
every set that leaves and every set that stays that they are different. ``reject`` says nothing of any two
sets but that they are not proposed as one person again.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from lookalike.errors import Conflict
from lookalike.gallery import decision_log
from lookalike.gallery.decision_log import VERDICTS, Decision
from lookalike.gallery.media import Pair

if TYPE_CHECKING:
    from lookalike.gallery.gallery import Gallery

logger = logging.getLogger(__name__)

# Sets are their ids, people their numbers; somebody without a name goes by the decision that joined them.
Nameless = tuple[str, int]
Point = str | int | Nameless


@dataclass(slots=True)
class _Group:
    """What hangs together, and somebody in it if anybody is."""

    points: set[Point]
    person: int | None


class Ties:
    """Ties between two points each; every tie knows the number of the decision that made it."""

    def __init__(self) -> None:
        self._ties: dict[Point, dict[Point, int]] = {}
        self._groups: dict[Point, _Group] = {}

    def of(self, point: Point) -> dict[Point, int]:
        """The points that one is tied to, with the numbers of the ties; not to be changed."""
        return self._ties.get(point, {})

    def points(self) -> Iterator[Point]:
        """Every point that is tied to another, or once was."""
        return iter(self._ties)

    def together(self, point: Point) -> set[Point]:
        """Everything that hangs together with a point, itself included; not to be changed."""
        group = self._groups.get(point)
        return {point} if group is None else group.points

    def somebody(self, point: Point) -> int | None:
        """One of the people who hang together with a point, itself included; None if nobody does."""
        group = self._groups.get(point)
        alone = point if isinstance(point, int) else None
        return alone if group is None else group.person

    def way(self, one: Point, other: Point) -> list[int]:
        """Numbers of the ties on a shortest way between points that hang together, in order."""
        before, found, at = self._reached(one), set(), other
        while at != one:
            found.add(self._ties[at][before[at]])
            at = before[at]
        return sorted(found)

    def tie(self, one: Point, other: Point, number: int) -> None:
        """Tie two points; if they are tied already, the tie gets this number."""
        self._ties.setdefault(one, {})[other] = number
        self._ties.setdefault(other, {})[one] = number
        for point in (one, other):
            if point not in self._groups:
                self._gather({point})
        small, large = sorted((self._groups[one], self._groups[other]), key=lambda each: len(each.points))
        if small is not large:
            # The smaller group joins the larger one, so that no point is told often where it belongs.
            large.points |= small.points
            large.person = small.person if large.person is None else large.person
            self._groups.update(dict.fromkeys(small.points, large))

    def cut(self, one: Point, other: Point) -> int | None:
        """Cut the tie between two points; return its number, or None if there was none."""
        number = self._ties.get(one, {}).pop(other, None)
        if number is not None:
            del self._ties[other][one]
            left = set(self._reached(one))
            self._gather(left)
            if other not in left:
                self._gather(set(self._reached(other)))
        return number

    def _gather(self, points: set[Point]) -> None:
        """Note that these points hang together, and no others with them."""
        group = _Group(points, next((point for point in points if isinstance(point, int)), None))
        self._groups.update(dict.fromkeys(points, group))

    def _reached(self, start: Point) -> dict[Point, Point]:
        """Every point that ties lead to, with the one before it on the way."""
        found: dict[Point, Point] = {start: start}
        waiting = [start]
        for point in waiting:
            for near in self._ties.get(point, ()):
                if near not in found:
                    found[near] = point
                    waiting.append(near)
        return found


class Verdicts:
    """What all decisions taken in so far say; these count for more than that sets were seen apart."""

    def __init__(self, apart: Iterable[Pair] = ()) -> None:
        self.names: dict[int, str] = {}
        self.into: dict[int, int] = {}  # whom merged people became
        self.direct: dict[Pair, Decision] = {}  # the last verdict on each pair
        self.rejected: dict[int, tuple[str, ...]] = {}  # sets that are not proposed as one person again
        self._ties = Ties()
        self._different: dict[str, dict[str, int]] = {}
        self._apart: dict[str, set[str]] = {}
        for one, other in apart:
            self._apart.setdefault(one, set()).add(other)
            self._apart.setdefault(other, set()).add(one)

    # Asking.

    def together(self, point: Point) -> set[Point]:
        """Everything that hangs together with a set or person, itself included; not to be changed."""
        return self._ties.together(point)

    def sets(self, point: Point) -> list[str]:
        """The sets that hang together with a set or person, in order."""
        return sorted(each for each in self.together(point) if isinstance(each, str))

    def tied(self) -> Iterator[str]:
        """The sets that hang together with others, or once did."""
        return (point for point in self._ties.points() if isinstance(point, str))

    def person(self, point: Point) -> int | None:
        """The person that a set belongs to, or whom a person became; None if nobody was named."""
        found = self._ties.somebody(point)
        while found in self.into:
            found = self.into[found]
        return found

    def people(self) -> Iterator[int]:
        """Numbers of the people who have not become others, with sets or without, in order."""
        return (number for number in sorted(self.names) if number not in self.into)

    def different(self, set_id: str) -> Mapping[str, int]:
        """Sets that were said to be of others than this one, with the number of the decision."""
        return self._different.get(set_id, {})

    def apart(self, set_id: str) -> set[str]:
        """Sets that were seen beside this one."""
        return self._apart.get(set_id, set())

    # Taking in.

    def take(self, decision: Decision, new: bool = False) -> None:
        """Take a decision that stands in, or refuse it (Conflict) and stay as before; ``undo`` says nothing.

        One that is `new`, only about to be stored, is held against sets seen side by side too. These may
        have come to be known after older decisions, which count for more.
        """
        if decision.kind in VERDICTS:
            self._take_verdict(decision, new)
        elif decision.kind == "name":
            self._take_name(decision, new)
        elif decision.kind == "rename":
            self.names[self._living(decision.person, decision)] = decision.name
        elif decision.kind == "merge":
            self._take_merge(decision, new)
        elif decision.kind == "split":
            self._take_split(decision)
        elif decision.kind == "join":
            self._check_one_person(decision.sets, new)
            for set_id in decision.sets:
                self._ties.tie((decision.kind, decision.number), set_id, decision.number)
        elif decision.kind == "part":
            self._take_part(decision)
        elif decision.kind == "reject":
            self.rejected[decision.number] = decision.sets

    def _take_verdict(self, decision: Decision, new: bool) -> None:
        one, other = decision.sets
        tied, differed = self._ties.cut(one, other), self._agree(one, other)
        try:
            if decision.kind == "same":
                self._check_one_person([one, other], new)
                self._ties.tie(one, other, decision.number)
            else:
                self._check_not_tied(one, other)
                if decision.kind == "different":
                    self._differ(one, other, decision.number)
        except Conflict:
            if tied is not None:
                self._ties.tie(one, other, tied)
            if differed is not None:
                self._differ(one, other, differed)
            raise
        self.direct[min(one, other), max(one, other)] = decision

    def _take_name(self, decision: Decision, new: bool) -> None:
        if decision.person is None:
            self._check_nameless(decision.sets)
            self._check_one_person(decision.sets, new)
            person = decision.number
            self.names[person] = decision.name
        else:
            person = self._living(decision.person, decision)
            self._check_one_person([person, *decision.sets], new)
        for set_id in decision.sets:
            self._ties.tie(person, set_id, decision.number)

    def _take_merge(self, decision: Decision, new: bool) -> None:
        person, other = self._living(decision.person, decision), self._living(decision.other, decision)
        if person == other:
            raise Conflict(f"person {person} is merged into person {other} already: there is nothing to do")
        self.into[person] = other
        try:
            self._check_one_person([person, other], new)
        except Conflict:
            del self.into[person]
            raise
        self._ties.tie(person, other, decision.number)

    def _take_split(self, decision: Decision) -> None:
        leaving = set(decision.sets)
        person = None if decision.person is None else self._living(decision.person, decision)
        staying = [] if person is None else [each for each in self.sets(person) if each not in leaving]
        for set_id in leaving:
            for other in list(self._ties.of(set_id)):
                if other not in leaving:
                    self._ties.cut(set_id, other)
                    if isinstance(other, str):
                        del self.direct[min(set_id, other), max(set_id, other)]
        # Whoever hung on the person only through a set that leaves stays all the same.
        for set_id in staying:
            if person is not None:
                self._ties.tie(person, set_id, decision.number)
        if decision.makes_person:
            self.names[decision.number] = decision.name
            for set_id in leaving:
                self._ties.tie(decision.number, set_id, decision.number)

    def _take_part(self, decision: Decision) -> None:
        leaving, staying = decision.sides
        others = set(staying)
        for one in leaving:
            tied = self.together(one) & others
            if tied:
                self._check_not_tied(one, str(min(map(str, tied))))
        for one in leaving:
            for other in staying:
                self._differ(one, other, decision.number)

    def _differ(self, one: str, other: str, number: int) -> None:
        self._different.setdefault(one, {})[other] = number
        self._different.setdefault(other, {})[one] = number

    def _agree(self, one: str, other: str) -> int | None:
        self._different.get(one, {}).pop(other, None)
        return self._different.get(other, {}).pop(one, None)

    # Refusing.

    def _living(self, person: int | None, decision: Decision) -> int:
        """Whom a person became; refuse a number that is nobody's."""
        while person in self.into:
            person = self.into[person]
        if person is None or person not in self.names:
            raise Conflict(f"there is no person {decision.person}: see the list of people")
        return person

    def _check_one_person(self, points: Sequence[Point], new: bool) -> None:
        """Refuse to tie points of which something says that they are of several people."""
        groups: list[set[Point]] = []
        for point in points:
            if not any(point in group for group in groups):
                groups.append(self.together(point))
        self._check_one_name(groups)
        # Every pair across groups has an end outside the largest one.
        for group in sorted(groups, key=len)[:-1]:
            others = [each for each in groups if each is not group]
            for one in (point for point in group if isinstance(point, str)):
                for other, said in self.different(one).items():
                    if any(other in each for each in others):
                        first, second = sorted((one, other))
                        raise Conflict(
                            f"{first!r} and {second!r} were said to be different people in decision {said}: "
                            f"undo that decision first, or leave one of the two out"
                        )
                for other in self.apart(one) if new else ():
                    if any(other in each for each in others):
                        first, second = sorted((one, other))
                        raise Conflict(
                            f"{first!r} and {second!r} were seen at the same time in one picture, so they "
                            f"cannot be one person: leave one of the two out"
                        )

    def _check_nameless(self, sets: Iterable[str]) -> None:
        for set_id in sets:
            person = self.person(set_id)
            if person is not None:
                raise Conflict(
                    f"{set_id!r} belongs to {self.names[person]!r} (person {person}) already: "
                    f"rename that person on the page, or undo that decision (see `lookalike history`)"
                )

    def _check_one_name(self, groups: Sequence[set[Point]]) -> None:
        found = {}
        for group in groups:
            person = self.person(next(iter(group)))
            if person is not None:
                found[person] = next((each for each in sorted(map(str, group - {person}))), "")
        if len(found) > 1:
            (one, its), (other, others) = list(found.items())[:2]
            raise Conflict(
                f"{its!r} belongs to {self.names[one]!r} (person {one}) and {others!r} to "
                f"{self.names[other]!r} (person {other}): merge these two people, "
                f"or take one of the sets out of its person first"
            )

    def _check_not_tied(self, one: str, other: str) -> None:
        """Refuse to hold apart what hangs together through others."""
        if other not in self.together(one):
            return
        person = self.person(one)
        if person is not None:
            raise Conflict(
                f"{one!r} and {other!r} both belong to {self.names[person]!r} (person {person}): "
                f"split one of the two off from that person first"
            )
        which = " and ".join(map(str, self._ties.way(one, other)))
        raise Conflict(
            f"{one!r} and {other!r} are one person by decision {which}: undo one of these decisions first"
        )


@dataclass(frozen=True)
class Person:
    """Somebody who was given a name, and the sets that show them, in order."""

    number: int
    name: str
    sets: tuple[str, ...]


class Judged:
    """What all decisions together say; `apart` are pairs of sets that were seen side by side."""

    def __init__(self, log: Iterable[Decision], apart: Iterable[Pair] = ()) -> None:
        self.verdicts = folded(log, apart)
        self.people: dict[int, Person] = {}
        for number in self.verdicts.people():
            if sets := self.verdicts.sets(number):
                self.people[number] = Person(number, self.verdicts.names[number], tuple(sets))
        self._persons = {set_id: person for person in self.people.values() for set_id in person.sets}
        self._rejected: dict[str, frozenset[str]] = {}
        self._groups: dict[str, tuple[str, ...]] = {}
        for set_id in self.verdicts.tied():
            if set_id not in self._groups:
                group = tuple(self.verdicts.sets(set_id))
                self._groups.update(dict.fromkeys(group, group))

    def person_of(self, set_id: str) -> Person | None:
        """The named person whom a set shows, if it was said."""
        return self._persons.get(set_id)

    def groups(self) -> Iterator[tuple[str, ...]]:
        """Sets that were decided to show one person, named or not, in order; each group once."""
        return (group for set_id, group in self._groups.items() if group and set_id == group[0])

    def verdict(self, one: str, other: str) -> str | None:
        """What was said of two sets, or follows from it: ``same``, ``different``, ``unsure``, or None."""
        if one == other or self._groups.get(one, one) == self._groups.get(other, other):
            return "same"
        said = self.verdicts.direct.get((min(one, other), max(one, other)))
        if said is not None:
            return said.kind
        return "different" if other in self._others(one) else None

    def confirmed(self, set_id: str) -> list[str]:
        """The other sets of the same person, by whatever chain of decisions; in order."""
        return [other for other in self._groups.get(set_id, ()) if other != set_id]

    def rejected(self, set_id: str) -> list[str]:
        """Sets of others: said to be, or seen beside this set or one that is confirmed; in order.

        All sets of somebody else are, if one is.
        """
        return sorted(self._others(set_id))

    def _others(self, set_id: str) -> frozenset[str]:
        known = self._rejected.get(set_id)
        if known is not None:
            return known
        group = {set_id, *self.confirmed(set_id)}
        found: set[str] = set()
        for each in group:
            found |= self.verdicts.different(each).keys() | self.verdicts.apart(each)
        whole = {each for other in found - group for each in self._groups.get(other, (other,))}
        self._rejected[set_id] = frozenset(whole - group)
        return self._rejected[set_id]


_SAID: WeakKeyDictionary[Gallery, tuple[object, Judged]] = WeakKeyDictionary()


def said(gallery: Gallery) -> Judged:
    """What the user said in a gallery, without what was seen side by side, of which there may be much."""
    log = gallery.decided()
    last = _SAID.get(gallery)
    if last is None or last[0] is not log:
        last = _SAID[gallery] = (log, Judged(log))
    return last[1]


def folded(log: Iterable[Decision], apart: Iterable[Pair] = ()) -> Verdicts:
    """All decisions that stand, taken in one after the other.

    A gallery may come from a stranger: a decision that contradicts those before it is passed over.
    """
    verdicts = Verdicts(apart)
    for decision in log:
        if not decision.undone:
            try:
                verdicts.take(decision)
            except Conflict:
                # The reason names sets and people, which are nobody's business in a log.
                logger.warning("decision %d is passed over: it contradicts others", decision.number)
    return verdicts


# Forgetting. A verdict on a removed set goes, a list of sets gets shorter, a person without sets goes with
# every name they were ever given. What is left says of the other sets what it said before; only what followed
# through a removed set does not follow any more.


def drop_sets(connection: sqlite3.Connection, path: Path, ids: Collection[str]) -> None:
    """Take sets out of all decisions, before they are deleted; names that nobody has any more go too."""
    log = decision_log.everything(connection, path)
    if not log:
        return
    left = {decision.number: decision for decision in without_sets(log, set(ids))}
    for decision in log:
        if decision.number not in left:
            connection.execute("DELETE FROM decisions WHERE number = ?", (decision.number,))
        elif left[decision.number] != decision:
            decision_log.write(connection, left[decision.number])


def without_sets(log: Sequence[Decision], removed: Collection[str]) -> list[Decision]:
    """The log without some sets; each decision has the number that it had."""
    shorter = [
        _shorter(decision, removed)
        for decision in log
        if decision.kind not in VERDICTS or not set(decision.sets) & set(removed)
    ]
    gone = _people_without_sets(shorter)
    found = [left for decision in shorter if (left := _left(decision, gone)) is not None]
    numbers = {decision.number for decision in found}
    return [decision for decision in found if decision.kind != "undo" or decision.other in numbers]


def _shorter(decision: Decision, removed: Collection[str]) -> Decision:
    left = tuple(set_id for set_id in decision.sets if set_id not in removed)
    if decision.kind != "part":
        return replace(decision, sets=left)
    return replace(decision, sets=left, other=sum(set_id not in removed for set_id in decision.sides[0]))


def _people_without_sets(log: Sequence[Decision]) -> set[int]:
    """Numbers of the people who have no set, and of those who became them."""
    verdicts = folded(log)
    roots = {number for number in verdicts.people() if not verdicts.sets(number)}
    found = {number for number in verdicts.names if verdicts.person(number) in roots}
    # People of decisions that were undone: their names go when no set is left that they were given to.
    return found | {
        decision.number for decision in log if decision.undone and decision.makes_person and not decision.sets
    }


def _left(decision: Decision, gone: set[int]) -> Decision | None:
    """What remains of a decision when these people have gone; None if nothing does."""
    if decision.kind == "split":
        # It still says that its sets hang together with no others, whoever they were split off from.
        person = None if decision.person in gone else decision.person
        called = "" if decision.number in gone else decision.name
        return replace(decision, person=person, name=called) if decision.sets or called else None
    if decision.kind in ("join", "reject"):
        return decision if len(decision.sets) > 1 else None
    if decision.kind == "part":
        return decision if all(decision.sides) else None
    if decision.kind in ("name", "rename", "merge"):
        is_empty = decision.kind == "name" and decision.person is not None and not decision.sets
        mentions = {decision.number if decision.makes_person else decision.person, decision.other}
        return None if is_empty or mentions & gone else decision
    return decision
