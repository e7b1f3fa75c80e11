"""`html`: a page in one file that asks for nothing else; with scripts switched off all of it is there."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from nonstrict.report.page.findings import findings, named
from nonstrict.report.page.markup import NOTHING, Markup, element, joined, void
from nonstrict.report.page.overview import filters, head, not_looked_at, overview, title
from nonstrict.report.page.regions import measured, regions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nonstrict.findings import Diagnostic
    from nonstrict.report.context import Context

_PARTS = Path(__file__).with_name("page")
#: What comes later counts where two say something.
_STYLES = ("colours.css", "layout.css", "filters.css", "findings.css", "media.css")


def render(diagnostics: Sequence[Diagnostic], context: Context) -> str:
    """The page."""
    style, script = Markup("".join(map(_part, _STYLES))), _part("page.js")
    meta = [
        void("meta", charset="utf-8"),
        void("meta", http_equiv="Content-Security-Policy", content=_policy(style, script)),
        void("meta", name="viewport", content="width=device-width, initial-scale=1"),
        void("meta", name="color-scheme", content="light dark"),
        void("meta", name="referrer", content="no-referrer"),
    ]
    top = element("head", *meta, element("title", title(diagnostics)), element("style", style))
    body = element("body", *_body(diagnostics, context), element("script", script))
    return f"<!doctype html>\n{element('html', top, body, lang='en')}\n"


def _body(diagnostics: Sequence[Diagnostic], context: Context) -> Iterator[Markup]:
    found = named(diagnostics, context)
    shown = context.regions
    anchors = {one.diagnostic.location: one.anchor for one in reversed(found)}
    known = regions(shown, anchors, context) if shown is not None else NOTHING
    sections = (
        ("findings", "Findings", joined(filters(found, context), findings(found, context)) if found else NOTHING),
        ("regions", "Compiled regions", known),
        ("measured", "What experiments compiled", measured(shown, context)),
        ("missing", "Not analyzed", not_looked_at(found, context)),
    )
    there = [one for one in sections if one[2]]
    links = [element("li", element("a", name, href=f"#{key}")) for key, name, _ in there]
    yield head(diagnostics, context)
    yield element("nav", element("ul", *links), aria_label="Parts of this page") if links else NOTHING
    yield element(
        "main",
        element("section", overview(diagnostics, context), aria_label="In numbers"),
        *(_section(*one) for one in there),
    )


def _section(key: str, name: str, content: Markup) -> Markup:
    heading = element("h2", name, id=f"{key}-name")
    return element("section", heading, content, id=key, tabindex=-1, aria_labelledby=f"{key}-name")


def _part(name: str) -> Markup:
    """A style or script of ours, which holds nothing of the user's."""
    return Markup((_PARTS / name).read_text(encoding="ascii"))


def _policy(style: str, script: str) -> str:
    """Nothing is loaded, sent or framed; the style and the script that are meant run, and no other."""
    allowed = f"style-src '{_digest(style)}'; script-src '{_digest(script)}'"
    return f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"


def _digest(content: str) -> str:
    return f"sha256-{b64encode(sha256(content.encode()).digest()).decode()}"
