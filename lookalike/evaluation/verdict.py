"""Verdict: what an evaluation says, in words and tables, the most important first; as one HTML page."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files

from lookalike.errors import BadInput
from lookalike.evaluation.drawing import Figure, check_libraries, svg
from lookalike.evaluation.measures import DEPTH, MEASURES, SURENESS, Evaluation, Harm
from lookalike.evaluation.statistics import ALPHA, Gain, Gains, Grouped


@dataclass(frozen=True)
class Table:
    """Numbers to read; the first column names the rows."""

    title: str
    note: str  # how to read the numbers
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]  # as they shall be printed
    best: Mapping[str, int] = field(default_factory=dict)  # cells printed bold: a row number by column


@dataclass(frozen=True)
class Page:
    """Everything a report says, in the order of the page."""

    title: str
    verdict: Sequence[str]  # paragraphs; the first is printed largest
    facts: Sequence[tuple[str, str]]  # what was measured: names and values
    tables: Sequence[Table]
    figures: Sequence[Figure]
    notes: Sequence[str]  # what a careful reader should know
    created: str  # when and by what; the only part that changes from day to day


def render(report: Page, drawn: Mapping[str, str] | None = None) -> str:
    """Return the page as HTML: no script, nothing loaded from elsewhere, all text escaped.

    `drawn` are the SVG of figures drawn already, by name; all are drawn unless given. Raise BadInput if a
    table has a row of another length than its columns, or a library is missing.
    """
    check_libraries()
    from jinja2 import Environment, StrictUndefined

    for table in report.tables:
        for row in table.rows:
            if len(row) != len(table.columns):
                raise BadInput(
                    f"a row of the table {table.title!r} has {len(row)} cells, but there are "
                    f"{len(table.columns)} columns: give one cell for each"
                )
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    # Read through the package, so that it is found in an installed wheel too.
    template = files("lookalike.evaluation").joinpath("page.html").read_text(encoding="utf-8")
    figures = [
        (figure, _data_address(svg(figure) if drawn is None else drawn[figure.name]))
        for figure in report.figures
    ]
    return environment.from_string(template).render(page=report, figures=figures)


def _data_address(picture: str) -> str:
    """The picture as its own address: as an image it can neither run scripts nor load anything."""
    return f"data:image/svg+xml;base64,{b64encode(picture.encode()).decode('ascii')}"


# What the verdict is about: the one users feel, and the paper's own measure.
MAIN = ("map", "mean_anr")
# Scores closer than this are the same score, but for rounding.
EQUAL = 1e-9


def verdict(
    evaluation: Evaluation, found: Gains, baseline: str, focus: str | None = None, hurt: Harm | None = None
) -> list[str]:
    """Sentences: who wins and by how much, whether that is beyond chance, where the focus hurts.

    `found` are the gains of every other method over the baseline, `focus` is the method the reader came for,
    and `hurt` what that did to the queries.
    """
    said = [_winner(evaluation, found, baseline, measure) for measure in MAIN] if found else []
    if focus in found:
        said.append(_method(evaluation, found, baseline, focus))
    if hurt is not None and focus is not None:
        said += _harm(focus, hurt)
    said.append(_small_print(evaluation, found))
    return said


def _winner(evaluation: Evaluation, found: Gains, baseline: str, measure: str) -> str:
    heading, larger = MEASURES[measure]
    # Larger is better from here on.
    scores = {name: evaluation.summary(name)[measure] * (1 if larger else -1) for name in evaluation.runs}
    best = max(scores, key=lambda name: scores[name])
    shown = {name: f"{abs(score):.4f}" for name, score in scores.items()}
    if scores[best] - scores[baseline] < EQUAL:
        level = [name for name in found if scores[baseline] - scores[name] < EQUAL]
        as_well = f"; {_listed(level)} {'does' if len(level) == 1 else 'do'} as well" if level else ""
        worse = [name for name in found if found[name][measure].words(measure) == "worse"]
        behind = f" Worse beyond chance: {_listed(worse)}." if worse else ""
        return f"By {heading}, nothing beats {baseline}: {shown[baseline]}{as_well}.{behind}"
    proven = [name for name in found if found[name][measure].words(measure) == "better"]
    if best in proven:
        return (
            f"By {heading}, {best} orders best: {shown[best]} against {shown[baseline]} of {baseline}. "
            f"That is better than {baseline} beyond chance ({_difference(found[best][measure])})."
        )
    said = (
        f"By {heading}, {best} comes first: {shown[best]} against {shown[baseline]} of {baseline}. Chance "
        f"alone could have done that ({_difference(found[best][measure])})"
    )
    if not proven:
        return f"{said}, so nobody is shown to win."
    sure = max(proven, key=lambda name: scores[name])
    of_sure = _difference(found[sure][measure])
    return f"{said}; the best that is beyond chance is {sure}: {shown[sure]} ({of_sure})."


def _method(evaluation: Evaluation, found: Gains, baseline: str, focus: str) -> str:
    mine, theirs = evaluation.summary(focus), evaluation.summary(baseline)
    words = [
        f"{found[focus][measure].words(measure)} by {MEASURES[measure][0]} "
        f"({theirs[measure]:.4f} to {mine[measure]:.4f}, {_difference(found[focus][measure])})"
        for measure in MAIN
    ]
    seeds = len(evaluation.runs[focus])
    averaged = f", averaged over {seeds} seeds," if seeds > 1 else ""
    return f"Against {baseline}, {focus}{averaged} is {' and '.join(words)}."


def _harm(focus: str, hurt: Harm) -> list[str]:
    whole = hurt.overall
    same = whole.queries - whole.better - whole.worse
    said = [
        f"Query by query, {focus} makes {whole.better} of {whole.queries} better, {whole.worse} worse and "
        f"leaves {same} as they are (average precision)."
    ]
    losers = [group for group in hurt.groups if group.before - group.after > EQUAL]
    if losers:
        worst = min(losers, key=lambda group: group.after - group.before)
        said.append(
            f"It hurts most among queries with: {worst.name} ({_count(worst.queries, 'query', 'queries')}, "
            f"average precision {worst.before:.3f} to {worst.after:.3f})."
        )
    elif whole.worse:
        said.append("No kind of query that we look at is served worse on average.")
    return said


def _small_print(evaluation: Evaluation, found: Gains) -> str:
    queries, single = evaluation.with_one_match()
    people = len(set(evaluation.people))
    said = (
        f"{_count(len(evaluation.queries), 'query', 'queries')} of {_count(people, 'person', 'people')} "
        f"against {_count(evaluation.sets, 'set', 'sets')}, {evaluation.distractors} of them distractors; "
        f"{_count(queries, 'query has', 'queries have')} a single match, of "
        f"{_count(single, 'person', 'people')}."
    )
    if evaluation.passed_over:
        left_out = _count(evaluation.passed_over, "query was", "queries were")
        said += f" {left_out} passed over: the gallery does not show the person."
    if not found:
        return said
    said += (
        f" Beyond chance means p < {ALPHA} by a paired test over people, corrected for "
        f"{_count(len(found), 'method', 'methods')}."
    )
    # The rarest outcome of the test: all people agree.
    if 2.0 ** (1 - people) * len(found) >= ALPHA:
        said += f" With {_count(people, 'person', 'people')} no difference could be shown at all."
    return said


def _difference(gain: Gain) -> str:
    mean, low, high = gain.difference
    chance = "p < 0.001" if gain.p_corrected < 0.001 else f"p = {gain.p_corrected:.3f}"
    return f"difference {mean:+.4f}, 95 % interval {low:+.4f} to {high:+.4f}, {chance}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


# Tables of a report: measures, differences with their chance, seeds, where a method hurts.


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
    return [Table("Probabilities, and how often they are right", note, ["method", *SURENESS.values()], rows)]


def groups_tables(parted: Grouped) -> list[Table]:
    """Every measure by group of queries, and how far probabilities may be believed, if there are any."""
    note = (
        "Means over the queries of each group; for each of them all sets were ranked. The interval is that "
        "of a bootstrap over people: where there are few, a difference between groups may be luck."
    )
    made = [Table(f"By {parted.column}", " ".join([note, *parted.remarks()]), *parted.measures())]
    columns, rows = parted.sureness()
    if rows:
        title = f"Probabilities, and how often they are right, by {parted.column}"
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
    p = gain.p_corrected
    return [f"{mean:+.4f}", f"{low:+.4f} to {high:+.4f}", "< 0.001" if p < 0.001 else f"{p:.3f}"]
