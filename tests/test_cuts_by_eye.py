"""What was seen by eye in real films: the table of people keeps together, and the counting counts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks import bench_cuts, cuts_by_eye
from benchmarks.bench_cuts import Film, as_text, compared

pytest.importorskip("cv2")


SQUARE = cuts_by_eye.Course("A", [(1.0, 20.0, 50.0), (2.0, 40.0, 50.0)])
OTHER = cuts_by_eye.Course("B", [(1.0, 60.0, 50.0), (2.0, 60.0, 50.0)])


def test_a_face_is_of_who_is_nearest_then() -> None:
    known = [SQUARE, OTHER]
    assert cuts_by_eye.person_at(known, [], 1.0, 21, 50) == "A"
    assert cuts_by_eye.person_at(known, [], 1.5, 30, 52) == "A"
    assert cuts_by_eye.person_at(known, [], 1.5, 58, 50) == "B"
    # Too far from both; before anybody is seen; in another shot.
    assert cuts_by_eye.person_at(known, [], 1.0, 40, 50) == ""
    assert cuts_by_eye.person_at(known, [], 0.5, 20, 50) == ""
    assert cuts_by_eye.person_at(known, [2.05], 2.1, 40, 50) == ""


@pytest.mark.parametrize("film", sorted(cuts_by_eye.DIM))
def test_everybody_in_the_table_stays_within_a_shot(film: str) -> None:
    cuts, known = cuts_by_eye.CUTS[film], cuts_by_eye.courses(film)
    assert sorted({one.person for one in known}) == list("ABCDEF")
    for one in known:
        times = [time for time, _, _ in one.points]
        assert times == sorted(set(times))
        assert len(set(np.searchsorted(cuts, np.array(times) + 0.01).tolist())) == 1
        assert cuts_by_eye.person_at(known, cuts, *one.points[0]) == one.person


def test_cuts_are_told_missed_or_none() -> None:
    film = Film("asia.mp4", (6.09, 8.76, 10.39), ())
    counts = compared(film, [8.77, 10.5, 30.0])
    assert counts == {"cuts": 3, "missed": 1, "false": 1, "dim": 1}
    text = as_text({"one": {"asia.mp4": counts}})
    assert text.splitlines()[-1] == "| one | 2 of 3 + 1 |"


def test_without_films_a_sentence_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(cuts_by_eye, "FILMS", tmp_path)
    monkeypatch.setattr(
        bench_cuts, "drawn_films", lambda count, seconds, real=bench_cuts.drawn_films: real(1, 6.0)
    )
    [entry] = bench_cuts.run(toy=False)
    assert "set LOOKALIKE_DATA to the folder" in capsys.readouterr().out
    assert entry["ratio"] == 0
    assert entry["table"]["lookalike"][bench_cuts.DRAWN]["missed"] == 0
