"""The page about re-rankers: the text beside this file, tables from ``docs/lab/reranking.json``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks import stages_words as words
from benchmarks.real_faces import RIVALS
from benchmarks.stages_measure import AUTO, BASELINE, OURS, PAIR
from benchmarks.stages_shapes import DRAWS
from benchmarks.stages_words import MISSING, head, lines, row
from lookalike.evaluation.measures import MEASURES, TOLERATED

TEXT = Path(__file__).with_suffix(".md")
# Differences smaller than this are rounding.
EQUAL = 1e-9
# What was asked of the method before it was measured.
RANK1, HARM, SHARE, WINS = -0.005, -0.005, 0.83, 0.99

Run = dict[str, Any]


def page(kept: dict[str, Any]) -> str:
    """The whole page as Markdown; of a part that was not measured it says so."""
    runs, shapes, families = kept["runs"], kept.get("shapes"), kept.get("families")
    rows, further = (part["rows"] if part else [] for part in (shapes, families))
    return TEXT.read_text(encoding="utf-8").format(
        date=_dates(kept),
        machine="version {lookalike}, {cores} cores, {system}".format(**kept["versions"]),
        verdict=lines(words.verdict(kept)),
        advice=lines(words.advice(kept)),
        draws=shapes["draws"] if shapes else DRAWS,
        shapes_key=lines(words.key(kept)),
        shapes=lines(words.gains_table(rows, "shape") if rows else ()),
        shapes_counted=lines(words.counted(shapes)),
        shapes_ranks=lines(words.ranks_table(rows, "shape") if rows else ()),
        shapes_strict=lines(words.strict_table(kept)),
        shapes_sure=lines(words.sure_table(rows, "shape") if rows else ()),
        shapes_unsure=lines(words.unsure(kept)),
        stability=lines(words.stability_table(kept)),
        few=lines(words.few_table(kept)),
        families_key=lines(words.families_key(kept)),
        families=lines(words.gains_table(further, "family") if further else ()),
        families_ranks=lines(words.ranks_table(further, "family") if further else ()),
        families_counted=lines(words.counted(families)),
        families_sure=lines(words.sure_table(further, "family") if further else ()),
        hurts=lines([*words.hurts(kept)] or ["Nothing of what was measured."]),
        shapes_figure=_picture(
            rows, "stages_shapes", "What auto and the best rival gain over the baseline, by shape"
        ),
        configurations_figure=_picture(
            runs,
            "stages_configurations",
            "mAP of the baseline, the best rival and adaptive, by configuration",
        ),
        strengths_figure=_picture(
            kept["strengths"],
            "stages_strengths",
            "Closed triangles and mAP by the share of strangers that is subtracted",
        ),
        same=lines(_same(runs)),
        counts=lines(_counts(runs) if runs else ()),
        missed=lines(f"- {one}" for one in _missed(kept) or ["Nothing."]),
        anr=lines(_main(runs, "mean_anr") if runs else ()),
        precision=lines(_main(runs, "map") if runs else ()),
        shares=lines(_shares(runs) if runs else ()),
        defaults=lines(_defaults(kept["defaults"]) if kept["defaults"] else ()),
        strict=lines(_strict(runs) if runs else ()),
        halves=lines(_halves(runs) if runs else ()),
        small=lines(_small(runs) if runs else ()),
        worlds=lines(_worlds(kept["worlds"]) if kept["worlds"] else ()),
        calibration=lines(_calibration(runs) if runs else ()),
        every=lines(_every(runs) if runs else ()),
    )


def _dates(kept: dict[str, Any]) -> str:
    """When it was measured; parts may be older than the last run."""
    dates = kept.get("dates", {})
    older = [f"{part} on {date}" for part, date in dates.items() if date != kept["date"]]
    return f"{kept['date']} ({', '.join(older)})" if older else kept["date"]


def _picture(found: Sequence[Any], name: str, title: str) -> str:
    return f"![{title}](figures/{name}.svg)" if found else MISSING


def _same(runs: Sequence[Run]) -> Iterator[str]:
    """Whether `auto` decides otherwise than `adaptive` anywhere."""
    other = [run["name"] for run in runs if run["methods"][AUTO] != run["methods"][OURS]]
    if runs:
        where = f"but for {', '.join(other)} " if other else ""
        yield (
            f"On the {len(runs)} configurations of the development data {where}`{AUTO}` does what "
            f"`{OURS}` does."
        )


def better(measure: str, ours: float, theirs: float) -> bool:
    """Whether one value of a measure is better than another."""
    return (ours - theirs) * (1 if MEASURES[measure][1] else -1) > EQUAL


def best_rival(run: Run, measure: str) -> str:
    """The rival that is best by a measure: chosen with labels, so no user has it."""
    sign = 1 if MEASURES[measure][1] else -1
    return max(
        (name for name in RIVALS if name in run["methods"]),
        key=lambda name: sign * run["methods"][name][measure],
    )


def _wins(runs: Sequence[Run], measure: str, than: Callable[[Run], str]) -> int:
    return sum(
        better(measure, run["methods"][OURS][measure], run["methods"][than(run)][measure]) for run in runs
    )


def _counts(runs: Sequence[Run]) -> Iterator[str]:
    yield from head("`adaptive` is better than", "mean ANR", "mAP", "rank-1")
    yield row("the baseline", *(f"{_wins(runs, one, lambda _: BASELINE)} of {len(runs)}" for one in _MAIN))
    rivals = [_wins(runs, one, lambda run, one=one: best_rival(run, one)) for one in _MAIN]  # type: ignore[misc]
    yield row("the best rival", *(f"{count} of {len(runs)}" for count in rivals))
    yield row(f"`{PAIR}`", *(f"{_wins(runs, one, lambda _: PAIR)} of {len(runs)}" for one in _MAIN))
    yield ""
    apart = [sum(_apart(run["gains"][one]) for run in runs) for one in _MAIN]
    yield (
        f"The 95 % interval of the difference to the baseline leaves out 0 in {apart[0]} of {len(runs)} "
        f"(mean ANR), {apart[1]} (mAP) and {apart[2]} (rank-1)."
    )


_MAIN = ("mean_anr", "map", "rank1")


def _apart(gain: dict[str, float]) -> bool:
    return gain["low"] > 0 or gain["high"] < 0


def _missed(kept: dict[str, Any]) -> list[str]:
    return list(_failures(kept))


def _failures(kept: dict[str, Any]) -> Iterator[str]:
    """What was asked for beforehand and is not so, in sentences."""
    runs = kept["runs"]
    for measure in ("mean_anr", "map"):
        label = MEASURES[measure][0]
        if lost := [run["name"] for run in runs if not _beats(run, measure, BASELINE)]:
            yield f"{label} better than the baseline everywhere: not on {', '.join(lost)}."
        lost = [run["name"] for run in runs if not _beats(run, measure, best_rival(run, measure))]
        if len(lost) > 1:
            yield f"{label} better than the best rival on all but one: not on {', '.join(lost)}."
        if lost := [
            run["name"]
            for run in runs
            if not better(measure, *(run["strict"][one][measure] for one in _ASKED))
        ]:
            yield f"{label} better than the baseline for strict queries: not on {', '.join(lost)}."
        lost = [run["name"] for run in runs if not _strictly_best(run, measure)]
        if len(lost) > 1:
            yield (
                f"{label} better than the best rival for strict queries on all but one: not on "
                f"{', '.join(lost)}."
            )
    drop = [run["name"] for run in runs if run["gains"]["rank1"]["mean"] < RANK1]
    if drop:
        yield f"Rank-1 at most half a point below the baseline: not on {', '.join(drop)}."
    if kept["defaults"]:
        reached = max(one["methods"][AUTO]["anr_below_0.3"] for one in kept["defaults"].values())
        if reached < SHARE:
            yield f"{SHARE:.0%} of queries with ANR < 0.3 from pictures: it is {reached:.1%} at best."
    draws = sum(run["halves"]["draws"] for run in runs)
    wins = sum(run["halves"]["better"]["map"] for run in runs)
    if wins < WINS * draws:
        yield f"mAP better than the baseline in {WINS:.0%} of random halves: it is {wins} of {draws}."
    harmed = [
        f"{run['name']} ({size} sets, {one['mean']:+.4f})"
        for run in runs
        for size, one in run["small"].items()
        if one["mean"] < HARM
    ]
    if harmed:
        yield f"At most {-HARM} mAP below the baseline in small galleries: not on {', '.join(harmed)}."
    behind = [
        f"{one['name']} at noise {one['noise']:g}"
        for one in kept["worlds"]
        if one["name"].startswith("12-24")
        and one["methods"][AUTO]["map"] < one["methods"][best_rival(one, "map")]["map"] - 0.01
    ]
    if behind:
        yield f"At most 0.01 mAP below the best rival where people have many sets: not {', '.join(behind)}."
    unsure = [run["name"] for run in runs if (run["calibration"][AUTO]["error"] or 0) > TOLERATED]
    if unsure:
        yield f"Calibration error at most {TOLERATED}: not on {', '.join(unsure)}."


_ASKED = ("strict", "baseline")


def _beats(run: Run, measure: str, other: str) -> bool:
    return better(measure, run["methods"][OURS][measure], run["methods"][other][measure])


def _main(runs: Sequence[Run], measure: str) -> Iterator[str]:
    others = ("learnt", PAIR)
    yield from head(
        "configuration", "baseline", "best rival", f"`{OURS}`", "difference to the baseline (95 %)",
        *(f"`{one}`" for one in others),
    )  # fmt: skip
    for run in runs:
        methods, gain, rival = run["methods"], run["gains"][measure], best_rival(run, measure)
        yield row(
            run["name"],
            f"{methods[BASELINE][measure]:.4f}",
            f"{methods[rival][measure]:.4f} `{rival}`",
            f"{methods[OURS][measure]:.4f}",
            f"{gain['mean']:+.4f} ({gain['low']:+.4f} to {gain['high']:+.4f})",
            *(f"{methods[one][measure]:.4f}" for one in others),
        )


def _shares(runs: Sequence[Run]) -> Iterator[str]:
    both = ("anr_below_0.3", "rank1")
    headings = [
        f"{MEASURES[one][0]}: {who}" for one in both for who in ("baseline", "best rival", f"`{OURS}`")
    ]
    yield from head("configuration", "queries", *headings)
    for run in runs:
        cells = [
            f"{run['methods'][name][one]:.3f}"
            for one in both
            for name in (BASELINE, best_rival(run, one), OURS)
        ]
        yield row(run["name"], str(run["queries"]), *cells)


def _defaults(found: dict[str, Any] | None) -> Iterator[str]:
    yield from head("preparation", "re-ranker", "ANR < 0.3", "mean ANR", "mAP", "rank-1")
    for one in (found or {}).values():
        for name, values in one["methods"].items():
            cells = [f"{values[key]:.3f}" for key in ("anr_below_0.3", "mean_anr", "map", "rank1")]
            yield row(f"`{one['preparation']}` ({one['numbers']} numbers)", f"`{name}`", *cells)


def _strict(runs: Sequence[Run]) -> Iterator[str]:
    kinds = ("baseline", "inside", "strict")
    asked = ("baseline", "in the gallery", "strict")
    yield from head(
        "configuration", "queries", *(f"{label}: {one}" for label in ("mean ANR", "mAP") for one in asked)
    )
    for run in runs:
        found = run["strict"]
        cells = [f"{found[kind][measure]:.4f}" for measure in ("mean_anr", "map") for kind in kinds]
        yield row(run["name"], str(found["queries"]), *cells)
    wins = [
        sum(better(one, *(run["strict"][kind][one] for kind in _ASKED)) for run in runs)
        for one in ("mean_anr", "map")
    ]
    over = [sum(_strictly_best(run, one) for run in runs) for one in ("mean_anr", "map")]
    yield ""
    yield (
        f"Strict, better than the baseline: {wins[0]} (mean ANR) and {wins[1]} (mAP) of {len(runs)}; better "
        f"than the best rival: {over[0]} and {over[1]}, if all queries change as much as these do."
    )


def _strictly_best(run: Run, measure: str) -> bool:
    """Whether all queries would beat the rival if they lost as much as those that are asked strictly."""
    rival = run["methods"][best_rival(run, measure)][measure]
    change = run["strict"]["strict"][measure] - run["strict"]["inside"][measure]
    return better(measure, run["methods"][OURS][measure] + change, rival)


def _halves(runs: Sequence[Run]) -> Iterator[str]:
    yield from head("configuration", "better mAP", "worst change", "better mean ANR", "worst change")
    for run in runs:
        found = run["halves"]
        cells = [
            cell
            for one in ("map", "mean_anr")
            for cell in (f"{found['better'][one]} of {found['draws']}", f"{found['worst'][one]:+.4f}")
        ]
        yield row(run["name"], *cells)
    total = sum(run["halves"]["draws"] for run in runs)
    wins = [sum(run["halves"]["better"][one] for run in runs) for one in ("map", "mean_anr")]
    yield ""
    yield f"Together: {wins[0]} of {total} (mAP), {wins[1]} of {total} (mean ANR)."


def _small(runs: Sequence[Run]) -> Iterator[str]:
    sizes = list(runs[0]["small"])
    yield from head("configuration", *(f"{size} sets" for size in sizes), "worst single draw")
    for run in runs:
        found = run["small"]
        worst = min(one["worst"] for one in found.values())
        yield row(run["name"], *(f"{found[size]['mean']:+.4f}" for size in sizes), f"{worst:+.3f}")
    idle = [size for size in sizes if not any(run["small"][size]["mean"] for run in runs)]
    yield ""
    if idle:
        yield f"No draw of {words.listed(idle)} sets changed on average anywhere."
    yield "A single draw can lose more than the mean does."


def _worlds(found: Sequence[Run]) -> Iterator[str]:
    yield from head(
        "world",
        "noise",
        "sets",
        "baseline",
        f"`{AUTO}`",
        "best rival",
        "mean ANR: baseline",
        f"mean ANR: `{AUTO}`",
    )
    for one in found:
        methods, rival = one["methods"], best_rival(one, "map")
        stays = " (stays)" if one["stays"] else ""
        yield row(
            one["name"],
            f"{one['noise']:g}",
            str(one["sets"]),
            f"{methods[BASELINE]['map']:.3f}",
            f"{methods[AUTO]['map']:.3f}{stays}",
            f"{methods[rival]['map']:.3f} `{rival}`",
            f"{methods[BASELINE]['mean_anr']:.4f}",
            f"{methods[AUTO]['mean_anr']:.4f}",
        )


def _calibration(runs: Sequence[Run]) -> Iterator[str]:
    headings = ("error, first 20", "error, first", "worth reading", "right of these")
    yield from head("configuration", *headings, "baseline: first 20", "first")
    for run in runs:
        ours, theirs = run["calibration"][AUTO], run["calibration"][BASELINE]
        yield row(
            run["name"],
            _told(ours["error"], ".3f"),
            _told(ours["error_first"], ".3f"),
            _told(ours["kept"], ".2f"),
            _told(ours["precision"], ".0%"),
            _told(theirs["error"], ".3f"),
            _told(theirs["error_first"], ".3f"),
        )
    said = [one for run in runs if (one := run["calibration"][AUTO])["error"] is not None]
    harder = sum(one["error_first"] > one["error"] for one in said)
    yield ""
    yield f"The very first answer is the harder test: its error is the larger one on {harder} of {len(said)}."


def _told(value: float | None, form: str) -> str:
    """A number, or a dash where nothing could be told."""
    return "-" if value is None else format(value, form)


def _every(runs: Sequence[Run]) -> Iterator[str]:
    yield from head("method", *(run["name"] for run in runs))
    for name in runs[0]["methods"]:
        yield row(f"`{name}`", *(f"{run['methods'][name]['map']:.3f}" for run in runs))
