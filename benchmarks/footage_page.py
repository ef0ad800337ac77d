"""The part of the page of results about videos of real frames, written from its record alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lookalike.evaluation.measures import MEASURES
from lookalike.evaluation.statistics import ALPHA

SHOWN = ("mean_anr", "map", "rank1")

TEXT = """## Videos of real frames

{films} videos of {people} people, of which five frames each are at hand, were joined to videos again: each
frame stands for 0.4 s. `lookalike add` looked for faces in them as in any video. {queries} videos were asked
for, leave-one-out, by `max_max`. The longest track of a video counts as its person, every other track as
somebody else ({distractors} of them), even where it is the same person again: a torn track costs twice.

Between two frames lie seconds, so the videos jump, and a jump that looks like a cut tears a track. `{first}`,
which can tell people apart, joins such tracks again; `lbp` cannot. How they are joined was devised on these
same videos, after it was seen that they tear: on others it may do worse. `deep` describes the same tracks.

| | joined | not joined |
|---|---|---|
"""

COUNTS = {
    "tracks": "tracks",
    "one_track": "videos with one track",
    "one_main_track": "videos with one track that has 90 % of all faces",
    "whole_track": "videos with a track from the first frame to the last",
    "no_track": "videos without a track",
}


def section(found: dict[str, Any]) -> Iterator[str]:
    """Lines of Markdown."""
    first, aims = found["rows"][0], found["aims"]
    yield TEXT.format(**found, first=first["descriptor"]).rstrip("\n")
    for key, words in COUNTS.items():
        yield f"| {words} | {found['joined'][key]} | {found['not_joined'][key]} |"
    yield ""
    yield "| descriptor | preparation | tracks | method | " + " | ".join(MEASURES[m][0] for m in SHOWN) + " |"
    yield "|---|---|---|---|" + "---|" * len(SHOWN)
    for row in found["rows"]:
        tracks = "joined" if row["joined"] else "not joined"
        cells = [f"{row[measure]:.4f}" for measure in SHOWN]
        yield (
            f"| `{row['descriptor']}` | `{row['preparation']}` | {tracks} | `{row['method']}` | "
            + " | ".join(cells)
            + " |"
        )
    yield ""
    share = found["joined"]["one_main_track"] / found["films"]
    for words, value, aim in (
        ("Videos with one main track", share, aims["one_main_track"]),
        (f"mAP of `{first['descriptor']}`, without a re-ranker", first["map"], aims["map"]),
        ("rank-1 of it", first["rank1"], aims["rank1"]),
    ):
        yield f"- {words}: {value:.3f}; the aim of {aim} is {'met' if value >= aim else 'not met'}."
    gain = found["prepared"]["map"]
    beyond = "beyond chance" if gain["p"] < ALPHA else "not beyond chance"
    yield (
        f"- Preparing `lbp` without labels changes its mAP by {gain['mean']:+.4f} (95 % interval "
        f"{gain['low']:+.4f} to {gain['high']:+.4f}, p = {gain['p']:.4f}, by a paired test over people): "
        f"{beyond}."
    )
