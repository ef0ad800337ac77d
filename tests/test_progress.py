from __future__ import annotations

from collections.abc import Iterator

import pytest

from lookalike.progress import silent


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
