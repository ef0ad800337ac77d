"""What the tests in a browser share: a browser and a server for each file, one drawn collection.

A file that needs a collection of its own overrides ``drawn``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, StorageState

from tests.once import made_once
from tests.web.chromium import DESK, MILLISECONDS, Visit, chromium_path, entered, running_browser, served
from tests.web.drawn import drawn_gallery


@pytest.fixture(scope="session")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Clips of two dozen people, and a film; decisions of one test are there for the next."""
    chromium_path()  # nothing is drawn for nobody
    folder = made_once(tmp_path_factory, "drawn", lambda place: drawn_gallery(place, people=24, film=8.0))
    return folder / "drawn.gallery"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium; it ends with its file: its event loop would get in the way of tests with their own."""
    with running_browser() as started:
        yield started


@pytest.fixture(scope="module")
def address(drawn: Path) -> Iterator[str]:
    """The printed address of a server of the drawn collection."""
    with served(drawn) as printed:
        yield printed


@pytest.fixture(scope="module")
def known(address: str) -> StorageState:
    """The cookie that the printed address was exchanged for: it works once, for all tests of a file."""
    return entered(address)


@pytest.fixture
def context(browser: Browser, known: StorageState, address: str) -> Iterator[BrowserContext]:
    """A fresh window that the server knows."""
    origin = address.partition("/?")[0]
    made = browser.new_context(storage_state=known, viewport=DESK, base_url=origin)
    made.set_default_timeout(MILLISECONDS)
    yield made
    made.close()


@pytest.fixture
def visit(context: BrowserContext) -> Iterator[Visit]:
    """A page that must end without an error in its console."""
    visit = Visit(context.new_page())
    yield visit
    assert visit.wrong == []
