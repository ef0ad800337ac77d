"""Training examples: how many, from whom, and always the same for a seed."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.method.regression import draw_examples, draw_near_examples, features_about, mutual_nearest
from lookalike.method.tables import Tables
from tests.method.samples import A, B, C, random_sets, tables_of


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.fixture(scope="module")
def gallery() -> Tables:
    return tables_of(random_sets(12, seed=3), count=5)


def pairs(tables: Tables, references: list[int], proxies: int) -> list[tuple[int, int]]:
    return [(r, int(p)) for r in references for p in tables.neighbours.sets[r, :proxies]]


def test_two_sets_by_hand() -> None:
    # B and C have two faces each, and are each other's proxy: two positives and two negatives for each.
    found = draw_examples(tables_of([B, C]), rng())
    assert found.y.tolist() == [1, 1, 0, 0, 1, 1, 0, 0]
    # Reference B, proxy C: s3 = 0.96 through B1, C0. Query B0, target's mode B1: B0.C0 = 0.6 at C0,
    # B0.B1 = 0.8, C0.C0 = 1, B1.B1 = 1; and the other way round, B1.C0 = 0.96, B1.B0 = 0.8, 1, B0.B1 = 0.8.
    np.testing.assert_allclose(found.x[:2], [[0.6, 0.8, 0.96, 1, 1], [0.96, 0.8, 0.96, 1, 0.8]], atol=1e-6)
    # Query C0, proxy's mode C1: C0.C1 = 0, C0.B1 = 0.96, C1.C0 = 0, B1.B1 = 1; and the other way round,
    # C1.C0 = 0, C1.B0 = 0.224, C0.C0 = 1, B0.B1 = 0.8.
    np.testing.assert_allclose(found.x[2:4], [[0, 0.96, 0.96, 0, 1], [0, 0.224, 0.96, 1, 0.8]], atol=1e-6)


def test_every_reference_and_each_of_its_proxies(gallery: Tables) -> None:
    found = draw_examples(gallery, rng(), references=12, proxies=3)
    faces = gallery.similarity.sizes(gallery.sets)
    expected = pairs(gallery, list(range(12)), 3)
    assert (found.y == 1).sum() == sum(faces[r] * (faces[r] - 1) for r, _ in expected)
    assert (found.y == 0).sum() == sum(faces[p] * (faces[p] - 1) for _, p in expected)
    whole = [gallery.similarity.examples(gallery.sets[r], gallery.sets[p]) for r, p in expected]
    np.testing.assert_array_equal(found.x, np.concatenate([rows for pair in whole for rows in pair]))


def test_subspaces_give_a_row_for_each_face() -> None:
    tables = tables_of(random_sets(8, seed=4), "max_correlation", count=3)
    found = draw_examples(tables, rng(), references=8, proxies=2)
    faces = np.diff(tables.sets.starts["faces"])
    assert (found.y == 1).sum() == 2 * faces.sum()
    assert (found.y == 0).sum() == sum(faces[p] for _, p in pairs(tables, list(range(8)), 2))


def test_few_references_are_chosen_at_random(gallery: Tables) -> None:
    def rows_of(reference: int) -> int:
        return sum(
            len(rows)
            for _, p in pairs(gallery, [reference], 2)
            for rows in gallery.similarity.examples(gallery.sets[reference], gallery.sets[p])
        )

    possible = {rows_of(reference) for reference in range(12)}
    counts = {len(draw_examples(gallery, rng(seed), references=1, proxies=2).x) for seed in range(20)}
    assert counts <= possible
    assert len(counts) > 2


def test_not_more_references_than_the_gallery_has(gallery: Tables) -> None:
    many, all_of_them = (draw_examples(gallery, rng(), references=count) for count in (200, 12))
    np.testing.assert_array_equal(many.x, all_of_them.x)


def test_seeded(gallery: Tables) -> None:
    for most in (400_000, 50):
        once, again = (draw_examples(gallery, rng(5), references=4, most=most) for _ in range(2))
        np.testing.assert_array_equal(once.x, again.x)
        np.testing.assert_array_equal(once.y, again.y)
        other = draw_examples(gallery, rng(6), references=4, most=most)
        assert other.x.shape != once.x.shape or (other.x != once.x).any()


def test_most_is_respected(gallery: Tables) -> None:
    whole = draw_examples(gallery, rng(), references=12)
    some = draw_examples(gallery, rng(), references=12, most=30)
    assert some.x.shape == (30, 5)
    assert some.y.shape == (30,)
    known = {(*row, y) for row, y in zip(whole.x.tolist(), whole.y, strict=True)}
    assert {(*row, y) for row, y in zip(some.x.tolist(), some.y, strict=True)} <= known
    assert 0 < some.y.sum() < 30


def test_threads_do_not_show(gallery: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for threads in ("1", "2"):
        monkeypatch.setenv("LOOKALIKE_THREADS", threads)
        found.append(draw_examples(gallery, rng()).x)
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("sets", [[B], [A, C[:1]]])
def test_nothing_to_draw_from(sets: list[np.ndarray]) -> None:
    # A set alone has no proxies; faces alone have no pairs.
    found = draw_examples(tables_of(sets), rng())
    assert found.x.shape == (0, 5)
    assert found.y.shape == (0,)


def test_progress_is_shown(gallery: Tables) -> None:
    seen = []

    def track(items, text, total):
        for item in items:
            seen.append((text, total))
            yield item

    draw_examples(gallery, rng(), references=3, proxies=2, track=track)
    assert seen == [("drawing examples", 6)] * 6


def test_near_each_other_is_near_from_both_sides() -> None:
    # Five sets: each has four others, of which three are its nearest.
    tables = tables_of(random_sets(12, seed=4))
    near = tables.neighbours.sets[:, :3]
    for one in range(12):
        for other in range(12):
            both = other in near[one] and one in near[other]
            assert (other in mutual_nearest(tables, one)) == both == (one in mutual_nearest(tables, other))


def test_near_examples_by_hand() -> None:
    # Three sets are all near each other: two targets of each reference, both kin, one proxy each.
    tables = tables_of([A, B, C])
    found = draw_near_examples(tables, rng())
    assert found.y.tolist() == [1.0] * 6
    np.testing.assert_allclose(found.x[1], [0.8, 0.28, 0.96, 0.8, 0.0], atol=1e-6)  # A asks about C through B


def test_near_examples_are_what_retrieval_meets() -> None:
    tables = tables_of(random_sets(40, seed=3))
    query = next(number for number in range(40) if mutual_nearest(tables, number))
    found = draw_near_examples(tables, rng(), proxies=4, chosen=np.array([query]))
    kin = np.array(mutual_nearest(tables, query))
    assert (found.y == 1).sum() == 4 * len(kin)
    assert (found.y == 0).sum() == 4 * 10
    expected = features_about(tables, query, np.sort(kin), 4).reshape(-1, 5)
    np.testing.assert_array_equal(found.x[found.y == 1], expected)
    others = np.array([number for number in range(40) if number not in (query, *kin)])
    possible = features_about(tables, query, others, 4).reshape(-1, 5)
    assert {tuple(row) for row in found.x[found.y == 0]} <= {tuple(row) for row in possible}


def test_near_examples_are_bounded_and_repeat() -> None:
    tables = tables_of(random_sets(30, seed=3))
    once, again = (draw_near_examples(tables, rng(5), references=9, most=50) for _ in range(2))
    np.testing.assert_array_equal(once.x, again.x)
    assert len(once.x) == len(once.y) == 50
    assert not np.array_equal(once.x, draw_near_examples(tables, rng(6), references=9, most=50).x)


def test_a_set_alone_has_no_near_examples() -> None:
    assert draw_near_examples(tables_of(random_sets(1)), rng()).x.shape == (0, 5)
