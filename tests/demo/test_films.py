"""Films: smooth inside, different from one to the next, harder as difficulty grows."""

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
from lookalike.demo.films import DrawnSet, draw_collection, film, script, write_collection
from lookalike.demo.people import draw_person
from lookalike.errors import BadInput, StorageFailed
from lookalike.kernels.binary_patterns import uniform_patterns


def test_shape_and_bytes() -> None:
    frames = film(draw_person(0, 0), 0, 0, frames=3, size=48)
    assert frames.shape == (3, 48, 48, 3)
    assert frames.dtype == np.uint8


def test_same_film_twice_and_other_films() -> None:
    person = draw_person(0, 2)
    once = film(person, 0, 1, frames=2, size=40)
    assert once.tobytes() == film(person, 0, 1, frames=2, size=40).tobytes()
    assert once.tobytes() != film(person, 0, 2, frames=2, size=40).tobytes()
    assert once.tobytes() != film(person, 1, 1, frames=2, size=40).tobytes()


def test_two_people_are_not_filmed_in_the_same_scene() -> None:
    first, second = (film(draw_person(0, index), 0, 0, frames=1, size=40)[0, :6, :3] for index in (0, 1))
    assert np.abs(first.astype(int) - second.astype(int)).mean() > 5


def test_a_film_moves_smoothly() -> None:
    views = [script(np.random.default_rng(seed), 40, 0.6) for seed in range(20)]
    yaw = np.array([[view.yaw for view in one] for one in views])
    step = np.abs(np.diff(yaw, axis=1)).max()
    reach = np.ptp(yaw, axis=1).max()
    assert reach > 15
    assert step < reach / 6


def test_difficulty_widens_every_range() -> None:
    def spread(difficulty: float) -> NDArray[np.float64]:
        first = [script(np.random.default_rng(seed), 1, difficulty)[0] for seed in range(60)]
        return np.array(
            [
                np.std([view.yaw for view in first]),
                np.std([view.light.across for view in first]),
                np.mean([view.blur for view in first]),
                np.mean([view.noise for view in first]),
                np.mean([view.worn.glasses + view.worn.hat for view in first]),
                np.std([view.style.fringe for view in first]),
            ]
        )

    assert (spread(0.9) > spread(0.5)).all()
    assert (spread(0.5) > spread(0.1)).all()


def test_people_differ_more_than_frames_of_one_film() -> None:
    films = np.array([film(draw_person(0, index), 0, 0, 4, 40, 0.3) for index in range(8)], dtype=float)
    inside = np.abs(films[:, 0] - films[:, -1]).mean()
    between = np.mean([np.abs(films[i, 0] - films[j, 0]).mean() for i in range(8) for j in range(i)])
    assert between > 1.5 * inside


def test_retrieval_gets_harder() -> None:
    easy, hard = _average_precision(0.1), _average_precision(0.9)
    assert easy > 0.7
    assert hard < 0.5
    assert easy > hard + 0.3


@pytest.mark.parametrize(
    ("wrong", "says"),
    [({"frames": 0}, "frames 0"), ({"size": 16}, "size 16"), ({"difficulty": 1.5}, "got 1.5")],
)
def test_bad_arguments(wrong: dict[str, int], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        film(draw_person(0, 0), 0, 0, **wrong)


def test_negative_set_number() -> None:
    with pytest.raises(BadInput, match="0 or more"):
        film(draw_person(0, 0), 0, -1)


def _average_precision(difficulty: float) -> float:
    """Mean average precision of the best pair of faces, over 14 people with 3 films of 3 frames."""
    people = np.repeat(np.arange(14), 3)
    faces = np.array(
        [
            [_describe(frame) for frame in film(draw_person(0, person), 0, number, 3, 64, difficulty)]
            for person in range(14)
            for number in range(3)
        ]
    )
    count, each, _ = faces.shape
    flat = faces.reshape(count * each, -1)
    alike = (flat @ flat.T).reshape(count, each, count, each).max(axis=(1, 3))
    precisions = []
    for query in range(count):
        order = [other for other in np.argsort(-alike[query]) if other != query]
        found = np.flatnonzero(people[order] == people[query]) + 1
        precisions.append(np.mean(np.arange(1, len(found) + 1) / found))
    return float(np.mean(precisions))


def _describe(frame: NDArray[np.uint8]) -> NDArray[np.float64]:
    codes = uniform_patterns(frame.mean(axis=2).astype(np.uint8), 8, 2)
    cells = [cell for band in np.array_split(codes, 6) for cell in np.array_split(band, 5, axis=1)]
    histogram = np.concatenate([np.bincount(cell.ravel(), minlength=59) / cell.size for cell in cells])
    return np.asarray(histogram / np.linalg.norm(histogram))


# Collections: what is drawn, in which order, what lies on disk.

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
