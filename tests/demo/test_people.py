"""People: ranges, families, independence."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from numpy.typing import NDArray

from lookalike.demo.people import FAMILIES, FAMILY_SIZE, Person, draw_person, family_of
from lookalike.errors import BadInput


def traits_of(person: Person) -> NDArray[np.float64]:
    """All traits in order, each scaled so that its range is 0 to 1."""
    groups = (person.head, person.eyes, person.brows, person.nose, person.mouth, person.hair, person.skin)
    scaled = [
        (getattr(group, one.name) - one.metadata["low"]) / (one.metadata["high"] - one.metadata["low"])
        for group in groups
        for one in fields(group)
    ]
    return np.array(scaled)


def test_same_seed_and_index_give_the_same_person() -> None:
    assert draw_person(3, 17) == draw_person(3, 17)


def test_seed_and_index_both_matter() -> None:
    assert draw_person(3, 17) != draw_person(4, 17)
    assert draw_person(3, 17) != draw_person(3, 18)


def test_traits_fill_their_ranges_evenly() -> None:
    traits = np.array([traits_of(draw_person(0, index)) for index in range(1600)])
    assert traits.min() >= 0
    assert traits.max() <= 1
    np.testing.assert_allclose(traits.mean(axis=0), 0.5, atol=0.12)
    np.testing.assert_allclose(traits.std(axis=0), 1 / np.sqrt(12), atol=0.04)


def test_families_by_hand() -> None:
    # With 8 families of 4: people 0..7 start them, person 8 joins family 0, person 32 starts family 8.
    assert (FAMILIES, FAMILY_SIZE) == (8, 4)
    assert [family_of(index) for index in (0, 7, 8, 31, 32, 40)] == [0, 7, 0, 7, 8, 8]


def test_every_family_has_its_size() -> None:
    sizes = np.bincount([family_of(index) for index in range(FAMILIES * FAMILY_SIZE * 3)])
    assert (sizes == FAMILY_SIZE).all()


def test_relatives_resemble_each_other_more_than_strangers_by_degrees() -> None:
    people = [draw_person(1, index) for index in range(64)]
    traits = np.array([traits_of(person) for person in people])
    alike = 1 - np.abs(traits[:, None] - traits).mean(axis=-1)
    family = np.array([family_of(index) for index in range(64)])
    same = family[:, None] == family[None, :]
    np.fill_diagonal(same, False)
    different = family[:, None] != family[None, :]
    assert alike[same].mean() > alike[different].mean() + 0.08
    # The first two of a family are near twins, the last two more like cousins.
    twins = np.mean([alike[index, index + FAMILIES] for index in range(FAMILIES)])
    cousins = np.mean([alike[index + 2 * FAMILIES, index + 3 * FAMILIES] for index in range(FAMILIES)])
    assert twins > cousins + 0.03


@pytest.mark.parametrize(("seed", "index"), [(-1, 0), (0, -1)])
def test_negative_numbers_are_refused(seed: int, index: int) -> None:
    with pytest.raises(BadInput, match="0 or more"):
        draw_person(seed, index)
