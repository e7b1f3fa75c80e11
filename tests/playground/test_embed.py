"""The playground in pages of a site: examples that can be tried, in the colors of the page."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.playground.driving import OUT, Playground, serve

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

#: A rule page as mkdocs-material 9.7 makes it, as far as it matters.
PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8"><link rel="icon" href="data:,"><title>graph-break</title>
<body data-md-color-scheme="default">
<article class="md-typeset">
<h2>Example</h2>
<div class="language-python highlight"><pre id="__code_0"><span></span><code>\
<a id="__codelineno-0-1" name="__codelineno-0-1"></a><span class="kn">import</span> torch

@torch.compile
<span class="k">def</span> step(x):
    print(x)
    return x &lt; 1
</code></pre></div>
<h2>Use instead</h2>
<div class="language-python highlight"><pre id="__code_1"><span></span><code>import torch

@torch.compile
def step(x):
    return x
</code></pre></div>
<div class="language-text highlight"><pre><code>no program</code></pre></div>
</article>
<script type="module" src="../../playground/assets/embed.js"></script>
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    root: Path = tmp_path_factory.mktemp("site")
    shutil.copytree(OUT, root / "playground" / "assets")
    for name in ("rules/graph-break", "guide/page"):
        (root / name).mkdir(parents=True)
        (root / name / "index.html").write_text(PAGE, encoding="utf-8")
    with serve(root) as address:
        yield address


@pytest.fixture
def rule_page(browser: Browser, site: str) -> Iterator[Playground]:
    page = Playground.open(browser, f"{site}/rules/graph-break/")
    yield page
    page.window.context.close()
    assert page.said == []
    assert [url for url in page.asked if not url.startswith((site, "data:"))] == []


def test_nothing_large_is_loaded_before_somebody_tries(rule_page: Playground) -> None:
    expect(rule_page.window.get_by_role("button", name="Try it")).to_have_count(2)
    assert not any("playground-" in url or "pyodide" in url for url in rule_page.asked)


def test_examples_are_tried_in_place_with_one_engine(rule_page: Playground) -> None:
    window = rule_page.window
    offers = window.get_by_role("button", name="Try it")
    for left in (1, 0):
        offers.first.click()
        expect(offers).to_have_count(left)
    expect(window.locator(".nonstrict-example")).to_have_count(2)
    first, second = window.locator(".nonstrict-example").all()
    expect(first.locator(".finding")).to_have_attribute("data-code", "NST701")
    expect(first.locator(".cm-content")).to_contain_text("return x < 1")
    expect(second.locator(".status")).to_have_text("Nothing found")
    assert sum("worker.js" in url for url in rule_page.asked) == 1
    rule = first.get_by_role("link", name="NST701 graph-break").first
    assert str(rule.evaluate("link => link.href")).endswith("/rules/graph-break/")
    assert window.locator("pre").first.is_hidden()


def test_the_time_is_that_of_the_check(rule_page: Playground) -> None:
    """Not that of loading the engine, here more than a second, nor that since the page was opened."""
    window = rule_page.window
    window.route("**/engine.zip*", lambda route: (window.wait_for_timeout(1_000), route.continue_()))
    began = window.evaluate("performance.now()")
    window.get_by_role("button", name="Try it").first.click()
    shown = window.locator(".time")
    expect(shown).to_have_text(re.compile(r"^in \d+ ms$"))
    assert int(shown.inner_text().split()[1]) < window.evaluate("performance.now()") - began - 1_000


def test_an_editor_can_be_reset_and_closed(rule_page: Playground) -> None:
    window = rule_page.window
    window.get_by_role("button", name="Try it").first.click()
    expect(window.locator(".finding")).to_have_count(1)
    rule_page.write("x = 1\n")
    expect(window.locator(".finding")).to_have_count(0)
    window.get_by_role("button", name="Reset").click()
    expect(window.locator(".finding")).to_have_count(1)
    window.get_by_role("button", name="Close").click()
    expect(window.locator(".nonstrict-example")).to_have_count(0)
    expect(window.locator("pre").first).to_be_visible()
    expect(window.get_by_role("button", name="Try it").first).to_be_focused()


def test_the_scheme_is_that_of_the_page(rule_page: Playground) -> None:
    window = rule_page.window
    window.get_by_role("button", name="Try it").first.click()
    frame = window.locator(".playground")
    expect(frame).to_have_attribute("data-scheme", "light")
    window.evaluate("document.body.dataset.mdColorScheme = 'slate'")
    expect(frame).to_have_attribute("data-scheme", "dark")


def test_other_pages_are_left_alone(browser: Browser, site: str) -> None:
    page = Playground.open(browser, f"{site}/guide/page/")
    page.window.wait_for_load_state("networkidle")
    expect(page.window.get_by_role("button", name="Try it")).to_have_count(0)
    page.window.context.close()
