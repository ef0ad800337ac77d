"""Searches that fail are opened anew for whoever asks next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from lookalike import Gallery
from lookalike.engines.contract import Answers, Label, Residents, Work
from lookalike.engines.local import Local
from lookalike.errors import LookalikeError, NotFound, StorageFailed
from tests.small_world import small_world
from tests.web.asking import asker


def written(folder: Path) -> Path:
    with Gallery(folder / "one.gallery", create=True) as gallery:
        for one in small_world()[0]:
            gallery.add(one)
    return folder / "one.gallery"


class Losing(Local):
    """Loses everything that is open when it is told to, as a cluster does whose head is lost."""

    def __init__(self) -> None:
        super().__init__(slices=3)
        self.times_lost = self.times_opened = 0
        self.reason: LookalikeError = StorageFailed("all is lost")
        self.rounds_left = 10**6

    def hold(
        self, opening: Work, given: Sequence[tuple[Any, ...]], labels: Sequence[Label] = ()
    ) -> Residents:
        self.times_opened += 1
        return Losable(self, super().hold(opening, given, labels))


class Losable(Residents):
    def __init__(self, engine: Losing, held: Residents) -> None:
        super().__init__()
        self.engine, self.held, self.opened = engine, held, engine.times_lost

    def __len__(self) -> int:
        return len(self.held)

    def put(self, work: Work, given: Mapping[int, tuple[Any, ...]]) -> Answers:
        self.engine.rounds_left -= 1
        if self.opened < self.engine.times_lost or self.engine.rounds_left < 0:
            raise self.engine.reason
        return self.held.put(work, given)

    def share(self, value: Any) -> Any:
        return self.held.share(value)

    def close(self) -> None:
        self.held.close()


# The cluster is lost; one of its machines lacks something.
REASONS = [(StorageFailed, 507), (NotFound, 404)]


@pytest.mark.parametrize(("kind", "status"), REASONS)
def test_a_search_whose_slices_are_lost_is_opened_anew(
    tmp_path: Path, kind: type[LookalikeError], status: int
) -> None:
    path, engine = written(tmp_path), Losing()
    engine.reason = kind("all is lost")
    with asker(path, engine=engine) as page:
        key = next(iter(page.keys().values()))
        found = page.post("/api/searches", {"set": key})
        engine.times_lost += 1
        refused = page("POST", "/api/searches", {"set": key})
        assert (refused.status, refused.error) == (status, "All is lost")
        assert page.post("/api/searches", {"set": key})["answers"] == found["answers"]


def test_so_is_one_that_fails_only_when_it_is_asked_why(tmp_path: Path) -> None:
    path, engine = written(tmp_path), Losing()
    with asker(path, engine=engine) as page:
        key = next(iter(page.keys().values()))
        found = page.post("/api/searches", {"set": key})
        why = {"ask": {"set": key}, "target": found["answers"][0]["set"]["key"]}
        told = page.post("/api/searches/evidence", why)
        before = engine.rounds_left
        page.post("/api/searches", {"set": key})
        engine.rounds_left = before - engine.rounds_left  # enough to find, and no more
        assert page("POST", "/api/searches/evidence", why).status == 507
        engine.rounds_left, opened = 10**6, engine.times_opened
        assert page.post("/api/searches/evidence", why) == told
        assert engine.times_opened > opened
