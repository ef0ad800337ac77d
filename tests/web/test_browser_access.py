"""Every view for everybody: no serious finding of axe, no sideways scrolling, at phone and desktop widths."""

from __future__ import annotations

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Page, StorageState, ViewportSize

from tests.web.chromium import DESK, PHONE, Visit

# The least size of what is pressed, in pixels.
LEAST = 24
VIEWS = [
    "collection",
    "answers",
    "both orders",
    "why",
    "evidence",
    "review",
    "people",
    "person",
    "group",
    "history",
    "lost",
]


@pytest.fixture(scope="module", autouse=True)
def somebody(browser: Browser, known: StorageState, address: str) -> str:
    """A person with two clips, so that no view is empty; the key of the first."""
    context = browser.new_context(storage_state=known, base_url=address.partition("/?")[0])
    visit = Visit(context.new_page())
    visit.page.goto("/?text=street.mp4")
    visit.page.locator(".card .cover").first.click()
    visit.page.get_by_role("button", name="Same person").first.click()
    visit.said(": the same person.")
    visit.page.get_by_label("Who is this?").fill("Eve of the Street")
    visit.page.get_by_role("button", name="Save name").click()
    visit.said("Saved.")
    key = visit.page.url.rpartition("/")[2]
    assert visit.wrong == []
    context.close()
    return key


def show(page: Page, view: str, key: str) -> None:
    """Go to a view."""
    paths = {
        "collection": "/",
        "answers": f"/sets/{key}",
        "both orders": f"/sets/{key}?view=both&stage=learnt",
        "why": f"/sets/{key}?stage=learnt",
        "evidence": f"/sets/{key}",
        "review": f"/sets/{key}/review",
        "people": "/people",
        "person": "/people",
        "group": "/people",
        "history": "/history",
        "lost": "/nowhere",
    }
    page.goto(paths[view])
    if view == "person":
        page.get_by_role("link", name="Eve of the Street").click()
        page.get_by_role("heading", name="When they are seen").wait_for()
    if view == "group":
        page.locator(".proposals h3 a").first.click()
        page.get_by_role("heading", name="Is this one person?").wait_for()
    if view == "why":
        page.get_by_role("link", name="Why?").first.click()
        page.locator("#sheet .chain").first.wait_for()
    if view == "evidence":
        page.goto(str(page.get_by_role("link", name="Why?").first.get_attribute("href")))


@pytest.mark.parametrize(("size", "scheme"), [(PHONE, "dark"), (DESK, "light")], ids=["phone", "desk"])
def test_every_view_is_open_to_everybody(
    browser: Browser, known: StorageState, address: str, somebody: str, size: ViewportSize, scheme: str
) -> None:
    context = browser.new_context(
        storage_state=known,
        base_url=address.partition("/?")[0],
        viewport=size,
        color_scheme=scheme,  # type: ignore[arg-type]
        reduced_motion="reduce",
    )
    page = context.new_page()
    found = []
    for view in VIEWS:
        show(page, view, somebody)
        for one in Axe().run(page).response["violations"]:
            if one["impact"] in ("serious", "critical"):
                nodes = [node["html"][:120] for node in one["nodes"][:3]]
                found.append(f"{view}: {one['id']}: {nodes}")
        if page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"):
            found.append(f"{view}: wider than the window")
        for small in page.locator("button:visible, .button:visible, nav a:visible").evaluate_all(
            f"all => all.filter(one => one.getBoundingClientRect().height < {LEAST} ||"
            f" one.getBoundingClientRect().width < {LEAST}).map(one => one.outerHTML.slice(0, 100))"
        ):
            found.append(f"{view}: too small to press: {small}")
    context.close()
    assert found == []


def test_the_keyboard_reaches_everything_in_order(
    browser: Browser, known: StorageState, address: str, somebody: str
) -> None:
    context = browser.new_context(storage_state=known, base_url=address.partition("/?")[0], viewport=DESK)
    page = context.new_page()
    page.goto(f"/sets/{somebody}")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    link = page.get_by_role("link", name="Why?").first
    link.focus()
    page.keyboard.press("Enter")
    page.locator("#sheet .chain").first.wait_for()
    assert page.evaluate("document.getElementById('sheet').contains(document.activeElement)")
    page.keyboard.press("Escape")
    # Whoever leaves the dialog is back where they were.
    assert page.evaluate("document.activeElement.dataset.do") == "why"
    context.close()


def test_the_page_loads_nothing_from_elsewhere(
    browser: Browser, known: StorageState, address: str, somebody: str, tmp_path: Path
) -> None:
    origin = address.partition("/?")[0]
    context = browser.new_context(storage_state=known, base_url=origin)
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for view in VIEWS:
        show(page, view, somebody)
    context.close()
    assert asked
    assert [url for url in asked if not url.startswith(origin)] == []
