"""The compile budget: what is known of regions against what they may have, as text and as JSON."""

from __future__ import annotations

import os
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.report.github import command
from nonstrict.report.sightings import ago
from nonstrict.report.style import one_line
from nonstrict.report.summary import plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from nonstrict.report.record_types import BudgetRecord, KnownRecord

_NOUNS = {"graphs": "graph", "recompilations": "recompilation"}
_WORDS = {"exceeded": "exceeded", "not-compiled": "not compiled", "fell": "fell", "not-known": "not known"}


class Known(NamedTuple):
    """At least and at most so many; `when` it was measured, in seconds since 1970, 0 if it is foretold."""

    least: int
    most: int
    when: float = 0.0

    @property
    def is_measured(self) -> bool:
        """Whether a run or an experiment showed it."""
        return self.when > 0


class Held(NamedTuple):
    """A number of a region, by the absolute path and name of its function, what is known of it, and what is allowed.

    `key` is the entry that says so, which is for this region alone if it `is_own`.
    """

    path: str
    line: int
    function: str
    number: str
    known: Known | None
    allowed: int
    key: str
    is_own: bool = True

    @property
    def is_lost(self) -> bool:
        """Whether nothing is compiled of a region that may have graphs."""
        return self.number == "graphs" and self.known is not None and not self.known.most and self.allowed > 0

    @property
    def exceeds(self) -> bool:
        """Whether there are more, as far as is known; no graph at all is more than was meant, not less."""
        return self.is_lost or (self.known is not None and self.known.least > self.allowed)

    @property
    def fell(self) -> bool:
        """Whether a measurement shows fewer, of a region that has an entry of its own."""
        return self.is_own and self.known is not None and self.known.is_measured and self.known.most < self.allowed

    def fails(self, *, locked: bool) -> bool:
        """Whether a run fails for it; `locked` has the budget say what is measured."""
        return self.exceeds or (locked and self.fell)

    @property
    def state(self) -> str:
        """What is to be said of it, in a word."""
        if self.known is None:
            return "not-known"
        if self.exceeds:
            return "not-compiled" if self.is_lost else "exceeded"
        return "fell" if self.fell else "kept"


class Balance(NamedTuple):
    """All of a budget: the numbers it limits, entries of which no region is known, and how many regions have none.

    So many `entries` would be changed or added if what is known were written down. Those that `moved`, by their keys,
    are about a region whose file was moved, and stand here with the key that they should have.
    """

    held: Sequence[Held]
    idle: Sequence[str] = ()
    unlimited: int = 0
    entries: int = 0
    moved: Mapping[str, str] = MappingProxyType({})


def text_of(
    balance: Balance, now: float, *, locked: bool, confirmed: bool = False, repository: str | None = None
) -> str:
    """The budget for people; `confirmed` where experiments measured, which are to be made again to be written down.

    With a `repository` (absolute, or "" where there is none), what fails is told as annotations of GitHub.
    """
    lines = [
        line_of(one, now) if repository is None or not one.fails(locked=locked) else _annotation(one, now, repository)
        for one in balance.held
    ]
    lines += [f"{key}: its file was moved, and it counts for `{now_at}`" for key, now_at in balance.moved.items()]
    lines += [f"{key}: no compiled region of that name is known" for key in balance.idle]
    return "".join(f"{one_line(line)}\n" for line in (*lines, *_counts(balance, locked=locked, confirmed=confirmed)))


def _annotation(one: Held, now: float, repository: str) -> str:
    inside = os.path.relpath(os.path.realpath(one.path), repository) if repository else _shown(one.path)
    path = inside.replace(os.sep, "/")
    properties = {"title": "nonstrict (budget)", "file": path, "line": one.line}
    return command("error", properties, f"{path}:{one.line}: {_said(one, now)}")


def line_of(one: Held, now: float) -> str:
    """What is known of a number, and what is allowed."""
    return f"{_shown(one.path)}:{one.line}: {_said(one, now)}"


def _said(one: Held, now: float) -> str:
    head = f"`{one.function}`: {told(one, now)}, budget {one.allowed}"
    end = {
        "exceeded": f": exceeded (`{one.key}`)",
        "not-compiled": f": nothing is compiled (`{one.key}`)",
        "fell": f": fell (`{one.key}`)",
        "kept": "",
        "not-known": "",
    }
    return head + end[one.state]


def told(one: Held, now: float) -> str:
    """What is known of a number, and from where."""
    if one.known is None:
        return f"{one.number} not known"
    least, most, when = one.known
    how = f"measured {ago(when, now)}" if one.known.is_measured else "predicted"
    many = plural(most, _NOUNS[one.number]) if least == most else f"{least} to {plural(most, _NOUNS[one.number])}"
    return f"{many} ({how})"


def _counts(balance: Balance, *, locked: bool, confirmed: bool) -> Iterator[str]:
    regions = {(one.path, one.function) for one in balance.held}
    counts = [
        f"{number} {word}"
        for state, word in _WORDS.items()
        if (number := sum(one.state == state for one in balance.held))
    ]
    if not regions and not balance.unlimited:
        yield "No compiled region is known."
        return
    if balance.held:
        numbers = f"{plural(len(balance.held), 'number')} of {plural(len(regions), 'region')}"
        aside = f"; {plural(balance.unlimited, 'region')} without a budget" if balance.unlimited else ""
        yield f"{numbers} in the budget: {', '.join(counts) or 'all kept'}{aside}."
    else:
        yield f"No budget yet: {plural(balance.unlimited, 'region')}."
    if balance.entries:
        must = " (--locked: it has to say what is known)" if locked and any(one.fell for one in balance.held) else ""
        entries = "1 entry" if balance.entries == 1 else f"{balance.entries} entries"
        options = "--confirm --write" if confirmed else "--write"
        yield f"`nonstrict budget {options}` writes {entries} of what is known{must}."


def record_of(balance: Balance) -> BudgetRecord:
    """The budget as a JSON object."""
    return {
        "regions": [
            {
                "filename": one.path,
                "row": one.line,
                "function": one.function,
                "number": one.number,
                "allowed": one.allowed,
                "entry": one.key,
                "known": _known(one.known),
                "state": one.state,
            }
            for one in balance.held
        ],
        "idle": list(balance.idle),
        "without_budget": balance.unlimited,
    }


def _known(known: Known | None) -> KnownRecord | None:
    if known is None:
        return None
    source, when = ("measured", known.when) if known.is_measured else ("predicted", None)
    return {"least": known.least, "most": known.most, "source": source, "when": when}


def _shown(path: str) -> str:
    relative = os.path.relpath(path)
    return path if relative.startswith(os.pardir) else relative
