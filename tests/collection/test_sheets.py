from __future__ import annotations

import csv
import io

import pytest

from lookalike.collection.judged import Person
from lookalike.collection.queries import SetFacts
from lookalike.collection.sheets import as_csv, decisions, people
from lookalike.decision import Decision


def test_a_row_for_each_set_of_a_decision() -> None:
    log = [
        Decision(1, "now", "same", ("a", "b"), undone=True),
        Decision(2, "now", "name", ("a", "c"), None, "Anna"),
        Decision(3, "now", "split", ("c",), 2, "Bea"),
        Decision(4, "now", "merge", (), 3, "", 2),
        Decision(5, "now", "undo", other=1),
    ]
    found = [
        [row[key] for key in ("number", "what", "query", "target", "person", "name")]
        for row in decisions(log)
    ]
    assert found == [
        [1, "same", "a", "b", None, None],
        [2, "name", None, "a", 2, "Anna"],
        [2, "name", None, "c", 2, "Anna"],
        [3, "split", None, "c", 2, "Bea"],
        [4, "merge", None, None, 3, None],
        [5, "undo", None, None, None, None],
    ]
    assert [row["undone"] for row in decisions(log)] == [True] + 5 * [False]
    assert [row["other"] for row in decisions(log)] == [None, None, None, None, 2, 1]


def test_people_by_name_with_times() -> None:
    listing = [SetFacts("a", "film", 1, 0, "", 1.5, 2.0), SetFacts("b", "", 1, 0, "")]
    found = people([Person(4, "bea", ("b",)), Person(9, "Anna", ("a", "b"))], listing)
    assert [tuple(row.values()) for row in found] == [
        (9, "Anna", "a", "film", 1.5, 2.0),
        (9, "Anna", "b", "", None, None),
        (4, "bea", "b", "", None, None),
    ]


@pytest.mark.parametrize(
    "bad", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "  =1", "＝1", "－1"]
)
def test_nothing_is_a_formula(bad: str) -> None:
    rows = list(csv.reader(io.StringIO(as_csv([{"name": bad, "x": -1}]), newline="")))
    assert rows == [["name", "x"], [f"'{bad}", "-1"]]


@pytest.mark.parametrize("text", ['a,"b"', "two\nlines", "ä 名", "'=1", "1-2"])
def test_other_text_is_kept(text: str) -> None:
    assert list(csv.reader(io.StringIO(as_csv([{"name": text}]), newline="")))[1] == [text]


def test_no_rows_no_text() -> None:
    assert as_csv([]) == ""
