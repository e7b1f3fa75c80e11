"""What torch may say of each kind of graph break, by its own list: every answer comes from `data/break_texts.json`.

`scripts/generate_break_texts.py` makes this file of the registry in the installed torch. It also has ids that no
construct of the measured table breaks with. `{...}` stands for what torch puts into a text when it raises it.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from nonstrict.knowledge.releases import measured, table
from nonstrict.knowledge.store import data_file

_FILE = "break_texts.json"
_SITE = "https://meta-pytorch.github.io/compile-graph-break-site/gb/"


class BreakText(NamedTuple):
    """What torch says of the breaks of one id.

    `title` is their name, and `before` are the names that other releases gave them. `explanations` are sentences, the
    newest first; none where the text is only made when it is raised. `hints` are torch's advice.
    """

    id: str
    title: str
    before: tuple[str, ...]
    explanations: tuple[str, ...]
    hints: tuple[str, ...]

    @property
    def url(self) -> str:
        """Torch's own page."""
        return f"{_SITE}{self.id.lower()}.html"


@cache
def break_texts() -> dict[str, BreakText]:
    """All of them by id, sorted: of torch's list, and of tables that were measured with other releases."""
    known: dict[str, Any] = data_file(_FILE)["breaks"]
    found = {
        name: BreakText(name, told["title"], *(tuple(told[part]) for part in ("before", "explanations", "hints")))
        for name, told in known.items()
    }
    for name, title, explanation, hints, _ in _measured():
        if name:
            found.setdefault(name, BreakText(name, title, (), (placed(explanation),), tuple(map(placed, hints))))
    return dict(sorted(found.items()))


def version() -> str:
    """The version of torch whose list this is."""
    return data_file(_FILE)["torch"]


def written(key: str) -> str:
    """A construct of the measured table as Python, for those that are no plain name; "" for others."""
    return data_file(_FILE)["written"].get(key, "")


def placed(text: str) -> str:
    """A text of the measured table with `{...}` in its places.

    >>> placed("Dynamo does not know how to trace the builtin {0}.")
    'Dynamo does not know how to trace the builtin {...}.'
    """
    for number in range(text.count("{")):
        text = text.replace(f"{{{number}}}", "{...}")
    return text


def _measured() -> list[Any]:
    names = ("graph_breaks", "graph_breaks_in_pieces")
    return [
        reason
        for name in names
        for release in reversed(measured(name))
        for reason in table(name, release)["reasons"].values()
    ]
