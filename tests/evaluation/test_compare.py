from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from lookalike.errors import BadInput, NotFound
from lookalike.evaluation.experiment import record
from lookalike.evaluation.statistics import compare, gains, read_record, words
from tests.evaluation.samples import evaluation


def run(better: bool = False, **facts: Any) -> dict[str, Any]:
    result = evaluation(better)
    found = record(result, gains(result, "baseline"), {"seeds": [0], **facts})
    return json.loads(json.dumps(found, allow_nan=False))


def test_what_changed_is_tested_query_by_query() -> None:
    found = compare(run(), run(better=True))
    assert found.shared_queries == 10
    lines = {(line.method, line.measure): line for line in found.lines}
    gain = lines["learnt", "map"]
    assert gain.second == 1.0
    assert gain.change is not None
    assert gain.change.difference.mean == pytest.approx(gain.second - gain.first)
    assert gain.change.p == 2 / 2**10
    same = lines["baseline", "map"]
    assert same.change is not None
    assert same.change.p == 1.0
    assert lines["learnt", "anr_q98"].change is None  # a quantile is no mean over queries
    assert words(found).startswith(
        "On 10 shared queries, these changed beyond chance (p < 0.05, corrected for"
    )
    assert "baseline" not in words(found)
    assert gain.p_corrected == 2 * gain.change.p  # two methods


def test_nothing_changed() -> None:
    assert words(compare(run(), run())) == "On 10 shared queries, no measure changed beyond chance."


def test_what_made_them_differ_is_told() -> None:
    found = compare(run(similarity="a", protocol="split"), run(similarity="b", protocol="split"))
    assert found.differences == ["similarity"]


def test_methods_of_one_run_only() -> None:
    first, second = run(), run()
    for place in (second["rerankers"], second["per_query"]["values"]):
        place["other"] = place.pop("learnt")
    found = compare(first, second)
    assert (found.only_first, found.only_second) == (["learnt"], ["other"])
    assert {line.method for line in found.lines} == {"baseline"}
    for place in (second["rerankers"], second["per_query"]["values"]):
        place.pop("baseline")
    with pytest.raises(BadInput, match="no method in common"):
        compare(first, second)


def test_queries_are_paired_by_their_name() -> None:
    first, second = run(), run(better=True)
    asked = second["per_query"]
    asked["id"] = [*asked["id"][::-1][:9], "elsewhere"]
    assert compare(first, second).shared_queries == 9
    asked["id"] = ["clip-1"] * 10  # random splits may ask twice
    found = compare(first, second)
    assert found.shared_queries == 0
    assert words(found).startswith("No test was made: a run of several splits asks for some sets twice")
    asked["id"] = [f"elsewhere-{place}" for place in range(10)]
    assert words(compare(first, second)) == "No test was made: the runs asked for different sets."


def test_figures_without_queries_are_compared_but_not_tested() -> None:
    first, second = run(), run()
    second.pop("per_query")
    found = compare(first, second)
    assert all(line.change is None for line in found.lines)
    assert "only a report.json has them" in words(found)
    assert json.dumps(found.to_dict())


def test_a_folder_or_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text(json.dumps(run()), encoding="utf-8-sig")
    assert read_record(tmp_path) == read_record(tmp_path / "report.json") == run()


def spoilt(change: str) -> dict[str, Any]:
    given = copy.deepcopy(run())
    if change == "no methods":
        given.pop("rerankers")
    elif change == "no measure":
        given["rerankers"]["learnt"].pop("map")
    elif change == "text for a measure":
        given["rerankers"]["learnt"]["map"] = "high"
    elif change == "short":
        given["per_query"]["values"]["learnt"]["map"].pop()
    elif change == "text for a value":
        given["per_query"]["values"]["learnt"]["map"][0] = "x"
    elif change == "other methods":
        given["per_query"]["values"].pop("learnt")
    return given


@pytest.mark.parametrize(
    "change",
    ["no methods", "no measure", "text for a measure", "short", "text for a value", "other methods"],
)
def test_what_is_no_record_is_refused(tmp_path: Path, change: str) -> None:
    (tmp_path / "x.json").write_text(json.dumps(spoilt(change)))
    with pytest.raises(BadInput, match="is not the record of an evaluation"):
        read_record(tmp_path / "x.json")


@pytest.mark.parametrize(
    "content", ["", "{", "[1, 2]", "3", "null", "\x00", '{"rerankers": NaN}', "[" * 99999]
)
def test_what_is_no_json_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(BadInput, match=r"report\.json of a report"):
        read_record(tmp_path / "x.json")


def test_nothing_there(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="there is no file"):
        read_record(tmp_path / "x.json")
    (tmp_path / "b.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadInput, match="is not JSON"):
        read_record(tmp_path / "b.json")
