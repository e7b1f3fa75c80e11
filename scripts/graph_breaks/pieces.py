"""Decides for each construct what it costs where the graph may break: `torch.compile` without `fullgraph=True`.

Scalars and sizes that follow from data are captured with `fullgraph=True` only (torch 2.13, `output_graph.py`:
`allow_scalar_outputs=one_graph or ...`), so that more breaks here. What decides on such a number does not: it is plain
by then.
"""

from __future__ import annotations

import ast
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from journal import resumed

from graph_breaks import trying
from graph_breaks.measuring import Verdict, in_processes
from graph_breaks.wording import reasons
from graph_breaks.writing import answer, entry_of, lines, python_version

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from graph_breaks.reading import Construct

_CALLS = ("call:", "method:", "arg:")
#: Functions that know nothing of torch's tensors break alike with and without `fullgraph=True`.
_SWEPT = ("call:torch.", "method:Tensor.", "method:Parameter.")


class Cost(NamedTuple):
    """What a construct does where the graph may break, and whether the whole function then runs without one.

    A context manager is `restored` if a function resumes in its block after a break.
    """

    verdict: Verdict
    falls_back: bool
    restored: bool = False


def measured_in_pieces(
    constructs: list[Construct], processes: int | None = None, journal: Path | None = None
) -> list[Cost]:
    """What the constructs cost, sorted by key; only those that may be tried, and may make a difference."""

    def measure(left: list[Construct]) -> Iterator[Cost]:
        return in_processes(_cost, left, processes)

    def read(told: list[Any]) -> Cost:
        return Cost(Verdict(*told[0]), *told[1:])

    concerned = [one for one in constructs if not one.harmful and (not one.swept or one.key.startswith(_SWEPT))]
    costs = resumed(concerned, lambda construct: construct.key, measure, read, journal)
    return sorted(costs, key=lambda cost: cost.verdict.key)


def _cost(construct: Construct) -> Cost:
    cost = _cost_of_ways(construct)
    entered = construct.key.startswith("with:") and cost.verdict.breaks is False
    return cost._replace(restored=entered and any(map(_is_restored, construct.ways)))


def _is_restored(code: str) -> bool:
    """Whether something of a function is compiled in which the graph breaks in the block of a `with` statement."""
    tree = ast.parse(code)
    block = next((node for node in ast.walk(tree) if isinstance(node, ast.With)), None)
    if block is None:
        return False
    block.body.insert(0, ast.parse("print()").body[0])
    outcome = trying.tried(ast.unparse(tree), compiled=True, in_pieces=True)
    return outcome.state == "broke" and not outcome.falls_back


def _cost_of_ways(construct: Construct) -> Cost:
    """Tries the ways to write a construct until one is traced whole."""
    ways = trying.accepted(construct.ways) if construct.swept else construct.ways
    refusals: list[trying.Outcome] = []
    for code in ways:
        outcome = trying.tried(code, compiled=True, in_pieces=True)
        if outcome.state == "ok":
            return Cost(Verdict(construct.key, breaks=False), falls_back=False)
        if outcome.state == "broke":
            refusals.append(outcome)
    if not refusals:
        return Cost(Verdict(construct.key, breaks=None), falls_back=False)
    first = refusals[0]
    verdict = Verdict(construct.key, breaks=True, type=first.type, message=first.message)
    return Cost(verdict, falls_back=all(one.falls_back for one in refusals))


def pieces_text(costs: list[Cost], constructs: list[Construct], base: dict[str, Any], torch_version: str) -> str:
    """The data file: what the table with `fullgraph=True` does not say.

    An entry is as there, and `""` also where the construct holds another one that breaks: it makes a plain number of
    what is decided or computed with then. `falls_back` are constructs after which nothing of the function is compiled,
    `restored` the context managers in whose blocks a function resumes after a break.
    """
    table, told = reasons(cost.verdict for cost in costs)
    entries = {cost.verdict.key: entry_of(cost.verdict, told) for cost in costs}
    silent = {cost.verdict.key for cost in costs if cost.verdict.breaks and not cost.verdict.type}
    reported = {"reasons": {label: [one.id or None, one.type] for label, one in table.items()}}

    def differs(key: str) -> bool:
        # Where torch skips a function without a word, it says why with `fullgraph=True`.
        known = entries[key] is not None and key not in silent
        return known and answer(reported, entries[key]) != answer(base, base["entries"].get(key))

    code = {construct.key: _names(construct.ways[0]) - {_own_name(construct.key)} for construct in constructs}
    differing = {key for key in entries if differs(key) and base["entries"].get(key) is not None}
    only_here = {key for key in differing if not base["entries"][key]}
    making = _making({key: code[key] for key in only_here if key.startswith(_CALLS) and not _takes_number(key)})
    made = {key for key in differing if not making.isdisjoint(code[key])}
    changed = {key: "" if key in made else entries[key] for key in differing}
    used = {label for entry in changed.values() if (label := entry[0] if isinstance(entry, list) else entry)}
    rows = {label: [r.id or None, r.type, r.explanation, r.hints, r.url] for label, r in table.items() if label in used}
    falling = [cost.verdict.key for cost in costs if cost.falls_back and base["entries"].get(cost.verdict.key)]
    parts = {
        "torch": json.dumps(torch_version),
        "python": json.dumps(python_version()),
        "base": json.dumps(base["torch"]),
        "reasons": lines(rows),
        "entries": lines(changed),
        "falls_back": json.dumps(falling),
        "restored": json.dumps([cost.verdict.key for cost in costs if cost.restored]),
    }
    return "{\n" + ",\n".join(f'"{name}": {part}' for name, part in parts.items()) + "\n}\n"


def _making(code: dict[str, set[str]]) -> set[str]:
    """The names of the calls that break by themselves, of those that break here; `code` are the other names in each."""
    names = {key: _own_name(key) for key in code}
    return {names[key] for key, others in code.items() if others.isdisjoint(names.values())}


def _takes_number(key: str) -> bool:
    """Whether a function of torch takes a number out of the tensor that it is given: `torch.zeros(count)`."""
    return key.startswith("arg:torch.") and key.endswith(":tensor")


def _own_name(key: str) -> str:
    """What a key calls: `item` of `method:Tensor.item:int`."""
    return key.partition(":")[2].partition(":")[0].rpartition(".")[2] if key.startswith(_CALLS) else ""


def _names(code: str) -> set[str]:
    """The names that a construct calls, reads or takes as attributes."""
    found = set[str]()
    for node in ast.walk(ast.parse(code)):
        found |= {node.id} if isinstance(node, ast.Name) else {node.attr} if isinstance(node, ast.Attribute) else set()
    return found
