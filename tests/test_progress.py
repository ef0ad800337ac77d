from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from lookalike.progress import Forecast, silent


@pytest.mark.parametrize("total", [None, 0, 3, 1000])
def test_silence_passes_everything_on_in_order(total: int | None, capsys: pytest.CaptureFixture[str]) -> None:
    given = [object(), None, "x"]
    assert list(silent(given, "counting", total)) == given
    assert list(silent([], "counting", total)) == []
    assert capsys.readouterr() == ("", "")


def test_nothing_is_taken_before_it_is_asked_for() -> None:
    taken = []

    def items() -> Iterator[int]:
        for number in range(5):
            taken.append(number)
            yield number

    watched = silent(items(), "counting", 5)
    assert taken == []
    assert next(watched) == 0
    assert taken == [0]


def test_a_list_may_be_watched_twice() -> None:
    given = [1, 2]
    assert [*silent(given, "", 2), *silent(given, "", 2)] == [1, 2, 1, 2]


def test_mistakes_pass_through() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise KeyError("here")

    watched = silent(items(), "counting", None)
    assert next(watched) == 1
    with pytest.raises(KeyError, match="here"):
        next(watched)


def test_a_forecast_begins_with_what_was_expected_and_ends_with_what_it_took() -> None:
    forecast = Forecast(expected=100.0, total=50)
    assert forecast.left(0, 0.0) == 100.0
    # Just as expected: what is left falls evenly.
    assert [forecast.left(done, 2.0 * done) for done in (10, 25, 50)] == pytest.approx([80.0, 50.0, 0.0])
    # After half of it in 200 s: (25 + 200) / 0.75 = 300 s for all of it, of which half is left.
    assert forecast.left(25, 200.0) == pytest.approx(150.0)
    assert forecast.left(50, 400.0) == forecast.left(60, 400.0) == 0.0
    assert Forecast(3.0, 0).left(0, 0.0) == 3.0


def test_a_forecast_does_not_jump_when_steps_come_in_bursts() -> None:
    # Ten steps come at once after half a minute each: what the pace so far says goes up and down by the tens.
    forecast, steps = Forecast(expected=250.0, total=100), range(1, 100)
    elapsed = [30.0 * (done // 10 + 1) for done in steps]
    told = [forecast.left(done, time) for done, time in zip(steps, elapsed, strict=True)]
    by_pace = [time / done * (100 - done) for done, time in zip(steps, elapsed, strict=True)]
    assert max(told) < 1.5 * 250 < 2970 == by_pace[0]
    assert all(after < 1.5 * before for before, after in itertools.pairwise(told))


def test_bars_of_others_can_be_given_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    """Those of notebooks take items, words and a number in this order too."""
    from rich.progress import track
    from tqdm.auto import tqdm

    from lookalike import find
    from tests.small_world import small_world

    sets, _ = small_world(people=8, sets=3)
    plain = find(sets[0].id, sets)
    assert find(sets[0].id, sets, track=tqdm) == plain
    assert find(sets[0].id, sets, track=track) == plain
    said = capsys.readouterr()
    assert "100%" in said.err
    assert "24/24" in said.err
