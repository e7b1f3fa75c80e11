"""The playground in a browser, as people use it: with the mouse, by keys alone, on a telephone, with hostile texts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.report.test_page import CONTRAST, HARD_TO_READ

if TYPE_CHECKING:
    from playwright.sync_api import Route

    from tests.playground.driving import Playground

BREAKS = "import torch\n\n\n@torch.compile\ndef step(x):\n    print(x)\n    return x + 1\n"
TWO_BREAKS = BREAKS.replace("    return", "    y = x * 2\n    print(y)\n    return")
UNICODE = "import torch\n\nnäme = '🙂🙂'\n\n\n@torch.compile\ndef step(x):\n    s = '🙂'; print(x, s)\n    return x\n"
#: In the shadow root: what a page shows of the playground is there.
INSIDE = HARD_TO_READ.replace("document.body", "ROOT").replace("document.querySelectorAll", "ROOT.querySelectorAll")


def test_findings_of_the_first_example_come_without_a_request_to_others(page: Playground) -> None:
    assert page.codes() == ["NST701"]
    expect(page.status).to_have_text("1 warning")
    expect(page.window.get_by_text("never run")).to_be_visible()


def test_loading_says_what_and_how_much(page: Playground) -> None:
    page.window.reload()
    expect(page.window.locator("[role=tabpanel]").first).to_contain_text(
        re.compile(r"(Loading|Starting) Python and the engine: \d+\.\d (of \d+\.\d )?MB")
    )
    page.is_checked()


def test_an_edit_is_checked(page: Playground) -> None:
    page.write("x = 1\n")
    expect(page.status).to_have_text("Nothing found")
    expect(page.findings).to_have_count(0)
    page.write(BREAKS)
    expect(page.findings).to_have_count(1)
    page.window.keyboard.press("Control+z")
    expect(page.status).to_have_text("Nothing found")


def test_under_the_pointer_is_all_of_a_finding(page: Playground) -> None:
    page.window.locator(".cm-lintRange").first.hover()
    shown = page.window.locator(".cm-tooltip")
    expect(shown).to_contain_text("breaks the graph (GB0291)")
    expect(shown).to_contain_text("note logging.Logger method not supported")
    expect(shown).to_contain_text("help log outside the region")
    expect(shown.get_by_role("link", name="NST701 graph-break")).to_have_attribute("href", re.compile("graph-break"))


def test_a_click_applies_a_fix_and_one_undo_takes_it_back(page: Playground) -> None:
    fix = page.window.get_by_role("button", name="Fix: Remove the call of logger.info unsafe")
    fix.click()
    expect(page.status).to_have_text("Nothing found")
    assert "logger" not in page.text()
    page.window.keyboard.press("Control+z")
    expect(page.status).to_have_text("1 warning")
    assert "logger.info" in page.text()


def test_a_double_click_applies_one_fix(page: Playground) -> None:
    page.write(TWO_BREAKS)
    fixes = page.window.locator(".findings .fix")
    expect(fixes).to_have_count(2)
    with page.unanswered():
        fixes.first.dblclick()
    page.is_checked()
    assert page.text() == TWO_BREAKS.replace("    print(x)\n", "")


def test_no_fix_is_applied_to_another_text_than_its_own(page: Playground) -> None:
    page.write(TWO_BREAKS)
    fixes = page.window.locator(".fix")
    expect(fixes).to_have_count(2)
    page.writing.focus()
    with page.unanswered():
        page.window.keyboard.press("Control+Home")
        page.window.keyboard.press("Enter")
        page.window.locator(".cm-lintRange").first.hover()
        expect(fixes).to_have_count(3)
        assert fixes.evaluate_all("found => found.map((one) => one.disabled)") == [True] * 3
        # Whatever is pressed before it is disabled.
        fixes.evaluate_all("found => { for (const one of found) { one.disabled = false; one.click(); } }")
        assert page.text() == f"\n{TWO_BREAKS}"
    page.is_checked()
    page.window.locator(".findings .fix").first.click()
    expect(page.findings).to_have_count(1)
    assert page.text() == "\n" + TWO_BREAKS.replace("    print(x)\n", "")


def test_a_fix_behind_characters_of_two_units_is_made_at_its_place(page: Playground) -> None:
    page.write(UNICODE)
    expect(page.window.locator(".cm-lintRange")).to_have_text("print(x, s)")


def test_places_lead_into_the_text(page: Playground) -> None:
    page.window.get_by_role("button", name="line 26").click()
    expect(page.window.locator(".cm-activeLine")).to_contain_text("torch.compile(Encoder())")


def test_what_is_compiled_has_graphs_and_breaks(page: Playground) -> None:
    page.window.get_by_role("tab", name="What is compiled").click()
    region = page.window.locator(".region")
    expect(region).to_contain_text("Encoder.forward")
    expect(region.locator(".eager")).to_contain_text("logger.info")
    expect(page.findings).to_be_hidden()


def test_the_menu_shows_an_example(page: Playground) -> None:
    page.choose("NST101-example")
    assert page.codes() == ["NST101"]
    page.choose("NST101-use-instead")
    expect(page.status).to_have_text("Nothing found")


def test_the_release_of_torch_counts(page: Playground) -> None:
    page.choose("NST605-example")
    chosen = page.window.get_by_label("Release of torch")
    assert chosen.locator("option").all_inner_texts() == ["torch 2.13", "torch 2.15", "torch 2.12"]
    chosen.select_option("2.15")
    page.is_checked()


# -- links ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [BREAKS, UNICODE, "", "\n".join(f"x{n} = {n}" for n in range(2_000))])
def test_a_link_brings_the_program_back(page: Playground, text: str) -> None:
    page.write(text)
    page.window.get_by_label("Release of torch").select_option("2.12")
    fragment = shared(page)
    page.choose("layers")
    page.window.get_by_label("Release of torch").select_option("2.13")
    page.follow("")
    page.follow(fragment)
    expect(page.window.get_by_label("Release of torch")).to_have_value("2.12")
    assert shared(page) == fragment
    assert page.text().split("\n")[:10] == text.split("\n")[:10]


def test_a_link_of_the_default_release_chooses_it(page: Playground) -> None:
    release = page.window.get_by_label("Release of torch")
    release.select_option("2.13")
    fragment = shared(page)
    assert "torch" not in fragment
    release.select_option("2.12")
    page.choose("gate")
    expect(release).to_have_value("2.12")
    page.follow("")
    page.follow(fragment)
    expect(release).to_have_value("2.13")


def test_what_is_there_before_the_examples_stays(page: Playground) -> None:
    """A text that is typed, and a link that is followed, while the examples are loaded."""
    fragment = shared(page)
    waiting: list[Route] = []

    def hold(route: Route) -> None:
        waiting.append(route)

    page.window.route("**/examples.json*", hold)
    examples = page.window.get_by_label("Examples").locator("option")
    for follows in (False, True):
        page.window.evaluate("history.replaceState(null, '', location.pathname)")
        with page.window.expect_request("**/examples.json*"):
            page.window.reload()
        if follows:
            page.window.evaluate("fragment => { location.hash = fragment; }", fragment)
        else:
            page.writing.press_sequentially("mine")
        expect(page.writing).to_contain_text("Encoder" if follows else "mine")
        waiting.pop().continue_()
        expect(examples).not_to_have_count(1)
        expect(page.writing).to_contain_text("Encoder" if follows else "mine")
        expect(page.window.get_by_label("Examples")).to_have_value("")
    page.window.unroute("**/examples.json*")


def shared(page: Playground) -> str:
    """The fragment of the link to the program."""
    page.is_checked()
    page.window.get_by_role("button", name="Share").click()
    expect(page.status).to_have_text(re.compile("link", re.IGNORECASE))
    return page.window.url.partition("#")[2]


@pytest.mark.parametrize("code", ["AAAA", "%%%", "xVA9", "", "ABCDEFGHIJKLMNOP" * 50])
def test_a_broken_link_says_so(page: Playground, code: str) -> None:
    page.follow(f"code={code}")
    expect(page.window.get_by_role("alert")).to_contain_text("The link holds no program")
    assert page.codes() == ["NST701"]


def test_a_fragment_that_is_no_program_ends_the_complaint_about_a_link(page: Playground) -> None:
    page.follow("code=AAAA")
    expect(page.window.get_by_role("alert")).to_be_visible()
    page.follow("findings")
    expect(page.window.get_by_role("alert")).to_be_hidden()


def test_a_link_that_holds_too_much_is_refused(page: Playground) -> None:
    fragment = page.window.evaluate(
        """async () => {
            const bytes = new Blob([" ".repeat(50_000_000)]).stream().pipeThrough(new CompressionStream("deflate-raw"));
            const packed = new Uint8Array(await new Response(bytes).arrayBuffer());
            return btoa(Array.from(packed, (byte) => String.fromCharCode(byte)).join(""))
                .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
        }"""
    )
    page.follow(f"code={fragment}")
    expect(page.window.get_by_role("alert")).to_contain_text("more than 100,000 characters")


# -- by keys alone ----------------------------------------------------------------------------------------------------


def test_keys_alone_reach_everything(page: Playground) -> None:
    expect(page.window.locator(".fix")).to_be_visible()
    page.window.get_by_label("Examples").focus()
    reached: list[str] = []
    for _ in range(16):
        reached.append(focused(page))
        page.window.keyboard.press("Tab")
    names = " | ".join(reached)
    for name in ("Examples", "Release of torch", "Share", "Python program", "Findings", "line 20", "Fix: Remove"):
        assert name in names


def test_tab_leaves_the_editor_and_arrows_walk_the_tabs(page: Playground) -> None:
    page.writing.click()
    page.window.keyboard.press("Tab")
    assert "Findings" in focused(page)
    page.window.keyboard.press("ArrowRight")
    assert "What is compiled" in focused(page)
    expect(page.window.locator(".region")).to_be_visible()
    page.window.keyboard.press("ArrowRight")
    assert "Findings" in focused(page)


def test_f8_goes_to_the_finding(page: Playground) -> None:
    page.writing.click()
    page.window.keyboard.press("F8")
    expect(page.window.locator(".cm-activeLine")).to_contain_text("logger.info")


def focused(page: Playground) -> str:
    """The name of what has the focus."""
    return page.window.evaluate(
        """() => {
            let at = document.activeElement;
            while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
            return at.getAttribute("aria-label") ?? at.textContent;
        }"""
    )


# -- readable ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_has_enough_contrast(page: Playground, scheme: str) -> None:
    page.window.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.choose("gate")
    expect(page.window.locator(".fix").first).to_be_visible()
    for tab in ("Findings", "What is compiled"):
        page.window.get_by_role("tab", name=tab).click()
        looked_at, hard = page.window.evaluate(
            f"(least) => {{ const ROOT = document.querySelector('.nonstrict-playground').shadowRoot; "
            f"return ({INSIDE})(least); }}",
            CONTRAST,
        )
        assert looked_at > 100
        assert hard == []


def test_marks_are_beside_the_middle_of_their_lines(page: Playground) -> None:
    places = [page.window.locator(one).bounding_box() for one in (".cm-lint-marker", ".cm-line:has(.cm-lintRange)")]
    mark, line = (place["y"] + place["height"] / 2 for place in places if place)
    assert abs(mark - line) < 1


@pytest.mark.parametrize("width", [360, 1_400])
def test_nothing_scrolls_sideways(page: Playground, width: int) -> None:
    page.window.set_viewport_size({"width": width, "height": 800})
    for name in ("attention_mask", "options", "NST501-example"):
        page.choose(name)
        assert page.window.evaluate("document.documentElement.scrollWidth") <= width
        over = page.window.locator(".playground").evaluate(
            """(frame) => [...frame.querySelectorAll(".panel *, .bar *")]
                .filter((one) => one.getBoundingClientRect().right > innerWidth + 1).map((one) => one.className)"""
        )
        assert over == []


# -- hostile texts ----------------------------------------------------------------------------------------------------


def recovers(page: Playground) -> None:
    """The next edit is checked as if nothing had been."""
    page.write(BREAKS)
    expect(page.findings).to_have_count(1)
    expect(page.findings).to_have_attribute("data-code", "NST701")


def test_what_is_nested_too_deeply_is_reported_and_the_next_edit_checked(page: Playground) -> None:
    page.write(BREAKS.replace("x + 1", "x" + " + x" * 900))
    expect(page.findings.first).to_have_attribute("data-code", "NST904")
    expect(page.findings.first).to_contain_text("nested too deeply")
    recovers(page)


@pytest.mark.parametrize("text", ["(" * 5_000, BREAKS.replace("x + 1", "x" + "+x" * 45_000)], ids=["open", "sum"])
def test_what_ends_the_engine_is_reported_and_the_next_edit_checked(page: Playground, text: str) -> None:
    page.write(text)
    expect(page.findings).to_have_attribute("data-code", "NST904")
    expect(page.findings).to_contain_text("too large or nested too deeply for a browser")
    recovers(page)
    page.said.clear()  # Pyodide has said how it ended


@pytest.mark.parametrize(
    "text", ["\x00", "x = '\ud800'\n", "\ufeffimport torch\n", "def f(:\n", "\x0c\x0b\x85\u2028 x = 1\n"]
)
def test_strange_texts_are_answered(page: Playground, text: str) -> None:
    page.write(text)
    page.is_checked()
    recovers(page)


def test_what_is_too_long_is_not_checked(page: Playground) -> None:
    page.write(BREAKS * 2_000)
    expect(page.status).to_have_text("Not checked")
    expect(page.window.locator("[role=tabpanel]").first).to_contain_text("analyzes at most 100,000")
    recovers(page)


def test_an_engine_that_cannot_be_loaded_says_so_and_can_be_asked_again(page: Playground) -> None:
    page.window.route("**/engine.zip*", lambda route: route.abort())
    page.window.reload()
    expect(page.window.get_by_text("The engine cannot be loaded.")).to_be_visible()
    page.window.unroute("**/engine.zip*")
    page.said.clear()  # the browser has said what it could not load
    page.window.get_by_role("button", name="Try again").click()
    page.is_checked()
    assert page.codes() == ["NST701"]
