"""T4, faults while recovering: after a power cut the gallery is opened again, and that is disturbed too."""

from __future__ import annotations

import errno
import random
import shutil
import time
from pathlib import Path
from typing import Final

from lookalike.progress import Track, silent
from tests.trust.shim import FOR_EVER, Bench, Operation, Spoil, read_log
from trust.outcome import Failures, Outcome, share_of
from trust.recording import chosen_prefixes, left, recorded, workshop
from trust.scenarios import GALLERY, SCENARIOS, Scenario
from trust.volume import DAMAGES, KILLED

NAME: Final = "T4"
TITLE: Final = (
    "faults while recovering: a kill or an error of the disk on opening a gallery after a power cut"
)
RELEASE: Final = 99
LEFT_OUT: Final = "a second power cut while recovering from the first: only the process is killed then"
SPOILS: Final = ("kill", "tear", "fail", "fail for ever")


def run(share: float = 1.0, seed: int = 0, track: Track = silent) -> Outcome:
    """Disturb the opening of rebuilt folders: as many for each command."""
    started = time.monotonic()
    chance = random.Random(seed)
    cases, failures = 0, Failures(NAME)
    wanted = -(-share_of(RELEASE, share) // len(SCENARIOS))
    with workshop() as place, Bench("trust.scenarios") as bench:
        for scenario in SCENARIOS.values():
            operations, volume = recorded(bench, scenario, place)
            born = 0 if scenario.before else first_named(operations)
            every = [one for one in sorted(chosen_prefixes(operations, 1.0, chance)) if one >= born]
            prefixes = sorted(chance.choices(every, k=wanted))
            told: list[str] = []
            done = 0
            for number in track(prefixes, f"{NAME}, {scenario.name}", len(prefixes)):
                for operation in operations[done : number + 1]:
                    if operation.letter == "A":
                        told.append(operation.path)
                    else:
                        volume.apply(operation)
                done = number + 1
                damage = chance.choice((*DAMAGES, KILLED))
                left(volume, place / "cut", damage, chance)
                if not (place / "cut" / GALLERY).exists() and not told:
                    damage = KILLED  # its name was lost; a kill leaves it
                    left(volume, place / "cut", damage, chance)
                cases += 1
                spoil, wrong = disturbed(bench, scenario, place, told, chance)
                case = f"{scenario.name}, {damage}, after operation {number}, {spoil}, seed {seed}"
                failures += [f"{case}: {each}" for each in wrong]
    return Outcome(NAME, cases, failures, time.monotonic() - started, f"of 3 commands; {', '.join(SPOILS)}")


def first_named(operations: list[Operation]) -> int:
    """The number of the operation that gives a new gallery its name: before it there is nothing to open."""
    names = (number for number, one in enumerate(operations) if Path(one.other).name == GALLERY)
    return next(names)


def disturbed(
    bench: Bench, scenario: Scenario, place: Path, told: list[str], chance: random.Random
) -> tuple[str, list[str]]:
    """Open the folder once undisturbed, to count; then a copy with one of the operations spoilt."""
    folder, log = place / "reopened", place / "reopened.log"
    _copy(place / "cut", folder)
    ended = bench.run("trust.scenarios:reopen", str(folder), root=folder, log=log)
    if ended.code:
        return "undisturbed", [f"exit {ended.code}: {ended.err.strip()}"]
    chosen = chance.choice([one for one in read_log(log) if one.letter != "A"])
    how = chance.choice(SPOILS)
    last = FOR_EVER if how == "fail for ever" else chosen.number
    spoil = Spoil(how.split()[0], chosen.number, last, errno.EIO)
    _copy(place / "cut", folder)
    ended = bench.run("trust.scenarios:reopen", str(folder), root=folder, spoil=spoil)
    wrong = scenario.wrong(folder, told, again=True)
    if ended.code > 0 and "Traceback" in ended.err:
        wrong.append(f"a traceback: {ended.err.strip()[-300:]}")
    return f"{how} at operation {chosen.number}", wrong


def _copy(source: Path, target: Path) -> None:
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)
