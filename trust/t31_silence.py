"""T31: machines of a cluster fall silent, as without power or network: nobody is told that they are gone."""

from __future__ import annotations

import importlib.util
import json
import os
import random
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Timer
from typing import Any, Final

from lookalike import open_gallery, open_search
from lookalike.engines._ray_cluster import GONE, SETTINGS
from lookalike.progress import Track, silent
from tests.small_world import small_world
from tests.waiting import PATIENCE
from trust.hosts import Hosts, why_not
from trust.outcome import Outcome, share_of, tried
from trust.t29_slices import write

TITLE: Final = (
    "silence: of three hosts, each with a network of its own, one falls silent for good or for a while, or "
    "the head does: the same answers, or one sentence, and answers again when the cluster is back"
)
RELEASE: Final = 3
LEFT_OUT: Final = (
    "networks that lose, delay or change some of what is sent; an index and an intake, which T30 and "
    "tests/engines/test_adding.py lose nodes during"
)
HOSTS: Final = 3
HEAD: Final = 1
PORT: Final = 6379
STAGE: Final = "learnt:references=3"
QUERIES: Final = 12
LONGEST_OUTAGE: Final = 20.0
RAY: Final = Path(sys.executable).with_name("ray")
NOWHERE: Final = "no Ray cluster can be had"


def run(share: float = 1.0, seed: int = 0, track: Track = silent) -> Outcome:
    """Each case in turn on one cluster, which is whole again after each."""
    reason = "Ray is not installed" if importlib.util.find_spec("ray") is None else why_not()
    if reason:
        return Outcome("T31", 0, [], 0.0, reason)
    count = share_of(RELEASE, share)
    with tempfile.TemporaryDirectory() as folder, Hosts(HOSTS) as hosts:
        site = Site(Path(folder), hosts, seed)
        found = tried("T31", range(count), partial(_case, site, seed), track, total=count)
        waits = ", ".join(f"{way} {seconds:.0f} s" for way, seconds in site.longest.items())
        return replace(found, note=f"longest wait for an answer: {waits}")


class Site:
    """A cluster of hosts, a gallery, and what it says in one piece.

    Parameters
    ----------
    folder : Path
    hosts : Hosts
    seed : int
    """

    def __init__(self, folder: Path, hosts: Hosts, seed: int) -> None:
        self.hosts, self.longest = hosts, dict[str, float]()
        self.address = f"{hosts.address(HEAD)}:{PORT}"
        secret = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
        self._env = os.environ | SETTINGS | secret
        sets = small_world(people=40, sets=5, seed=seed % 2**32)[0]
        for name in ("one", "cut"):
            write(folder / f"{name}.gallery", sets)
        self.gallery = folder / "cut.gallery"
        with open_gallery(folder / "one.gallery") as whole:
            search = open_search(whole, reranker=STAGE)
            self.queries = list(search.tables.ids)[:QUERIES]
            found = {one: {"answer": search.find(one).to_dict()} for one in self.queries}
        self.expected: dict[str, dict[str, Any]] = json.loads(json.dumps(found))  # as they arrive from afar
        for number in hosts.numbers:
            self.join(number)

    def join(self, number: int) -> None:
        """Start Ray on a host: as the head, or as one that joins it.

        Ray gives up a node that is not there within half a minute, which a busy machine may need: then again.
        """
        alone = ("--head", "--port", str(PORT), "--include-dashboard", "false")
        where = alone if number == HEAD else ("--address", self.address)
        about = ("--num-cpus", 1, "--object-store-memory", 200_000_000, "--disable-usage-stats")
        words = (RAY, "start", *where, "--node-ip-address", self.hosts.address(number), *about)
        end = time.monotonic() + PATIENCE
        while True:
            given = self.hosts.words(number, *words)
            done = subprocess.run(given, env=self._env, capture_output=True, text=True)
            if not done.returncode:
                return
            if time.monotonic() > end:
                raise RuntimeError(
                    f"Ray did not start on host {number}: {(done.stdout + done.stderr)[-300:]}"
                )
            _stop(self, number)

    def replace(self, number: int) -> None:
        """Switch a host off and on, with its cable in, and let it join."""
        self.hosts.switch_off(number)
        self.hosts.mend(number)
        self.hosts.switch_on(number)
        self.join(number)

    @contextmanager
    def asker(self, number: int, way: str) -> Iterator[Asker]:
        """Whoever asks, on a host."""
        program = (sys.executable, "-m", "trust.far", self.address, self.gallery, STAGE)
        with subprocess.Popen(
            self.hosts.words(number, *program),
            env=self._env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # where Ray's machinery tells what it lost
            text=True,
        ) as child:
            asker = Asker(child)
            try:
                yield asker
            finally:
                child.kill()
                self.longest[way] = max(asker.longest, self.longest.get(way, 0.0))


