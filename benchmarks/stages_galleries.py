"""What is measured of one gallery of a shape, and what many of them say together."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.stages_data import Case
from benchmarks.stages_measure import AUTO, BASELINE, COMPARED, SEED, STRICT
from benchmarks.stages_parts import Pool, fit_part
from benchmarks.stages_shapes import Drawn
from lookalike import train
from lookalike.evaluation.measures import MEASURES, joined
from lookalike.evaluation.protocol import held_out, leave_one_out
from lookalike.evaluation.statistics import intervals
from lookalike.indexing.fit import calibrate
from lookalike.method.tables import Tables
from lookalike.search.query import Search

Record = dict[str, Any]
Floats = NDArray[np.float64]

RIVALS = ("k_reciprocal", "k_reciprocal:k1=6,k2=2", "cprr", "csls", "as_norm")
# A gallery is harmed if it loses more mAP than this, or gains more mean ANR.
HARM = 0.005
# Stability: a tenth of the sets is left out so many times; answers are compared so far down.
LEFT_OUT, REFITS, DEPTH = 0.1, 8, 20
# Sets that are asked each time, evenly spread.
ASKED = 200
# A pair is in doubt if the whole gallery is no surer of it, either way, than this from even.
EVEN, DOUBT = 0.5, 0.2


def gallery(case: Case) -> Record:
    """Baseline, `auto` and rivals on one gallery; values of each query are kept for intervals."""
    tables, labels = case.tables, case.labels
    others = {name: train(tables, name, SEED) for name in (BASELINE, *RIVALS)}
    ours = train(tables, AUTO, SEED)
    sure = {AUTO: [calibrate(tables, ours, SEED)]}
    results = (
        leave_one_out(tables, others, labels),
        leave_one_out(tables, {AUTO: ours}, labels, calibrations=sure),
    )
    values = {
        name: {one: result.values(name)[one].tolist() for one in COMPARED}
        for result in results
        for name in result.runs
    }
    return {
        "sets": len(tables),
        "queries": len(results[0].queries),
        "methods": {
            name: {one: float(np.mean(own[one])) for one in COMPARED} for name, own in values.items()
        },
        "calibration": results[1].calibration()[AUTO],
        "finding": ours.finding,
        "stays": not ours.helps,  # type: ignore[attr-defined]
        "people": results[0].people,
        "values": values,
    }


def without_queries(record: Record) -> Record:
    """What the page's record keeps of a gallery: single queries and further digits would fill it."""
    return {name: _rounded(value) for name, value in record.items() if name not in ("people", "values")}


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _rounded(one) for name, one in value.items()}
    return round(value, 5) if isinstance(value, float) else value


def best_of_rivals(record: Record, measure: str) -> str:
    """The rival that is best on this gallery by a measure, chosen with labels."""
    sign = 1 if MEASURES[measure][1] else -1
    return max(RIVALS, key=lambda name: sign * record["methods"][name][measure])


def harm(record: Record) -> dict[str, float]:
    """How much mAP and mean ANR of `auto` are worse than those of the baseline; below 0 they are better."""
    ours, theirs = record["methods"][AUTO], record["methods"][BASELINE]
    return {"map": theirs["map"] - ours["map"], "mean_anr": ours["mean_anr"] - theirs["mean_anr"]}


def is_harmed(record: Record) -> bool:
    """Whether `auto` is worse than the baseline by more than a trifle."""
    return max(harm(record).values()) > HARM


def together(records: Sequence[Record]) -> Record:
    """Several galleries as one row; intervals are by a bootstrap over people.

    Draws share people, so the queries of all galleries are pooled by person before whole people are drawn.
    """
    people = [person for one in records for person in one["people"]]
    return {
        "galleries": len(records),
        "sets": float(np.mean([one["sets"] for one in records])),
        "queries": len(people),
        "methods": {
            name: {one: float(_pooled(records, name, one).mean()) for one in COMPARED}
            for name in (BASELINE, AUTO, *RIVALS)
        },
        "best_rival": {one: float(_best(records, one).mean()) for one in COMPARED},
        "gains": _gains(
            people, [_pooled(records, AUTO, one) - _pooled(records, BASELINE, one) for one in COMPARED]
        ),
        "over_rival": _gains(people, [_pooled(records, AUTO, one) - _best(records, one) for one in COMPARED]),
        "calibration": _mean_calibration(records),
        "stays": sum(one["stays"] for one in records),
        "harmed": sum(is_harmed(one) for one in records),
        "worst": {one: max(harm(each)[one] for each in records) for one in ("map", "mean_anr")},
    }


def _gains(people: Sequence[str], differences: Sequence[Floats]) -> Record:
    found = intervals(np.column_stack(differences), people)
    return {one: gain._asdict() for one, gain in zip(COMPARED, found, strict=True)}


def _pooled(records: Sequence[Record], name: str, measure: str) -> Floats:
    return np.concatenate([one["values"][name][measure] for one in records])


def _best(records: Sequence[Record], measure: str) -> Floats:
    """Each query by the rival that is best on its gallery."""
    return np.concatenate([one["values"][best_of_rivals(one, measure)][measure] for one in records])


def _mean_calibration(records: Sequence[Record]) -> Record:
    """Mean over the galleries of which something can be said."""
    names = records[0]["calibration"]
    known = {name: [one["calibration"][name] for one in records] for name in names}
    known = {name: [value for value in values if value is not None] for name, values in known.items()}
    return {name: float(np.mean(values)) if values else None for name, values in known.items()}


# Queries from outside.


