"""HTML made of text: whatever is no markup is escaped, and what would not show is shown as an escape.

All that is written is ASCII, so that the page is the same in whatever encoding it is printed.
"""

from __future__ import annotations

import re
from html import escape
from itertools import zip_longest

#: Characters that are written as they are although they do not print: blanks, and the joiner within emoji.
_KEPT = frozenset("\n\t\N{NO-BREAK SPACE}\N{ZERO WIDTH JOINER}")
Attribute = str | int | bool | None
_ADDRESS = re.compile(r"https://[\w.~/?#&=%+:@-]*[\w/]")


class Markup(str):
    """A text that is HTML already."""

    __slots__ = ()


NOTHING = Markup()


def text(content: str) -> Markup:
    """A text as HTML; its line breaks and tabs stay, other characters that do not print are escapes of Python."""
    if content.isascii() and content.isprintable():
        return Markup(escape(content))
    pieces = [
        escape(one) if one.isprintable() or one in _KEPT else f'<span class="odd">{_escape_of(one)}</span>'
        for one in content
    ]
    return Markup("".join(pieces).encode("ascii", "xmlcharrefreplace").decode())


def plain(content: str) -> str:
    """A text in which no character is left that does not print: for attributes and titles."""
    if content.isprintable():
        return content
    return "".join(one if one.isprintable() or one in _KEPT else _escape_of(one) for one in content)


def joined(*parts: str) -> Markup:
    """Parts one after the other; those that are no markup are escaped."""
    return Markup("".join([part if isinstance(part, Markup) else text(part) for part in parts]))


def element(tag: str, /, *content: str, **attributes: Attribute) -> Markup:
    """An element. Attributes are named as Python can (`class_`, `data_rule`); with None or False they are left out."""
    return Markup(f"<{tag}{_written(attributes)}>{joined(*content)}</{tag}>")


def void(tag: str, /, **attributes: Attribute) -> Markup:
    """An element that has no content."""
    return Markup(f"<{tag}{_written(attributes)}>")


def prose(content: str) -> Markup:
    """A sentence, with what stands between backquotes as code and addresses as links."""
    parts = content.split("`")
    if len(parts) % 2 == 0:
        return _linked(content)
    pairs = zip_longest(parts[::2], parts[1::2], fillvalue="")
    return joined(*(joined(_linked(said), element("code", code) if code else NOTHING) for said, code in pairs))


def path(content: str) -> Markup:
    """A path, which may be broken into lines behind its slashes."""
    return Markup("/<wbr>".join([text(part) for part in content.split("/")]))


def link(content: str, address: str) -> Markup:
    """A link to a page, which is not told where it was followed from."""
    return element("a", content, href=address, rel="noopener noreferrer")


def _linked(content: str) -> Markup:
    addresses = _ADDRESS.findall(content)
    pairs = zip_longest(_ADDRESS.split(content), addresses, fillvalue="")
    return joined(*(joined(said, link(address, address) if address else NOTHING) for said, address in pairs))


def _written(attributes: dict[str, Attribute]) -> str:
    return "".join(_attribute(name, value) for name, value in attributes.items() if value is not None)


def _attribute(key: str, value: str | int) -> str:
    name = key.rstrip("_").replace("_", "-")
    if isinstance(value, bool):
        return f" {name}" if value else ""
    written = escape(plain(str(value))).encode("ascii", "xmlcharrefreplace").decode()
    return f' {name}="{written}"'


def _escape_of(character: str) -> str:
    """As Python would write it in a string."""
    return character.encode("unicode_escape", "backslashreplace").decode("ascii")
