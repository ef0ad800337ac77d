"""The page about the options of ``learnt``: text beside this file, tables from ``docs/lab/learnt.json``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lookalike.evaluation.measures import MEASURES
from lookalike.method.metafeatures import NUMBERS

MEASURED = ("mean_anr", "map", "rank1")
FITTED = ("mean_anr", "anr_below_0.3", "anr_q98", "map", "rank1")
BASELINE = "baseline"
# A slice of the database that the paper is about.
PAPERS = "ytf_dev"
# Differences smaller than this are rounding.
EQUAL = 1e-9

LABELLED = """Measured on {date}, with labels, which nobody has who searches: it is what could be learnt.
Weights of the five numbers are fitted to tell matches from others, by least squares with half of all weight
on the matches, on {folds} folds of people: a query is scored by weights that were fitted on pairs of sets of
which neither shows anybody of its fold. "Mean" and "largest" are over the ten proxies; "both ways" also asks
the target about the query. It bounds what linear scores of these numbers can reach, not what others could.

The paper's regressor sees the same numbers. That it does not come near these figures is not for want of
information, then: its examples, faces of one set, are of another kind than what it is asked."""

TEXT = Path(__file__).with_suffix(".md")


def page(kept: dict[str, Any]) -> str:
    """The whole page as Markdown."""
    return TEXT.read_text(encoding="utf-8").format(
        date=kept["date"],
        machine="version {lookalike}, {cores} cores, {system}".format(**kept["versions"]),
        variants=len(kept["runs"][0]["methods"]) - 1,
        wins="\n".join(_wins(kept)),
        labelled="\n".join(_labelled(kept["labelled"])) + "\n\n" if "labelled" in kept else "",
        tables="\n\n".join("\n".join(_table(run)) for run in kept["runs"]),
    )


def _wins(kept: dict[str, Any]) -> Iterator[str]:
    runs, seeds = kept["runs"], len(kept["seeds"])
    yield "## In short"
    yield ""
    many = f"the mean of {seeds} seeds" if seeds > 1 else f"one seed ({kept['seeds'][0]})"
    yield f"How many of {len(runs)} configurations are better or worse than by the baseline; {many}."
    yield ""
    yield "| variant | " + " | ".join(f"{MEASURES[one][0]}: better / worse" for one in MEASURED) + " |"
    yield "|---|" + "---|" * len(MEASURED)
    for name in runs[0]["methods"]:
        if name != BASELINE:
            cells = (" / ".join(map(str, _count(runs, name, one))) for one in MEASURED)
            yield f"| `{name}` | " + " | ".join(cells) + " |"


def _labelled(kept: dict[str, Any]) -> Iterator[str]:
    runs, folds = kept["runs"], kept["folds"]
    yield "## What labels could make of the five numbers"
    yield ""
    yield from LABELLED.format(date=kept["date"], folds=folds).splitlines()
    yield ""
    yield "| collection | set similarity | fit | " + " | ".join(MEASURES[one][0] for one in FITTED) + " |"
    yield "|---|---|---|" + "---|" * len(FITTED)
    for run in runs:
        for name, found in run["fits"].items():
            cells = " | ".join(f"{found[one]:.4f}" for one in FITTED)
            yield f"| {run['collection']} | `{run['similarity']}` | {name} | {cells} |"
    yield ""
    yield (
        f'Weights of "mean of all five", each number in units of its spread: the least and the greatest of '
        f"{folds} folds."
    )
    yield ""
    names = list(runs[0]["weights"])
    yield "| collection | set similarity | " + " | ".join(names) + " |"
    yield "|---|---|" + "---|" * len(names)
    for run in runs:
        cells = " | ".join(
            f"{min(run['weights'][one]):+.3f} to {max(run['weights'][one]):+.3f}" for one in names
        )
        yield f"| {run['collection']} | `{run['similarity']}` | {cells} |"
    yield ""
    yield " ".join(_signs(runs, one) for one in ("s4", "s5"))
    tails = [
        found["anr_q98"] for run in runs if run["collection"] == PAPERS for found in run["fits"].values()
    ]
    if tails:
        yield ""
        yield (
            f"Even with labels no fit on {PAPERS} brings the 98 % quantile of ANR below {min(tails):.2f}, "
            "where the paper reports less than 0.5 without."
        )


def _signs(runs: list[dict[str, Any]], name: str) -> str:
    """Whether a number speaks for a match or against it, where all folds agree."""
    against = sum(max(run["weights"][name]) < 0 for run in runs)
    speaks_for = sum(min(run["weights"][name]) > 0 for run in runs)
    return (
        f"{name} ({NUMBERS[int(name[1:]) - 1]}) has a negative weight in every fold of {against} of "
        f"{len(runs)} configurations, and a positive one in every fold of {speaks_for}."
    )


def _count(runs: list[dict[str, Any]], name: str, measure: str) -> tuple[int, int]:
    gains = [run["methods"][name][measure] - run["methods"][BASELINE][measure] for run in runs]
    sign = 1 if MEASURES[measure][1] else -1
    return sum(sign * gain > EQUAL for gain in gains), sum(sign * gain < -EQUAL for gain in gains)


def _table(run: dict[str, Any]) -> Iterator[str]:
    yield f"## {run['name']}"
    yield ""
    yield f"{run['sets']} sets, set similarity `{run['similarity']}`, every set with a match is a query."
    yield ""
    headings = [MEASURES[one][0] for one in MEASURED]
    yield "| variant | " + " | ".join(headings) + " | unlike training |"
    yield "|---|" + "---|" * (len(MEASURED) + 1)
    for name, found in run["methods"].items():
        outside = f"{found['outside']:.0%}" if "outside" in found else ""
        yield f"| `{name}` | " + " | ".join(f"{found[one]:.4f}" for one in MEASURED) + f" | {outside} |"
