"""Uploads that are stopped, refused before they are read, or hold files that cannot be used."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from starlette.datastructures import UploadFile
from starlette.requests import Request

from lookalike import resources
from lookalike.errors import BadInput, Conflict, LookalikeError
from lookalike.ingest.add import add
from lookalike.ingest.seen import Settings
from lookalike.ingest.workers import Workers
from lookalike.search import question
from lookalike.web.jobs import Job
from lookalike.web.load import Quota
from tests import media
from tests.ingest.test_workers import pids
from tests.waiting import PATIENCE
from tests.web.asking import COOKIE, HOST, ORIGIN, Asker, asker, picture


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Asker]:
    """A collection of videos and photos."""
    add(tmp_path / "g.gallery", [media.photo(tmp_path)], descriptor="lbp")
    with asker(tmp_path / "g.gallery") as made:
        yield made


class Stuck(Workers):
    """Children that do nothing from the moment on in which they are to look."""

    here: Stuck
    began = threading.Event()

    def lengths(self, paths: Sequence[Path]) -> Iterator[float]:  # type: ignore[override]
        found = list(super().lengths(paths))
        self.stop()
        return iter(found)

    def stop(self) -> None:
        self.halted = pids(self)
        for pid in self.halted:
            os.kill(pid, signal.SIGSTOP)
        type(self).here = self
        self.began.set()


def is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("way", ["job", "upload"])
def test_an_upload_that_is_stopped_ends_at_once_with_its_children(
    server: Asker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    monkeypatch.setattr(question, "Workers", Stuck)
    monkeypatch.setattr(Stuck, "began", threading.Event())
    number = server.upload(("party.jpg", media.photo(tmp_path).read_bytes())).json["number"]
    assert Stuck.began.wait(PATIENCE)
    [key] = server.parts.uploads._held
    server("DELETE", f"/api/jobs/{number}" if way == "job" else f"/api/uploads/{key}")
    job = server.parts.jobs.get(number)
    # A child may be silent for two minutes before it is given up.
    assert job.wait(PATIENCE)
    assert (job.state, job.error) == ("cancelled", "")
    assert len(Stuck.here.halted) == 1
    assert not is_there(Stuck.here.halted[0])
    folder = server.parts.uploads._folder
    assert folder is not None
    assert os.listdir(folder) == []


def test_looking_ends_when_it_is_closed_from_another_thread(tmp_path: Path) -> None:
    shown = media.photo(tmp_path)
    with Stuck(Settings()) as workers:
        list(workers.lengths([shown]))
        threading.Timer(0.1, workers.close).start()
        with pytest.raises(LookalikeError, match="stopped before its end"):
            list(workers.look([shown]))


def test_a_job_that_is_stopped_calls_what_stops_it_and_nothing_else() -> None:
    called, go = threading.Event(), threading.Event()

    def work(job: Job) -> str:
        with job.on_stop(lambda: pytest.fail("it is over")):
            pass
        with job.on_stop(called.set):
            go.set()
            assert called.wait(PATIENCE)
            raise BadInput("it was closed")

    job = Job(1, "upload", "looking", work)
    running = threading.Thread(target=job.run)
    running.start()
    assert go.wait(PATIENCE)
    job.cancel()
    running.join(PATIENCE)
    assert (job.state, job.error) == ("cancelled", "")

    def fails(job: Job) -> str:
        with job.on_stop(called.set):
            raise BadInput("it is damaged")

    other = Job(2, "upload", "looking", fails)
    other.run()
    assert (other.state, other.error) == ("failed", "It is damaged")


def test_an_upload_whose_sender_has_gone_is_not_looked_through(
    server: Asker, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def gone(request: Request) -> bool:
        return True

    monkeypatch.setattr(Request, "is_disconnected", gone)
    go = threading.Event()
    server.parts.jobs.start("busy", "something else", lambda job: str(go.wait(PATIENCE)), lane="uploads")
    assert server.upload(("a.png", picture(1))).json["state"] == "cancelled"
    go.set()


# Room.


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many bytes of bodies were kept, each time."""
    sizes: list[int] = []
    write = UploadFile.write

    async def counted(self: UploadFile, data: bytes) -> None:
        sizes.append(len(data))
        await write(self, data)

    monkeypatch.setattr(UploadFile, "write", counted)
    return sizes


HEADERS = {
    "Host": HOST,
    "Origin": ORIGIN,
    "X-Lookalike": "1",
    "Content-Type": "multipart/form-data; boundary=frontier",
}
START = b'--frontier\r\nContent-Disposition: form-data; name="files"; filename="a.png"\r\n\r\n'
END = b"\r\n--frontier--\r\n"


