"""The page in a real browser, as somebody uses it who has never seen a command line."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from lookalike.evaluation.labels import read_labels
from tests import media
from tests.waiting import until
from tests.web.chromium import Visit, served
from tests.web.drawn import wide_gallery


def clips_of_one(drawn: Path, which: int = 0) -> list[str]:
    """Clips of somebody who is in many of them."""
    people = defaultdict(list)
    for clip, person in read_labels(drawn.parent / "labels.csv").items():
        people[person].append(clip)
    return sorted(people.values(), key=len, reverse=True)[which]


def open_clip(page: Page, clip: str) -> None:
    """From the collection to the answers, by typing and clicking."""
    page.goto("/")
    page.get_by_label("Search by name, file or person").fill(clip)
    expect(page.locator(".card")).to_have_count(1)
    page.get_by_role("link", name=clip, exact=True).click()
    page.locator("#answers .answer").first.wait_for()


def keys_of(page: Page, where: str) -> list[str]:
    """Which sets are shown, in their order."""
    return [str(key) for key in page.locator(where).evaluate_all("all => all.map(one => one.dataset.key)")]


def test_the_printed_address_works_once(browser: Browser, address: str, known: object) -> None:
    page = browser.new_page()
    answer = page.goto(address)
    assert answer is not None
    assert answer.status == 401
    expect(page.get_by_role("heading", level=1)).to_have_text("Open the address that was printed")
    page.close()


def test_from_the_address_to_a_named_person_with_three_confirmed_clips(visit: Visit, drawn: Path) -> None:
    page = visit.page
    open_clip(page, clips_of_one(drawn)[0])
    for count in (1, 2, 3):
        page.get_by_role("button", name="Same person").first.click()
        visit.said(": the same person.")
        expect(page.locator(".query h2", has_text="Confirmed")).to_contain_text(str(count))
    page.get_by_label("Who is this?").fill("Anna")
    page.keyboard.press("Enter")
    visit.said("Saved. This is Anna")
    expect(page.get_by_role("heading", level=1)).to_have_text("Anna")
    page.get_by_role("link", name="All of Anna").click()
    expect(page.locator(".card")).to_have_count(4)


def test_evidence_opens_in_a_dialog_and_as_a_page(visit: Visit, drawn: Path) -> None:
    page = visit.page
    open_clip(page, clips_of_one(drawn, 1)[0])
    page.locator("#method > summary").click()
    page.locator("#expert > summary").click()
    page.get_by_label("Method").select_option("learnt")
    page.get_by_label("Go-betweens").select_option("3")
    page.locator("#method").get_by_role("button", name="Search again").click()
    page.wait_for_url("**stage=learnt**")
    link = page.get_by_role("link", name="Why?").first
    link.click()
    sheet = page.locator("#sheet")
    expect(sheet.locator(".chain").nth(1)).to_be_visible()
    expect(sheet).to_contain_text("with it")
    expect(sheet.locator("dt", has_text="s5")).not_to_have_count(0)
    expect(sheet.locator("dt", has_text="Regression")).not_to_have_count(0)
    # Not `wait_for_function`, which evaluates text within the page: its own policy forbids that.
    shown = "[...document.querySelectorAll('#sheet img')].every(one => one.complete && one.naturalWidth > 0)"
    until(lambda: page.evaluate(shown))
    page.keyboard.press("Escape")
    expect(sheet).not_to_be_visible()
    page.goto(str(link.get_attribute("href")))
    expect(page.locator("main .chain").nth(1)).to_be_visible()


def test_five_are_judged_by_keys_undone_and_the_ranking_changes(visit: Visit, drawn: Path) -> None:
    page = visit.page
    mine = clips_of_one(drawn, 2)
    open_clip(page, mine[0])
    before = keys_of(page, ".answer[data-key]")
    page.get_by_role("link", name="Review many at once").click()
    crops = page.locator(".crop")
    expect(crops.first).to_be_focused()
    right = [title in mine for title in crops.evaluate_all("all => all.map(one => one.dataset.title)")[:5]]
    for same in right:
        page.keyboard.press("y" if same else "n")
    expect(page.locator(".crop[data-verdict]")).to_have_count(5)
    expect(crops.nth(5)).to_be_focused()
    page.keyboard.press("z")
    expect(page.locator(".crop[data-verdict]")).to_have_count(4)
    expect(crops.nth(4)).to_be_focused()
    page.keyboard.press("k")
    expect(crops.nth(3)).to_be_focused()
    page.keyboard.press("j")
    page.keyboard.press("u")
    expect(crops.nth(4)).to_have_attribute("data-verdict", "unsure")
    # Two at once.
    for key in ("j", "x", "j", "x", "n"):
        page.keyboard.press(key)
    visit.said("2 clips: not the same person")
    page.keyboard.press("z")
    expect(page.locator(".crop[data-verdict]")).to_have_count(5)
    for key in ("x", "j", "x", "n"):
        page.keyboard.press(key)
    expect(page.locator(".crop[data-verdict]")).to_have_count(7)
    page.get_by_role("link", name="Back to the answers").click()
    page.locator("#answers .answer").first.wait_for()
    after = keys_of(page, ".answer[data-key]")
    assert not set(after) & set(before[:4])
    assert after != [key for key in before if key in after]
    expect(page.locator("#changed summary")).to_contain_text("moved")
    page.locator("#changed summary").click()
    expect(page.locator("#changed li").first).to_contain_text("was")


def test_a_decision_on_a_row_moves_answers_at_once_and_is_undone(visit: Visit, drawn: Path) -> None:
    page = visit.page
    open_clip(page, clips_of_one(drawn, 3)[0])
    before = keys_of(page, ".answer[data-key]")
    page.get_by_role("button", name="Not the same").first.click()
    visit.said(": not the same person.")
    expect(page.locator(".query")).to_contain_text("Not this person")
    assert before[0] not in keys_of(page, ".answer[data-key]")
    page.locator("#toasts").get_by_role("button", name="Undo").click()
    visit.said("Taken back.")
    assert keys_of(page, ".answer[data-key]") == before


def test_faces_are_chosen_and_both_orders_compared(visit: Visit, drawn: Path) -> None:
    page = visit.page
    open_clip(page, clips_of_one(drawn, 4)[0])
    page.get_by_role("button", name="Choose which faces count").click()
    for number in range(2, 9):
        page.get_by_label(f"Face {number} counts").uncheck(force=True)
    page.get_by_role("button", name="Search with these faces").click()
    page.wait_for_url("**face=0**")
    expect(page.locator(".pick input:checked")).to_have_count(1)
    page.get_by_role("link", name="Compare with plain order").click()
    expect(page.get_by_role("heading", name="Plain comparison")).to_be_visible()
    assert page.locator(".slopes line").count() > 5


def test_a_photo_is_dropped_looked_for_and_kept(visit: Visit, drawn: Path, tmp_path: Path) -> None:
    page = visit.page
    page.goto("/")
    shown = media.photo(tmp_path)
    moved = page.evaluate_handle(
        """async (bytes) => {
            const carried = new DataTransfer();
            carried.items.add(new File([new Uint8Array(bytes)], "party.jpg", { type: "image/jpeg" }));
            return carried;
        }""",
        list(shown.read_bytes()),
    )
    page.dispatch_event("body", "dragenter", {"dataTransfer": moved})
    expect(page.get_by_text("Drop to search")).to_be_visible()
    page.dispatch_event("body", "drop", {"dataTransfer": moved})
    page.wait_for_url("**/uploads/*/find**")
    page.locator("#answers .answer").first.wait_for()
    expect(page.get_by_role("button", name="Same person")).to_have_count(0)
    expect(page.get_by_role("button", name="Forget it")).to_be_visible()
    expect(page.get_by_role("link", name="Who is in it")).to_have_count(0)
    page.get_by_role("button", name="Keep in the collection").click()
    page.wait_for_url("**/sets/*")
    page.get_by_role("button", name="Same person").first.wait_for()
    kept = page.url
    visit.said("Kept in the collection.")
    page.locator("#toasts").get_by_role("button", name="Undo").click()
    page.wait_for_url("**/uploads/*/find**")
    visit.said("Taken out of the collection again.")
    expect(page.get_by_role("button", name="Keep in the collection")).to_be_visible()
    assert page.request.get(kept).status == 404


def test_people_are_merged_split_renamed_and_all_is_undone_in_the_history(visit: Visit, drawn: Path) -> None:
    page = visit.page
    first, second = clips_of_one(drawn, 5)[:2]
    for clip, name in ((first, "Bo"), (second, "Chris")):
        open_clip(page, clip)
        page.get_by_label("Who is this?").fill(name)
        page.get_by_role("button", name="Save name").click()
        visit.said(f"Saved. This is {name}")
    page.get_by_role("link", name="All of Chris").click()
    page.get_by_role("button", name="Same as somebody else").click()
    expect(page.locator("#merge input:checked")).to_have_count(0)
    page.get_by_role("radio", name="Bo (1)").check()
    page.get_by_role("button", name="Make them one").click()
    visit.said("Chris and Bo are one person now.")
    expect(page.get_by_role("heading", level=1)).to_have_text("Bo")
    expect(page.locator("main ul.grid .card")).to_have_count(2)
    page.get_by_role("button", name="Take clips out").click()
    page.locator("#split input[type=checkbox]").last.check()
    page.get_by_label("They are").fill("Dana")
    page.locator("#split").get_by_role("button", name="Take out").click()
    visit.said("is taken out and called Dana.")
    expect(page.locator("main ul.grid .card")).to_have_count(1)
    page.get_by_role("button", name="Rename").click()
    page.locator("#rename").get_by_label("Name").fill("Bobby")
    page.get_by_role("button", name="Save").click()
    visit.said("Renamed Bo to Bobby on 1 clip or photo.")
    page.get_by_role("link", name="History").click()
    page.get_by_role("button", name="Undo").first.click()
    visit.said("Taken back.")
    page.get_by_role("link", name="People", exact=True).click()
    expect(page.get_by_role("link", name="Bo", exact=True)).to_be_visible()
    with page.expect_download() as got:
        page.get_by_role("link", name="Save as a table").click()
    assert "Dana" in got.value.path().read_text()


def test_a_moment_of_a_film_is_shown(visit: Visit, drawn: Path) -> None:
    page = visit.page
    page.goto("/?text=street.mp4")
    page.locator(".card .cover").last.click()
    page.get_by_role("button", name="▶ Play").first.click()
    # Chromium as Debian builds it plays films; one that does not says in words where to look.
    expect(page.locator("#sheet video, #sheet .stack p")).to_be_visible()
    start = page.locator("#sheet video").evaluate(
        "film => film.currentTime || new Promise(done => film.onseeked = () => done(film.currentTime))"
    )
    assert start > 0
    # Whoever is seen has a box that leads to the answers for them.
    first = page.locator("#sheet .boxes a").first
    expect(first).to_have_attribute("href", re.compile("^/sets/"))
    expect(page.locator("#sheet .names a").first).to_have_text(re.compile(r"^1 street.mp4 #\d"))
    page.locator("#sheet").get_by_role("button", name="Close").click()
    expect(page.locator("#sheet")).not_to_be_visible()


def test_two_thousand_sets_are_paged_through(browser: Browser, tmp_path: Path) -> None:
    with served(wide_gallery(tmp_path)) as printed:
        visit = Visit(browser.new_page())
        visit.page.goto(printed)
        visit.page.goto(f"{printed.partition('?')[0]}?limit=200")
        seen: set[str] = set()
        while True:
            shown = keys_of(visit.page, ".card")
            assert not seen & set(shown)
            seen |= set(shown)
            following = visit.page.get_by_role("link", name="Next")
            if not following.count():
                break
            following.click()
            visit.page.wait_for_load_state("domcontentloaded")
        assert len(seen) == 2000
        assert visit.wrong == []
        visit.page.close()


def test_looking_works_without_scripts(browser: Browser, known: dict[str, object], address: str) -> None:
    origin = address.partition("/?")[0]
    context = browser.new_context(storage_state=known, java_script_enabled=False, base_url=origin)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto("/")
    page.get_by_label("Search by name, file or person").fill("clip-0001")
    page.get_by_role("button", name="Search", exact=True).click()
    page.get_by_role("link", name="clip-0001").click()
    # What takes scripts waits for them, the box of a name too: an Enter before they are there would be lost.
    expect(page.locator("#name")).to_be_disabled()
    assert page.locator(".answer").count() > 5
    page.get_by_role("link", name="Why?").first.click()
    expect(page.locator(".chain").first).to_be_visible()
    context.close()


@pytest.mark.parametrize("path", ["/sets/0000000000000000", "/people/999", "/nothing", "/?sort=sideways"])
def test_what_is_not_there_is_said_in_words(context: BrowserContext, path: str) -> None:
    page = context.new_page()
    answer = page.goto(path)
    assert answer is not None
    assert 400 <= answer.status < 500
    expect(page.get_by_role("link", name="Go to the collection")).to_be_visible()


def test_names_are_text_and_nothing_else(visit: Visit, drawn: Path) -> None:
    page = visit.page
    hostile = "<img src=x onerror=alert(1)>"
    open_clip(page, clips_of_one(drawn, 6)[0])
    page.get_by_label("Who is this?").fill(hostile)
    page.get_by_role("button", name="Save name").click()
    visit.said(f"Saved. This is {hostile}")
    for path in (page.url, "/people", "/history", f"/?text={json.dumps(hostile)}", "/?named=named"):
        page.goto(path)
        assert page.locator("img[src=x]").count() == 0
