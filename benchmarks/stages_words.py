"""What the page about re-rankers says of shapes, families and stability, from its record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from benchmarks.stages_galleries import (
    ASKED,
    DOUBT,
    EVEN,
    HARM,
    LEFT_OUT,
    RIVALS,
    best_of_rivals,
    harm,
    is_harmed,
)
from benchmarks.stages_measure import AUTO, BASELINE, PAIR
from benchmarks.stages_shapes import FACES, SHAPES, WORDS
from lookalike.evaluation.measures import TOLERATED

Row = dict[str, Any]

MISSING = "Not measured: the faces were not at hand."
# Above this share of harmed galleries nobody is told to leave it at `auto`.
FEW = 0.05
# A rival that is so far ahead where `auto` stays is worth a sentence.
AHEAD = 0.01


def lines(found: Iterable[str]) -> str:
    """Lines of a section; if there are none, why."""
    return "\n".join(found) or MISSING


def head(*headings: str) -> Iterator[str]:
    """The first lines of a table."""
    yield f"| {' | '.join(headings)} |"
    yield "|" + "---|" * len(headings)


def row(*cells: str) -> str:
    """One line of a table."""
    return f"| {' | '.join(cells)} |"


def listed(words: Sequence[str]) -> str:
    """Several things in a sentence."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


# Both shapes and families: rows of the same columns.


def _named(one: Row) -> str:
    photos = "" if one["faces"] == 1 else f" ({one['faces']} photos a set)"
    return f"{one['shape']}{photos}" if "shape" in one else str(one["family"])


def gains_table(rows: Sequence[Row], first: str) -> Iterator[str]:
    """MAP, and what is gained over the baseline and over the best rival of each gallery."""
    yield from head(
        first, "galleries", "sets", "baseline", f"`{AUTO}`", "best rival", "to the baseline (95 %)",
        "to the best rival (95 %)", "harmed", "stays",
    )  # fmt: skip
    for one in rows:
        yield row(
            _named(one),
            str(one["galleries"]),
            f"{one['sets']:.0f}",
            f"{one['methods'][BASELINE]['map']:.3f}",
            f"{one['methods'][AUTO]['map']:.3f}",
            f"{one['best_rival']['map']:.3f}",
            _interval(one["gains"]["map"]),
            _interval(one["over_rival"]["map"]),
            str(one["harmed"]),
            str(one["stays"]),
        )


def ranks_table(rows: Sequence[Row], first: str) -> Iterator[str]:
    """Mean ANR and rank-1."""
    who = ("baseline", f"`{AUTO}`", "best rival")
    anr, first_answer = ([f"{label}: {one}" for one in who] for label in ("mean ANR", "rank-1"))
    yield from head(first, *anr, "to the baseline (95 %)", *first_answer)
    for one in rows:
        every = one["methods"][BASELINE], one["methods"][AUTO], one["best_rival"]
        anr, first_answer = ([f"{each[key]:.3f}" for each in every] for key in ("mean_anr", "rank1"))
        yield row(_named(one), *anr, _interval(one["gains"]["mean_anr"]), *first_answer)


def sure_table(rows: Sequence[Row], first: str) -> Iterator[str]:
    """How far probabilities may be believed."""
    yield from head(
        first, "error, first 20", "error, first", "worth reading", "right of these", "of all matches"
    )
    for one in rows:
        said = one["calibration"]
        shares = ("" if said[key] is None else f"{said[key]:.0%}" for key in ("precision", "found"))
        numbers = (
            "" if said[key] is None else f"{said[key]:.{digits}f}"
            for key, digits in (("error", 3), ("error_first", 3), ("kept", 1))
        )  # fmt: skip
        yield row(_named(one), *numbers, *shares)


def _interval(gain: dict[str, float]) -> str:
    return f"{gain['mean']:+.3f} ({gain['low']:+.3f} to {gain['high']:+.3f})"


