"""Verdict: what an evaluation says, in plain words, the most important first."""

from __future__ import annotations

from lookalike.evaluation.contrasts import ALPHA, Gain, Gains
from lookalike.evaluation.harm import Harm
from lookalike.evaluation.measures import MEASURES
from lookalike.evaluation.results import Evaluation

# What the verdict is about: the paper's own measure, and the one users feel.
MAIN = ("map", "mean_anr")


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
    said.append(_small_print(evaluation, len(found)))
    return said


def _winner(evaluation: Evaluation, found: Gains, baseline: str, measure: str) -> str:
    heading, larger = MEASURES[measure]
    scores = {name: evaluation.summary(name)[measure] for name in evaluation.runs}
    best = max(scores, key=lambda name: scores[name] if larger else -scores[name])
    if best == baseline:
        return (
            f"By {heading}, nothing beats {baseline} here: {scores[best]:.4f}, and every second stage is "
            f"{'lower' if larger else 'higher'}."
        )
    gain = found[best][measure]
    chance = (
        "which is beyond chance"
        if gain.beyond_chance
        else "which chance alone could have done, so nobody is shown to win"
    )
    return (
        f"By {heading}, {best} orders best: {scores[best]:.4f} against {scores[baseline]:.4f} of {baseline} "
        f"({_difference(gain)}), {chance}."
    )


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
    losers = [group for group in hurt.groups if group.after < group.before]
    if losers:
        worst = min(losers, key=lambda group: group.after - group.before)
        said.append(
            f"It hurts most among queries with: {worst.name} ({worst.queries} queries, average precision "
            f"{worst.before:.3f} to {worst.after:.3f})."
        )
    else:
        said.append("No kind of query that we look at is served worse on average.")
    return said


def _small_print(evaluation: Evaluation, methods: int) -> str:
    queries, people = evaluation.with_one_match()
    return (
        f"{len(evaluation.queries)} queries of {len(set(evaluation.people))} people against "
        f"{evaluation.sets} sets, {evaluation.distractors} of them distractors; {queries} queries, of "
        f"{people} people, have a single match. Beyond chance means p < {ALPHA} by a paired test over "
        f"people, corrected for {methods} methods."
    )


def _difference(gain: Gain) -> str:
    mean, low, high = gain.difference
    return f"difference {mean:+.4f}, 95 % interval {low:+.4f} to {high:+.4f}, p = {gain.p_corrected:.4f}"
