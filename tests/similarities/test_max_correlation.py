"""Maximum correlation of planes whose angles are known."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.errors import BadInput
from lookalike.similarities.max_correlation import MaxCorrelation

# The plane of e1 and e2; the plane of (0.8,0,0.6,0) and (0,0.6,0,0.8): cosines 0.8 along e1, 0.6 along e2.
R = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.6, 0.8, 0.0, 0.0]])
P = np.array([[0.8, 0.0, 0.6, 0.0], [0.0, 0.6, 0.0, 0.8]])


def test_worked_by_hand() -> None:
    part = MaxCorrelation()
    r, p = part.prepare(R), part.prepare(P)
    match = part.match(r, p)
    assert match.score == pytest.approx(0.8, abs=1e-7)
    # The modes are the lines that meet, e1 and (0.8,0,0.6,0), in each set's own coordinates.
    np.testing.assert_allclose(np.abs(match.mode_a @ r["directions"]), [1, 0, 0, 0], atol=1e-6)
    np.testing.assert_allclose(np.abs(match.mode_b @ p["directions"]), [0.8, 0, 0.6, 0], atol=1e-6)
    assert part.exemplar(r, match.mode_a) == 0
    assert part.exemplar(p, match.mode_b) == 0


def test_a_subspace_of_as_many_dimensions_as_faces_memorises_them() -> None:
    # R has three faces: a subspace of three dimensions could hold any three, one of two only some.
    part = MaxCorrelation(dimension=3)
    assert part.memorises(part.prepare(R))
    # Which is why it teaches nothing: s2 of its own faces is 1, and s1 of the faces of such a proxy.
    positives, negatives = part.examples(part.prepare(R), part.prepare(P))
    np.testing.assert_allclose(positives[:, 1], 1.0)
    np.testing.assert_allclose(negatives[:, 0], 1.0)
    assert not MaxCorrelation(dimension=2).memorises(MaxCorrelation(dimension=2).prepare(R))


def test_agreement_is_blind_to_sign() -> None:
    part = MaxCorrelation(dimension=3)
    one, other = np.array([0.6, 0.8, 0.0]), np.array([1.0, 0.0, 0.0])
    assert part.agreement({}, one, other) == pytest.approx(0.6)
    assert part.agreement({}, one, -other) == pytest.approx(0.6)


def test_examples_by_hand() -> None:
    part = MaxCorrelation()
    positives, negatives = part.examples(part.prepare(R), part.prepare(P))
    # s3 = 0.8, tp = e1, pt = p0.
    np.testing.assert_allclose(
        positives,
        [
            [0.8, 1.0, 0.8, 1.0, 1.0],  # e1: its shadow on p is 0.8 p0
            [0.6, 1.0, 0.8, 0.0, 0.0],  # e2: its shadow on p is 0.6 p1, at right angles to p0
            # (0.6, 0.8): shadow 0.48 p0 + 0.48 p1, of length 0.48 sqrt(2), half-way between p0 and p1
            [0.48 * np.sqrt(2), 1.0, 0.8, np.sqrt(0.5), 0.6],
        ],
        atol=1e-6,
    )
    np.testing.assert_allclose(
        negatives,
        [
            [1.0, 0.8, 0.8, 1.0, 1.0],  # p0: its shadow on r is 0.8 e1
            [1.0, 0.6, 0.8, 0.0, 0.0],  # p1: its shadow on r is 0.6 e2
        ],
        atol=1e-6,
    )


def test_only_the_span_counts() -> None:
    rng = np.random.default_rng(0)
    faces, other = rng.normal(size=(4, 9)), rng.normal(size=(3, 9))
    mixed = rng.normal(size=(12, 4)) @ faces  # other faces of the same four-dimensional subspace
    part = MaxCorrelation()
    here = part.match(part.prepare(faces), part.prepare(other)).score
    assert part.match(part.prepare(mixed), part.prepare(other)).score == pytest.approx(here, abs=1e-6)
    # A face inside the other's span makes them wholly alike.
    inside = np.vstack([other, faces[0] + faces[1]])
    assert part.match(part.prepare(faces), part.prepare(inside)).score == pytest.approx(1.0, abs=1e-6)


def test_no_more_directions_than_asked_for() -> None:
    faces = np.random.default_rng(2).normal(size=(20, 9))
    assert MaxCorrelation().prepare(faces)["rank"].tolist() == [6]
    assert MaxCorrelation(dimension=2).prepare(faces)["rank"].tolist() == [2]
    assert MaxCorrelation().prepare(faces[:3])["rank"].tolist() == [3]  # used at the dimension it has
    assert MaxCorrelation(centre=True).prepare(faces[:3])["rank"].tolist() == [2]


def test_centring_leaves_the_mean_face_out() -> None:
    # Both sets vary along e2 only, around mean faces at right angles.
    a = np.array([[1.0, 0.2, 0.0], [1.0, -0.2, 0.0]])
    b = np.array([[0.0, 0.3, 1.0], [0.0, -0.3, 1.0]])
    part = MaxCorrelation(centre=True)
    assert part.match(part.prepare(a), part.prepare(b)).score == pytest.approx(1.0, abs=1e-6)
    part = MaxCorrelation(dimension=1)
    assert part.match(part.prepare(a), part.prepare(b)).score == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("dimension", [0, -1, 2.0, "six"])
def test_impossible_dimension_is_refused(dimension: object) -> None:
    with pytest.raises(BadInput, match="dimension must be a whole number from 1 to 50, got"):
        MaxCorrelation(dimension=dimension).prepare(R)


def test_one_face_has_no_centred_subspace() -> None:
    with pytest.raises(
        BadInput, match=r"a set of 1 face\(s\) without variation spans no centred subspace: use centre"
    ):
        MaxCorrelation(centre=True).prepare(R[:1])
