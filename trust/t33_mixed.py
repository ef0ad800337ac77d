"""T33: several processes use one gallery for a long time, and are killed while it is moved and copied."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

import httpx
import numpy as np

from lookalike import Gallery
from lookalike.errors import LookalikeError
from lookalike.gallery import decisions
from lookalike.gallery.verify import verify
from lookalike.progress import Track, silent
from tests.gallery import children
from tests.waiting import PATIENCE
from tests.web.asking import fill
from tests.web.test_serve import OURS, serve
from trust.outcome import Failures, Outcome

TITLE: Final = (
    "mixed use: three processes add, decide, forget and search for ten minutes while a server answers and "
    "decides; each is killed, the file is moved away and back, and copied alone: nothing acknowledged is "
    "missing, nothing forgotten is found"
)
RELEASE: Final = 0
LEFT_OUT: Final = "videos and photos; two machines"
SECONDS: Final = 600.0
WORKERS: Final = 3
DIMENSION: Final = 12  # of what `fill` adds
NAME: Final = re.compile(rb"worker\d+x\d+-\d+\.")
MOST_FACES: Final = 500  # that are looked for: each is a search through every file

# What is printed was done, and the gallery closed; "forgetting" comes before it is tried. The full stop ends
# a name: in the file a hash follows it, and one that began with 2 made w-1 look like w-12, which was gone.
WORK: Final = """
import random, time
from lookalike import find
from lookalike.gallery import decisions
from lookalike.gallery.forget import forget
path, who = sys.argv[1], sys.argv[2]
chance, own, number = random.Random(who), [], 0
while True:
    way = chance.choice(["add", "add", "judge", "forget", "find"]) if len(own) > 3 else "add"
    number += 1
    one = f"{who}-{number}." if way == "add" else chance.choice(own)
    other = chance.choice(own) if own else one
    if way == "judge" and other == one:
        continue
    if way == "forget":
        own.remove(one)
        print("forgetting", one, flush=True)
    try:
        with Gallery(path) as gallery:
            if way == "add":
                gallery.add(FaceSet(one, faces(int.from_bytes(one.encode()), 3, DIMENSION)))
            elif way == "judge":
                decisions.judge(gallery, one, [other], "same")
            elif way == "forget":
                forget(gallery, [one])
            else:
                find(one, gallery, reranker="baseline")
    except LookalikeError as reason:
        print("refused", reason, flush=True)
        time.sleep(0.1)
        continue
    if way == "add":
        own.append(one)
    print(way, one, other, flush=True)
    time.sleep(chance.choice([0, 0, 0.02, 0.2]))
""".replace("DIMENSION", str(DIMENSION))


class Acknowledged:
    """What processes said that they had done; asked and told by several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.added: set[str] = set()
        self.leaving: set[str] = set()  # forgotten, or perhaps
        self.forgotten: set[str] = set()
        self.judged: set[frozenset[str]] = set()
        self.said: dict[str, int] = {}

    def hear(self, line: str) -> None:
        """Take down a line of a worker."""
        way, one, *more = line.split()
        with self._lock:
            self.said[way] = self.said.get(way, 0) + 1
            if way == "add":
                self.added.add(one)
            elif way == "forgetting":
                self.leaving.add(one)
            elif way == "forget":
                self.forgotten.add(one)
            elif way == "judge":
                self.judged.add(frozenset((one, more[0])))

    def now(self) -> tuple[set[str], set[str], set[frozenset[str]]]:
        """Sets that were added, sets that were forgotten, and pairs that were judged."""
        with self._lock:
            return set(self.added), set(self.forgotten), set(self.judged)

    def wrong(
        self, path: Path, before: tuple[set[str], set[str], set[frozenset[str]]], is_all: bool
    ) -> str | None:
        """What is missing in a gallery of all that was acknowledged before, or there and should not be.

        A copy may say that it lags behind; the gallery itself, at the end, may not.
        """
        added, forgotten, judged = before
        with Gallery(path) as gallery:
            if gallery.lacks and not is_all:
                return None
            there = set(gallery.ids())
            said = {frozenset(pair) for pair in decisions.judged(gallery).verdicts.direct}
            if is_all:
                for one in there & added:
                    if gallery.get(one).faces.tobytes() != _faces(one):
                        return f"{one} is not what was added"
        with self._lock:
            leaving = set(self.leaving)
        if lost := added - leaving - there:
            return f"acknowledged sets are missing: {sorted(lost)[:5]}"
        if found := forgotten & there:
            return f"forgotten sets are there: {sorted(found)[:5]}"
        if lost_pairs := {pair for pair in judged if not pair & leaving} - said:
            return f"acknowledged decisions are missing: {sorted(map(sorted, lost_pairs))[:3]}"
        return None


class Worker:
    """A process that works, and is begun anew when it was killed."""

    def __init__(self, path: Path, name: str, heard: Acknowledged) -> None:
        self._path, self._name, self._heard, self._lives = path, name, heard, 0
        self.wrong: list[str] = []
        self.begin()

    def begin(self) -> None:
        """Start a process, and listen to it."""
        self._lives += 1
        self._child = children.start(WORK, self._path, f"{self._name}{self._lives}")
        self._listener = threading.Thread(target=self._listen, args=(self._child,))
        self._listener.start()

    def _listen(self, child: subprocess.Popen[str]) -> None:
        assert child.stdout is not None
        for line in child.stdout:
            if line.endswith("\n"):
                self._heard.hear(line)

    def end(self) -> None:
        """Kill it, and hear what it had said."""
        self._child.kill()
        self._listener.join()
        assert self._child.stderr is not None
        with self._child:
            if "Traceback" in (said := self._child.stderr.read()):
                self.wrong.append(f"a process ended with {said.strip()[-300:]}")


