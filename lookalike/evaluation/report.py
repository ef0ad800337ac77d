"""Report: an evaluation as a page that people can believe and a record that they can check."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np

from lookalike import atomic
from lookalike.errors import BadInput, in_words
from lookalike.evaluation.drawing import Figure, check_libraries, contents
from lookalike.evaluation.experiment import BASELINE, LEAVE_ONE_OUT, Experiment, record
from lookalike.evaluation.figures import (
    anr_cdf,
    differences,
    match_probability,
    matches_found,
    proxies_cdf,
    reliability,
)
from lookalike.evaluation.learning import Met, features_met, retrieval_features, training_features
from lookalike.evaluation.measures import MEASURES, Evaluation, harm, per_query, words
from lookalike.evaluation.sampling import selection_figures
from lookalike.evaluation.statistics import Gains, Grouped, gains
from lookalike.evaluation.verdict import (
    MAIN,
    Page,
    differences_tables,
    groups_tables,
    harm_tables,
    measures_table,
    render,
    seeds_table,
    sureness_tables,
    verdict,
)
from lookalike.method.regression import far_from
from lookalike.progress import Track, silent

MARK: Final = ".lookalike-report"
MARK_TEXT: Final = "Made by `lookalike evaluate --report`, which replaces what is here.\n"
HTML, RECORD, FIGURES = "report.html", "report.json", "figures"
# Besides these a report holds nothing; what a file manager leaves behind is nobody's work.
OURS: Final = {MARK, HTML, RECORD, FIGURES, ".DS_Store"}
KINDS: Final = {".svg", ".png", ".csv"}


def check_report_folder(folder: Path) -> None:
    """Refuse a place where no report can go, or where a library is missing; call it before the long work."""
    check_libraries()
    with in_words(folder):
        place = _mended(folder)
        _check_replaceable(place, folder)
        with atomic.folder_aside(place.parent):
            pass


def write_report(folder: Path, page: Page, record: Mapping[str, Any]) -> None:
    """Write ``report.html``, ``report.json`` and ``figures/``; an earlier report is replaced.

    Everything is drawn first, written into a new folder beside, and renamed at the end. Whatever happens
    before leaves an earlier report as it was. Errors are those of `check_report_folder`, and BadInput if the
    record is not text, finite numbers, lists and mappings, or two figures share a name.
    """
    everything = _everything(page, record)
    with in_words(folder):
        place = _mended(folder)
        _check_replaceable(place, folder)
        with atomic.folder_aside(place.parent) as aside:
            atomic.make_folder(aside / FIGURES)
            for name, content in everything.items():
                atomic.write_new(aside / name, content)
            atomic.sync(aside / FIGURES)
            atomic.sync(aside)
            _exchange(aside, place)
        atomic.sync(place.parent)


def _everything(page: Page, record: Mapping[str, Any]) -> dict[str, bytes]:
    """All files of a report by name."""
    twice = [name for name, count in Counter(figure.name for figure in page.figures).items() if count > 1]
    if twice:
        raise BadInput(f"two figures are called {twice[0]!r}: give each its own name")
    try:
        text = json.dumps(record, allow_nan=False, ensure_ascii=False, indent=1)
    except ValueError as reason:
        raise BadInput(
            f"the record of the report holds a number that is not finite ({reason}): leave it out"
        ) from reason
    drawn = {f"{FIGURES}/{name}": file for figure in page.figures for name, file in contents(figure).items()}
    pictures = {figure.name: drawn[f"{FIGURES}/{figure.name}.svg"].decode() for figure in page.figures}
    return {
        HTML: render(page, pictures).encode("utf-8", "replace"),
        RECORD: f"{text}\n".encode("utf-8", "replace"),
        **drawn,
        MARK: MARK_TEXT.encode(),
    }


def _check_replaceable(place: Path, given: Path) -> None:
    if not place.exists():
        return
    if not place.is_dir():
        raise BadInput(
            f"{given} is a file, but a report is a folder: choose a new folder, or remove the file"
        )
    held = {file.name for file in place.iterdir()}
    if held and MARK not in held:
        raise BadInput(
            f"{given} holds something that is not a report, for instance {min(held)}: choose a new or "
            "empty folder"
        )
    figures = place / FIGURES
    drawn = figures.iterdir() if figures.is_dir() else []
    foreign = sorted(held - OURS) + sorted(
        f"{FIGURES}/{file.name}" for file in drawn if file.suffix not in KINDS and file.name not in OURS
    )
    if foreign:
        raise BadInput(
            f"{given} holds {foreign[0]} beside an earlier report, which would be lost: move it away, or "
            "choose another folder"
        )


def _exchange(aside: Path, place: Path) -> None:
    """Give the new folder its name; a folder that is not empty cannot be replaced in one step."""
    if not (place / MARK).exists():
        if place.exists():
            atomic.remove_folder(place)
        atomic.rename(aside, place)
        return
    earlier = _earlier(place)
    _forget(earlier)
    atomic.rename(place, earlier)
    try:
        atomic.rename(aside, place)
    except BaseException:
        atomic.rename(earlier, place)
        raise
    _forget(earlier)


def _forget(earlier: Path) -> None:
    # The mark goes first: from then on nobody takes the rest for a report.
    with suppress(OSError):
        atomic.delete(earlier / MARK)
    atomic.delete_tree(earlier)


def _mended(folder: Path) -> Path:
    """The real place of a report; if a process died between two renames, the earlier report comes back."""
    place = Path(os.path.realpath(folder))
    if place.name and not place.exists() and (_earlier(place) / MARK).is_file():
        atomic.rename(_earlier(place), place)
    return place


def _earlier(place: Path) -> Path:
    return place.with_name(f".{place.name}.earlier-report")


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
    """Write the report of an evaluation into a folder that `check_report_folder` accepted; return its record.

    `faces` says whether pictures of faces may be in it, `command` how to make it again. Raise BadInput if
    the evaluation counts the query as its own match, or used decisions.
    """
    if evaluation.query_counted:
        raise BadInput("a report leaves the query out of its own matches: evaluate again without count_query")
    if evaluation.known is not None:
        raise BadInput("a report is about searches that know no decisions: evaluate again without decisions")
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
    seeds = seeds_table(evaluation, list(experiment.seeds))
    shown = [
        measures_table(evaluation),
        *sureness_tables(measured),
        *(groups_tables(parted) if parted is not None else []),
        *differences_tables(found, BASELINE),
        *([seeds] if seeds is not None else []),
        *(harm_tables(focus, hurt) if hurt is not None and focus is not None else []),
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
