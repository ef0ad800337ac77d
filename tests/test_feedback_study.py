from __future__ import annotations

import pytest

from benchmarks.stages_data import Case
from benchmarks.study_feedback import RULES, STAGES, study
from lookalike import index
from lookalike.search.feedback import PENALTY
from tests.small_world import small_world


@pytest.mark.parametrize("stage", STAGES)
def test_the_product_keeps_the_rule_that_was_measured(stage: str) -> None:
    sets, labels = small_world(people=8, sets=8, spread=1.2)
    queries, found = study(Case("drawn", index(sets), labels), stage, judged=3)
    measured = dict(zip([*RULES, "refine"], found, strict=True))
    assert queries > 20
    assert measured["refine"] == pytest.approx(measured[f"- {PENALTY} over"], abs=0.02)
    assert measured["refine"] > measured["plain"]
