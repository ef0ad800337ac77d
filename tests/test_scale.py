"""Scale: formulae worked by hand, draws that are what they must be, a page that is its record."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import scale_draws as draws
from benchmarks import scale_model as model
from benchmarks import scale_sim as sim
from benchmarks.scale_draws import Tail
from benchmarks.scale_model import Costs, Node, Wire
from benchmarks.scale_page import page
from benchmarks.scale_words import amount, count, duration
from benchmarks.study_scale import plain
from lookalike.engines.contract import weight
from lookalike.engines.local import Local
from lookalike.indexing.slices import Slice, SpreadSets
from lookalike.method import kin, proxies, tables
from lookalike.method.neighbours import lists_bytes, pairs_bytes
from lookalike.method.shortlist import Sizes
from lookalike.rerankers import _kinship
from lookalike.similarities.contract import PreparedSets
from lookalike.similarities.max_max import MaxMax

ROOT = Path(__file__).parents[1]
# Round numbers, so that results can be worked by hand.
COST = Costs(
    faces=2,
    dimension=3,
    set_bytes=100.0,
    gallery_bytes=50.0,
    id_bytes=10.0,
    prepare=1e-4,
    multiply_rate=2e10,
    near_rate=1e10,
    finish=1e-6,
    row=1e-6,
    some_row=2e-6,
    place_row=1e-8,
    fetch=1e-5,
    list_merge=1e-5,
    pair_merge=1e-7,
    feature=1e-7,
    agreement=1e-8,
    pool=1e-6,
    code_bytes=2.0,
    look_fixed=1e-3,
    look_face=1e-8,
    look_batch=1e-9,
)
NODE = Node(cores=2, efficiency=0.5, memory=1000.0, usable=0.5, network=1e9, memory_rate=1e9)
WIRE = Wire(1e-3, 1e9, 5.0, False)


# Formulae.


def test_operations_of_four_sets_of_two_faces_of_three_numbers() -> None:
    # 6 pairs of sets, 4 pairs of faces each, 3 products and 3 sums each.
    assert model.pairs(4) == 6
    assert model.flop(4, 2, 3) == 6 * 4 * 6


def test_bytes_of_lists_are_those_of_the_library() -> None:
    # 64 numbers and scores, two modes of 11 of them, 8 bytes each.
    assert model.list_bytes(1) == 64 * 16 + 11 * 16 == 1200
    assert model.list_bytes(500) == lists_bytes(MaxMax(), 500, model.NEIGHBOURS)
    assert model.asking_bytes(2, 10.0) == 2 * (10 + 1200)
    assert model.indexing_bytes(2, 10.0) == 2 * (10 + 2 * 1200 + 32 * 40)
    both = (
        model.indexing_bytes(500, 0.0),
        2 * lists_bytes(MaxMax(), 500, model.NEIGHBOURS) + pairs_bytes(MaxMax(), 500),
    )
    assert both[0] == both[1]


def test_numbers_of_the_design_are_those_of_the_library() -> None:
    assert (model.RUN_ROWS, model.WITH_MODES) == (tables.BLOCK_ROWS, proxies.WITH_MODES)
    sizes = Sizes()
    assert (sizes.guessed, sizes.kept) == (sim.GUESSED, sim.KEPT)
    assert sizes.trusted * sizes.friends == sim.JOINED
    # The nearest, the cohort, and one who stands by.
    assert (kin.MOST, 1 + _kinship.COHORT + 1) == (model.KIN, model.COHORT)
    text = (ROOT / "lookalike" / "indexing" / "build.py").read_text(encoding="utf-8")
    assert f"COUNT = {model.NEIGHBOURS}\n" in text


def test_bytes_of_a_row_are_those_that_travel() -> None:
    rng = np.random.default_rng(0)
    part = MaxMax()
    sets = PreparedSets.join(part.prepare(rng.standard_normal((2, 5))) for _ in range(6))
    places = [np.array([0, 2, 5]), np.array([1, 3, 4])]
    given = [(part, PreparedSets.join(sets[int(one)] for one in own)) for own in places]
    residents = Local().hold(Slice, given)
    held = SpreadSets(residents, places, sets, part)
    held.compare(sets[:1])
    asked = 2 * weight((sets[:1],))
    assert residents.traffic.bytes - asked == 6 * model.ROW_BYTES
    before = residents.traffic.bytes
    held.agreements(np.arange(6), np.zeros(6, dtype=np.int64), np.ones(6, dtype=np.int64))
    assert residents.traffic.bytes - before == 6 * model.AGREEMENT_BYTES
    assert model.proxies_bytes(1) == 2 * 10 * 32


def test_what_auto_needs_by_hand() -> None:
    # Two targets and 5 kin of each are weighed: 12 sets, each with 32 neighbours.
    assert model.needed(2) == (12, 12 * 33)


def test_nodes_are_those_whose_memory_has_room() -> None:
    # 500 usable bytes have room for 5 sets of 100.
    assert [model.nodes_for(n, COST, NODE) for n in (1, 5, 6, 10, 11)] == [1, 1, 2, 2, 3]


def test_a_run_by_hand() -> None:
    r = np.array([1.0, 3.0])
    assert model.run_sets(10) == 204
    assert model.run_sets(5000) == 1
    assert model.later(1000.0, 100, r).tolist() == [900, 700]
    # Nothing seen: 64 of 100 enter each list. 6,400 seen: 100 x 64 / 6,400 = 1.
    assert model.entries(100, np.array([0.0, 6400.0, 64_000.0])).tolist() == [64, 1, 0.1]
    s = model.run_sets(COST.faces)
    assert s == 1024
    # Run 3 has later sets n - 3 s; floors are those after run 1: 1,024 seen, 64 enter each list.
    n = 4 * s
    pairs = s * 64 * (2 - 64 / s)
    assert model.offered(n, s, np.array([3.0])).tolist() == [pairs]
    products = 2 * 2048 * 2048 * 3
    assert model.slice_seconds(n, COST, np.array([3.0])) == pytest.approx(products / 1e10 + pairs * 1e-6)
    # All later lists change, and those of the run.
    assert model.merge_seconds(n, COST, np.array([3.0])) == pytest.approx(2 * s * 1e-5 + pairs * 1e-7)
    assert model.own_seconds(n, COST, np.array([3.0])) == pytest.approx(products / 1e10)
    assert model.sent_bytes(n, COST, np.array([3.0]), 5).tolist() == [5 * s * 108 + s * 8]
    assert model.answer_bytes(n, COST, np.array([3.0])).tolist() == [40 * pairs]


def test_a_query_by_hand() -> None:
    # 2 cores at a half are one thread; 10 sets a slice, 24 bytes a set to read.
    assert model.row_seconds(20, COST, NODE, 2) == pytest.approx(10 * 1e-6)
    assert model.row_seconds(20, replace(COST, row=1e-9), NODE, 2) == pytest.approx(10 * 24 / 1e9)
    assert model.row_at_coordinator(100, COST, NODE) == pytest.approx(100 * (24e-9 + 1e-8))
    slice, coordinator = model.proxies_seconds(100, COST, NODE, 2)
    assert slice == pytest.approx(100 * 20 * 1e-8 / 2)
    assert coordinator == pytest.approx(100 * 640e-9 + 1000 * 1e-7 + 1000 / 4.5e6)
    assert model.look_seconds(20, COST, NODE, 2) == pytest.approx(1e-3 + 10 * 2 * 1e-8)
    assert model.guess_bytes(3) == 3 * (8 + 4 + 8)
    assert model.chosen_bytes(3) == 3 * 11 * (8 + 24)


def test_an_index_by_shortlists_by_hand() -> None:
    guessing, merging = model.shortlist_index_seconds(100, COST, NODE, 2)
    # Each set: 1 ms, and 2 faces among 50 sets of 2 faces, at a nanosecond.
    assert guessing == pytest.approx(100 * (1e-3 + 2 * 50 * 2 * 1e-9))
    assert merging == pytest.approx(100 * 2 * 64 * 40 / 1e9 + 100 * 1e-5 + 12_800 * 1e-7)


def test_sums_over_some_runs_are_those_over_all() -> None:
    for runs in (1, 7, draws.HEAD, draws.HEAD + 1, 3 * draws.HEAD + 17):
        r, each = draws.some_runs(runs)
        assert each.sum() == pytest.approx(runs)
        every = np.arange(1.0, runs + 1)
        assert r @ each == pytest.approx(every.sum())
        assert (1 / r) @ each == pytest.approx((1 / every).sum(), rel=1e-4)


# Draws.


class Exponential(Tail):
    """Service times whose maximum has a closed form."""

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> draws.Doubles:
        return rng.exponential(1.0, shape)


@pytest.mark.parametrize("percent", [50, 99])
def test_the_slowest_of_exponential_slices(percent: int) -> None:
    found = draws.slowest(Exponential(), [1, 4, 32], 40_000, 0)
    for slices, drawn in found.items():
        # (1 - exp(-x))^N = p
        exact = -math.log(1 - (percent / 100) ** (1 / slices))
        assert np.percentile(drawn, percent) == pytest.approx(exact, rel=0.05)


def test_the_log_normal_has_median_one_and_its_tail_is_as_often_as_said() -> None:
    rng = np.random.default_rng(0)
    assert np.median(Tail(share=0.0).draw(rng, (50_000,))) == pytest.approx(1.0, abs=0.01)
    # Without spread, what is not 1 is slow, and at least twice as long.
    drawn = Tail(sigma=0.0, share=0.05).draw(rng, (50_000,))
    assert (drawn > 1).mean() == pytest.approx(0.05, abs=0.004)
    assert drawn[drawn > 1].min() >= 2


def test_more_slices_are_never_quicker_and_a_seed_tells_all() -> None:
    counts = [1, 2, 8, 64]
    found = draws.slowest(Tail(), counts, 3000, 7)
    for fewer, more in pairwise(counts):
        assert (found[more] >= found[fewer]).all()
        assert np.percentile(found[more], 99) >= np.percentile(found[fewer], 99)
    again, other = (draws.slowest(Tail(), counts, 3000, seed) for seed in (7, 8))
    assert all((found[one] == again[one]).all() for one in counts)
    assert (found[8] != other[8]).any()


def test_failures_never_make_work_quicker() -> None:
    plain_work, failing, worse = (
        draws.with_failures(1000.0, 10.0, 50.0, 20, between, 4000, 3) for between in (np.inf, 1e5, 1e4)
    )
    assert (plain_work == 1000.0).all()
    assert (failing >= 1000.0).all()
    assert worse.mean() > failing.mean() > 1000.0
    # Each failure costs 50 s and half a run; a fifth of one comes in 1,000 s, and some meanwhile.
    assert failing.mean() == pytest.approx(1000 / (1 - 20 * 55 / 1e5), rel=0.005)
    # 100 nodes that fail every second and are away for a minute are never all there.
    assert np.isinf(draws.with_failures(1000.0, 1.0, 60.0, 100, 1.0, 10, 3)).all()


def test_a_query_waits_for_its_rounds_and_for_slices_that_are_away() -> None:
    ones = np.ones(20_000)
    quiet = draws.query_seconds([0.2, 0.1], [0.05, 0.01], [ones, 2 * ones], 0.001, 4)
    assert quiet == pytest.approx(0.2 + 0.2 + 0.06 + 0.002)
    failing = draws.query_seconds([0.2, 0.1], [0.05, 0.01], [ones, 2 * ones], 0.001, 4, 60.0, 6000.0)
    assert (failing >= quiet).all()
    # 4 nodes, each away for a minute of a hundred.
    assert (failing > quiet).mean() == pytest.approx(1 - math.exp(-0.04), abs=0.005)
    assert failing.max() <= quiet.max() + 60


def test_an_index_is_the_longer_of_slices_and_coordinator_and_what_lies_between() -> None:
    s = model.run_sets(COST.faces)
    one = draws.index_seconds(s, COST, NODE, 1, np.ones(1))
    # A single run meets only itself, and goes to nobody but as a message.
    own = 2 * 2048 * 2048 * 3 / 1e10
    between = 2 * NODE.trip + s * (100 / 1e9 + 1e-5) + s * 108 / 1e9
    assert one["seconds"] == pytest.approx(own + s * 1e-5 + between)
    few, many = (draws.index_seconds(100 * s, COST, NODE, nodes, np.ones(1)) for nodes in (1, 10))
    assert many["slices"] == pytest.approx(few["slices"] / 10)
    assert many["coordinator"] == few["coordinator"]
    assert many["seconds"] >= max(many["coordinator"], many["slices"]) + many["between"] - 1e-9
    slower = draws.index_seconds(100 * s, COST, NODE, 1, np.array([1.0, 3.0]))
    assert slower["seconds"] >= few["seconds"]


# Simulation.


def test_a_simulation_is_told_by_its_seed_and_larger_collections_take_more() -> None:
    node = Node()
    first, again, other = (sim.simulate(COST, WIRE, node, Tail(), 300, seed) for seed in (1, 1, 2))
    assert first == again
    assert first["stragglers"] != other["stragglers"]
    for key in ("seconds", "coordinator", "with_failures_month"):
        values = [one[key] for one in first["indexes"]]
        assert values == sorted(values)
    for one in first["indexes"]:
        assert one["seconds"] >= one["without_stragglers"] * 0.9
        assert one["with_failures_month"] >= one["seconds"] * (1 - 1e-12)
    for way in ("baseline", "auto", "learnt", "auto_shortlist", "shortlist"):
        assert all(one[way]["p50"] <= one[way]["p99"] <= one[way]["p99_failing"] for one in first["queries"])


def test_changes_are_where_their_formulae_reach_their_limits() -> None:
    found = {one["what"]: one["sets"] for one in sim.changes(COST, Node())}
    assert list(found.values()) == sorted(found.values())
    # 64 GB x 0.7 / (10 + 2 x 1,200 + 32 x 40)
    assert found["memory of the coordinator, indexing"] == pytest.approx(64e9 * 0.7 / 3690)
    assert found["memory of the coordinator, asking"] == pytest.approx(64e9 * 0.7 / 1210)
    assert found["bytes of an exact row"] == pytest.approx(1.25e9 / 24)
    assert found["bytes of the agreements of `learnt`, exact"] == pytest.approx(1.25e9 / 640)
    assert found["writing unfinished lists"] == pytest.approx(60 * 1e9 / 1200)
    assert found["weighing and pooling all sets, `auto`, exact"] == pytest.approx(1e6)
    assert sim.slices_within(Node()) == int(0.1 * 1.25e9 / (3072 * 20)) == 2034


def test_a_crossing_is_found() -> None:
    assert sim.crossing(lambda n: n * n, 1e6) == pytest.approx(1000)


# The page.


def test_words() -> None:
    assert [amount(one) for one in (12.0, 6024.0, 64e9, None)] == ["12 B", "6 kB", "64 GB", "not measured"]
    assert [duration(one) for one in (3e-9, 0.0124, 1.0, 90.0, 7200.0, 3e5, 1e9)] == [
        *("3 ns", "12.4 ms", "1 s", "90 s", "2 h", "3.5 days", "31.7 years")
    ]
    assert [count(one) for one in (1e5, 1e6, 2.5e9)] == ["100,000", "1 million", "2.5 billion"]
    assert plain({"a": [math.inf, 1.0, {"b": math.nan}], "c": "d"}) == {
        "a": [None, 1.0, {"b": None}],
        "c": "d",
    }


@pytest.fixture(scope="module")
def kept() -> dict[str, Any]:
    return json.loads((ROOT / "docs" / "lab" / "scale.json").read_text(encoding="utf-8"))


def test_no_number_of_the_page_is_typed_by_hand(kept: dict[str, Any]) -> None:
    assert not kept["toy"]
    assert (ROOT / "docs" / "lab" / "scale.md").read_text(encoding="utf-8") == page(kept)


def test_what_was_simulated_follows_from_what_was_measured(kept: dict[str, Any]) -> None:
    again = sim.simulate(
        Costs(**kept["costs"][0]),
        Wire(**kept["wire"]),
        Node(**kept["node"]),
        Tail(**kept["tail"]),
        kept["samples"],
        kept["seed"],
    )
    told = kept["simulated"]
    assert again["sizes"] == told["sizes"]
    for ours, theirs in zip(again["indexes"], told["indexes"], strict=True):
        assert ours == pytest.approx(theirs, rel=1e-6)
    for ours, theirs in zip(again["changes"], told["changes"], strict=True):
        assert ours["what"] == theirs["what"]
        assert ours["sets"] == pytest.approx(theirs["sets"], rel=1e-6)


def test_the_command_writes_the_page(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.study_scale", "--toy", "--seed", "5", "--out", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{len(sim.SIZES)} sizes in {tmp_path / 'scale.md'}\n"
    found = json.loads((tmp_path / "scale.json").read_text(encoding="utf-8"))
    text = (tmp_path / "scale.md").read_text(encoding="utf-8")
    assert text == page(found)
    assert (found["seed"], found["toy"], found["wire"]["is_measured"]) == (5, True, False)
    assert "A toy says nothing" in text
    assert [one["engine"] for one in found["checks"]] == ["local", "local"]
    assert all(one["predicted"] > 0 and one["measured"] > 0 for one in found["checks"])
    # Faces, agreements, which were chosen, and three starts, of which there is one more than sets.
    assert found["costs"][0]["set_bytes"] == pytest.approx(5120 + 800 + 80 + 24, abs=0.1)
    assert not (tmp_path / "figures").exists()
