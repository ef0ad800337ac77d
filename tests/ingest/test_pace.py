"""The pace of a run is that of the files it looks through, on this machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil
from pathlib import Path
from time import sleep

import numpy as np
import pytest
from numpy.typing import NDArray

from lookalike.descriptors.contract import Picture
from lookalike.descriptors.lbp import Lbp
from lookalike.ingest import plan, sandbox
from lookalike.ingest.files import find_files
from lookalike.ingest.footage import add_footage
from lookalike.ingest.plan import USUAL, WORTH, measure
from lookalike.ingest.seen import Settings
from lookalike.ingest.workers import Workers
from tests import media

# Seconds that a face takes to be described here: much longer than to be looked at.
SLOW = 0.2


class Slow(Lbp):
    """A descriptor of a known pace, on four processors."""

    def describe_many(self, pictures: Sequence[Picture] | Picture) -> NDArray[np.float32]:
        sleep(SLOW * ceil(len(pictures) / 4))
        return super().describe_many(pictures)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pace")
    media.video(folder)
    media.face(240, 0).save(folder / "one.png")
    return folder


@pytest.fixture
def workers() -> Iterator[Workers]:
    with Workers(Settings()) as workers:
        yield workers


def test_films_and_photos_are_measured_by_what_they_show(folder: Path, workers: Workers) -> None:
    film, photo = find_files(folder).media
    found = measure([film, photo], [media.SECONDS, 0.0], Slow(), workers, WORTH)
    assert workers.settings == Settings()
    assert 0 < found.film < 30
    assert 0 < found.photo < 30
    # One face on the photo, and one in each of five looks a second of the film.
    assert found.photo_faces == pytest.approx(SLOW, rel=0.5)
    assert found.film_faces == pytest.approx(5 * SLOW, rel=0.5)


def test_of_little_work_only_faces_are_counted_in_one_look(folder: Path, workers: Workers) -> None:
    film, photo = find_files(folder).media
    found = measure([film, photo], [media.SECONDS, 0.0], Slow(), workers, 0.9 * WORTH)
    # One face, as in each of five looks a second.
    assert found.film_faces == pytest.approx(5 * SLOW, rel=0.5)
    assert (found.film, found.photo, found.photo_faces) == (USUAL.film, USUAL.photo, USUAL.photo_faces)
    # Where nobody is seen at that time somebody may be seen later.
    assert measure([film], [media.SECONDS], Lbp(), workers, 0.9 * WORTH).film_faces >= USUAL.film_faces


def test_few_photos_are_not_looked_at_twice(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "_started", lambda limits: pytest.fail("a file was looked at"))
    [photo] = (file for file in find_files(folder).media if file.media.kind == "photo")
    with Workers(Settings()) as workers:
        assert measure([photo], [0.0], Lbp(), workers, 0.9 * WORTH) == USUAL


@pytest.mark.parametrize("usual", [0.5 * WORTH, 10 * WORTH])
def test_what_cannot_be_read_leaves_the_usual_pace(tmp_path: Path, workers: Workers, usual: float) -> None:
    media.headless_video(tmp_path)
    [film] = find_files(tmp_path).media
    assert measure([film], [60.0], Lbp(), workers, usual) == USUAL


def test_moments_are_spread_over_all_films_as_over_one() -> None:
    films = [("a", 10.0), ("b", 50.0), ("c", 1.0)]
    # The middles of three parts of 61 s: 10.2, 30.5 and 50.8.
    told = [(name, round(since, 1)) for name, since, _ in plan._moments(films, 3)]  # type: ignore[arg-type]
    assert told == [("b", 0.0), ("b", 19.5), ("b", 39.8)]
    assert [since for _, since, _ in plan._moments([("c", 1.0)], 1)] == [0.0]  # type: ignore[list-item]
    assert list(plan._moments([], 3)) == []


def test_the_child_that_measures_goes_on_to_look(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One processor, one child: it opens films, measures and looks."""
    monkeypatch.setenv("LOOKALIKE_THREADS", "1")
    monkeypatch.setattr(plan, "WORTH", 0.5)
    started, plain, steps = [], sandbox._started, []
    monkeypatch.setattr(sandbox, "_started", lambda limits: started.append(1) or plain(limits))

    def track(items: Iterator[object], name: str, total: int) -> Iterator[object]:
        steps.append(name)
        return items

    add_footage(tmp_path / "g", [folder], "lbp", track=track)  # type: ignore[arg-type]
    assert (len(started), steps) == (1, ["opening videos", "measuring the pace", "looking for faces"])
