"""Writes `docs/cuda-graphs.md`: the measured table for readers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cuda_graphs import cases_of_torch
from cuda_graphs.measuring import NOT_MEASURED
from cuda_graphs.programs import CALLS, programs

if TYPE_CHECKING:
    from collections.abc import Iterable

HEAD = """\
<!-- Written by `make cudagraphs`; do not edit. -->
# CUDA graphs, measured

`mode="reduce-overhead"` and `mode="max-autotune"` have torch record what a compiled region launches on the GPU as CUDA
graphs. This page lists what torch {torch} records, what it leaves out, and for what it records another graph.
[NST807](rules/overwritten-output.md) and [NST808](rules/cudagraph-skip.md) use these tables.

{how}

A region is called {calls} times with the same arguments, or with {sizes} values {calls} times each. Columns: how many
CUDA graphs are recorded, why operators are left out of them (if there are others, the graph is split, and these are
captured), and why torch runs a whole graph without.

`make cudagraphs` measures the tables again with the installed torch. This is one of the programs
(`{example}`):

```python
{text}```

"""
_PRETENDED = """\
**Measured without a GPU**: torch's own code decided on tensors of a pretended GPU, up to where code would be launched.
What depends on memory cannot be measured so, and is marked "{not_measured}"."""
_MEASURED = "Measured on {device}."
_EXAMPLE = "changed in place/argument"
_BACKEND = 'backend="cudagraphs"'
_TITLES = {
    "changed in place": (
        "Tensors that are changed in place",
        "Where the tensor lives that the region changes. Inputs are copied unless their address is static.",
    ),
    "on the CPU": ("Tensors on the CPU", "What of a region, or of its arguments, is on the CPU."),
    f"changed in place, {_BACKEND}": (
        f"Tensors that are changed in place, with `{_BACKEND}`",
        "It has no Inductor: a graph is captured as a whole or not at all.",
    ),
    f"on the CPU, {_BACKEND}": (f"Tensors on the CPU, with `{_BACKEND}`", "As above."),
    "varies": (
        "Sizes and numbers that vary",
        "What is not the same in all calls. The first value is recorded twice: torch compiles again for the others.",
    ),
    "operators": ("Operators", "What a region does."),
    f"operators, {_BACKEND}": (f"Operators, with `{_BACKEND}`", "What a region does."),
    "options": ("Options", "How a region is compiled."),
    "results kept": (
        "Results that are kept",
        "What a program does with results while the region runs again; the last column is what they hold then.",
    ),
}


def page_text(table: dict[str, Any]) -> str:
    """The whole page, of what the data file holds."""
    known = {program.key: program for program in programs()}
    how = _MEASURED.format(**table) if table["device"] else _PRETENDED.format(not_measured=NOT_MEASURED)
    text = known[_EXAMPLE].text.replace("DEVICE", '"cuda"')
    parts = [HEAD.format(**table, how=how, calls=CALLS, example=_EXAMPLE, text=text)]
    for group, (title, told) in _TITLES.items():
        rows = [(program.name, table["rows"][key]) for key, program in known.items() if program.group == group]
        kept = group == "results kept"
        head = ("", "recorded", "left out", "skipped", *(["held then"] if kept else []))
        lines = ([name, *_cells(row), *([row[3]] if kept else [])] for name, row in rows)
        parts.append(f"## {title}\n\n{told}\n\n" + _lines(head, lines))
    parts.append(cases_of_torch.page())
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)


def _cells(row: list[Any]) -> list[str]:
    recorded, apart, skipped, outcome, error = row
    if outcome == NOT_MEASURED:
        return [NOT_MEASURED, "", ""]
    return [f"`{error}`" if error else str(recorded), "; ".join(apart), "; ".join(skipped)]


def _lines(head: Iterable[str], rows: Iterable[list[str]]) -> str:
    titles = list(head)
    lines = [titles, ["---"] * len(titles), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
