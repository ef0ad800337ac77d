"""Lines of a list are read one by one, and a line that never ends is refused."""

import io
from pathlib import Path

import pytest

from lookalike.errors import BadInput
from lookalike.ingest.readers.lists import MOST_CHARACTERS, short_lines


def test_lines_keep_their_ends():
    text = "a\n\nlast"
    assert list(short_lines(Path("x"), io.StringIO(text))) == ["a\n", "\n", "last"]


def test_a_line_that_is_too_long():
    longest = "x" * (MOST_CHARACTERS - 1) + "\n"
    assert list(short_lines(Path("x"), io.StringIO(longest))) == [longest]
    with pytest.raises(BadInput, match=r"'x' has more than 100,000 characters in line 2: write one line"):
        list(short_lines(Path("x"), io.StringIO("a\n" + "x" + longest)))
