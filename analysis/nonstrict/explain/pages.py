"""The page of a graph break by torch's id, as Markdown: what torch says, what it means here, and what to do."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.explain.rule_texts import breaks_named, torch_texts
from nonstrict.knowledge.break_texts import break_texts, placed, version, written
from nonstrict.knowledge.graph_breaks import constructs_by_reason
from nonstrict.knowledge.releases import BASE, tables
from nonstrict.rules.base import DOCUMENTATION_URL
from nonstrict.rules.break_reasons import reason_of
from nonstrict.rules.registry import RULES
from nonstrict.rules.ways_out import way_out

if TYPE_CHECKING:
    from collections.abc import Iterator

#: So many constructs are named of each way out.
_NAMED = 12
_TABLE = f"{DOCUMENTATION_URL}graph-breaks.md"
#: What a page says where torch puts a name or a value into its text.
PLACE = "{...}"


class BreakPage(NamedTuple):
    """What is known of the breaks of one id.

    `explanations` are torch's, `{...}` where it puts something in. `ways` are the ways out, each with the constructs
    that it is for, as code; none where no construct was measured. `rules` are the codes of those that report it.
    """

    id: str
    title: str
    explanations: tuple[str, ...]
    hints: tuple[str, ...]
    meaning: str
    way: str
    ways: tuple[tuple[str, tuple[str, ...]], ...]
    rules: tuple[str, ...]
    url: str


def break_ids() -> tuple[str, ...]:
    """The ids of all graph breaks that torch knows, sorted."""
    return tuple(break_texts())


@cache
def page_of(identifier: str) -> BreakPage:
    """What is known of an id.

    Raises:
        KeyError: torch has no such id.
    """
    text = break_texts()[identifier]
    reason = reason_of(identifier)
    keys = constructs_by_reason().get(identifier, ())
    return BreakPage(
        identifier,
        text.title,
        explanations(identifier),
        text.hints,
        reason.meaning,
        reason.way,
        tuple(_ways(keys, reason.way)),
        tuple(_rules(identifier, reported=bool(keys))),
        text.url,
    )


def break_page(identifier: str) -> str:
    """The page of an id: `break_page("GB0059")`.

    Raises:
        KeyError: torch has no such id.
    """
    page = page_of(identifier)
    return "\n\n".join([f"# {identifier}: {page.title}", *_torch(page), *_ours(page)]) + "\n"


def explanations(identifier: str) -> tuple[str, ...]:
    """What torch says of the breaks of an id, by its list and as measured; `{...}` where it puts something in.

    Raises:
        KeyError: torch has no such id.
    """
    told = break_texts()[identifier].explanations
    measured = (text for text in _measured().get(identifier, ()) if not any(_holds(long, text) for long in told))
    return tuple(dict.fromkeys((*told, *measured)))


def sentence(clause: str) -> str:
    """A clause as a sentence.

    >>> sentence("log outside the region")
    'Log outside the region.'
    """
    return f"{clause[:1].upper()}{clause[1:].removesuffix('.')}." if clause else ""


def _torch(page: BreakPage) -> Iterator[str]:
    yield "## What torch says"
    lines = [page.title, *(f"  Explanation: {text}" for text in page.explanations[:1])]
    lines += [f"  Hint: {text}" for text in page.hints]
    yield "```text\n" + "\n".join(lines) + "\n```"
    if page.explanations[1:]:
        yield "Or, for other code:"
        yield "```text\n" + "\n".join(f"  Explanation: {text}" for text in page.explanations[1:]) + "\n```"
    if any(PLACE in line for line in (*lines, *page.explanations)):
        yield f"`{PLACE}` is what torch puts in for your code. The texts are those of torch {version()}."


def _ours(page: BreakPage) -> Iterator[str]:
    yield "## What it means"
    yield page.meaning
    yield (
        "With `fullgraph=True` it is an error (`torch._dynamo.exc.Unsupported`). Otherwise torch breaks the graph "
        "there. The result is the same, and the code runs slower."
    )
    yield "## What to do"
    yield sentence(page.way)
    if page.ways:
        yield "## What breaks with it"
        yield f"As [measured]({_TABLE}) on torch {version()}:"
        yield "\n".join(_rows(page))
    yield "## References"
    links = [f"- [{code} ({RULES[code].name})]({RULES[code].url})" for code in page.rules]
    yield "\n".join([*links, f"- [{page.id} in torch's list]({page.url})"])


def _rows(page: BreakPage) -> Iterator[str]:
    for way, names in page.ways:
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        shown = ", ".join(f"``{name}``" if "`" in name else f"`{name}`" for name in names[:_NAMED])
        yield f"- {shown}{more}: {way}"


@cache
def _measured() -> dict[str, list[str]]:
    """The explanations that torch gave of constructs."""
    found: dict[str, list[str]] = {}
    for one in tables("graph_breaks", BASE):
        for identifier, _, explanation, *_ in one["reasons"].values():
            if identifier and explanation:
                found.setdefault(identifier, []).append(placed(explanation))
    return found


def _holds(long: str, text: str) -> bool:
    """Whether a text says no more than a longer one."""
    return long.replace("`", "").startswith(text.replace("`", "").rstrip("."))


def _ways(keys: tuple[str, ...], general: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The ways out with the constructs they are for: what most are for first."""
    by_way: dict[str, list[str]] = {}
    for key in keys:
        by_way.setdefault(way_out(key) or general, []).append(_shown(key))
    for way, names in sorted(by_way.items(), key=lambda one: -len(one[1])):
        yield way, tuple(dict.fromkeys(names))


def _shown(key: str) -> str:
    """A construct as code: as it was measured, or by its name."""
    if code := written(key):
        return " ⏎ ".join(line.strip() for line in code.splitlines())
    kind, _, name = key.partition(":")
    name = name.partition(":")[0]
    if kind == "with":
        return f"with {name}()"
    return f"{name.removeprefix('builtins.')}()" if name else "a function that is disabled"


def _rules(identifier: str, *, reported: bool) -> Iterator[str]:
    """The rules that report it: those whose pages have torch's text of it, and that of graph breaks where measured."""
    if reported:
        yield "NST701"
    title = break_texts()[identifier].title
    for code in RULES:
        if code != "NST701" and (identifier in breaks_named(code) or title in torch_texts(code)):
            yield code