class Asker:
    """Puts questions to a process far away."""

    def __init__(self, child: subprocess.Popen[str]) -> None:
        assert child.stdin is not None
        assert child.stdout is not None
        self._child, self._to, self._from = child, child.stdin, child.stdout
        self._put = 0.0
        self.longest = 0.0

    def put(self, query: str) -> None:
        """Ask, and do not wait."""
        self._put = time.monotonic()
        print(query, file=self._to, flush=True)

    def get(self) -> dict[str, Any]:
        """What is said to it."""
        timer = Timer(PATIENCE, self._child.kill)
        timer.start()
        try:
            line = self._from.readline()
        finally:
            timer.cancel()
        if not line:
            raise RuntimeError(f"who asks ended with {self._child.wait()}, or waited over {PATIENCE:g} s")
        self.longest = max(self.longest, time.monotonic() - self._put)
        found: dict[str, Any] = json.loads(line)
        return found

    def ask(self, query: str) -> dict[str, Any]:
        """Ask, and wait."""
        self.put(query)
        return self.get()


def _case(site: Site, seed: int, number: int) -> str | None:
    name, way = list(WAYS.items())[number % len(WAYS)]
    wrong = way(site, name, random.Random(f"{seed} {number}"))
    return f"{name}: {wrong}" if wrong else None


# Ways to fall silent: each returns what is wrong.


def _for_good(site: Site, name: str, chance: random.Random) -> str | None:
    """The cable is pulled while a question is under way, at most a tenth of a second after it was put."""
    at, delay = chance.randrange(1, QUERIES - 1), chance.uniform(0.0, 0.1)
    try:
        with site.asker(HEAD, name) as asker:
            asker.ask(site.queries[0])  # everything is open
            asker.longest = 0.0
            for number, query in enumerate(site.queries):
                asker.put(query)
                if number == at:
                    time.sleep(delay)
                    site.hosts.cut(HOSTS)
                if asker.get() != site.expected[query]:
                    return f"query {number} is answered otherwise than by one process"
    finally:
        site.replace(HOSTS)
    return None


def _for_a_while(site: Site, name: str, chance: random.Random) -> str | None:
    at, seconds = chance.randrange(1, QUERIES - 1), chance.uniform(1.0, LONGEST_OUTAGE)
    mending = Timer(seconds, site.hosts.mend, [HOSTS])
    try:
        with site.asker(HEAD, name) as asker:
            asker.ask(site.queries[0])
            asker.longest = 0.0
            for number, query in enumerate(site.queries):
                if number == at:
                    site.hosts.cut(HOSTS)
                    mending.start()
                if asker.ask(query) != site.expected[query]:
                    return f"query {number} is answered otherwise than by one process"
    finally:
        mending.cancel()
        site.replace(HOSTS)
    return None


def _the_head(site: Site, name: str, chance: random.Random) -> str | None:
    """Who asks from elsewhere is told, lives on, and is answered when there is a cluster again."""
    at = chance.randrange(1, QUERIES - 1)
    try:
        with site.asker(HOSTS, name) as asker:
            return _without_head(site, asker, at)
    finally:
        for number in site.hosts.numbers:
            site.replace(number)


def _without_head(site: Site, asker: Asker, at: int) -> str | None:
    for query in site.queries[:at]:
        if asker.ask(query) != site.expected[query]:
            return "it was not answered as by one process before"
    asker.longest = 0.0
    site.hosts.cut(HEAD)
    said = asker.ask(site.queries[at])
    if said != {"error": GONE}:
        return f"told was {str(said)[:200]}"
    end = time.monotonic() + PATIENCE
    while not str(said.get("error")).startswith(NOWHERE):
        if time.monotonic() > end or "error" not in said:
            return f"the cluster was not left: {str(said)[:200]}"
        time.sleep(1.0)
        said = asker.ask(site.queries[at])
    site.replace(HEAD)
    _stop(site, HOSTS)  # but not who asks, which lives there
    site.join(HOSTS)
    if asker.ask(site.queries[at]) != site.expected[site.queries[at]]:
        return "it is not answered as by one process when the cluster is back"
    return None


def _stop(site: Site, number: int) -> None:
    subprocess.run(site.hosts.words(number, RAY, "stop", "--force"), capture_output=True, check=False)


WAYS: Final = {"a machine for good": _for_good, "a machine for a while": _for_a_while, "the head": _the_head}
