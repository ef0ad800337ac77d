"""The page about scale: the text beside this file, tables from ``docs/lab/scale.json``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks import scale_draws as draws
from benchmarks import scale_model as model
from benchmarks import scale_sim as sim
from benchmarks import scale_tables as tables
from benchmarks.scale_costs import PARTS
from benchmarks.scale_words import amount, count, duration, number, table

TEXT = Path(__file__).with_suffix(".md")
# Of each field of the node: what it is, how it is shown, where it comes from.
ASSUMED: dict[str, tuple[str, str]] = {
    "cores": ("cores of a node, each as fast as one here", "assumed"),
    "efficiency": ("speed of a core while all are busy, to one alone", "assumed"),
    "memory": ("memory of a node, and of the coordinator", "assumed"),
    "usable": ("share of it that sets or lists may take", "assumed"),
    "network": ("bytes a second of a node's link", "assumed: 10 Gbit/s"),
    "memory_rate": ("bytes a second that all cores read from memory", "assumed"),
    "disk_rate": ("bytes a second of a disk, or of storage that all nodes reach", "assumed"),
    "trip": ("a round between machines, with all that Ray does", "assumed; between processes: above"),
    "notice": ("until a dead node is noticed", "assumed"),
    "regression_rate": ("regressions of `learnt`, a core and second", "[measured elsewhere](performance.md)"),
}


def page(kept: dict[str, Any]) -> str:
    """The whole page as Markdown."""
    found, cost, wire, tail = kept["simulated"], kept["costs"][0], kept["wire"], kept["tail"]
    source = "measured" if wire["is_measured"] else "assumed, Ray was not at hand"
    return TEXT.read_text(encoding="utf-8").format(
        date=kept["date"],
        machine="version {lookalike}, {cores} cores, {system}".format(**kept["versions"]),
        cores=kept["versions"]["cores"],
        load=f"{kept['load']:.0f}",
        measuring=duration(kept["measuring"]),
        toy="**A toy says nothing: the sizes that were measured are far too small.** " if kept["toy"] else "",
        seed=kept["seed"],
        faces=cost["faces"],
        dimension=cost["dimension"],
        run_sets=model.run_sets(cost["faces"]),
        run_rows=f"{model.RUN_ROWS:,}",
        id_bytes=f"{cost['id_bytes']:.0f}",
        list_bytes=f"{model.list_bytes(1):,.0f}",
        pairs=model.PAIRS_OF_A_SET,
        pair_bytes=model.PAIR_BYTES,
        row_bytes=model.ROW_BYTES,
        guess_bytes=model.GUESS_BYTES,
        guessed=f"{sim.GUESSED:,}",
        agreement_bytes=model.AGREEMENT_BYTES,
        head=f"{draws.HEAD:,}",
        keeping=duration(sim.KEEPING),
        look_batch=duration(cost["look_batch"]),
        compare=duration(2 * cost["dimension"] / cost["near_rate"]),
        sigma=tail["sigma"],
        rare=f"{1 / tail['share']:.0f}",
        exponent=f"{tail['exponent']:g}",
        least=f"{tail['least']:g}",
        samples=f"{kept['samples']:,}",
        notice=duration(kept["node"]["notice"]),
        restart=duration(wire["restart"]),
        restart_source=source,
        wire_source=source,
        trip=duration(wire["trip"]),
        wire_rate=amount(wire["rate"]) + "/s",
        checked=f"{kept['checks'][0]['sets']:,}",
        parts=PARTS,
        short=_short(found),
        changes=_changes(found["changes"]),
        sizes=_sizes(found["sizes"]),
        indexes=_indexes(found["indexes"]),
        coordinator=_coordinator(found["indexes"]),
        more_nodes=_more_nodes(found["more_nodes"]),
        by_shortlists=_by_shortlists(found["indexes"]),
        queries=tables.queries(found["queries"]),
        query_parts=tables.query_parts(found["queries"]),
        stragglers=tables.stragglers(found["stragglers"]),
        failures=tables.failures(found["indexes"], found["queries"]),
        measured=tables.measured(kept["costs"], kept["drawn"]),
        assumed=table(
            ("what", "value", "source"),
            ((what, _assumed(key, kept["node"][key]), where) for key, (what, where) in ASSUMED.items()),
        ),
        checks=tables.checks(kept["checks"]),
        verdict=tables.verdict(kept["checks"]),
    )


def _assumed(key: str, value: float) -> str:
    if key in ("trip", "notice"):
        return duration(value)
    return amount(value) if key in ("memory", "network", "memory_rate", "disk_rate") else number(value)


def _short(found: dict[str, Any]) -> str:
    first, by_size = found["changes"][0], {one["sets"]: one for one in found["indexes"]}
    asked = {one["sets"]: one for one in found["queries"]}
    fits = [one["sets"] for one in found["sizes"] if one["indexing_fits"]]
    few, many = found["stragglers"][0], found["stragglers"][-1]
    last = max(fits)
    lines = [
        f"The first thing to give way is {first['what']}, at {count(first['sets'])} sets.",
        f"Of the sizes looked at, {count(last)} sets are the most that the coordinator can index.",
        *(
            f"An exact index of {count(n)} sets takes {duration(by_size[n]['seconds'])} on the fewest nodes "
            f"({by_size[n]['nodes']}); the coordinator decides from {_nodes(by_size[n])} on."
            for n in fits
        ),
        *(
            f"At {count(last)} sets half of the exact `{name}` queries take "
            f"{duration(asked[last][name]['p50'])} or less, by a shortlist "
            f"{duration(asked[last][short]['p50'])}."
            for name, short in (("auto", "auto_shortlist"), ("learnt", "shortlist"))
        ),
        f"The assumed tail makes p99 of a round {number(few['p99'])} times an undisturbed slice with one "
        f"slice, and {number(many['p99'])} times with {many['slices']}.",
    ]
    return "\n".join(f"- {line}" for line in lines)


def _nodes(one: dict[str, Any]) -> str:
    least = one["coordinator_decides_from"]
    return "the first node" if least <= 1 else f"{number(least)} nodes"


def _changes(changes: Iterable[dict[str, Any]]) -> str:
    return table(
        ("sets", "what", "formula", "limit", "instead"),
        (
            (count(one["sets"]), *(one[key] for key in ("what", "formula", "limit", "instead")))
            for one in changes
        ),
    )


def _sizes(sizes: Iterable[dict[str, Any]]) -> str:
    def room(one: dict[str, Any], what: str) -> str:
        shown = amount(one[f"coordinator_{what}"])
        return shown if one[f"{what}_fits"] else f"**{shown}: does not fit**"

    return table(
        (
            "sets",
            "nodes",
            "memory a node",
            "codes a node",
            "disk a node",
            "coordinator, indexing",
            "asking",
            "its disk",
        ),
        (
            (
                count(one["sets"]),
                str(one["nodes"]),
                *(amount(one[key]) for key in ("node_memory", "node_codes", "node_disk")),
                room(one, "indexing"),
                room(one, "asking"),
                amount(one["coordinator_disk"]),
            )
            for one in sizes
        ),
    )


def _indexes(indexes: Iterable[dict[str, Any]]) -> str:
    keys = ("prepare", "seconds", "without_stragglers", "slices", "coordinator", "between")
    return table(
        (
            *("sets", "nodes", "operations", "preparing", "index", "without stragglers", "slices alone"),
            *("coordinator alone", "fetching, sending", "coordinator decides from", "nodes for a day"),
        ),
        (
            (
                *(count(one["sets"]), str(one["nodes"]), f"{one['flop']:.1e}"),
                *(duration(one[key]) for key in keys),
                _nodes(one),
                f"{one['nodes_for_a_day']:,}",
            )
            for one in indexes
        ),
    )


def _coordinator(indexes: Iterable[dict[str, Any]]) -> str:
    return table(
        ("sets", "merging pairs into lists", "runs with themselves", "receiving pairs"),
        (
            (count(one["sets"]), *(duration(one[key]) for key in ("merging", "own", "answers")))
            for one in indexes
        ),
    )


def _more_nodes(rows: Iterable[dict[str, Any]]) -> str:
    return table(
        ("sets", "nodes", "index", "slices alone", "coordinator alone", "fetching, sending"),
        (
            (
                *(count(one["sets"]), str(one["nodes"])),
                *(duration(one[key]) for key in ("seconds", "slices", "coordinator", "between")),
            )
            for one in rows
        ),
    )


def _by_shortlists(indexes: Iterable[dict[str, Any]]) -> str:
    return table(
        ("sets", "nodes", "exact", "by shortlists"),
        (
            (count(one["sets"]), str(one["nodes"]), duration(one["seconds"]), duration(one["by_shortlists"]))
            for one in indexes
        ),
    )
