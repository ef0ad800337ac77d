"""The page when something goes wrong: second thoughts, refusals, a server that is gone."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, StorageState, expect

from tests import media
from tests.web.chromium import DESK, PHONE, Visit, chromium_path, served
from tests.web.drawn import drawn_gallery
from tests.web.test_browser import clips_of_one, keys_of, open_clip


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection of our own: names of other tests do not get in the way."""
    chromium_path()  # nothing is drawn for nobody
    return drawn_gallery(tmp_path_factory.mktemp("mistakes"), people=24, seed=5)


def named(visit: Visit, clip: str, name: str) -> None:
    open_clip(visit.page, clip)
    visit.page.get_by_label("Who is this?").fill(name)
    visit.page.get_by_role("button", name="Save name").click()
    visit.said(f"Saved. This is {name}")


@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_from_the_collection_to_a_name_and_back_at_every_width(
    browser: Browser, known: StorageState, address: str, drawn: Path, size: dict[str, int]
) -> None:
    """Look, decide, name, review, undo: nothing lies under anything else, and nothing is out of reach."""
    origin = address.partition("/?")[0]
    context = browser.new_context(storage_state=known, base_url=origin, viewport=size)  # type: ignore[arg-type]
    visit = Visit(context.new_page())
    page = visit.page
    mine = clips_of_one(drawn, 0 if size == PHONE else 1)
    open_clip(page, mine[0])
    page.get_by_role("button", name="Same person").first.click()
    visit.said(": the same person.")
    page.get_by_role("button", name="Not the same").first.click()
    visit.said(": not the same person.")
    page.get_by_label("Who is this?").fill(f"Somebody {size['width']}")
    page.get_by_role("button", name="Save name").click()
    visit.said(f"Saved. This is Somebody {size['width']}")
    page.get_by_role("link", name="Why?").first.click()
    page.locator("#sheet .chain").first.wait_for()
    page.locator("#sheet").get_by_role("button", name="Close").click()
    page.get_by_role("link", name="Review many at once").click()
    for _ in range(4):
        current = page.locator(".crop:focus")
        box, bar = current.bounding_box(), page.locator(".keys").bounding_box()
        assert box is not None
        assert bar is not None
        assert box["y"] >= bar["y"] + bar["height"] - 1, "the face lies under the bar"
        assert page.locator(".keys").evaluate(
            """bar => { const box = bar.getBoundingClientRect();
                return bar.contains(document.elementFromPoint(box.left + 10, box.top + 10)); }"""
        ), "the bar lies under the header"
        page.get_by_role("button", name="Unsure").click()
    expect(page.locator('.crop[data-verdict="unsure"]')).to_have_count(4)
    page.get_by_role("button", name="Undo").click()
    expect(page.locator('.crop[data-verdict="unsure"]')).to_have_count(3)
    page.get_by_role("link", name="Back to the answers").click()
    # The page's scripts, which take a moment, lead back to where one was.
    expect(page.locator("[data-back]")).not_to_have_attribute("href", "/")
    page.get_by_role("link", name="← Collection").click()
    expect(page.get_by_label("Search by name, file or person")).to_have_value(mine[0])
    assert visit.wrong == []
    context.close()


def test_two_people_of_one_name_are_asked_about(visit: Visit, drawn: Path) -> None:
    page = visit.page
    named(visit, clips_of_one(drawn, 2)[0], "John Smith")
    open_clip(page, clips_of_one(drawn, 3)[0])
    page.get_by_label("Who is this?").fill("john  smith")
    page.get_by_role("button", name="Save name").click()
    expect(page.locator("#sheet")).to_contain_text("John Smith already, with 1 clip or photo")
    page.get_by_role("button", name="No, somebody else").click()
    visit.said("This person needs a name of their own.")
    expect(page.get_by_label("Who is this?")).to_be_focused()
    expect(page.get_by_label("Who is this?")).to_have_value("john  smith 2")
    page.get_by_label("Who is this?").fill("john  smith")
    page.get_by_role("button", name="Save name").click()
    page.get_by_role("button", name="Yes, the same person").click()
    visit.said("Saved. This is john smith")
    expect(page.get_by_role("heading", level=1)).to_have_text("John Smith")
    page.locator("#toasts").get_by_role("button", name="Undo").click()
    visit.said("Taken back.")
    expect(page.get_by_label("Who is this?")).to_be_visible()
    assert page.evaluate("document.activeElement !== document.body")


def test_an_answer_of_another_name_is_merged_and_parted_again(visit: Visit, drawn: Path) -> None:
    page = visit.page
    first, second = clips_of_one(drawn, 4)[:2]
    named(visit, second, "Marta W.")
    named(visit, first, "Marta")
    merging = page.get_by_role("button", name="Same person: merge Marta W. with Marta")
    merging.click()
    visit.said("Marta W. and Marta are one person now.")
    expect(page.locator(".query h2", has_text="Confirmed")).to_contain_text("1")
    page.keyboard.press("z")
    visit.said("Taken back.")
    expect(merging).to_be_visible()
    # In the review a key alone does not merge two people.
    page.get_by_role("link", name="Review many at once").click()
    crop = page.locator('.crop[data-name="Marta W."]')
    crop.click()
    page.keyboard.press("y")
    visit.said("Are Marta W. and Marta one person?")
    assert crop.get_attribute("data-verdict") is None
    page.locator("#toasts").get_by_role("button", name="Make them one").click()
    expect(crop).to_have_attribute("data-verdict", "same")
    visit.said("the same person. Press z to undo.")
    page.keyboard.press("z")
    visit.said("Taken back.")
    assert crop.get_attribute("data-verdict") is None