def counted(found: Row | None) -> Iterator[str]:
    """How many galleries are better and worse, by how much at most, and beside each rival."""
    if not found:
        return
    galleries = found["galleries"]
    total, harmed = len(galleries), [one for one in galleries if is_harmed(one)]
    better = sum(harm(one)["map"] < -HARM for one in galleries)
    worst = f", at worst by {_worst(galleries, 'map')} mAP and {_worst(galleries, 'mean_anr')} mean ANR"
    yield (
        f"Of {total} galleries, the mAP of `{AUTO}` is more than {HARM} above the baseline in {better}; "
        f"{len(harmed)} are harmed, by more than {HARM} in mAP or mean ANR{worst if harmed else ''}."
    )
    beaten = sum(_ahead(one) > 0 for one in galleries)
    yield (
        f"It is at least level with the best of {len(RIVALS)} rivals, which nobody has without labels, in "
        f"{total - beaten}, and behind it by at most {max(_ahead(one) for one in galleries):.3f} mAP."
    )
    losses = [f"`{name}` {_harmed_by(galleries, name)}" for name in RIVALS]
    yield f"Harmed in the same sense by one rival alone: {listed(losses)}."


def _worst(galleries: Sequence[Row], measure: str) -> str:
    return f"{max(0.0, *(harm(one)[measure] for one in galleries)):.3f}"


def _ahead(one: Row) -> float:
    """How far the best rival is ahead."""
    return float(one["methods"][best_of_rivals(one, "map")]["map"] - one["methods"][AUTO]["map"])


def _harmed_by(galleries: Sequence[Row], name: str) -> int:
    return sum(is_harmed({"methods": one["methods"] | {AUTO: one["methods"][name]}}) for one in galleries)


# What is told first.


def verdict(kept: dict[str, Any]) -> Iterator[str]:
    """Where `auto` helps, where it stays and where it hurts, in the shapes that people have."""
    found = kept.get("shapes")
    if not found:
        yield f"**`{AUTO}`** is the default of `lookalike find`."
        return
    galleries = found["galleries"]
    harmed = sum(is_harmed(one) for one in galleries)
    few = harmed <= FEW * len(galleries)
    yield f"**Leave it at `{AUTO}`.** It" if few else f"**Look at the shape of your collection.** `{AUTO}`"
    before, after = (np.mean([one["methods"][name]["map"] for one in galleries]) for name in (BASELINE, AUTO))
    yield (
        f"is the default of `lookalike find`. On {len(galleries)} galleries in the shapes that people have, "
        f"of real photos, the mean mAP is {after:.3f} with it and {before:.3f} without, and {harmed} of them "
        f"are harmed (by more than {HARM} in mAP or mean ANR)."
    )
    kinds = {
        "It helps": [one for one in found["rows"] if one["gains"]["map"]["low"] > 0],
        "It stays with the baseline": [one for one in found["rows"] if one["stays"] == one["galleries"]],
        "It hurts": hurt(found["rows"]),
    }
    for words, rows in kinds.items():
        if rows:
            yield f"{words} on {listed(_shapes_of(rows))}."


def _shapes_of(rows: Sequence[Row]) -> list[str]:
    """Shapes by their names; how many photos a set has is said where it is not the same for all."""
    found: list[str] = []
    for shape in dict.fromkeys(one["shape"] for one in rows):
        sizes = [one["faces"] for one in rows if one["shape"] == shape]
        found.append(
            shape if len(sizes) == len(FACES) else f"{shape} (sets of {listed([str(n) for n in sizes])})"
        )
    return found


def hurt(rows: Sequence[Row]) -> list[Row]:
    """Rows whose loss of mAP or mean ANR is beyond chance, or of which most galleries are harmed."""
    return [
        one
        for one in rows
        if one["gains"]["map"]["high"] < 0
        or one["gains"]["mean_anr"]["low"] > HARM
        or 2 * one["harmed"] > one["galleries"]
    ]


def advice(kept: dict[str, Any]) -> Iterator[str]:
    """Rows of what to use where: only what was measured to hurt is a reason not to leave it at `auto`."""
    yield from head("you have", "use")
    yield row("any collection, no labels, no time", f"`{AUTO}`")
    found = kept.get("shapes")
    shapes = dict.fromkeys(one["shape"] for one in hurt(found["rows"])) if found else {}
    for shape in shapes:
        yield row(WORDS[shape], "measure first: see [what hurts](#what-hurts)")


