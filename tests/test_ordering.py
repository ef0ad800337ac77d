from __future__ import annotations

from lookalike.faceset import natural_order


def test_numbers_in_names_are_compared_as_numbers() -> None:
    names = ["party#10", "party#2", "b", "party#1", "a9/x", "a10/x", "party"]
    assert sorted(names, key=natural_order) == [
        "a9/x",
        "a10/x",
        "b",
        "party",
        "party#1",
        "party#2",
        "party#10",
    ]


def test_there_is_one_order_only() -> None:
    names = ["1", "01", "a", "", "a1b2", "a1b10", "٣", "9" * 200, "a-1"]
    backwards = names[::-1]
    assert sorted(names, key=natural_order) == sorted(backwards, key=natural_order)
