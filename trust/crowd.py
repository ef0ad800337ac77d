"""A crowd: many clients ask one server at once while another process adds sets; every answer is one."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Final

import httpx

from lookalike.progress import Track
from tests.gallery import children
from tests.waiting import PATIENCE
from tests.web.asking import fill
from tests.web.test_serve import OURS, serve
from trust.outcome import Failures, Outcome

CLIENTS: Final = 50
SECONDS: Final = 60.0
LARGE: Final = 2**20 + 1

ADD: Final = """
import os, time
path, end = sys.argv[1:]
added = 0
with Gallery(path) as gallery:
    kind = gallery.descriptor
    while not os.path.exists(end):
        gallery.add(FaceSet(f"later-{added}", faces(added, 3, gallery.dimension)), kind)
        added += 1
        time.sleep(0.2)
print(added)
"""


def run_crowd(folder: Path, share: float, seed: int, track: Track) -> Outcome:
    """Ask for some time, as many at once as the share allows: all from a fifth on."""
    started, path, end = time.monotonic(), fill(folder / "crowd.gallery"), folder / "end"
    count = max(5, min(CLIENTS, round(CLIENTS * 5 * share)))
    with serve(path, "--port", "0") as (_, base, entry, said):
        with httpx.Client(base_url=base, timeout=PATIENCE) as door:
            door.get(entry)
            cookies = dict(door.cookies)
        adding = children.start(ADD, path, end)
        clients = [Client(base, cookies, f"{seed} {number}") for number in range(count)]
        deadline = time.monotonic() + max(2.0, SECONDS * share)
        threads = [threading.Thread(target=one.work, args=(deadline,)) for one in clients]
        for thread in threads:
            thread.start()
        for thread in track(threads, f"{count} clients at once", count):
            thread.join()
        end.touch()
        out, err = adding.communicate()
    failures = Failures("T28")
    failures += [f"the server said: {line.strip()[:200]}" for line in said if "Ctrl-C" not in line]
    if adding.returncode:
        failures.append(f"whoever added ended with {adding.returncode}: {err[-300:]}")
    answers = sum((one.answers for one in clients), Counter[int]())
    told = ", ".join(f"{number} x {status}" for status, number in sorted(answers.items()))
    waits = sorted(wait for one in clients for wait in one.waits)
    note = f"{count} clients while {out.strip()} sets came: {told}; longest wait {waits[-1]:.1f} s"
    every = [*(wrong for one in clients for wrong in one.wrong), *failures]
    return Outcome("T28", len(waits), every, time.monotonic() - started, note)


class Client:
    """One of them.

    Parameters
    ----------
    base : str
        Address of the server.
    cookies : dict
    seed : str
    """

    def __init__(self, base: str, cookies: dict[str, str], seed: str) -> None:
        self.base, self.cookies, self.chance = base, cookies, random.Random(seed)
        self.answers: Counter[int] = Counter()
        self.waits: list[float] = []
        self.wrong = Failures("T28")

    def work(self, deadline: float) -> None:
        """Ask one thing after the other."""
        headers = {**OURS, "Origin": self.base}
        with httpx.Client(
            base_url=self.base, headers=headers, cookies=self.cookies, timeout=PATIENCE
        ) as client:
            while time.monotonic() < deadline:
                begun = time.monotonic()
                try:
                    self._ask(client)
                except Exception as reason:
                    self.wrong.append(f"no answer: {reason!r}")
                self.waits.append(time.monotonic() - begun)

    def _ask(self, client: httpx.Client) -> None:
        way = self.chance.choice(["look", "look", "search", "judge", "undo", "nonsense", "large"])
        if way == "look":
            said = client.get(
                self.chance.choice(["/", "/api/gallery", "/api/sets", "/api/people", "/api/judgements"])
            )
            wanted = said.status_code == 200
        elif way == "nonsense":
            said = client.get(self.chance.choice(["/api/sets/none", "/api/none", "/api/people/999"]))
            wanted = 400 <= said.status_code < 500
        elif way == "large":
            said = client.post("/api/searches", json={"set": "x" * LARGE})
            wanted = said.status_code == 413
        else:
            said = self._act(client, way)
            # A contradiction is no error; nor is nothing to undo.
            wanted = said.status_code in (200, 201, 202, 400, 404, 409)
        self.answers[said.status_code] += 1
        if not wanted:
            self.wrong.append(f"{way}: {said.status_code} {said.text[:200]}")

    def _act(self, client: httpx.Client, way: str) -> httpx.Response:
        if way == "undo":
            return client.post("/api/judgements/undo", json={})
        keys = [one["key"] for one in client.get("/api/sets?limit=200").json()["sets"]]
        one, other = self.chance.sample(keys, 2)
        if way == "search":
            return client.post("/api/searches", json={"set": one})
        verdict = self.chance.choice(["same", "different"])
        return client.post("/api/judgements", json={"query": one, "targets": [other], "verdict": verdict})
