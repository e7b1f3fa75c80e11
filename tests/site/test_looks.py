"""Pages fit into narrow windows, are easy to read in both schemes, and weigh little."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser import CONTRAST, HARD_TO_READ, WITH_CHROMIUM

if TYPE_CHECKING:
    from pathlib import Path

    from tests.site.conftest import Visit

pytestmark = WITH_CHROMIUM
#: One page of each kind, and those with the widest tables and code.
KINDS = (
    "", "start/", "rules/", "rules/global-tensor-capture/", "graph-breaks/", "graph-breaks/gb0007/",
    "graph-breaks/methods/", "recompilation/",
    "settings/", "configuration/", "confirm/", "api/", "architecture/", "benchmarks/peers/", "vscode/", "changelog/",
    "speed/",
)  # fmt: skip
#: In bytes, without pictures; the longest page is a table of a thousand functions.
HEAVIEST = 700_000


@pytest.mark.parametrize("width", [360, 1400])
@pytest.mark.parametrize("page", KINDS)
def test_a_page_does_not_scroll_sideways(visit: Visit, page: str, width: int):
    with visit(page, width=width) as window:
        assert window.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("page", ["rules/", "editors/", "benchmarks/"])
def test_sentences_in_tables_fit_into_narrow_windows(visit: Visit, page: str):
    with visit(page, width=360) as window:
        tables = window.locator("table[data-stacked]")
        assert tables.count()
        assert tables.evaluate_all("tables => tables.filter((one) => one.scrollWidth > one.clientWidth).length") == 0


def test_the_home_is_called_what_the_site_is(visit: Visit):
    with visit("") as window:
        assert window.title().startswith("nonstrict: ")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", KINDS[:10])
def test_a_page_is_easy_to_read(visit: Visit, page: str, scheme: str):
    with visit(page, scheme=scheme) as window:
        checked, hard = window.evaluate(HARD_TO_READ, CONTRAST)
        assert hard == []
        assert checked > 40
        red, green, blue = window.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
        assert (red + green + blue > 600) is (scheme == "light")


def test_results_of_the_search_are_easy_to_read(visit: Visit):
    for scheme in ("light", "dark"):
        with visit("start/", scheme=scheme) as window:
            window.locator("input[data-md-component=search-query]").focus()
            window.keyboard.type("graph break item")
            expect(window.locator(".md-search-result__item").first).to_be_visible()
            assert window.evaluate(HARD_TO_READ, CONTRAST)[1] == []


def test_the_scheme_can_be_chosen(visit: Visit):
    with visit("start/", scheme="light") as window:
        shown = "document.body.dataset.mdColorScheme"
        assert window.evaluate(shown) == "default"
        for label in ("Use the light scheme", "Use the dark scheme"):
            window.locator(f"label[title='{label}']").click()
        assert window.evaluate(shown) == "slate"
        window.locator("label[title='Follow the system']").click()
        assert window.evaluate(shown) == "default"


def test_a_long_table_is_filtered(visit: Visit):
    with visit("graph-breaks/methods/") as window:
        rows = window.locator("tbody tr:visible")
        everything = rows.count()
        window.locator(".filter input").fill("Tensor item")
        shown = rows.all_inner_texts()
        assert 0 < len(shown) < everything
        assert all("tensor" in row.lower() and "item" in row.lower() for row in shown)
        expect(window.locator(".filter output")).to_have_text(f"{len(shown)} of {everything}")


def test_pages_are_light(site: Path):
    heavy = {
        str(path.relative_to(site)): size for path in site.rglob("*.html") if (size := path.stat().st_size) > HEAVIEST
    }
    assert heavy == {}
