"""The calls of a marked function: with which values, in which regions, inside which handlers."""

from __future__ import annotations

import ast
import functools
from typing import TYPE_CHECKING

from nonstrict.facts.closures import loads
from nonstrict.facts.execution import simple_statements
from nonstrict.facts.reaching import reaching
from nonstrict.facts.running_order import order_of
from nonstrict.facts.scopes import is_as_passed
from nonstrict.facts.targets import bound_from
from nonstrict.facts.use_def import use_def
from nonstrict.facts.walk import walk
from nonstrict.models.members import CHANGING
from nonstrict.program.discovery import roots
from nonstrict.program.discovery.sites import CallSite, Passing, passed_expression
from nonstrict.program.domain.access_paths import AccessPath, Root
from nonstrict.program.domain.any_of import any_of
from nonstrict.program.domain.effects import span_of
from nonstrict.program.domain.values import UNKNOWN, AbstractObject, Flag, Kind, Value, container, join
from nonstrict.program.objects import naming, parameters

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nonstrict.findings import Span
    from nonstrict.program.domain.definitions import Function, Mark, Region, SeenCall
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.state.frames import Frame
    from nonstrict.program.state.machine import Machine, StaticCall

_HOPS = 3
_SEVERAL = 2


def calls_of(machine: Machine, mark: Mark) -> list[SeenCall]:
    """The calls of a marked function in its own module and in the one that marks it."""
    names = roots.names_in(machine, mark.path)
    paths = {mark.path}
    if mark.function is not None:
        paths.add(mark.function.module.path)
    for path in sorted(paths):
        module = machine.project.module(path)
        if module is not None and names:
            roots.find_calls(machine, module, names)
    _calls_elsewhere(machine, mark)
    for sibling in siblings(machine, mark):
        for call in sibling.calls:
            if not any(call.node is known.node for known in mark.calls):
                mark.calls.append(call)
    for caller in dict.fromkeys(call.caller for call in mark.calls if call.caller is not None):
        if caller.name != "<lambda>":
            roots.find_calls(machine, caller.module, aliases(caller))
    return mark.calls


def expect_calls(machine: Machine, marks: Iterable[Mark]) -> None:
    """Tell ahead that the calls of marked functions will be looked for in other files."""
    for mark in marks:
        if mark.function is None or not parameters.needs_callers(machine, mark.function):
            continue
        for module, names in exported_by(machine, mark):
            machine.elsewhere.expect(module, names)


def exported_by(machine: Machine, mark: Mark) -> list[tuple[Module, set[str]]]:
    """The modules from which others import a marked function, or its class, and the names they import.

    `make_fx` and its like trace at once: who calls what they return does not matter.
    """
    if mark.kind == "make-fx":
        return []
    paths = {mark.path}
    if mark.function is not None:
        paths.add(mark.function.module.path)
    names = roots.names_of(machine, mark)
    if mark.function is not None and mark.function.owner is not None:
        names.add(mark.function.owner.name)
    modules = [module for path in sorted(paths) if (module := machine.project.module(path)) is not None]
    return [(module, shared) for module in modules if (shared := {name for name in names if name in module.bindings})]


def _calls_elsewhere(machine: Machine, mark: Mark) -> None:
    """Interpret what in other files calls a marked function that they import."""
    if mark in machine.sought:
        return
    machine.sought.add(mark)
    method = {mark.function.name} if mark.function is not None and mark.function.owner is not None else set[str]()
    for module, names in exported_by(machine, mark):
        for name in sorted(names):
            for use in machine.elsewhere.users(module, name):
                held = roots.handed_on(use.module, {use.name})
                roots.find_calls(machine, use.module, {use.name} | held | method)
    for factory in roots.factories(mark):
        for use in roots.uses(machine, factory):
            roots.find_calls(machine, use.module, _holding(use.module, use.name))


def _holding(module: Module, name: str) -> set[str]:
    """The names and attributes in a module that may hold what calling a function returned, and its own name."""
    found = {name}
    for _ in range(_HOPS):
        nodes = [module.outline.shell, *(module.outline.node(chunk) for chunk in module.chunks_with(found))]
        new = set[str]().union(*(bound_from(node, found) for node in nodes if node is not None)) - found
        if not new:
            break
        found |= new
    return found


