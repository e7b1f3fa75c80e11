"""Texts that torch prints, pasted into the search, find the page that explains them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from nonstrict.explain.pages import break_ids, page_of
from nonstrict.rules.registry import RULES
from scripts.generate_rule_docs import page_name
from tests.browser import WITH_CHROMIUM

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page as Window

    from tests.site.conftest import Visit

pytestmark = WITH_CHROMIUM
RESULTS = ".md-search-result__item > .md-search-result__link"
#: How much a visitor fetches who searches once, and that long a search may take to be ready.
LARGEST = 2_500_000
#: Of the messages of torch, every so many'th is searched for.
EACH = 5
FAKE_TENSORS = (
    "Please convert all Tensors to FakeTensors first or instantiate FakeTensorMode with 'allow_non_fake_inputs'."
)


def words(text: str) -> list[str]:
    """What is compared: signs are not."""
    return re.findall(r"[^\W_]+", text.lower())


def paste(window: Window, text: str) -> None:
    """As people do: with no key but those of pasting."""
    field = window.locator("input[data-md-component=search-query]")
    field.evaluate(
        """(field, text) => {
            field.focus();
            field.value = text;
            field.dispatchEvent(new InputEvent("input", { bubbles: true, inputType: "insertFromPaste" }));
        }""",
        text,
    )


def found(window: Window) -> list[str]:
    """The pages that are found, in their order."""
    expect(window.locator(RESULTS).first).to_be_visible(timeout=20_000)
    links = window.eval_on_selector_all(RESULTS, "links => links.map((one) => new URL(one.href).pathname)")
    return list(dict.fromkeys(link.strip("/") for link in links))


@pytest.mark.parametrize(
    ("text", "page", "among"),
    [
        ("Please convert all Tensors to FakeTensors first", "rules/global-tensor-capture", 1),
        (f"torch._dynamo.exc.TorchRuntimeError: AssertionError: {FAKE_TENSORS}", "rules/global-tensor-capture", 1),
        ("Unsupported Tensor.item() call with capture_scalar_outputs=False", "graph-breaks/gb0124", 1),
        ("Graph break from `Tensor.item()`", "graph-breaks/gb0124", 3),
        ("torch._dynamo.exc.Unsupported: Data-dependent branching", "graph-breaks/gb0170", 1),
        ("Attempted to call function marked as skipped", "graph-breaks/gb0007", 1),
        ("Encountered tensor.is_inference() during tracing", "graph-breaks/gb0045", 1),
        ("  Hint: Avoid using `tensor.is_inference()` and `torch.is_inference_", "graph-breaks/gb0177", 1),
        ("GB0291", "graph-breaks/gb0291", 1),
        ("csv.field_size_limit", "graph-breaks/gb0007", 1),
        ("NST804", "rules/recompilation", 1),
        ("global-tensor-capture", "rules/global-tensor-capture", 1),
        ("required-version", "settings", 2),
        ("pre-commit", "ci", 2),
    ],
)
def test_a_text_finds_its_page(visit: Visit, text: str, page: str, among: int):
    with visit("") as window:
        paste(window, text)
        assert page in found(window)[:among]


#: Asks the worker of the search, as pages do, and gives the location of the first page of each answer.
ASK = """
async (texts) => {
    const { base, search } = JSON.parse(document.getElementById("__config").textContent);
    const worker = new Worker(new URL(search, location));
    const answered = () => new Promise((done) => worker.addEventListener("message", done, { once: true }));
    const index = await (await fetch(`${base}/search/search_index.json`)).json();
    worker.postMessage({ type: 0, data: { ...index, options: { suggest: false } } });
    await answered();
    const first = [];
    const began = performance.now();
    for (const text of texts) {
        worker.postMessage({ type: 2, data: text });
        const { items } = (await answered()).data.data;
        first.push(items.length ? items[0][0].location.split("#")[0] : "");
    }
    return [first, (performance.now() - began) / texts.length];
}
"""


def test_every_message_of_torch_finds_its_page(visit: Visit):
    """Of some ids torch says the same: either will do."""
    pages = [page_of(one) for one in break_ids()[::EACH]]
    first: list[str]
    with visit("start/") as window:
        first, milliseconds = window.evaluate(ASK, [f"torch._dynamo.exc.Unsupported: {page.title}" for page in pages])
    titles = {f"graph-breaks/{one.lower()}/": page_of(one).title for one in break_ids()}
    found = {page.title: titles.get(there, there) for page, there in zip(pages, first, strict=True)}
    assert {asked: title for asked, title in found.items() if words(asked) != words(title)} == {}
    assert milliseconds < 500


def test_every_code_and_what_it_begins_with_finds_pages(visit: Visit):
    """While a code is typed, each character is searched for."""
    rules = {code: f"rules/{page_name(rule).removesuffix('.md')}/" for code, rule in RULES.items()}
    breaks = {one: f"graph-breaks/{one.lower()}/" for one in break_ids()[::EACH]}
    codes = rules | breaks
    beginnings = sorted({code[:length] for code in codes for length in range(2, len(code))})
    first: list[str]
    with visit("start/") as window:
        first, _ = window.evaluate(ASK, [*codes, *beginnings])
    found = dict(zip([*codes, *beginnings], first, strict=True))
    assert {code: found[code] for code, page in codes.items() if found[code] != page} == {}
    assert [one for one in beginnings if not found[one]] == []


def test_the_index_is_small(site: Path):
    path = site / "search" / "search_index.json"
    assert path.stat().st_size < LARGEST
    texts = {entry["location"].partition("#")[0] for entry in json.loads(path.read_text(encoding="utf-8"))["docs"]}
    assert "recompilation/" not in texts
    assert "graph-breaks/calls/" not in texts
    assert "graph-breaks/" in texts
