from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lookalike.indexing.store import TableStore, Unfinished


def work(folder: Path, origin: str = "abc", seconds: float = 60.0) -> Unfinished:
    return Unfinished(TableStore(folder), "unfinished sums", origin, seconds)


def test_nothing_to_take_up(tmp_path: Path) -> None:
    assert work(tmp_path / "s").take_up() is None
    assert not (tmp_path / "s").exists()


def test_what_was_kept_is_taken_up_by_the_same_work_only(tmp_path: Path) -> None:
    work(tmp_path).keep(3, lambda: {"sums": np.arange(3)})
    found = work(tmp_path).take_up()
    assert found is not None
    assert found[0] == 3
    np.testing.assert_array_equal(found[1]["sums"], np.arange(3))
    assert work(tmp_path, origin="other").take_up() is None


def test_only_the_latest_state_is_kept_and_in_time(tmp_path: Path) -> None:
    often, seldom = work(tmp_path, seconds=0.0), work(tmp_path, seconds=60.0)
    for done in (1, 2, 3):
        often.step(done, lambda: {"sums": np.arange(5)})
    seldom.step(9, lambda: pytest.fail("the state is not asked for before its time"))
    [stored] = TableStore(tmp_path).stored()
    assert stored.facts["done"] == 3
    assert len(list(stored.path.parent.iterdir())) == 1


def test_an_interruption_keeps_the_state(tmp_path: Path) -> None:
    def interrupted() -> None:
        with work(tmp_path).kept_at_the_end(lambda: 4, lambda: {"x": np.ones(1)}):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    found = work(tmp_path).take_up()
    assert found is not None
    assert found[0] == 4


def test_damage_is_not_taken_up(tmp_path: Path) -> None:
    work(tmp_path).keep(3, lambda: {"sums": np.arange(300)})
    [stored] = TableStore(tmp_path).stored()
    [file] = stored.path.glob("*.npy")
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(bytes(content))
    assert work(tmp_path).take_up() is None


def test_finished_work_leaves_nothing(tmp_path: Path) -> None:
    one = work(tmp_path / "s")
    one.keep(1, lambda: {"x": np.ones(1)})
    one.drop()
    assert work(tmp_path / "s").take_up() is None
    assert not (tmp_path / "s").exists()