def strict(case: Case, most: int = STRICT) -> Record:
    """Take some queries out of the gallery, one at a time, fit the rest anew and ask from outside."""
    pool = Pool(case.tables, case.labels)
    inside = leave_one_out(
        case.tables, {name: train(case.tables, name) for name in (BASELINE, AUTO)}, case.labels
    )
    asked = _evenly(len(inside.queries), most)
    found = []
    for place in asked.tolist():
        id = inside.queries[place]
        number = case.tables.number(id)
        rest = pool.tables(np.delete(np.arange(len(pool.ids)), number))
        labels = pool.labels_of(rest) | {id: pool.labels[id]}
        found.append(held_out(rest, {AUTO: fit_part(rest, AUTO)}, {id: pool.sets[number]}, labels))
    values = {
        "baseline": {one: inside.values(BASELINE)[one][asked] for one in COMPARED},
        "inside": {one: inside.values(AUTO)[one][asked] for one in COMPARED},
        "strict": joined(found).values(AUTO),
    }
    means = {kind: {one: float(own[one].mean()) for one in COMPARED} for kind, own in values.items()}
    return {"queries": len(asked), **means}


def _evenly(total: int, most: int) -> NDArray[np.int64]:
    """Some of so many numbers, evenly spread."""
    return np.unique(np.linspace(0, total - 1, most).astype(np.int64))


# Stability.


def stability(drawn: Drawn, refits: int = REFITS) -> Record:
    """Leave a tenth of the sets out, several times: how far probabilities of the others move.

    Returns
    -------
    change : mean absolute change of probability over the first answers of the whole gallery
    flips, worst : share of pairs that cross .5, of those above it in either; mean and maximum over the refits
    clear : the same mean of the pairs that the whole gallery is not in doubt of
    worth, least, most : answers worth reading a query in the whole gallery, and their range over the refits
    said, unsaid : refits with probabilities and without any
    """
    ids = sorted(drawn.labels)
    asked = {ids[number] for number in _evenly(len(ids), ASKED).tolist()}
    before = _answers(drawn.case().tables, asked)
    changes, flips, clear, worth = [], [], [], []
    for seed in range(refits):
        after = _answers(drawn.without(LEFT_OUT, np.random.default_rng(seed)).case().tables, asked)
        if before and after:
            changes += _changes(before, after)
            flips.append(_flips(before, after))
            clear.append(_flips(before, after, DOUBT))
            worth.append(_worth(after))
    said = {"refits": refits, "said": len(flips)}
    if not flips:
        return said
    return said | {
        "change": float(np.mean(changes)),
        "flips": float(np.mean(flips)),
        "worst": max(flips),
        "clear": float(np.mean(clear)),
        "worth": _worth(before),
        "least": min(worth),
        "most": max(worth),
    }


# Probabilities of the answers to each query, the best answer first.
_Answers = dict[str, dict[str, float]]


def _answers(tables: Tables, asked: Container[str]) -> _Answers:
    """What some sets of a gallery are told of all others; nothing where nothing can be said."""
    fitted = train(tables, AUTO, SEED)
    search = Search(tables, fitted, calibration=calibrate(tables, fitted, SEED))
    return {
        ranking.query: {one.id: one.probability for one in ranking.answers if one.probability is not None}
        for ranking in search.find_many([id for id in tables.ids if id in asked])
        if any(one.probability is not None for one in ranking.answers)
    }


def _changes(before: _Answers, after: _Answers) -> list[float]:
    return [
        abs(said - after[query][id])
        for query, answers in before.items()
        if query in after
        for id, said in list(answers.items())[:DEPTH]
        if id in after[query]
    ]


def _flips(before: _Answers, after: _Answers, doubt: float = 0.0) -> float:
    """Share of pairs above .5 in either that are not in both; those that were nearer to .5 are left out."""
    either = both = 0
    for query, answers in after.items():
        for id, said in answers.items():
            was = before.get(query, {}).get(id)
            if was is not None and abs(was - EVEN) >= doubt:
                either += max(said, was) > EVEN
                both += min(said, was) > EVEN
    return 1 - both / either if either else 0.0


def _worth(answers: _Answers) -> float:
    return float(np.mean([sum(said > EVEN for said in each.values()) for each in answers.values()]))


# A few sets of any shape.


def few(pools: Sequence[Pool], sizes: Sequence[int], draws: int) -> Record:
    """Random sets of random shapes as galleries of their own: what `auto` changes."""
    found = {}
    for size in sizes:
        changes = [
            change
            for seed in range(draws)
            if (change := _change(pools, size, np.random.default_rng(seed))) is not None
        ]
        gains, ranks = np.array(changes).T
        found[str(size)] = {
            "draws": len(changes),
            "mean": float(gains.mean()),
            "worst": float(gains.min()),
            "harmed": int((np.maximum(-gains, ranks) > HARM).sum()),
            "stays": int((gains == 0).sum()),
        }
    return found


def _change(pools: Sequence[Pool], size: int, rng: np.random.Generator) -> tuple[float, float] | None:
    """Change of mAP and mean ANR on some sets of one gallery; None where nobody is there twice."""
    large = [pool for pool in pools if len(pool.ids) >= size]
    pool = large[rng.integers(len(large))]
    chosen = rng.choice(len(pool.ids), size, replace=False)
    if len(np.unique(pool.persons[chosen])) == size:
        return None
    tables = pool.tables(chosen)
    result = leave_one_out(
        tables, {name: fit_part(tables, name) for name in (BASELINE, AUTO)}, pool.labels_of(tables)
    )
    ours, theirs = result.summary(AUTO), result.summary(BASELINE)
    return ours["map"] - theirs["map"], ours["mean_anr"] - theirs["mean_anr"]
