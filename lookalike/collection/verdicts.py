"""Verdicts: what decisions say together, taken in one after the other.

Sets and people are points. ``same`` ties two sets, ``name`` ties sets to a person, ``merge`` ties two people;
whatever hangs together is one person. A later verdict on a pair takes the place of the earlier one, and
``split`` cuts the ties between the sets that leave and all others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from lookalike.collection.ties import Point, Ties
from lookalike.decision import VERDICTS, Decision
from lookalike.errors import Conflict

Pair = tuple[str, str]


class Verdicts:
    """What all decisions taken in so far say.

    Parameters
    ----------
    apart : iterable of pairs of ids
        Sets that are certainly of different people. What the user decided counts for more.
    """

    def __init__(self, apart: Iterable[Pair] = ()) -> None:
        self.names: dict[int, str] = {}
        self.into: dict[int, int] = {}  # whom merged people became
        self.direct: dict[Pair, Decision] = {}  # the last verdict on each pair
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
        """Take a decision in, or refuse it and stay as before.

        Parameters
        ----------
        decision : Decision
            One that stands. ``undo`` says nothing here.
        new : bool
            Whether it is only about to be stored: then it is held against sets seen side by side too. These
            may have come to be known after older decisions, which count for more.

        Raises
        ------
        Conflict
            If it contradicts those taken in.
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

    def _take_verdict(self, decision: Decision, new: bool) -> None:
        one, other = decision.sets
        tied, held = self._ties.cut(one, other), self._agree(one, other)
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
            if held is not None:
                self._differ(one, other, held)
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
                    f"rename that person, or take the set out of that person first"
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
