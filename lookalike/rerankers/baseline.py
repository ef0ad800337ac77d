"""No re-ranker: the order of the baseline similarity."""

from __future__ import annotations

from lookalike.rerankers.contract import Reranker


class Baseline(Reranker):
    """Leaves the baseline as it is: nobody is asked. Every re-ranker is measured against it."""

    stored_name = "baseline"
