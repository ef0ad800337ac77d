"""Small figures of every kind, with names that try to break out."""

from __future__ import annotations

from functools import cache

import numpy as np

from lookalike.evaluation.drawing import Figure, contents
from lookalike.evaluation.figures import anr_cdf, differences, match_probability, matches_found, proxies_cdf
from lookalike.evaluation.learning import retrieval_features, training_features
from lookalike.evaluation.sampling import energies_cdf, picture_of, selection_error_cdf, selection_picture

SVG = "{http://www.w3.org/2000/svg}"
EVIL = (
    "<script>alert(1)</script>",
    "\"' onload='x",
    "]]> --> &amp; <!--",
    "$x^{$ \\frac",
    "_hidden",
    "漢字 \u202e\x07",
    "{{ 7 * 7 }}",
)


@cache
def every_figure() -> list[Figure]:
    """One figure of each kind."""
    rng = np.random.default_rng(0)
    available = np.array([1, 1, 2, 2, 3, 3])
    found = {name: np.array([0, 1, 1, 2, 2, 3]) for name in EVIL}
    x, y = 0.8 + 0.05 * rng.normal(size=(400, 5)), np.arange(400) % 2
    anr = {name: rng.beta(0.7, 1.5, 60) for name in EVIL}
    picture = picture_of(rng.normal(size=(30, 4)), 5)
    faces = [np.full((8, 8), 30 * number, dtype=np.uint8) for number in range(len(picture[1]))]
    return [
        anr_cdf(anr),
        proxies_cdf({count: rng.beta(0.7, 1.5, 60) for count in range(1, 11)}, rng.beta(0.7, 1.5, 60)),
        match_probability(available, found),
        matches_found(available, found),
        training_features(x, y),
        retrieval_features(x, y, x[:50] + 0.1, x[:20], 0.4),
        energies_cdf(rng.uniform(size=(20, 2))),
        selection_error_cdf(-rng.exponential(size=30)),
        selection_picture(*picture, EVIL[0], faces),
        differences([(name, 0.1, -0.1, 0.2) for name in EVIL], EVIL[:1], "mAP", EVIL[0]),
    ]


@cache
def drawn() -> dict[str, dict[str, bytes]]:
    """Files of all of them: drawing takes most of the time of these tests."""
    return {figure.name: contents(figure) for figure in every_figure()}