def key(kept: dict[str, Any]) -> Iterator[str]:
    """What each shape is, and what `auto` found in its first draw."""
    found = kept.get("shapes")
    if not found:
        return
    yield from head("shape", "who is there", f"what `{AUTO}` says of the first draw, one photo a set")
    firsts = {one["shape"]: one for one in found["galleries"] if (one["faces"], one["draw"]) == (1, 0)}
    for shape in SHAPES:
        yield row(shape, WORDS[shape], firsts[shape]["finding"])


def unsure(kept: dict[str, Any]) -> Iterator[str]:
    """Where probabilities are not to be relied on."""
    found = kept.get("shapes")
    if not found:
        return
    known = [one for one in found["rows"] if one["calibration"]["error"] is not None]
    bad = [one for one in known if one["calibration"]["error"] > TOLERATED]
    if not bad:
        yield f"Nowhere are they off by more than {TOLERATED} on average."
        return
    yield f"They are off by more than {TOLERATED} on {listed(_shapes_of(bad))}."


def strict_table(kept: dict[str, Any]) -> Iterator[str]:
    """Queries of each shape that were taken out of the gallery."""
    found = kept.get("shapes")
    if not found:
        return
    kinds = ("baseline", "inside", "strict")
    words = ("baseline", "in the gallery", "strict")
    yield from head(
        "shape", "queries", *(f"{label}: {one}" for label in ("mean ANR", "mAP") for one in words)
    )
    for shape, one in found["strict"].items():
        cells = [f"{one[kind][measure]:.4f}" for measure in ("mean_anr", "map") for kind in kinds]
        yield row(shape, str(one["queries"]), *cells)


def stability_table(kept: dict[str, Any]) -> Iterator[str]:
    """How far probabilities move if a tenth of the sets is left out."""
    found = kept.get("shapes")
    if not found:
        return
    yield from head(
        "shape",
        "mean change of probability, first 20",
        "flips over 50 %",
        "of those clear before",
        "in the worst draw",
        "worth reading",
        "range with sets left out",
    )
    for shape, one in found["stability"].items():
        if not one["said"]:
            yield row(shape, *["-"] * 6)
            continue
        yield row(
            shape,
            f"{one['change']:.3f}",
            f"{one['flips']:.0%}",
            f"{one['clear']:.0%}",
            f"{one['worst']:.0%}",
            f"{one['worth']:.1f}",
            f"{one['least']:.1f} to {one['most']:.1f}",
        )
    refits = next(iter(found["stability"].values()))["refits"]
    yield ""
    yield (
        f"First draw of each shape, {LEFT_OUT:.0%} of its sets left out {refits} times, up to {ASKED} sets "
        "asked. A pair flips if it is called more likely right than wrong in one gallery and not in the "
        "other, of those called so in either; clear before are pairs that the whole gallery gives less than "
        f"{EVEN - DOUBT:.0%} or more than {EVEN + DOUBT:.0%}. With a tenth of the sets a tenth of the "
        "matches is gone, too."
    )


def few_table(kept: dict[str, Any]) -> Iterator[str]:
    """Random sets of random shapes."""
    found = kept.get("shapes")
    if not found:
        return
    sizes = list(found["few"])
    yield from head("random sets of random shapes", *(f"{size} sets" for size in sizes))
    few = found["few"].values()
    yield row("mean change of mAP", *(f"{one['mean']:+.4f}" for one in few))
    yield row("worst draw", *(f"{one['worst']:+.3f}" for one in few))
    yield row("harmed", *(f"{one['harmed']} of {one['draws']}" for one in few))
    yield row("mAP unchanged", *(f"{one['stays']} of {one['draws']}" for one in few))


