"""Parameters: every number of the paper, once: its default, its symbol there, and where it acts.

The paper is O. Arandjelović, "Learnt quasi-transitive similarity for retrieval from large
collections of faces", CVPR 2016. Sections below are sections of that paper.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Parameter(NamedTuple):
    """One number of the method."""

    name: str
    default: float
    symbol: str
    meaning: str


PROXIES: Final = 10
MOST_PROXIES: Final = 10
REFERENCES: Final = 200
SAMPLES: Final = 10
DIMENSION: Final = 6
EPSILON: Final = 0.4
PENALTY: Final = 1000.0
GAMMA: Final = 0.2

PARAMETERS: Final = (
    Parameter("PROXIES", PROXIES, "k_p", "proxies that may speak for each target (section 2.2)"),
    Parameter(
        "MOST_PROXIES", MOST_PROXIES, "max k_p", "most proxies the paper tries; modes are kept of one more"
    ),
    Parameter("REFERENCES", REFERENCES, "200", "random sets from which examples are drawn (section 3.4)"),
    Parameter("SAMPLES", SAMPLES, "10", "faces that stand for a set of exemplars (section 3.4)"),
    Parameter("DIMENSION", DIMENSION, "6", "dimension of the subspace of a set (section 3.3)"),
    Parameter("EPSILON", EPSILON, "ε", "error the regressor does not pay for (section 2.4.2)"),
    Parameter("PENALTY", PENALTY, "C", "price of an error beyond ε (section 2.4.2)"),
    Parameter("GAMMA", GAMMA, "0.2", "width of the kernel exp(-γ |x - x'|²) (section 2.4.2)"),
)
