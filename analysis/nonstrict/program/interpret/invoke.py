"""Calls: functions of the program are followed through memoised summaries, the rest is asked of knowledge."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Change, Event, Read, Unseen
from nonstrict.facts import fallthrough
from nonstrict.facts.hooks import registers
from nonstrict.facts.keeping import returns_what_it_kept
from nonstrict.facts.scopes import scope_of
from nonstrict.knowledge.operators import torch_kind
from nonstrict.program.domain.access_paths import FRESH, NOWHERE, Root
from nonstrict.program.domain.definitions import Function
from nonstrict.program.domain.effects import Summary
from nonstrict.program.domain.references import Alternatives, Bound, ExternalMethod, Partial
from nonstrict.program.domain.values import (
    CALLABLES,
    NAMED_TUPLE,
    PRIMITIVES,
    TENSORS,
    UNKNOWN,
    Flag,
    Kind,
    Value,
    container,
    join,
    traced,
)
from nonstrict.program.externals import (
    bound_callables,
    custom_operators,
    differentiation,
    external_calls,
    hooks,
    methods,
    module_contents,
    module_state,
    named_tuples,
)
from nonstrict.program.externals.bound_callables import holds_marker
from nonstrict.program.interpret import bodies, call_keys, generics, singletons
from nonstrict.program.linking import fixtures
from nonstrict.program.objects import classes, coverage, parameters, strict_switch
from nonstrict.program.state.frames import Frame

if TYPE_CHECKING:
    from collections.abc import Sequence


_MAX_DEPTH = 300
#: Closures are interpreted anew at each call, which may double at each step: they are followed less far.
_MAX_CLOSURE_DEPTH = 15
_MAX_ROUNDS = 3
_CONSTRUCTORS = frozenset({"__init__", "__post_init__"})
_OBJECTS = frozenset({Kind.OBJECT, Kind.MODULE})
#: Functions that constructors, and the methods that they call, take attributes from are followed so far.
_MAX_MAKERS = 3
#: What objects consist of counts as deep as models are nested: their constructors are followed further.
_MORE_CONSTRUCTORS = 4


def call(frame: Frame, node: ast.AST, callee: Value, positional: Sequence[Value], keywords: dict[str, Value]) -> Value:
    """The result of a call."""
    if isinstance(callee.ref, Alternatives):
        frame.machine.contracts.ambiguous(frame, node, callee.ref)
        found: Value | None = None
        chosen = frame.observer.is_choice(frame, node, callee.ref)
        frame.branches += chosen
        for alternative in frame.observer.reached(callee.ref):
            if alternative.kind is not Kind.NONE:
                found = join(found, call(frame, node, alternative, positional, keywords))
        frame.branches -= chosen
        return found or UNKNOWN
    if frame.static and callee.flags & Flag.COMPILED:
        frame.machine.compiled_calls.add(node)
    if frame.region and callee.flags & Flag.DISABLED:
        return _disabled(frame, node, callee, positional, keywords)
    handler = _HANDLERS.get(callee.kind)
    if handler is not None:
        return handler(frame, node, callee, list(positional), keywords)
    return _unknown(frame, node, callee, list(positional), keywords)


def _disabled(
    frame: Frame, node: ast.AST, callee: Value, positional: Sequence[Value], keywords: dict[str, Value]
) -> Value:
    """A region calls what `torch.compiler.disable` keeps out of it: eager code runs, and tells what it gives back."""
    frame.observer.disabled_called(frame, node, callee)
    if callee.kind not in (Kind.EXTERNAL, Kind.EXTERNAL_METHOD):
        return UNKNOWN
    eager = Frame(frame.machine, frame.module, frame.offset, Summary("disabled"), static=True)
    return call(eager, node, callee, positional, keywords).with_taint(frozenset())


def _function(frame: Frame, node: ast.AST, callee: Value, positional: list[Value], keywords: dict[str, Value]) -> Value:
    if callee.place.captured:
        frame.consume(node, callee)
    marked = frame.machine.contracts.in_place_of(frame, callee)
    if marked is not None:
        return call(frame, node, marked, positional, keywords)
    if callee.flags & Flag.NATIVE:
        if frame.region:
            return UNKNOWN  # a Triton kernel, which Dynamo traces
        return external_calls.native(frame, node, _label(node), [*positional, *keywords.values()])
    function = callee.function
    return _chosen(frame, node, function, positional, keywords) if function is not None else UNKNOWN


def _bound(frame: Frame, node: ast.AST, callee: Value, positional: list[Value], keywords: dict[str, Value]) -> Value:
    if not isinstance(callee.ref, Bound):
        return UNKNOWN
    receiver, function = callee.ref
    if isinstance(function, Function):
        return _chosen(frame, node, function, [receiver, *positional], keywords)
    return call(frame, node, function, [receiver, *positional], keywords)


def _chosen(
    frame: Frame, node: ast.AST, function: Function, positional: list[Value], keywords: dict[str, Value]
) -> Value:
    """The result of calling a function, of a generic one the implementation for the type of its first argument."""
    chosen = generics.implementation(frame, function, positional) if "generic" in function.traits else function
    if chosen is None:
        return _unknown(frame, node, UNKNOWN, positional, keywords)
    frame.observer.function_called(frame, node, chosen)
    return follow(frame, node, chosen, positional, keywords)


def _partial(frame: Frame, node: ast.AST, callee: Value, positional: list[Value], keywords: dict[str, Value]) -> Value:
    if callee.place.captured:
        frame.consume(node, callee)
    if callee.flags & Flag.COMPILED or not isinstance(callee.ref, Partial):
        return _unknown(frame, node, UNKNOWN, positional, keywords)
    target, first, named = callee.ref
    return call(frame, node, target, [*first, *positional], {**dict(named), **keywords})


def _class(frame: Frame, node: ast.AST, callee: Value, positional: list[Value], keywords: dict[str, Value]) -> Value:
    cls = callee.of_class
    if cls is None:
        return UNKNOWN
    kept = singletons.made(frame, node, cls, positional, keywords) if not frame.static else None
    return kept or classes.construct(frame.machine, frame, node, cls, positional, keywords)


def _marked(frame: Frame, node: ast.AST, callee: Value, positional: list[Value], keywords: dict[str, Value]) -> Value:
    custom_operators.note_call(frame, node, callee.mark.operator if callee.mark is not None else None)
    return frame.machine.contracts.called(frame, node, callee, positional, keywords)


def _instance(frame: Frame, node: ast.AST, callee: Value, positional: list[Value], keywords: dict[str, Value]) -> Value:
    """An object or module of the program is called."""
    if callee.kind is Kind.MODULE:
        frame.consume(node, callee)
        hooks.run(frame, node, callee)
    if callee.of_class is None:
        return methods.call_module(frame, node, callee, positional, keywords)
    target = classes.call_target(frame.machine, callee)
    if target is None:
        for value in (*positional, *keywords.values()):
            frame.consume(node, value)
        if callee.kind is not Kind.MODULE:
            return UNKNOWN
        return methods.call_module(frame, node, classes.as_inherited(callee), positional, keywords)
    if callee.kind is Kind.MODULE:
        frame.observer.module_called(frame, node, callee)
    frame.identified(node, callee)
    if target.bound is not None and module_state.is_capture(callee):
        # Inside, the module's own state is not reported once more.
        target = Value(Kind.BOUND, NOWHERE, target.bound._replace(receiver=callee.at(NOWHERE)))
    return call(frame, node, target, positional, keywords)


def _external(frame: Frame, node: ast.AST, callee: Value, positional: list[Value], keywords: dict[str, Value]) -> Value:
    if callee.place.captured:
        frame.consume(node, callee)
    made = singletons.without_init(callee.dotted, positional)
    return made or external_calls.call(frame, node, callee.dotted, positional, keywords)


def _method(frame: Frame, node: ast.AST, callee: Value, positional: list[Value], keywords: dict[str, Value]) -> Value:
    if not isinstance(callee.ref, ExternalMethod):
        return UNKNOWN
    receiver, name = callee.ref
    if name == "__new__" and (made := singletons.without_init(name, positional)) is not None:
        return made
    if receiver.kind is Kind.PARTIAL and receiver.flags & Flag.COMPILED:
        made = module_contents.of_wrapper(frame, node, receiver, name, positional, keywords)
        return made if made is not None else UNKNOWN
    if (code := bound_callables.code_method(receiver, name, positional, keywords)) is not None:
        return code
    return methods.call(frame, node, receiver, name, positional, keywords)


def _external_instance(
    frame: Frame, node: ast.AST, callee: Value, positional: list[Value], keywords: dict[str, Value]
) -> Value:
    if callee.flags & Flag.NATIVE:
        return external_calls.native(frame, node, _label(node), [*positional, *keywords.values()])
    if strict_switch.setting(callee) is not None and positional:
        return strict_switch.applied(callee, positional[0])
    if callee.dotted == NAMED_TUPLE and callee.heap is not None and callee.heap.items:
        return named_tuples.instance(list(callee.heap.items), positional, keywords)
    if frame.static and len(positional) == 1 and _is_mode(callee) and positional[0].kind in CALLABLES:
        return positional[0]
    return _unknown(frame, node, callee, positional, keywords)


def _is_mode(callee: Value) -> bool:
    """Whether a value is a mode of torch, which as a decorator leaves what the function is: `no_grad()(fn)`."""
    return isinstance(callee.ref, str) and torch_kind(callee.ref) == "context-manager"


def _unknown(frame: Frame, node: ast.AST, callee: Value, positional: list[Value], keywords: dict[str, Value]) -> Value:
    """Nothing is known of the callee: its arguments are used, functions among them may run."""
    if callee.place.captured:
        frame.consume(node, callee)
    for value in (*positional, *keywords.values()):
        frame.consume(node, value)
        frame.sink(value)
    if callee.flags & Flag.NATIVE:
        return external_calls.native(frame, node, _label(node), [*positional, *keywords.values()])
    coverage.unknown(frame, node)
    return UNKNOWN


def _label(node: ast.AST) -> str:
    target = node.func if isinstance(node, ast.Call) else node
    return ast.unparse(target)


_HANDLERS = {
    Kind.FUNCTION: _function,
    Kind.BOUND: _bound,
    Kind.PARTIAL: _partial,
    Kind.CLASS: _class,
    Kind.MARKED: _marked,
    Kind.MODULE: _instance,
    Kind.OBJECT: _instance,
    Kind.EXTERNAL: _external,
    Kind.EXTERNAL_METHOD: _method,
    Kind.INSTANCE: _external_instance,
}


# -- following functions of the program ---------------------------------------------------------------------------


def follow(
    frame: Frame,
    node: ast.AST,
    function: Function,
    positional: Sequence[Value],
    keywords: dict[str, Value],
    deferred: str = "",
) -> Value:
    """Interpret a function of the program for these arguments, and link its summary to the caller's."""
    machine = frame.machine
    known = machine.contracts.by_identity(machine, function)
    if known is not None and (frame.static or frame.region):
        return machine.contracts.called(frame, node, known, positional, keywords)
    if (left_out := frame.observer.left_out(frame, node, function)) is not None:
        return left_out
    _hand_over(frame, node, (*positional, *keywords.values()))
    if frame.static:
        _noted(frame, node, function, positional, keywords)
    given = (*positional, *keywords.values())
    if (
        (frame.static and not _worth_following(frame, function, given))
        or frame.depth >= _MAX_DEPTH
        or machine.summaries.is_spent()
    ):
        coverage.note(frame, node, Unseen.BUDGET, function.qualname)
        return promised(frame, function)
    bound = parameters.bind(frame, function, positional, keywords)
    _replaced_defaults(frame, node, function, len(positional) + len(keywords))
    _read_where_passed(bound)
    summary = _summary(frame, node, function, bound)
    if not frame.static:
        # A cache is keyed by what is passed: with tensors every call is a new one.
        keeps = function.cached_at is not None or returns_what_it_kept(function.node)
        keyed = not any(value.holds_tensor for value in bound.values())
        frame.followed(node, function.qualname, summary, deferred, cached=keeps and keyed, keyed=keyed)
        for decorator in function.modes:
            inside = Frame(machine, function.module, function.offset, summary)
            inside.emit(Event.TORCH_STATE, decorator, what="torch.inference_mode")
        local = function.closure is not None and not function.closure.static
        if function.cached_at is not None and not deferred and not local:
            leak_from_cache(frame, function, summary)
    result = summary.returns if summary.returns is not None else UNKNOWN
    if result.place.captured and result.kind in PRIMITIVES:
        result = result.at(FRESH)  # read where it was returned
    if result.kind is Kind.UNKNOWN and not function.context_manager:
        result = promised(frame, function).with_taint(result.taint)
    if isinstance(function.node, ast.AsyncFunctionDef):
        return result
    return Value(Kind.INSTANCE, FRESH, "contextlib", heap=result.heap) if function.context_manager else result


