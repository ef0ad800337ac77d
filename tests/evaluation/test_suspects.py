"""Wrong labels are found where they were planted, and nobody is suspected where none is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.study_suspects import renamed, study_renamed, study_swapped, swapped
from lookalike import Gallery, Search, open_search
from lookalike.errors import BadInput
from lookalike.evaluation.labels import Labels
from lookalike.evaluation.suspects import suspects
from tests.cli_process import Ready
from tests.small_world import small_world


@pytest.fixture(scope="module")
def world() -> tuple[Search, Labels]:
    sets, labels = small_world(people=40, sets=4, dimension=32, spread=0.4, seed=1)
    return open_search(sets), labels


def test_right_labels_are_not_suspected(world: tuple[Search, Labels]) -> None:
    search, labels = world
    found = suspects(search, labels)
    assert (found.sets, found.pairs, found.labelled, found.alone) == ((), (), 160, 0)


def test_two_swapped_labels_come_first_with_what_they_should_be(world: tuple[Search, Labels]) -> None:
    search, labels = world
    one, other = [id for id, person in labels.items() if person in ("person-1", "person-2")][2:6:3]
    assert {labels[one], labels[other]} == {"person-1", "person-2"}
    found = suspects(search, labels | {one: labels[other], other: labels[one]})
    assert {each.id: (each.label, each.seems) for each in found.sets[:2]} == {
        one: (labels[other], labels[one]),
        other: (labels[one], labels[other]),
    }
    assert all(labels[each.nearest] == each.seems and each.probability > 0.9 for each in found.sets[:2])
    # Whoever else is left with fewer of their own is hardly suspected.
    assert all(each.probability < 0.1 for each in found.sets[2:])
    assert found.to_dict()["sets"][0]["id"] == found.sets[0].id


def test_a_person_of_two_labels_is_a_pair_and_no_wrong_set(world: tuple[Search, Labels]) -> None:
    search, labels = world
    own = [id for id, person in labels.items() if person == "person-5"]
    found = suspects(search, labels | dict.fromkeys(own[:2], "twin"))
    assert [(each.one, each.other, each.sets) for each in found.pairs] == [("person-5", "twin", 4)]
    assert found.pairs[0].probability > 0.5
    assert all(each.probability < 0.1 for each in found.sets)
    # One label alone: nobody else has it, so that nothing can be said of the set, but of the pair.
    found = suspects(search, labels | {own[0]: "alone"})
    assert own[0] not in [each.id for each in found.sets]
    assert found.alone == 1
    assert [(each.one, each.other) for each in found.pairs] == [("alone", "person-5")]


def test_too_few_sets_are_refused() -> None:
    sets, labels = small_world(people=3, sets=2)
    with pytest.raises(BadInput, match="cannot be found among 6 sets"):
        suspects(sets, labels)
    with pytest.raises(BadInput, match="1 of 6 sets have no label"):
        suspects(sets, dict(list(labels.items())[1:]))


def test_what_the_study_plants(world: tuple[Search, Labels]) -> None:
    search, labels = world
    made, wrong = swapped(labels, 0.1, np.random.default_rng(0))
    assert len(wrong) == 16
    assert {id for id in labels if made[id] != labels[id]} == wrong
    assert sorted(made.values()) == sorted(labels.values())
    made, pairs = renamed(labels, 3, np.random.default_rng(0))
    assert len(pairs) == 3
    assert len(set(made.values())) == 43
    assert study_swapped(search, labels, 0.1, 0) == (16, 16, 16)
    assert study_renamed(search, labels, 3, 0) == (3, 3, 3)


def test_the_command_lists_them_and_changes_nothing(tmp_path: Path) -> None:
    sets, labels = small_world(people=40, sets=4, dimension=32, spread=0.4, seed=1)
    one, other = list(labels)[2:7:4]
    labels |= {one: labels[other], other: labels[one]}
    with Gallery(tmp_path / "g.gallery", create=True) as gallery:
        for each in sets:
            gallery.add(each)
    (tmp_path / "labels.csv").write_text(
        "set_id,person\n" + "".join(f"{id},{who}\n" for id, who in labels.items())
    )
    ready = Ready()
    try:
        words = (
            "evaluate",
            "g.gallery",
            "--labels",
            "labels.csv",
            "--suspects",
            "--prepare",
            "none",
            "--quiet",
        )
        told = json.loads(ready.works(*words, "--json", cwd=tmp_path).out)
        assert {each["id"] for each in told["sets"][:2]} == {one, other}
        assert told["labelled"] == 160
        shown = ready.works(*words, cwd=tmp_path).out
        assert f"{len(told['sets'])} of 160 sets look like somebody else's" in shown
        assert one in shown
        refused = ready.run(*words, "--split", cwd=tmp_path)
        assert refused.code == 2
        assert "--suspects measures nothing" in refused.err
    finally:
        ready.close()
