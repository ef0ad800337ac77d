"""In a real browser: people are proposed by themselves once sets that came later were looked through."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from lookalike import FaceSet, Gallery
from tests.small_world import small_world
from tests.web.chromium import PHONE, Visit, chromium_path

WORLD = small_world(6, 6, dimension=24, spread=0.5)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One set of everybody: nobody comes twice."""
    chromium_path()  # nothing is drawn for nobody
    path = tmp_path_factory.mktemp("newcomers") / "g.gallery"
    sets, labels = WORLD
    first = {labels[one.id]: one for one in reversed(sets)}
    with Gallery(path, create=True) as gallery:
        for one in first.values():
            gallery.add(FaceSet(one.id, one.faces, one.origin))
    return path


def test_people_appear_though_nobody_loads_the_page_again(visit: Visit, drawn: Path) -> None:
    page = visit.page
    page.goto("/people")
    expect(page.get_by_role("heading", name="Nobody has a name yet")).to_be_visible()
    with Gallery(drawn) as gallery:
        for one in WORLD[0]:
            if one.id not in gallery:
                gallery.add(FaceSet(one.id, one.faces, one.origin))
    # What is shown knows only the first ones: it says so, and follows.
    page.goto("/people")
    expect(page.locator("#proposals .proposal").first).to_be_visible()
    expect(page.locator("#newer")).to_have_count(0)
    page.keyboard.press("y")
    visit.said("are one person.")


def test_a_name_may_be_long_and_no_page_gets_wider(visit: Visit) -> None:
    page = visit.page
    page.goto("/people")
    page.keyboard.press("m")
    page.keyboard.type("x" * 201)
    page.keyboard.press("Enter")
    visit.said("A name has at most 200 letters; this one has 201. Shorten it.")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("Anna-Maria von und zu Hohenstein-Langenburg the Elder")
    page.keyboard.press("Enter")
    visit.said("are Anna-Maria")
    person = str(page.get_by_role("link", name="Anna-Maria").first.get_attribute("href"))
    page.set_viewport_size({"width": PHONE["width"], "height": PHONE["height"]})
    for view in ("/", "/people", person, "/history"):
        page.goto(view)
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], view
