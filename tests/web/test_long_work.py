"""Jobs, their events, and searches that keep up with a gallery that others change."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from lookalike import FaceSet, Gallery
from lookalike.errors import BadInput, NotFound
from lookalike.gallery.forget import remove
from lookalike.progress import Step
from lookalike.search.query import Search, open_search
from lookalike.web import search as searches
from lookalike.web.catalogue import key_of
from lookalike.web.jobs import Job, Jobs
from lookalike.web.models import SearchAsk
from lookalike.web.search import method_of
from tests.small_world import small_world
from tests.waiting import PATIENCE
from tests.web.asking import asker, fill

ADD = """
import sys, numpy as np
from lookalike import FaceSet, Gallery
with Gallery(sys.argv[1]) as gallery:
    faces = np.random.default_rng(5).normal(size=(3, 12))
    print(gallery.add(FaceSet("from-elsewhere", faces, "elsewhere.mp4")))
"""


def until(holds: Callable[[], bool], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.02)


# Jobs.


def test_jobs_of_a_lane_go_one_after_the_other() -> None:
    jobs, begun = Jobs(), []
    go = threading.Event()

    def work(job: Job) -> str:
        begun.append(job.number)
        go.wait(PATIENCE)
        return f"made {job.number}"

    first, second = jobs.start("a", "first", work), jobs.start("b", "second", work)
    other = jobs.start("c", "other", lambda job: "quick", lane="another")
    assert other.wait(PATIENCE)
    until(lambda: begun == [1])
    assert (first.view().state, second.view().state) == ("running", "waiting")
    go.set()
    assert second.wait(PATIENCE)
    assert [job.result for job in jobs.views()] == ["quick", "made 2", "made 1"]
    jobs.close()


def test_a_job_says_how_far_it_is_and_stops_when_asked() -> None:
    jobs, step = Jobs(), threading.Semaphore(0)

    def work(job: Job) -> str:
        for _ in job.track(range(4), "counting", 4):
            step.acquire(timeout=PATIENCE)
        return "done"

    job = jobs.start("a", "soon", work)
    step.release(2)
    until(lambda: job.view().done == 2)
    view = job.view()
    assert (view.state, view.text, view.done, view.total) == ("running", "counting", 2, 4)
    assert view.left is not None
    job.cancel()
    step.release(2)
    assert job.wait(PATIENCE)
    assert job.view().state == "cancelled"
    jobs.close()
    assert jobs.start("late", "after the end", work).view().state == "cancelled"


def test_a_job_rests_and_goes_on_and_the_rest_does_not_count() -> None:
    jobs, step = Jobs(), threading.Semaphore(0)

    def work(job: Job) -> str:
        job.expected = 100.0
        for _ in job.track((Step(f"file {number}") for number in range(4)), "counting", 4):
            step.acquire(timeout=PATIENCE)
        return "done"

    job = jobs.start("a", "soon", work)
    step.release(2)
    until(lambda: job.view().done == 2 and job.view().at == "file 2")
    # Two of four done, in hardly a moment of the hundred seconds expected: (25 + 0) / (0.25 + 0.5) * 0.5.
    assert (job.view().left or 0.0) >= 16.6
    job.pause()
    step.release(2)
    until(lambda: job.view().at == "file 3")
    paused = job.view()
    assert (paused.state, paused.paused, paused.done, paused.left) == ("running", True, 3, None)
    job._step_began -= 50.0  # type: ignore[operator]
    job._held_since -= 50.0  # type: ignore[operator]
    job.resume()
    assert job.wait(PATIENCE)
    assert (job.view().state, job.view().paused) == ("done", False)
    # Paused for fifty seconds: the step is as old as it was before.
    assert job._step_began > job._began - 1.0
    job.pause()
    assert not job.view().paused
    jobs.close()


def test_a_job_that_rests_is_stopped_at_once() -> None:
    jobs = Jobs()

    def work(job: Job) -> str:
        job.pause()
        for _ in job.track(range(4), "counting", 4):
            pass
        return "done"

    job = jobs.start("a", "soon", work)
    until(lambda: job.view().paused)
    jobs.close()
    assert job.view().state == "cancelled"


def test_a_job_that_fails_says_why(caplog: pytest.LogCaptureFixture) -> None:
    jobs = Jobs()

    def refused(job: Job) -> str:
        raise BadInput("there is nothing in it: give more")

    def broken(job: Job) -> str:
        raise RuntimeError("secret insides")

    ended = [jobs.start("a", "", refused), jobs.start("b", "", broken)]
    assert all(job.wait(PATIENCE) for job in ended)
    assert ended[0].view().error == "There is nothing in it: give more"
    assert ended[1].view().state == "failed"
    assert "secret" not in ended[1].view().error
    assert "in the job 'b': RuntimeError in test_long_work.py:" in caplog.text
    assert "secret insides" not in caplog.text
    with pytest.raises(NotFound):
        jobs.get(99)
    jobs.close()


def test_every_job_is_cleaned_up_after_once() -> None:
    jobs, go, cleaned = Jobs(), threading.Event(), []

    def work(job: Job) -> str:
        go.wait(PATIENCE)
        job.check()
        return "done"

    def failing(job: Job) -> str:
        raise BadInput("no")

    waits = [jobs.start(f"{n}", "", work, clean=lambda n=n: cleaned.append(n)) for n in range(3)]  # type: ignore[misc]
    waits[1].cancel()  # it has not begun
    assert cleaned == [1]
    go.set()
    assert waits[2].wait(PATIENCE)
    assert jobs.start("3", "", failing, clean=lambda: cleaned.append(3)).wait(PATIENCE)
    jobs.close()
    jobs.start("4", "", work, clean=lambda: cleaned.append(4))
    assert cleaned == [1, 0, 2, 3, 4]


def test_events_end_with_the_job(tmp_path: Path) -> None:
    with asker(fill(tmp_path / "g.gallery")) as server:
        for kind in ("index", "train"):
            number = server.post("/api/jobs", {"kind": kind})["number"]
            said = server("GET", f"/api/jobs/{number}/events")
            assert said.header("content-type") == "text/event-stream; charset=utf-8"
            events = [line.removeprefix("data: ") for line in said.body.decode().split("\n\n") if line]
            told = [json.loads(event) for event in events]
            assert told[-1]["state"] == "done"
            assert "18 sets" in told[-1]["result"]
            assert told[-1] == server.get(f"/api/jobs/{number}")
        assert server.get("/api/gallery")["ready"]
        assert len(server.get("/api/jobs")["jobs"]) == 2
        assert server("GET", "/api/jobs/99/events").status == 404
        assert server("DELETE", "/api/jobs/99").status == 404
        assert server("DELETE", f"/api/jobs/{number}").json["state"] == "done"
        assert server("POST", "/api/jobs", {"kind": "remove"}).status == 422


# Keeping up.


def test_sets_of_another_process_show_up_without_a_restart(tmp_path: Path) -> None:
    path = fill(tmp_path / "g.gallery")
    with asker(path) as server:
        before = server.post("/api/searches", {"set": key_of("clip-000")})
        done = subprocess.run(
            [sys.executable, "-c", ADD, str(path)], capture_output=True, text=True, timeout=PATIENCE
        )
        assert done.stdout == "True\n", done.stderr
        until(lambda: server.get("/api/gallery")["sets"] == 19)
        # A set that the search does not know yet can be asked with at once.
        asked = server.post("/api/searches", {"set": key_of("from-elsewhere")})
        assert asked["total"] in (18, 19)

        def answers() -> list[str]:
            found = server.post("/api/searches", {"set": key_of("clip-000")})
            assert found["newer"] == (0 if found["total"] == 18 else 1)
            return [one["set"]["id"] for one in found["answers"]]

        assert len(before["answers"]) == 17
        until(lambda: "from-elsewhere" in answers())
        with Gallery(path) as gallery:
            assert answers() == open_search(gallery).find("clip-000").ids


def test_a_set_that_was_removed_is_in_no_answer(tmp_path: Path) -> None:
    path = fill(tmp_path / "g.gallery")
    with asker(path) as server:
        first = server.post("/api/searches", {"set": key_of("clip-000")})["answers"][0]["set"]
        with Gallery(path) as gallery:
            remove(gallery, [first["id"]])
        until(lambda: server.get("/api/gallery")["sets"] == 17)
        after = server.post("/api/searches", {"set": key_of("clip-000")})
        assert (after["total"], after["newer"]) == (16, 0)
        assert first["id"] not in [one["set"]["id"] for one in after["answers"]]
        assert server("GET", f"/api/sets/{first['key']}").status == 404
        assert server("GET", first["strip"][0]["picture"]).status == 404


def test_at_most_four_searches_are_kept(tmp_path: Path) -> None:
    with asker(fill(tmp_path / "g.gallery")) as server:
        for reranker in ("auto", "baseline", "csls", "cprr", "rl_sim", "auto"):
            server.post("/api/searches", {"set": key_of("clip-000"), "reranker": reranker})
        assert len(server.parts.searches._held) == searches.KEPT == 4


def test_a_failure_to_get_ready_is_told_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with asker(fill(tmp_path / "g.gallery")) as server:

        def full(*given: object, **named: object) -> None:
            raise BadInput("the disk is full: make room")

        with monkeypatch.context() as patched:
            patched.setattr(searches, "open_search", full)
            said = server("POST", "/api/searches", {"set": key_of("clip-000")})
            assert (said.status, said.error) == (400, "The disk is full: make room")
        assert server.post("/api/searches", {"set": key_of("clip-000")})["total"] == 17


def test_a_search_that_is_newer_than_the_catalogue_is_answered(tmp_path: Path) -> None:
    with asker(fill(tmp_path / "g.gallery")) as server:
        parts, method = server.parts, method_of("max_max", "baseline", None)
        old = parts.browsing.catalogue()
        parts.gallery.add(FaceSet("new", np.random.default_rng(1).normal(size=(2, 12))))
        new = parts.browsing.catalogue(at_once=True)
        parts.searches.ready(method, lambda at_once: new)
        jobs = len(parts.jobs.views())
        held, catalogue = parts.searches.ready(method, lambda at_once: new if at_once else old)
        assert (held.against(catalogue), catalogue is new) == ((0, 0), True)
        assert held.against(old) == (0, 1)
        # A catalogue that never catches up is an error, and not a wait without end.
        with pytest.raises(BadInput, match="changing too fast"):
            parts.searches.ready(method, lambda at_once: old)
        assert len(parts.jobs.views()) == jobs + searches.TRIES


def test_two_versions_compared_at_a_time_do_not_mix(tmp_path: Path) -> None:
    class Meddled(searches.Ready):
        """Another thread compares with another version whenever this one has."""

        _compared = property(lambda self: ("", 7, 7), lambda self, value: None)

    with asker(fill(tmp_path / "g.gallery")) as server:
        catalogue = server.parts.browsing.catalogue()
        search = open_search(server.parts.gallery, reranker="baseline")
        assert Meddled(search, "").against(catalogue) == (0, 0)


def test_each_method_gets_ready_for_itself(tmp_path: Path) -> None:
    path = fill(tmp_path / "g.gallery")
    plain = SearchAsk(set=key_of("clip-000"), reranker="baseline")
    with asker(path) as server:
        parts = server.parts
        parts.answering.search(_ask("clip-000"))
        assert (parts.answering.is_ready(_ask("clip-000")), parts.answering.is_ready(plain)) == (True, False)
        parts.answering.search(plain)
        assert parts.answering.is_ready(plain)
        with Gallery(path) as gallery:
            remove(gallery, ["clip-005"])
        parts.browsing.catalogue(at_once=True)
        assert (parts.answering.is_ready(_ask("clip-000")), parts.answering.is_ready(plain)) == (False, False)
        parts.answering.search(plain)
        assert (parts.answering.is_ready(_ask("clip-000")), parts.answering.is_ready(plain)) == (False, True)


def test_who_waits_is_told_when_the_server_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go = threading.Event(), threading.Event()

    def slow(*given: object, **named: object) -> None:
        begun.set()
        go.wait(PATIENCE)
        raise BadInput("too late")

    monkeypatch.setattr(searches, "open_search", slow)
    with asker(fill(tmp_path / "g.gallery", 2, 2)) as server:
        told: list[str] = []

        def wait() -> None:
            try:
                server.parts.answering.search(_ask("clip-000"))
            except BadInput as reason:
                told.append(str(reason))

        waiting = threading.Thread(target=wait)
        waiting.start()
        assert begun.wait(PATIENCE)
        server.parts.jobs.closing = True
        waiting.join(PATIENCE)
        assert told == ["The server is about to end: start it again, then ask again."]
        go.set()


def test_the_usual_search_is_made_ready_before_anybody_asks(tmp_path: Path) -> None:
    with asker(fill(tmp_path / "g.gallery")) as server:
        assert not server.get("/api/gallery")["ready"]
        server.parts.begin()
        until(lambda: bool(server.get("/api/gallery")["ready"]))
        server.post("/api/searches", {"set": key_of("clip-000")})
        assert len(server.get("/api/jobs")["jobs"]) == 1


# Many at once.


def test_many_clients_while_sets_are_added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every answer is the one that the library gives for the version it names."""
    monkeypatch.setattr(searches, "REST", 0.1)
    monkeypatch.setattr(searches, "RESTS", 0.0)
    path, clients, seconds = fill(tmp_path / "g.gallery", pictures=False), 20, 3.0
    more = small_world(4, 3, seed=9)[0]
    with asker(path) as server:
        parts = server.parts
        parts.answering.search(_ask("clip-000"))
        stop = time.monotonic() + seconds
        said: list[tuple[str, str, list[str]]] = []
        wrong: list[BaseException] = []

        def client(number: int) -> None:
            rng = np.random.default_rng(number)
            try:
                while time.monotonic() < stop:
                    asked = f"clip-{rng.integers(18):03d}"
                    found = parts.answering.search(_ask(asked))
                    said.append((asked, found.version, [one.set.id for one in found.answers]))
            except BaseException as reason:
                wrong.append(reason)

        threads = [threading.Thread(target=client, args=(number,)) for number in range(clients)]
        for thread in threads:
            thread.start()
        # What the library says of each version is asked for afterwards.
        versions: dict[str, Search] = {}
        known: list[FaceSet] = list(parts.gallery.sets())
        with Gallery(path) as other:
            for one in [FaceSet(f"new-{one.id}", one.faces) for one in more]:
                if time.monotonic() > stop:
                    break
                other.add(one)
                known.append(one)
                time.sleep(0.25)
        for thread in threads:
            thread.join(PATIENCE)
        assert not [thread for thread in threads if thread.is_alive()], "somebody still waits"
        assert wrong == []
    seen = {version for _, version, _ in said}
    for count in range(18, len(known) + 1):
        if seen <= versions.keys():
            break
        with Gallery(tmp_path / f"{count}.gallery", create=True) as copy:
            for one in known[:count]:
                copy.add(one)
            search = open_search(copy)
            versions[search.tables.fingerprint] = search
    assert len(seen) > 2
    assert len(said) > 50
    expected: dict[tuple[str, str], list[str]] = {}
    for asked, version, ids in said:
        if (asked, version) not in expected:
            expected[asked, version] = versions[version].find(asked, 50).ids
        assert ids == expected[asked, version]


def _ask(set_id: str) -> SearchAsk:
    return SearchAsk(set=key_of(set_id))
