from __future__ import annotations

import json

from lookalike import __version__
from lookalike.evaluation.experiment import labels_fingerprint, record, versions
from lookalike.evaluation.statistics import gains
from lookalike.parameters import PARAMETERS
from tests.evaluation.samples import evaluation


def test_every_number_is_there_and_people_are_numbers() -> None:
    result = evaluation()
    found = record(result, gains(result, "baseline"), {"protocol": "by hand"})
    text = json.dumps(found, allow_nan=False)
    assert "person-" not in text
    assert found["protocol"] == "by hand"
    assert found["queries"] == 10
    assert found["rerankers"] == result.to_dict()["rerankers"]
    assert found["per_query"]["id"] == result.queries
    assert len(set(found["per_query"]["person"])) == 10
    assert found["per_query"]["available"] == [1] * 10
    values = found["per_query"]["values"]["learnt"]["map"]
    assert sum(values) / 10 == found["rerankers"]["learnt"]["map"]
    assert set(found["against_baseline"]["learnt"]["map"]) == {"mean", "low", "high", "p", "p_corrected"}
    assert found["by_seed"]["learnt"] == [found["rerankers"]["learnt"]]
    assert set(found["parameters"]) == {parameter.name for parameter in PARAMETERS}


def test_versions_say_what_made_the_figures() -> None:
    assert versions()["lookalike"] == __version__
    assert {"numpy", "scipy", "scikit-learn", "python", "threads"} <= set(versions())


def test_labels_have_one_fingerprint_in_any_order() -> None:
    one = labels_fingerprint({"a": "x", "b": "y"})
    assert one == labels_fingerprint({"b": "y", "a": "x"})
    assert one != labels_fingerprint({"a": "y", "b": "x"})
    assert labels_fingerprint({"a=1:x;1:b": "y"}) != labels_fingerprint({"a": "x", "b": "y"})
