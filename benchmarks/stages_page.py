"""The page about second stages: the text beside this file, tables from ``docs/reranking.json``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.real_faces import RIVALS
from benchmarks.stages_measure import AUTO, BASELINE, OURS, PAIR
from lookalike.evaluation.measures import MEASURES
from lookalike.evaluation.reliability import TOLERATED

TEXT = Path(__file__).with_suffix(".md")
# Differences smaller than this are rounding.
EQUAL = 1e-9
LEARNING = "adaptive:learn=true"
# What was asked of the method before it was measured.
RANK1, HARM, SHARE, WINS = -0.005, -0.005, 0.83, 0.99

Run = dict[str, Any]


def page(kept: dict[str, Any]) -> str:
    """The whole page as Markdown."""
    runs = kept["runs"]
    return TEXT.read_text(encoding="utf-8").format(
        date=kept["date"],
        machine=f"{kept['versions']['cores']} cores, {kept['versions']['system']}",
        configurations=len(runs),
        counts=_lines(_counts(runs)),
        missed=_lines(f"- {one}" for one in _missed(kept) or ["Nothing."]),
        anr=_lines(_main(runs, "mean_anr")),
        precision=_lines(_main(runs, "map")),
        shares=_lines(_shares(runs)),
        defaults=_lines(_defaults(kept["defaults"])),
        strict=_lines(_strict(runs)),
        halves=_lines(_halves(runs)),
        small=_lines(_small(runs)),
        worlds=_lines(_worlds(kept["worlds"])),
        calibration=_lines(_calibration(runs)),
        every=_lines(_every(runs)),
        pair=PAIR,
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


def _lines(lines: Iterable[str]) -> str:
    return "\n".join(lines)


def _head(*headings: str) -> Iterator[str]:
    yield f"| {' | '.join(headings)} |"
    yield "|" + "---|" * len(headings)


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _wins(runs: Sequence[Run], measure: str, than: Callable[[Run], str]) -> int:
    return sum(
        better(measure, run["methods"][OURS][measure], run["methods"][than(run)][measure]) for run in runs
    )


def _counts(runs: Sequence[Run]) -> Iterator[str]:
    yield from _head("`adaptive` is better than", "mean ANR", "mAP", "rank-1")
    yield _row("the baseline", *(f"{_wins(runs, one, lambda _: BASELINE)} of {len(runs)}" for one in _MAIN))
    rivals = [_wins(runs, one, lambda run, one=one: best_rival(run, one)) for one in _MAIN]  # type: ignore[misc]
    yield _row("the best rival", *(f"{count} of {len(runs)}" for count in rivals))
    yield _row(f"`{PAIR}`", *(f"{_wins(runs, one, lambda _: PAIR)} of {len(runs)}" for one in _MAIN))
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
    draws, wins = (sum(values) for values in zip(*(_draws(run) for run in runs), strict=True))
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
    unsure = [run["name"] for run in runs if run["calibration"][AUTO]["error"] > TOLERATED]
    if unsure:
        yield f"Calibration error at most {TOLERATED}: not on {', '.join(unsure)}."


_ASKED = ("strict", "baseline")


def _beats(run: Run, measure: str, other: str) -> bool:
    return better(measure, run["methods"][OURS][measure], run["methods"][other][measure])


def _draws(run: Run) -> tuple[int, int]:
    return run["halves"]["draws"], run["halves"]["better"]["map"]


def _main(runs: Sequence[Run], measure: str) -> Iterator[str]:
    others = (LEARNING, "learnt", PAIR)
    yield from _head(
        "configuration", "baseline", "best rival", f"`{OURS}`", "difference to the baseline (95 %)",
        *(f"`{one}`" for one in others),
    )  # fmt: skip
    for run in runs:
        methods, gain, rival = run["methods"], run["gains"][measure], best_rival(run, measure)
        yield _row(
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
    yield from _head("configuration", "queries", *headings)
    for run in runs:
        cells = [
            f"{run['methods'][name][one]:.3f}"
            for one in both
            for name in (BASELINE, best_rival(run, one), OURS)
        ]
        yield _row(run["name"], str(run["queries"]), *cells)


def _defaults(found: dict[str, Any] | None) -> Iterator[str]:
    yield from _head("preparation", "second stage", "ANR < 0.3", "mean ANR", "mAP", "rank-1")
    for one in (found or {}).values():
        for name, values in one["methods"].items():
            cells = [f"{values[key]:.3f}" for key in ("anr_below_0.3", "mean_anr", "map", "rank1")]
            yield _row(f"`{one['preparation']}` ({one['numbers']} numbers)", f"`{name}`", *cells)


def _strict(runs: Sequence[Run]) -> Iterator[str]:
    kinds = ("baseline", "inside", "strict")
    words = ("baseline", "in the gallery", "strict")
    yield from _head(
        "configuration", "queries", *(f"{label}: {one}" for label in ("mean ANR", "mAP") for one in words)
    )
    for run in runs:
        found = run["strict"]
        cells = [f"{found[kind][measure]:.4f}" for measure in ("mean_anr", "map") for kind in kinds]
        yield _row(run["name"], str(found["queries"]), *cells)
    wins = [
        sum(better(one, *(run["strict"][kind][one] for kind in _ASKED)) for run in runs)
        for one in ("mean_anr", "map")
    ]
    over = [sum(_strictly_best(run, one) for run in runs) for one in ("mean_anr", "map")]
    yield ""
    yield (
        f"Strict, better than the baseline: {wins[0]} (mean ANR) and {wins[1]} (mAP) of {len(runs)}; better "
        f"than the best rival: {over[0]} and {over[1]}."
    )


def _strictly_best(run: Run, measure: str) -> bool:
    rival = run["methods"][best_rival(run, measure)][measure]
    return better(measure, run["strict"]["strict"][measure], rival)


def _halves(runs: Sequence[Run]) -> Iterator[str]:
    yield from _head("configuration", "better mAP", "worst change", "better mean ANR", "worst change")
    for run in runs:
        found = run["halves"]
        cells = [
            cell
            for one in ("map", "mean_anr")
            for cell in (f"{found['better'][one]} of {found['draws']}", f"{found['worst'][one]:+.4f}")
        ]
        yield _row(run["name"], *cells)
    total = sum(run["halves"]["draws"] for run in runs)
    wins = [sum(run["halves"]["better"][one] for run in runs) for one in ("map", "mean_anr")]
    yield ""
    yield f"Together: {wins[0]} of {total} (mAP), {wins[1]} of {total} (mean ANR)."


def _small(runs: Sequence[Run]) -> Iterator[str]:
    sizes = list(runs[0]["small"])
    yield from _head("configuration", *(f"{size} sets" for size in sizes), "worst single draw")
    for run in runs:
        found = run["small"]
        worst = min(one["worst"] for one in found.values())
        yield _row(run["name"], *(f"{found[size]['mean']:+.4f}" for size in sizes), f"{worst:+.3f}")


def _worlds(found: Sequence[Run]) -> Iterator[str]:
    yield from _head(
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
        yield _row(
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
    yield from _head("configuration", *headings, "baseline: first 20", "first")
    for run in runs:
        ours, theirs = run["calibration"][AUTO], run["calibration"][BASELINE]
        right = "" if ours["precision"] is None else f"{ours['precision']:.0%}"
        yield _row(
            run["name"],
            f"{ours['error']:.3f}",
            f"{ours['error_first']:.3f}",
            f"{ours['kept']:.2f}",
            right,
            f"{theirs['error']:.3f}",
            f"{theirs['error_first']:.3f}",
        )


def _every(runs: Sequence[Run]) -> Iterator[str]:
    yield from _head("method", *(run["name"] for run in runs))
    for name in runs[0]["methods"]:
        yield _row(f"`{name}`", *(f"{run['methods'][name]['map']:.3f}" for run in runs))
