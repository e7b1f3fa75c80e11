"""The page of `html` in a browser: readable in both schemes, walked by keys alone, silent, and asking for nothing."""

from __future__ import annotations

import re
import time
from itertools import count
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

import pytest
from playwright.sync_api import expect

from nonstrict.check.run import RunOptions, check
from nonstrict.findings import Diagnostic, Location, Severity
from nonstrict.report.context import Context, renderer
from nonstrict.report.regions import Shown
from nonstrict.settings.model import default_settings
from tests.browser import CONTRAST, HARD_TO_READ, WITH_CHROMIUM, chromium
from tests.report.samples import context
from tests.report.test_html import PROGRAM, everywhere
from tests.report.test_verdicts import judged

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from playwright.sync_api import Browser, Dialog
    from playwright.sync_api import Page as Window

Scheme = Literal["light", "dark"]
pytestmark = WITH_CHROMIUM


class Opened(NamedTuple):
    """A window with a page, what it asked for, and what it complained of."""

    window: Window
    asked: list[str]
    said: list[str]

    def shown(self) -> list[str]:
        """The rules of the findings that are to be seen."""
        return self.window.eval_on_selector_all(
            ".finding", "found => found.filter((one) => one.offsetParent).map((one) => one.dataset.rule)"
        )

    def at(self) -> str:
        """What has the focus: the name of a finding, or of a control."""
        return self.window.evaluate("document.activeElement.id || document.activeElement.name || ''")

    def asks_for(self, filter_: str) -> None:
        """Waits until the address asks for something."""
        expect(self.window).to_have_url(re.compile(rf"\.html{re.escape(filter_)}$"))


class Open(Protocol):
    """Opens a page in a window of its own."""

    def __call__(
        self,
        found: Sequence[Diagnostic],
        told: Context,
        *,
        scheme: Scheme = "light",
        address: str = "",
        scripts: bool = True,
    ) -> Opened: ...


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """It ends with these tests: its loop is in the way of others."""
    with chromium() as program:
        yield program


