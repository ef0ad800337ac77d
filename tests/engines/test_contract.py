"""What every engine must keep to."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.engines.contract import Engine, Traffic, weight
from lookalike.errors import Conflict, NotFound
from tests.engines import places

GIVEN = [("a", [1, 2]), ("b", [3]), ("c", [4, 5, 6])]


def test_every_slice_answers_about_what_it_opened(engine: Engine) -> None:
    with engine.hold(places.opened, GIVEN) as residents:
        assert len(residents) == 3
        assert residents.ask_all(places.total, 10.0) == [30.0, 30.0, 150.0]
        assert residents.ask(places.total, {2: (1.0,), 0: (2.0,)}) == {2: 15.0, 0: 6.0}


def test_what_is_shared_arrives_as_it_is(engine: Engine) -> None:
    with engine.hold(places.opened, GIVEN) as residents:
        shared = residents.share(np.array([1.0, -1.0]))
        found = residents.ask_all(places.times, shared)
        assert found[1].tolist() == [[3.0, -3.0]]
        assert [one.shape for one in found] == [(2, 2), (1, 2), (3, 2)]


def test_rounds_messages_and_bytes_are_counted(engine: Engine) -> None:
    with engine.hold(places.opened, GIVEN) as residents:
        residents.ask(places.times, {0: (np.zeros(4),), 2: (np.zeros(4),)})
        # Two questions of 4 numbers, answers of 2 x 4 and 3 x 4 numbers, 8 bytes each.
        assert residents.traffic == Traffic(rounds=1, messages=2, bytes=8 * (4 + 4 + 8 + 12))


def test_a_round_may_be_begun_before_another_is_answered(engine: Engine) -> None:
    with engine.hold(places.opened, GIVEN) as residents:
        first = residents.begin(places.total, {0: (1.0,)})
        second = residents.begin(places.total, {1: (1.0,)})
        assert second() == {1: 3.0}
        assert first() == {0: 3.0}


def test_an_error_arrives_as_it_was_raised(engine: Engine) -> None:
    with engine.hold(places.opened, GIVEN) as residents:
        with pytest.raises(Conflict) as caught:
            residents.ask_all(places.conflicting)
        assert str(caught.value) == "this contradicts that: choose one"
        assert residents.ask_all(places.total, 1.0) == [3.0, 3.0, 15.0]


def test_a_slice_that_cannot_be_opened_says_why(engine: Engine) -> None:
    with engine.hold(places.refused, [("x",)]) as residents:
        with pytest.raises(NotFound) as caught:
            residents.ask_all(places.total, 1.0)
        assert str(caught.value) == "there is no slice called 'x'"


def test_results_of_map_come_in_the_order_of_the_items(engine: Engine) -> None:
    assert list(engine.map(places.square, range(20))) == [number**2 for number in range(20)]


def test_items_are_taken_a_few_at_a_time(engine: Engine) -> None:
    taken = []
    found = engine.map(places.square, (taken.append(number) or number for number in range(1000)), tries=1)
    assert next(found) == 0
    assert 1 <= len(taken) <= 2 * engine.workers


def test_closing_twice_does_nothing(engine: Engine) -> None:
    residents = engine.hold(places.opened, GIVEN)
    residents.close()
    residents.close()


def test_weights_are_those_of_arrays_and_texts() -> None:
    assert weight(np.zeros((2, 3), dtype=np.float32)) == 24
    assert weight({"a": "four", "b": [b"12", 7]}) == 4 + 2 + 8
