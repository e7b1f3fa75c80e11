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

    `static` says that the region is compiled with `dynamic=False`, `unrolled` that a loop in the region makes them,
    `grows` that it is a container to which something is added between the calls. `kept` names the attribute of an
    object that varies, which the registration of its class keeps in the context.
    """

    values: int = 0
    static: bool = False
    unrolled: bool = False
    grows: bool = False
    evidence: tuple[Related, ...] = ()
    kept: str = ""


def variation(body: MarkedBody, argument: Taken) -> Variation:
    """How the value of an argument of a marked function varies from call to call of the region."""
    site = argument.site
    call = site.call if site is not None else None
    caller = call.caller if call is not None else None
    if site is None or call is None or caller is None:
        return Variation()
    expression = exchange.argument_node(site, argument.span)
    if expression is not None and any(True for _ in _loops(caller.node, call.node, expression)):
        return Variation(_SOME, unrolled=True)
    name = exchange.handed_on(site, argument.span)
    if not name:
        return Variation()
    count, evidence = _passed(body.machine, caller, name)
    growing = _growing(body.machine, caller, name)
    count = max(count, growing)
    static = compiled_with(body.machine, caller, "dynamic", value=False)
    return Variation(count, static, grows=growing > 0, evidence=evidence)


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
        if times := rounds(frame, node, expression):
            looped[node] = times
        else:
            value = machine.evaluate(frame, expression) if isinstance(expression, ast.Constant) else None
            distinct.add(value.const if value is not None and value.const is not NO_CONSTANT else ast.dump(expression))
        evidence.append(Related(span_of(frame.module.path, frame.offset, node), "called with several values here"))
    count = sum(looped.values()) + len(distinct)
    return count, tuple(dict.fromkeys(evidence))[:1]


def rounds(frame: Frame, call: ast.AST, expression: ast.expr) -> int:
    """How often loops around a call in a frame give an expression of it another value; 0 if none does."""
    around = frame.function.node if frame.function is not None else frame.module.outline.shell
    return max(_loops(around, call, expression, frame), default=0)


def _loops(around: ast.AST, call: ast.AST, expression: ast.expr, frame: Frame | None = None) -> Iterator[int]:
    """How often the loops around a call run that give an expression of it another value each time."""
    names = {node.id for node in walk(expression) if isinstance(node, ast.Name)}
    for node in walk(around):
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            if _holds(node.body, call) and _mentions(expression, _changing(node)):
                yield _SOME if isinstance(node, ast.While) else _length(frame, node.iter)
        elif isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.SetComp)) and any(
            inner is call for inner in walk(node.elt)
        ):
            for generator in node.generators:
                if _stores_any(generator.target, names):
                    yield _length(frame, generator.iter)


def varies_in_loop(around: ast.AST, call: ast.AST, expression: ast.expr) -> bool:
    """Whether a loop around a call gives an expression another value each time."""
    return any(True for _ in _loops(around, call, expression))


def _holds(body: list[ast.stmt], call: ast.AST) -> bool:
    return any(inner is call for part in body for inner in walk(part))


def _changing(loop: ast.For | ast.AsyncFor | ast.While) -> set[str]:
    """The variables and attributes that have another value in each round: counters, and what follows from them."""
    found = set[str]()
    if not isinstance(loop, ast.While):
        found = {node.id for node in walk(loop.target) if isinstance(node, ast.Name)}
    inside = [node for part in loop.body for node in walk(part)]
    counted = (node.target for node in inside if isinstance(node, ast.AugAssign) and _is_number(node.value))
    found |= {ast.unparse(target) for target in counted if isinstance(target, (ast.Name, ast.Attribute))}
    for node in inside:
        if isinstance(node, ast.Assign) and _mentions(node.value, found) and not _computes(node.value):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return found


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, (int, float))


def _computes(node: ast.expr) -> bool:
    """Whether an expression calls something other than a conversion: what that gives is not known."""
    calls = (inner for inner in walk(node) if isinstance(inner, ast.Call))
    return any(getattr(call.func, "id", "") not in ("str", "float", "abs", "max", "min") for call in calls)


def _mentions(node: ast.expr, spelled: set[str]) -> bool:
    return bool(spelled) and any(
        ast.unparse(inner) in spelled for inner in walk(node) if isinstance(inner, (ast.Name, ast.Attribute))
    )


def _growing(machine: Machine, region: Function, name: str) -> int:
    """How often a loop adds to a container and calls the region with it; 0 if none does."""
    found = 0
    for frame, call, expression in given_expressions(machine, region, name):
        around = frame.function.node if frame.function is not None else frame.module.outline.shell
        spelled = ast.unparse(expression) if isinstance(expression, (ast.Name, ast.Attribute)) else ""
        for loop in walk(around) if spelled else ():
            if isinstance(loop, (ast.For, ast.AsyncFor, ast.While)) and _holds(loop.body, call):
                runs = _names(loop.target) if not isinstance(loop, ast.While) else frozenset[str]()
                changes = {_change_of(node, spelled, runs) for part in loop.body for node in walk(part)}
                if changes & _ADDING and not changes - _ADDING - {""}:
                    found = max(found, _SOME if isinstance(loop, ast.While) else _length(frame, loop.iter))
    return found


_ADDING = frozenset({"append", "extend", "insert", "add", "appendleft"})
_REMOVING = frozenset({"pop", "popleft", "popitem", "remove", "discard", "clear"})


def _change_of(node: ast.AST, spelled: str, runs: frozenset[str]) -> str:
    """What a node does to a container: the method that it calls; "" for nothing. `runs` differs from round to round."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        changes = node.func.attr in _ADDING or node.func.attr in _REMOVING
        return node.func.attr if changes and ast.unparse(node.func.value) == spelled else ""
    if isinstance(node, ast.AugAssign) and ast.unparse(node.target) == spelled:
        return "extend" if isinstance(node.value, (ast.List, ast.Tuple)) else "changed"
    if isinstance(node, ast.Assign) and any(ast.unparse(target) == spelled for target in node.targets):
        added = isinstance(node.value, ast.BinOp) and isinstance(node.value.op, ast.Add)
        return "extend" if added and _mentions(node.value, {spelled}) else "changed"
    stored = (
        [target for target in node.targets if isinstance(target, ast.Subscript)] if isinstance(node, ast.Assign) else []
    )
    if any(ast.unparse(target.value) == spelled and _is_new(target.slice, runs) for target in stored):
        return "add"
    deleted = isinstance(node, ast.Delete) and any(_mentions(target, {spelled}) for target in node.targets)
    return "changed" if deleted else ""


def _is_new(key: ast.expr, runs: frozenset[str]) -> bool:
    """Whether a key is another one in every round: the loop's variable, or text or a tuple that holds it."""
    if isinstance(key, ast.JoinedStr):
        return any(_is_new(part.value, runs) for part in key.values if isinstance(part, ast.FormattedValue))
    if isinstance(key, ast.Tuple):
        return any(_is_new(part, runs) for part in key.elts)
    return isinstance(key, ast.Name) and key.id in runs


def _names(target: ast.expr) -> frozenset[str]:
    return frozenset(part.id for part in walk(target) if isinstance(part, ast.Name))


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


def compiled_with(machine: Machine, region: Function, option: str, *, value: bool) -> bool:
    """Whether a region is compiled with an option of `torch.compile`, such as `dynamic=False`."""
    compiled = machine.regions.get(region.node)
    nodes = [compiled.node] if compiled is not None else []
    nodes += getattr(region.node, "decorator_list", [])
    keywords = (keyword for node in nodes if isinstance(node, ast.Call) for keyword in node.keywords)
    return any(
        keyword.arg == option and isinstance(keyword.value, ast.Constant) and keyword.value.value is value
        for keyword in keywords
    )
