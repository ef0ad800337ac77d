"""Page: a search by the real server against `find` alone, a list of 100,000 sets, and many clients at once.

The galleries are drawn once and kept in ``bench-results/page``. Where a browser is installed, the time from a
click on a set to its first answer on the screen is measured too.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.entries import entry
from benchmarks.page_galleries import draw_sets, make_gallery
from benchmarks.page_load import run_load
from benchmarks.served import Served
from lookalike import Gallery, find, open_search

KEPT = Path("bench-results") / "page"
TOP = 50
BROWSER = "chromium"
FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
# Runs in every page before its own scripts, and notes a click, and when the first answer has its picture.
WATCH = """
const now = () => performance.timeOrigin + performance.now();
addEventListener('pointerdown', () => { sessionStorage.clickedAt = now(); }, true);
const look = () => {
  const face = document.querySelector('.answer img');
  if (face && face.complete && face.naturalWidth) window.seenAt = now();
  else requestAnimationFrame(look);
};
requestAnimationFrame(look);
"""


def run(toy: bool) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as temporary:
        kept = Path(temporary) if toy else KEPT
        sets, listed = (60, 150) if toy else (10_000, 100_000)
        found = make_gallery(kept / f"{sets}.gallery", draw_sets(sets))
        many = make_gallery(kept / f"{listed}-listed.gallery", draw_sets(listed, faces=2, dimension=8))
        return [
            *_searches(found, 3 if toy else 40, None if toy else shutil.which(BROWSER)),
            *_lists(many, listed, 2 if toy else 10),
            _load(toy),
        ]


def _searches(path: Path, questions: int, browser: str | None) -> Iterator[dict[str, Any]]:
    with Gallery(path) as gallery:
        search = open_search(gallery)
        with Served(path) as served:
            keys = served.keys(questions)
            served.search(next(iter(keys.values())), top=TOP)  # opens its own search
            # In turns, so that whoever else uses the machine disturbs all of them alike.
            alone, asked, whole, verb, size = 0.0, 0.0, [], 0.0, 0
            for name, key in keys.items():
                alone += _taken(time.process_time, partial(search.find, name, TOP))
                asked += _taken(served.processor_seconds, partial(served.search, key, top=TOP))
                whole.append(_seconds(partial(served.get, f"/sets/{key}")))
                verb += _taken(time.process_time, partial(find, name, gallery, top=TOP))
                told = served.search(key, top=TOP)
                size = len(told.content)
                ids = [one["set"]["id"] for one in told.json()["answers"]]
                if ids != search.find(name, TOP).ids:
                    raise SystemExit(f"the server answers {name} otherwise than find")
            click = _clicked(served, list(keys.values()), browser) if browser else []
    alone, asked, verb, paging = alone / questions, asked / questions, verb / questions, _middle(whole)
    figures = {"sets": len(search.tables), "find_seconds": alone, "kilobytes": size / 1000}
    yield entry(
        "search by the server, 50 answers, to Search.find, processor time",
        asked / alone,
        1.5,
        seconds=asked,
        **figures,
    )
    yield entry(
        "search by the server to retrieval.find, which opens the index each time, processor time",
        asked / verb,
        1.5,
        seconds=asked,
        retrieval_find_seconds=verb,
    )
    yield entry("page of a query to one second", paging, 1.0, seconds=paging)
    if click:
        yield entry("click to first answer seen, to one second", _middle(click), 1.0, slowest=max(click))


def _lists(path: Path, count: int, repeats: int) -> Iterator[dict[str, Any]]:
    with Served(path) as served:
        first = served.first_seconds
        yield entry(f"first page of {count} sets, to one second", first, 1.0, seconds=first)
        for name, place in (
            (f"page of {count} sets", "/"),
            (f"last page of {count} sets", f"/?offset={count - 50}"),
            (f"search by name among {count} sets", "/?text=0042.mp4"),
            (f"{count} sets by date, as JSON", "/api/sets?limit=50&sort=added"),
        ):
            took = _middle([_seconds(partial(served.get, place)) for _ in range(repeats)])
            yield entry(f"{name}, to one second", took, 1.0, seconds=took)


def _load(toy: bool) -> dict[str, Any]:
    clients, seconds, sets, added = (4, 2.0, 40, 10) if toy else (50, 60.0, 2_000, 100)
    told: dict[str, Any] = run_load(clients, seconds, sets, added)
    bad = (told["failed"] + told["wrong"]) / max(1, told["requests"])
    return entry(f"failed or wrong answers to {clients} clients at once", bad, 1e-9, **told)


def _clicked(served: Served, keys: list[str], browser: str) -> list[float]:
    """Seconds from a click on a set to the picture of its first answer, by the clock of the browser."""
    from playwright.sync_api import sync_playwright

    times = []
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=browser, args=list(FLAGS))
        page = opened.new_context(viewport={"width": 1280, "height": 900}).new_page()
        page.context.add_cookies(
            [
                {"name": one.name, "value": one.value or "", "url": served.base}
                for one in served.client.cookies.jar
            ]
        )
        page.add_init_script(WATCH)
        for key in keys[:10]:
            page.goto(f"{served.base}/", wait_until="networkidle")
            page.locator(f'a[href^="/sets/{key}"]').first.click()
            page.wait_for_selector(".answer img")
            # Asked again and again from here, since the page forbids to run texts as code.
            while not (seen := page.evaluate("window.seenAt || 0")):
                page.wait_for_timeout(50)
            times.append((seen - float(page.evaluate("sessionStorage.clickedAt"))) / 1000)
        opened.close()
    return times


def _taken(clock: Callable[[], float], work: Callable[[], object]) -> float:
    began = clock()
    work()
    return clock() - began


def _seconds(work: Callable[[], object]) -> float:
    return _taken(time.perf_counter, work)


def _middle(times: list[float]) -> float:
    return sorted(times)[len(times) // 2]
