"""Tables of a report: measures, differences with their chance, seeds, where a method hurts."""

from __future__ import annotations

from collections.abc import Mapping

from lookalike.evaluation.contrasts import Gain, Gains
from lookalike.evaluation.groups import Grouped
from lookalike.evaluation.harm import Harm
from lookalike.evaluation.measures import MEASURES
from lookalike.evaluation.reliability import DEPTH, SURENESS
from lookalike.evaluation.results import Evaluation
from lookalike.reporting.page import Table


def measures_table(evaluation: Evaluation) -> Table:
    """One line for each method, averaged over the seeds; the best of each column is marked."""
    names = list(evaluation.runs)
    found = [evaluation.summary(name) for name in names]
    best = {}
    for measure, (heading, larger) in MEASURES.items():
        column = [row[measure] for row in found]
        best[heading] = column.index(max(column) if larger else min(column))
    rows = [
        [name, *(f"{row[measure]:.4f}" for measure in MEASURES)]
        for name, row in zip(names, found, strict=True)
    ]
    return Table(
        "Measures",
        "Means over all queries. ANR: average normalised rank, 0 is best. ANR < 0.3: share of queries. "
        "ANR q98: 98 of 100 queries are below. mAP: mean average precision. rank-1: share of queries whose "
        "first answer is right. match in 100: share of queries with a match among the first 100 answers.",
        ["method", *(heading for heading, _ in MEASURES.values())],
        rows,
        best,
    )


def sureness_tables(measured: Mapping[str, Mapping[str, float | None]]) -> list[Table]:
    """How far probabilities may be believed, one line for each method; nothing if there are none."""
    if not measured:
        return []
    rows = [
        [name, *("-" if row[key] is None else f"{row[key]:.4f}" for key in SURENESS)]
        for name, row in measured.items()
    ]
    note = (
        f"Calibration error: how far the probabilities of the first {DEPTH} answers are from the share that "
        "is right, on average; then the same of the first answer alone. Worth reading: answers a query that "
        "are said to be more likely right than wrong, the share of these that is right, and the share of all "
        "matches that are among them."
    )
    return [Table("How sure, and how right", note, ["method", *SURENESS.values()], rows)]


def groups_tables(parted: Grouped) -> list[Table]:
    """Every measure by group of queries, and how far probabilities may be believed, if there are any."""
    note = (
        "Means over the queries of each group; for each of them all sets were ranked. The interval is that "
        "of a bootstrap over people: where there are few, a difference between groups may be luck."
    )
    made = [Table(f"By {parted.column}", note, *parted.measures())]
    columns, rows = parted.sureness()
    if rows:
        title = f"How sure, and how right, by {parted.column}"
        made.append(Table(title, "As in the table of all queries.", columns, rows))
    return made


def differences_tables(found: Gains, baseline: str) -> list[Table]:
    """Each method minus the baseline, one table for each measure."""
    how = (
        "Method minus baseline on the same queries; 95 % interval by a bootstrap over people; p by a paired "
        "test that flips the signs of whole people, corrected for the number of methods (Holm)."
    )
    made: list[Table] = []
    for measure in next(iter(found.values()), {}):
        heading, larger = MEASURES[measure]
        gain = f"A {'positive' if larger else 'negative'} difference is a gain."
        note = gain if made else f"{how} {gain}"
        rows = [[name, *_gain(gains[measure])] for name, gains in found.items()]
        columns = ["method", "difference", "95 % interval", "p"]
        made.append(Table(f"{heading}: differences to {baseline}", note, columns, rows))
    return made


def seeds_table(evaluation: Evaluation, seeds: list[int]) -> Table | None:
    """Every seed of the methods in which chance has a part; None if there is nothing to tell apart."""
    rows = [
        [name, str(seed), *(f"{row[measure]:.4f}" for measure in MEASURES)]
        for name, runs in evaluation.runs.items()
        if len(runs) > 1
        for seed, row in zip(seeds, evaluation.summaries(name), strict=True)
    ]
    if not rows:
        return None
    note = "A method that learns by chance gives another order for each seed."
    return Table("Seeds", note, ["method", "seed", *(heading for heading, _ in MEASURES.values())], rows)


def harm_tables(focus: str, hurt: Harm) -> list[Table]:
    """Kinds of queries and what the method did to them; the queries that lost most."""
    kinds = Table(
        f"Where {focus} helps and where it hurts",
        "Average precision by the baseline and by the method. The thirds are chosen by the baseline: a good "
        "third can hardly win and a poor one hardly lose; compare them between methods.",
        ["queries with", "how many", "baseline", focus, "better", "worse"],
        [
            [
                one.name,
                str(one.queries),
                f"{one.before:.4f}",
                f"{one.after:.4f}",
                str(one.better),
                str(one.worse),
            ]
            for one in [hurt.overall, *hurt.groups]
        ],
    )
    if not hurt.hardest_hit:
        return [kinds]
    rows = [[query.id, f"{query.before:.4f}", f"{query.after:.4f}"] for query in hurt.hardest_hit]
    lost = Table(f"Queries that {focus} hurts most", "Average precision.", ["query", "baseline", focus], rows)
    return [kinds, lost]


def _gain(gain: Gain) -> list[str]:
    mean, low, high = gain.difference
    return [f"{mean:+.4f}", f"{low:+.4f} to {high:+.4f}", _p(gain.p_corrected)]


def _p(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.3f}"
