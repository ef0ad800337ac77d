"""Every public name has an example in its docstring, which is run."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

import lookalike


@pytest.mark.parametrize("name", lookalike.__all__)
def test_the_example_in_the_docstring_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = getattr(lookalike, name).__doc__
    # Named as it is offered, whatever file it is written in.
    found = doctest.DocTestParser().get_doctest(text, {}, f"lookalike.{name}", None, None)
    assert found.examples, f"give {name} an example"
    runner = doctest.DocTestRunner()
    runner.run(found)
    said = capsys.readouterr().out
    assert runner.summarize(verbose=False).failed == 0, said
