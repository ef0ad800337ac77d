"""What is made once is made by one, is whole for all, and belongs to each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.once import made_once


def test_it_is_made_once_and_everybody_has_a_copy(tmp_path_factory: pytest.TempPathFactory) -> None:
    made: list[Path] = []

    def make(folder: Path) -> None:
        made.append(folder)
        (folder / "file").write_text("as made")

    first, second = (made_once(tmp_path_factory, "test-of-once", make) for _ in range(2))
    (first / "file").write_text("changed")
    assert len(made) == 1
    assert (second / "file").read_text() == "as made"


def test_what_was_begun_and_not_ended_is_made_again(tmp_path_factory: pytest.TempPathFactory) -> None:
    def end_early(folder: Path) -> None:
        (folder / "half").touch()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        made_once(tmp_path_factory, "test-of-twice", end_early)
    whole = made_once(tmp_path_factory, "test-of-twice", lambda folder: (folder / "whole").touch())
    assert [path.name for path in whole.iterdir()] == ["whole"]
