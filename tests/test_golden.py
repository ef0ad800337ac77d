"""Worked cases: every step of the method, computed by a slow, literal implementation elsewhere."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from lookalike import Search
from lookalike.evaluation.measures import average_normalised_rank
from lookalike.method.metafeatures import metafeatures
from lookalike.method.proxies import find_neighbours, proxy_slots
from lookalike.method.tables import Tables, compare
from lookalike.rerankers.learnt import Learnt
from lookalike.search.estimator import QuasiTransitiveRegressor
from lookalike.similarities.contract import PreparedSets
from lookalike.similarities.max_correlation import MaxCorrelation
from lookalike.similarities.max_max import MaxMax

FOLDER = Path(os.environ.get("LOOKALIKE_GOLDEN", Path(__file__).parents[2] / "shared" / "golden"))
FILES = sorted(FOLDER.glob("*.npz"))
# Every face of the cases is used: no sample selection.
PARTS = {"max_max": MaxMax(samples=0), "max_correlation": MaxCorrelation(dimension=6)}
CLOSE = 1e-6

pytestmark = pytest.mark.skipif(
    not FILES, reason=f"no worked cases in {FOLDER}: set LOOKALIKE_GOLDEN to their folder"
)


@pytest.fixture(
    params=[(path, name) for path in FILES for name in PARTS], ids=lambda p: f"{p[0].stem}-{p[1]}"
)
def case(request: pytest.FixtureRequest) -> tuple[dict[str, np.ndarray], Tables]:
    path, name = request.param
    with np.load(path, allow_pickle=False) as arrays:
        faces = np.split(arrays["faces"], np.cumsum(arrays["lengths"])[:-1])
        given = {key.removeprefix(f"{name}/"): arrays[key] for key in arrays.files if key.startswith(name)}
        given["k_p"] = arrays["k_p"]
    # Prepared from double precision, as the cases were: a FaceSet would round the faces to single precision,
    # which moves canonical vectors of nearly equal correlation by more than the tolerance.
    sets = PreparedSets.join([PARTS[name].prepare(rows) for rows in faces])
    ids = tuple(f"{number:03d}" for number in range(len(faces)))
    neighbours = find_neighbours(PARTS[name], sets, int(given["k_p"]) + 1)
    return given, Tables(ids, faces[0].shape[1], PARTS[name], sets, neighbours)


def left_out(given: dict[str, np.ndarray], tables: Tables) -> tuple[int, np.ndarray]:
    """The query of the case, and the numbers of all other sets."""
    query = int(given["loo_query"])
    return query, np.delete(np.arange(len(tables)), query)


def test_similarities(case: tuple[dict[str, np.ndarray], Tables]) -> None:
    given, tables = case
    scores = compare(tables.similarity, tables.sets, tables.sets).scores
    np.fill_diagonal(scores, 1.0)
    np.testing.assert_allclose(scores, given["similarity"], atol=CLOSE, rtol=0)


def test_proxies(case: tuple[dict[str, np.ndarray], Tables]) -> None:
    given, tables = case
    np.testing.assert_array_equal(tables.neighbours.sets[:, : int(given["k_p"])], given["proxies"])


def test_five_numbers(case: tuple[dict[str, np.ndarray], Tables]) -> None:
    given, tables = case
    query, others = left_out(given, tables)
    [row] = Search(tables, Learnt()).rows([tables.ids[query]])
    slots = proxy_slots(tables.neighbours, int(given["k_p"]), query)
    found = metafeatures(row, tables, slots)[others]
    np.testing.assert_allclose(found, given["loo_metafeatures"], atol=CLOSE, rtol=0)


def test_training_examples(case: tuple[dict[str, np.ndarray], Tables]) -> None:
    given, tables = case
    reference, proxy = (int(number) for number in given["pair"])
    found = tables.similarity.examples(tables.sets[reference], tables.sets[proxy])
    for rows, expected in ((found.positives, given["positives"]), (found.negatives, given["negatives"])):
        assert rows.shape == expected.shape
        # As sets of rows: each row has a partner, and no partner is used twice.
        distances = np.abs(rows[:, None] - expected[None]).max(axis=2)
        assert distances.min(axis=0).max() < CLOSE
        assert distances.min(axis=1).max() < CLOSE
        for column in range(5):
            np.testing.assert_allclose(
                np.sort(rows[:, column]), np.sort(expected[:, column]), atol=CLOSE, rtol=0
            )


def test_regressor_on_the_given_rows(case: tuple[dict[str, np.ndarray], Tables]) -> None:
    given, _ = case
    regressor = QuasiTransitiveRegressor().fit(given["svr_train_x"], given["svr_train_y"])
    found = regressor.predict(given["loo_metafeatures"].reshape(-1, 5))
    np.testing.assert_allclose(found, given["svr_predictions"].ravel(), atol=0.02, rtol=0)


def test_final_scores(case: tuple[dict[str, np.ndarray], Tables]) -> None:
    """Trained on its own examples of all sets, the whole chain ends at the given scores."""
    given, tables = case
    query, others = left_out(given, tables)
    learnt = Learnt(proxies=int(given["k_p"]), references=len(tables))
    search = Search(tables, learnt.fit(tables, np.random.default_rng(0)))
    [row] = search.rows([tables.ids[query]])
    found = learnt.score(row, tables).scores[others]
    np.testing.assert_allclose(found, given["scores"], atol=0.02, rtol=0)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_anr(path: Path) -> None:
    with np.load(path, allow_pickle=False) as arrays:
        for scores, matches, value in zip(
            arrays["anr/scores"], arrays["anr/matches"], arrays["anr/values"], strict=True
        ):
            order = np.argsort(-scores, kind="stable")
            ranks = np.flatnonzero(matches[order]) + 1
            assert average_normalised_rank(ranks, len(scores)) == pytest.approx(value, abs=CLOSE)
