"""Everything that a text may be answered with: rules, graph breaks, topics, each as a page with its texts of torch."""

from __future__ import annotations

import enum
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.explain.pages import break_ids, break_page, explanations, page_of, sentence
from nonstrict.explain.rule_texts import SECTION, advice, torch_texts
from nonstrict.explain.templates import PLACE, Template, squeezed_text
from nonstrict.explain.topics import topics
from nonstrict.knowledge.break_texts import break_texts
from nonstrict.rules.base import DOCUMENTATION_URL
from nonstrict.rules.registry import RULES

if TYPE_CHECKING:
    from collections.abc import Iterator

#: An explanation of a break that is shorter says the same of many: "Dynamo does not support this."
_TELLING = 40


class Kind(enum.Enum):
    """What a page is about."""

    RULE = "rule"
    BREAK = "break"
    TOPIC = "topic"


class Page(NamedTuple):
    """A page: what torch means, what to do, and where more of it is.

    `id` is the code of a rule, torch's id of a break, or the name of a topic. `rules` are the codes of rules that
    report such things, `links` further addresses, the page itself first.
    """

    kind: Kind
    id: str
    title: str
    meaning: str
    way: str
    rules: tuple[str, ...]
    links: tuple[str, ...]

    @property
    def command(self) -> str:
        """What shows all of it."""
        return f"nonstrict explain {self.id}"


class Library(NamedTuple):
    """All texts of torch, with the ids of the pages that each belongs to."""

    templates: tuple[Template, ...]
    owners: tuple[tuple[str, ...], ...]


@cache
def page(identifier: str) -> Page:
    """A page by its id.

    Raises:
        KeyError: there is none.
    """
    if identifier in RULES:
        return _of_rule(identifier)
    if identifier in break_texts():
        return _of_break(identifier)
    topic = topics()[identifier]
    links = tuple(one if "://" in one else f"{DOCUMENTATION_URL}{one.removeprefix('docs/')}" for one in topic.links)
    return Page(Kind.TOPIC, identifier, topic.title, topic.meaning, sentence(topic.way), topic.rules, links)


def whole(identifier: str) -> str:
    """All of a page, as Markdown.

    Raises:
        KeyError: there is none.
    """
    if identifier in RULES:
        return RULES[identifier].documentation
    if identifier in break_texts():
        return break_page(identifier)
    told = page(identifier)
    topic = topics()[identifier]
    texts = "\n\n".join(f"```text\n{text}\n```" for text in (*topic.texts, *topic.guards))
    see = [f"- {code} ({RULES[code].name}): {RULES[code].url}" for code in told.rules]
    see += [f"- {name}: {break_texts()[name].url}" for name in topic.breaks]
    see += [f"- {link}" for link in told.links]
    parts = [
        f"# {told.title}",
        f"## {SECTION}",
        texts,
        "## What it means",
        told.meaning,
        "## What to do",
        told.way,
    ]
    return "\n\n".join([*parts, *(["## References", "\n".join(see)] if see else [])]) + "\n"


def identifiers() -> tuple[str, ...]:
    """The ids of all pages."""
    return (*RULES, *break_ids(), *topics())


def named(word: str) -> str | None:
    """The id of the page that a word names: a code, the name of a rule, torch's id of a break, a topic."""
    wanted = word.strip().strip("`'\"[]()").lower()
    for code, rule in RULES.items():
        if wanted in (code.lower(), rule.name):
            return code
    if wanted in topics():
        return wanted
    return wanted.upper() if wanted.upper() in break_texts() else None


@cache
def library() -> Library:
    """The texts of all pages; one that several pages have, but for white space and case, belongs to all of them."""
    texts: dict[str, str] = {}
    owners: dict[str, list[str]] = {}
    for text, owner in _texts():
        key = squeezed_text(text)
        texts.setdefault(key, text)
        owners.setdefault(key, []).append(owner)
    templates = (Template(text, of_break=set(owners[key]) <= break_texts().keys()) for key, text in texts.items())
    return Library(tuple(templates), tuple(map(tuple, owners.values())))


def _texts() -> Iterator[tuple[str, str]]:
    """Each text with the id of its page."""
    for code in RULES:
        yield from ((text, code) for text in torch_texts(code))
    for name, topic in topics().items():
        yield from ((text, name) for text in topic.texts)
    for name, told in break_texts().items():
        telling = (text for text in explanations(name) if len(text.replace(PLACE, "")) >= _TELLING)
        yield from ((text, name) for text in (told.title, *told.before, *telling))


def _of_rule(code: str) -> Page:
    rule = RULES[code]
    return Page(Kind.RULE, code, rule.name, rule.summary, advice(code), (code,), (rule.url,))


def _of_break(identifier: str) -> Page:
    told = page_of(identifier)
    return Page(Kind.BREAK, identifier, told.title, told.meaning, sentence(told.way), told.rules, (told.url,))
