"""Names for the main people of two real films, as somebody gives them who has never seen the page.

``python -m benchmarks.study_naming`` opens the page of each film in Chromium and goes down its proposals:
who has no name yet gets one by a click into the field, the name and the key Enter. Whoever is not proposed is
opened in the collection and named there. Who is who was told by eye (``people_by_eye.csv``), which stands for
what somebody sees on the faces. ``LOOKALIKE_DATA`` names the folder that holds the films.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks import cuts_by_eye
from benchmarks.screenshots import CHROMIUM, PHONE, QUIET, WIDE
from benchmarks.served import Served
from benchmarks.study_groups import UNKNOWN, Sample, films

MAIN = 5
MOST_CLICKS, MOST_SECONDS = 10, 120.0
# What a page may take that looks for people first.
MILLISECONDS = 120_000.0


class Named(NamedTuple):
    """What naming took."""

    people: int
    clicks: int
    seconds: float
    right: int  # sets that have the name of their person
    wrong: int  # sets that have the name of somebody else
    sets: int  # sets of the people who were to be named


class Hand:
    """Somebody's hand on a page: it counts its clicks, and may type."""

    def __init__(self, page: Page) -> None:
        self.page, self.clicks = page, 0

    def click(self, selector: str) -> None:
        """Click the first thing that fits."""
        self.page.locator(selector).first.click()
        self.clicks += 1

    def type(self, text: str) -> None:
        """Type a name; it is kept when the page says so."""
        self.page.keyboard.type(text)
        with self.page.expect_response(lambda said: said.request.method == "POST"):
            self.page.keyboard.press("Enter")


def name_everybody(browser: Browser, server: Served, sample: Sample, shots: Path | None) -> Named:
    """Give the people with most sets their names; how that went."""
    by_id = dict(zip(sample.tables.ids, sample.people.tolist(), strict=True))
    person = {key: by_id[one] for one, key in server.keys(len(by_id)).items()}
    counts = Counter(one for one in by_id.values() if one != UNKNOWN)
    wanted = {one: f"Person {one}" for one, _ in counts.most_common(MAIN)}
    context = browser.new_context(base_url=server.base, viewport={"width": WIDE[0], "height": WIDE[1]})
    context.set_default_timeout(MILLISECONDS)
    cookies = [
        {"name": one.name, "value": one.value, "url": server.base} for one in server.client.cookies.jar
    ]
    context.add_cookies(cookies)  # type: ignore[arg-type]
    page = context.new_page()
    hand, began = Hand(page), time.monotonic()
    page.goto("/people")
    page.locator("#proposals .proposal").first.wait_for()
    if shots:
        _look(page, shots, f"{sample.kind}-people")
    waiting = dict(wanted)
    while found := _next(page, person, waiting):
        handle, who = found
        hand.click(f'#proposals [data-group="{handle}"] input[name="name"]')
        hand.type(waiting.pop(who))
        page.locator(f'#proposals [data-group="{handle}"]').wait_for(state="detached")
    for who in waiting:
        page.goto("/")
        hand.click(f'.card[data-key="{next(key for key in person if person[key] == who)}"] .cover')
        hand.click('input[name="name"]')
        hand.type(wanted[who])
    seconds, told = time.monotonic() - began, _told(server, person)
    if shots:
        page.goto("/people")
        _look(page, shots, f"{sample.kind}-named")
        page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
        _look(page, shots, f"{sample.kind}-named-phone")
    context.close()
    right = sum(told.get(name, Counter())[who] for who, name in wanted.items())
    whole = sum(some.total() for some in told.values())
    return Named(len(told), hand.clicks, seconds, right, whole - right, sum(counts[who] for who in wanted))


def _next(page: Page, person: dict[str, str], waiting: dict[str, str]) -> tuple[str, str] | None:
    """The first proposal that mostly shows somebody who waits for a name: its handle, and who it is."""
    read = "all => all.map(one => [one.dataset.group, one.dataset.sets.split(' ')])"
    for handle, sets in page.locator("#proposals .proposal:has(input)").evaluate_all(read):
        [(who, _)] = Counter(person[key] for key in sets).most_common(1)
        if who in waiting:
            return handle, who
    return None


def _told(server: Served, person: dict[str, str]) -> dict[str, Counter[str]]:
    """By name, how many sets of whom have it."""
    found = {}
    for one in server.get("/api/people").json()["people"]:
        sets = server.get(f"/api/people/{one['number']}").json()["sets"]
        found[one["name"]] = Counter(person[each["key"]] for each in sets)
    return found


def _look(page: Page, folder: Path, name: str) -> None:
    page.wait_for_load_state("networkidle")
    page.screenshot(path=folder / f"{name}.png", full_page=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.study_naming", description=__doc__)
    parser.add_argument("--shots", type=Path, help="folder for pictures of what is seen")
    options = parser.parse_args()
    chromium = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if chromium is None or not cuts_by_eye.is_there():
        sys.exit("study: it needs Chromium, and LOOKALIKE_DATA with the folder of films/")
    if options.shots:
        options.shots.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=QUIET)
        for sample in films(Path(name)):
            with Served(Path(name) / f"{sample.kind}.gallery") as server:
                found = name_everybody(browser, server, sample, options.shots)
            met = "met" if found.clicks <= MOST_CLICKS and found.seconds <= MOST_SECONDS else "not met"
            print(
                f"{sample.kind}: {found.people} people named by {found.clicks} clicks in {found.seconds:.0f} "
                f"seconds (at most {MOST_CLICKS} and {MOST_SECONDS:.0f}: {met}); "
                f"{found.right} of {found.sets} sets have the right name, {found.wrong} a wrong one",
                flush=True,
            )
        browser.close()


if __name__ == "__main__":
    main()
