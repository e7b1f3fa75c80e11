"""Calls that may reach one of several marked functions, which Dynamo cannot tell apart."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from nonstrict.facts.scopes import receiver_of, scope_of
from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import walk
from nonstrict.facts.words import places
from nonstrict.findings import Related
from nonstrict.program.contracts.marks.marked_attributes import calls_through_attributes
from nonstrict.program.contracts.marks.replacing import calls_through_globals
from nonstrict.program.discovery import callers, roots, run_once
from nonstrict.program.domain.effects import span_of
from nonstrict.program.domain.values import Kind, Value
from nonstrict.program.interpret.rounds import varies_in_loop
from nonstrict.program.mutations import late_initialisation
from nonstrict.program.objects import classes, parameters

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.domain.definitions import Function, Mark, SeenCall
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.state.machine import Machine, StaticCall

_CALLED_OR_BOUND = re.compile(r"\s*[(=:]")


def dispatches(machine: Machine, mark: Mark) -> tuple[Related, ...]:
    """Calls that Dynamo answers with the graph of another marked function."""
    if mark.kind != "nonstrict":
        return ()
    closure = mark.function.closure if mark.function is not None else None
    holders = list(_holders(machine, mark))
    rebound = _rebound_abroad(machine, mark, holders)
    held = rebound or _handed_on(machine, mark) or any(names for module, names in holders if module.path != mark.path)
    held = held or _is_exchanged(machine, mark)
    given = [*calls_through_attributes(machine, mark), *calls_through_globals(machine, mark)]
    own = _is_of_each_object(machine, mark) or _is_of_each_round(machine, mark)
    if closure is None and not held and not given and not own:
        return ()
    calls = callers.calls_of(machine, mark)
    found = [
        Related(span_of(path, offset, node), "this call may reach several marked functions")
        for path, offset, node in (
            *(one[:3] for one in machine.dispatches.get(id(mark), []) if not _is_outside(machine, one[3])),
            *_as_argument(machine, mark),
            *given,
            *((call.path, call.offset, call.node) for call in calls if _called_name(call) in rebound),
        )
    ]
    function = mark.function
    if function is not None and _is_of_each_object(machine, mark):
        found += [_of_each_object(call) for call in calls if call.through == "attribute"]
    if function is None or function.closure is None or not _captures(function):
        return tuple(found)
    if function.closure.function is not None and run_once.runs_once(machine, function.closure.function):
        return tuple(found)
    for call in calls:
        if call.through == "attribute" or (call.through == "cell" and _same_factory(call, function)):
            how = "each instance has" if call.through == "attribute" else "each call of the factory makes"
            found.append(_of_each_object(call, how))
    return tuple(found)


def _is_outside(machine: Machine, caller: Function) -> bool:
    """Whether a function is called where no region runs: by statements outside functions only."""
    if caller.node in machine.regions or caller.owner is not None or caller.name == "<lambda>":
        return False
    roots.find_calls(machine, caller.module, callers.aliases(caller))
    seen = machine.static_calls.get(caller.node, [])
    return bool(seen) and all(frame.function is None for frame, *_ in seen)


def _is_exchanged(machine: Machine, mark: Mark) -> bool:
    """Whether the program puts something else in place of a method that is marked."""
    method = mark.function
    owner = method.owner if method is not None else None
    return method is not None and owner is not None and bool(machine.mutations.exchanges(owner, method.name))


def _of_each_object(call: SeenCall, how: str = "each instance has") -> Related:
    return Related(span_of(call.path, call.offset, call.node), f"{how} its own marked function")


def _is_of_each_object(machine: Machine, mark: Mark) -> bool:
    """Whether a constructor marks a method of its object, of which several are made, that reads what it sets.

    What it reads of a module are inputs of the graph or plain attributes: other rules tell of those.
    """
    method, within = mark.function, mark.within
    if mark.target.kind is not Kind.BOUND or method is None or within is None or within.name != "__init__":
        return False
    if method.owner is None or within.owner is None or classes.is_module(method.owner):
        return False
    made = machine.static_calls.get(within.node)
    return (
        bool(made)
        and bool(_own(method, ast.Load) & _own(within, ast.Store))
        and not run_once.runs_once(machine, within)
    )


def _is_of_each_round(machine: Machine, mark: Mark) -> bool:
    """Whether a function is marked in a loop that gives its defaults another value each time.

    What its body reads of the loop is one variable for all of them.
    """
    module = machine.project.module(mark.path)
    if module is None or mark.function is None:
        return False
    defaults = parameters.default_nodes(mark.function.node.args).values()
    line = getattr(mark.node, "lineno", 0) + mark.offset
    around = [statement for statement, _ in roots.around(module, line)] if defaults else []
    return any(varies_in_loop(one, mark.function.node, default) for one in around for default in defaults)


def _own(method: Function, context: type[ast.expr_context]) -> set[str]:
    """The attributes that a method reads, or sets, of its object."""
    receiver = receiver_of(method.node)
    return {
        node.attr
        for node in walk(method.node)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, context)
        and getattr(node.value, "id", "") == receiver
    }


def _called_name(call: SeenCall) -> str:
    return last_name(call.node.func)


def _rebound_abroad(machine: Machine, mark: Mark, holders: list[tuple[Module, set[str]]]) -> set[str]:
    """The names of a marked function that another file binds to another marked function: `model.quantise = fine`."""
    return {
        name
        for module, names in holders
        for name in names
        if any(_is_another(value, mark) for value in late_initialisation.rebindings_abroad(machine, module, name))
    }


def _is_another(value: Value, mark: Mark) -> bool:
    marks = [alternative.mark for alternative in value.alternatives() if alternative.mark is not None]
    return any(other.kind == mark.kind and other.function is not mark.function for other in marks)


def _holders(machine: Machine, mark: Mark) -> Iterator[tuple[Module, set[str]]]:
    """The modules that have a marked function under some top-level names."""
    for module, names in callers.exported_by(machine, mark):
        yield module, names
        for name in names:
            for use in machine.elsewhere.users(module, name):
                yield use.module, roots.handed_on(use.module, {use.name})


def _handed_on(machine: Machine, mark: Mark) -> bool:
    """Whether a marked function's name is used other than by calling it: only then may a call reach another one."""
    module = machine.project.module(mark.path)
    if module is None:
        return False
    code = module.source.code
    line = getattr(mark.node, "lineno", 0) + mark.offset
    for name in roots.names_of(machine, mark):
        if name in module.declared_global or len(module.bindings.get(name, ())) > 1:
            return True
        for start, end in places(code, {name}):
            if not _CALLED_OR_BOUND.match(code, end) and code.count("\n", 0, start) + 1 != line:
                return True
    return False