def _read_where_passed(bound: dict[str, Value]) -> None:
    for name, value in bound.items():
        if value.place.captured and value.kind in PRIMITIVES and value.place.root is not Root.DEFAULT:
            bound[name] = value.at(FRESH)


def _replaced_defaults(frame: Frame, node: ast.AST, function: Function, given: int) -> None:
    """A call that leaves out arguments reads the defaults, which code may replace."""
    if frame.static or not function.module.holds("__defaults__"):
        return
    place = function.module.place(function.name).step(".__defaults__")
    arguments = function.node.args
    plain = function.closure is None and function.owner is None
    if (
        plain
        and given < len(arguments.posonlyargs) + len(arguments.args)
        and frame.machine.mutations.is_replaced(place)
    ):
        frame.emit(Event.READ, node, place, container(Kind.TUPLE), how=Read.DATA)


def _noted(
    frame: Frame, node: ast.AST, function: Function, positional: Sequence[Value], keywords: dict[str, Value]
) -> None:
    """A call in static code is kept: what is passed, and under what."""
    machine = frame.machine
    if frame.strict or (frame.function is not None and "strict" in frame.function.traits):
        machine.called_strictly.add(function.node)
    machine.static_calls.setdefault(function.node, []).append((frame, node, tuple(positional), dict(keywords)))
    if frame.branches > frame.surely:
        frame.chosen.add(node)


