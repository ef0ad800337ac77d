"""What decisions say together, worked out from scratch: slow, plain, a yardstick for the product."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

from lookalike.gallery.decision_log import VERDICTS, Decision


class Contradiction(Exception):
    """Two decisions that cannot both stand."""


class PlainVerdicts:
    """Ties between sets and people, as a set of pairs; classes are found by joining until nothing changes."""

    def __init__(self, log: Iterable[Decision]) -> None:
        self.ties: set[frozenset] = set()
        self.different: set[frozenset] = set()
        self.said: dict[frozenset, str] = {}
        self.names: dict[int, str] = {}
        self.into: dict[int, int] = {}
        for one in log:
            if not one.undone and one.kind != "undo":
                self.take(one)

    def root(self, person: int | None) -> int:
        while person in self.into:
            person = self.into[person]
        if person not in self.names:
            raise Contradiction(f"no person {person}")
        return person

    def take(self, one: Decision) -> None:
        if one.kind in VERDICTS:
            pair = frozenset(one.sets)
            self.ties.discard(pair)
            self.different.discard(pair)
            self.said[pair] = one.kind
            if one.kind == "same":
                self.ties.add(pair)
            elif one.kind == "different":
                self.different.add(pair)
            elif self.are_one(*one.sets):
                raise Contradiction("unsure of one person")
        elif one.kind == "name":
            if one.person is None:
                self.names[one.number] = one.name
            person = one.number if one.person is None else self.root(one.person)
            self.ties |= {frozenset((person, set_id)) for set_id in one.sets}
        elif one.kind == "rename":
            self.names[self.root(one.person)] = one.name
        elif one.kind == "merge":
            person, other = self.root(one.person), self.root(one.other)
            if person == other:
                raise Contradiction("merged already")
            self.into[person] = other
            self.ties.add(frozenset((person, other)))
        elif one.kind == "split":
            person = None if one.person is None else self.root(one.person)
            staying = set() if person is None else self.sets(person) - set(one.sets)
            cut = {tie for tie in self.ties if len(tie & set(one.sets)) == 1}
            self.ties -= cut
            for tie in cut:
                self.said.pop(tie, None)
            self.ties |= {frozenset((person, set_id)) for set_id in staying}
            if one.name:
                self.names[one.number] = one.name
                self.ties |= {frozenset((one.number, set_id)) for set_id in one.sets}
        self.check()

    def check(self) -> None:
        for group in self.classes():
            if any(pair <= group for pair in self.different):
                raise Contradiction("said to be different")
            if len({self.root(point) for point in group if isinstance(point, int)}) > 1:
                raise Contradiction("two names")

    def classes(self) -> list[frozenset]:
        found = list(self.ties)
        while True:
            for one, other in combinations(found, 2):
                if one & other:
                    found = [each for each in found if each not in (one, other)] + [one | other]
                    break
            else:
                return found

    def are_one(self, one: str, other: str) -> bool:
        return any({one, other} <= group for group in self.classes())

    def sets(self, point: str | int) -> set[str]:
        group = next((group for group in self.classes() if point in group), {point})
        return {each for each in group if isinstance(each, str)}

    def people(self) -> dict[int, tuple[str, set[str]]]:
        living = [number for number in self.names if number not in self.into]
        return {number: (self.names[number], self.sets(number)) for number in living if self.sets(number)}

    def verdict(self, one: str, other: str, apart: Sequence[frozenset]) -> str | None:
        if self.are_one(one, other):
            return "same"
        pair = frozenset((one, other))
        return self.said.get(pair) or ("different" if other in self.others(one, apart) else None)

    def others(self, point: str, apart: Sequence[frozenset]) -> set[str]:
        """Everybody who hangs together with somebody who is not the person of this set."""
        group = self.sets(point)
        beside = set().union(*(pair for pair in [*self.different, *apart] if pair & group), set()) - group
        return set().union(*map(self.sets, beside), set()) - group
