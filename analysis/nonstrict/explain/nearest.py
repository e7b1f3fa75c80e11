"""The pages that are nearest to a text that none fits, by the words they share: a guess, and said to be one.

Names of graph breaks are the words of many programs. Where one stands in the text, its page comes first.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

from nonstrict.explain.library import identifiers, library, page
from nonstrict.knowledge.break_texts import break_texts

if TYPE_CHECKING:
    from collections.abc import Iterable

#: So many pages are named at most.
_MOST = 3
#: Of a longer text only the beginning is compared.
_LONGEST = 20_000
#: What two texts have in common at least: so many words, and so much of what the rarer half of the words weigh.
_LEAST_WORDS, _LEAST = 2, 0.4
_WORD = re.compile(r"[a-z][a-z_]{2,}")
#: Words of all texts of programs.
_EMPTY = frozenset(
    {"the", "and", "for", "not", "with", "this", "that", "torch", "error", "line", "file", "from", "are"}
)


def nearest(text: str) -> list[str]:
    """The ids of the pages nearest to a text, the nearest first; nothing where none is near."""
    text = text[:_LONGEST]
    words, called = _words([text]), _titles(text.lower())
    known, weights = _index()
    unknown = max(weights.values(), default=1.0)
    total = sum(weights.get(word, unknown) for word in words)
    if not total:
        return called
    scores: dict[str, float] = {}
    for name, own in known.items():
        shared = words & own
        if len(shared) >= _LEAST_WORDS:
            scores[name] = sum(weights[word] for word in shared) / total
    best = sorted((name for name, score in scores.items() if score >= _LEAST), key=lambda name: (-scores[name], name))
    return list(dict.fromkeys((*called, *best)))[:_MOST]


def _titles(text: str) -> list[str]:
    """The ids of the breaks whose names stand in a text, the longest first."""
    names = {name: told.title.lower() for name, told in break_texts().items() if told.title.lower() in text}
    whole = (name for name, title in names.items() if re.search(rf"(?<!\w){re.escape(title)}(?!\w)", text))
    return sorted(whole, key=lambda name: (-len(names[name]), name))


def _words(texts: Iterable[str]) -> set[str]:
    return {word for text in texts for word in _WORD.findall(text.lower())} - _EMPTY


@cache
def _index() -> tuple[dict[str, set[str]], dict[str, float]]:
    """The words of each page, and how much each weighs: the rarer, the more."""
    texts: dict[str, list[str]] = {}
    all_texts = library()
    for template, owners in zip(all_texts.templates, all_texts.owners, strict=True):
        for owner in owners:
            texts.setdefault(owner, []).append(template.text)
    for name in identifiers():
        if name not in break_texts():
            texts.setdefault(name, []).append(f"{page(name).title} {page(name).meaning}")
    known = {name: _words(own) for name, own in texts.items()}
    counts = Counter(word for own in known.values() for word in own)
    return known, {word: math.log(1 + len(known) / count) for word, count in counts.items()}
