"""Vector world: its shape, its histograms, how well a plain search does on it."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import Any

import numpy as np
import pytest

from lookalike.demo.vectors import BINS, YTF_COUNTS, vector_world
from lookalike.errors import BadInput

SOME = {1: 60, 2: 50, 3: 30, 4: 15}


def test_shape_of_youtube_faces() -> None:
    assert sum(YTF_COUNTS.values()) == 1595
    assert sum(sets * people for sets, people in YTF_COUNTS.items()) == 3425


def test_counts_are_kept() -> None:
    per_person = Counter(person for _, person in vector_world(counts={1: 5, 3: 4}, faces=1, dimension=BINS))
    assert Counter(per_person.values()) == {1: 5, 3: 4}


def test_faces_are_histograms() -> None:
    for faceset, _ in islice(vector_world(), 4):
        assert faceset.faces.shape == (10, 1770)
        assert faceset.faces.min() >= 0
        np.testing.assert_allclose(faceset.faces.reshape(10, 30, BINS).sum(axis=2), 1, atol=1e-4)


def test_ids_are_in_order_and_do_not_follow_the_people() -> None:
    made = [(one.id, person) for one, person in vector_world(counts={3: 30}, faces=1, dimension=BINS)]
    assert [name for name, _ in made] == [f"video-{number:04d}" for number in range(1, 91)]
    people = np.array([person for _, person in made])
    assert abs(np.corrcoef(people, np.arange(90))[0, 1]) < 0.4


def test_sets_do_not_depend_on_how_many_are_made() -> None:
    few = {one.content_hash() for one, _ in vector_world(counts={2: 3}, faces=2)}
    many = {one.content_hash() for one, _ in vector_world(counts={2: 5}, faces=2)}
    assert few < many


def test_seed_decides_everything() -> None:
    def content(seed: int) -> list[tuple[str, int]]:
        return [(one.content_hash(), person) for one, person in vector_world(seed, counts={2: 3}, faces=2)]

    assert content(1) == content(1)
    assert content(1) != content(2)


def test_sets_come_one_by_one() -> None:
    # So many sets would not be made in the time of a test: only what is asked for is made.
    assert len(list(islice(vector_world(counts={1: 200_000}, faces=2), 3))) == 3


def test_faces_change_smoothly_within_a_video() -> None:
    faces = next(vector_world(faces=12))[0].faces
    steps = np.linalg.norm(np.diff(faces, axis=0), axis=1).mean()
    assert steps < np.linalg.norm(faces[0] - faces[-1])


def test_plain_search_is_better_than_chance_but_far_from_perfect() -> None:
    world = list(vector_world(counts=SOME))
    faces = np.array([one.faces for one, _ in world])
    people = np.array([person for _, person in world])
    count, each, _ = faces.shape
    flat = faces.reshape(count * each, -1)
    flat = flat / np.linalg.norm(flat, axis=1, keepdims=True)
    alike = (flat @ flat.T).reshape(count, each, count, each).max(axis=(1, 3))
    ranks = []
    for query in range(count):
        order = [other for other in np.argsort(-alike[query]) if other != query]
        found = np.flatnonzero(people[order] == people[query])
        if len(found):
            # Average normalised rank: 0 is perfect, 0.5 is chance.
            ranks.append((found - np.arange(len(found))).mean() / (count - 1))
    assert 0.15 < np.mean(ranks) < 0.38


@pytest.mark.parametrize(
    "wrong",
    [
        {"faces": 0},
        {"dimension": 60},
        {"dimension": 0},
        {"counts": {}},
        {"counts": {0: 3}},
        {"counts": {2: -1}},
        {"counts": {2: 0}},
        {"seed": -1},
    ],
)
def test_bad_arguments_are_refused_at_once(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match="got"):
        vector_world(**wrong)
