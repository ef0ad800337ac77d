"""Proposed people in a browser: answered with keys and clicks, one decision each, and taken back."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.web.chromium import Visit


def test_proposals_are_answered_with_keys_and_taken_back(visit: Visit) -> None:
    page = visit.page
    page.goto("/people")
    proposals = page.locator("#proposals .proposal")
    expect(proposals.first).to_be_visible()
    # Tests before this one may have left somebody without a name.
    before, nameless = proposals.count(), page.get_by_role("link", name="No name yet").count()
    page.keyboard.press("y")
    visit.said("are one person.")
    expect(proposals).to_have_count(before - 1)
    expect(page.get_by_role("link", name="No name yet")).to_have_count(nameless + 1)
    page.keyboard.press("z")
    visit.said("Taken back.")
    expect(proposals).to_have_count(before)
    page.keyboard.press("m")
    page.keyboard.type("Somebody of the Page")
    page.keyboard.press("Enter")
    visit.said("Somebody of the Page")
    expect(page.get_by_role("link", name="Somebody of the Page", exact=True)).to_be_visible()
    page.goto("/history")
    page.get_by_role("button", name="Undo").first.click()
    assert visit.wrong == []
