"""What is said when a gallery is opened: whoever asks a regressor that guesses shall know."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest

from lookalike import FaceSet, Gallery, open_search
from lookalike.cli import find

SENTENCE = "of what this gallery asks of the regressor is unlike its training examples"


def apart() -> list[FaceSet]:
    """Sixty people who are each there once, in four faces that are nearly one."""
    rng = np.random.default_rng(0)
    people = rng.normal(size=(60, 64))
    return [FaceSet(f"{n:02d}", one + 0.05 * rng.normal(size=(4, 64))) for n, one in enumerate(people)]


def test_a_regressor_that_guesses_is_told_of_on_training_and_ever_after(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with Gallery(tmp_path / "g", create=True) as gallery:
        for one in apart():
            gallery.add(one)
        with caplog.at_level(logging.WARNING):
            open_search(gallery, reranker="learnt")
        [logged] = caplog.messages
        assert SENTENCE in logged
        caplog.clear()
    find.explain(gallery.path, "00", "01", "learnt")
    said = capsys.readouterr()
    assert said.err == f"lookalike: {logged}\n"
    find.explain(gallery.path, "00", "01", "learnt", quiet=True)
    assert capsys.readouterr() == (said.out, "")
    # Examples from where retrieval happens: nothing to warn of, now or later.
    for _ in range(2):
        find.explain(gallery.path, "00", "01", "learnt:examples=near")
    assert SENTENCE not in capsys.readouterr().err
    assert caplog.messages == []
