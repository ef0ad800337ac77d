"""Judged: what all decisions of a gallery say together about people and pairs of sets."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass

from lookalike.collection.verdicts import Pair, Verdicts
from lookalike.decision import Decision
from lookalike.errors import Conflict

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Person:
    """Somebody who was given a name, and the sets that show them, in order."""

    number: int
    name: str
    sets: tuple[str, ...]


class Judged:
    """What all decisions together say.

    Parameters
    ----------
    log : iterable of Decision
        In the order in which they were made.
    apart : iterable of pairs of ids
        Sets that were seen side by side.
    """

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
