"""The page about re-rankers is what its record says, and the study measures what it names."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import study_stages
from benchmarks.real_faces import RIVALS
from benchmarks.stages_data import CONFIGURATIONS, Case, Configuration, indexed
from benchmarks.stages_families import FAMILIES, families
from benchmarks.stages_figures import figures
from benchmarks.stages_galleries import few, gallery, harm, is_harmed, stability, together, without_queries
from benchmarks.stages_galleries import strict as strict_of_some
from benchmarks.stages_kept import Kept
from benchmarks.stages_measure import METHODS, OneStrength, drawn, halves, small, strengths, strict, whole
from benchmarks.stages_page import best_rival, page
from benchmarks.stages_parts import Pool
from benchmarks.stages_shapes import ACTORS, DRAWS, FACES, SHAPES, WORDS, Photos, galleries
from benchmarks.stages_words import MISSING
from benchmarks.stages_worlds import NOISES, World, draw, shapes
from benchmarks.study_stages import NOTHING
from lookalike import index, train
from lookalike.evaluation.protocol import leave_one_out
from lookalike.method.tables import compare
from tests.small_world import small_world

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def kept() -> dict[str, Any]:
    return json.loads((ROOT / "docs" / "lab" / "reranking.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def case() -> Case:
    sets, labels = small_world(people=30, sets=3, dimension=32, spread=0.8)
    return Case("small", index(sets), labels)


# The page.


def test_no_number_of_the_tables_is_typed_by_hand(kept: dict[str, Any]) -> None:
    assert (ROOT / "docs" / "lab" / "reranking.md").read_text(encoding="utf-8") == page(kept)


def test_everything_is_measured_everywhere(kept: dict[str, Any]) -> None:
    assert [run["name"] for run in kept["runs"]] == [one.name for one in CONFIGURATIONS]
    for run in kept["runs"]:
        assert list(run["methods"]) == list(METHODS)
    assert [(one["name"], one["noise"]) for one in kept["worlds"]] == [
        (name, noise) for name in shapes() for noise in NOISES
    ]


def test_every_shape_and_family_is_measured(kept: dict[str, Any]) -> None:
    found = kept["shapes"]
    assert [(one["shape"], one["faces"]) for one in found["rows"]] == [
        (shape, faces) for shape in SHAPES for faces in FACES
    ]
    assert len(found["galleries"]) == len(found["rows"]) * DRAWS
    assert list(found["strict"]) == list(found["stability"]) == list(SHAPES) == list(WORDS)
    assert [one["family"] for one in kept["families"]["rows"]] == [one.name for one in FAMILIES]


def test_a_part_that_was_not_measured_says_so(kept: dict[str, Any]) -> None:
    nothing = page({**kept, **NOTHING})
    assert nothing.count(MISSING) > 20
    assert figures({**kept, **NOTHING}) == []
    for part in ("shapes", "families", "worlds", "runs"):
        text = page({**kept, part: NOTHING[part]})
        assert 0 < text.count(MISSING) < nothing.count(MISSING)


def test_what_the_page_says_of_shapes_follows_the_figures(kept: dict[str, Any]) -> None:
    text = {}
    for sign in (-1, 1):
        changed = json.loads(json.dumps(kept))
        for one in changed["shapes"]["galleries"]:
            one["methods"]["auto"] = {
                "map": one["methods"]["baseline"]["map"] + 0.1 * sign,
                "mean_anr": one["methods"]["baseline"]["mean_anr"] - 0.1 * sign,
                "rank1": 1.0,
            }
        for one in changed["shapes"]["rows"]:
            one["gains"]["map"] = {"mean": 0.1 * sign, "low": 0.1 * sign, "high": 0.1 * sign}
            one["gains"]["mean_anr"] = {"mean": -0.1 * sign, "low": -0.1 * sign, "high": -0.1 * sign}
            one |= {"stays": 0, "harmed": DRAWS if sign < 0 else 0}
        text[sign] = page(changed)
    every = f"{', '.join(list(SHAPES)[:-1])} and {list(SHAPES)[-1]}."
    assert f"It helps on {every}" in text[1]
    assert f"It hurts on {every}" in text[-1]
    assert "**Leave it at `auto`.**" in text[1]
    assert "**Leave it at `auto`.**" not in text[-1]
    assert text[-1].count("measure first") == len(SHAPES)
    assert "measure first" not in text[1]


def test_a_number_of_the_record_is_a_number_of_the_page(kept: dict[str, Any]) -> None:
    changed = json.loads(json.dumps(kept))
    changed["runs"][0]["methods"]["adaptive"]["map"] = 0.98765
    changed["runs"][3]["strict"]["strict"]["map"] = 0.98764
    assert "0.9876" not in page(kept)
    assert page(changed).count("0.9877") == page(changed).count("0.9876") == 1


def test_what_is_missed_is_told(kept: dict[str, Any]) -> None:
    changed = json.loads(json.dumps(kept))
    changed["runs"][2]["methods"]["adaptive"]["map"] = 0.0
    changed["runs"][2]["halves"]["better"]["map"] = 0
    changed["runs"][2]["small"]["20"]["mean"] = -0.0321
    changed["runs"][2]["gains"]["rank1"]["mean"] = -0.0123
    text = page(changed)
    name = changed["runs"][2]["name"]
    for start in ("mAP better than the baseline everywhere", "Rank-1 at most", "At most 0.005 mAP"):
        [line] = [line for line in text.splitlines() if line.startswith(f"- {start}")]
        assert name in line
    assert f"of {20 * len(kept['runs'])}." in text


def test_where_auto_decides_otherwise_than_adaptive_is_told(kept: dict[str, Any]) -> None:
    changed = json.loads(json.dumps(kept))
    for run in changed["runs"]:
        run["methods"]["auto"] = dict(run["methods"]["adaptive"])
    total = len(changed["runs"])
    assert f"On the {total} configurations of the development data `auto` does what" in page(changed)
    changed["runs"][1]["methods"]["auto"]["map"] = 0.0
    assert f"development data but for {changed['runs'][1]['name']} `auto` does what" in page(changed)


def test_the_figures_are_those_of_the_page(kept: dict[str, Any]) -> None:
    named = {Path(name).stem for name in re.findall(r"\(figures/([^)]*)\)", page(kept))}
    assert named == {figure.name for figure in figures(kept)}
    for name in named:
        figure = ROOT / "docs" / "lab" / "figures" / f"{name}.svg"
        assert figure.read_text(encoding="utf-8").startswith("<?xml")


def test_the_best_rival_is_the_best_by_that_measure() -> None:
    methods = {"cprr": {"mean_anr": 0.2, "map": 0.9}, "csls": {"mean_anr": 0.1, "map": 0.5}}
    run = {"methods": {"baseline": {"mean_anr": 0.0, "map": 1.0}, **methods}}
    assert (best_rival(run, "mean_anr"), best_rival(run, "map")) == ("csls", "cprr")


# What is measured.


def test_a_part_of_a_gallery_is_a_gallery(case: Case) -> None:
    pool = Pool(case.tables, case.labels)
    numbers = pool.half(np.random.default_rng(0))
    assert len(numbers) == 45
    smaller = pool.tables(numbers)
    scores = compare(case.tables.similarity, case.tables.sets, case.tables.sets).scores
    near = scores[np.ix_(numbers, numbers)]
    np.fill_diagonal(near, -2)
    np.testing.assert_array_equal(smaller.neighbours.sets[:, 0], near.argmax(axis=1))
    np.testing.assert_array_equal(smaller.neighbours.scores[:, 0], near.max(axis=1))
    whole_again = pool.tables(range(len(case.tables)))
    for name in ("baseline", "adaptive"):
        both = [
            leave_one_out(one, {name: train(one, name)}, case.labels).to_dict()
            for one in (case.tables, whole_again)
        ]
        assert both[0] == both[1]


def test_small_galleries_are_of_whole_people(case: Case) -> None:
    pool = Pool(case.tables, case.labels)
    for size in (10, 21):
        chosen = pool.few(size, np.random.default_rng(1))
        counts = sorted(Counter(pool.persons[chosen].tolist()).values(), reverse=True)
        assert sum(counts) == len(set(chosen.tolist())) == size
        assert counts[: size // 3] == [3] * (size // 3)


def test_everything_is_measured_on_a_small_collection(case: Case) -> None:
    kept, result = whole(case, ("baseline", "adaptive", "auto", "cprr"))
    assert (kept["sets"], kept["queries"], kept["people"]) == (90, 90, 30)
    methods = kept["methods"]
    assert methods["adaptive"]["map"] == methods["auto"]["map"] > methods["baseline"]["map"]
    gain = kept["gains"]["map"]
    assert gain["mean"] == pytest.approx(methods["adaptive"]["map"] - methods["baseline"]["map"])
    assert gain["low"] <= gain["mean"] <= gain["high"]
    assert 0 <= kept["calibration"]["auto"]["error"] < 0.3

    pool = Pool(case.tables, case.labels)
    asked = strict(pool, result, len(result.queries))
    assert asked["queries"] == len(result.queries)
    assert asked["strict"]["map"] == pytest.approx(asked["inside"]["map"], abs=0.1)
    assert asked["baseline"]["map"] == pytest.approx(methods["baseline"]["map"])
    assert strict(pool, result, 2)["queries"] == 2
    assert halves(pool, 3)["better"]["map"] <= 3
    few = small(pool, (10, 30), 4)
    assert few["10"] == {"draws": 4, "mean": 0.0, "worst": 0.0}
    assert few["30"]["worst"] <= few["30"]["mean"]


def test_one_strength_alone_is_that_strength(case: Case) -> None:
    found = strengths(case)
    assert len(found["map"]) == len(found["triangles"]) == len(found["shares"]) == 5
    assert sum(found["trust"]) == pytest.approx(1)
    assert len(set(found["map"])) > 1
    for place, share in enumerate(found["shares"]):
        one = OneStrength(place).fit(case.tables, np.random.default_rng(0)).strengths_
        assert one is not None
        assert one.factors.tolist() == [[1, share, share**2]]
        assert one.levelled.tolist() == [1]


def test_faces_are_picked_after_the_preparation_was_learnt() -> None:
    sets, _ = small_world(people=6, sets=3, faces=8)
    all_faces = indexed(sets, Configuration("a", "", None, "within:dimension=5", "max_max"))
    some = indexed(sets, Configuration("b", "", None, "within:dimension=5", "max_max", 3))
    first, fewer = all_faces.sets[0]["faces"], some.sets[0]["faces"]
    assert len(fewer) == 3
    np.testing.assert_allclose(fewer, first[[0, 4, 7]], rtol=1e-5)


# Galleries in the shapes that people have.


@pytest.fixture(scope="module")
def photos() -> Photos:
    sets, labels = small_world(people=12, sets=20, faces=1, dimension=32, spread=0.9)
    return Photos(np.concatenate([one.faces for one in sets]), np.array([labels[one.id] for one in sets]))


def test_a_shape_has_the_sets_that_it_claims(photos: Photos) -> None:
    counts = (15, 6, 6, 2, 1, 1)
    first, other = galleries(photos, "uneven", counts, 0, 1, 2)
    for one in (first, other):
        assert sorted(Counter(one.labels.values()).values(), reverse=True) == list(counts)
        assert {each.id for each in one.sets} == set(one.labels)
        assert len({each.faces.tobytes() for each in one.sets}) == sum(counts)
    assert first.labels != other.labels
    again = next(galleries(photos, "uneven", counts, 0, 1, 1))
    assert again.labels == first.labels
    assert next(galleries(photos, "uneven", counts, 1, 1, 1)).labels != first.labels


def test_ids_of_a_shape_do_not_tell_who_is_who(photos: Photos) -> None:
    one = next(galleries(photos, "even", (10,) * 6, 0, 1, 1))
    people = [one.labels[id] for id in sorted(one.labels)]
    assert 3 * sum(a == b for a, b in pairwise(people)) < len(people)


def test_no_photo_is_in_two_sets_and_who_has_most_gives_all(photos: Photos) -> None:
    one = next(galleries(photos, "triples", (9, 2), 0, 3, 1))
    assert [len(each) for each in one.sets] == [3] * 8  # 20 photos make six sets of three, not nine
    faces = np.concatenate([each.faces for each in one.sets])
    assert len(np.unique(faces, axis=0)) == len(faces)


def test_what_is_measured_of_galleries(photos: Photos) -> None:
    cases = [one.case() for one in galleries(photos, "even", (6,) * 10, 0, 1, 2)]
    records = [gallery(case) for case in cases]
    assert [one["sets"] for one in records] == [60, 60]
    row = together(records)
    assert (row["galleries"], row["queries"]) == (2, 120)
    for measure in ("map", "mean_anr"):
        gain = row["gains"][measure]
        means = [np.mean([one["methods"][name][measure] for one in records]) for name in ("auto", "baseline")]
        assert gain["mean"] == pytest.approx(means[0] - means[1])
        assert gain["low"] <= gain["mean"] <= gain["high"]
        assert row["worst"][measure] == max(harm(one)[measure] for one in records)
    best = [
        max(value["map"] for name, value in one["methods"].items() if name not in ("auto", "baseline"))
        for one in records
    ]
    assert row["best_rival"]["map"] == pytest.approx(np.mean(best))
    kept = without_queries(records[0])
    assert {"people", "values"}.isdisjoint(kept)
    assert json.dumps(kept)


def test_harm_is_a_loss_of_either_measure() -> None:
    def record(precision: float, anr: float) -> dict[str, Any]:
        return {
            "methods": {
                "baseline": {"map": 0.5, "mean_anr": 0.1},
                "auto": {"map": precision, "mean_anr": anr},
            }
        }

    assert not is_harmed(record(0.496, 0.104))
    assert is_harmed(record(0.494, 0.05))
    assert is_harmed(record(0.6, 0.106))


def test_stability_and_strict_queries_of_a_shape(photos: Photos) -> None:
    one = next(galleries(photos, "even", (6,) * 10, 0, 1, 1))
    found = stability(one, 2)
    assert (found["refits"], found["said"]) == (2, 2)
    assert 0 <= found["change"] < 0.5
    assert 0 <= found["clear"] < found["flips"] <= found["worst"] <= 1
    assert found["least"] <= found["most"]
    case = one.case()
    asked = strict_of_some(case, 7)
    assert asked["queries"] == 7
    assert asked["strict"]["map"] == pytest.approx(asked["inside"]["map"], abs=0.15)
    changes = few([Pool(case.tables, case.labels)], (10, 30), 3)
    assert {each["draws"] for each in changes.values()} == {3}
    assert all(each["worst"] <= each["mean"] for each in changes.values())


def test_families_are_those_whose_pictures_are_at_hand(tmp_path: Path) -> None:
    assert list(families(tmp_path)) == []
    (tmp_path / "extyaleb_sets.npz").touch()
    assert [one.name for one in families(tmp_path)] == ["Yale, LBP"]


def test_pieces_are_measured_once(tmp_path: Path) -> None:
    kept, counted = Kept(tmp_path), Counter[str]()

    def measure() -> dict[str, Any]:
        counted["times"] += 1
        return {"map": 0.25}

    assert kept.once("one", measure) == Kept(tmp_path).once("one", measure) == {"map": 0.25}
    assert counted["times"] == 1

    def interrupted() -> dict[str, Any]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kept.once("two", interrupted)
    assert kept.once("two", measure) == {"map": 0.25}


# Drawn worlds.


@pytest.fixture(scope="module")
def drawn_worlds() -> dict[str, World]:
    return {name: draw(name, shape, 1.0) for name, shape in shapes().items()}


def sets_a_person(world: World) -> list[int]:
    return sorted(Counter(world.labels[one.id] for one in world.sets).values())


def test_worlds_have_what_they_claim(drawn_worlds: dict[str, World]) -> None:
    for name, least, most in (("1-3", 1, 3), ("5-8", 5, 8), ("12-24", 12, 24), ("50", 50, 50)):
        counts = sets_a_person(drawn_worlds[f"{name} sets a person"])
        assert (counts[0], counts[-1]) == (least, most)
    large = drawn_worlds["one person has 40 %"]
    assert sets_a_person(large)[-1] == 0.4 * len(large.sets)


def test_nobody_is_there_twice(drawn_worlds: dict[str, World]) -> None:
    world = drawn_worlds["nobody twice"]
    assert sets_a_person(world) == [1] * 400
    inside = {world.labels[one.id] for one in world.sets}
    assert len(world.queries) == 100
    assert {world.labels[one.id] for one in world.queries} <= inside


def test_copies_are_copies(drawn_worlds: dict[str, World]) -> None:
    for name, times in (("copies, in pairs", 2), ("copies, eight of a set", 8)):
        world = drawn_worlds[name]
        faces = np.array([one.faces[0] for one in world.sets])
        near = np.abs(faces[:, None] - faces[None]).max(axis=2) < 0.02
        copied = near.sum(axis=1)
        assert set(copied.tolist()) == {1, times}
        for first, second in zip(*np.nonzero(near), strict=True):
            assert world.labels[world.sets[first].id] == world.labels[world.sets[second].id]


def test_two_sources_differ_by_one_offset(drawn_worlds: dict[str, World]) -> None:
    shape = shapes()["two sources mixed"]
    assert set(shape.source.tolist()) == {0, 1}
    plain = draw("", shape._replace(source=np.zeros_like(shape.source)), 1.0)
    moved = [
        with_it.faces - without.faces
        for with_it, without in zip(drawn_worlds["two sources mixed"].sets, plain.sets, strict=True)
    ]
    offset = moved[int(np.flatnonzero(shape.source)[0])][0]
    assert np.linalg.norm(offset) > 1
    for each, source in zip(moved, shape.source.tolist(), strict=True):
        np.testing.assert_allclose(each, np.tile(source * offset, (len(each), 1)), atol=1e-5)


def test_a_world_is_measured(drawn_worlds: dict[str, World]) -> None:
    found = drawn(drawn_worlds["nobody twice"], ("cprr",))
    assert (found["sets"], found["queries"], found["stays"]) == (400, 100, True)
    assert found["methods"]["auto"] == found["methods"]["baseline"]
    assert best_rival(found, "map") == "cprr" in RIVALS


def test_one_part_is_measured_and_the_others_stay(
    tmp_path: Path, kept: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(study_stages.PARTS, "worlds", lambda study: {"worlds": kept["worlds"][:2]})
    study = study_stages.Study(tmp_path, tmp_path, Kept(tmp_path))
    found = study_stages.measured(study, ["worlds"], kept)
    assert found["worlds"] == kept["worlds"][:2]
    assert found["dates"]["worlds"] == found["date"]
    # Of other faces nothing is at hand: what was measured of them is kept.
    (tmp_path / ACTORS).touch()
    monkeypatch.setitem(study_stages.PARTS, "shapes", lambda study: {"shapes": kept["shapes"] | {"draws": 7}})
    found = study_stages.measured(study, list(study_stages.PARTS), kept)
    assert found["shapes"]["draws"] == 7
    for part in ("runs", "strengths", "defaults", "families"):
        assert found[part] == kept[part]
    assert page(found)
