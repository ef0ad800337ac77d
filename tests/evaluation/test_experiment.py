"""Experiments: several methods and seeds, each protocol, and work that goes on where it stopped."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lookalike import FaceSet, Gallery, Search, __version__, evaluate, index, registry, train
from lookalike.errors import BadInput, Conflict, NotFound
from lookalike.evaluation import experiment as module
from lookalike.evaluation.experiment import (
    Experiment,
    check_experiment,
    labels_fingerprint,
    record,
    split,
    versions,
    with_baseline,
)
from lookalike.evaluation.measures import Evaluation
from lookalike.evaluation.protocol import held_out, leave_one_out, outside
from lookalike.evaluation.statistics import compare, gains, read_record, words
from lookalike.gallery.decisions import judge, judged, undo
from lookalike.indexing.store import TableStore
from lookalike.parameters import PARAMETERS
from tests.evaluation.samples import evaluation
from tests.small_world import small_world

METHODS = ["learnt:references=4,proxies=3", "csls:neighbours=2"]


@pytest.fixture
def made(tmp_path: Path) -> Iterator[tuple[Gallery, dict[str, str], list[FaceSet]]]:
    sets, labels = small_world(people=6, sets=3)
    with Gallery(tmp_path / "g", create=True) as gallery:
        for one in sets:
            gallery.add(one, "array:x")
        yield gallery, labels, sets


def same(first: Evaluation, second: Evaluation) -> None:
    assert first.queries == second.queries
    assert set(first.runs) == set(second.runs)
    assert set(first.by_proxies) == set(second.by_proxies)
    pairs = [(first.runs[name], second.runs[name]) for name in first.runs]
    pairs += [([first.by_proxies[count]], [second.by_proxies[count]]) for count in first.by_proxies]
    for ours, theirs in pairs:
        assert len(ours) == len(theirs)
        for run, other in zip(ours, theirs, strict=True):
            assert [ranks.tolist() for ranks in run] == [ranks.tolist() for ranks in other]


def test_seeds_are_for_what_learns_by_chance(made: tuple[Gallery, dict[str, str], list[FaceSet]]) -> None:
    gallery, labels, _ = made
    tables = index(gallery)
    found = Experiment(gallery, tables, labels, METHODS, (0, 1, 2)).run()
    assert list(found.runs) == ["baseline", *METHODS]
    assert [len(runs) for runs in found.runs.values()] == [1, 3, 1]
    fitted = {
        "baseline": train(tables, "baseline"),
        METHODS[0]: [train(tables, METHODS[0], seed) for seed in (0, 1, 2)],
        METHODS[1]: train(tables, METHODS[1]),
    }
    same(found, leave_one_out(tables, fitted, labels))


def test_a_query_from_outside_cannot_count_as_its_own_match(
    made: tuple[Gallery, dict[str, str], list[FaceSet]],
) -> None:
    gallery, labels, _ = made
    tables = index(gallery)
    stranger = FaceSet("stranger", np.eye(2, tables.dimension))
    for other in ({"is_split": True}, {"queries": [stranger]}):
        with pytest.raises(BadInput, match="outside the gallery cannot count as its own match"):
            Experiment(gallery, tables, labels, [], (0,), count_query=True, **other).run()
    found = Experiment(gallery, tables, labels, [], (0,), count_query=True).run()
    alone = leave_one_out(tables, {"baseline": train(tables, "baseline")}, labels, count_query=True)
    assert found.to_dict()["rerankers"] == alone.to_dict()["rerankers"]
    assert found.query_counted


def test_decisions_count_only_where_they_are_asked_for(
    made: tuple[Gallery, dict[str, str], list[FaceSet]],
) -> None:
    gallery, labels, sets = made
    tables = index(gallery)
    before = evaluate(gallery, labels)
    ids = gallery.ids()
    for one in ids:
        alike = [other for other in ids if other != one and labels[other] == labels[one]]
        judge(gallery, one, alike[:1], "same")
    judge(gallery, ids[0], [next(id for id in ids if labels[id] != labels[ids[0]])], "different")
    assert evaluate(gallery, labels).to_dict() == before.to_dict()
    found = evaluate(gallery, labels, decisions=True)
    assert found.known is not None
    assert (found.known.queries, found.known.contradicted) == (len(ids), 0)
    for place, query in enumerate(found.queries):
        matches = sum(labels[id] == labels[query] for id in ids) - 1
        known = len(judged(gallery).confirmed(query))
        ranks = found.runs["auto"][0][place]
        assert (len(ranks), ranks[:known].tolist()) == (matches, list(range(1, known + 1)))
    same(Experiment(gallery, tables, labels, ["auto"], (0,), decisions=True).run(), found)
    for other in ({"is_split": True}, {"queries": [FaceSet("stranger", np.eye(2, tables.dimension))]}):
        with pytest.raises(BadInput, match="nothing is decided of a query from outside"):
            Experiment(gallery, tables, labels, [], (0,), decisions=True, **other).run()
    with pytest.raises(BadInput, match="decisions are kept in a gallery"):
        evaluate(sets, labels, decisions=True)


def test_an_interrupted_run_goes_on_only_with_the_decisions_that_it_began_with(
    made: tuple[Gallery, dict[str, str], list[FaceSet]],
) -> None:
    gallery, labels, _ = made
    tables, ids = index(gallery), gallery.ids()
    judge(gallery, ids[0], [ids[2]], "different")

    def again(decisions: bool) -> Experiment:
        return Experiment(gallery, tables, labels, ["auto"], (0,), decisions=decisions)

    again(True).run()
    assert again(True).already_asked() == len(ids)
    assert again(False).already_asked() == 0
    undo(gallery)
    assert again(True).already_asked() == 0


def test_the_sweep_is_what_fewer_proxies_say(made: tuple[Gallery, dict[str, str], list[FaceSet]]) -> None:
    gallery, labels, _ = made
    tables = index(gallery)
    name = "arithmetic_mean:proxies=3"
    found = Experiment(gallery, tables, labels, [name], (0,)).run(sweep=name)
    assert list(found.by_proxies) == [1, 2, 3]
    for count, ranks in found.by_proxies.items():
        alone = leave_one_out(tables, {"m": train(tables, f"arithmetic_mean:proxies={count}")}, labels)
        assert [one.tolist() for one in ranks] == [one.tolist() for one in alone.runs["m"][0]]


def test_a_method_without_proxies_has_no_sweep(made: tuple[Gallery, dict[str, str], list[FaceSet]]) -> None:
    gallery, labels, _ = made
    assert Experiment(gallery, index(gallery), labels, METHODS, (0,)).run(sweep=METHODS[1]).by_proxies == {}


class Stop:
    """Shows nothing, and interrupts after so many queries."""

    def __init__(self, after: int) -> None:
        self.after = after
        self.asked = 0

    def __call__(self, items: Iterable[Any], text: str, total: int | None) -> Iterator[Any]:
        for item in items:
            if text.startswith("asking"):
                if self.asked == self.after:
                    raise KeyboardInterrupt
                self.asked += 1
            yield item


@pytest.mark.parametrize("protocol", ["leave-one-out", "split", "queries from outside"])
def test_interrupted_work_goes_on_where_it_stopped(
    made: tuple[Gallery, dict[str, str], list[FaceSet]], protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOKALIKE_THREADS", "2")
    gallery, labels, sets = made
    queries = sets[::3] if protocol == "queries from outside" else None
    if queries:
        gallery.remove([one.id for one in queries])
    tables = index(gallery)
    one = Experiment(gallery, tables, labels, METHODS, (0, 1), queries, protocol == "split")
    assert one.protocol == protocol
    expected = one.run(sweep=METHODS[0])
    one.finish()
    total = 12 if protocol == "split" else len(expected.queries)
    # A few queries are on our threads when the interruption comes: they are asked again.
    for after in (total - 1, 1):
        with pytest.raises(KeyboardInterrupt):
            one.run(METHODS[0], Stop(after))
    last = Stop(10**9)
    same(one.run(METHODS[0], last), expected)
    assert 0 < last.asked < total
    # What was found is kept until it is in safe hands.
    assert one.already_asked(METHODS[0]) == total
    again = Stop(10**9)
    same(one.run(METHODS[0], again), expected)
    assert again.asked == 0
    one.finish()
    kinds = [stored.manifest.kind for stored in TableStore.beside(gallery.path).stored()]
    assert not [kind for kind in kinds if "evaluation" in kind]


def test_another_experiment_does_not_take_up_the_work(
    made: tuple[Gallery, dict[str, str], list[FaceSet]],
) -> None:
    gallery, labels, _ = made
    tables = index(gallery)
    with pytest.raises(KeyboardInterrupt):
        Experiment(gallery, tables, labels, METHODS, (0,)).run(track=Stop(5))
    renamed = {id: person.replace("person", "somebody") for id, person in labels.items()}
    for other in (
        Experiment(gallery, tables, labels, METHODS[1:], (0,)),
        Experiment(gallery, tables, labels, METHODS, (7,)),
        Experiment(gallery, tables, renamed, METHODS, (0,)),
    ):
        counting = Stop(10**9)
        other.run(track=counting)
        assert counting.asked == 18
        other.finish()


def test_work_is_kept_now_and_then(
    made: tuple[Gallery, dict[str, str], list[FaceSet]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SECONDS_BETWEEN_KEEPING", 0.0)
    gallery, labels, _ = made
    tables = index(gallery)
    one = Experiment(gallery, tables, labels, METHODS, (0,))
    same(one.run(), leave_one_out(tables, {name: one.fitted(name) for name in one.methods}, labels))


def test_outside_queries_are_those_of_the_protocol(
    made: tuple[Gallery, dict[str, str], list[FaceSet]],
) -> None:
    gallery, labels, sets = made
    queries = sets[::4]
    gallery.remove([one.id for one in queries])
    tables = index(gallery)
    found = Experiment(gallery, tables, labels, ["csls"], (0,), queries).run()
    inside = {id: labels[id] for id in tables.ids}
    people = [labels[one.id] for one in queries]
    fitted = {name: train(tables, name) for name in ("baseline", "csls")}
    same(found, outside(tables, fitted, queries, people, inside))


def test_facts_name_everything_that_shapes_the_figures(
    made: tuple[Gallery, dict[str, str], list[FaceSet]],
) -> None:
    gallery, labels, _ = made
    facts = Experiment(gallery, index(gallery), labels, ["csls"], (3,)).facts()
    assert facts["methods"] == {
        "baseline": "baseline",
        "csls": registry.spec(registry.build("rerankers", "csls")),
    }
    assert facts["seeds"] == [3]
    assert facts["similarity"] == "max_max:samples=10,preimage=nearest,bandwidth=None"
    assert facts["gallery"]["sets"] == 18
    assert facts["gallery"]["faces"] == 72
    assert facts["gallery"]["descriptor"] == "array:x"
    assert facts["gallery"]["fingerprint"] == gallery.fingerprint()


def test_what_cannot_be_measured_is_refused_first(
    made: tuple[Gallery, dict[str, str], list[FaceSet]],
) -> None:
    gallery, labels, sets = made
    check_experiment(gallery, labels, METHODS, (0,))
    with pytest.raises(NotFound, match="choose one of"):
        check_experiment(gallery, labels, ["nope"], (0,))
    with pytest.raises(BadInput, match="proxies must be"):
        check_experiment(gallery, labels, ["learnt:proxies=99"], (0,))
    with pytest.raises(BadInput, match="seed must be"):
        check_experiment(gallery, labels, METHODS, (-1,))
    with pytest.raises(BadInput, match="no seed"):
        check_experiment(gallery, labels, METHODS, ())
    stranger = FaceSet("stranger", np.random.default_rng(0).normal(size=(2, sets[0].dimension)))
    with pytest.raises(BadInput, match="have no label"):
        check_experiment(gallery, labels, METHODS, (0,), [stranger])


def test_queries_of_the_gallery_are_not_from_outside(
    made: tuple[Gallery, dict[str, str], list[FaceSet]],
) -> None:
    gallery, labels, sets = made
    with pytest.raises(BadInput, match="1 queries are in the gallery, for instance 'clip-"):
        check_experiment(gallery, labels, METHODS, (0,), sets[:1])
    renamed = FaceSet("other name", sets[0].faces)
    with pytest.raises(BadInput, match="are in the gallery, for instance 'other name'"):
        check_experiment(gallery, labels | {"other name": "x"}, METHODS, (0,), [renamed])
    new = FaceSet("new", sets[0].faces[::-1])
    with pytest.raises(Conflict, match="two queries are called 'new'"):
        check_experiment(gallery, labels | {"new": "x"}, METHODS, (0,), [new, new])


def test_one_method_under_two_names_is_refused(
    made: tuple[Gallery, dict[str, str], list[FaceSet]],
) -> None:
    gallery, labels, _ = made
    with pytest.raises(BadInput, match="'csls' and 'csls:neighbours=10' are the same method"):
        check_experiment(gallery, labels, ["csls", "csls:neighbours=10"], (0,))


def test_the_focus_is_the_first_that_is_not_the_baseline(
    made: tuple[Gallery, dict[str, str], list[FaceSet]],
) -> None:
    gallery, labels, _ = made
    tables = index(gallery)
    assert Experiment(gallery, tables, labels, ["baseline", "csls", "learnt"], (0,)).focus == "csls"
    assert Experiment(gallery, tables, labels, ["baseline"], (0,)).focus is None


def test_the_baseline_comes_first_and_nobody_twice() -> None:
    assert with_baseline(["csls", "baseline", "csls"]) == ["baseline", "csls"]


def test_in_one_call(made: tuple[Gallery, dict[str, str], list[FaceSet]]) -> None:
    """Of a gallery and of loose sets, and the same as step by step."""
    gallery, labels, sets = made
    loose = evaluate(sets, labels, METHODS[1:])
    assert list(loose.runs) == ["baseline", METHODS[1]]
    tables = index(sets)
    fitted = {name: train(tables, name) for name in with_baseline(METHODS[1:])}
    same(loose, leave_one_out(tables, fitted, labels))
    same(loose, evaluate(gallery, labels, METHODS[1:], preparation="none"))
    with pytest.raises(BadInput, match="must be a list of names, got the text 'csls'"):
        evaluate(sets, labels, "csls")
    with pytest.raises(NotFound, match="nonsense"):
        evaluate(sets, labels, ["nonsense"])
    with pytest.raises(BadInput, match="label"):
        evaluate(sets, {}, ["csls"])


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


def test_one_set_of_everybody_who_has_two_is_taken_out() -> None:
    sets, labels = small_world(people=5, sets=3)
    sets.append(FaceSet("lonely", np.random.default_rng(9).normal(size=(3, sets[0].dimension))))
    labels["lonely"] = "hermit"
    tables = index(sets)
    smaller, queries = split(tables, labels, np.random.default_rng(0))
    assert sorted(labels[id] for id in queries) == sorted(set(labels.values()) - {"hermit"})
    assert set(smaller.ids) | set(queries) == set(labels)
    assert not set(smaller.ids) & set(queries)
    assert "lonely" in smaller.ids
    # The gallery is indexed as if the queries had never been there.
    fresh = index([one for one in sets if one.id in smaller.ids])
    for found, expected in zip(smaller.neighbours, fresh.neighbours, strict=True):
        np.testing.assert_array_equal(found, expected)
    again = split(tables, labels, np.random.default_rng(0))
    assert list(again.queries) == list(queries)
    assert any(list(split(tables, labels, np.random.default_rng(n)).queries) != list(queries) for n in (1, 2))


def test_held_out_queries_get_what_an_outside_query_gets() -> None:
    sets, labels = small_world(people=5, sets=3)
    tables = index(sets)
    smaller, queries = split(tables, labels, np.random.default_rng(1))
    reranker = train(smaller, "learnt")
    result = held_out(smaller, {"learnt": reranker}, queries, labels)
    search = Search(smaller, reranker)
    by_id = {one.id: one for one in sets}
    for id, ranks in zip(result.queries, result.runs["learnt"][0], strict=True):
        ids = search.find(by_id[id]).ids
        assert [ids.index(one) + 1 for one in ids if labels[one] == labels[id]] == ranks.tolist()
    assert result.ranked == len(smaller)
    assert result.distractors == 0


def test_labels_must_fit() -> None:
    sets, labels = small_world(people=3)
    labels.pop(sets[0].id)
    with pytest.raises(BadInput, match="have no label"):
        split(index(sets), labels, np.random.default_rng(0))
