"""Where the arguments of a marked function may come from: a configured maker, records, a directive, a search.

A directive is a comment on the function, `# nonstrict: inputs(x=torch.randn(2, 3), model=Model())`: the expression is
evaluated among the names of the function's module and `torch`.
"""

from __future__ import annotations

import ast
import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from nonstrict.confirm.drivers import DIRECT, Driver, Source
from nonstrict.confirm.programs import Program, fields_of, kept_for_expression, kept_for_target, program_of
from nonstrict.confirm.recorded import function_hashes, plain_name, recorded_calls
from nonstrict.confirm.slices import slice_for, statements_of
from nonstrict.rules.base import COMPILED
from nonstrict.text.directives import INPUTS_FORM
from nonstrict.text.source import UnreadableSource, read_source
from nonstrict.text.trees import tree_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from nonstrict.confirm.suspects import Suspect

#: Lines around a marker in which a directive is looked for: above its decorators, and down to its first statement.
_ABOVE, _BELOW = 6, 8
_MAX_CALLS = 4
#: Markers whose result takes any arguments.
_HIDING = frozenset({"custom-op"})
_BARE = "nonstrict_bare"


def given_drivers(program: Program, suspect: Suspect) -> Iterator[Driver]:
    """The drivers for which someone gave arguments: a function named in the settings, recorded calls, a directive."""
    name = callable_name(suspect)
    if not name:
        return
    maker = program.makers.get(name)
    if maker:
        yield _driver(suspect, kept_for_target(program, suspect), json.dumps([{"maker": maker}]), Source.SETTINGS)
    source = function_hashes(program.text).get(plain_name(name), "")
    calls = [call.spec for call in recorded_calls(program.root, program.path, name, source) if not call.stale]
    if calls:
        yield _driver(suspect, kept_for_target(program, suspect), json.dumps(calls[:_MAX_CALLS]), Source.RECORDS)
    stated = directive(program.text, suspect.marked_line)
    if stated:
        kept = kept_for_target(program, suspect) | kept_for_expression(program, stated)
        yield _driver(suspect, kept, json.dumps([{"expression": stated}]), Source.DIRECTIVE)


def _driver(suspect: Suspect, kept: frozenset[int], given: str, source: Source, kind: str = "") -> Driver:
    """How a function is run that no region calls: as `make_fx` would, compiled itself, or in a region made for it."""
    kind = kind or ("traced" if suspect.marker == "make-fx" else "calls")
    plain = suspect.marker in COMPILED
    return Driver(kind, callable_name(suspect), kept, given=given, plain=plain, source=source)


def directive(text: str, line: int) -> str:
    """The expression of the directive nearest to a line, empty if there is none."""
    lines = text.split("\n")
    found: list[tuple[int, str]] = []
    for number in range(max(0, line - 1 - _ABOVE), min(len(lines), line + _BELOW)):
        match = INPUTS_FORM.search(lines[number])
        if match is not None:
            found.append((abs(number - (line - 1)), match.group(1)))
    return min(found)[1] if found else ""


def home_of(program: Program, suspect: Suspect) -> Program:
    """The file at whose top a function stands: that of its marker, else that of the finding, if it stands there."""
    name = callable_name(suspect).partition(".")[0]
    if suspect.path == program.path or not name or _has(program, name):
        return program
    try:
        text = program.overlays.get(suspect.path) or read_source(suspect.path).code
    except UnreadableSource:
        return program
    overlays = {**program.overlays, program.path: program.text}
    other = program_of(suspect.path, text, program.root, overlays, program.makers)
    return other if other is not None and _has(other, name) else program


def _has(program: Program, name: str) -> bool:
    return any(name in statement.binds for statement in statements_of(program.tree))


def search_job(program: Program, suspect: Suspect, device: str) -> dict[str, Any] | None:
    """The job that searches arguments; None for functions that cannot be named from outside."""
    name = callable_name(suspect)
    if not name:
        return None
    wanted = {suspect.path: sorted(suspect.lines)}
    sought = (_bare(program, suspect) if suspect.marker in _HIDING else None) or _Sought(
        program.text, kept_for_target(program, suspect), name, wanted
    )
    return {
        **fields_of(program, sought.kept, text=sought.text),
        "kind": "inputs",
        "name": sought.name,
        "wanted": sought.wanted,
        "device": device,
    }


class _Sought(NamedTuple):
    """A function for which arguments are searched: the text of its file, the statements kept of it, lines to reach."""

    text: str
    kept: frozenset[int]
    name: str
    wanted: dict[str, list[int]]


def _bare(program: Program, suspect: Suspect) -> _Sought | None:
    """A function of the file without its decorators, as one more at its end; None for what is no such function.

    An operator accepts whatever torch converts for it, and hides the parameters that say what its function wants.
    """
    nodes = (node for node in program.tree.body if isinstance(node, ast.FunctionDef) and node.name == suspect.function)
    node = next((node for node in nodes if node.end_lineno is not None), None)
    if node is None or node.end_lineno is None:
        return None
    lines = program.text.split("\n")
    own = lines[node.lineno - 1 : node.end_lineno]
    own[0], count = re.subn(rf"\bdef\s+{re.escape(node.name)}\b", f"def {_BARE}", own[0], count=1)
    text = "\n".join([*lines, *own, ""])
    if not count:
        return None
    kept = slice_for(statements_of(tree_of(text, path=program.path)), [_BARE]).kept
    moved = len(lines) - node.lineno + 1
    wanted = {program.path: [line + moved for line in sorted(suspect.lines) if node.lineno <= line <= node.end_lineno]}
    return _Sought(text, kept, _BARE, wanted if suspect.path == program.path and wanted[program.path] else {})


def found_drivers(program: Program, suspect: Suspect, answer: dict[str, Any]) -> Iterator[Driver]:
    """The drivers of what a search found: examples in the docstring, then arguments."""
    kept = kept_for_target(program, suspect)
    for example in answer.get("examples", ())[:2]:
        yield _driver(suspect, kept, example, Source.DOCSTRING, "source")
    if answer.get("calls"):
        yield _driver(suspect, kept, json.dumps(answer["calls"]), Source.SEARCH)


def says_nothing(driver: Driver, suspect: Suspect, trace: Mapping[str, Any]) -> bool:
    """Whether an eager run says nothing of a function: it calls no region, or was made to call another function."""
    return not trace["calls"] or (driver.kind in DIRECT and driver.name != callable_name(suspect))


def callable_name(suspect: Suspect) -> str:
    """The dotted name under which a module shows the marked function.

    Empty for local functions and lambdas, and for what only implements an operator.
    """
    name = suspect.function
    return "" if "<" in name or suspect.implements else name
