"""In a real browser: what was decided at once is undone at once, small windows, and a collection of one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, StorageState, expect

from lookalike import Gallery
from lookalike.gallery.decisions import judge
from lookalike.gallery.forget import remove
from tests.web.chromium import Visit, chromium_path, served
from tests.web.drawn import drawn_gallery
from tests.web.test_browser import clips_of_one, keys_of, open_clip

SMALL = {"width": 375, "height": 812}


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection of our own: what other tests decide is not in its history."""
    chromium_path()  # nothing is drawn for nobody
    return drawn_gallery(tmp_path_factory.mktemp("history"), people=12, seed=7)


def test_what_was_judged_at_once_is_one_row_and_undone_at_once(visit: Visit, drawn: Path) -> None:
    page = visit.page
    query = clips_of_one(drawn)[0]
    open_clip(page, query)
    before = keys_of(page, ".answer[data-key]")
    page.get_by_role("link", name="Review many at once").click()
    expect(page.locator(".crop").first).to_be_focused()
    for key in ("x", "j", "x", "j", "x", "j", "x", "n"):
        page.keyboard.press(key)
    visit.said("4 clips: not the same person")
    page.goto("/history")
    row = page.locator(".log > li").first
    expect(row).to_contain_text(f"4 clips show somebody else than {query}.")
    each = row.locator("details li")
    expect(each).to_have_count(4)
    expect(each.first).not_to_be_visible()
    row.get_by_text("Show each").click()
    each.first.get_by_role("button", name="Undo").click()
    visit.said("Taken back.")
    expect(row).to_contain_text("1 of 4 taken back")
    expect(each.first).to_be_visible()  # what was unfolded stays so
    row.get_by_role("button", name="Undo the rest").click()
    visit.said("3 decisions are taken back.")
    expect(row.get_by_role("button", name="Undo")).to_have_count(0)
    open_clip(page, query)
    assert keys_of(page, ".answer[data-key]") == before


def test_confirmed_at_once_under_a_name_stay_together_and_the_page_says_so(visit: Visit, drawn: Path) -> None:
    page = visit.page
    first, *others = clips_of_one(drawn, 1)
    with Gallery(drawn) as gallery:
        judge(gallery, first, others[:2], "same")
    open_clip(page, first)
    page.get_by_label("Who is this?").fill("Vera")
    page.keyboard.press("Enter")
    visit.said("Saved. This is Vera")
    page.goto("/history")
    page.get_by_role("button", name="Undo all 2").click()
    visit.said("3 clips are still named Vera")


def test_a_way_back_is_from_what_was_just_said_and_nothing_else(visit: Visit, drawn: Path) -> None:
    """The answer says which decision it made: what somebody else decides meanwhile is not taken back."""
    page = visit.page
    first, second = clips_of_one(drawn, 2)[:2]
    open_clip(page, first)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(f"{request.method} {request.url}"))

    def meanwhile(route: object) -> None:
        answer = route.fetch()  # type: ignore[attr-defined]
        with Gallery(drawn) as gallery:
            judge(gallery, second, [clips_of_one(drawn, 3)[0]], "different")
        route.fulfill(response=answer)  # type: ignore[attr-defined]

    page.route(
        "**/api/people",
        lambda route: meanwhile(route) if route.request.method == "POST" else route.continue_(),
    )
    page.get_by_label("Who is this?").fill("Wim")
    page.keyboard.press("Enter")
    visit.said("Saved. This is Wim")
    page.locator("#toasts").get_by_role("button", name="Undo").click()
    visit.said("Taken back.")
    expect(page.get_by_label("Who is this?")).to_be_visible()
    assert not [one for one in asked if re.search(r"GET .*/api/judgements", one)]
    with Gallery(drawn) as gallery:
        *_, name, other, undo = gallery.decisions()
        assert [(name.kind, name.undone), (other.kind, other.undone)] == [
            ("name", True),
            ("different", False),
        ]
        assert undo.other == name.number


def test_a_name_of_nothing_is_refused_in_words(visit: Visit, drawn: Path) -> None:
    page = visit.page
    open_clip(page, clips_of_one(drawn, 4)[0])
    page.get_by_label("Who is this?").fill("  ")
    page.get_by_role("button", name="Save name").click()
    visit.said("Type a name first.")
    page.get_by_label("Who is this?").fill("\u200b")
    page.get_by_role("button", name="Save name").click()
    visit.said("A name needs a letter that can be seen")
    visit.wrong.clear()  # the refusal


def test_everything_has_room_on_a_small_phone(
    browser: Browser, known: StorageState, address: str, drawn: Path
) -> None:
    origin = address.partition("/?")[0]
    context = browser.new_context(storage_state=known, base_url=origin, viewport=SMALL)  # type: ignore[arg-type]
    page = context.new_page()
    with Gallery(drawn) as gallery:
        first = clips_of_one(drawn, 5)[0]
        judge(gallery, first, clips_of_one(drawn, 6)[:3], "unsure")
    open_clip(page, first)
    place = page.url
    for view in ("/", place, f"{place}?view=both", f"{place}/review", "/people", "/history", "/?text=nobody"):
        page.goto(view)
        for one in page.locator("details").all():
            one.evaluate("one => one.open = true")
        assert page.evaluate("document.documentElement.scrollWidth") <= SMALL["width"], view
        # However long the names beside them are, no number breaks into two lines.
        long = "all => all.forEach(one => { one.textContent = 'in the mountains of the north.mp4 #12'; })"
        page.locator(".orders .label a").evaluate_all(long)
        low = "all => all.every(one => one.offsetHeight < 32)"
        assert page.locator(".orders .rank").evaluate_all(low), view
        brand, search = (page.locator(one).bounding_box() for one in (".brand", ".top .primary"))
        assert brand is not None
        assert search is not None
        assert abs(brand["y"] + brand["height"] / 2 - search["y"] - search["height"] / 2) < 4, view
    context.close()


def test_whoever_is_alone_in_a_collection_can_be_named(browser: Browser, tmp_path: Path) -> None:
    path = drawn_gallery(tmp_path, people=2)
    with Gallery(path) as gallery:
        alone, *others = (one.id for one in gallery.listing())
        remove(gallery, others)
    with served(path) as printed:
        visit = Visit(browser.new_page())
        page = visit.page
        page.goto(printed)
        page.locator(".card .cover").click()
        expect(page.get_by_text("There is nobody else in this collection yet.")).to_be_visible()
        page.get_by_label("Who is this?").fill("Solo")
        page.keyboard.press("Enter")
        visit.said("Saved. This is Solo")
        expect(page.get_by_role("heading", level=1)).to_have_text("Solo")
        page.locator("#toasts").get_by_role("button", name="Undo").click()
        visit.said("Taken back.")
        expect(page.get_by_role("heading", level=1)).to_have_text(alone)
        assert visit.wrong == []
        page.close()