@pytest.fixture
def open_page(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    opened: list[Opened] = []
    numbers = count()

    def begin(found, told, *, scheme: Scheme = "light", address="", scripts=True):
        path = tmp_path / f"report{next(numbers)}.html"
        path.write_text(renderer("html")(found, told), encoding="ascii")
        own = browser.new_context(
            color_scheme=scheme, java_script_enabled=scripts, viewport={"width": 1200, "height": 800}
        )
        window = own.new_page()
        one = Opened(window, [], [])

        def refuse(dialog: Dialog) -> None:
            one.said.append(dialog.message)
            dialog.dismiss()

        window.on("request", lambda request: one.asked.append(request.url))
        window.on("console", lambda message: one.said.append(message.text))
        window.on("pageerror", lambda error: one.said.append(str(error)))
        window.on("dialog", refuse)
        own.route(lambda url: not url.startswith("file:"), lambda route: route.abort())
        window.goto(path.as_uri() + address)
        opened.append(one)
        return one

    yield begin
    for one in opened:
        assert [address for address in one.asked if not address.endswith(".html")] == []
        assert len({address.partition("#")[0] for address in one.asked}) == 1
        assert one.said == []
        one.window.context.close()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Diagnostic], Context]:
    """Findings of all kinds, and regions."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "a.py").write_text(PROGRAM)
    result = check([str(folder / "a.py")], default_settings(str(folder)), RunOptions(regions=True))
    told = context()
    return (
        [*judged(), *result.diagnostics],
        told._replace(looked=result.counts, regions=Shown(result.looked, result.read, parts=True)),
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_is_easy_to_read(open_page: Open, run: tuple[list[Diagnostic], Context], scheme: Scheme):
    opened = open_page(*run, scheme=scheme)
    checked, hard = opened.window.evaluate(HARD_TO_READ, CONTRAST)
    assert hard == []
    assert checked > 200
    back = opened.window.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    bright = sum(map(int, re.findall(r"\d+", back)))
    assert bright > 600 if scheme == "light" else bright < 150


def test_what_is_hard_to_read_would_be_seen(open_page: Open, run: tuple[list[Diagnostic], Context]):
    opened = open_page(*run)
    opened.window.evaluate("document.querySelector('h1').style.color = '#8a919a'")
    hard = opened.window.evaluate(HARD_TO_READ, CONTRAST)[1]
    assert len(hard) == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_prints_in_the_light_scheme_without_controls(
    open_page: Open, run: tuple[list[Diagnostic], Context], scheme: Scheme
):
    opened = open_page(*run, scheme=scheme)
    opened.window.emulate_media(media="print", color_scheme=scheme)
    assert opened.window.evaluate(HARD_TO_READ, CONTRAST)[1] == []
    assert not opened.window.locator(".controls").is_visible()
    assert opened.window.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert len(opened.window.pdf()) > 10_000


@pytest.mark.parametrize("width", [320, 700, 1600])
@pytest.mark.parametrize("long", [False, True])
def test_it_fits_into_narrow_and_wide_windows(
    open_page: Open, run: tuple[list[Diagnostic], Context], width: int, long: bool
):
    opened = open_page(*(everywhere("x" * 3000, "y" * 3000) if long else run))
    opened.window.set_viewport_size({"width": width, "height": 700})
    assert opened.window.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_without_scripts_all_is_shown(open_page: Open, run: tuple[list[Diagnostic], Context]):
    opened = open_page(*run, scripts=False)
    visible = opened.window.locator(".finding:visible")
    assert visible.count() == len(run[0])
    assert not opened.window.locator("#filters").is_visible()
    assert opened.window.locator(".finding .diff:visible").count() > 0
    assert opened.window.locator(".region:visible").count() > 0


def test_keys_walk_among_the_findings(open_page: Open, run: tuple[list[Diagnostic], Context]):
    opened = open_page(*run)
    names = opened.window.eval_on_selector_all(".finding", "found => found.map((one) => one.id)")
    keyboard = opened.window.keyboard
    keyboard.press("j")
    assert opened.at() == names[0]
    keyboard.press("j")
    assert opened.at() == names[1]
    keyboard.press("k")
    assert opened.at() == names[0]
    keyboard.press("k")
    assert opened.at() == names[0], "there is none before"
    for _ in range(20):
        keyboard.press("j")
    assert opened.at() == names[-1]
    outline = "getComputedStyle(document.activeElement).outlineWidth"
    assert opened.window.evaluate(outline) == "2px"
    top = opened.window.evaluate("document.activeElement.getBoundingClientRect().top")
    bar = opened.window.evaluate("document.getElementById('filters').getBoundingClientRect().bottom")
    assert top >= bar, "the bar covers it"


def test_code_that_does_not_fit_is_scrolled_by_keys(open_page: Open):
    opened = open_page(*everywhere("x" * 300, "a.py"))
    opened.window.keyboard.press("j")
    opened.window.locator(".finding .code").first.focus()
    opened.window.keyboard.press("ArrowRight")
    opened.window.wait_for_timeout(300)
    assert opened.window.locator(".finding .code").first.evaluate("(code) => code.scrollLeft") > 0


def test_a_filter_is_set_by_keys_alone_and_kept_in_the_address(open_page: Open, run: tuple[list[Diagnostic], Context]):
    opened = open_page(*run)
    keyboard = opened.window.keyboard
    everything = opened.shown()
    keyboard.press("/")
    assert opened.at() == "q"
    keyboard.type("Scale")
    opened.asks_for("#q=Scale")
    assert opened.shown() == ["NST101"] * 3
    assert opened.window.locator("output").inner_text() == f"3 of {len(everything)} findings"
    keyboard.press("Enter")
    assert opened.at().startswith("NST101-")
    keyboard.press("/")
    keyboard.press("Escape")
    opened.asks_for("")
    assert opened.shown() == everything
    keyboard.press("/")
    keyboard.press("Tab")
    assert opened.at() == "severity"
    keyboard.press("Space")
    opened.asks_for("#severity=warning+note")
    assert "error" not in opened.window.eval_on_selector_all(
        ".finding:not([hidden])", "found => found.map((one) => one.dataset.severity)"
    )
    for _ in range(3):
        keyboard.press("Tab")
    assert opened.at() == "rule"
    keyboard.type("NST90")
    opened.asks_for("#severity=warning+note&rule=NST902")
    assert opened.shown() == ["NST902"]
    assert opened.window.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_every_control_is_reached_by_tab_and_shows_it(open_page: Open, run: tuple[list[Diagnostic], Context]):
    opened = open_page(*run)
    opened.window.keyboard.press("/")
    names = [opened.at()]
    for _ in range(9):
        opened.window.keyboard.press("Tab")
        names.append(opened.at() or opened.window.evaluate("document.activeElement.type"))
        assert opened.window.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    assert names[:9] == ["q", *["severity"] * 3, "rule", "file", "verdict", "reset", "shortcuts"]


def test_keys_can_be_switched_off(open_page: Open, run: tuple[list[Diagnostic], Context]):
    opened = open_page(*run, address="#keys=off")
    opened.window.keyboard.press("j")
    assert opened.at() == ""
    opened.window.keyboard.press("/")
    assert opened.at() == ""


def test_an_address_sets_the_filter(open_page: Open, run: tuple[list[Diagnostic], Context]):
    found, _ = run
    opened = open_page(*run, address="#verdict=confirmed&severity=error+note")
    assert opened.shown() == ["NST101"]
    opened.window.evaluate("location.hash = '#file=a%20b%2Cc%25.ipynb'")
    expect(opened.window.locator(".finding:not([hidden])")).to_have_count(1)
    assert opened.shown() == ["NST201"]
    opened.window.locator("button[type=reset]").click()
    opened.asks_for("")
    assert len(opened.shown()) == len(found)
    for nonsense in ("#rule=%ZZ", "#rule=NST000&x=y", "#file=<img>&q=", "#nowhere"):
        opened.window.evaluate("(hash) => { location.hash = hash; }", nonsense)
        assert len(opened.shown()) == len(found)


def test_a_link_to_a_hidden_finding_shows_it(open_page: Open, run: tuple[list[Diagnostic], Context]):
    opened = open_page(*run, address="#verdict=refuted")
    opened.window.locator(".region a[href^='#NST701-']").first.focus()
    opened.window.keyboard.press("Enter")
    expect(opened.window.locator(".finding:focus")).to_have_attribute("id", re.compile("NST701-"))
    assert len(opened.shown()) == len(run[0])


def test_numbers_lead_to_their_findings(open_page: Open, run: tuple[list[Diagnostic], Context]):
    opened = open_page(*run)
    opened.window.locator("a[href='#rule=NST101']").click()
    expect(opened.window.locator(".finding:not([hidden])")).to_have_count(3)
    assert set(opened.shown()) == {"NST101"}


@pytest.mark.parametrize(
    "text",
    [
        "</script><script>alert(1)</script>",
        "<img src=https://a.b/c onerror=alert(1)>",
        "<svg onload=alert(1)>",
        "\"><script src='https://a.b/c'></script>",
        "<style>@import url(https://a.b/c);</style>",
        "</title></style></textarea><iframe src=https://a.b></iframe>",
        "\udcff\x00\x1b\u202e",
    ],
)
def test_hostile_texts_run_nothing(open_page: Open, text: str):
    opened = open_page(*everywhere(text, f"{text}.py"))
    opened.window.keyboard.press("/")
    opened.window.keyboard.type("e")
    opened.asks_for("#q=e")
    assert opened.shown() == ["NST701"]
    assert opened.window.locator("script, img, iframe, svg, link").count() == 1


def test_thousands_of_findings_answer_at_once(open_page: Open):
    found, told = everywhere("x" * 30, "p.py")
    many = [
        found[0]._replace(location=Location("p.py", 1, 1, 1, 2), severity=severity, message=f"finding number {number}")
        for number in range(2500)
        for severity in (Severity.ERROR, Severity.NOTE)
    ]
    opened = open_page(many, told)
    keyboard = opened.window.keyboard
    began = time.monotonic()
    keyboard.press("/")
    keyboard.type("number 1234")
    expect(opened.window.locator(".finding:not([hidden])")).to_have_count(2)
    keyboard.press("Enter")
    assert opened.at().startswith("NST701")
    keyboard.press("j")
    expect(opened.window.locator(".finding:focus")).to_contain_text("number 1234")
    assert time.monotonic() - began < 10
