"""Dropping files, in a real browser: what is left out is said, and what is stopped does not go on."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

from tests import media
from tests.server.chromium import Visit

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
    expect(page.get_by_text("'notes.txt' is neither a photo nor a film that can be read")).to_be_visible()
