"""Verdict: what an evaluation says, in plain words, the most important first."""

from __future__ import annotations

from collections.abc import Sequence

from lookalike.evaluation.contrasts import ALPHA, Gain, Gains
from lookalike.evaluation.harm import Harm
from lookalike.evaluation.measures import MEASURES
from lookalike.evaluation.results import Evaluation

# What the verdict is about: the one users feel, and the paper's own measure.
MAIN = ("map", "mean_anr")
# Scores closer than this are the same score, but for rounding.
EQUAL = 1e-9


def verdict(
    evaluation: Evaluation, found: Gains, baseline: str, focus: str | None = None, hurt: Harm | None = None
) -> list[str]:
    """Sentences: who wins and by how much, whether that is beyond chance, where the focus hurts.

    Parameters
    ----------
    evaluation : Evaluation
    found : Gains
        Of every other method over the baseline.
    baseline : str
    focus : str, optional
        The method the reader came for.
    hurt : Harm, optional
        What the focus did to the queries.
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
