"""The page about the options of ``learnt``: the text beside this file, tables from ``docs/learnt.json``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lookalike.evaluation.measures import MEASURES
from lookalike.transitivity.penalty import PENALTIES

MEASURED = ("mean_anr", "map", "rank1")
BASELINE = "baseline"
# Differences smaller than this are rounding.
EQUAL = 1e-9

TEXT = Path(__file__).with_suffix(".md")


def page(kept: dict[str, Any]) -> str:
    """The whole page as Markdown."""
    return TEXT.read_text(encoding="utf-8").format(
        date=kept["date"],
        machine=f"{kept['versions']['cores']} cores, {kept['versions']['system']}",
        penalties=", ".join(f"{one:g}" for one in PENALTIES),
        variants=len(kept["runs"][0]["methods"]) - 1,
        wins="\n".join(_wins(kept)),
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
