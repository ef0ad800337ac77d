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
        ("\u200bx", "\u200bx"),
        ("?", "?"),
        ("7", "7"),
        ("\u0e01\u0e34", "\u0e01\u0e34"),
        ("\U0001f469\u200d\U0001f680", "\U0001f469\u200d\U0001f680"),
        ("1\ufe0f\u20e3", "1\ufe0f\u20e3"),
        ("\ue000", "\ue000"),
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
        "\u200b",
        "\u200d\u2060",
        "\u00ad",
        "\ufeff",
        "\u00a0\u2003",
        "\u3000",
        "\u0301",
        " \u0489\ufe0f ",
        "\u0903",
        "\u3164",
        "\uffa0\u115f\u1160",
        "\u2800 \u2800",
        "\U000e0041",
        7,
        None,
    ],
)
def test_what_is_no_name(given: object) -> None:
    with pytest.raises(BadInput, match="a name"):
        checked_name(given)


def test_what_cannot_be_seen_is_written_out() -> None:
    with pytest.raises(BadInput, match=r"a letter that can be seen, got '\\u200b\\u0301'"):
        checked_name("\u200b\u0301")