def siblings(machine: Machine, mark: Mark) -> list[Mark]:
    """The marks of the same function text: a factory makes one for each of its calls."""
    function = mark.function
    if function is None or function.closure is None:
        return []
    return [
        other
        for other in machine.marks.values()
        if other is not mark and other.function is not None and other.function.node is function.node
    ]


def parameter_names(mark: Mark) -> list[str]:
    """The names that positional arguments of a call bind to; a method's `self` is bound already."""
    function = mark.function
    if function is None:
        return []
    arguments = function.node.args
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    bound = mark.target.kind in (Kind.BOUND, Kind.MODULE, Kind.OBJECT)
    is_method = function.owner is not None and function.binding != "static"
    return names[1:] if names and (bound or is_method) else names


def joined_arguments(machine: Machine, mark: Mark) -> dict[str, Value]:
    """For each parameter, what all seen calls pass, callers' own parameters resolved through their callers."""
    found: dict[str, Value] = {}
    names = parameter_names(mark)
    for call in calls_of(machine, mark):
        given = dict(zip(names, call.positional, strict=False))
        given.update(call.keywords)
        for name, value in given.items():
            resolved = _resolved(machine, value, call.caller, _HOPS)
            found[name] = join(found.get(name), resolved)
    return found


def defaults_used(machine: Machine, mark: Mark) -> dict[str, Value]:
    """The tensors and modules that calls in regions leave to the defaults of a marked function."""
    function = mark.function
    if function is None or mark.operator is not None:
        return {}
    definition = parameters.definition_frame(machine.module_frame(function.module), function)
    shared = parameters.shared_defaults(definition, function)
    found: dict[str, Value] = {}
    for call in calls_of(machine, mark) if shared else ():
        if not unpacks(call.node) and is_compiled(machine, call):
            given = {*parameter_names(mark)[: len(call.positional)], *call.keywords}
            found |= {name: value for name, value in shared.items() if name not in given}
    return found


def resolved(machine: Machine, value: Value, within: Function | None) -> Value:
    """A value in a function, where it is a parameter whose type is not known: what the seen calls of it pass."""
    return _resolved(machine, value, within, _HOPS)


def _resolved(machine: Machine, value: Value, caller: Function | None, hops: int) -> Value:
    """A value that is a parameter of the calling function: what its callers pass."""
    place = value.place
    open_parameter = value.kind is Kind.UNKNOWN and place.root is Root.ARGUMENT and not place.path
    if not open_parameter or caller is None or not hops:
        return value
    found: Value | None = None
    for given, outer in _passed(machine, caller, place.name):
        for passed in _resolved(machine, given, outer, hops - 1).alternatives():
            if passed.kind is not Kind.NONE or not value.flags & Flag.GIVEN:
                found = join(found, passed)
    return found or value


def _passed(machine: Machine, function: Function, name: str) -> list[tuple[Value, Function | None]]:
    """What the seen calls of a plain function pass for one of its parameters."""
    return [(one.value, one.frame.function) for one in passings(machine, function, name)]


def passings(machine: Machine, function: Function, name: str) -> Iterator[Passing]:
    """The seen calls of a plain function that pass something for one of its parameters."""
    arguments = function.node.args
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    index = names.index(name) if name in names else len(names)
    for frame, node, positional, keywords in calls_of_function(machine, function):
        value = keywords.get(name, positional[index] if index < min(len(positional), len(names)) else None)
        if value is not None:
            expression = passed_expression(node, positional, index, name, 0 if function.owner is None else None)
            yield Passing(frame, node, _held_there(frame, expression) or value, expression)