def families_key(kept: dict[str, Any]) -> Iterator[str]:
    """What each family is, and the galleries of it that are harmed."""
    found = kept.get("families")
    if not found:
        return
    yield from head("family", "what it is", "harmed (change of mAP and mean ANR)")
    for one in found["rows"]:
        own = [each for each in found["galleries"] if each["family"] == one["family"] and is_harmed(each)]
        cells = [
            f"{each['shape']} ({-harm(each)['map']:+.3f}, {harm(each)['mean_anr']:+.3f})" for each in own
        ]
        yield row(one["family"], one["words"], ", ".join(cells) or "none")


# What hurts.


def hurts(kept: dict[str, Any]) -> Iterator[str]:
    """One line for everything that was measured to cost something."""
    for part in ("shapes", "families"):
        for one in hurt(kept[part]["rows"]) if kept.get(part) else ():
            gains, what = one["gains"], WORDS.get(one.get("shape", ""), one.get("words", ""))
            yield (
                f"- **{_named(one)}** ({what}; real photos): "
                f"mAP {gains['map']['mean']:+.3f}, mean ANR {gains['mean_anr']['mean']:+.3f}; "
                f"{one['harmed']} of {one['galleries']} galleries are harmed."
            )
    by_name: dict[str, list[Row]] = {}
    for one in kept["worlds"]:
        by_name.setdefault(one["name"], []).append(one)
    for name, found in by_name.items():
        yield from _world(name, found)
    yield from _sources(kept, by_name.get("two sources mixed", []))
    yield from _learnt(kept["runs"])


def _world(name: str, found: Sequence[Row]) -> Iterator[str]:
    changes = [one["methods"][AUTO]["map"] - one["methods"][BASELINE]["map"] for one in found]
    ranks = [one["methods"][AUTO]["mean_anr"] - one["methods"][BASELINE]["mean_anr"] for one in found]
    if min(changes) < -HARM or max(ranks) > HARM:
        yield (
            f"- **{name}** (drawn): mAP changes by {min(changes):+.3f} to {max(changes):+.3f}, mean ANR by "
            f"{min(ranks):+.4f} to {max(ranks):+.4f}, over {len(found)} amounts of noise."
        )
    ahead = {
        one["noise"]: max(
            value["map"] for who, value in one["methods"].items() if who not in (AUTO, BASELINE)
        )
        - one["methods"][AUTO]["map"]
        for one in found
        if one["stays"]
    }
    if ahead and max(ahead.values()) > AHEAD:
        noises = listed([f"{noise:g}" for noise in ahead])
        yield (
            f"- **{name}** (drawn): `{AUTO}` stays with the baseline at noise {noises}, where a rival is up "
            f"to {max(ahead.values()):.3f} mAP ahead."
        )


def _sources(kept: dict[str, Any], drawn: Sequence[Row]) -> Iterator[str]:
    """Whether what mixed sources cost in a drawn world is seen on real blur."""
    families = kept["families"]["rows"] if kept.get("families") else []
    real = [one for one in families if "pixels mixed" in one["family"]]
    if not drawn or not real:
        return
    change = [one["methods"][AUTO]["map"] - one["methods"][BASELINE]["map"] for one in drawn]
    lost = [one["gains"]["map"]["mean"] < -HARM for one in real]
    seen = "none of this" if not any(lost) else "a loss too"
    figures = listed([f"{one['gains']['map']['mean']:+.3f} ({one['family']})" for one in real])
    yield (
        f"- Sources that differ by one offset, as in the drawn world, change the mAP by {min(change):+.3f} "
        f"to {max(change):+.3f}. Real photos of which half were reduced show {seen}: {figures}."
    )


def _learnt(runs: Sequence[Row]) -> Iterator[str]:
    if not runs:
        return
    worse = {
        name: sum(run["methods"][name]["map"] < run["methods"][BASELINE]["map"] for run in runs)
        for name in ("learnt", PAIR)
    }
    yield (
        f"- **`learnt`**, to the letter: its mAP is below the baseline in {worse['learnt']} of {len(runs)} "
        f"configurations. `{PAIR}` is a different thing: below it in {worse[PAIR]}."
    )
