"""What torch says that is no graph break, and no rule's alone: read from `topics.md`."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

_SECTION = re.compile(r"^## (?P<id>[a-z-]+): (?P<title>.+)$", re.MULTILINE)
_FENCE = re.compile(r"^```(?P<kind>text|guard)\n(?P<text>.*?)\n```$", re.MULTILINE | re.DOTALL)
_RULE = re.compile(r"NST\d{3}")
_ID = re.compile(r"GB\d{4}")


class Topic(NamedTuple):
    """A section of `topics.md`: its texts, those of guards that failed, what they mean, what to do, and what to see.

    `rules` and `breaks` are codes and ids, `links` the addresses and pages of this documentation. One that is `vague`
    is left out where a message tells more.
    """

    id: str
    title: str
    texts: tuple[str, ...]
    guards: tuple[str, ...]
    meaning: str
    way: str
    rules: tuple[str, ...]
    breaks: tuple[str, ...]
    links: tuple[str, ...]
    vague: bool


@cache
def topics() -> dict[str, Topic]:
    """All of them by id, in the order of the page."""
    page = Path(__file__).with_name("topics.md").read_text(encoding="utf-8")
    heads = list(_SECTION.finditer(page))
    ends = [head.start() for head in heads[1:]] + [len(page)]
    return {
        head["id"]: _topic(head["id"], head["title"], page[head.end() : end])
        for head, end in zip(heads, ends, strict=True)
    }


def is_vague(name: str) -> bool:
    """Whether a page is a topic that is left out where a message tells more."""
    return name in topics() and topics()[name].vague


def _topic(name: str, title: str, section: str) -> Topic:
    fences = [(found["kind"], found["text"]) for found in _FENCE.finditer(section)]
    paragraphs = [" ".join(one.split()) for one in _FENCE.sub("", section).split("\n\n") if one.strip()]
    told = {"Do": "", "See": "", "Unless": ""}
    meaning: list[str] = []
    for one in paragraphs:
        word, _, rest = one.partition(": ")
        if word in told:
            told[word] = rest
        else:
            meaning.append(one)
    seen = [one for one in told["See"].split(", ") if one]
    return Topic(
        name,
        title,
        tuple(text for kind, text in fences if kind == "text"),
        tuple(text for kind, text in fences if kind == "guard"),
        " ".join(meaning),
        told["Do"],
        tuple(one for one in seen if _RULE.fullmatch(one)),
        tuple(one for one in seen if _ID.fullmatch(one)),
        tuple(one for one in seen if not _RULE.fullmatch(one) and not _ID.fullmatch(one)),
        bool(told["Unless"]),
    )