def _held_there(frame: Frame, expression: ast.expr | None) -> Value | None:
    """What a variable of a module that is bound anew holds where it is passed: its value is that of all its bindings.

    None for everything else, and where it is not known.
    """
    shell = frame.module.outline.shell
    if frame.function is not None or not isinstance(expression, ast.Name):
        return None
    if len(use_def(shell).every(expression.id)) < _SEVERAL:
        return None
    bound = reaching(shell, expression.id, expression)
    if bound is None or bound.value is None or bound.part is not None:
        return None
    with frame.machine.summaries.aside():
        return frame.machine.evaluate(frame, bound.value)


def calls_of_function(machine: Machine, function: Function) -> list[StaticCall]:
    """The calls of a plain function that its module tells."""
    roots.find_calls(machine, function.module, aliases(function))
    return seen_calls(machine, function)


def seen_calls(machine: Machine, function: Function) -> list[StaticCall]:
    """The calls of a function that were seen: of one that a compiler wrapped, those of the wrapper."""
    calls, region = machine.static_calls.get(function.node, []), machine.regions.get(function.node)
    wraps = region is not None and region.wraps
    own = [one for one in calls if not wraps or one[1] in machine.compiled_calls]
    own = [one for one in own if region is None or not _is_before(one, region)]
    if region is not None and not own:
        own = _of_decorated(machine, function)
    return [one for call in own for one in _made_through(machine, call, _HOPS)]


def _is_before(call: StaticCall, region: Region) -> bool:
    """Whether a call is one of the function itself, under the name that what is compiled has later."""
    frame, node, _, _ = call
    return isinstance(node, ast.Call) and order_of(naming.text_of(frame)).is_bound_later(node.func, region.node)


def _of_decorated(machine: Machine, function: Function) -> list[StaticCall]:
    """The calls of what a decorator puts in the place of a function, where that takes whatever it is given."""
    if function.owner is not None or not getattr(function.node, "decorator_list", ()) or function.closure is not None:
        return []
    held = machine.global_value(function.module, function.name)
    stand_ins = [one.function for one in held.alternatives() if one.function is not None]
    return [
        call
        for one in stand_ins
        if one is not function and _takes_all(one.node.args)
        for call in machine.static_calls.get(one.node, ())
        if _is_of(machine, call, one)
    ]


def _takes_all(taken: ast.arguments) -> bool:
    return taken.vararg is not None and not (taken.posonlyargs or taken.args or taken.kwonlyargs)


def _made_through(machine: Machine, call: StaticCall, hops: int) -> list[StaticCall]:
    """A call, or those of the function around it, where that hands on all that it is given: `step(*args, **kwargs)`."""
    frame, node, _, _ = call
    function = frame.function
    if function is None or not hops or not _hands_all_on(function, node):
        return [call]
    outer = [one for one in machine.static_calls.get(function.node, ()) if _is_of(machine, one, function)]
    return [found for one in outer for found in _made_through(machine, one, hops - 1)] or [call]


def _hands_all_on(function: Function, node: ast.AST) -> bool:
    """Whether a call passes the arguments of the function around it, and nothing else."""
    given, taken = node if isinstance(node, ast.Call) else None, function.node.args
    if given is None or taken.vararg is None or not _takes_all(taken):
        return False
    names = [taken.vararg.arg, *([taken.kwarg.arg] if taken.kwarg is not None else [])]
    positional = [one.value for one in given.args if isinstance(one, ast.Starred)]
    named = [one.value for one in given.keywords if one.arg is None]
    passed = [one.id for one in (*positional, *named) if isinstance(one, ast.Name)]
    whole = len(positional) == len(given.args) and len(named) == len(given.keywords)
    return whole and passed == names and all(is_as_passed(function.node, name) for name in names)


def _is_of(machine: Machine, call: StaticCall, function: Function) -> bool:
    """Whether a call is one of this function, and not of another that the same text defines."""
    frame, node, _, _ = call
    called = machine.evaluate(frame, node.func) if isinstance(node, ast.Call) else UNKNOWN
    return any(one.function is function for one in called.alternatives())


def seek_region(machine: Machine, mark: Mark) -> None:
    """Look for what compiles the function in which a marker is applied."""
    function = mark.within
    if function is None or function.name == "<lambda>" or mark.kind in ("make-fx", "compiled", "disable"):
        return
    if function.module.holds("compile"):
        roots.find_calls(machine, function.module, aliases(function))


