"""Maximum maximorum on faces at right angles and 3-4-5 triangles."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.demo.vectors import vector_world
from lookalike.errors import BadInput
from lookalike.similarities.contract import PreparedSets
from lookalike.similarities.max_max import MaxMax

# r = {(1,0), (0.6,0.8)}, p = {(0.8,-0.6), (0,1)}
R = np.array([[1.0, 0.0], [0.6, 0.8]])
P = np.array([[0.8, -0.6], [0.0, 1.0]])


def test_worked_by_hand() -> None:
    # r0.p0 = 0.8, r0.p1 = 0, r1.p0 = 0.48 - 0.48 = 0, r1.p1 = 0.8: a tie, which goes to faces 0 and 0.
    part = MaxMax()
    r, p = part.prepare(R), part.prepare(P)
    score, mode_r, mode_p = part.match(r, p)
    assert score == pytest.approx(0.8, abs=1e-7)
    assert (int(mode_r), int(mode_p)) == (0, 0)
    assert part.agreement(r, np.int64(0), np.int64(1)) == pytest.approx(0.6, abs=1e-7)
    assert part.agreement(p, np.int64(0), np.int64(1)) == pytest.approx(-0.6, abs=1e-7)
    assert part.agreement(p, np.int64(1), np.int64(1)) == 1.0


def test_examples_by_hand() -> None:
    part = MaxMax()
    positives, negatives = part.examples(part.prepare(R), part.prepare(P))
    # s3 = 0.8, tp = r0, pt = p0; r0 is closest to p0 and r1 to p1, both by 0.8.
    np.testing.assert_allclose(
        positives,
        [
            # query r0, target's mode r1: s1 = 0.8 at p0, s2 = r0.r1, s4 = p0.p0, s5 = r1.r0
            [0.8, 0.6, 0.8, 1.0, 0.6],
            # query r1, target's mode r0: s1 = 0.8 at p1, s2 = r1.r0, s4 = p1.p0, s5 = r0.r0
            [0.8, 0.6, 0.8, -0.6, 1.0],
        ],
        atol=1e-6,
    )
    np.testing.assert_allclose(
        negatives,
        [
            # query p0, proxy's mode p1: s1 = p0.p1, s2 = 0.8 at r0, s4 = p1.p0, s5 = r0.r0
            [-0.6, 0.8, 0.8, -0.6, 1.0],
            # query p1, proxy's mode p0: s1 = p1.p0, s2 = 0.8 at r1, s4 = p0.p0, s5 = r1.r0
            [-0.6, 0.8, 0.8, 1.0, 0.6],
        ],
        atol=1e-6,
    )


def test_more_faces_never_make_sets_less_alike() -> None:
    part, rng = MaxMax(samples=0), np.random.default_rng(0)
    fixed, growing = part.prepare(rng.normal(size=(4, 6))), rng.normal(size=(30, 6))
    scores = [part.match(fixed, part.prepare(growing[:count])).score for count in range(1, 31)]
    assert scores == sorted(scores)


def test_a_large_set_is_represented_by_a_few_of_its_own_faces() -> None:
    faces = np.random.default_rng(1).normal(size=(37, 6))
    whole, few = MaxMax(samples=0).prepare(faces), MaxMax(samples=10).prepare(faces)
    assert len(whole["faces"]) == 37
    assert len(few["faces"]) <= 10
    np.testing.assert_array_equal(few["faces"], whole["faces"][few["chosen"]])
    # The evidence is numbered as the faces were given.
    assert MaxMax().exemplar(few, np.int64(1)) == few["chosen"][1]
    # As many faces as samples, or fewer, are kept as they are.
    np.testing.assert_array_equal(MaxMax().prepare(faces[:10])["faces"], whole["faces"][:10])


@pytest.mark.parametrize("preimage", ["fixed-point", "learned"])
def test_faces_may_be_made_up(preimage: str) -> None:
    turn = np.linspace(0, 1.5, 40)
    faces = np.column_stack([np.cos(turn), np.sin(turn), np.full(40, 0.3)])
    made_up = MaxMax(preimage=preimage).prepare(faces)
    real = MaxMax().prepare(faces)
    assert made_up["faces"].shape == real["faces"].shape
    np.testing.assert_array_equal(made_up["chosen"], real["chosen"])
    np.testing.assert_allclose(np.linalg.norm(made_up["faces"].astype(float), axis=1), 1.0, atol=1e-6)
    assert MaxMax().match(made_up, real).score > 0.98


@pytest.mark.parametrize("samples", [1, -3, 2.5, "ten", True])
def test_impossible_samples_are_refused(samples: object) -> None:
    with pytest.raises(BadInput, match=r"samples must be 0 \(all faces\) or at least 2, got"):
        MaxMax(samples=samples).prepare(R)


def test_unknown_preimage_is_refused() -> None:
    with pytest.raises(BadInput, match="preimage must be one of nearest, fixed-point, learned, got 'guess'"):
        MaxMax(preimage="guess").prepare(R)


@pytest.mark.parametrize("half", ["yes", 1, None])
def test_half_is_true_or_false(half: object) -> None:
    with pytest.raises(BadInput, match="half must be True or False, got"):
        MaxMax(half=half).prepare(R)


def test_half_takes_half_the_bytes_and_shares_agreements() -> None:
    faces = np.random.default_rng(2).normal(size=(9, 40))
    full, half = MaxMax().prepare(faces), MaxMax(half=True).prepare(faces)
    assert half["faces"].dtype == np.float16
    assert 2 * half["faces"].nbytes == full["faces"].nbytes
    np.testing.assert_array_equal(half["agreements"], full["agreements"])
    assert "lengths" not in full


def test_halves_by_hand() -> None:
    # As halves 0.6 is 1229/2048 and 0.8 is 1638/2048: with (1, 0) the cosine is 1229 / sqrt(1229^2 + 1638^2).
    part = MaxMax(half=True)
    score, mode, other = part.match(part.prepare(R[:1]), part.prepare(R[1:]))
    assert score == pytest.approx(1229 / np.hypot(1229, 1638), abs=1e-15)
    assert (int(mode), int(other)) == (0, 0)


def test_sets_that_share_a_face_are_wholly_alike_in_half_precision() -> None:
    part, rng = MaxMax(half=True), np.random.default_rng(3)
    shared = rng.normal(size=(1, 30))
    a, b = (part.prepare(np.concatenate([rng.normal(size=(3, 30)), shared])) for _ in range(2))
    assert part.match(a, b) == (1.0, 3, 3)


def test_rankings_are_nearly_the_same_in_half_precision() -> None:
    """In a drawn world nine of ten queries, or more, keep their first ten; ranks move by three at most."""
    sets = [faceset.faces for faceset, _ in vector_world(counts={2: 30}, faces=5, dimension=236)]
    orders, scores = [], []
    for part in (MaxMax(), MaxMax(half=True)):
        prepared = PreparedSets.join([part.prepare(faces) for faces in sets])
        found = part.match_many(prepared, prepared).scores
        scores.append(found)
        orders.append(np.argsort(-found, axis=1, kind="stable"))
    assert np.abs(scores[0] - scores[1]).max() < 2 * 2.0**-11
    same = (orders[0][:, :10] == orders[1][:, :10]).all(axis=1)
    assert same.mean() >= 0.9
    assert np.abs(np.argsort(orders[0], axis=1) - np.argsort(orders[1], axis=1)).max() <= 3
