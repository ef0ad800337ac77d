"""The section about the paper's figures: the text beside this file, tables from ``docs/lab/results.json``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

# The paper's own figures, from its section "Results and discussion": O. Arandjelović, "Learnt
# Quasi-Transitive Similarity for Retrieval from Large Collections of Faces", CVPR 2016.
PUBLISHED: Final = {
    "max_max": {"baseline": ("0.540", "", "0.92"), "learnt": ("0.725", "> 0.98", "< 0.5")},
    "max_correlation": {"baseline": ("0.549", "", "0.88"), "learnt": ("0.728", "> 0.98", "< 0.5")},
}
KINDS: Final = {"max_max": "exemplars", "max_correlation": "subspaces"}
COUNTED: Final = {"left_out": "query left out", "counted": "query counted"}
HEADINGS: Final = {
    "mean_anr": "mean ANR",
    "anr_below_0.3": "ANR < 0.3",
    "anr_below_0.5": "ANR < 0.5",
    "anr_q98": "98 % quantile of ANR",
}
# What the paper tells of its methods.
SHOWN: Final = ("anr_below_0.3", "anr_below_0.5", "anr_q98")

TEXT: Final = Path(__file__).with_suffix(".md")


def section(kept: dict[str, Any]) -> str:
    """The section as Markdown."""
    available = kept["runs"][0]["available"]
    return TEXT.read_text(encoding="utf-8").format(
        date=kept["date"],
        collection=kept["collection"],
        has=" and ".join(f"{many} queries with {count} matches" for count, many in available.items()),
        wanted=_listed(kept["queries"].values(), "and"),
        seeds=len(kept["seeds"]),
        scales=kept["scales"],
        proxies=_listed(kept["proxies"], "or"),
        sets=kept["sets"],
        table="\n".join(_table(kept)),
        readings="\n".join(_readings(kept["runs"])),
    )


def _listed(numbers: Iterable[int], word: str) -> str:
    *first, last = map(str, numbers)
    return f"{', '.join(first)} {word} {last}"


def _table(kept: dict[str, Any]) -> Iterator[str]:
    yield "| | " + " | ".join(HEADINGS[one] for one in SHOWN) + " |"
    yield "|---|" + "---|" * len(SHOWN)
    for run in kept["runs"]:
        similarity = run["similarity"]
        for method, published in PUBLISHED[similarity].items():
            yield f"| **paper, {KINDS[similarity]}, {method}** | " + " | ".join(published) + " |"
            for kind, words in COUNTED.items():
                yield _row(f"ours, `{similarity}`, `{method}`, {words}", run["methods"][method][kind])
    prepared = kept["prepared"]
    words = f"ours, `{prepared['similarity']}` after `{prepared['preparation']}`, `baseline`, query left out"
    yield _row(words, prepared["methods"]["baseline"]["left_out"])


def _row(words: str, found: dict[str, float]) -> str:
    return f"| {words} | " + " | ".join(f"{found[one]:.3f}" for one in SHOWN) + " |"


def _readings(runs: list[dict[str, Any]]) -> Iterator[str]:
    yield "| set similarity | figure | baseline | best of all readings | which one |"
    yield "|---|---|---|---|---|"
    for run in runs:
        for measure, best in run["readings"]["best"].items():
            before = run["methods"]["baseline"]["left_out"][measure]
            scale, proxies, across, beside = best["reading"]
            which = f"numbers: {scale}; {across} of {proxies}, {beside}"
            figures = f"{before:.4f} | {best['value']:.4f}"
            yield f"| `{run['similarity']}` | {HEADINGS[measure]} | {figures} | {which} |"
    yield ""
    tried = sum(run["readings"]["tried"] for run in runs)
    below = max(run["readings"]["best"]["anr_below_0.3"]["value"] for run in runs)
    lowest = min(run["readings"]["best"]["anr_q98"]["value"] for run in runs)
    yield (
        f"Of {tried} readings, {tried // len(runs)} for each set similarity, none has an ANR below 0.3 for "
        f"more than {below:.1%} of the queries, and none a 98 % quantile below {lowest:.2f}."
    )
