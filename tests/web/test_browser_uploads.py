"""Dropping files, in a real browser: what is left out is said, and what is stopped does not go on."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import expect

from tests import media
from tests.web.chromium import Visit

# The answer to an upload waits until `window.late` is called; the page shows that it is there.
LATE = """
const known = Object.getOwnPropertyDescriptor(XMLHttpRequestEventTarget.prototype, "onload");
Object.defineProperty(XMLHttpRequest.prototype, "onload", {
  set(taken) {
    known.set.call(this, (event) => {
      window.late = () => taken.call(this, event);
      document.documentElement.dataset.late = "yes";
    });
  },
});
"""


def test_an_upload_that_is_stopped_when_it_has_arrived_is_stopped_on_the_server(
    visit: Visit, tmp_path: Path
) -> None:
    page = visit.page
    page.add_init_script(LATE)
    page.goto("/")
    page.locator("#files").set_input_files(media.photo(tmp_path))
    page.locator("html[data-late]").wait_for()
    page.locator("#sheet").get_by_role("button", name="Stop").click()
    expect(page.locator("#sheet")).not_to_be_visible()
    with page.expect_request(lambda asked: asked.method == "DELETE" and "/api/jobs/" in asked.url):
        page.evaluate("window.late()")
    visit.said("Stopped. Nothing was kept.")
    assert page.url.endswith("/")


def test_a_file_that_is_left_out_is_named(visit: Visit, tmp_path: Path) -> None:
    page = visit.page
    page.goto("/")
    notes = tmp_path / "notes.txt"
    notes.write_text("hello")
    page.locator("#files").set_input_files([media.photo(tmp_path), notes])
    page.wait_for_url("**/uploads/*/find**")
    page.locator("#answers .answer").first.wait_for()
    expect(page.get_by_text("1 file was left out.")).to_be_visible()
    expect(page.get_by_text("'notes.txt' is neither a photo nor a video that can be read")).to_be_visible()


def test_faces_of_a_group_photo_are_numbered_in_it_from_the_left(visit: Visit, tmp_path: Path) -> None:
    page = visit.page
    page.goto("/")
    page.locator("#files").set_input_files(media.group_photo(tmp_path, 3))
    page.wait_for_url("**/uploads/*")
    shown = page.locator(".crowd img")
    expect(shown).to_have_js_property("complete", True)
    assert shown.evaluate("image => [image.naturalWidth, image.naturalHeight]") == [840, 280]
    boxes = page.locator(".crowd .boxes a")
    expect(boxes).to_have_count(3)
    assert boxes.locator("text").all_text_contents() == ["1", "2", "3"]
    photo = shown.bounding_box()
    assert photo is not None
    assert photo["width"] == 840
    # A third of the photo each: the boxes lie over the faces, whatever the size in which it is shown.
    for place, box in enumerate(boxes.locator(".around").all()):
        seen = box.bounding_box()
        assert seen is not None
        middle = (seen["x"] + seen["width"] / 2 - photo["x"]) / photo["width"]
        assert abs(middle - (2 * place + 1) / 6) < 0.05
    title = boxes.nth(1).get_attribute("aria-label")
    boxes.nth(1).click()
    page.wait_for_url("**/uploads/*/find?person=1")
    assert title is not None
    assert "face 2 of 3" in title


def test_a_photo_of_one_face_is_shown_without_a_box(visit: Visit, tmp_path: Path) -> None:
    page = visit.page
    page.goto("/")
    photo, group = media.photo(tmp_path), media.group_photo(tmp_path, 2)
    page.locator("#files").set_input_files([photo, group])
    # Somebody of the group is the one of the photo, so both are asked with at once.
    page.wait_for_url("**/uploads/*/find?person=0")
    page.get_by_role("button", name="These are different people").click()
    page.wait_for_url(re.compile(r"/uploads/[^/]+$"))
    expect(page.locator(".crowd figcaption")).to_have_text(["group.png"])
    expect(page.locator(".crowd .boxes a")).to_have_count(2)
