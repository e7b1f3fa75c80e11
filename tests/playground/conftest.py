"""The built playground on a server of its own, and windows of a browser with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import sync_playwright

from tests.playground.driving import CHROMIUM, FLAGS, OUT, Playground, serve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """It ends with these tests: its loop is in the way of others."""
    if CHROMIUM is None:
        pytest.skip("there is no chromium (scripts/system_packages.sh browser)")
    with sync_playwright() as playwright:
        program = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield program
        program.close()


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Where the files of the playground are served."""
    assert (OUT / "index.html").is_file(), "run `make playground`"
    with serve(OUT) as where:
        yield where


@pytest.fixture(scope="module")
def opened(browser: Browser, address: str) -> Iterator[Playground]:
    """One window for all tests that need no other: an engine takes its time to load."""
    made = Playground.open(browser, f"{address}/index.html")
    yield made
    made.window.context.close()
    assert [url for url in made.asked if not url.startswith((address, "data:"))] == []


@pytest.fixture
def page(opened: Playground) -> Iterator[Playground]:
    """The playground with its first example; whatever it complains of fails the test."""
    opened.said.clear()
    opened.choose("clean")
    opened.choose("layers")
    opened.window.get_by_role("tab", name="Findings").click()
    yield opened
    assert opened.said == []
