"""What the study of re-rankers measures; labels only count, nothing is fitted to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from benchmarks.real_faces import RIVALS
from benchmarks.stages_data import Case
from benchmarks.stages_parts import Pool, fit_part
from benchmarks.stages_worlds import World
from lookalike import index, train
from lookalike.evaluation.measures import Evaluation, joined
from lookalike.evaluation.protocol import held_out, leave_one_out, outside
from lookalike.evaluation.statistics import intervals
from lookalike.faceset import evenly
from lookalike.indexing.fit import calibrate
from lookalike.method.agreement import Agreement
from lookalike.method.kin import (
    SHARES,
    Kin,
    Strangers,
    Strengths,
    hubs_of_known,
    middle_and_spread,
    shares_of_strangers,
    trust,
    weigh,
)
from lookalike.method.tables import Row, Tables, rows_of_some
from lookalike.progress import Track, silent
from lookalike.rerankers._kinship import SAMPLE
from lookalike.rerankers.adaptive import Adaptive

BASELINE, OURS, AUTO = "baseline", "adaptive", "auto"
PAIR = "learnt:over=mean,examples=near"
METHODS = (BASELINE, OURS, AUTO, "learnt", PAIR, *RIVALS)
SHOWN = ("mean_anr", "anr_below_0.3", "map", "rank1")
COMPARED = ("mean_anr", "map", "rank1")
SEED = 0
# Queries that are asked strictly, evenly spread: everything is fitted anew for each.
STRICT = 20


def measures(result: Evaluation, name: str) -> dict[str, float]:
    """What is shown of one method."""
    found = result.summary(name)
    return {measure: found[measure] for measure in SHOWN}


def whole(case: Case, methods: Sequence[str] = METHODS) -> tuple[dict[str, Any], Evaluation]:
    """Every method on a whole gallery, and what is gained over the baseline, with its 95 % interval."""
    tables, labels = case.tables, case.labels
    fitted = {name: train(tables, name, SEED) for name in methods}
    result = leave_one_out(tables, fitted, labels)
    ours, baseline = result.values(OURS), result.values(BASELINE)
    gains = intervals(np.column_stack([ours[one] - baseline[one] for one in COMPARED]), result.people)
    sure = {name: [calibrate(tables, fitted[name], SEED)] for name in (BASELINE, AUTO)}
    said = leave_one_out(tables, {name: fitted[name] for name in sure}, labels, calibrations=sure)
    kept = {
        "name": case.name,
        "sets": len(tables),
        "queries": len(result.queries),
        "people": len(set(result.people)),
        "methods": {name: measures(result, name) for name in methods},
        "gains": {one: gain._asdict() for one, gain in zip(COMPARED, gains, strict=True)},
        "calibration": said.calibration(),
        "finding": fitted[AUTO].finding,
    }
    return kept, result


def strict(pool: Pool, result: Evaluation, most: int = STRICT) -> dict[str, Any]:
    """Take queries out one by one, fit the rest anew, ask from outside; beside it, what they get inside."""
    number = {id: place for place, id in enumerate(pool.ids)}
    chosen = evenly(len(result.queries), most)
    parts = []
    for id in [result.queries[place] for place in chosen]:
        rest = pool.tables(np.delete(np.arange(len(pool.ids)), number[id]))
        labels = pool.labels_of(rest) | {id: pool.labels[id]}
        parts.append(held_out(rest, {OURS: fit_part(rest, OURS)}, {id: pool.sets[number[id]]}, labels))
    return {
        "queries": len(chosen),
        "baseline": _means(result, BASELINE, chosen),
        "inside": _means(result, OURS, chosen),
        "strict": _means(joined(parts), OURS, np.arange(len(chosen))),
    }


def _means(result: Evaluation, name: str, chosen: Any) -> dict[str, float]:
    values = result.values(name)
    return {one: float(values[one][chosen].mean()) for one in COMPARED}


def halves(pool: Pool, draws: int) -> dict[str, Any]:
    """Random halves of the people, each a gallery of its own."""
    gains = [_gain(pool, pool.half(np.random.default_rng(seed)), OURS) for seed in range(draws)]
    anr, precision = np.array([(one["mean_anr"], one["map"]) for one in gains]).T
    return {
        "draws": draws,
        "better": {"mean_anr": int((anr < 0).sum()), "map": int((precision > 0).sum())},
        "worst": {"mean_anr": float(anr.max()), "map": float(precision.min())},
    }


def small(pool: Pool, sizes: Sequence[int], draws: int) -> dict[str, Any]:
    """Galleries of a few sets: mean and worst change of mAP by `auto`."""
    found = {}
    for size in sizes:
        chosen = [pool.few(size, np.random.default_rng(seed)) for seed in range(draws)]
        # Where nobody is there twice, nothing can be found.
        chosen = [one for one in chosen if len(np.unique(pool.persons[one])) < len(one)]
        gains = [_gain(pool, one, AUTO)["map"] for one in chosen]
        found[str(size)] = {"draws": len(gains), "mean": float(np.mean(gains)), "worst": float(min(gains))}
    return found


def _gain(pool: Pool, numbers: Any, name: str) -> dict[str, float]:
    """What a method changes on some sets alone."""
    tables = pool.tables(numbers)
    both = {one: fit_part(tables, one) for one in (BASELINE, name)}
    result = leave_one_out(tables, both, pool.labels_of(tables))
    ours, baseline = measures(result, name), measures(result, BASELINE)
    return {one: ours[one] - baseline[one] for one in SHOWN}


def drawn(world: World, rivals: Sequence[str] = RIVALS) -> dict[str, Any]:
    """Baseline, `auto` and every rival in a drawn world."""
    tables = index(world.sets, preparation="none")
    fitted = {name: train(tables, name) for name in (BASELINE, AUTO, *rivals)}
    inside = {id: world.labels[id] for id in tables.ids}
    if world.queries:
        people = [world.labels[query.id] for query in world.queries]
        result = outside(tables, fitted, world.queries, people, inside)
    else:
        result = leave_one_out(tables, fitted, inside)
    return {
        "name": world.name,
        "noise": world.noise,
        "sets": len(tables),
        "queries": len(result.queries),
        "methods": {name: measures(result, name) for name in fitted},
        "finding": fitted[AUTO].finding,
        "stays": not fitted[AUTO].helps,  # type: ignore[attr-defined]
    }


class OneStrength(Adaptive):
    """`adaptive` with one share of strangers subtracted, instead of what the gallery asks for."""

    def __init__(self, place: int) -> None:
        super().__init__()
        self.place = place

    def fit(self, tables: Tables, rng: np.random.Generator, track: Track = silent) -> Self:
        """Trust one strength only; find kin by it, and make lists."""
        super().fit(tables, rng, track)
        if self.strangers_ is None:
            return self
        strangers, known = self.strangers_, self.strangers_.known
        means = strangers.around_known(tables.sets)
        self.strengths_ = one_strength(self.place, strangers, means, list(rows_of_some(tables, SAMPLE)[1]))
        values = self.strengths_.of_known(known, means)
        if self.kin_ is not None:
            self.kin_ = Kin.of(known, values)
            values = self.kin_.pooled()
        self.agreement_ = Agreement.of(known, values)
        return self


def one_strength(
    place: int, strangers: Strangers, means: NDArray[np.float64], asked: Sequence[Row]
) -> Strengths:
    """One of the shares, hubs levelled fully, with middle 0 and spread 1."""
    factors, levelled = shares_of_strangers()[[place]], np.ones(1)
    weighed = weigh(factors, strangers.known.scores(), means)
    hubs = hubs_of_known(strangers.known, weighed[0])[None]
    middles, spreads = middle_and_spread(factors, levelled, hubs, strangers, list(asked))
    return Strengths(factors, 1 / spreads, middles, levelled, hubs)


def strengths(case: Case) -> dict[str, Any]:
    """Closed triangles by strength, and the mAP if each were the only one."""
    rng = np.random.default_rng(SEED)
    fitted = {str(share): OneStrength(place).fit(case.tables, rng) for place, share in enumerate(SHARES)}
    result = leave_one_out(case.tables, fitted, case.labels)
    found = next(iter(fitted.values())).findings_
    triangles = np.zeros(len(SHARES)) if found is None else found.triangles
    return {
        "name": case.name,
        "shares": list(SHARES),
        "triangles": triangles.tolist(),
        "trust": trust(triangles).tolist(),
        "map": [result.summary(name)["map"] for name in fitted],
    }
