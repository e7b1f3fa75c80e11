"""How the values vary that a compiled region gets and passes on: loops around its calls, and different constants."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.walk import walk
from nonstrict.findings import Related
from nonstrict.program.boundary import exchange
from nonstrict.program.effects import span_of
from nonstrict.program.values import NO_CONSTANT, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.body import MarkedBody
    from nonstrict.program.boundary.exchange import Taken
    from nonstrict.program.definitions import Function
    from nonstrict.program.frames import Frame
    from nonstrict.program.machine import Machine

#: A loop of which is not known how often it runs.
_SOME = 2


class Variation(NamedTuple):
    """How many values an argument takes, as far as the calls of the region tell, and one such call.

    `static` says that the region is compiled with `dynamic=False`, `unrolled` that a loop in the region makes them.
    """

    values: int = 0
    static: bool = False
    unrolled: bool = False
    evidence: tuple[Related, ...] = ()


def variation(body: MarkedBody, argument: Taken) -> Variation:
    """How the value of an argument of a marked function varies from call to call of the region."""
    site = argument.site
    call = site.call if site is not None else None
    caller = call.caller if call is not None else None
    if site is None or call is None or caller is None:
        return Variation()
    expression = exchange.argument_node(site, argument.span)
    if expression is not None and list(_loops(caller.node, call.node, expression)):
        return Variation(_SOME, unrolled=True)
    name = exchange.handed_on(site, argument.span)
    if not name:
        return Variation()
    count, evidence = _passed(body.machine, caller, name)
    return Variation(count, _is_static(body.machine, caller), evidence=evidence)


def given_expressions(machine: Machine, region: Function, name: str) -> Iterator[tuple[Frame, ast.Call, ast.expr]]:
    """The calls of a region that were seen, each with what it passes for one parameter."""
    arguments = region.node.args
    names = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
    for frame, node, positional, _ in machine.static_calls.get(region.node, []):
        if not isinstance(node, ast.Call):
            continue
        bound = len(positional) - len(node.args)
        index = names.index(name) - bound if name in names else -1
        if 0 <= index < len(node.args):
            yield frame, node, node.args[index]
        else:
            yield from ((frame, node, keyword.value) for keyword in node.keywords if keyword.arg == name)


def _passed(machine: Machine, region: Function, name: str) -> tuple[int, tuple[Related, ...]]:
    distinct: set[object] = set()
    looped: dict[ast.Call, int] = {}
    evidence: list[Related] = []
    for frame, node, expression in given_expressions(machine, region, name):
        around = frame.function.node if frame.function is not None else frame.module.outline.shell
        lengths = list(_loops(around, node, expression, frame))
        if lengths:
            looped[node] = max(lengths)
        else:
            value = machine.evaluate(frame, expression) if isinstance(expression, ast.Constant) else None
            distinct.add(value.const if value is not None and value.const is not NO_CONSTANT else ast.dump(expression))
        evidence.append(Related(span_of(frame.module.path, frame.offset, node), "called with several values here"))
    count = sum(looped.values()) + len(distinct)
    return count, tuple(dict.fromkeys(evidence))[:1]


def _loops(around: ast.AST, call: ast.AST, expression: ast.expr, frame: Frame | None = None) -> Iterator[int]:
    """How often the loops around a call run that give an expression of it another value each time."""
    names = {node.id for node in walk(expression) if isinstance(node, ast.Name)}
    for node in walk(around):
        if isinstance(node, (ast.For, ast.AsyncFor)):
            if _stores_any(node.target, names) and any(inner is call for part in node.body for inner in walk(part)):
                yield _length(frame, node.iter)
        elif isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.SetComp)) and any(
            inner is call for inner in walk(node.elt)
        ):
            for generator in node.generators:
                if _stores_any(generator.target, names):
                    yield _length(frame, generator.iter)


def _stores_any(target: ast.expr, names: set[str]) -> bool:
    return any(isinstance(node, ast.Name) and node.id in names for node in walk(target))


def _length(frame: Frame | None, iterable: ast.expr) -> int:
    """How many elements a loop runs over; at least some."""
    if isinstance(iterable, (ast.List, ast.Tuple, ast.Set)):
        return len(iterable.elts)
    if isinstance(iterable, ast.Call):
        name = getattr(iterable.func, "id", "")
        if name == "range" and iterable.args and all(isinstance(part, ast.Constant) for part in iterable.args):
            bounds = [part.value for part in iterable.args if isinstance(part, ast.Constant)]
            whole = [bound for bound in bounds if isinstance(bound, int)]
            return len(range(*whole)) if len(whole) == len(bounds) and 0 not in whole[2:] else _SOME
        if name in ("enumerate", "sorted", "list", "reversed", "tuple") and iterable.args:
            return _length(frame, iterable.args[0])
    if frame is not None and isinstance(iterable, ast.Name):
        held = frame.machine.evaluate(frame, iterable)
        if held.kind in (Kind.LIST, Kind.TUPLE) and held.heap is not None and held.heap.loose is None:
            return max(len(held.heap.items), _SOME)
    return _SOME


def _is_static(machine: Machine, region: Function) -> bool:
    """Whether a region is compiled with `dynamic=False`."""
    compiled = machine.regions.get(region.node)
    nodes = [compiled.node] if compiled is not None else []
    nodes += getattr(region.node, "decorator_list", [])
    keywords = (keyword for node in nodes if isinstance(node, ast.Call) for keyword in node.keywords)
    return any(
        keyword.arg == "dynamic" and isinstance(keyword.value, ast.Constant) and keyword.value.value is False
        for keyword in keywords
    )