def passed_to(machine: Machine, function: Function) -> dict[str, Value]:
    """For each parameter of a compiled function, what the calls pass in its own module and where it is compiled."""
    # Who asks for the calls of one region will ask for those of another: a module is searched once for all of them.
    known = [region for region in machine.regions.values() if region.function.module is function.module]
    if len(known) != machine.sought_regions.get(function.module.path):
        machine.sought_regions[function.module.path] = len(known)
        roots.find_calls(machine, function.module, set[str]().union(*(aliases(one.function) for one in known)))
        _seek_where_compiled(machine, function.module, known)
    arguments = function.node.args
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    found: dict[str, Value] = {}
    for name in names:
        given = any_of(_resolved(machine, one, caller, _HOPS) for one, caller in _passed(machine, function, name))
        if given is not None:
            found[name] = given
    return found | _collected(machine, function, names)


def _seek_where_compiled(machine: Machine, module: Module, regions: list[Region]) -> None:
    """Look for the calls of compiled functions of a module in the other files that compile them."""
    paths = {region.path for region in regions} - {module.path}
    owned = (region.function.owner.name if region.function.owner else region.function.name for region in regions)
    for name in sorted(set(owned)) if paths else ():
        for use in machine.elsewhere.users(module, name):
            if use.module.path in paths:
                roots.find_calls(machine, use.module, _holding(use.module, use.name))


def _collected(machine: Machine, function: Function, names: list[str]) -> dict[str, Value]:
    """What `*args` and `**kwargs` of a function hold, where all seen calls pass as many and by the same names."""
    arguments = function.node.args
    calls = seen_calls(machine, function) if arguments.vararg or arguments.kwarg else []
    if not calls or any(unpacks(node) for _, node, _, _ in calls):
        return {}
    found: dict[str, Value] = {}
    taken = len(arguments.posonlyargs) + len(arguments.args)
    surplus = [[*positional[taken:]] for _, _, positional, _ in calls]
    if arguments.vararg is not None and surplus[0] and len({len(values) for values in surplus}) == 1:
        joined = [functools.reduce(join, values[1:], values[0]) for values in zip(*surplus, strict=True)]
        found[arguments.vararg.arg] = container(Kind.TUPLE, *joined)
    spare = [{key: value for key, value in keywords.items() if key not in names} for _, _, _, keywords in calls]
    alike = arguments.kwarg is not None and spare[0] and len({frozenset(values) for values in spare}) == 1
    if arguments.kwarg is not None and alike and not _changes(function, arguments.kwarg.arg):
        heap = AbstractObject()
        for values in spare:
            for key, value in values.items():
                heap.store(key, value)
        found[arguments.kwarg.arg] = Value(Kind.DICT, heap=heap)
    return found


def _changes(function: Function, name: str) -> bool:
    """Whether a function takes entries out of a dict, or puts some in."""
    for node in walk(function.node):
        if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.value, ast.Name):
            changes = isinstance(node, ast.Attribute) and node.attr in CHANGING["dict"]
            stores = changes or not isinstance(node.ctx, ast.Load)
            if stores and node.value.id == name:
                return True
    return False


def unpacks(node: ast.AST) -> bool:
    """Whether a call does not tell how many arguments it passes."""
    if not isinstance(node, ast.Call):
        return True
    return any(isinstance(one, ast.Starred) for one in node.args) or any(one.arg is None for one in node.keywords)


def handed_to(machine: Machine, function: Function, name: str) -> Value | None:
    """What the seen calls of a function pass for a parameter; callers' own parameters are resolved through theirs."""
    found: Value | None = None
    for given, caller in _passed(machine, function, name):
        found = join(found, _resolved(machine, given, caller, _HOPS))
    return found


def leaves_out(machine: Machine, function: Function, name: str) -> bool:
    """Whether some call of a plain function that was seen leaves out one of its parameters."""
    roots.find_calls(machine, function.module, aliases(function))
    arguments = function.node.args
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    index = names.index(name) if name in names else len(names)
    calls = seen_calls(machine, function)
    return any(len(positional) <= index and name not in keywords for _, _, positional, keywords in calls)


