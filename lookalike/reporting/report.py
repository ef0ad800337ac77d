"""Report: an evaluation as a page that people can believe and a record that they can check."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from lookalike.errors import BadInput
from lookalike.evaluation.contrasts import Gains, gains
from lookalike.evaluation.experiment import BASELINE, LEAVE_ONE_OUT, Experiment
from lookalike.evaluation.extrapolation import Met, features_met
from lookalike.evaluation.groups import Grouped
from lookalike.evaluation.harm import harm
from lookalike.evaluation.measures import MEASURES, per_query
from lookalike.evaluation.record import record
from lookalike.evaluation.reliability import words
from lookalike.evaluation.results import Evaluation
from lookalike.evaluation.verdict import MAIN, verdict
from lookalike.progress import Track, silent
from lookalike.reporting import tables
from lookalike.reporting.figure import Figure
from lookalike.reporting.figures.anr import anr_cdf, proxies_cdf
from lookalike.reporting.figures.features import retrieval_features, training_features
from lookalike.reporting.figures.intervals import differences
from lookalike.reporting.figures.reliability import reliability
from lookalike.reporting.figures.top100 import match_probability, matches_found
from lookalike.reporting.folder import write_report
from lookalike.reporting.page import Page
from lookalike.reporting.sampled import selection_figures
from lookalike.transitivity.extrapolation import far_from

# The paper looks at the first hundred of 3,424 answers; of a small gallery at a tenth.
DEPTH = 100
# More curves than these in one figure cannot be told apart.
CURVES = 6


def report(
    folder: Path,
    experiment: Experiment,
    evaluation: Evaluation,
    faces: bool = False,
    command: str = "",
    track: Track = silent,
    parted: Grouped | None = None,
) -> dict[str, Any]:
    """Write the report of an evaluation into a folder, and return its record.

    Parameters
    ----------
    folder : Path
        As `check_report_folder` accepted it.
    experiment : Experiment
    evaluation : Evaluation
        What it found.
    faces : bool
        Whether pictures of faces may be in the report.
    command : str
        How to make the report again.
    track : callable
        Shows progress.
    parted : Grouped, optional
        The evaluation by groups of queries.

    Raises
    ------
    BadInput
        If the evaluation counts the query as its own match.
    """
    if evaluation.query_counted:
        raise BadInput("a report leaves the query out of its own matches: evaluate again without count_query")
    focus = experiment.focus
    found = gains(evaluation, BASELINE)
    hurt = harm(evaluation, focus, BASELINE) if focus is not None else None
    met = None
    # Splits and outside queries have other regressors, or other queries, than the gallery asked about itself.
    if focus is not None and experiment.protocol == LEAVE_ONE_OUT:
        [fitted, *_] = experiment.fitted(focus)
        met = features_met(experiment.tables, fitted, experiment.labels, experiment.seeds[0])
    said = verdict(evaluation, found, BASELINE, focus, hurt)
    if met is not None and focus is not None:
        said.insert(-1, _extrapolation(focus, met))
    measured = evaluation.calibration()
    for name in measured:
        if name == (focus or BASELINE):
            said.insert(max(1, len(said) - 1), words(name, measured[name]))
    selected, notes = selection_figures(experiment.gallery, experiment.tables.similarity, faces, track)
    figures = [*_figures(evaluation, found, focus), *_feature_figures(met), *selected]
    created = datetime.now(UTC).isoformat(timespec="seconds")
    facts = {"command": command, "created": created, **experiment.facts()}
    kept = {**record(evaluation, found, facts), "verdict": said}
    if met is not None:
        kept |= {"outside_training": met.outside(), "told_apart": met.told_apart()}
    if parted is not None:
        kept |= {"by": parted.to_dict()}
    seeds = tables.seeds_table(evaluation, list(experiment.seeds))
    shown = [
        tables.measures_table(evaluation),
        *tables.sureness_tables(measured),
        *(tables.groups_tables(parted) if parted is not None else []),
        *tables.differences_tables(found, BASELINE),
        *([seeds] if seeds is not None else []),
        *(tables.harm_tables(focus, hurt) if hurt is not None and focus is not None else []),
    ]
    title = f"Who finds people best? {len(evaluation.queries)} queries, {evaluation.sets} sets"
    page = Page(title, said, _facts(kept), shown, figures, notes, kept["created"])
    write_report(folder, page, kept)
    return kept


def _figures(evaluation: Evaluation, found: Gains, focus: str | None) -> list[Figure]:
    anr = {name: evaluation.of_all_seeds(name, "mean_anr") for name in evaluation.runs}
    names = list(anr)
    made = [anr_cdf({name: anr[name] for name in names[:CURVES]})]
    for number, start in enumerate(range(CURVES, len(names), CURVES - 1), start=2):
        chosen = [BASELINE, *names[start : start + CURVES - 1]]
        more = anr_cdf({name: anr[name] for name in chosen})
        made.append(replace(more, name=f"anr_cdf_{number}", title=f"{more.title}, continued"))
    for measure in MAIN:
        rows = [(name, *gain[measure].difference) for name, gain in found.items()]
        sure = [name for name, gain in found.items() if gain[measure].beyond_chance]
        if rows:
            made.append(differences(rows, sure, MEASURES[measure][0], BASELINE))
    if evaluation.by_proxies:
        counted = {
            count: per_query(ranks, evaluation.ranked)["mean_anr"]
            for count, ranks in evaluation.by_proxies.items()
        }
        made.append(_of_first_seed(proxies_cdf(counted, anr[BASELINE])))
    depth = min(DEPTH, max(1, evaluation.ranked // 10))
    compared = [BASELINE] if focus is None else [BASELINE, focus]
    within = {name: evaluation.found_within(name, depth) for name in compared}
    available = evaluation.available()
    bins = {name: evaluation.sureness[name][0].bins() for name in compared if name in evaluation.sureness}
    drawn = {name: own for name, own in bins.items() if own}
    if drawn:
        made.append(_of_first_seed(reliability(drawn)))
    found_within = (match_probability(available, within, depth), matches_found(available, within, depth))
    return [*made, *map(_of_first_seed, found_within)]


def _of_first_seed(figure: Figure) -> Figure:
    """Say that a figure shows one seed, where the tables average over all."""
    said = f"{figure.caption} A method that learns by chance is shown by its first seed."
    return replace(figure, caption=said)


def _feature_figures(met: Met | None) -> list[Figure]:
    if met is None or not len(met.training.x):
        return []
    x, y = met.training
    share = far_from(x, np.concatenate([met.matches, met.others]))
    return [training_features(x, y), retrieval_features(x, y, met.matches, met.others, share)]


def _extrapolation(focus: str, met: Met) -> str:
    """Why the regressor does what it does: whether it meets what it was trained on, and can still tell."""
    far, apart = met.outside(), met.told_apart()
    return (
        f"Of two rows of five numbers, one of a match and one of another set, the regressor of {focus} "
        f"prefers that of the match in {apart['training']:.0%} of pairs among its training examples and in "
        f"{apart['retrieval']:.0%} of those met at retrieval, where the baseline similarity prefers it in "
        f"{apart['baseline']:.0%}; 50 % is chance. {far['matches']:.0%} of the rows of matches and "
        f"{far['others']:.0%} of the others lie further from the mean of its training examples than 99 % of "
        f"these do."
    )


def _facts(kept: dict[str, Any]) -> list[tuple[str, str]]:
    gallery = kept["gallery"]
    facts = [
        ("made by", kept["command"]),
        ("created", kept["created"]),
        (
            "gallery",
            f"{gallery['sets']} sets, {gallery['faces']} faces, {gallery['dimension']} numbers a face",
        ),
        ("descriptor", str(gallery["descriptor"])),
        ("fingerprint of the gallery", gallery["fingerprint"]),
        ("fingerprint of the labels", kept["labels"]),
        ("set similarity", kept["similarity"]),
        ("preparation", kept["preparation"]),
        *((f"method {name}", spec) for name, spec in kept["methods"].items()),
        ("protocol", kept["protocol"]),
        ("seeds", ", ".join(map(str, kept["seeds"]))),
        ("versions", ", ".join(f"{name} {value}" for name, value in kept["versions"].items())),
    ]
    return [(name, value) for name, value in facts if value]
