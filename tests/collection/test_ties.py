from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lookalike.collection.ties import Ties

POINTS = st.sampled_from(["a", "b", "c", "d", 1, 2])
STEPS = st.lists(st.tuples(st.booleans(), POINTS, POINTS).filter(lambda step: step[1] != step[2]))


def test_a_way_is_told_by_its_ties() -> None:
    ties = Ties()
    for number, (one, other) in enumerate(["ab", "bc", "cd", "da"], 1):
        ties.tie(one, other, number)
    assert ties.way("a", "c") in ([1, 2], [3, 4])
    assert ties.cut("a", "d") == 4
    assert ties.cut("a", "d") is None
    assert ties.way("a", "d") == [1, 2, 3]
    ties.tie("a", "b", 9)
    assert ties.of("a") == {"b": 9}


def test_somebody() -> None:
    ties = Ties()
    assert (ties.somebody("a"), ties.somebody(3), ties.together("a")) == (None, 3, {"a"})
    ties.tie("a", "b", 1)
    ties.tie("b", 3, 2)
    assert (ties.somebody("a"), ties.somebody("c")) == (3, None)
    ties.cut("b", "a")
    assert (ties.somebody("a"), ties.somebody("b"), sorted(map(str, ties.points()))) == (
        None,
        3,
        ["3", "a", "b"],
    )


@given(STEPS)
def test_groups_are_what_ties_lead_to(steps) -> None:
    """Held against a walk along all ties, after any ties and cuts."""
    ties, plain = Ties(), set()
    for number, (is_tie, one, other) in enumerate(steps):
        if is_tie:
            ties.tie(one, other, number)
            plain.add(frozenset((one, other)))
        else:
            assert (ties.cut(one, other) is not None) == (frozenset((one, other)) in plain)
            plain.discard(frozenset((one, other)))
        for point in ("a", "b", "c", "d", 1, 2):
            found = {point}
            while more := set().union(*(tie for tie in plain if tie & found), set()) - found:
                found |= more
            assert ties.together(point) == found
            people = {each for each in found if isinstance(each, int)}
            assert (ties.somebody(point) in people) if people else ties.somebody(point) is None
