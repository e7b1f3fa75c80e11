"""Writes `docs/graph-breaks.md`: the measured table for readers."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from graph_breaks.wording import Reason, Told, reasons
from graph_breaks.writing import python_version

if TYPE_CHECKING:
    from collections.abc import Iterable

    from graph_breaks.measuring import Verdict
    from graph_breaks.reading import Construct

HEAD = """\
<!-- Written by `make graph-breaks`; do not edit. -->
# Graph breaks, measured

This page lists which constructs `torch.compile(fullgraph=True)` refuses, measured on **torch {torch}** and Python
{python}. Search it for a function, a statement, or an id such as GB0059.
[NST701](rules/graph-break.md) uses this table.

| result | constructs |
|---|---|
| break the graph | {breaks} |
| traced | {traced} |
| not known: eager code fails on them here too, or they need a GPU or a process group | {unknown} |
| all | {total} |

Each construct was compiled alone with `backend="eager"`, in a process of its own. Those marked † would do harm, so the
answer is from Dynamo's own list of functions. `make graph-breaks` measures the table again with the installed torch.

**Limits.** A construct that is *traced* may still be a mistake: its value may be frozen into the graph.
"""

SECTIONS = (
    ("stmt", "Statements and expressions"),
    ("disabled-call", "Functions that must not be compiled"),
    ("with", "Context managers"),
    ("arg", "Calls whose arguments decide"),
    ("method", "Methods"),
    ("call", "Calls"),
)


def page_text(verdicts: list[Verdict], constructs: list[Construct], torch_version: str) -> str:
    """The whole page."""
    table, told = reasons(verdicts)
    counts = {state: sum(verdict.breaks is state for verdict in verdicts) for state in (True, False, None)}
    head = HEAD.format(
        torch=torch_version,
        python=python_version(),
        total=len(verdicts),
        breaks=counts[True],
        traced=counts[False],
        unknown=counts[None],
    )
    by_key = {verdict.key: verdict for verdict in verdicts}
    written = [construct for construct in constructs if not construct.swept and construct.key in by_key]
    parts = [head]
    for kind, title in SECTIONS:
        chosen = [construct for construct in written if construct.key.partition(":")[0] == kind]
        if chosen:
            parts += [f"## {title}\n", _table(chosen, by_key, table, told)]
    names = [verdict for verdict in verdicts if verdict.key not in {construct.key for construct in written}]
    parts += ["## Every other function, class and method\n", SWEPT, _names(names, table, told)]
    parts += ["## Reasons, as torch reports them\n", _sentences(table)]
    return "\n".join(parts)


SWEPT = """\
Called with arguments that eager code accepts. Only names with a known result are listed.
"""


def _table(
    constructs: Iterable[Construct], by_key: dict[str, Verdict], table: dict[str, Reason], told: dict[str, Told]
) -> str:
    lines = ["| construct | Python | breaks | id |", "|---|---|---|---|"]
    for construct in constructs:
        verdict = by_key[construct.key]
        code = construct.ways[0].replace("\n", " ⏎ ").replace("|", "\\|")
        answer = {True: "**yes**", False: "no", None: "?"}[verdict.breaks]
        lines.append(f"| `{construct.key}` | `{code}` | {answer} | {_link(construct.key, table, told)} |")
    return "\n".join(lines) + "\n"


def _link(key: str, table: dict[str, Reason], told: dict[str, Told]) -> str:
    if key not in told:
        return ""
    reason = table[told[key].label]
    return f"[{reason.id}]" if reason.id else reason.type


def _names(verdicts: list[Verdict], table: dict[str, Reason], told: dict[str, Told]) -> str:
    """One row for each module or receiver: what breaks, by id, and what is traced."""
    owners: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for verdict in verdicts:
        kind, _, name = verdict.key.partition(":")
        owner, _, member = name.rpartition(".")
        if verdict.breaks is not None:
            mark = "†" if verdict.origin == "trace-rules" else ""
            owners[f"{owner} ({kind})"][_link(verdict.key, table, told)].append(f"{member}{mark}")
    lines: list[str] = []
    for owner, answers in sorted(owners.items()):
        lines.append(f"**{owner.partition(' ')[0]}** {owner.partition(' ')[2].replace('call', 'calls').strip('()')}\n")
        for link, members in sorted(answers.items(), key=lambda item: (not item[0], item[0])):
            lines.append(f"- {'breaks, ' + link if link else 'traced'}: {' '.join(f'`{name}`' for name in members)}")
        lines.append("")
    return "\n".join(lines)


def _sentences(table: dict[str, Reason]) -> str:
    lines = ["| id | type | explanation |", "|---|---|---|"]
    for label in sorted(table):
        reason = table[label]
        name = f"[{reason.id}]" if reason.id else ""
        cells = (name, reason.type, re.sub(r"`?\{\d+\}`?", "...", reason.explanation))
        lines.append("| " + " | ".join(cell.replace("|", "\\|").replace("<", "&lt;") for cell in cells) + " |")
    links = (f"[{reason.id}]: {reason.url}" for _, reason in sorted(table.items()) if reason.id)
    return "\n".join([*dict.fromkeys(lines), "", *dict.fromkeys(links)]) + "\n"
