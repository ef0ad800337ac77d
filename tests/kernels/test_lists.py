"""Lists that grow by candidates: the same as by sorting everybody who was ever offered."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.kernels.neighbours import let_in, pairs_reaching

TOTAL = 9


class Lists:
    """Empty lists of a few sets, of which the first may be shown."""

    def __init__(self, count: int, shown: int, width: int = 1) -> None:
        self.sets = np.full((TOTAL, count), TOTAL)
        self.scores = np.full((TOTAL, count), -np.inf)
        self.own = np.zeros((TOTAL, shown, width), dtype=np.int64)
        self.their = np.zeros_like(self.own)

    def offer(self, offers: list[tuple[int, int, float]]) -> None:
        rows, candidates, values = (np.array(each) for each in zip(*offers, strict=True))
        # What is known of a candidate is told by its number and that of the list.
        own = np.repeat((100 * rows + candidates)[:, None], self.own.shape[2], axis=1)
        let_in(
            self.sets, self.scores, self.own, self.their, rows, candidates, values.astype(float), own, -own
        )


def test_a_list_by_hand() -> None:
    lists = Lists(count=3, shown=2)
    lists.offer([(1, 5, 0.5), (1, 4, 0.9), (1, 7, 0.5), (1, 2, 0.1), (1, 3, 0.5), (1, 8, float("nan"))])
    assert lists.sets[1].tolist() == [4, 3, 5]  # of three with 0.5 the lower numbers
    assert lists.scores[1].tolist() == [0.9, 0.5, 0.5]
    assert lists.own[1].ravel().tolist() == [104, 103]
    assert lists.their[1].ravel().tolist() == [-104, -103]
    assert (lists.sets[0] == TOTAL).all()


def test_who_is_there_already_stays_as_it_is() -> None:
    lists = Lists(count=3, shown=2)
    lists.offer([(1, 5, 0.5), (1, 4, 0.9)])
    for again in (0.5, np.nextafter(0.5, 0), np.nextafter(0.5, 1)):
        lists.offer([(1, 5, float(again))])
    assert lists.sets[1].tolist() == [4, 5, TOTAL]
    assert lists.scores[1].tolist() == [0.9, 0.5, -np.inf]


OFFERS = st.lists(
    st.tuples(
        st.integers(0, TOTAL - 1), st.integers(0, TOTAL - 1), st.sampled_from([-1.0, -0.0, 0.0, 0.5, 1.0])
    ),
    min_size=1,
    max_size=80,
)


@settings(max_examples=120, deadline=None)
@given(offers=OFFERS, count=st.integers(1, 6), shown=st.integers(0, 6), cut=st.integers(0, 80))
def test_lists_are_the_best_of_everybody_however_they_come(
    offers: list[tuple[int, int, float]], count: int, shown: int, cut: int
) -> None:
    # A pair has one score.
    offers = list({offer[:2]: offer for offer in offers}.values())
    lists = Lists(count, min(shown, count), width=2)
    for part in (offers[:cut], offers[cut:], offers[: cut // 2]):  # some are offered again
        if part:
            lists.offer(part)
    for row in range(TOTAL):
        best = sorted((-score, other) for owner, other, score in offers if owner == row)[:count]
        free = count - len(best)
        assert lists.sets[row].tolist() == [other for _, other in best] + [TOTAL] * free
        assert lists.scores[row].tolist() == [-score for score, _ in best] + [-np.inf] * free
        seen = [100 * row + other for _, other in best][: lists.own.shape[1]]
        for width in range(2):
            assert lists.own[row, : len(seen), width].tolist() == seen
            assert lists.their[row, : len(seen), width].tolist() == [-each for each in seen]


@settings(deadline=None, max_examples=60)
@given(rows=st.integers(0, 9), columns=st.integers(0, 21), ahead=st.integers(-3, 30), seed=st.integers(0, 99))
def test_pairs_reach_the_floor_of_either(rows: int, columns: int, ahead: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    products = rng.integers(0, 5, (rows, columns)).astype(np.float32)
    floors_a, floors_b = (rng.integers(1, 6, count).astype(np.float32) for count in (rows, columns))
    found = np.empty((2, max(1, rows * columns)), dtype=np.int64)
    count = pairs_reaching(products, floors_a, floors_b, ahead, found)
    beyond = np.arange(columns) + ahead > np.arange(rows)[:, None]
    reached = (products >= floors_a[:, None]) | (products >= floors_b)
    np.testing.assert_array_equal(found[:, :count], np.nonzero(reached & beyond))
