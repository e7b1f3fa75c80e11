"""`html`: what the page holds, and that nothing a program says becomes part of it. In a browser: `test_page.py`."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nonstrict.check.run import RunOptions, check
from nonstrict.coverage import Counts
from nonstrict.findings import (
    Applicability,
    Diagnostic,
    Location,
    RelatedLocation,
    Severity,
    Sighting,
    Status,
    Verdict,
)
from nonstrict.report.context import Context, Lines, renderer
from nonstrict.report.page.markup import plain
from nonstrict.report.regions import Shown
from nonstrict.settings.model import default_settings
from nonstrict.text.source import Source, SourceKind
from tests.report.samples import context, diagnostics, edit, fix
from tests.report.test_verdicts import judged

VOID = {"meta", "input", "wbr"}
#: All elements and attributes that pages have. Those that load something, or run something, are not among them.
ELEMENTS = set(
    re.findall(
        r"\w+",
        """
        a article b body button caption code dd del details div dl dt fieldset form h1 h2 h3 h4 head header html input
        ins kbd label legend li main mark meta nav ol option output p pre script section select small span style summary
        table tbody td th thead title tr ul wbr
        """,
    )
)
ATTRIBUTES = set(
    re.findall(
        r"[\w-]+",
        """
        aria-label aria-labelledby aria-live autocomplete charset checked class content data-file data-row data-rule
        data-severity data-verdict hidden href http-equiv id lang name open rel role scope spellcheck tabindex type
        value
        """,
    )
)


class Page(HTMLParser):
    """A page taken apart: every element closed in its place, with the text, the attributes and the links."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.stack: list[str] = []
        self.shape: list[str] = []
        self.texts: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.raw: dict[str, str] = {}
        self.feed(page)
        self.close()
        assert self.stack == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in ELEMENTS
        assert {name for name, _ in attrs} <= ATTRIBUTES
        self.shape.append(tag)
        given = dict(attrs)
        self.links += [given["href"] or ""] if "href" in given else []
        self.ids += [given["id"] or ""] if "id" in given else []
        if tag not in VOID:
            self.stack.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.stack and self.stack[-1] in ("script", "style"):
            assert self.stack[-1] not in self.raw
            self.raw[self.stack[-1]] = data
        else:
            self.texts.append(data)

    @property
    def text(self) -> str:
        return "".join(self.texts)


def page_of(found: list[Diagnostic], context: Context) -> Page:
    return Page(renderer("html")(found, context))


def test_the_page_is_one_file_that_allows_itself_nothing_else():
    page = page_of(judged(), context())
    policy = re.search(r'content="(default-src[^"]*)"', renderer("html")(judged(), context()))
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy[1].replace("&#x27;", "'").split(";"))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    for kind, own in page.raw.items():
        digest = base64.b64encode(hashlib.sha256(own.encode()).digest()).decode()
        assert rules[f"{kind}-src"] == f"'sha256-{digest}'"
    assert not re.search(
        r"url\(|@import|fetch\(|XMLHttp|innerHTML|eval\(|insertAdjacentHTML", "".join(page.raw.values())
    )
    assert all(one.startswith(("#", "https://")) for one in page.links)
    assert {one[1:] for one in page.links if one.startswith("#") and "=" not in one} <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))


def test_every_page_is_the_same_in_any_encoding():
    text = renderer("html")(judged(), context())
    assert text.isascii()
    assert "日本é" in page_of(judged(), context()).text
    assert text == renderer("html")(judged(), context())


def test_what_a_finding_says_is_there():
    page = page_of(judged(), context())
    for found in judged():
        for told in (found.message, found.note, found.help, *(one.message for one in found.related)):
            assert told.replace("`", "") in page.text
    assert "eager 4.0, compiled 3.0 after SCALE was set from 2 to 3" in page.text
    assert "a b,c%.ipynb:cell 2:2:1" in page.text
    assert "gone.py: does not exist" in page.text


def test_a_finding_is_named_alike_while_its_line_is():
    found = diagnostics()[1]
    names = page_of([found, found, diagnostics()[0]], context()).ids
    again = page_of([diagnostics()[0]._replace(message="reworded"), found], context()).ids
    own = [name for name in names if re.fullmatch(r"NST\d+-[0-9a-f]+", name)]
    assert len(own) == len(set(own)) == 3
    assert {own[0], own[2]} == {name for name in again if re.fullmatch(r"NST\d+-[0-9a-f]+", name)}


def test_long_lines_are_cut_around_the_place():
    text = "x = [" + "1, " * 100_000 + "HERE, " + "2, " * 100_000 + "]\n"
    start = text.index("HERE") + 1
    lines = Lines({"a.py": Source("a.py", SourceKind.PYTHON, text, text)})
    found = Diagnostic("NST101", "n", Severity.ERROR, Location("a.py", 1, start, 1, start + 4), "m")
    page = renderer("html")([found], Context(lines, 1))
    assert "<mark>HERE</mark>" in page
    assert len(page) < 60_000