def _worth_following(frame: Frame, function: Function, given: Sequence[Value]) -> bool:
    """Whether static code has to know what a callee does: constructors and their helpers, what may mark, globals."""
    made = function.name == "__init__" and function.owner is not None
    if frame.depth >= frame.machine.static_depth + (_MORE_CONSTRUCTORS if made else 0):
        return False
    if frame.at_module_level or made or fixtures.TRAIT in function.traits or _builds(frame, function, given):
        return True
    if frame.machine.may_mark(function.node) or _has_marker(function, given):
        return True
    if function.module.holds("_hook(") and registers(function.node):
        return True
    around = frame.function
    near = around is not None and (around.name == "__init__" or frame.machine.may_mark(around.node))
    if near and fallthrough.makes_callable(function.node):
        return True
    return any(one.function is not None and frame.machine.marks_inside(one.function.node) for one in frame.around())


def _builds(frame: Frame, function: Function, given: Sequence[Value]) -> bool:
    """Whether a constructor calls a method on the object that it makes, or such a method a function that returns."""
    maker = next((around for around in frame.around() if _is_constructor(around.function)), None)
    if maker is None:
        return False
    if function.owner is None:
        return frame.depth - maker.depth < _MAX_MAKERS and not frame.branches
    own = maker.env.get(_receiver_name(maker.function)) if maker.function is not None else None
    return own is not None and own.heap is not None and bool(given) and given[0].heap is own.heap


