"""Collections: what is drawn, in which order, what lies on disk."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from lookalike.demo import films
from lookalike.demo.films import DrawnSet, draw_collection, film, write_collection
from lookalike.errors import BadInput, StorageFailed

SMALL: dict[str, Any] = {"frames": 2, "size": 32}


def test_counts_lie_in_the_range_given() -> None:
    drawn = list(draw_collection(people=12, sets=(2, 4), **SMALL))
    counts = np.bincount([one.person for one in drawn])
    assert len(counts) == 12
    assert counts.min() >= 2
    assert counts.max() <= 4
    assert len(set(counts.tolist())) > 1


def test_ids_are_unique_in_order_and_do_not_follow_the_people() -> None:
    drawn = list(draw_collection(people=10, sets=(3, 3), **SMALL))
    assert [one.id for one in drawn] == [f"clip-{number:04d}" for number in range(1, 31)]
    people = np.array([one.person for one in drawn])
    assert abs(np.corrcoef(people, np.arange(30))[0, 1]) < 0.6
    assert (np.diff(people) == 0).mean() < 0.4


def test_films_do_not_depend_on_how_many_people_are_drawn() -> None:
    few = {one.frames.tobytes() for one in draw_collection(people=3, sets=(1, 3), **SMALL)}
    many = {one.frames.tobytes() for one in draw_collection(people=6, sets=(1, 3), **SMALL)}
    assert few < many


def test_same_seed_same_collection_other_seed_another() -> None:
    def content(seed: int) -> list[tuple[str, int, bytes]]:
        drawn = draw_collection(people=3, sets=(1, 2), seed=seed, **SMALL)
        return [(one.id, one.person, one.frames.tobytes()) for one in drawn]

    assert content(5) == content(5)
    assert content(5) != content(6)


def test_nothing_is_drawn_before_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    def counted(*given: Any) -> NDArray[np.uint8]:
        made.append(given)
        return film(*given)

    monkeypatch.setattr(films, "film", counted)
    drawn = draw_collection(people=1000, **SMALL)
    assert made == []
    next(drawn)
    assert len(made) == 1


def test_written_folder(tmp_path: Path) -> None:
    drawn = list(draw_collection(people=3, sets=(1, 2), **SMALL))
    write_collection(tmp_path / "world", iter(drawn))
    clips = tmp_path / "world" / "clips"
    assert sorted(path.name for path in (tmp_path / "world").iterdir()) == ["clips", "labels.csv"]
    assert sorted(path.name for path in clips.iterdir()) == [one.id for one in drawn]
    for one in drawn:
        assert sorted(path.name for path in (clips / one.id).iterdir()) == ["00.png", "01.png"]
        np.testing.assert_array_equal(np.asarray(Image.open(clips / one.id / "01.png")), one.frames[1])
    with (tmp_path / "world" / "labels.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows == [["set_id", "person"], *([one.id, f"person-{one.person:02d}"] for one in drawn)]


def test_labels_are_written_only_when_all_is_done(tmp_path: Path) -> None:
    def stops() -> Iterator[DrawnSet]:
        yield DrawnSet("clip-0001", 0, np.zeros((1, 32, 32, 3), dtype=np.uint8))
        raise RuntimeError("the power went out")

    with pytest.raises(RuntimeError):
        write_collection(tmp_path, stops())
    assert (tmp_path / "clips" / "clip-0001" / "00.png").exists()
    assert not (tmp_path / "labels.csv").exists()


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    one = DrawnSet("clip-0001", 0, np.zeros((1, 32, 32, 3), dtype=np.uint8))
    with pytest.raises(StorageFailed, match="cannot write the drawn collection"):
        write_collection(tmp_path / "file", [one])


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"people": 0}, "people 0"),
        ({"sets": (3, 2)}, r"\(3, 2\)"),
        ({"sets": (0, 2)}, r"\(0, 2\)"),
        ({"frames": 0}, "frames 0"),
        ({"size": 31}, "size 31"),
        ({"difficulty": -0.1}, "-0.1"),
        ({"seed": -1}, "-1"),
    ],
)
def test_bad_arguments_are_refused_at_once(wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        draw_collection(**wrong)