def test_ranges_of_several_lines_and_empty_ones():
    text = "a = f(\n    b,\n\n    c,\n)\n"
    lines = Lines({"a.py": Source("a.py", SourceKind.PYTHON, text, text)})

    def marked(*where: int) -> list[str]:
        found = Diagnostic("NST101", "n", Severity.ERROR, Location("a.py", *where), "m")
        return re.findall("<mark>(.*?)</mark>", renderer("html")([found], Context(lines, 1)))

    assert marked(1, 5, 5, 2) == ["f(", "b,", " ", "c,", ")"]
    assert marked(2, 5, 2, 5) == ["b"]
    assert marked(3, 1, 3, 1) == [" "]
    assert marked(2, 90, 2, 99) == [" "]


def everywhere(text: str, path: str) -> tuple[list[Diagnostic], Context]:
    """A finding that says a text wherever it can."""
    where = Location(path, 1, 1, 1, 3)
    found = Diagnostic(
        "NST701",
        "graph-break",
        Severity.NOTE,
        where,
        text,
        text,
        text,
        text,
        related=(RelatedLocation(where, text), RelatedLocation(where, text)),
        links=1,
        verdict=Verdict(Status.CONFIRMED, evidence=text, driver=text, inputs=(text,), repro=text, files=(text,)),
        fixes=(fix(text, Applicability.UNSAFE, edit(path, (1, 1), (1, 1), text.replace("\r", ""))),),
        sighting=Sighting(0.0, reason=text),
    )
    code = f"x{text}\nend\n"
    return [found], Context(
        Lines({path: Source(path, SourceKind.PYTHON, code, code)}), 1, (text,), looked=Counts(1, 1, 1)
    )


@pytest.mark.parametrize(
    "text",
    [
        "</script><script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "</style></title></pre><h1>",
        '" onfocus="alert(1)" x="',
        "' onfocus='alert(1)",
        "<!-- ]]> &lt; &#x3c; &amp;",
        "javascript:alert(1)",
        'https://a.b/"onclick=x <b>`</code><i>`',
        "\udcff\ud800 \x00\x1b[31m \u202e \u2028 \U000e0041",
        "`one` `two",
    ],
)
def test_hostile_texts_are_shown_and_do_nothing(text: str):
    harmless = page_of(*everywhere("x", "p.py"))
    page = page_of(*everywhere(text, f"{text}.py"))
    assert plain(text).replace("`", "") in page.text.replace("`", "")
    assert page.raw == harmless.raw
    assert [tag for tag in page.shape if tag not in ("span", "code", "a", "wbr")] == [
        tag for tag in harmless.shape if tag not in ("span", "code", "a", "wbr")
    ]
    assert all(one.startswith(("#", "https://")) for one in page.links)


@settings(max_examples=150, deadline=None)
@given(
    st.text(st.characters(exclude_characters="\r\n\v\f\x85\u2028\u2029\x1c\x1d\x1e"), min_size=1), st.text(min_size=1)
)
def test_no_text_becomes_markup(text: str, path: str):
    if "\0" in path:
        return
    page = page_of(*everywhere(text, path))
    assert page.shape.count("script") == page.shape.count("style") == page.shape.count("article") == 1
    assert all(one.isprintable() or one in "\n\t\xa0\u200d" for one in page.text)


# -- regions ----------------------------------------------------------------------------------------------------------

PROGRAM = """\
import torch


@torch.compile(mode="reduce-overhead")
def step(x):
    x = x + 1
    print(x)
    return x * 2


def build(function):
    return torch.compile(function)


torch.compile(step)
"""


def test_regions_are_told_in_detail(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(PROGRAM)
    result = check(["a.py"], default_settings(str(tmp_path)), RunOptions(regions=True))
    shown = Shown(result.looked, result.read, parts=True)
    whole = Context(Lines(result.read), 1, looked=result.counts, regions=shown)
    page = page_of(list(result.diagnostics), whole)
    assert "2 graphs" in page.text
    assert 'mode="reduce-overhead"' in page.text
    assert page.text.count("a.py:15:1") >= 1
    broken = next(one for one in result.diagnostics if one.code == "NST701")
    anchor = next(name for name in page.ids if re.fullmatch("NST701-[0-9a-f]+", name))
    assert page.links.count(f"#{anchor}") == 2, "the finding itself, and the break of the region that it is about"
    assert broken.message.replace("`", "") in page.text
    for region in result.looked.regions:
        if region.missed:
            assert region.missed.replace("`", "") in page.text


def test_five_thousand_findings_are_no_giant():
    (found,), told = everywhere("x" * 30, "p.py")
    page = renderer("html")([found._replace(location=found.location._replace(row=1)) for _ in range(5000)], told)
    assert len(page) < 25_000_000
    assert page.count("<article") == 5000
