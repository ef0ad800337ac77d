"""In a real browser: a folder is opened, and who is in it appears while it is taken in."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests import media
from tests.waiting import until
from tests.web.chromium import DESK, MILLISECONDS, PHONE, Visit, chromium_path, entered, served


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Albums of five people, and a photo that is cut off."""
    chromium_path()  # nothing is drawn for nobody
    place = tmp_path_factory.mktemp("in") / "holiday"
    for number in range(10):
        (place / f"album {number % 5}").mkdir(parents=True, exist_ok=True)
        media.face(210 + number, number % 5).save(place / f"album {number % 5}" / f"{number}.png")
    media.truncated_photo(place)
    return place


def test_people_appear_while_a_folder_is_taken_in(browser: Browser, folder: Path, tmp_path: Path) -> None:
    with served(folder, "open", XDG_DATA_HOME=str(tmp_path)) as address:
        context = browser.new_context(viewport=DESK)
        context.set_default_timeout(MILLISECONDS)
        visit = Visit(context.new_page())
        page = visit.page
        page.goto(address)
        box = page.get_by_role("region", name="The folder")
        expect(box.get_by_role("heading")).to_have_text("Folder holiday")
        # Nobody loads the page again.
        expect(page.locator("li.card")).to_have_count(5)
        expect(page.get_by_role("searchbox")).to_be_visible()
        expect(box.locator("[data-text]")).to_contain_text("5 sets added from 10 files; 1 file could not be")
        expect(page.locator('[data-region="counts"]')).to_contain_text("5 clips and photos")
        box.get_by_text("1 file could not be read", exact=True).click()
        expect(box.get_by_text("is a damaged picture")).to_be_visible()
        # What comes later is looked for when asked, and appears too; what is open stays open.
        (folder / "album 9").mkdir()
        media.face(230, 9).save(folder / "album 9" / "9.png")
        box.get_by_role("button", name="Look for new files").click()
        expect(page.locator("li.card")).to_have_count(6)
        expect(box.get_by_text("is a damaged picture")).to_be_visible()
        # Nothing moves under a hand, or where somebody reads.
        page.mouse.move(600, 600)
        assert visit.wrong == []
        phone = browser.new_context(viewport=PHONE, storage_state=context.storage_state()).new_page()
        phone.goto(address.partition("/?")[0])
        phone.locator("li.card").first.wait_for()
        assert phone.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        context.close()
    shutil.rmtree(folder / "album 9")


def test_it_is_paused_and_goes_on(browser: Browser, folder: Path, tmp_path: Path) -> None:
    with served(folder, "open", XDG_DATA_HOME=str(tmp_path)) as address:
        origin, known = address.partition("/?")[0], entered(address)
        context = browser.new_context(viewport=DESK, storage_state=known, base_url=origin)
        context.set_default_timeout(MILLISECONDS)
        headers = {"X-Lookalike": "1", "Origin": origin}

        def held() -> bool:
            # It may have ended before anybody could pause it: then it looks again, and is paused at once.
            for paused in (False, True):
                told = context.request.post("/api/intake", data={"paused": paused}, headers=headers).json()
            return bool(told["job"]["paused"])

        until(held)
        visit = Visit(context.new_page())
        page = visit.page
        page.goto("/")
        box = page.get_by_role("region", name="The folder")
        expect(box.locator("[data-text]")).to_contain_text("Paused: ")
        box.get_by_role("button", name="Go on").click()
        expect(box.get_by_role("button")).to_have_text("Look for new files")
        expect(page.locator("li.card")).to_have_count(5)
        assert visit.wrong == []
        context.close()