class Page:
    """A server of the gallery with whoever decides there, begun anew when it was killed."""

    def __init__(self, path: Path, heard: Acknowledged) -> None:
        self._path, self._heard = path, heard
        self.wrong: list[str] = []
        self.begin()

    def begin(self) -> None:
        """Start a server, and go to its page."""
        self._open = ExitStack()
        _, base, entry, self._said = self._open.enter_context(serve(self._path, "--port", "0"))
        client = httpx.Client(base_url=base, headers={**OURS, "Origin": base}, timeout=PATIENCE)
        self._client = self._open.enter_context(client)
        client.get(entry)

    def end(self) -> None:
        """Kill it, and read what it had said."""
        self._open.close()
        self.wrong += [f"the server said: {line.strip()[:200]}" for line in self._said if "Traceback" in line]

    def use(self, chance: random.Random) -> str | None:
        """Decide that two sets show different people; what is wrong with the answer."""
        answer = self._client.get("/api/sets?limit=20")
        found = answer.json().get("sets", ()) if answer.status_code == 200 else []
        if len(found) > 1:
            query, target = chance.sample(found, 2)
            asked = {"query": query["key"], "targets": [target["key"]], "verdict": "different"}
            answer = self._client.post("/api/judgements", json=asked)
            if answer.status_code == 200:
                self._heard.hear(f"judge {query['id']} {target['id']}")
        # A gallery that was moved away is told by 507.
        if answer.status_code >= 500 and answer.status_code not in (503, 507):
            return f"the page answered {answer.status_code}: {answer.text[:200]}"
        return None


def run(share: float = 1.0, seed: int = 0, track: Track = silent) -> Outcome:
    """Mistreat a gallery in use until the time is over."""
    started, failures, cases = time.monotonic(), Failures("T33"), 0
    chance, heard = random.Random(seed), Acknowledged()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = fill(folder / "g.gallery")
        with _working(path, heard, failures) as (workers, page):
            end = time.monotonic() + SECONDS * share
            for _ in track(iter(lambda: time.monotonic() < end, False), "T33", None):
                cases += 1
                if wrong := _step(path, workers, page, heard, chance):
                    failures.append(f"step {cases}: {wrong}")
                time.sleep(chance.uniform(0.1, 0.6))
        if wrong := heard.wrong(path, heard.now(), is_all=True):
            failures.append(wrong)
        with Gallery(path) as gallery:
            gallery.wipe()
        failures += _traces(folder, heard.forgotten)
        failures += [f"verify: {one.what}" for one in verify(path) if not one.is_harmless]
    note = ", ".join(f"{way} {count}" for way, count in sorted(heard.said.items()))
    return Outcome("T33", cases, failures, time.monotonic() - started, note)


def _faces(name: str) -> bytes:
    """The faces that a worker adds under a name, as the gallery keeps them."""
    made = np.random.default_rng(int.from_bytes(name.encode())).normal(size=(3, DIMENSION))
    return made.astype("<f4").tobytes()


def _traces(folder: Path, forgotten: set[str]) -> list[str]:
    """Names and faces of forgotten sets that are in some file of a folder, a sentence each."""
    found = []
    for file in (file for file in folder.rglob("*") if file.is_file()):
        content = file.read_bytes()
        # Tables hold names with four bytes a letter.
        for text in (content, content.replace(bytes(3), b"")):
            named = {one.decode() for one in NAME.findall(text)}
            found += [f"{one} was forgotten, and is in {file.name}" for one in sorted(named & forgotten)]
        # The first face of each: its rows lie one by one.
        seen = [one for one in sorted(forgotten)[:MOST_FACES] if _faces(one)[: 4 * DIMENSION] in content]
        found += [f"{one} was forgotten, and a face of it is in {file.name}" for one in seen]
    return found


@contextmanager
def _working(path: Path, heard: Acknowledged, failures: Failures) -> Iterator[tuple[list[Worker], Page]]:
    users: list[Worker | Page] = []
    try:
        workers = [Worker(path, f"worker{number}x", heard) for number in range(WORKERS)]
        users += [*workers, page := Page(path, heard)]
        yield workers, page
    finally:
        for one in users:
            one.end()
            failures += one.wrong


def _step(
    path: Path, workers: list[Worker], page: Page, heard: Acknowledged, chance: random.Random
) -> str | None:
    """One piece of mistreatment."""
    way = chance.choices(["kill", "kill server", "copy", "move", "page"], [4, 1, 4, 4, 8])[0]
    if way.startswith("kill"):
        one = page if way == "kill server" else chance.choice(workers)
        one.end()
        one.begin()
    elif way == "copy":
        before = heard.now()
        there = path.parent / "copied" / "g.gallery"
        shutil.rmtree(there.parent, ignore_errors=True)
        there.parent.mkdir()
        shutil.copy(path, there)
        try:
            return heard.wrong(there, before, is_all=False)
        except LookalikeError:  # torn by a write at that moment, which is told
            return None
        finally:
            shutil.rmtree(there.parent)
    elif way == "move":
        away = path.rename(path.with_name("away"))
        time.sleep(chance.uniform(0.0, 0.5))
        away.rename(path)
    else:
        return page.use(chance)
    return None