@pytest.fixture
def waiting(server: Asker) -> Iterator[int]:
    """An upload that waits, in a quota that has room for its double; its size."""
    go, size = threading.Event(), len(picture(1))
    server.parts.uploads.quota = Quota(waiting=2, size=2 * size)
    server.parts.jobs.start("busy", "something else", lambda job: str(go.wait(PATIENCE)), lane="uploads")
    assert server.upload(("a.png", picture(1))).status == 202
    yield size
    go.set()


def test_what_says_that_it_is_too_large_is_not_read(server: Asker, waiting: int, written: list[int]) -> None:
    headers = HEADERS | {"Cookie": f"{COOKIE}={server.cookie}", "Content-Length": str(10 * waiting)}
    said = server.raw("POST", "/api/uploads", headers, [START, bytes(10 * waiting), END])
    assert (said.status, said.error.startswith("An upload of")) == (409, True)
    assert written == []


def test_what_does_not_say_how_large_it_is_is_read_as_far_as_there_is_room(
    server: Asker, waiting: int, written: list[int]
) -> None:
    headers = HEADERS | {"Cookie": f"{COOKIE}={server.cookie}"}
    pieces = [START, *[bytes(waiting // 4)] * 40, END]
    said = server.raw("POST", "/api/uploads", headers, pieces)
    assert (said.status, said.error.startswith("An upload of")) == (409, True)
    assert sum(written) <= waiting
    # What was refused takes no room.
    assert list(server.parts.uploads.quota._taken.values()) == [waiting]


def test_a_full_disk_is_told_before_anything_is_written(
    server: Asker, written: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resources, "free_disk", lambda path: 1000)
    headers = HEADERS | {"Cookie": f"{COOKIE}={server.cookie}", "Content-Length": "5000"}
    said = server.raw("POST", "/api/uploads", headers, [START, bytes(5000), END])
    assert (said.status, "free some space" in said.error, written) == (507, True, [])


def test_uploads_take_room_while_they_are_read(tmp_path: Path) -> None:
    quota = Quota(waiting=2, size=100)
    with quota.reading("a", 60, tmp_path):
        for key, size in (("b", 50), ("c", 41)):
            with pytest.raises(Conflict), quota.reading(key, size, tmp_path):
                pass
        with quota.reading("b", 0, tmp_path):
            quota.grow("b", 40, tmp_path)
            with pytest.raises(Conflict):
                quota.grow("b", 41, tmp_path)
            with pytest.raises(Conflict), quota.reading("c", 0, tmp_path):
                pass
        with quota.taking("a", 55, tmp_path):
            pass
    assert quota._taken == {"a": 55}
    quota.give_back("a")
    assert (quota._taken, quota._unread) == ({}, set())


# Bad files among good ones.


def test_files_that_cannot_be_used_are_named_and_the_others_are_taken(server: Asker, tmp_path: Path) -> None:
    good = media.photo(tmp_path).read_bytes()
    said = server.upload(
        ("readme.txt", b"hello"),
        ("good.jpg", good),
        ("cut.jpg", media.truncated_photo(tmp_path).read_bytes()),
        ("plain.png", picture(3, 200)),
    )
    done = server.done(said.json["number"])
    assert done["state"] == "done"
    told = server.get(f"/api/uploads/{done['result']}")
    assert (len(told["people"]), told["remark"]) == (1, "3 files were left out.")
    assert [sentence.split("'")[1] for sentence in told["left_out"]] == ["readme.txt", "cut.jpg", "plain.png"]


def test_one_good_file_among_bad_ones_has_its_own_name(server: Asker, tmp_path: Path) -> None:
    said = server.upload(("readme.txt", b"hello"), ("good.jpg", media.photo(tmp_path).read_bytes()))
    told = server.get(f"/api/uploads/{server.done(said.json['number'])['result']}")
    assert (told["people"][0]["title"], told["remark"]) == ("good.jpg", "1 file was left out.")


def test_bad_files_alone_are_refused(server: Asker, tmp_path: Path) -> None:
    said = server.upload(("a.txt", b"hello"), ("b.txt", b"hello"))
    assert (said.status, said.error) == (
        400,
        "None of 2 files ('a.txt' first) is a photo or video that can be read: drop one of these",
    )
    cut = media.truncated_photo(tmp_path).read_bytes()
    done = server.done(server.upload(("a.jpg", cut), ("b.jpg", cut)).json["number"])
    assert (done["state"], done["error"].startswith("'a.jpg' ")) == ("failed", True)
    assert done["error"].endswith("(1 more could not be used either)")
