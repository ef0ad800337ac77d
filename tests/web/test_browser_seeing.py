"""Photos with boxes, a video that follows who is asked for, filters and time lines, in a real browser."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from lookalike import Gallery, add
from lookalike.demo.footage import draw_footage, write_footage
from lookalike.gallery import decisions
from lookalike.web.catalogue import key_of
from tests import media
from tests.ingest.test_header import dated_photo
from tests.once import made_once
from tests.web.chromium import PHONE, Visit, chromium_path


def footage(folder: Path) -> None:
    """A photo of two, a photo with a date, a film in which people are seen side by side; two have names."""
    photos = folder / "photos"
    photos.mkdir()
    media.group_photo(photos, 2)
    dated_photo(photos / "dated.jpg", "2019:07:14 12:30:05")
    write_footage(folder / "street.mp4", draw_footage(seconds=8.0, rate=10.0, seed=3).frames(), 10.0)
    add(folder / "drawn.gallery", [photos, folder / "street.mp4"], "lbp")
    with Gallery(folder / "drawn.gallery") as gallery:
        for one, name in (("group.png#1", "Ann"), ("group.png#2", "Bo")):
            with gallery.deciding() as log:
                decisions.name(log, [one], name)


@pytest.fixture(scope="session")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    chromium_path()
    return made_once(tmp_path_factory, "seeing", footage) / "drawn.gallery"


def open_set(page: Page, set_id: str, more: str = "") -> None:
    page.goto(f"/sets/{key_of(set_id)}{more}")
    expect(page.locator(".summary")).to_be_visible()


@pytest.mark.parametrize("is_phone", [False, True])
def test_a_photo_opens_with_everybody_in_it(visit: Visit, is_phone: bool) -> None:
    page = visit.page
    if is_phone:
        page.set_viewport_size(PHONE)
    open_set(page, "group.png#1")
    page.locator(".query").get_by_role("link", name="Photo").click()
    boxes = page.locator("#sheet .boxes a")
    expect(boxes).to_have_count(2)
    expect(boxes.nth(0)).to_have_class("asked")
    expect(boxes.nth(1)).to_have_class("other")
    picture = page.locator("#sheet img").bounding_box()
    assert picture is not None
    # Half of the photo each, whatever the size in which it is shown.
    for place, box in enumerate(boxes.locator(".around").all()):
        found = box.bounding_box()
        assert found is not None
        middle = (found["x"] + found["width"] / 2 - picture["x"]) / picture["width"]
        assert middle == pytest.approx((place + 0.5) / 2, abs=0.1)
    boxes.nth(1).click()
    expect(page).to_have_url(re.compile(f"/sets/{key_of('group.png#2')}"))


def test_a_film_follows_who_is_asked_for(visit: Visit) -> None:
    page = visit.page
    open_set(page, "street.mp4#1")
    page.locator(".query").get_by_role("button", name="▶ Play").click()
    expect(page.locator("#sheet .boxes a.asked")).to_have_count(1)
    video, around = page.locator("#sheet video"), page.locator("#sheet .boxes a.asked .around")
    video.evaluate("film => film.pause()")
    looks = page.evaluate(
        "async () => (await (await fetch(`/api${document.querySelector('#sheet video').getAttribute('src')}"
        "/moment?at=0&ahead=60`)).json()).tracks.find(one => one.asked).looks"
    )
    (first, second), places = looks[:2], []
    for share in (0.0, 0.5, 1.0):
        time = first[0] + share * (second[0] - first[0])
        video.evaluate(
            "(film, time) => new Promise(done => { film.onseeked = done; film.currentTime = time; })", time
        )
        page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        # What the browser makes of the time may be a little less.
        now = video.evaluate("film => film.currentTime")
        moved = (now - first[0]) / (second[0] - first[0])
        places.append((float(around.get_attribute("x") or "nan"), first[1] + moved * (second[1] - first[1])))
    for drawn_at, expected in places:
        assert drawn_at == pytest.approx(expected, abs=0.5)


def test_answers_are_filtered_and_the_rest_is_told(visit: Visit) -> None:
    page = visit.page
    open_set(page, "street.mp4#1")
    page.locator("#filter summary").click()
    page.get_by_label("Taken from").fill("2019")
    page.locator("#filter").get_by_role("button", name="Filter").click()
    expect(page.locator("#answers > li.answer")).to_have_count(1)
    expect(page.locator("#filter summary")).to_contain_text("left out")
    page.get_by_role("link", name="Show all answers").click()
    expect(page.locator("#answers > li.answer").nth(1)).to_be_visible()
    page.goto(f"/sets/{key_of('street.mp4#1')}?from=soon")
    expect(page.locator("main")).to_contain_text("date is written as 2019-07-14")
    visit.wrong.clear()  # the browser tells of the refusal too


def test_two_people_of_a_photo(visit: Visit) -> None:
    page = visit.page
    open_set(page, "group.png#1")
    page.locator("#with summary").click()
    page.get_by_label("Who else").select_option(label="Bo")
    page.get_by_role("button", name="Show videos and photos").click()
    expect(page.locator("h1")).to_have_text("Ann with Bo")
    expect(page.locator("#places > li")).to_have_count(1)
    page.locator("#places").get_by_role("link", name="Photo").click()
    expect(page.locator("#sheet .boxes a.asked")).to_have_count(2)
    page.keyboard.press("Escape")
    page.get_by_role("link", name="One without the other").click()
    expect(page.locator("main")).to_contain_text("There is no video or photo with one and without the other.")


def test_nothing_is_said_of_decisions_that_nobody_made(visit: Visit) -> None:
    """Somebody was seen beside the query, which moves answers; the user decided nothing."""
    page = visit.page
    open_set(page, "street.mp4#1")
    expect(page.locator("#changed")).to_have_count(0)
    expect(page.locator("#when summary")).to_be_visible()
