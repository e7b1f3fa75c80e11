"""Writes `docs/recompilation.md`: the measured table for readers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from guards import changes, grammar, states

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

HEAD = """\
<!-- Written by `make guards`; do not edit. -->
# Recompilations, measured

This page lists which changes of a value make `torch.compile` recompile a region, measured on **torch {torch}**
and Python {python}. [NST803](rules/recompile-limit.md) and [NST804](rules/recompilation.md) use these tables.

A compiled region checks *guards* in every call. If a value differs from the one that it was compiled for, a guard
fails and torch recompiles the region. After {limit} times (`torch._dynamo.config.recompile_limit`) torch gives up: the
region falls back to eager forever, or raises with `fullgraph=True`.

There are {count} programs, each run with {values} values. A cell is the number of compilations for these values:

| cell | meaning |
|---|---|
| **{limit}, then eager** | the last call no longer ran compiled code |
| **1, then eager** | torch gave the region up at the second value |
| **not compiled** | no call ran compiled code |

`make guards` measures the tables again with the installed torch. This is one of the programs
(`attribute of the module/int/arithmetic`):

```python
{example}```

"""
_EXAMPLE = "attribute of the module/int/arithmetic"
SECTIONS = (
    (
        "Whole numbers",
        ("int", "int from 0"),
        "The values of `int from 0` include 0 and 1, for which torch always compiles.",
    ),
    ("Other plain values", ("float", "bool", "str", "enum", "None or float"), ""),
    ("Tensors", tuple(states.TENSORS), "The kind is the property that differs between the tensors."),
    ("Several types", tuple(states.TYPES), "The kind is the type of the values."),
    ("Containers", tuple(states.CONTAINERS), "The kind is the property that differs between them."),
    (
        "Values that the region itself changes",
        tuple(changes.CHANGES),
        "Each call starts with the value that the previous call left.",
    ),
    ("Objects and functions", tuple(states.OBJECTS), "Each call receives another object."),
)


def page_text(table: dict[str, Any]) -> str:
    """The whole page, of what the data file holds."""
    rows: dict[str, list[Any]] = table["rows"]
    example = next(row.text for row in grammar.rows() if row.key == _EXAMPLE and not row.options)
    count = sum(len(table["ways"]) + len(row[len(table["ways"]) + 1 :]) for row in rows.values())
    head = HEAD.format(
        **{name: table[name] for name in ("torch", "python", "limit", "values")}, count=count, example=example
    )
    parts = [head]
    for title, kinds, told in SECTIONS:
        parts.append(f"## {title}\n\n{told}\n\n".replace("\n\n\n\n", "\n\n"))
        parts += (_of_kind(kind, rows) for kind in kinds)
    parts.append("## State of torch, and of a module\n\n" + _lines(("state", "compilations"), _states(rows)))
    parts.append(
        OPTIONS
        + _lines(("value", *("default" if not way else f"`{way}`" for way in table["ways"]), "also"), _options(rows))
    )
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)


OPTIONS = """## Effect of options

The number of compilations by default, and with options of `torch.compile` and `torch._dynamo.config` where it differs.

"""


def _of_kind(kind: str, rows: dict[str, list[Any]]) -> str:
    found = {key: row for key, row in rows.items() if key.split("/")[1] == kind}
    uses = list(dict.fromkeys(use for use in _uses() if any(key.endswith(f"/{use}") for key in found)))
    sources = [source for source in grammar.SOURCES if any(key.startswith(f"{source}/") for key in found)]
    alike: dict[tuple[str, ...], list[str]] = {}
    for source in sources:
        cells = tuple(_cell(found.get(f"{source}/{kind}/{use}")) for use in uses)
        alike.setdefault(cells, []).append(source)
    lines = ([", ".join(several), *cells] for cells, several in alike.items())
    return f"### {kind}\n\n" + _lines(("value from", *uses), lines)


def _uses() -> Iterator[str]:
    yield from grammar.USES
    yield from states.USES
    yield changes.USE


def _states(rows: dict[str, list[Any]]) -> Iterator[list[str]]:
    for state in states.STATES:
        yield [state, _cell(rows[f"{state}//"])]


def _options(rows: dict[str, list[Any]]) -> Iterator[list[str]]:
    for key, (_, plain, dynamic, static, *others) in rows.items():
        source, kind, use = key.split("/")
        if use in ("arithmetic", "branch") and source in ("argument", "attribute of the module", "global"):
            config = "; ".join(f"`{name}`: {_shown(result)}" for name, result in (others[0] if others else {}).items())
            if len({plain, dynamic, static}) > 1 or config:
                yield [f"{source}, {kind}, {use}", _shown(plain), _shown(dynamic), _shown(static), config]


def _cell(row: list[Any] | None) -> str:
    return _shown(row[1]) if row is not None else ""


def _shown(result: str) -> str:
    if not result.removesuffix("!").isdecimal():
        return f"`{result}`"
    if not result.endswith("!"):
        return result
    count = result.removesuffix("!")
    return "**not compiled**" if count == "0" else f"**{count}, then eager**"


def _lines(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = [*head]
    cells = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in cells) + "\n"
