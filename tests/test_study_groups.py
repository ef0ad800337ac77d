"""The study of proposed people: its measures, and its page."""

from __future__ import annotations

import json

import numpy as np
import pytest

from benchmarks.study_groups import DOCS, HELD, UNKNOWN, measured, page


def test_measures_by_hand() -> None:
    people = np.array(["a", "a", "a", "b", "b", UNKNOWN])
    # One of a is with b, and somebody whom nobody knows does not count.
    found = measured(people, np.array([0, 0, 1, 1, 1, 1]))
    assert (found.precision, found.recall) == (pytest.approx(4 / 8), pytest.approx(4 / 8))
    assert found.clicks == pytest.approx((2 + 2) / 5)
    whole = measured(people, np.array([0, 0, 0, 1, 1, 2]))
    assert whole == (1.0, 1.0, 1.0, pytest.approx(2 / 5))
    assert measured(people, np.arange(6))[:2] == (1.0, 0.0)


def test_the_page_is_written_from_the_record_and_compares_like_with_like() -> None:
    record = json.loads((DOCS / "people.json").read_text())
    written = page(record)
    assert (DOCS / "people.md").read_text() == written
    [line] = [line for line in written.splitlines() if line.startswith("Recall at precision: ours is ")]
    kinds = record["kinds"].values()
    ours = {each: np.mean([one["lookalike"][each] for one in kinds]) for each in ("recall", "precision")}
    assert f"ours is {ours['recall']:.3f} at {ours['precision']:.3f}." in line
    for name in record["rivals"]:
        recall = np.mean([one[name]["recall"] for one in kinds])
        assert f"{recall:.3f} at " in written
        assert f"({name.removesuffix(HELD)})" in written
