"""Tables of the page about scale: queries, stragglers, failures, what was measured and checked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.scale_words import MEASURED, amount, count, duration, number, table

WAYS = (
    ("baseline", "`baseline`, exact"),
    ("auto", "`auto`, exact"),
    ("auto_shortlist", "`auto`, shortlist"),
    ("learnt", "`learnt`, exact"),
    ("shortlist", "`learnt`, shortlist"),
)


def queries(queries: Sequence[dict[str, Any]]) -> str:
    """Latencies of each way to ask."""
    return table(
        ("sets", "nodes", "query", "undisturbed", "p50", "p99", "bytes"),
        (
            (
                *(count(one["sets"]), str(one["nodes"]), name),
                *(duration(one[way][key]) for key in ("undisturbed", "p50", "p99")),
                amount(one["bytes"][way]),
            )
            for one in queries
            for way, name in WAYS
        ),
    )


def query_parts(queries: Sequence[dict[str, Any]]) -> str:
    """What a query's time goes to."""
    return table(
        (
            "sets",
            "a slice's row",
            "coordinator, `baseline`",
            "`auto`",
            "`learnt`",
            "a slice's look-up",
            "coordinator, shortlist of `auto`",
            "of `learnt`",
        ),
        (
            (
                count(one["sets"]),
                duration(one["slice_row"]),
                *(duration(one[way]["coordinator"]) for way in ("baseline", "auto", "learnt")),
                duration(one["slice_look"]),
                *(duration(one[way]["coordinator"]) for way in ("auto_shortlist", "shortlist")),
            )
            for one in queries
        ),
    )


def stragglers(rows: Iterable[dict[str, Any]]) -> str:
    """The slowest of some slices."""
    return table(
        ("slices", "log-normal alone: p50", "p99", "with the tail: p50", "p99"),
        (
            (str(one["slices"]), *(f"{one[key]:.2f}" for key in ("usual_p50", "usual_p99", "p50", "p99")))
            for one in rows
        ),
    )


def failures(indexes: Sequence[dict[str, Any]], queries: Sequence[dict[str, Any]]) -> str:
    """What failures add."""
    return table(
        (
            *(
                "sets",
                "nodes",
                "away for",
                "failures during an index: a year between",
                "a month",
                "index: no failures",
            ),
            *("a year", "a month", "queries that meet one: a year", "a month", "p99 by shortlist, a month"),
        ),
        (
            (
                *(count(one["sets"]), str(one["nodes"]), duration(one["down"])),
                *(number(one[key]) for key in ("failures_year", "failures_month")),
                *(duration(one[key]) for key in ("seconds", "with_failures_year", "with_failures_month")),
                *(f"{asked[key]:.4%}" for key in ("away_year", "away_month")),
                duration(asked["shortlist"]["p99_failing"]),
            )
            for one, asked in zip(indexes, queries, strict=True)
        ),
    )


def measured(costs: Sequence[dict[str, Any]], drawn: Sequence[int]) -> str:
    """Costs of both shapes."""
    shapes = (
        f"{one['faces']} x {one['dimension']:,} ({many:,} drawn)"
        for one, many in zip(costs, drawn, strict=True)
    )
    return table(
        ("what", *shapes),
        ((what, *(show(one[key]) for one in costs)) for key, (what, show) in MEASURED.items()),
    )


def checks(checks: Iterable[dict[str, Any]]) -> str:
    """Predicted and measured."""
    names = {"index": "exact index", "row": "row of a query"}
    return table(
        ("engine", "what", "clock", "predicted", "measured", "predicted / measured"),
        (
            (
                *(f"`{one['engine']}`", names[one["what"]], one["clock"]),
                *(duration(one[key]) for key in ("predicted", "measured")),
                f"{one['predicted'] / one['measured']:.2f}",
            )
            for one in checks
        ),
    )


def verdict(checks: Sequence[dict[str, Any]]) -> str:
    """What the checks say."""

    def span(engine: str) -> str:
        ratios = sorted(one["predicted"] / one["measured"] for one in checks if one["engine"] == engine)
        return f"{ratios[0]:.2f} to {ratios[-1]:.2f} of what was measured"

    said = f"In one process the formulae give {span('local')}."
    if any(one["engine"] == "ray" for one in checks):
        said += (
            f" For Ray they give {span('ray')}. They give each process a core of its own; here three shared "
            "the cores with other work, which lengthens what is measured. How much of the gap is that was "
            "not measured, so times of clusters may be too short by as much."
        )
    return said