def _is_constructor(function: Function | None) -> bool:
    return function is not None and function.owner is not None and function.name in _CONSTRUCTORS


def _receiver_name(function: Function) -> str:
    arguments = function.node.args
    return next((one.arg for one in (*arguments.posonlyargs, *arguments.args)), "")


def _has_marker(function: Function, given: Sequence[Value]) -> bool:
    """Whether a function is given a marker, or was made by one that was: `compose(no_grad(), nonstrict_trace)`."""
    if function.closure is not None and any(map(holds_marker, function.closure.env.values())):
        return True
    return any(map(holds_marker, given))


def _hand_over(frame: Frame, node: ast.AST, values: Sequence[Value]) -> None:
    """Arguments reach a function of the program."""
    for value in values:
        if value.place.captured and value.kind not in CALLABLES:
            _pass_on(frame, node, value)
        if not call_keys.carries_draws(frame, value):
            frame.sink(value)


def _pass_on(frame: Frame, node: ast.AST, value: Value) -> None:
    """A captured value handed to a function that is followed is read there; only opaque ones are read here."""
    if value.kind not in TENSORS and value.kind not in (Kind.MODULE, Kind.LIST, Kind.DICT, Kind.OBJECT, Kind.TUPLE):
        frame.consume(node, value)


def promised(frame: Frame, function: Function) -> Value:
    """What a function that is not looked into gives back, as its annotation says."""
    returns = getattr(function.node, "returns", None)
    if returns is None:
        return UNKNOWN
    definition = frame.machine.module_frame(function.module)
    return frame.machine.annotated(definition, returns, FRESH)


