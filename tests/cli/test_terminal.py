from __future__ import annotations

import io
import json
import time
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from pathlib import Path, PosixPath
from types import NoneType, SimpleNamespace

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from typer.testing import CliRunner

from lookalike.cli import _end, output
from lookalike.cli.app import app
from lookalike.cli.output import Progresses, print_json, print_table, say
from lookalike.progress import Step

Seen = pytest.CaptureFixture[str]


class Clock:
    """A time that passes only when somebody works."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now

    def work(self, items: object, seconds: float, progress: Iterator[object]) -> list[object]:
        done = []
        for item in progress:
            self.now += seconds
            done.append(item)
        assert done == items
        return done


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(output, "time", SimpleNamespace(monotonic=clock.monotonic))
    return clock


def told(monkeypatch: pytest.MonkeyPatch, in_a_terminal: bool) -> io.StringIO:
    """What goes to stderr, from now on."""
    said = io.StringIO()
    console = Console(file=said, force_terminal=in_a_terminal, width=100, highlight=False, _environ={})
    monkeypatch.setattr(output, "console", lambda stderr=False: console)
    return said


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    return told(monkeypatch, False)


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    return told(monkeypatch, True)


# Progress.


def test_a_log_gets_a_line_now_and_then_with_an_estimate(clock: Clock, log: io.StringIO) -> None:
    items = list(range(10))
    clock.work(items, 4.0, Progresses()(items, "counting", 10))
    # After 12 s three are done at 4 s each, so seven are left: 28 s. And so on, never within 10 s.
    assert log.getvalue().splitlines() == [
        "counting: 3 of 10, about 28 s left",
        "counting: 6 of 10, about 16 s left",
        "counting: 9 of 10, about 4 s left",
    ]


def test_a_log_says_how_many_if_nobody_knows_how_many_there_will_be(clock: Clock, log: io.StringIO) -> None:
    clock.work([1, 2, 3], 10.0, Progresses()([1, 2, 3], "counting", None))
    assert log.getvalue().splitlines() == ["counting: 1", "counting: 2", "counting: 3"]


def test_work_that_says_where_it_is_and_how_long_it_takes_is_believed(clock: Clock, log: io.StringIO) -> None:
    items = [Step(f"[b]{number}\x1b.mp4, {number} faces so far", 100.0 - number) for number in range(4)]
    clock.work(items, 6.0, Progresses()(items, "looking for faces", 4))
    assert log.getvalue().splitlines() == [
        r"looking for faces: 2 of 4, about 99 s left; [b]1\x1b.mp4, 1 faces so far",
        r"looking for faces: 4 of 4, about 97 s left; [b]3\x1b.mp4, 3 faces so far",
    ]


def test_a_bar_shows_where_the_work_is(screen: io.StringIO) -> None:
    items = [Step("[b]clip.mp4, 3 faces", 3725.0)] * 2
    watched = Progresses()(items, "looking", 2)
    assert next(watched) is items[0]
    # Long enough for the bar to be drawn again.
    for _ in watched:
        time.sleep(0.3)
    shown = screen.getvalue()
    assert "looking: [b]clip.mp4, 3 faces" in shown
    assert "1:02:05" in shown


def test_quick_work_says_nothing(clock: Clock, log: io.StringIO) -> None:
    items = list(range(100))
    clock.work(items, 0.0999, Progresses()(items, "counting", 100))
    clock.work([], 100.0, Progresses()([], "counting", 0))
    assert log.getvalue() == ""


def test_quiet_says_nothing_however_long_it_takes(
    clock: Clock, log: io.StringIO, screen: io.StringIO
) -> None:
    clock.work([1, 2], 1e6, Progresses(quiet=True)([1, 2], "counting", 2))
    assert (log.getvalue(), screen.getvalue()) == ("", "")


def test_a_terminal_gets_a_bar_that_goes_away(screen: io.StringIO) -> None:
    items = [object(), None, "x"]
    assert list(Progresses()(items, "counting", 3)) == items
    shown = screen.getvalue()
    assert "counting" in shown
    assert shown.rindex("\x1b[?25h") > shown.rindex("\x1b[?25l"), "the cursor is back"
    assert shown.endswith("\x1b[2K"), "the last thing is that its line is wiped"


def test_a_bar_without_a_total(screen: io.StringIO) -> None:
    assert list(Progresses()((letter for letter in "abc"), "counting", None)) == ["a", "b", "c"]
    assert "3/?" in screen.getvalue()


@pytest.mark.parametrize("in_a_terminal", [True, False])
@pytest.mark.parametrize("quiet", [True, False])
def test_whoever_stops_early_stops_the_work(
    monkeypatch: pytest.MonkeyPatch, in_a_terminal: bool, quiet: bool
) -> None:
    said = told(monkeypatch, in_a_terminal)
    events = []

    def items() -> Iterator[int]:
        try:
            for number in range(5):
                events.append(number)
                yield number
        finally:
            events.append("ended")

    watched = Progresses(quiet)(items(), "counting", 5)
    assert events == [], "nothing is done before it is asked for"
    assert next(watched) == 0
    assert next(watched) == 1
    watched.close()  # type: ignore[attr-defined]
    assert events == [0, 1, "ended"]
    shown = said.getvalue()
    assert shown.count("\x1b[?25l") == shown.count("\x1b[?25h")
    # The next one can be shown.
    assert list(Progresses(quiet)([7], "more", 1)) == [7]


@pytest.mark.parametrize("in_a_terminal", [True, False])
def test_mistakes_pass_through(monkeypatch: pytest.MonkeyPatch, in_a_terminal: bool) -> None:
    said = told(monkeypatch, in_a_terminal)

    def items() -> Iterator[int]:
        yield 1
        raise KeyError("here")

    with pytest.raises(KeyError, match="here"):
        list(Progresses()(items(), "counting", 2))
    shown = said.getvalue()
    assert shown.count("\x1b[?25l") == shown.count("\x1b[?25h")


def test_work_within_work_is_shown(screen: io.StringIO) -> None:
    """Large sources are added in parts while the next ones are described."""
    track = Progresses()
    found = [(a, b) for a in track("xy", "describing", None) for b in track([1, 2], "adding", 2)]
    assert found == [("x", 1), ("x", 2), ("y", 1), ("y", 2)]
    assert "adding" in screen.getvalue()


def test_remarks_are_not_markup(log: io.StringIO) -> None:
    say("indexing [red]x[/red] [/] by [bold]")
    assert log.getvalue() == "indexing [red]x[/red] [/] by [bold]\n"
    say("not this", quiet=True)
    assert "not this" not in log.getvalue()


# Data.


@pytest.mark.parametrize(
    "id",
    [
        "[red]x[/red]",
        "[/red]",
        "[",
        "]",
        "[]",
        "[[x]]",
        "[@click=f()]x",
        "[link=http://x]y[/link]",
        "{x}",
        "%s",
    ],
)
def test_ids_are_printed_as_they_are(id: str, capsys: Seen) -> None:
    print_table([("set", "left"), ("faces", "right")], [(id, 12), ("other", 3)])
    heading, first, second = capsys.readouterr().out.splitlines()
    assert heading.split() == ["set", "faces"]
    assert first.split() == [id, "12"]
    assert second.split() == ["other", "3"]


def test_a_table_has_columns_a_title_and_no_colours(capsys: Seen) -> None:
    print_table([("set", "left"), ("n", "right")], [("a", 1), ("bbb", 100)], title="Sets")
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines == ["Sets", "set    n", "a      1", "bbb  100"]


def test_letters_of_the_world_are_printed(capsys: Seen) -> None:
    print_table([("set", "left")], [("ä名é😀",)])
    assert "ä名é😀" in capsys.readouterr().out


def test_an_empty_table_has_its_headings(capsys: Seen) -> None:
    print_table([("set", "left"), ("faces", "right")], [])
    assert capsys.readouterr().out.split() == ["set", "faces"]


def test_json_is_one_object_as_it_is(capsys: Seen) -> None:
    value = {"sets": [{"id": "[red]ä名\u2028 :smile:\\", "n": 1}], "none": None, "number": 0.1 + 0.2}
    print_json(value)
    out, err = capsys.readouterr()
    assert json.loads(out) == value
    assert err == ""
    assert "\x1b" not in out


def test_long_json_is_not_wrapped(capsys: Seen) -> None:
    print_json({"id": "x y " * 500})
    assert len(capsys.readouterr().out.splitlines()) == 3


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), float("-inf")])
def test_what_json_cannot_say_is_refused(wrong: float, capsys: Seen) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        print_json({"score": [wrong]})
    assert capsys.readouterr().out == ""


# The end.


def test_a_failure_is_one_line(capsys: Seen) -> None:
    with pytest.raises(SystemExit) as ended:
        _end("there is\nno set 'x'\r\n\n\tamong its 3 sets:\u2028 see [red]list[/red]", 4)
    assert ended.value.code == 4
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "lookalike: there is no set 'x' among its 3 sets: see [red]list[/red]\n"


# Tables that need no library.


@given(st.data())
def test_a_table_is_laid_out_as_rich_does(data: st.DataObject) -> None:
    word = st.text("ab \u00e9\u4e2d", max_size=30)
    count = data.draw(st.integers(1, 5))
    columns = data.draw(
        st.lists(st.tuples(word, st.sampled_from(["left", "right"])), min_size=count, max_size=count)
    )
    rows = data.draw(st.lists(st.lists(word, min_size=count, max_size=count), max_size=3))
    said = []
    for is_rich in (False, True):
        with pytest.MonkeyPatch.context() as patch, redirect_stdout(io.StringIO()) as out:
            if is_rich:
                patch.setattr(output, "_lines_of_table", lambda columns, rows: None)
            print_table(columns, rows)
        said.append(out.getvalue())
    assert said[0] == said[1]


# Words that need no library to be understood.


def test_plain_words_mean_what_typer_makes_of_them(tmp_path: Path) -> None:
    """Every parameter of every command: text, paths, whole numbers, what is wrong, and what is not given."""
    (tmp_path / "there").touch()
    there, missing = str(tmp_path / "there"), str(tmp_path / "missing")
    words = ("7", "-7", "seven", "", "7.5", "true", there, missing)
    whole, met = typer.main.get_command(app), set()
    for name in whole.list_commands(None):
        command = whole.get_command(None, name)
        ctx = typer.Context(command)
        for one in command.params:
            typers_own = one.process_value.args[-1]
            for word in (one.default, *((words,) if one.multiple or one.nargs != 1 else words)):
                ours, theirs = (meant(process, ctx, word) for process in (one.process_value, typers_own))
                assert (ours, type(ours)) == (theirs, type(theirs)), (name, one.name, word)
                met.add(type(ours))
    assert {str, int, PosixPath, bool, list, NoneType} <= met


def meant(process: Callable[..., object], ctx: typer.Context, word: object) -> object:
    """A value, or what is said against it."""
    try:
        return process(ctx, word)
    except Exception as wrong:
        return f"{type(wrong).__name__}: {wrong}"


@pytest.mark.parametrize("words", [["--help"], ["find", "--help"], ["undo", "-h"]])
def test_no_switch_seems_to_need_a_value(words: list[str]) -> None:
    said = CliRunner().invoke(app, words, catch_exceptions=False).stdout
    assert "--help" in said
    assert "<bool>" not in said
