"""A real browser on a real server: `lookalike serve` as a process, Chromium with nobody before it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, StorageState, ViewportSize, expect, sync_playwright

from tests.waiting import PATIENCE

# Quiet: no sandbox in containers, and nothing that would call home.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# What Playwright waits for it counts in milliseconds.
MILLISECONDS = 1000 * PATIENCE
PHONE, DESK = ViewportSize(width=390, height=844), ViewportSize(width=1280, height=900)


def chromium_path() -> str:
    """Where Chromium is; without it the test is skipped, or fails if ``LOOKALIKE_BROWSER`` says so."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        reason = "no Chromium on this computer: install it to test the page in a browser"
        if os.environ.get("LOOKALIKE_BROWSER") == "required":
            pytest.fail(reason)
        pytest.skip(reason)
    return found


@contextmanager
def running_browser() -> Iterator[Browser]:
    """Chromium, started and ended."""
    path = chromium_path()
    expect.set_options(timeout=MILLISECONDS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


@contextmanager
def served(path: Path, verb: str = "serve", **env: str) -> Iterator[str]:
    """A `lookalike serve` process of a gallery, or `open` of a folder; the address that it printed."""
    code = "from lookalike.cli import main; main()"
    command = [sys.executable, "-c", code, verb, str(path), "--port", "0", "--no-browser"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(command, text=True, env={**os.environ, **env}, **pipes)
    assert process.stdout is not None
    try:
        address = process.stdout.readline().strip()
        if not address.startswith("http"):
            raise AssertionError(f"no address was printed: {process.communicate()}")
        yield address
    finally:
        process.terminate()
        try:
            process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


def entered(address: str) -> StorageState:
    """The cookie that a printed address is exchanged for, for any number of browsers: it works once."""
    asked = urlsplit(address)
    connection = HTTPConnection(asked.netloc, timeout=PATIENCE)
    connection.request("GET", f"{asked.path}?{asked.query}")
    said = connection.getresponse().getheader("set-cookie") or ""
    connection.close()
    name, _, value = said.partition(";")[0].partition("=")
    assert value, said
    cookie = {
        "name": name,
        "value": value,
        "domain": str(asked.hostname),
        "path": "/",
        "expires": -1,
        "httpOnly": True,
        "secure": False,
        "sameSite": "Strict",
    }
    return {"cookies": [cookie], "origins": []}  # type: ignore[list-item]


class Visit:
    """One person at one browser: a page, and everything that went wrong on it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.wrong: list[str] = []
        page.on("console", lambda said: self.wrong.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on(
            "response",
            lambda answer: (
                self.wrong.append(f"{answer.status} {answer.url}") if answer.status >= 400 else None
            ),
        )

    def said(self, words: str) -> None:
        """Wait until the page has told this."""
        self.page.locator("#toasts").get_by_text(words).last.wait_for()
