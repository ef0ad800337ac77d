"""In a real browser: what others do to the collection while the page is open, and numbers that agree."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from lookalike import FaceSet, Gallery
from lookalike.gallery.decisions import judge, name
from lookalike.gallery.forget import remove
from tests.web.chromium import Visit, chromium_path
from tests.web.drawn import drawn_gallery
from tests.web.test_browser import clips_of_one, open_clip


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection of our own: clips are added to it and removed from it."""
    chromium_path()  # nothing is drawn for nobody
    return drawn_gallery(tmp_path_factory.mktemp("meanwhile"), people=16, seed=11)


def test_a_verdict_on_a_clip_that_was_removed_is_told_after_the_wait(visit: Visit, drawn: Path) -> None:
    page = visit.page
    open_clip(page, clips_of_one(drawn)[0])
    first = page.locator(".answer").first
    title = str(first.get_attribute("data-title"))
    with Gallery(drawn) as gallery:
        remove(gallery, [title])
    first.get_by_role("button", name="Same person").click()
    # The page that waits for the collection comes in between.
    page.locator(f'.answer:not([data-title="{title}"])').first.wait_for()
    expect(page.locator(f'.answer[data-title="{title}"]')).to_have_count(0)
    toast = page.locator("#toasts .toast.bad")
    expect(toast).to_contain_text(f"{title}: nothing was saved. There is no such clip")
    expect(toast).to_contain_text("it was removed")
    visit.wrong.clear()  # the refusal


def test_a_way_back_is_offered_after_the_wait_too(visit: Visit, drawn: Path) -> None:
    """Somebody removes another clip: what was said of this one is kept, and can still be taken back."""
    page = visit.page
    query = clips_of_one(drawn, 1)[0]
    open_clip(page, query)
    first, last = page.locator(".answer").first, page.locator(".answer").last
    title, other = (str(one.get_attribute("data-title")) for one in (first, last))
    with Gallery(drawn) as gallery:
        remove(gallery, [other])
    first.get_by_role("button", name="Same person").click()
    expect(page.locator(".query h2", has_text="Confirmed")).to_contain_text("1")
    visit.said(f"{title}: the same person.")
    page.locator("#toasts").get_by_role("button", name="Undo").click()
    visit.said("Taken back.")
    with Gallery(drawn) as gallery:
        made = [one for one in gallery.decisions() if one.kind == "same" and query in one.sets]
        assert [one.undone for one in made] == [True]


def test_rows_banner_and_message_agree_on_what_moved(visit: Visit, drawn: Path) -> None:
    page = visit.page
    open_clip(page, clips_of_one(drawn, 2)[0])
    for verdict in ("Same person", "Not the same"):
        page.get_by_role("button", name=verdict).nth(2).click()
        visit.said("Your decisions moved")
        told = re.findall(r"moved (\d+) answer", page.locator("#toasts .toast").last.inner_text())
        banner = re.findall(r"(\d+) answers? moved", page.locator("#changed summary").inner_text())
        badges = page.locator(".answer .was:visible")
        assert told == banner == [str(badges.count())]
        for row in page.locator(".answer", has=page.locator(".was:visible")).all():
            place = re.findall(r"now (\d+)", row.locator(".was").inner_text())
            assert place == re.findall(r"\d+", row.locator(".rank").inner_text())
        page.locator("#toasts .toast").last.hover()
        page.locator("#toasts").evaluate("place => place.replaceChildren()")


def test_another_name_is_for_the_person_or_for_this_clip_alone(visit: Visit, drawn: Path) -> None:
    page = visit.page
    first, second = clips_of_one(drawn, 3)[:2]
    with Gallery(drawn) as gallery:
        name(gallery, [first, second], "Anna")
    open_clip(page, first)
    page.get_by_label("Name", exact=True).fill("Clara")
    page.get_by_role("button", name="Rename").click()
    page.get_by_role("button", name="Only this clip is Clara").click()
    visit.said(f"{first} is Clara now, and not Anna.")
    expect(page.get_by_role("heading", level=1)).to_have_text("Clara")
    page.locator("#toasts").get_by_role("button", name="Undo").click()
    visit.said("Taken back.")
    expect(page.get_by_role("heading", level=1)).to_have_text("Anna")
    page.get_by_label("Name", exact=True).fill("Clara")
    page.get_by_role("button", name="Rename").click()
    page.get_by_role("button", name="Rename Anna on all 2 clips").click()
    visit.said("Renamed Anna to Clara on 2 clips and photos.")
    open_clip(page, second)
    expect(page.get_by_role("heading", level=1)).to_have_text("Clara")


def test_one_clip_goes_to_somebody_who_is_there_and_back(visit: Visit, drawn: Path) -> None:
    page = visit.page
    first, second = clips_of_one(drawn, 4)[:2]
    with Gallery(drawn) as gallery:
        name(gallery, [first, second], "Dora")
        name(gallery, clips_of_one(drawn, 5)[:1], "Emil")
    open_clip(page, first)
    page.get_by_label("Name", exact=True).fill("Emil")
    page.get_by_role("button", name="Rename").click()
    page.get_by_role("button", name="Only this clip is Emil").click()
    page.get_by_role("button", name="Yes, the same person").click()
    visit.said(f"{first} is Emil now, and not Dora.")
    page.locator("#toasts").get_by_role("button", name="Undo").click()
    visit.said("Taken back.")
    expect(page.get_by_role("heading", level=1)).to_have_text("Dora")


def test_a_name_that_is_too_long_is_refused_and_not_cut(visit: Visit, drawn: Path) -> None:
    page = visit.page
    open_clip(page, clips_of_one(drawn, 6)[0])
    page.get_by_label("Who is this?").fill("x" * 201)
    page.get_by_role("button", name="Save name").click()
    visit.said("A name has at most 200 letters; this one has 201.")
    # What went wrong is over once something went well.
    page.get_by_label("Who is this?").fill("x" * 200)
    page.get_by_role("button", name="Save name").click()
    visit.said("Saved. This is")
    expect(page.locator("#toasts .bad")).to_have_count(0)


def test_what_is_added_meanwhile_is_told_and_shown_when_asked_for(visit: Visit, drawn: Path) -> None:
    page = visit.page
    open_clip(page, clips_of_one(drawn, 7)[0])
    news = page.locator("#news")
    expect(news).to_be_empty()
    with Gallery(drawn) as gallery:
        old = gallery.get(clips_of_one(drawn, 7)[0])
        gallery.add(FaceSet("a new clip", old.faces + 0.001), descriptor=str(gallery.descriptor))
    expect(news).to_contain_text("The collection has changed meanwhile.")
    news.get_by_role("button", name="Show").click()
    expect(news).to_be_empty()
    # Either it is searched at once, or the page says when it is, by itself.
    new = page.locator('.answer[data-title="a new clip"]')
    ready = page.locator("#newer", has_text="What is new can be searched now.")
    expect(new.or_(ready).first).to_be_visible()
    if not new.count():
        ready.get_by_role("button", name="Show").click()
    expect(new).to_have_count(1)
    expect(page.locator("#newer")).to_have_count(0)
    # What one decides oneself changes no clip: nothing is told of it.
    with Gallery(drawn) as gallery:
        judge(gallery, clips_of_one(drawn, 7)[0], [clips_of_one(drawn, 8)[0]], "unsure")
    with page.expect_response("**/api/gallery"):
        pass
    expect(news).to_be_empty()