def test_enter_shows_why_a_face_is_there(visit: Visit, drawn: Path) -> None:
    page = visit.page
    open_clip(page, clips_of_one(drawn, 5)[0])
    page.get_by_role("link", name="Review many at once").click()
    expect(page.locator(".crop").first).to_be_focused()
    page.keyboard.press("Enter")
    page.locator("#sheet .chain").first.wait_for()
    page.keyboard.press("Escape")
    expect(page.locator(".crop").first).to_be_focused()


def test_a_mistake_is_mended_where_it_is_seen(visit: Visit, drawn: Path) -> None:
    page = visit.page
    open_clip(page, clips_of_one(drawn, 6)[0])
    before = keys_of(page, ".answer[data-key]")
    page.get_by_role("button", name="Same person").first.click()
    visit.said(": the same person.")
    page.get_by_role("button", name="Not the same").first.click()
    visit.said(": not the same person.")
    for _ in range(2):
        page.get_by_role("button", name="That was a mistake").first.click()
        visit.said("is undecided again.")
    expect(page.get_by_role("button", name="That was a mistake")).to_have_count(0)
    assert keys_of(page, ".answer[data-key]") == before
    # What a name holds together is taken out of it.
    page.get_by_role("button", name="Same person").first.click()
    visit.said(": the same person.")
    page.get_by_label("Who is this?").fill("Nora")
    page.keyboard.press("Enter")
    visit.said("Saved. This is Nora")
    page.get_by_role("button", name="That was a mistake").click()
    visit.said("is taken out.")
    expect(page.locator(".query h2", has_text="Confirmed")).to_contain_text("0")
    page.keyboard.press("z")
    expect(page.locator(".query h2", has_text="Confirmed")).to_contain_text("1")
    # Undoing the verdict alone changes nothing: the name still holds them together, and the page says so.
    page.goto("/history")
    page.locator(".log button").nth(1).click()
    visit.said("both are still named Nora")


def test_saying_the_same_again_undoes_nothing_older(visit: Visit, drawn: Path) -> None:
    page = visit.page
    open_clip(page, clips_of_one(drawn, 7)[0])
    page.get_by_role("link", name="Review many at once").click()
    expect(page.locator(".crop").first).to_be_focused()
    page.keyboard.press("u")
    visit.said("unsure. Press z to undo.")
    page.reload()
    first = page.locator(".crop").first
    expect(first).to_have_attribute("data-verdict", "unsure")
    first.click()
    page.keyboard.press("u")
    visit.said("You had said so already.")
    page.keyboard.press("z")
    visit.said("Nothing to take back here.")
    page.reload()
    expect(first).to_have_attribute("data-verdict", "unsure")


def test_a_dialog_that_is_closed_stops_the_upload(visit: Visit, tmp_path: Path) -> None:
    page = visit.page
    page.goto("/")
    gone: list[str] = []
    page.on("requestfailed", lambda request: gone.append(request.url))
    page.route("**/api/uploads", lambda route: None)  # it never arrives
    page.locator("#files").set_input_files(media.photo(tmp_path))
    page.locator("#sheet").get_by_role("button", name="Stop").click()
    visit.said("Stopped. Nothing was kept.")
    assert [one.rpartition("/")[2] for one in gone] == ["uploads"]
    expect(page.locator("#sheet")).not_to_be_visible()
    page.unroute("**/api/uploads")
    visit.wrong.clear()  # Chromium calls a request that was broken off an error


def test_a_refusal_is_seen_while_a_dialog_is_open(visit: Visit, drawn: Path) -> None:
    page = visit.page
    named(visit, clips_of_one(drawn, 8)[0], "Olga")
    named(visit, clips_of_one(drawn, 9)[0], "Paul")
    page.get_by_role("link", name="All of Paul").click()
    page.get_by_role("button", name="Rename").click()
    page.locator("#rename").get_by_label("Name").fill("Olga")
    page.get_by_role("button", name="Save").click()
    toast = page.locator("#rename #toasts .toast.bad")
    toast.wait_for()
    assert toast.evaluate(
        """one => { const box = one.getBoundingClientRect();
            return one.contains(document.elementFromPoint(box.left + 20, box.top + 20)); }"""
    )
    page.keyboard.press("Escape")
    expect(page.locator("body > #toasts")).to_have_count(1)
    visit.wrong.clear()  # the refusal


def test_a_server_that_is_gone_is_told(browser: Browser, tmp_path: Path) -> None:
    with served(drawn_gallery(tmp_path, people=4)) as printed:
        page = browser.new_page()
        page.goto(printed)
        page.locator(".card .cover").first.click()
        page.locator("#answers .answer").first.wait_for()
        page.wait_for_load_state("load")  # until the scripts are there, a link is only a link
    page.get_by_role("link", name="Why?").first.click()
    expect(page.locator("#sheet")).to_contain_text("The server does not answer.")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Same person").first.click()
    expect(page.locator("#toasts")).to_contain_text("The server does not answer.")
    page.close()
