"""The playground in the site: on its page, and below the examples of rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser import CONTRAST, HARD_TO_READ, WITH_CHROMIUM

if TYPE_CHECKING:
    from tests.site.conftest import Visit

pytestmark = WITH_CHROMIUM
#: Starting Python in the browser takes seconds, on a busy machine many of them.
PATIENCE = 90_000


@pytest.mark.parametrize("width", [360, 1400])
def test_the_page_finds_what_is_wrong(visit: Visit, width: int):
    with visit("playground/", width=width) as window:
        found = window.locator(".nonstrict-playground .finding[data-code=NST701]")
        expect(found.first).to_be_visible(timeout=PATIENCE)
        assert window.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert window.evaluate(HARD_TO_READ, CONTRAST)[1] == []


def test_examples_of_rules_can_be_tried(visit: Visit):
    with visit("rules/global-tensor-capture/", scheme="dark") as window:
        window.get_by_role("button", name="Try it").first.click()
        found = window.locator(".nonstrict-example .finding[data-code=NST101]")
        expect(found.first).to_be_visible(timeout=PATIENCE)
        assert window.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_pages_load_no_more_of_it_than_a_button(visit: Visit):
    asked: list[str] = []
    with visit("rules/") as window:
        window.on("request", lambda request: asked.append(request.url))
        window.reload(wait_until="networkidle")
    loaded = [url.rpartition("playground/assets/")[2] for url in asked if "playground/assets/" in url]
    assert not [name for name in loaded if name.endswith((".wasm", ".zip")) or name.startswith("playground-")]
    assert "embed.js" in loaded
