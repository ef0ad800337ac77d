"""What is left of decisions when sets go, worked by hand; `test_judging_histories` tries any history."""

from __future__ import annotations

import pytest

from lookalike.collection.forgetting import without
from lookalike.decision import Decision
from tests.collection.test_verdicts import log


def left(said: list[tuple], gone: str) -> list[tuple]:
    """Number, kind, sets, person and name of what is left."""
    found = without(log(*said), set(gone))
    return [(one.number, one.kind, "".join(one.sets), one.person, one.name) for one in found]


ANNA = ("name", "a", None, "Anna")


@pytest.mark.parametrize(
    ("said", "gone", "expected"),
    [
        # Verdicts go with either set.
        ([("same", "ab"), ("different", "bc"), ("unsure", "cd")], "b", [(3, "unsure", "cd", None, "")]),
        # Lists of sets get shorter, a person without any goes.
        ([("name", "ab", None, "Anna")], "a", [(1, "name", "b", None, "Anna")]),
        ([ANNA, ("rename", "", 1, "Ann"), ("name", "b", None, "Bea")], "a", [(3, "name", "b", None, "Bea")]),
        # The person stays for a set that was added later, or that hangs on them.
        ([ANNA, ("name", "b", 1, "Anna")], "a", [(1, "name", "", None, "Anna"), (2, "name", "b", 1, "Anna")]),
        ([ANNA, ("name", "b", 1, "Anna")], "b", [(1, "name", "a", None, "Anna")]),
        ([ANNA, ("same", "ab")], "a", []),
        # Who was merged goes with those they became.
        ([ANNA, ("name", "b", None, "Bea"), ("merge", "", 1, "", 2)], "ab", []),
        # Bea was split off from Anna: she is a person without Anna too.
        (
            [("name", "ab", None, "Anna"), ("split", "b", 1, "Bea")],
            "a",
            [(2, "split", "b", None, "Bea")],
        ),
        ([("name", "ab", None, "Anna"), ("split", "b", 1, "Bea")], "b", [(1, "name", "a", None, "Anna")]),
        # Bea has gone, but b still hangs together with no one.
        (
            [("same", "bc"), ("name", "abc", None, "Anna"), ("split", "b", 2, "")],
            "a",
            [(1, "same", "bc", None, ""), (2, "name", "bc", None, "Anna"), (3, "split", "b", 2, "")],
        ),
    ],
)
def test_what_is_left(said: list[tuple], gone: str, expected: list[tuple]) -> None:
    assert left(said, gone) == expected


def test_what_was_undone_goes_with_its_undoing() -> None:
    given = [
        Decision(1, "", "name", ("a",), None, "Anna", undone=True),
        Decision(2, "", "undo", other=1),
        Decision(3, "", "same", ("a", "b"), undone=True),
        Decision(4, "", "undo", other=3),
        Decision(5, "", "same", ("b", "c")),
    ]
    assert without(given, {"a"}) == given[4:]
    assert without(given, {"c"}) == given[:4]
