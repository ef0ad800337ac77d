"""T3, I/O errors: any operation of add, forget and upgrade is refused, once and for ever after.

The command line must end with a sentence and a documented exit code, the gallery must be sound, and the same
command must then complete.
"""

from __future__ import annotations

import errno
import os
import random
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from lookalike.errors import NotFound
from lookalike.progress import Track, silent
from tests.trust.shim import FOR_EVER, Bench, Ended, Operation, Spoil, read_log
from trust.outcome import Failures, Outcome, share_of
from trust.recording import workshop
from trust.scenarios import DONE, SCENARIOS, SOURCE, Scenario, a_set, write_source

NAME: Final = "T3"
TITLE: Final = "I/O errors: the disk refuses an operation of add, forget or upgrade, once or for ever after"
# Of some six thousand: as many as there are operations, times the ways in which each can fail.
RELEASE: Final = 300
LEFT_OUT: Final = (
    "errors of reading; a real full file system of 64 MB (mounting one needs root): ENOSPC is injected. "
    "EINTR lasts for ten operations, since everybody repeats for ever what was only interrupted"
)
# Which operations may fail in which way: see shim.c for the letters.
WAYS: Final = {
    errno.ENOSPC: "wtsrlm",
    errno.EIO: "owtsrlumd",
    errno.EACCES: "orlumd",
    errno.EMFILE: "o",
    errno.EINTR: "owts",
}
INTERRUPTIONS: Final = 10
# What is said of a change that was written, of which nobody knows whether it will be there.
UNCONFIRMED: Final = "did not confirm a change"
# The errors of lookalike/errors.py.
CODES: Final = range(3, 8)


def run(share: float = 1.0, seed: int = 0, track: Track = silent) -> Outcome:
    """Refuse operations of each command, in ways of each kind, drawn at random."""
    started = time.monotonic()
    chance = random.Random(seed)
    cases, failures = 0, Failures(NAME)
    wanted = -(-share_of(RELEASE, share) // len(SCENARIOS))
    with workshop() as place, Bench("trust.scenarios") as bench:
        write_source(place / SOURCE, [a_set(number) for number in SCENARIOS["add"].added])
        for scenario in SCENARIOS.values():
            ready = place / f"{scenario.name}-ready"
            ready.mkdir()
            scenario.prepare(ready)
            spoils = list(ways(undisturbed(bench, scenario, ready, place)))
            chosen = chance.sample(spoils, min(wanted, len(spoils)))
            for spoil in track(chosen, f"{NAME}, {scenario.name}", len(chosen)):
                cases += 1
                wrong = spoilt(bench, scenario, ready, place, spoil)
                failures += [f"{scenario.name}, {named(spoil)}: {each}" for each in wrong]
    note = "ENOSPC, EIO, EACCES, EMFILE, EINTR, short writes"
    return Outcome(NAME, cases, failures, time.monotonic() - started, note)


def ways(operations: list[Operation]) -> Iterator[Spoil]:
    """All that may go wrong with operations."""
    for one in operations:
        if one.letter == "A":
            continue
        for code, letters in WAYS.items():
            is_new = code == errno.ENOSPC and one.letter == "o" and one.where & os.O_CREAT
            if one.letter in letters or is_new:
                last = one.number + INTERRUPTIONS if code == errno.EINTR else FOR_EVER
                kinds = letters + one.letter
                yield Spoil("fail", one.number, one.number, code, kinds)
                yield Spoil("fail", one.number, last, code, kinds)
        if one.letter == "w":
            yield Spoil("short", one.number, one.number)


def undisturbed(bench: Bench, scenario: Scenario, ready: Path, place: Path) -> list[Operation]:
    """What the command does when nothing goes wrong."""
    folder, log = copied(ready, place), place / "log"
    ended = bench.run("trust.scenarios:command", *scenario.words(folder), root=folder, log=log)
    wrong = [ended.err] if ended.code else scenario.wrong(folder, [DONE], by_command=True)
    if wrong:
        raise RuntimeError(f"{scenario.name} does not even work undisturbed: {wrong}")
    return read_log(log)


def spoilt(bench: Bench, scenario: Scenario, ready: Path, place: Path, spoil: Spoil) -> list[str]:
    """What is not as it must be when the command is spoilt so, and then run again."""
    folder = copied(ready, place)
    words = scenario.words(folder)
    ended = bench.run("trust.scenarios:command", *words, root=folder, spoil=spoil)
    wrong = unclean(ended)
    promised = [] if ended.code else [DONE]
    wrong += scenario.wrong(folder, promised, by_command=True)
    if ended.code and not wrong:
        again = bench.run("trust.scenarios:command", *words, root=folder)
        is_done = again.code == NotFound.exit_code and not scenario.wrong(folder, [DONE], by_command=True)
        if UNCONFIRMED in ended.err and is_done:
            return []  # it was kept all the same, and what was forgotten is not there to be forgotten again
        if again.code:
            return [f"said {ended.err.strip()!r}, and again: exit {again.code}, {again.err.strip()!r}"]
        wrong += [f"again: {each}" for each in scenario.wrong(folder, [DONE], by_command=True)]
    return wrong


def named(spoil: Spoil) -> str:
    """What is done to which operation, in a few words."""
    how = errno.errorcode.get(spoil.errno, spoil.how)
    return f"{how} at operation {spoil.first}{' and after' if spoil.last > spoil.first else ''}"


def unclean(ended: Ended) -> list[str]:
    """What is wrong with how a command ended and what it said."""
    if "Traceback" in ended.err or "Error:" in ended.err:
        return [f"a traceback: {ended.err.strip()[-300:]}"]
    if not ended.code:
        return []
    if ended.code not in CODES:
        return [f"exit {ended.code}: {ended.err.strip()[-300:]}"]
    lines = ended.err.strip().splitlines()
    if not lines or not lines[-1].startswith("lookalike: "):
        return [f"no sentence: {ended.err.strip()!r}"]
    return []


def copied(ready: Path, place: Path) -> Path:
    """A copy of a prepared folder, in place of the last one."""
    folder = place / "spoilt"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ready, folder)
    return folder
