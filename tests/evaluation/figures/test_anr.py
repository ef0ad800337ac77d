from __future__ import annotations

import numpy as np
import pytest

from lookalike.errors import BadInput
from lookalike.evaluation.drawing import svg
from lookalike.evaluation.figures import anr_cdf, proxies_cdf


def test_table_worked_by_hand() -> None:
    figure = anr_cdf({"a": np.array([0.2, 0.0, 0.2, 0.6]), "b": np.array([0.5])})
    assert figure.table == {
        "method": ["a", "a", "a", "b"],
        "anr": [0.0, 0.2, 0.6, 0.5],
        "share_of_queries": [0.25, 0.75, 1.0, 1.0],
    }
    assert "a 75.0%; b 0.0%" in figure.caption


def test_proxies_are_in_order_and_the_baseline_last() -> None:
    figure = proxies_cdf({2: np.array([0.1]), 1: np.array([0.4])}, np.array([0.3]))
    assert figure.table["proxies"] == ["1", "2", "baseline"]
    assert figure.table["anr"] == [0.4, 0.1, 0.3]
    assert "lowest with 2 proxies" in figure.caption
    assert "lowest with 1 proxy." in proxies_cdf({1: np.array([0.4])}).caption
    assert "lowest without proxies" in proxies_cdf({1: np.array([0.4])}, np.array([0.3])).caption


@pytest.mark.parametrize("values", [[0.0], [1.0], [0.3] * 5, [0.0, 1.0]])
def test_degenerate_values_are_drawn(values: list[float]) -> None:
    svg(anr_cdf({"only": np.array(values)}))
    svg(proxies_cdf({1: np.array(values)}))


def test_no_queries() -> None:
    with pytest.raises(BadInput, match="the ANR of a is empty"):
        anr_cdf({"a": np.empty(0)})
