"""T2, power cuts: after each recorded write of add, forget and upgrade the current fails.

The operations are recorded once under the shim, SQLite's among them. For every prefix of them the folder is
rebuilt as a disk may hold it that lost its current there, then opened and held against what was promised.
"""

from __future__ import annotations

import random
import time
from typing import Final

from lookalike.progress import Track, silent
from tests.trust.shim import Bench
from trust.outcome import Failures, Outcome
from trust.recording import chosen_prefixes, left, recorded, workshop
from trust.scenarios import SCENARIOS
from trust.volume import DAMAGES, KILLED

NAME: Final = "T2"
TITLE: Final = "power cuts: the current fails after any recorded write of add, forget or upgrade"
# As many as there are writes, times damages and seeds.
RELEASE: Final = 0
LEFT_OUT: Final = (
    "a real power cut; file systems that lose what was synced. The memory that SQLite maps is taken as lost"
)
SEEDS: Final = 2
# Every so manyth rebuilt folder the work is done again to its end.
AGAIN: Final = 5


def run(share: float = 1.0, seed: int = 0, track: Track = silent) -> Outcome:
    """Cut the current after every operation; a share of the prefixes, evenly spread, if asked.

    Parameters
    ----------
    share : float
        1 for every prefix, 4 damages and 2 seeds; less for fewer prefixes, more for more seeds.
    seed : int
    track : callable
        Shows progress.
    """
    started = time.monotonic()
    chance, seeds = random.Random(seed), round(SEEDS * max(1.0, share))
    cases, failures, prefixes, states = 0, Failures(NAME), 0, 0
    with workshop() as place, Bench("trust.scenarios") as bench:
        for scenario in SCENARIOS.values():
            operations, volume = recorded(bench, scenario, place)
            chosen = chosen_prefixes(operations, share, chance)
            prefixes += len(chosen)
            told: list[str] = []
            seen: set[str] = set()
            shown = track(operations, f"{NAME}, {scenario.name}", len(operations))
            for number, operation in enumerate(shown):
                if operation.letter == "A":
                    told.append(operation.path)
                else:
                    volume.apply(operation)
                if number not in chosen:
                    continue
                for damage in (*DAMAGES, KILLED):
                    # What loses nothing, or everything, does so in one way.
                    for again in range(seeds if damage in DAMAGES[1:] else 1):
                        cases += 1
                        rebuilt = place / "rebuilt"
                        state = left(volume, rebuilt, damage, random.Random(f"{seed} {number} {again}"))
                        # A state that was judged under the same promises would be judged the same.
                        if (key := f"{state} {told}") not in seen:
                            seen.add(key)
                            wrong = scenario.wrong(rebuilt, told, again=len(seen) % AGAIN == 0)
                            case = f"{scenario.name}, {damage}, after operation {number}, seed {seed}/{again}"
                            failures += [f"{case}: {each}" for each in wrong]
            states += len(seen)
    note = (
        f"{prefixes} prefixes, 3 commands, {len(DAMAGES)} damages, {seeds} seeds, and a plain kill at each; "
        f"these left {states} different folders"
    )
    return Outcome(NAME, cases, failures, time.monotonic() - started, note)
