"""Applying markers, and calls of what they return."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.facts.closures import loads
from nonstrict.facts.fallthrough import does_nothing, only_raises
from nonstrict.facts.scopes import is_deferred, parameter_names
from nonstrict.facts.walk import walk
from nonstrict.knowledge.markers import MARKERS
from nonstrict.knowledge.operators import BASE_MODULES
from nonstrict.program.contracts.marks import (
    bound_later,
    compiling,
    handing,
    outcomes,
    overriding,
    replacing,
    several_objects,
)
from nonstrict.program.contracts.marks.identity import differ
from nonstrict.program.contracts.regions import compilations
from nonstrict.program.discovery.subclasses import subclasses
from nonstrict.program.domain.access_paths import FRESH, AccessPath, Root
from nonstrict.program.domain.definitions import CompileOptions, Function, Mark, Passed, Region, SeenCall
from nonstrict.program.domain.effects import Effect
from nonstrict.program.domain.references import Bound, Partial, Super
from nonstrict.program.domain.values import NO_CONSTANT, NONE, UNKNOWN, AbstractObject, Flag, Kind, Value, join
from nonstrict.program.externals import held_modules
from nonstrict.program.interpret import generics
from nonstrict.program.objects import classes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nonstrict.program.state.frames import Frame
    from nonstrict.program.state.machine import Machine

#: Markers whose functions stay what they are for whoever calls them.
_TRANSPARENT = frozenset({"compiled", "disable"})
#: Markers that do not wrap a function but make Dynamo know it.
_BY_IDENTITY = frozenset({"in-graph", "constant-result"})
#: Callables that are not of the program.
_FOREIGN = frozenset({Kind.EXTERNAL, Kind.EXTERNAL_METHOD})
#: Markers that keep a function out of compiled code.
_DISABLING = frozenset({"disable", "disallow_in_graph", "skip", "run", "_disable_dynamo"})
#: The trait of a function that alone is kept out, and not what it calls.
ALONE = "disabled-alone"
#: What has the members of a class of the program.
_WITH_MEMBERS = frozenset({Kind.CLASS, Kind.OBJECT, Kind.MODULE})
#: What is not known yet, or not set yet.
_OPEN = frozenset({Kind.UNKNOWN, Kind.NONE, Kind.EXTERNAL_METHOD})
_CALLABLE = frozenset(
    {Kind.FUNCTION, Kind.BOUND, Kind.PARTIAL, Kind.MODULE, Kind.OBJECT, Kind.CLASS, Kind.MARKED, Kind.INSTANCE}
)
#: More objects for which a function is compiled tell nothing new.
_MAX_OBJECTS = 4
#: Markers that are given nothing but the callable that they mark.
_OF_ANYTHING = frozenset({"nonstrict", "in-graph", "constant-result"})


def apply(frame: Frame, node: ast.AST, name: str, positional: Sequence[Value], keywords: dict[str, Value]) -> Value:
    """The result of calling a marker: the marked function, or a decorator if no callable was given yet."""
    marker = MARKERS[name]
    named = keywords.get(marker.argument)
    if frame.region and marker.kind not in _TRANSPARENT:
        applied_inside(frame, node, name, named or next(iter(positional), UNKNOWN))
    if marker.kind == "compiled" and len(positional) > 1 and positional[0].kind is Kind.EXTERNAL:
        return _called_outside(frame, node, positional[1:], keywords)
    positional = [_forward_of(value) for value in positional]
    candidates = _candidates(frame, name, named, positional)
    if not candidates:
        note_open(frame, named or next(iter(positional), UNKNOWN))
        if marker.kind == "compiled" and (named is not None or positional):
            compilations.open_to(frame, node, named or positional[0])
        factory = Value(Kind.EXTERNAL, FRESH, name)
        made = Value(Kind.PARTIAL, FRESH, Partial(factory, tuple(positional), tuple(keywords.items())))
        return compilations.of_unknown(frame, node, made) if name == "torch.compile" else made
    target = candidates[0]
    if marker.kind == "make-fx" and keywords.get("strict", UNKNOWN).const is True:
        return UNKNOWN  # strict export compiles the code, as a region is compiled
    if marker.kind in _TRANSPARENT:
        if marker.kind == "compiled":
            options = compiling.options(keywords)
            note_region(frame, node, target, options, wraps=True)
            return target if options.disable is True else compilations.wrapper(frame, node, target, options)
        return _disabled(frame, target, keywords.get("recursive", UNKNOWN)) if _keeps_out(name) else target
    return marked_value(frame, node, name, target, positional)


def _candidates(frame: Frame, name: str, named: Value | None, positional: list[Value]) -> list[Value]:
    """What a marker may be applied to, the first of them at most; none if no callable was given yet."""
    kind, first = MARKERS[name].kind, positional[:1]
    found = [named] if named is not None else [value for value in positional if _has_callable(value)][:1]
    if kind == "compiled" and not any(map(_has_callable, found)):
        later = next((put for one in found or first if (put := bound_later.held(frame, one)) is not None), None)
        found = [later] if later is not None else found
    if not found and kind in _OF_ANYTHING and any(map(_is_external, first)):
        return first
    if not found and _keeps_out(name) and any(value.kind in _FOREIGN for value in first):
        return first
    return found


def _called_outside(frame: Frame, node: ast.AST, given: Sequence[Value], keywords: dict[str, Value]) -> Value:
    """A compiled function that is not of the program is called: functions that it is given are compiled with it."""
    for target in given:
        if any(function_of(frame.machine, alternative) is not None for alternative in target.alternatives()):
            note_region(frame, node, target, compiling.options(keywords))
    return UNKNOWN


def applied_inside(frame: Frame, node: ast.AST, name: str, target: Value) -> None:
    """Record that Dynamo has to trace the application of a marker."""
    path, offset, at = frame.application or (frame.module.path, frame.offset, node)
    frame.summary.add(Effect(Event.MARKS, path, offset, at, target.place, target, name))


def note_open(frame: Frame, target: Value) -> None:
    """A marker is given what a function was given, or what its object holds: the callers of the function tell what."""
    outer = next(iter(reversed([*frame.around()])), frame).function
    is_open = any(one.kind in _OPEN or one.dotted in BASE_MODULES for one in target.alternatives())
    if frame.static and outer is not None and is_open and parameter_names(outer.node.args):
        frame.machine.handed_open.setdefault(outer)


def _forward_of(value: Value) -> Value:
    """`module.forward` of a module whose class is not of the program stands for the module."""
    if value.external_method is None:
        return value
    receiver, name = value.external_method
    return receiver if name in ("forward", "__call__") and receiver.kind is Kind.MODULE else value


def _has_callable(value: Value) -> bool:
    return any(alternative.kind in _CALLABLE for alternative in value.alternatives())


def _is_external(value: Value) -> bool:
    return any(alternative.kind is Kind.EXTERNAL for alternative in value.alternatives())


def note_region(frame: Frame, node: ast.AST, target: Value, options: CompileOptions, *, wraps: bool = False) -> None:
    """Record that a callable is compiled; the strictest of several ways to compile it counts.

    `disable=True` compiles nothing: the compiler returns what it is given. Measured on 2.13, counting the frames that
    reach a backend, for `torch.compile`, `module.compile` and `torch._dynamo.optimize`.
    """
    if options.disable is True:
        compilations.open_to(frame, node, NONE)
    path, offset, at = frame.application or (frame.module.path, frame.offset, node)
    whole = options.fullgraph is True
    for alternative in (run for one in target.alternatives() for run in _run_by(frame.machine, one)):
        function = function_of(frame.machine, alternative)
        if function is None:
            if options.disable is not True:
                note_open(frame, alternative)
                compilations.open_to(frame, node, alternative)
            continue
        compilations.applied(frame, node, function, options)
        if options.disable is True:
            continue
        known = frame.machine.regions.get(function.node)
        instead = at in getattr(function.node, "decorator_list", ()) or compilations.is_put_in_place(
            frame, node, function
        )
        region = Region(function, alternative, options, path, offset, at, wraps and not instead)
        if known is not None and whole and known.fullgraph:
            others = frame.machine.recompiled.setdefault(function.node, [])
            if len(others) < _MAX_OBJECTS and not any(_is_alike(region, other) for other in (known, *others)):
                others.append(region)
        elif known is not None and not whole:
            frame.machine.regions[function.node] = several_objects.with_another(known, alternative)
        else:
            frame.machine.regions[function.node] = region
            if isinstance(function.node, ast.Lambda) and frame.static:
                frame.machine.static_frame(function)  # nothing else looks into it for calls of marked functions


def _run_by(machine: Machine, target: Value) -> list[Value]:
    """What is compiled where a callable is given: of a class what calling its objects runs, as measured on 2.13.

    Of the method of an object that callers or subclasses make, it is what subclasses have in its place, too.
    """
    if target.kind is Kind.CLASS and target.of_class is not None:
        found = classes.member(
            machine, target.of_class, "forward" if classes.is_module(target.of_class) else "__call__"
        )
        return [found[0] if found is not None else NONE]
    if target.kind is Kind.OBJECT and target.of_class is not None:
        return [classes.inherited_call(machine, target) or target]
    receiver = _object(target)
    method = function_of(machine, target)
    if receiver is None or method is None or receiver.place.root not in (Root.ARGUMENT, Root.UNKNOWN):
        return [target]
    others = overriding.in_place_of(machine, method)
    run = [classes.instance_at(machine, cls, receiver.place) for cls, _ in others]
    bound = [Value(Kind.BOUND, receiver.place, Bound(made, one)) for made, (_, one) in zip(run, others, strict=True)]
    is_open = bool(bound) and (does_nothing(method.node) or only_raises(method.node))
    return bound if is_open else [target, *bound]


def _is_alike(region: Region, other: Region) -> bool:
    """Whether the same code compiles two objects of a class that hold the same settings: the first speaks for both."""
    held, known = _object(region.target), _object(other.target)
    if held is None or known is None:
        return True
    return region.node is other.node and held.ref is known.ref and _settings(held) == _settings(known)


def _settings(holder: Value) -> dict[str, object]:
    """The attributes of an object that are constants, or functions."""
    held = holder.heap.attributes if holder.heap is not None else {}
    return {
        name: value.const if value.const is not NO_CONSTANT else id(value.ref)
        for name, value in held.items()
        if value.const is not NO_CONSTANT or value.kind is Kind.FUNCTION
    }


def _object(target: Value) -> Value | None:
    """The object that is compiled, or whose method is; what a partial holds stands for an object."""
    if target.bound is not None:
        return target.bound.receiver
    return target if target.kind in (Kind.MODULE, Kind.OBJECT, Kind.PARTIAL) else None


def _keeps_out(name: str) -> bool:
    """Whether a marker keeps what it is given out of compiled code."""
    return name.rpartition(".")[2] in _DISABLING


def _disabled(frame: Frame, target: Value, recursive: Value) -> Value:
    """A callable as `torch.compiler.disable` returns it: the same, but no region traces it.

    With `recursive=False` what it calls is compiled.
    What is marked below is told where it is marked (NST602).
    """
    function = target.function
    if target.kind in (Kind.MARKED, Kind.UNION) or (function is not None and "disabled" in function.traits):
        return target
    if function is None:
        return target._replace(flags=target.flags | Flag.DISABLED)
    functions = frame.machine.disabled
    if function not in functions:
        traits = {"disabled", ALONE} if recursive.const is False else {"disabled"}
        functions[function] = replace(function, traits=function.traits | traits)
    return target._replace(ref=functions[function])


def is_only_made(mark: Mark) -> bool:
    """Whether calling a marked function only makes a coroutine or generator, of which nothing is traced.

    Measured on torch 2.13 for `nonstrict_trace` and `allow_in_graph`. Into the body of a region Dynamo looks itself.
    """
    return mark.function is not None and mark.kind != "compiled" and is_deferred(mark.function.node)


def function_of(machine: Machine, value: Value) -> Function | None:
    """The function of the program that a callable runs, if one is known."""
    if value.function is not None:
        return value.function
    if value.bound is not None:
        function = value.bound.function
        return function if isinstance(function, Function) else function_of(machine, function)
    if value.partial is not None:
        return function_of(machine, value.partial.function)
    if value.mark is not None:
        return value.mark.function
    if value.kind is Kind.CLASS and value.of_class is not None:
        if classes.is_module(value.of_class):
            return None  # modules are made outside compiled code, and calling one does not ask for its class
        name = "forward" if classes.is_autograd_function(value.of_class) else "__init__"
        found = classes.member(machine, value.of_class, name)
        return found[0].function if found is not None else None
    if value.kind in (Kind.MODULE, Kind.OBJECT) and value.of_class is not None:
        target = classes.call_target(machine, value)
        return function_of(machine, target) if target is not None else None
    return None


def marked_value(frame: Frame, node: ast.AST, name: str, target: Value, positional: Sequence[Value]) -> Value:
    """Record that a marker was applied; the value that stands for the marked function."""
    marker = MARKERS[name]
    marked: Value | None = None
    for alternative in _implementations(frame, target, name):
        if alternative.kind not in _CALLABLE and alternative.kind is not Kind.EXTERNAL:
            continue
        here = (frame.module.path, frame.offset, node)
        path, offset, at = here if handing.is_own(frame, node, alternative) else frame.application or here
        function = function_of(frame.machine, alternative)
        key = (id(function) if function else id(alternative.ref), marker.kind, path, offset, id(at))
        mark = frame.machine.marks.get(key)
        if mark is None:
            api = name.rpartition(".")[2]
            mark = Mark(marker.kind, api, alternative, path, offset, at, function, spelling=name, within=frame.function)
            frame.machine.marks[key] = mark
            if marker.kind in _BY_IDENTITY and function is not None:
                frame.machine.allowed.add(function)
        if marker.kind == "make-fx" and len(positional) > 1:
            _exported(frame, node, mark, positional[1])
        marked = join(marked, Value(Kind.MARKED, FRESH, mark))
    return marked or UNKNOWN


def _implementations(frame: Frame, target: Value, name: str) -> Iterator[Value]:
    """What a callable may be: of a generic function each of its implementations, of a container what it calls."""
    for alternative in target.alternatives():
        yield alternative
        if MARKERS[name].kind == "make-fx":
            yield from held_modules.called(alternative)
        if alternative.function is not None and "generic" in alternative.function.traits:
            functions = dict.fromkeys(one.function for one in generics.registered_with(frame, alternative.function))
            yield from (alternative._replace(ref=function) for function in functions)


def known_by_identity(machine: Machine, function: Function) -> Mark | None:
    """The mark of a function that a marker such as `allow_in_graph` was given, and that stays what it is."""
    if function.owner is not None:
        return None
    return next(
        (mark for mark in machine.marks.values() if mark.function is function and mark.kind == "in-graph"), None
    )


def _exported(frame: Frame, node: ast.AST, mark: Mark, arguments: Value) -> None:
    """`export(module, (x, y))` passes the arguments along."""
    if arguments.kind is Kind.TUPLE and arguments.heap is not None and isinstance(node, ast.Call):
        values = tuple(arguments.heap.items.values())
        mark.calls.append(SeenCall(node, frame.module.path, frame.offset, frame.function, values, {}))


def called(
    frame: Frame, node: ast.AST, callee: Value, positional: Sequence[Value], keywords: dict[str, Value]
) -> Value:
    """The result of calling a marked function; its body is looked at by itself, not through its callers."""
    mark = callee.mark
    if mark is None:
        return UNKNOWN
    if frame.static and isinstance(node, ast.Call):
        seen = SeenCall(
            node,
            frame.module.path,
            frame.offset,
            frame.function,
            tuple(positional),
            dict(keywords),
            _through(callee) or _by_attribute(frame, node, mark),
            _receiver(frame, node, mark),
        )
        if not any(other.node is node for other in mark.calls):
            mark.calls.append(seen)
    if not frame.static:
        for value in (*positional, *keywords.values()):
            frame.consume(node, value)
            frame.sink(value)
    if frame.region:
        receiver = _receiver(frame, node, mark) if isinstance(node, ast.Call) else None
        given = Passed(receiver, tuple(positional), keywords)
        frame.emit(Event.CALLED, node, value=callee._replace(const=given))
    return outcomes.outcome(frame, node, mark, positional, keywords)


def _receiver(frame: Frame, node: ast.Call, mark: Mark) -> Value | None:
    """What a marked method is called on, where it is called as a method."""
    if mark.function is None or mark.function.owner is None or not isinstance(node.func, ast.Attribute):
        return None
    receiver = frame.machine.evaluate(frame, node.func.value)
    return receiver.ref.receiver if isinstance(receiver.ref, Super) else receiver


def _through(callee: Value) -> str:
    place = callee.place
    if place.root is Root.CELL:
        return "cell"
    if any(step.startswith("[") for step in place.path):
        return "container"
    if place.path:
        return "attribute"
    return ""


def _by_attribute(frame: Frame, node: ast.Call, mark: Mark) -> str:
    """The same for a function that an object made here holds: what a factory made for it alone."""
    function = mark.function
    bound = mark.target.kind is Kind.BOUND
    if function is None or (not bound and (function.owner is not None or function.closure is None)):
        return ""
    holder = frame.machine.evaluate(frame, node.func.value) if isinstance(node.func, ast.Attribute) else UNKNOWN
    return "attribute" if holder.kind in (Kind.OBJECT, Kind.MODULE) else ""


def ambiguous(frame: Frame, node: ast.AST, alternatives: Sequence[Value]) -> None:
    """A call that may reach one of several marked functions: Dynamo cannot tell them apart (NST107)."""
    marks = [value.mark for value in alternatives if value.mark is not None and value.mark.kind == "nonstrict"]
    if not frame.static or frame.function is None or not isinstance(node, ast.Call) or not differ(marks):
        return
    if _replaced(frame, node.func, alternatives):
        at = (frame.module.path, frame.offset, node, frame.function)
        frame.machine.dispatches.setdefault(id(marks[0]), []).append(at)


def _replaced(frame: Frame, callee: ast.expr, alternatives: Sequence[Value]) -> bool:
    """Whether a name, entry or attribute is bound anew after import: a choice by key or flag is guarded by Dynamo."""
    if isinstance(callee, ast.Name):
        place = frame.module.place(callee.id)
        if callee.id in frame.module.declared_global or frame.machine.mutations.is_written(place, rebound=True):
            return True
    if isinstance(callee, ast.Attribute):
        holders = frame.machine.evaluate(frame, callee.value).alternatives()
        classes = (one.of_class for one in holders if one.kind in _WITH_MEMBERS and one.of_class is not None)
        if any(frame.machine.mutations.exchanges(cls, callee.attr) for cls in classes):
            return True
    return any(replacing.replaced(frame.machine, place) for place in {value.place for value in alternatives})


def is_private(mark: Mark) -> bool:
    """Whether a function exists only for one trace: a lambda or nested function that is only handed on for tracing.

    That is `make_fx`, or a function of the program that hands it on to `make_fx`: both are given a new one each time.
    """
    function = mark.function
    if mark.kind != "make-fx" or function is None:
        return False
    if isinstance(function.node, ast.Lambda):
        return isinstance(mark.node, ast.Call) and function.node in mark.node.args
    outer = function.closure.function if function.closure is not None else None
    if outer is None:
        return False
    calls = (node for node in walk(outer.node) if isinstance(node, ast.Call))
    given = [argument for call in calls for argument in call.args if getattr(argument, "id", "") == function.name]
    return 0 < len(given) == loads(outer.node, function.name)


def traced_receiver(machine: Machine, mark: Mark, receiver: Value | None) -> Value | None:
    """The first parameter of a marked method, or of a module's `forward`, as the body has it.

    The capture of a module is reported on the marker; the body does not report the module's state once more. The
    module that `make_fx` or `export` traces is an argument that the body may change.
    """
    if mark.target.kind is Kind.CLASS:
        # The object that calling a class makes, or the context of an `autograd.Function`.
        return Value(Kind.OBJECT, FRESH, mark.target.ref, heap=AbstractObject())
    if receiver is None and mark.kind == "constant-result":
        return _frozen_receiver(machine, mark)
    if receiver is None and mark.kind == "nonstrict":
        return _module_of_mixin(machine, mark)
    if receiver is None or receiver.kind is not Kind.MODULE:
        return receiver
    return receiver.at(AccessPath(Root.ARGUMENT, "", "self") if mark.kind == "make-fx" else AccessPath(Root.UNKNOWN))


def _module_of_mixin(machine: Machine, mark: Mark) -> Value | None:
    """`self` of a method that modules inherit from a class which is none: torch takes no other objects of it."""
    function = mark.function
    if function is None or function.owner is None or function.binding or mark.target.kind is not Kind.FUNCTION:
        return None
    owner, names = function.owner, parameter_names(function.node.args)
    made = classes.instance_at(machine, owner, AccessPath(Root.ARGUMENT, "", names[0])) if names else None
    if made is None or made.kind is not Kind.OBJECT or not any(map(classes.is_module, subclasses(machine, owner))):
        return None
    return made._replace(kind=Kind.MODULE)


def _frozen_receiver(machine: Machine, mark: Mark) -> Value | None:
    """`self` of a method with a constant result, where it is not a module: whatever is read of it is captured."""
    function = mark.function
    if function is None or function.owner is None or function.binding or mark.target.kind is not Kind.FUNCTION:
        return None
    names = [one.arg for one in (*function.node.args.posonlyargs, *function.node.args.args)]
    instance = classes.instance_at(machine, function.owner, AccessPath(Root.RECEIVER, "", names[0])) if names else None
    return instance if instance is not None and instance.kind is Kind.OBJECT else None


def receiver_of(mark: Mark) -> Value | None:
    """What a marked bound method, module or callable object is bound to, at its captured place."""
    target = mark.target
    if target.bound is not None:
        bound = target.bound.receiver
    elif target.kind in (Kind.MODULE, Kind.OBJECT):
        bound = target
    else:
        return None
    if bound.kind is Kind.CLASS:
        return bound
    if bound.place.root is Root.GLOBAL or bound.place.root is Root.CELL:
        return bound.at(AccessPath(Root.RECEIVER, bound.place.owner, bound.place.name, bound.place.path))
    name = bound.place.name or "self"
    return bound.at(AccessPath(Root.RECEIVER, "", name, bound.place.path))
