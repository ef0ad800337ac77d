"""The page of results, written from ``docs/lab/results.json`` alone: no number in it is typed by hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks import paper_page
from benchmarks.footage_page import section
from lookalike.evaluation.measures import MEASURES
from lookalike.evaluation.statistics import ALPHA

# Measures closer than this are equal, but for rounding.
EQUAL = 1e-9
SHOWN = ("mean_anr", "anr_below_0.3", "map", "rank1", "match_in_100")
MAIN = ("mean_anr", "map")
FOCUS = "learnt"

INTRODUCTION = """# Results on real faces

Made by `make results` on {date}, {machine}. No number on this page is typed by hand, but for
those of the paper: the command measures, writes [results.json](results.json), and writes this page from it.
The faces are not part of the project. With the three `.npz` files in a folder, `make results DATA=folder`
makes the page again; a folder `ytf_frames` beside them adds the videos; with the YouTube Faces Database,
`make results YTF=folder` adds the paper's own table.

Every set with a match is a query, left out of its own gallery as target and as proxy; the rest are
distractors. (The regressor is trained once on the whole gallery, without labels: a query may be among its 200
references.) Pictures are described by `lbp`; the YouTube Faces Database brings its own descriptors. {seeds}
seeds are averaged for `{focus}`, the paper's method with the paper's parameters. Rivals have the defaults of
[our parts](../reference/parts.md), which are not always those of their papers: `cprr` looks at 5 neighbours
where its authors take 20, and does one pass; `rl_sim` does one pass; `query_expansion` takes 10,
`as_norm` 50. These were chosen for collections with two to six sets a person; `cprr:neighbours=20` and
`k_reciprocal:k1=6,k2=2` show what the choice does. A star means that the difference to the baseline of the
same table, on the same queries, is beyond chance: p < {alpha} by a paired test over people, corrected for the
number of methods (Holm). ANR: 0 is best. [What the measures are](../explanation/method.md#9-measures).
"""

CLAIM = """## Does the paper's claim hold?

The paper reports, on the whole YouTube Faces Database, that the learnt re-ranker improves both baselines,
and that the three simple means do not. On these collections:

"""

WHY = """## Why

The regressor learns from pairs inside one set (same person) and between a set and its proxies (another
person). It tells these apart very well. What it meets when it ranks sets is something else: two *different*
sets of one person are not as alike as two faces of one set. The table says, of two rows of five numbers, one
of a match and one of another set, how often the regressor prefers that of the match: among its own training
examples, and at retrieval; and how often the baseline similarity does. 50 % is chance. Where the regressor
tells less than the baseline, believing it cannot help. Where it tells more, the rule that the most convinced
of ten proxies decides may still lift strangers. "Unlike training" is the share of rows of real matches that
lie further from the mean of the training examples than 99 % of these do: there the regressor extrapolates. By
itself that does not decide: compare the columns with the table above.

"""


def page(kept: dict[str, Any]) -> str:
    """The whole page as Markdown."""
    seeds = len(kept["runs"][0]["seeds"])
    text = INTRODUCTION.format(
        date=kept["date"],
        machine="version {lookalike}, {cores} cores, {system}".format(**kept["versions"]),
        seeds=seeds,
        focus=FOCUS,
        alpha=ALPHA,
    )
    pieces = [text, CLAIM + "\n".join(_claims(kept["runs"]))]
    if "paper" in kept:
        pieces.append(paper_page.section(kept["paper"]))
    pieces.append(WHY + "\n".join(_reasons(kept["runs"])))
    if "footage" in kept:
        pieces.append("\n".join(section(kept["footage"])))
    pieces += ["\n".join(_table(run)) for run in kept["runs"]]
    return "\n".join(piece.rstrip() + "\n" for piece in pieces)


def _claims(runs: list[dict[str, Any]]) -> Iterator[str]:
    yield "| collection | set similarity | learnt: mean ANR | learnt: mAP | three means | best by mAP |"
    yield "|---|---|---|---|---|---|"
    for run in runs:
        found = run["rerankers"]
        cells = [
            f"{found['baseline'][measure]:.4f} to {found[FOCUS][measure]:.4f}: "
            f"{_word(run['against_baseline'][FOCUS][measure], measure)}"
            for measure in MAIN
        ]
        means = {
            _word(run["against_baseline"][name]["map"], "map") for name in found if name.endswith("_mean")
        }
        highest = max(values["map"] for values in found.values())
        level = [name for name, values in found.items() if highest - values["map"] < EQUAL]
        best = f"`{level[0]}`" + (f" and {len(level) - 1} more" if len(level) > 1 else "")
        yield (
            "| "
            + " | ".join([run["collection"], f"`{_short(run)}`", *cells, ", ".join(sorted(means)), best])
            + " |"
        )
    words = [_word(run["against_baseline"][FOCUS][m], m) for run in runs for m in MAIN]
    yield ""
    yield (
        f"Of {len(words)} comparisons (each table, mean ANR and mAP), the learnt re-ranker is better in "
        f"{words.count('better')}, worse in {words.count('worse')} and not shown to differ in "
        f"{words.count('not shown to differ')}."
    )


def _reasons(runs: list[dict[str, Any]]) -> Iterator[str]:
    yield (
        "| collection | set similarity | regressor in training | regressor at retrieval | "
        "baseline at retrieval | unlike training | plot |"
    )
    yield "|---|---|---|---|---|---|---|"
    for run in runs:
        if "told_apart" in run:
            apart, far = run["told_apart"], run["outside_training"]["matches"]
            yield (
                f"| {run['collection']} | `{_short(run)}` | {apart['training']:.0%} | "
                f"{apart['retrieval']:.0%} | {apart['baseline']:.0%} | {far:.0%} | "
                f"[plot](figures/{plot_name(run)}) |"
            )
    shown = next((run for run in runs if "told_apart" in run), None)
    if shown is not None:
        yield ""
        yield f"![Training and retrieval features, {shown['collection']}](figures/{plot_name(shown)})"


def _table(run: dict[str, Any]) -> Iterator[str]:
    gallery, single = run["gallery"], run["single_match"]
    yield f"## {run['collection']}, `{_short(run)}`"
    yield ""
    yield (
        f"{run['queries']} queries of {run['people']} people, {run['sets']} sets ({gallery['faces']} faces), "
        f"{run['distractors']} distractors; {single['queries']} queries, of {single['people']} people, have "
        f"a single match. Set similarity `{run['similarity']}`."
    )
    yield ""
    yield "| method | " + " | ".join(MEASURES[measure][0] for measure in SHOWN) + " |"
    yield "|---|" + "---|" * len(SHOWN)
    for name, values in run["rerankers"].items():
        cells = [f"{values[measure]:.4f}{_star(run, name, measure)}" for measure in SHOWN]
        seeds = run["by_seed"][name]
        many = f" ({len(seeds)} seeds)" if len(seeds) > 1 else ""
        yield f"| `{name}`{many} | " + " | ".join(cells) + " |"
    for name, seeds in run["by_seed"].items():
        if len(seeds) > 1:
            spread = ", ".join(f"{one['mean_anr']:.4f} / {one['map']:.4f}" for one in seeds)
            yield ""
            yield f"`{name}` by seed, mean ANR / mAP: {spread}."
    yield ""
    for sentence in run["verdict"][:-1]:
        yield f"- {sentence}"


def _star(run: dict[str, Any], name: str, measure: str) -> str:
    gain = run["against_baseline"].get(name, {}).get(measure)
    return "*" if gain is not None and gain["p_corrected"] < ALPHA else ""


def _word(gain: dict[str, float], measure: str) -> str:
    if gain["p_corrected"] >= ALPHA:
        return "not shown to differ"
    return "better" if (gain["mean"] > 0) == MEASURES[measure][1] else "worse"


def _short(run: dict[str, Any]) -> str:
    return str(run["similarity"]).partition(":")[0]


def plot_name(run: dict[str, Any]) -> str:
    """File of the plot of training against retrieval."""
    return f"features_{run['collection'].replace(', ', '_').replace(' ', '_')}_{_short(run)}.svg"
