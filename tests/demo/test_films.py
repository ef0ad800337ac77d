"""Films: smooth inside, different from one to the next, harder as difficulty grows."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from lookalike.demo.films import film, script
from lookalike.demo.people import draw_person
from lookalike.errors import BadInput
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
