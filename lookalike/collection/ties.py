"""Ties between sets and people, and what hangs together by them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

# Sets are their ids, people their numbers.
Point = str | int


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
