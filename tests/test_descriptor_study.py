"""One descriptor beside another: measures worked by hand, and who is in the films, where these are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks import study_descriptors as study
from benchmarks.film_people import DINNER, FLAT
from benchmarks.real_faces import DATA

PLAIN = np.zeros((192, 192, 3), np.uint8)


def faces(*given: tuple[str, str, str, float]) -> study.Faces:
    found = study.Faces("by hand")
    for person, set_id, film, time in given:
        found.take(PLAIN, person, set_id, film, time)
    return found


def at(*degrees: float) -> np.ndarray:
    """Vectors of lengths that must not matter, so many degrees from the first axis."""
    angles = np.radians(degrees)
    lengths = np.arange(1, len(degrees) + 1)[:, None]
    return (np.column_stack([np.cos(angles), np.sin(angles)]) * lengths).astype(np.float32)


def test_measures_by_hand() -> None:
    """Sets a and b are one person, c another: b is nearer to c (10 degrees) than to a (20)."""
    found = study.measure(
        faces(("p", "a", "", 0), ("p", "b", "", 0), ("q", "c", "", 0)),
        at(0, 20, 30),
    )
    np.testing.assert_allclose(found.values["map"], [1, 1 / 2])
    np.testing.assert_allclose(found.values["rank1"], [1, 0])
    np.testing.assert_allclose(found.same, [np.cos(np.radians(20))])
    np.testing.assert_allclose(found.strangers, np.cos(np.radians([30, 10])), rtol=1e-6)
    # The surest pair of strangers, at 10 degrees, is surer than the pair of one person.
    np.testing.assert_array_equal(found.values["accepted"], [0, 0])


def test_sets_meet_in_their_best_faces() -> None:
    found = study.measure(
        faces(("p", "a", "", 0), ("p", "a", "", 0), ("p", "b", "", 0), ("q", "c", "", 0)),
        at(0, 60, 62, 40),
    )
    np.testing.assert_array_equal(found.values["rank1"], [1, 1])
    # Of two pairs of one person, at 62 and 2 degrees, the second is surer than strangers, 20 degrees apart.
    np.testing.assert_allclose(found.values["accepted"], [0, 1, 1 / 2])


def test_faces_of_one_shot_are_no_find() -> None:
    found = study.measure(
        faces(
            ("p", "1", "film", 0.0), ("p", "2", "film", 2.9), ("p", "3", "film", 3.0), ("q", "4", "film", 9.0)
        ),
        at(0, 1, 50, 30),
    )
    # The third is found by the first, behind the other person; the second has nobody: both are too near.
    np.testing.assert_allclose(found.values["map"], [1 / 2, 1 / 2])


def test_rows_say_what_was_measured() -> None:
    shown = faces(("p", "a", "", 0), ("p", "b", "", 0), ("q", "c", "", 0), ("q", "d", "", 0))
    vectors = {"sface": at(0, 5, 90, 95), "deep": at(0, 50, 45, 95)}
    found = {name: study.measure(shown, one) for name, one in vectors.items()}
    # By `deep` the others come at ranks 2, 3, 3 and 2.
    first, second, difference = study.lines(shown, found)
    assert first.startswith("| by hand | 2 | 4 | `sface` | 1.000 (1.000 to 1.000) |")
    assert "`deep` | 0.417" in second
    assert "difference | +0.583" in difference
    [row] = study.threshold_lines(shown, found["sface"], [0.5])
    assert row == "| by hand | 4 |  | 0.5 | 0.0 | 1.00 |"


def test_nothing_at_hand(tmp_path: Path) -> None:
    assert [collection(tmp_path) for collection in study.COLLECTIONS] == [None] * len(study.COLLECTIONS)


@pytest.mark.parametrize("told", [DINNER, FLAT], ids=["dinner", "flat"])
def test_the_films_show_as_many_faces_as_are_told(told: dict[str, dict[float, str]], capsys) -> None:  # type: ignore[no-untyped-def]
    """Whoever changes the detector must look at the films again."""
    if not all((DATA / "films" / film).is_file() for film in told):
        pytest.skip(f"no films in {DATA}: set LOOKALIKE_DATA to the folder of films/")
    found = study._of_films("films", DATA, told)
    assert found is not None
    assert capsys.readouterr().out == ""
    expected = "".join(people for moments in told.values() for people in moments.values()).replace(".", "")
    assert len(found.people) == len(expected)
