"""What torch says where a rule has a finding: the section of its page."""

from __future__ import annotations

import re

from nonstrict.rules.registry import RULES

#: The section of a rule's page, which has a fence for each text. `{...}` stands for what torch puts in.
SECTION = "What torch says"
_FENCE = re.compile(r"^```text\n(.*?)\n```$", re.MULTILINE | re.DOTALL)
_BREAK = re.compile(r"\[(GB\d{4})\](?!:)")


def section(code: str) -> str:
    """The section of a rule."""
    _, _, rest = RULES[code].documentation.partition(f"\n## {SECTION}\n")
    return rest.partition("\n## ")[0].strip()


def torch_texts(code: str) -> tuple[str, ...]:
    """The texts of torch by which a rule is known; none where torch says nothing, or the same of other things."""
    return tuple(_FENCE.findall(section(code)))


def breaks_named(code: str) -> tuple[str, ...]:
    """The ids of the graph breaks as which torch reports what a rule finds."""
    return tuple(dict.fromkeys(_BREAK.findall(section(code))))


def advice(code: str) -> str:
    """What to do where torch says one of the texts of a rule; "" if it has none."""
    return " ".join(_FENCE.sub("", section(code)).split()) if torch_texts(code) else ""
