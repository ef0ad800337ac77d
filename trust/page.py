"""Page: docs/lab/trust.md, made of the record."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Mapping
from typing import Any, Final

HEAD: Final = """# What was tried, and how often

Galleries are killed, damaged, filled up, copied, attacked and asked to forget, by the tests of the package
`trust`. `make trust` runs them at release size, so chosen that all take about an hour of two processors
and are run for every release, and writes this page. `python -m trust T6 --seed 7` runs one of them,
`--share 10` ten times its release size, and `--case 12` one case where cases have numbers. `make test-slow`
runs the same code at a small part of that size. Every case follows from the seed. The table holds what was
run on this version; what was last run on an earlier one is listed below it. Numbers are those of a plan:
T24 to T27 (requests from other pages, paths in requests, tokens, hostile names) became tests of every commit,
`tests/web/test_guard.py`, `test_payloads.py`, `test_fuzz.py` and `test_hostile_names.py`. Known weaknesses of
libraries are not looked up, since that would need a database which is not here.

If none of N cases fails, the chance of a failure in a case like these is below 3 / N with 95 % confidence
(the rule of three): that is what the column *bound* says. It says nothing of cases that are unlike these.

"""
COLUMNS: Final = ("test", "what", "cases", "failures", "bound", "seconds", "date", "seed")


def as_page(every: Mapping[str, Mapping[str, Any]], version: str, names: Iterable[str] = ()) -> str:
    """The page: a table of the tests run on this version, what is short of the release size, notes, failures.

    Parameters
    ----------
    every : mapping
        What is known, by test.
    version : str
        The one that the page is about.
    names : iterable of str
        All tests there are, to tell those that were not run.
    """
    known = {name: one for name, one in every.items() if one["version"] == version}
    lines = [f"| {' | '.join(COLUMNS)} |", "|---|---|---:|---:|---:|---:|---|---:|"]
    for name, one in known.items():
        cells = (
            name,
            _cell(one["title"]),
            f"{one['cases']:,}",
            str(one["failures"]),
            bound(one["cases"], one["failures"]),
            f"{one['seconds']:,.0f}",
            one["date"],
            str(one["seed"]),
        )
        lines.append(f"| {' | '.join(cells)} |")
    system = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    machine = f"{os.cpu_count()} processors, {system}"
    text = HEAD + f"Version {version}:\n\n" + "\n".join(lines) + f"\n\nMachine: {machine}.\n"
    missing = [name for name in names if name not in known]
    text += _section("Not run on this version", {name: _earlier(every.get(name)) for name in missing})
    text += _section("Fewer cases than a release takes", _short(known))
    text += _section("Notes", {name: one["note"] for name, one in known.items()})
    text += _section("Left out", {name: one["left_out"] for name, one in every.items()})
    return text + _section("Failures", {n: "; ".join(one["first_failures"]) for n, one in known.items()})


def bound(cases: int, failures: int) -> str:
    """What zero failures say: the rule of three."""
    if failures or not cases:
        return ""
    return f"{min(1.0, 3 / cases):.2%}"


def _earlier(one: Mapping[str, Any] | None) -> str:
    if one is None:
        return "never recorded"
    return f"last on {one['version']} ({one['date']}), {one['cases']:,} cases, {one['failures']} failures"


def _short(known: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    return {
        name: f"{one['cases']:,}"
        + (f" of {one['release']:,}" if one["release"] else "")
        + (": the time that it was given was over" if one["is_short"] else f": share {one['share']:g}")
        for name, one in known.items()
        # How many there are of some is known only when they have run.
        if one["cases"] < one["release"] or (not one["release"] and (one["is_short"] or one["share"] < 1))
    }


def _section(title: str, said: Mapping[str, str]) -> str:
    lines = [f"- {name}: {text}" for name, text in said.items() if text]
    return f"\n## {title}\n\n" + "\n".join(lines) + "\n" if lines else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
