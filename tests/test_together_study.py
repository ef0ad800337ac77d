"""Photos of one person are one question, on real faces where they are at hand."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmarks.study_together import of_album, of_videos, pictured
from lookalike.ingest.describe import choose_descriptor

DATA = Path(os.environ.get("LOOKALIKE_DATA", Path(__file__).parents[2] / "shared" / "data"))


@pytest.mark.skipif(not DATA.exists(), reason=f"no faces at {DATA}: set LOOKALIKE_DATA to their folder")
def test_people_are_asked_for_with_photos_of_different_videos() -> None:
    part = choose_descriptor(None, "sface", None)
    found = of_videos(pictured(part, DATA / "ytf_frames"), part.may_be_same, draws=5)
    assert found["questions"] == 5 * 22
    assert found["asked"] >= 5 * 21
    assert found["asked with all"] >= 0.8 * found["questions"]
    assert found["stranger taken"] <= 0.05 * found["questions"]
    assert found["different people refused"] >= 0.8 * found["questions"]
    album = of_album(
        pictured(part, DATA / "photos" / "album"), DATA / "photos" / "truth.csv", part.may_be_same
    )
    assert len(album) == 6
    assert all(asked == there == 5 for asked, there in album.values())
