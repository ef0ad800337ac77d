"""The whole chain on real faces, where they are at hand: the baseline is where a clean-room run put it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lookalike import Gallery, index, train
from lookalike.evaluation.labels import read_labels
from lookalike.evaluation.protocol import leave_one_out
from lookalike.ingest.add import add

FACES = Path(os.environ.get("LOOKALIKE_DATA", Path(__file__).parents[2] / "shared" / "data")) / "ytf_dev.npz"


@pytest.mark.skipif(not FACES.exists(), reason=f"no faces at {FACES}: set LOOKALIKE_DATA to their folder")
def test_baseline_on_youtube_faces(tmp_path: Path) -> None:
    done = add(tmp_path / "faces.gallery", [FACES])
    assert len(done.added) == 571
    with Gallery(tmp_path / "faces.gallery") as gallery:
        assert gallery.dimension == 1770
        tables = index(gallery, "max_max", preparation="none")
        result = leave_one_out(tables, {"baseline": train(tables, "baseline")}, read_labels(FACES)).to_dict()
    assert (result["queries"], result["sets"], result["distractors"]) == (571, 571, 0)
    found = result["rerankers"]["baseline"]
    assert found["mean_anr"] == pytest.approx(0.317, abs=0.01)
    assert found["map"] == pytest.approx(0.129, abs=0.01)
    assert found["anr_below_0.3"] == pytest.approx(0.518, abs=0.01)
    assert found["rank1"] == pytest.approx(0.166, abs=0.01)