def _as_argument(machine: Machine, mark: Mark) -> list[tuple[str, int, ast.AST]]:
    """Calls of a parameter for which calls of the same function pass, or leave to its default, several functions.

    A choice that a region makes, by what it passes to a helper, is one that Dynamo guards: the function has to be a
    region, or to make one.
    """
    found: list[tuple[str, int, ast.AST]] = []
    for node, calls in list(machine.static_calls.items()):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or not any(map(_passes_marked, calls)):
            continue
        function = next((known for known in machine.functions.values() if known.node is node), None)
        if function is None or machine.regions.keys().isdisjoint(walk(node)):
            continue
        varying = {name for name, marks in _passed(machine, function).items() if len(marks) > 1 and id(mark) in marks}
        found.extend(
            (function.module.path, function.offset, inner)
            for inner in (walk(node) if varying else ())
            if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name) and inner.func.id in varying
        )
    return found


def _passes_marked(call: StaticCall) -> bool:
    _, _, positional, keywords = call
    return any(_marked_in(value) is not None for value in (*positional, *keywords.values()))


def _passed(machine: Machine, function: Function) -> dict[str, set[object]]:
    """By parameter, the identities of the marked functions that calls give it, by its default if they leave it out.

    One that a loop marks again and again counts as two.
    """
    arguments = function.node.args
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    defaults = _marked_defaults(machine, function)
    if defaults:
        roots.find_calls(machine, function.module, {function.name})
    passed: dict[str, set[object]] = {}
    for _, node, positional, keywords in machine.static_calls[function.node]:
        given = {**dict(zip(names, positional, strict=False)), **keywords}
        for name, value in given.items():
            mark = _marked_in(value)
            if mark is not None:
                passed.setdefault(name, set()).update({id(mark), *([mark] if _is_of_each_round(machine, mark) else ())})
        for name in defaults.keys() - given.keys() if _is_plain(node) else ():
            passed.setdefault(name, set()).add(id(defaults[name]))
    return passed


def _marked_defaults(machine: Machine, function: Function) -> dict[str, Mark]:
    """The parameters of which the default is a marked function."""
    around = parameters.definition_frame(machine.module_frame(function.module), function)
    named = parameters.default_nodes(function.node.args).items()
    values = {
        name: machine.evaluate(around, node) for name, node in named if isinstance(node, (ast.Name, ast.Attribute))
    }
    marked = {name: _marked_in(value) for name, value in values.items()}
    return {name: mark for name, mark in marked.items() if mark is not None}


def _is_plain(call: ast.AST) -> bool:
    """Whether a call names all that it passes: no `*args`, no `**options`."""
    if not isinstance(call, ast.Call):
        return False
    starred = any(isinstance(argument, ast.Starred) for argument in call.args)
    return not starred and all(keyword.arg is not None for keyword in call.keywords)


def _marked_in(value: Value) -> Mark | None:
    """The marked function that a value is, as far as it is known; None where it may be one of several."""
    marks = [one.mark for one in value.alternatives() if one.mark is not None]
    return marks[0] if len(marks) == 1 else None


def _same_factory(call: SeenCall, function: Function) -> bool:
    if call.caller is None or call.caller.closure is None or function.closure is None:
        return False
    return call.caller.closure.function is function.closure.function


def _captures(function: Function) -> bool:
    """Whether a nested function reads a variable of the function around it that differs from call to call."""
    closure = function.closure
    if closure is None or closure.function is None:
        return False
    outside = scope_of(closure.function.node).local
    inside = scope_of(function.node).local
    node = function.node
    body = node.body if isinstance(node.body, list) else [node.body]
    names = {inner.id for part in body for inner in walk(part) if isinstance(inner, ast.Name)}
    return bool((names - inside) & outside)
