from __future__ import annotations

import pytest

from lookalike.decision import LONGEST_NAME, Decision, checked_name, draft
from lookalike.errors import BadInput


@pytest.mark.parametrize(
    ("decision", "makes"),
    [
        (draft("name", ("a",), None, "Anna"), True),
        (draft("name", ("a",), 3, "Anna"), False),
        (draft("split", ("a",), 3, "Anna"), True),
        (draft("split", ("a",), 3), False),
        (draft("rename", (), 3, "Anna"), False),
        (draft("same", ("a", "b")), False),
    ],
)
def test_who_makes_a_person(decision: Decision, makes: bool) -> None:
    assert decision.makes_person is makes


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("  Anna \t Maria ", "Anna Maria"),
        ("A\u030angstro\u0308m", "\u00c5ngstr\u00f6m"),
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),
        ("نیک\u200cنام", "نیک\u200cنام"),
        ("x" * LONGEST_NAME, "x" * LONGEST_NAME),
    ],
)
def test_names_as_they_are_kept(given: str, kept: str) -> None:
    assert checked_name(given) == kept


@pytest.mark.parametrize(
    "given",
    [
        "",
        " \n ",
        "x" * (LONGEST_NAME + 1),
        "a\x00b",
        "a\x1bb",
        "\ud800",
        "a\u202eb",
        "\u2066a",
        "a\u2069",
        7,
        None,
    ],
)
def test_what_is_no_name(given: object) -> None:
    with pytest.raises(BadInput, match="a name"):
        checked_name(given)
