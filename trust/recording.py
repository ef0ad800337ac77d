"""Recording: what a scenario does to its folder, and that folder as a power cut may leave it."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.trust.shim import Bench, Operation, read_log
from trust.scenarios import Scenario
from trust.volume import Volume


@contextmanager
def workshop() -> Iterator[Path]:
    """A folder in memory if there is one: what a disk keeps is modelled, a real one would be slower."""
    memory = Path("/dev/shm")
    inside = memory if os.access(memory, os.W_OK) else None
    # Its real name: the shim compares names.
    place = Path(tempfile.mkdtemp(prefix="lookalike-trust-", dir=inside)).resolve()
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def recorded(bench: Bench, scenario: Scenario, place: Path) -> tuple[list[Operation], Volume]:
    """What a scenario does to its folder, and that folder before it."""
    folder, log = place / scenario.name, place / f"{scenario.name}.log"
    folder.mkdir()
    scenario.prepare(folder)
    volume = Volume(folder)
    ended = bench.run("trust.scenarios:act", scenario.name, str(folder), root=folder, log=log)
    if ended.code:
        raise RuntimeError(f"{scenario.name} does not even work undisturbed: {ended.err}")
    return read_log(log), volume


def chosen_prefixes(operations: list[Operation], share: float, chance: random.Random) -> set[int]:
    """Numbers of the operations after which to cut: of those that change anything, the given share."""
    changing = [
        number
        for number, one in enumerate(operations)
        if one.letter != "o" or one.where & (os.O_CREAT | os.O_TRUNC)
    ]
    wanted = min(len(changing), max(1, round(share * len(changing))))
    return set(changing if wanted == len(changing) else chance.sample(changing, wanted))


def left(volume: Volume, place: Path, damage: str, chance: random.Random) -> str:
    """Rebuild a folder as a power cut may leave it; return a fingerprint of it."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(mode=0o700)
    volume.write(place, damage, chance)
    digest = hashlib.sha256()
    for path in sorted(place.rglob("*")):
        digest.update(f"{path.relative_to(place)}\0".encode())
        if path.is_file() and not path.name.endswith("-shm"):
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()
