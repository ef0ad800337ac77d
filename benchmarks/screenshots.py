"""Pictures of the page for the documentation: ``python -m benchmarks.screenshots``, or ``make screenshots``.

A collection and a film are drawn, served by the real server and used in a real browser, as somebody would
use it: find, confirm, name, review.
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import tempfile
from collections import defaultdict
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from benchmarks.served import Served
from lookalike.demo.films import draw_collection, write_collection
from lookalike.demo.footage import DrawnFootage, draw_footage, write_footage
from lookalike.evaluation.labels import read_labels
from lookalike.ingest.add import add

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-sync",
]
WIDE, PHONE = (1280, 900), (390, 844)
# A picture of the page that is larger makes the documentation slow.
LARGEST = 300_000
PEOPLE, SEED, RATE, SECONDS = 60, 0, 10.0, 20.0
JUDGED = 6


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.screenshots", description=__doc__)
    parser.add_argument("--out", type=Path, default=IMAGES, help="folder of the pictures")
    out: Path = parser.parse_args().out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    chromium = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if chromium is None:
        raise SystemExit(
            "there is no Chromium on this computer: install it, for instance by apt-get install chromium"
        )
    # Inside the folder, so that no path of this computer is on the pictures.
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        gallery, film, people = _collection()
        clips = max(people.values(), key=len)
        with Served(gallery) as server, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=QUIET)
            _name_somebody(server, film)
            query, answer = _telling(server, people)
            for scheme, size, take in (
                ("light", WIDE, _walk),
                ("dark", WIDE, _look_dark),
                ("dark", PHONE, _look_small),
            ):
                with _context(browser, server, size, scheme) as context:
                    take(context, clips, out)
            page = _context(browser, server, WIDE).new_page()
            page.goto(f"/sets/{query}?stage=learnt")
            page.locator(f'[data-key="{answer}"] .why').click()
            page.locator("#sheet .witness").first.wait_for()
            _take(page, out / "page-why.png")
            page.goto(f"/sets/{query}?stage=learnt&view=both")
            _take(page, out / "page-orders.png")
            browser.close()
        _look_who_is_there(chromium, out)


def _look_who_is_there(chromium: str, out: Path) -> None:
    """The people that are proposed in the videos of the tutorial, before anybody has a name."""
    for number, name in enumerate(("arrival", "dinner", "garden")):
        video = draw_footage(people=6, seconds=20 + 4 * number, rate=12.5, difficulty=0.1 * (number + 1))
        write_footage(Path(f"{name}.mp4"), video.frames(), video.rate)
    add(Path("family.gallery"), [Path(f"{name}.mp4") for name in ("arrival", "dinner", "garden")])
    with Served(Path("family.gallery")) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=QUIET)
        page = _context(browser, server, WIDE).new_page()
        page.goto("/people", timeout=300_000)
        page.locator(".proposal").first.wait_for(timeout=300_000)
        _take(page, out / "page-people.png")
        browser.close()


def _context(
    browser: Browser, server: Served, size: tuple[int, int], scheme: str = "light"
) -> BrowserContext:
    """A browser that the server has let in."""
    context = browser.new_context(
        base_url=server.base,
        viewport={"width": size[0], "height": size[1]},
        color_scheme=scheme,  # type: ignore[arg-type]
        reduced_motion="reduce",
    )
    cookies = [
        {"name": one.name, "value": one.value, "url": server.base} for one in server.client.cookies.jar
    ]
    context.add_cookies(cookies)  # type: ignore[arg-type]
    return context


def _telling(server: Served, people: dict[str, list[str]]) -> tuple[str, str]:
    """A query and an answer that tell what a go-between does: the right one that was lifted farthest."""
    who = {clip: person for person, clips in people.items() for clip in clips}
    found = []
    for clip in sorted(who):
        key = server.client.get("/api/sets", params={"text": clip}).json()["sets"][0]["key"]
        ask = {"set": key, "reranker": "learnt", "top": 10, "decisions": False}
        for one in server.client.post("/api/searches", json=ask).json()["answers"]:
            if who.get(one["set"]["id"]) == who[clip] and one["through"]:
                right = who.get(one["through"]["id"]) == who[clip]
                lifted, sure = one["moved"] > 0, (one["probability"] or 0) > 0.5
                found.append((right, lifted, sure, one["moved"], key, one["set"]["key"]))
    return max(found)[4:]


def _name_somebody(server: Served, film: DrawnFootage) -> None:
    """Name whoever is seen alone most often in the film: it is known who is where."""
    alone = [
        one
        for one in film.tracks
        if not any(
            other is not one and other.start < one.end and one.start < other.end for other in film.tracks
        )
    ]
    seen = defaultdict(list)
    for one in server.client.get("/api/sets", params={"text": "street.mp4"}).json()["sets"]:
        for track in alone:
            if track.start - 0.5 <= one["start"] and one["end"] <= track.end + 0.5:
                seen[track.person].append(one["key"])
    most = max(seen.values(), key=len)
    server.client.post("/api/people", json={"name": "Bo", "sets": most}).raise_for_status()


def _collection() -> tuple[Path, DrawnFootage, dict[str, list[str]]]:
    """Draw; the gallery, its film, and which clips show whom."""
    folder, gallery, film = Path("holiday"), Path("holiday.gallery"), Path("street.mp4")
    write_collection(folder, draw_collection(PEOPLE, difficulty=0.6, seed=SEED))
    add(gallery, [folder / "clips"], cropped=True)
    drawn = draw_footage(seconds=SECONDS, rate=RATE, seed=SEED)
    write_footage(film, drawn.frames(), RATE)
    add(gallery, [film], descriptor="lbp", cropped=False)
    people: dict[str, list[str]] = defaultdict(list)
    for clip, person in read_labels(folder / "labels.csv").items():
        people[person].append(clip)
    return gallery, drawn, people


def _walk(context: BrowserContext, clips: list[str], out: Path) -> None:
    """From the collection to a named person, with a picture of every view on the way."""
    page = context.new_page()
    page.goto("/")
    _take(page, out / "page-collection.png")
    _open(page, clips[0])
    for count in (1, 2):
        page.get_by_role("button", name="Same person").first.click()
        page.get_by_role("heading", name=f"Confirmed {count}").wait_for()
    page.get_by_label("Who is this?").fill("Anna")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Anna").wait_for()
    _quiet(page)
    _take(page, out / "page-answers.png")
    page.goto(f"{page.url}/review")
    crops = page.locator(".crop")
    for number in range(JUDGED):
        page.keyboard.press("y" if crops.nth(number).get_attribute("data-title") in clips else "n")
    page.locator(".crop[data-verdict]").nth(JUDGED - 1).wait_for()
    page.wait_for_load_state("networkidle")
    _quiet(page)
    _take(page, out / "page-review.png")
    page.goto("/people")
    page.get_by_role("link", name="Bo", exact=True).click()
    _take(page, out / "page-person.png")
    page.goto("/history")
    _take(page, out / "page-history.png")


def _look_dark(context: BrowserContext, clips: list[str], out: Path) -> None:
    page = context.new_page()
    _open(page, clips[0])
    _take(page, out / "page-dark.png")


def _look_small(context: BrowserContext, clips: list[str], out: Path) -> None:
    page = context.new_page()
    _open(page, clips[0])
    _take(page, out / "page-phone.png")


def _open(page: Page, text: str) -> None:
    page.goto(f"/?text={text}")
    page.locator(".card .cover").first.click()
    page.locator("#answers .answer").first.wait_for(timeout=300_000)


def _quiet(page: Page) -> None:
    """Let what was just told go, and look at the page from its top, with the hand off it."""
    page.evaluate("document.getElementById('toasts').replaceChildren()")
    page.mouse.move(640, 2)
    page.evaluate("scrollTo(0, 0)")


def _take(page: Page, path: Path) -> None:
    """Photograph what is seen, once all faces are there; in as few colours as do not show."""
    page.wait_for_load_state("networkidle")
    picture = Image.open(BytesIO(page.screenshot())).convert("RGB")
    for colours in (256, 128, 64):
        picture.quantize(colours, method=Image.Quantize.MEDIANCUT).save(path, optimize=True)
        if path.stat().st_size < LARGEST:
            break
    print(f"{path.name}: {path.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
