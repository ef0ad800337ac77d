"""The contract of a set similarity, run on every part that is found."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from lookalike import registry
from lookalike.errors import BadInput, NotFound
from lookalike.similarities._exemplars import ExemplarSimilarity
from lookalike.similarities._subspaces import SubspaceSimilarity
from lookalike.similarities.contract import Examples, Match, Prepared, PreparedSets, SetSimilarity
from lookalike.similarities.max_max import MaxMax
from tests.method.samples import random_sets

NAMES = [*registry.names("similarities"), "max_max:half=true", "manifold:half=true"]
SIZES = (1, 2, 3, 5, 8, 14, 7, 6)  # 14 is more than a set of exemplars keeps


def faces_of(number: int, count: int | None = None, dimension: int = 12) -> np.ndarray:
    """A set that varies along one factor, with some noise."""
    rng = np.random.default_rng(1000 + number)
    count = SIZES[number % len(SIZES)] if count is None else count
    centre, turn, angle = rng.normal(size=dimension) + 0.7, rng.normal(size=dimension), rng.random((count, 1))
    return centre + angle * turn + 0.2 * rng.normal(size=(count, dimension))


@pytest.fixture(params=NAMES)
def part(request: pytest.FixtureRequest) -> SetSimilarity:
    return registry.build("similarities", request.param)


@pytest.fixture
def prepared(part: SetSimilarity) -> list[Prepared]:
    return [part.prepare(faces_of(number)) for number in range(len(SIZES))]


def same_prepared(a: Prepared, b: Prepared) -> None:
    assert set(a) == set(b)
    for name in a:
        assert a[name].dtype == b[name].dtype
        np.testing.assert_array_equal(a[name], b[name])


def check_mode(part: SetSimilarity, mode: np.ndarray) -> None:
    assert np.shape(mode) == part.mode_shape
    assert np.asarray(mode).dtype == part.mode_type


def test_the_paper_s_baselines_are_there() -> None:
    assert {"max_max", "max_correlation", "dffs", "manifold"} <= set(NAMES)


def test_scores_are_finite_and_at_most_one(part: SetSimilarity, prepared: list[Prepared]) -> None:
    for a in prepared:
        for b in prepared:
            match = part.match(a, b)
            assert isinstance(match.score, float)
            assert -1.0 <= match.score <= 1.0
            check_mode(part, match.mode_a)
            check_mode(part, match.mode_b)


def test_prepared_arrays_are_plain(part: SetSimilarity, prepared: list[Prepared]) -> None:
    for one in prepared:
        for array in one.values():
            assert isinstance(array, np.ndarray)
            assert array.ndim >= 1
            assert array.dtype.kind in "fiu"
            assert np.isfinite(array).all()


def test_deterministic(part: SetSimilarity, prepared: list[Prepared]) -> None:
    for number, one in enumerate(prepared):
        same_prepared(part.prepare(faces_of(number)), one)
    for a, b in pairwise(prepared):
        once, again = part.match(a, b), part.match(a, b)
        assert once.score == again.score
        np.testing.assert_array_equal(once.mode_a, again.mode_a)
        np.testing.assert_array_equal(once.mode_b, again.mode_b)


@pytest.mark.parametrize("seed", range(3))
def test_blind_to_the_order_of_faces(part: SetSimilarity, prepared: list[Prepared], seed: int) -> None:
    rng = np.random.default_rng(seed)
    for number, one in enumerate(prepared):
        faces = faces_of(number)
        order = rng.permutation(len(faces))
        shuffled = part.prepare(faces[order])
        for other in prepared:
            here, there = part.match(one, other), part.match(shuffled, other)
            assert there.score == pytest.approx(here.score, abs=1e-6)
            if other is not one:  # against itself every mode may do
                assert order[part.exemplar(shuffled, there.mode_a)] == part.exemplar(one, here.mode_a)


def test_blind_to_the_length_of_faces(part: SetSimilarity, prepared: list[Prepared]) -> None:
    longer = part.prepare(1000 * faces_of(3))
    for other in prepared:
        assert part.match(longer, other).score == pytest.approx(
            part.match(prepared[3], other).score, abs=1e-6
        )


def test_symmetric(part: SetSimilarity, prepared: list[Prepared]) -> None:
    for i, a in enumerate(prepared):
        for b in prepared[:i]:
            forth, back = part.match(a, b), part.match(b, a)
            assert forth.score == pytest.approx(back.score, abs=1e-12)
            assert part.agreement(a, forth.mode_a, back.mode_b) == pytest.approx(1.0, abs=1e-9)
            assert part.agreement(b, forth.mode_b, back.mode_a) == pytest.approx(1.0, abs=1e-9)


def test_batch_equals_single(part: SetSimilarity, prepared: list[Prepared]) -> None:
    a, b = PreparedSets.join(prepared[:5]), PreparedSets.join(prepared[2:])
    many = part.match_many(a, b)
    assert many.scores.shape == (5, len(prepared) - 2)
    assert many.modes_a.shape == many.modes_b.shape == many.scores.shape + part.mode_shape
    assert many.modes_a.dtype == many.modes_b.dtype == part.mode_type
    slow = SetSimilarity.match_many(part, a, b)  # the loop that parts may override
    for fast, plain in zip(many, slow, strict=True):
        np.testing.assert_array_equal(fast, plain)
    for block in (slice(0, 1), slice(1, 4), slice(3, 5)):
        for fast, plain in zip(part.match_many(a[block], b), slow, strict=True):
            np.testing.assert_array_equal(fast, plain[block])


def test_no_sets_is_a_batch_too(part: SetSimilarity, prepared: list[Prepared]) -> None:
    sets = PreparedSets.join(prepared)
    many = part.match_many(sets[0:2], sets[0:0])
    assert many.scores.shape == (2, 0)
    assert many.modes_a.shape == many.modes_b.shape == (2, 0, *part.mode_shape)


def test_prepared_arrays_survive_the_store(part: SetSimilarity, prepared: list[Prepared]) -> None:
    sets = PreparedSets.join(prepared)
    assert len(sets) == len(prepared)
    assert len(part.sizes(sets)) == len(prepared)
    for stored, one in zip(sets, prepared, strict=True):
        same_prepared(stored, one)
    same_prepared(sets[np.int64(4)], prepared[4])
    for stored, one in zip(sets[2:6], prepared[2:6], strict=True):
        same_prepared(stored, one)
    for stored, one in zip(sets[1:7:2], prepared[1:7:2], strict=True):
        same_prepared(stored, one)
    for stored, place in zip(sets[np.array([6, 0, 0, 3])], (6, 0, 0, 3), strict=True):
        same_prepared(stored, prepared[place])
    for stored, one in zip(sets[3:][1:3], prepared[4:6], strict=True):  # a slice of a slice
        same_prepared(stored, one)
    assert len(sets[0:0]) == len(sets[5:2]) == len(sets[np.array([], dtype=int)]) == 0
    with pytest.raises(IndexError):
        sets[len(prepared)]


def test_inputs_are_untouched(part: SetSimilarity) -> None:
    faces = faces_of(5)
    faces.setflags(write=False)
    one, other = part.prepare(faces), part.prepare(faces_of(2))
    for array in (*one.values(), *other.values()):
        array.setflags(write=False)  # tables are read from a file that may not be written to
    match = part.match(one, other)
    part.agreement(one, match.mode_a, match.mode_a)
    part.exemplar(one, match.mode_a)
    part.examples(one, other)


def test_agreement(part: SetSimilarity, prepared: list[Prepared]) -> None:
    sets = PreparedSets.join(prepared)
    many = part.match_many(sets, sets)
    which, modes, others, single = [], [], [], []
    for i, one in enumerate(prepared):
        for j in range(len(prepared)):
            assert part.agreement(one, many.modes_a[i, j], many.modes_a[i, j]) == pytest.approx(1.0, abs=1e-9)
            for k in range(len(prepared)):
                which.append(i)
                modes.append(many.modes_a[i, j])
                others.append(many.modes_a[i, k])
                single.append(part.agreement(one, modes[-1], others[-1]))
                assert isinstance(single[-1], float)
                assert -1.0 <= single[-1] <= 1.0
    batch = part.agreement_many(sets, np.array(which), np.array(modes), np.array(others))
    np.testing.assert_array_equal(batch, single)
    nothing = np.empty((0, *part.mode_shape), dtype=part.mode_type)
    assert part.agreement_many(sets, np.empty(0, dtype=np.int64), nothing, nothing).shape == (0,)


def test_exemplar_is_a_face_of_the_set(part: SetSimilarity, prepared: list[Prepared]) -> None:
    for i, a in enumerate(prepared):
        for b in prepared:
            face = part.exemplar(a, part.match(a, b).mode_a)
            assert isinstance(face, int)
            assert 0 <= face < SIZES[i]


def test_a_set_is_like_itself(part: SetSimilarity, prepared: list[Prepared]) -> None:
    for one in prepared:
        assert part.match(one, one).score == pytest.approx(1.0, abs=1e-6)
    assert part.match(prepared[2], prepared[4]).score < 0.999


def test_one_face_works_or_is_refused_in_words(part: SetSimilarity, prepared: list[Prepared]) -> None:
    try:
        one = part.prepare(faces_of(0, count=1))
    except BadInput as refusal:
        pytest.skip(f"refused in words: {refusal}")
    for other in (one, *prepared):
        match = part.match(one, other)
        assert np.isfinite(match.score)
        assert part.exemplar(one, match.mode_a) == 0
        assert part.agreement(one, match.mode_a, match.mode_a) == pytest.approx(1.0, abs=1e-9)


def test_repeated_faces_work(part: SetSimilarity, prepared: list[Prepared]) -> None:
    face = faces_of(4)[:1]
    for count in (2, 12, 40):
        repeated = part.prepare(np.repeat(face, count, axis=0))
        single = part.prepare(face)
        for other in prepared:
            assert part.match(repeated, other).score == pytest.approx(
                part.match(single, other).score, abs=1e-6
            )
        for rows in part.examples(repeated, prepared[3]):
            assert np.isfinite(rows).all()


def test_examples(part: SetSimilarity, prepared: list[Prepared]) -> None:
    for reference in prepared:
        for proxy in prepared:
            drawn, again = part.examples(reference, proxy), part.examples(reference, proxy)
            for rows, same, own in zip(drawn, again, (reference, proxy), strict=True):
                assert rows.ndim == 2
                assert rows.shape[1] == 5
                assert rows.dtype == np.float64
                assert np.isfinite(rows).all()
                assert np.abs(rows).max(initial=0.0) <= 1.0
                np.testing.assert_array_equal(rows, same)
                if isinstance(part, ExemplarSimilarity):
                    assert len(rows) == len(own["faces"]) * (len(own["faces"]) - 1)
                if isinstance(part, SubspaceSimilarity):
                    assert len(rows) == len(own["faces"])
                # s3 compares the two sets, whichever plays the query.
                np.testing.assert_array_equal(rows[:, 2], part.match(reference, proxy).score)


@pytest.mark.parametrize(
    "wrong",
    [
        np.empty((0, 4)),
        np.ones(4),
        np.array([[1.0, np.nan]]),
        np.array([[1.0, 2.0], [0.0, 0.0]]),
        np.array([["a", "b"]]),
    ],
)
def test_what_is_no_set_of_faces_is_refused(part: SetSimilarity, wrong: np.ndarray) -> None:
    with pytest.raises(BadInput, match="set"):
        part.prepare(wrong)


@pytest.mark.parametrize("name", registry.names("similarities"))
def test_unknown_option_is_refused(name: str) -> None:
    with pytest.raises(BadInput, match=f"'{name}' has no option 'colour=3': its options are "):
        registry.build("similarities", f"{name}:colour=3")


class FirstFace(SetSimilarity):
    """Compares only the first faces: as little as the contract allows."""

    def prepare(self, faces: np.ndarray) -> Prepared:
        return {"first": faces[:1] / np.linalg.norm(faces[0])}

    def match(self, a: Prepared, b: Prepared) -> Match:
        return Match(float(np.vdot(a["first"], b["first"])), np.int64(0), np.int64(0))

    def agreement(self, a: Prepared, mode: np.ndarray, other: np.ndarray) -> float:
        return 1.0

    def exemplar(self, a: Prepared, mode: np.ndarray) -> int:
        return 0

    def examples(self, reference: Prepared, proxy: Prepared) -> Examples:
        return Examples(np.empty((0, 5)), np.empty((0, 5)))


def test_an_object_that_keeps_the_contract_is_welcome() -> None:
    own = FirstFace()
    assert registry.build("similarities", own) is own
    sets = PreparedSets.join(
        [own.prepare(np.array(faces)) for faces in ([[1.0, 0.0]], [[3.0, 4.0], [0.0, 1.0]])]
    )
    np.testing.assert_allclose(own.match_many(sets, sets).scores, [[1.0, 0.6], [0.6, 1.0]])
    assert own.match_many(sets, sets).modes_a.shape == (2, 2)
    assert own.agreement_many(sets, np.array([0, 1]), np.zeros(2), np.zeros(2)).tolist() == [1.0, 1.0]
    assert own.sizes(sets).tolist() == [1, 1]


def test_an_object_that_does_not_is_refused() -> None:
    with pytest.raises(
        BadInput, match="a similarity is a name or a SetSimilarity, got float: choose one of dffs"
    ):
        registry.build("similarities", 3.0)
    with pytest.raises(TypeError, match="abstract"):
        SetSimilarity()


OUTSIDE = '''
from lookalike.similarities.max_max import MaxMax
from threadpoolctl import threadpool_limits
from tests.method.samples import random_sets


class FromAfar(MaxMax):
    """A part of another package."""

    def __init__(self, samples: int = 4) -> None:
        super().__init__(samples)


class NoPart:
    """Something else."""
'''


def test_another_package_is_found_by_its_entry_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "afar_for_test.py").write_text(OUTSIDE)
    (tmp_path / "afar_for_test-1.0.dist-info").mkdir()
    (tmp_path / "afar_for_test-1.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: afar-for-test\nVersion: 1.0\n"
    )
    (tmp_path / "afar_for_test-1.0.dist-info" / "entry_points.txt").write_text(
        "[lookalike.similarities]\n"
        "from_afar = afar_for_test:FromAfar\n"
        "no_part = afar_for_test:NoPart\n"
        "broken = afar_that_is_not_there:Part\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert {"from_afar", "max_max"} <= set(registry.names("similarities"))
    part = registry.build("similarities", "from_afar:samples=3")
    assert type(part).__name__ == "FromAfar"
    assert len(part.prepare(faces_of(5))["faces"]) == 3
    with pytest.raises(
        BadInput, match="'from_afar' has no option 'preimage=nearest': its options are samples="
    ):
        registry.build("similarities", "from_afar:preimage=nearest")
    with pytest.raises(
        NotFound, match=r"afar_for_test:NoPart is offered as similarity 'no_part' but does not keep"
    ):
        registry.build("similarities", "no_part")
    with pytest.raises(NotFound, match="'broken' of another package cannot be loaded: No module named"):
        registry.build("similarities", "broken")


@pytest.mark.parametrize("name", NAMES)
def test_linear_algebra_threads_do_not_show_in_prepared_sets(name: str) -> None:
    part = registry.build("similarities", name)
    faces = np.random.default_rng(0).normal(size=(300, 800))
    with threadpool_limits(1, "blas"):
        one = part.prepare(faces)
    with threadpool_limits(2, "blas"):
        two = part.prepare(faces)
    for key in one:
        np.testing.assert_array_equal(one[key], two[key])


def test_sets_joined_bit_by_bit_are_those_joined_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    prepared = [MaxMax().prepare(faces) for faces in random_sets(11)]
    expected = PreparedSets.join(prepared)
    monkeypatch.setattr("lookalike.similarities.contract.TOGETHER", 2)
    found = PreparedSets.join(iter(prepared))
    same_prepared(found.arrays, expected.arrays)
    same_prepared(found.starts, expected.starts)
    # A number that needs more bits than those before it keeps them.
    wider = [{"faces": np.array([[1]], dtype=np.int8)}] * 18 + [{"faces": np.array([[0.5]])}]
    assert PreparedSets.join(wider).arrays["faces"].tolist() == [[1]] * 18 + [[0.5]]
    assert len(PreparedSets.join(iter([]))) == 0


def test_prepared_sets_count_from_the_end() -> None:
    sets = PreparedSets.join([MaxMax().prepare(faces) for faces in random_sets(3)])
    np.testing.assert_array_equal(sets[-1]["faces"], sets[2]["faces"])
    np.testing.assert_array_equal(sets[-3]["faces"], sets[0]["faces"])


def test_chosen_sets_are_those_joined_one_by_one(part: SetSimilarity, prepared: list[Prepared]) -> None:
    sets = PreparedSets.join(prepared)
    for chosen in ([3, 0, 3, -1, 6], [2], np.array([5, 4], dtype=np.int32)):
        found, expected = sets[chosen], PreparedSets.join([sets[int(i)] for i in chosen])
        same_prepared(found.arrays, expected.arrays)
        same_prepared(found.starts, expected.starts)
    assert len(sets[np.array([], dtype=np.int64)]) == 0
    for outside in (len(sets), -len(sets) - 1):
        with pytest.raises(IndexError, match=f"there is no set {outside} among {len(sets)}"):
            sets[np.array([0, outside])]


def test_prepared_sets_take_a_mask() -> None:
    sets = PreparedSets.join([MaxMax().prepare(faces) for faces in random_sets(3)])
    assert len(sets[np.array([True, False, True])]) == 2


@pytest.mark.parametrize("name", NAMES)
def test_symmetric_to_the_last_bit(name: str) -> None:
    part = registry.build("similarities", name)
    prepared = [part.prepare(faces) for faces in random_sets(12, seed=1, largest=12)]
    for i, a in enumerate(prepared):
        for b in prepared[:i]:
            forth, back = part.match(a, b), part.match(b, a)
            assert forth.score == back.score
            assert part.agreement(a, forth.mode_a, back.mode_b) == pytest.approx(1.0, abs=1e-9)
            assert part.agreement(b, forth.mode_b, back.mode_a) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("count", [1, 3, 50])
@pytest.mark.parametrize("floor", [-np.inf, 0.7])
@pytest.mark.parametrize("upper", [False, True])
def test_near_matches_are_those_of_all_pairs(
    part: SetSimilarity, count: int, floor: float, upper: bool
) -> None:
    """Nothing near is left out, and what is returned has the bits of the whole comparison."""
    rng = np.random.default_rng(3)
    centres = rng.normal(size=(5, 12)) + 1.0
    sets = [centres[i % 5] + 0.4 * rng.normal(size=(rng.integers(2, 6), 12)) for i in range(24)]
    sets[7] = sets[2]  # a tie
    prepared = PreparedSets.join([part.prepare(faces) for faces in sets])
    a, b = (prepared, prepared) if upper else (prepared[:10], prepared[10:])
    floors_a, floors_b = np.full(len(a), floor), np.full(len(b), floor)
    near = part.match_near(a, b, floors_a, floors_b, count, upper)
    whole = part.match_many(a, b)
    np.testing.assert_array_equal(near.scores, whole.scores[near.sets_a, near.sets_b])
    np.testing.assert_array_equal(near.modes_a, whole.modes_a[near.sets_a, near.sets_b])
    np.testing.assert_array_equal(near.modes_b, whole.modes_b[near.sets_a, near.sets_b])
    returned = set(zip(near.sets_a.tolist(), near.sets_b.tolist(), strict=True))
    assert len(returned) == len(near.scores)
    scores = (
        np.where(np.triu(np.ones(whole.scores.shape), 1) > 0, whole.scores, -np.inf)
        if upper
        else whole.scores
    )
    assert not upper or all(i < j for i, j in returned)
    both = np.maximum(scores, scores.T) if upper else scores
    for i, j in np.ndindex(scores.shape):
        if scores[i, j] < floor or scores[i, j] == -np.inf:
            continue
        in_row = (both[i] > scores[i, j]).sum() < count
        in_column = ((both[j] if upper else scores[:, j]) > scores[i, j]).sum() < count
        assert not (in_row or in_column) or (i, j) in returned
