"""T12: any history of a gallery, against a model: decisions, forgetting, crashes, upgrades, searches."""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import hypothesis.core
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule, run_state_machine_as_test

from lookalike import FaceSet, Gallery, find
from lookalike.errors import Conflict, NotFound
from lookalike.gallery import schema
from lookalike.gallery.backup import upgrade
from lookalike.gallery.forget import forget
from lookalike.gallery.verify import verify
from lookalike.progress import Track, silent
from tests.gallery.samples import QUICK, a_set, write_format_1
from tests.gallery.test_decisions_histories import IDS, SETS, DecisionHistories
from trust.outcome import Failures, Outcome, share_of

TITLE: Final = (
    "histories against a model: add, re-add, find, judge, undo, merge, split, forget, crash, reopen, upgrade"
)
RELEASE: Final = 50
LEFT_OUT: Final = "failures after the first of a batch of 50, which hypothesis shortens before it stops"
STEPS: Final = 50
BATCH: Final = 50


class Histories(DecisionHistories):
    """Decisions as `tests.gallery.test_decisions_histories` has them, and all else that befalls a gallery."""

    @initialize(is_old=st.booleans(), pairs=st.just([]))
    def start(self, is_old: bool, pairs: list[tuple[str, str]]) -> None:
        """A gallery of today, or one of the first format."""
        self.folder = Path(tempfile.mkdtemp(dir=QUICK))
        self.path = self.folder / "x.gallery"
        sets = [a_set(id, number) for number, id in enumerate(IDS)]
        if is_old:
            write_format_1(self.path, sets)
        self.gallery = Gallery(self.path, create=True)
        for one in () if is_old else sets:
            self.gallery.add(one)
        self.given: set[str] = set()
        self.held = {one.id: one for one in sets}
        self.barred: set[str] = set()

    # What the parent changes, the dictionary follows.

    @rule(ids=st.lists(SETS, min_size=1, max_size=2, unique=True))
    def remove(self, ids: list[str]) -> None:
        """As the parent, which leaves one set at least."""
        super().remove(ids)
        if set(ids) < self.held.keys():
            self.held = {id: one for id, one in self.held.items() if id not in ids}

    @rule(number=st.integers(0, 5))
    def add_back(self, number: int) -> None:
        """Add a set, or again, or one that is barred."""
        id = IDS[number]
        given = a_set(id, number)
        if id in self.barred and id not in self.held:
            try:
                self.gallery.add(given)
            except Conflict:
                return
            raise AssertionError(f"{id} is barred and came back")
        assert self.gallery.add(given) == (id not in self.held)
        self.held[id] = given

    @rule(id=SETS, bar=st.booleans())
    def forget(self, id: str, bar: bool) -> None:
        """Forget a set, which may be barred; nothing of it is in the file any more."""
        if len(self.held) < 2:
            return
        if id not in self.held:
            try:
                forget(self.gallery, [id])
            except NotFound:
                return
            raise AssertionError(f"{id} was forgotten twice")
        forget(self.gallery, [id], bar=bar)
        gone = self.held.pop(id)
        if bar:
            self.barred.add(id)
        content = b"".join(path.read_bytes() for path in self.folder.rglob("*") if path.is_file())
        assert gone.faces[0].tobytes() not in content

    @rule()
    def crash(self) -> None:
        """Go on with the files as they are at this moment, as after a kill."""
        other = Path(tempfile.mkdtemp(dir=QUICK))
        for path in self.folder.iterdir():
            if path.is_dir():
                shutil.copytree(path, other / path.name)
            elif not path.name.endswith("-shm"):
                shutil.copy(path, other / path.name)
        self.gallery.close()
        shutil.rmtree(self.folder)
        self.folder, self.path = other, other / "x.gallery"
        self.gallery = Gallery(self.path)

    @rule(keep=st.booleans())
    def upgrade(self, keep: bool) -> None:
        """To today's format, whatever it has."""
        self.gallery.close()
        done = upgrade(self.path, keep=keep)
        assert done.after == schema.FORMAT
        if done.kept is not None:
            done.kept.unlink()  # it holds what may be forgotten later
        self.gallery = Gallery(self.path)

    @precondition(lambda self: len(self.held) > 1)
    @rule(data=st.data(), reranker=st.sampled_from(["baseline", "csls"]))
    def find(self, data: Any, reranker: str) -> None:
        """As the sets alone would answer, if decisions are not to count."""
        query = data.draw(st.sampled_from(sorted(self.held)))
        found = find(query, self.gallery, reranker=reranker, decisions=False)
        assert found == find(query, self.sets(), reranker=reranker)

    @rule()
    def verify(self) -> None:
        """Nothing is wrong."""
        assert [one for one in verify(self.gallery) if not one.is_harmless] == []

    @invariant()
    def holds_what_it_should(self) -> None:
        """The dictionary."""
        assert self.gallery.contents() == {id: self.held[id].content_hash() for id in sorted(self.held)}

    def sets(self) -> list[FaceSet]:
        """What is held, by id."""
        return [self.held[id] for id in sorted(self.held)]


def run(share: float = 1.0, seed: int = 0, track: Track = silent) -> Outcome:
    """Batches, each with its own seed."""
    started, failures, cases = time.monotonic(), Failures("T12"), 0
    count = share_of(RELEASE, share)
    starts = range(0, count, BATCH)
    core: Any = hypothesis.core  # which declares that there is never a seed
    before = core.global_force_seed
    try:
        for first in track(starts, "T12 batches", len(starts)):
            core.global_force_seed = seed + first
            examples = min(BATCH, count - first)
            try:
                run_state_machine_as_test(Histories, settings=_settings(examples))
            except Exception as reason:
                told = "; ".join(getattr(reason, "__notes__", ()))
                failures.append(f"seed {seed + first}: {type(reason).__name__}: {reason} {told}"[:1500])
            cases += examples
    finally:
        core.global_force_seed = before
    return Outcome("T12", cases, failures, time.monotonic() - started, f"of up to {STEPS} steps each")


def _settings(examples: int) -> settings:
    return settings(
        max_examples=examples,
        stateful_step_count=STEPS,
        deadline=None,
        database=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