def aliases(function: Function) -> set[str]:
    """Top-level names bound to an expression that leads to the function, also through its class and its instances.

    `step = torch.compile(step)`, `model = Model()`, `compiled = torch.compile(model)`, and `model = make_model()` where
    the function mentions the class. A lambda has the names of the statements that hold it.
    """
    if isinstance(function.node, ast.Lambda):
        return _holding_lambda(function.module, function.node)
    found = {function.name if function.owner is None else function.owner.name}
    module = function.module
    makers = {chunk.name for chunk in module.chunks_with(found) if not chunk.is_class} if function.owner else set[str]()
    attributes = module.attributes_made_of(function.owner.name) if function.owner else set[str]()
    return found | attributes | _led_to(module, found | makers) - makers


def _holding_lambda(module: Module, node: ast.Lambda) -> set[str]:
    """The top-level names of `step = torch.compile(lambda x: ...)`."""
    found = set[str]()
    for statement in simple_statements(getattr(module.outline.shell, "body", [])):
        if isinstance(statement, ast.Assign) and any(inner is node for inner in walk(statement.value)):
            found |= {target.id for target in statement.targets if isinstance(target, ast.Name)}
    return found


def _led_to(module: Module, names: set[str]) -> set[str]:
    """Top-level names of a module, those given among them, bound to an expression that mentions one of them."""
    found = layer = names
    for _ in range(_HOPS):
        layer = set[str]().union(*(module.assigned_from.get(name, ()) for name in layer)) - found
        found = found | layer
    return found


def is_compiled(machine: Machine, call: SeenCall) -> bool:
    """Whether a call stands in a function that `torch.compile` is applied to, or in one that such a function calls."""
    return call.caller is not None and _in_region(machine, call.caller, _HOPS)


def _in_region(machine: Machine, function: Function, hops: int) -> bool:
    if function.node in machine.regions:
        return True
    if not hops:
        return False
    callers = {frame.function for frame, *_ in machine.static_calls.get(function.node, [])} - {None, function}
    return any(caller is not None and _in_region(machine, caller, hops - 1) for caller in callers)


def reads(call: SeenCall, place: AccessPath) -> bool:
    """Whether the caller itself reads a captured place."""
    if call.caller is None or place.root is not Root.GLOBAL:
        return False
    if not place.path:
        return loads(call.caller.node, place.name) > 0
    steps = (node for node in walk(call.caller.node) if isinstance(node, (ast.Attribute, ast.Subscript)))
    return any(isinstance(node.ctx, ast.Load) and ast.unparse(node) == place.text for node in steps)


def site(machine: Machine, mark: Mark, call: SeenCall) -> CallSite:
    """A call as rules see it."""
    names = parameter_names(mark)
    arguments = dict(zip(names, call.positional, strict=False))
    arguments.update(call.keywords)
    spans: dict[str, Span] = {}
    whole = span_of(call.path, call.offset, call.node)
    spread = any(isinstance(node, ast.Starred) for node in call.node.args)
    given = [whole if spread else span_of(call.path, call.offset, node) for node in call.node.args]
    spans.update(zip(names, given, strict=False))
    for keyword in call.node.keywords:
        if keyword.arg is not None:
            spans[keyword.arg] = span_of(call.path, call.offset, keyword.value)
    return CallSite(
        span=whole,
        compiled=is_compiled(machine, call),
        arguments={name: _resolved(machine, value, call.caller, _HOPS) for name, value in arguments.items()},
        argument_spans=spans,
        passes_mode=_reads_mode(call),
        written=arguments,
        surplus=tuple(zip(given[len(names) :], call.positional[len(names) :], strict=False)),
        call=call,
    )


def _reads_mode(call: SeenCall) -> bool:
    scope = call.caller.node if call.caller is not None else call.node
    return any(isinstance(node, ast.Attribute) and node.attr == "training" for node in walk(scope))