def leak_from_cache(frame: Frame, function: Function, summary: Summary) -> None:
    """A cache around a function keeps the tensors, and objects that hold some, that it returned while tracing."""
    returned = summary.returns
    if returned is None or function.cached_at is None or not _keeps_traced(returned):
        return
    place = function.module.place(function.name)
    definition = Frame(frame.machine, function.module, function.offset, summary)
    definition.emit(Event.LEAK, function.cached_at, place, returned, how=Change.CACHE)


def _keeps_traced(returned: Value) -> bool:
    """Whether a result is, or holds, a tensor that tracing made, an object among its attributes."""
    made = [one for one in returned.alternatives() if one.kind in _OBJECTS and one.place.root is Root.FRESH]
    held = (value for one in made if one.heap is not None for value in one.heap.attributes.values())
    return traced(returned) or any(map(traced, held))


def _summary(frame: Frame, node: ast.AST, function: Function, bound: dict[str, Value]) -> Summary:
    machine = frame.machine
    live_closure = function.closure is not None and not function.closure.static
    key = call_keys.key_of(frame, function, bound)
    if live_closure:
        key = (*key, id(function.closure), id(node))
    if key in machine.summaries.open:
        machine.summaries.recursive.add(key)
        return machine.summaries.known[key]
    known = machine.summaries.get(key)
    if known is not None and (not live_closure or frame.depth > _MAX_CLOSURE_DEPTH):
        return known
    return _interpret(frame, node, function, bound, key)


def _interpret(
    frame: Frame, node: ast.AST, function: Function, bound: dict[str, Value], key: tuple[object, ...]
) -> Summary:
    machine, summaries = frame.machine, frame.machine.summaries
    summary = Summary(function.qualname, definition=function)
    summaries.known[key] = summary
    summaries.open[key] = len(summaries.open)
    summaries.budget -= 1
    for _ in range(_MAX_ROUNDS):
        before = summary.returns
        callee = _frame_for(frame, function, summary, static=frame.static)
        callee.differentiates = frame.differentiates and not differentiation.turned_off(machine, function)
        if callee.application is None and frame.static:
            callee.application = (frame.module.path, frame.offset, node)
        callee.env.update(bound)
        bodies.run(machine, callee)
        recursive = key in summaries.recursive
        summaries.recursive.discard(key)
        if not recursive or summary.returns == before:
            break
    del summaries.open[key]
    return summary


def _frame_for(caller: Frame, function: Function, summary: Summary, *, static: bool) -> Frame:
    return Frame(
        caller.machine,
        function.module,
        function.offset,
        summary,
        function=function,
        scope=scope_of(function.node),
        caller=caller,
        static=static,
    )
