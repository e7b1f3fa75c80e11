"""What a marked function is given at the calls in compiled regions, and what it gives back, judged at the boundary."""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.fallthrough import in_choice_by_value, runs_off
from nonstrict.facts.scopes import is_as_passed, scope_of
from nonstrict.facts.steps import steps_of
from nonstrict.facts.use_def import use_def
from nonstrict.facts.walk import own_scope, walk
from nonstrict.program.contracts.boundary import making, pytree_support, registered
from nonstrict.program.contracts.boundary.making import Made
from nonstrict.program.contracts.boundary.pytree_support import Boundary, Refused
from nonstrict.program.discovery import callers
from nonstrict.program.domain.access_paths import FRESH, NOWHERE, Root
from nonstrict.program.domain.effects import span_of
from nonstrict.program.domain.references import Bound
from nonstrict.program.domain.values import NESTED_CONTAINERS, NO_CONSTANT, NONE, UNKNOWN, Kind, Value
from nonstrict.program.objects import classes, parameters
from nonstrict.program.objects.annotations import canonical, promised_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nonstrict.findings import Span
    from nonstrict.program.contracts.boundary.pytrees import Registration
    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.discovery.sites import CallSite
    from nonstrict.program.domain.definitions import Function

_CALLABLES = frozenset({"typing.Callable", "collections.abc.Callable", "types.FunctionType", "types.LambdaType"})
_TYPES = frozenset({"typing.Type", "builtins.type"})
_BUILTINS = frozenset(dir(builtins))


class BoundaryArgument(NamedTuple):
    """An argument of a marked function in a region; of the annotation of a parameter if no call was seen.

    `made` says in which calls the region itself makes the object. `site` is the call.
    """

    span: Span
    name: str
    value: Value
    refused: Refused | None
    made: Made = Made.NEVER
    site: CallSite | None = None
    #: of the classes of the objects that are passed
    registrations: tuple[Registration, ...] = ()


class BoundaryResult(NamedTuple):
    """What one `return` gives back; `implicit` if control runs off the end, `maybe` if only on some way."""

    span: Span
    value: Value
    refused: Refused | None
    implicit: bool = False
    maybe: bool = False


def boundary_arguments(body: Interpreted) -> list[BoundaryArgument]:
    """The arguments at all compiled calls, or, where none is seen, what the parameters ask for."""
    judge = Boundary(body.machine, body.marker, body.torch)
    if body.mark.function is None or has_no_effect(body, body.mark.function):
        return []
    found = [one for site in body.sites if site.compiled for one in _at_site(body, judge, site)]
    if not any(site.compiled for site in body.sites):
        found = list(_asked_for(body, judge))
    return [one._replace(registrations=tuple(_registrations(body, one.value))) for one in found]


def _registrations(body: Interpreted, value: Value, depth: int = 0) -> Iterator[Registration]:
    """The registrations of the classes of objects, in containers too."""
    for one in value.alternatives():
        if one.kind is Kind.OBJECT and one.of_class is not None:
            yield from registered.registrations(body.machine, one.of_class) or ()
        elif depth < NESTED_CONTAINERS:
            for element in pytree_support.elements(one):
                yield from _registrations(body, element, depth + 1)


def has_no_effect(body: Interpreted, function: Function) -> bool:
    """Whether Dynamo looks into the function all the same: it does not know methods that `allow_in_graph` marks."""
    return body.marker == "in-graph" and function.owner is not None and function.binding != "static"


# -- at a call ----------------------------------------------------------------------------------------------------


def _at_site(body: Interpreted, judge: Boundary, site: CallSite) -> Iterator[BoundaryArgument]:
    written = site.written or {}
    for name, value in site.arguments.items():
        span = site.argument_spans.get(name, site.span)
        own = written.get(name, value)
        yield _argument(body, judge, site, name, span, value, own)
    for span, value in site.surplus:
        yield _argument(body, judge, site, "", span, value, value)
    receiver = _receiver(body, site)
    if receiver is not None:
        yield BoundaryArgument(site.span, "self", receiver, judge.argument(receiver), site=site)


def _argument(
    body: Interpreted, judge: Boundary, site: CallSite, name: str, span: Span, value: Value, own: Value
) -> BoundaryArgument:
    node = argument_node(site, span)
    made = Made.ALWAYS if _is_made(site, node, own) else Made.NEVER
    if may_be_set_later(body, value):
        value = UNKNOWN  # not set yet when it was seen
    if value.kind is Kind.UNKNOWN:
        value = _made_by_helper(body, site, node)
    if value.kind is Kind.UNKNOWN and name:
        value = _promised(body, name)
    if judge.argument(_set(value)) is None and _left_out(body, site, node):
        value = NONE
    return judged(body, judge, site, name, span, value, made=made)


def may_be_set_later(body: Interpreted, value: Value) -> bool:
    """Whether a value is None only until something sets it, once the program runs or in another file."""
    place = value.place
    if value.kind is not Kind.NONE or place == FRESH:
        return False
    if place.root is Root.GLOBAL and len(place.path) <= 1:
        attribute = place.path[0] if place.path else ""
        named = not attribute or attribute.startswith(".")
        holder = place._replace(path=())
        if named and body.machine.mutations.put_later(holder, attribute.removeprefix(".")) is not None:
            return True
    return bool(body.writers(place))


def judged(
    body: Interpreted, judge: Boundary, site: CallSite, name: str, span: Span, value: Value, *, made: Made = Made.NEVER
) -> BoundaryArgument:
    """An argument, and whether torch takes it."""
    refused = judge.argument(_set(value))
    if refused is None and made is Made.ALWAYS and value.kind is Kind.MODULE:
        refused = Refused("a module created in the region", "create it outside the region")
    return BoundaryArgument(span, name, value, refused, made, site, tuple(_registrations(body, value)))


def _is_made(site: CallSite, node: ast.expr | None, own: Value) -> bool:
    """Whether the caller itself makes an object or module in every call, and does not read it from somewhere."""
    if own.kind not in (Kind.OBJECT, Kind.MODULE) or not making.is_new(own):
        return False
    caller = site.call.caller if site.call is not None else None
    if not isinstance(node, ast.Name) or caller is None:
        return isinstance(node, ast.Call)
    return any(_makes(caller, given) for given in _given(caller, node.id))


def _makes(caller: Function, value: ast.expr) -> bool:
    """Whether an expression may make something: what a parameter holds or hands out was there before."""
    parameters = scope_of(caller.node).parameters
    for call in walk(value):
        if isinstance(call, ast.Call):
            steps = steps_of(call.func)
            if steps and steps[0] not in parameters and steps[0] not in _BUILTINS:
                return True
    return False


def _given(function: Function, name: str) -> list[ast.expr]:
    """The expressions that a function assigns to a variable, or of which it is a part."""
    found: list[ast.expr] = []
    for node in walk(function.node):
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found += (node.value for target in targets if name in _stored_names(target))
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            found += [node.iter] if name in _stored_names(node.target) else []
    return found


def _stored_names(target: ast.expr) -> set[str]:
    return {node.id for node in walk(target) if isinstance(node, ast.Name)}


def _made_by_helper(body: Interpreted, site: CallSite, node: ast.expr | None) -> Value:
    """What a function at the top level returns that the caller calls for the argument."""
    caller = site.call.caller if site.call is not None else None
    if caller is None:
        return UNKNOWN
    if isinstance(node, ast.Name) and node.id in scope_of(caller.node).assigned:
        node = use_def(caller.node).value(node.id)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return UNKNOWN
    callee = body.machine.global_value(caller.module, node.func.id)
    if callee.function is None or node.func.id in scope_of(caller.node).local:
        return UNKNOWN
    returned = body.machine.static_frame(callee.function).summary.returns
    return returned if returned is not None and returned.kind is not Kind.UNION else UNKNOWN


def handed_on(site: CallSite, span: Span) -> str:
    """The parameter of the caller that it passes on as it got it; "" if the argument is something else."""
    node = argument_node(site, span)
    caller = site.call.caller if site.call is not None else None
    passed = isinstance(node, ast.Name) and caller is not None and node.id in _as_passed(caller)
    return node.id if isinstance(node, ast.Name) and passed else ""


def parameters_in(site: CallSite, span: Span) -> list[str]:
    """The parameters of the caller of which an argument is made, that it holds as it got them."""
    node = argument_node(site, span)
    caller = site.call.caller if site.call is not None else None
    if node is None or caller is None:
        return []
    return sorted({inner.id for inner in walk(node) if isinstance(inner, ast.Name)} & _as_passed(caller))


def _as_passed(function: Function) -> set[str]:
    """The parameters, without `*args` and `**kwargs`, that a function holds as it got them."""
    arguments = function.node.args
    names = [one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    return {name for name in names if is_as_passed(function.node, name)}


def _set(value: Value) -> Value:
    """The value without alternatives that only stand for "not set yet": None in an attribute."""
    if value.kind is not Kind.UNION:
        return value
    kept = [one for one in value.alternatives() if one.kind is not Kind.NONE or one.place == FRESH]
    return value.with_alternatives(kept) if kept else value


def argument_node(site: CallSite, span: Span) -> ast.expr | None:
    """The expression of an argument."""
    call = site.call.node if site.call is not None else None
    given = (*call.args, *(keyword.value for keyword in call.keywords)) if call is not None else ()
    wanted = (span.line - (site.call.offset if site.call is not None else 0), span.column, span.end_column)
    return next((node for node in given if (node.lineno, node.col_offset, node.end_col_offset) == wanted), None)


def _left_out(body: Interpreted, site: CallSite, node: ast.expr | None) -> bool:
    """Whether the caller passes on a parameter whose default is None, which its own callers leave out."""
    caller = site.call.caller if site.call is not None else None
    if caller is None or not isinstance(node, ast.Name):
        return False
    default = parameters.default_nodes(caller.node.args).get(node.id)
    if not _is_none(default) or _asks_for(caller, node.id):
        return False
    return callers.leaves_out(body.machine, caller, node.id)


def _is_none(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _asks_for(function: Function, name: str) -> bool:
    """Whether a function looks at a parameter before it uses it, or gives it another value."""
    if not is_as_passed(function.node, name):
        return True
    for node in walk(function.node):
        tests = [node.test] if isinstance(node, (ast.If, ast.IfExp, ast.Assert, ast.While)) else []
        if isinstance(node, ast.BoolOp):
            tests += node.values
        if any(isinstance(inner, ast.Name) and inner.id == name for test in tests for inner in walk(test)):
            return True
    return False


def _receiver(body: Interpreted, site: CallSite) -> Value | None:
    """The object on which a marked method is called: `self` is an argument too."""
    function = body.mark.function
    receiver = site.call.receiver if site.call is not None else None
    if function is None or function.binding or receiver is None or body.marker == "in-graph":
        return None
    return receiver if receiver.kind is Kind.OBJECT and body.receiver is None else None


# -- without a call -----------------------------------------------------------------------------------------------


def _asked_for(body: Interpreted, judge: Boundary) -> Iterator[BoundaryArgument]:
    """What parameters without a default are annotated with, and the class of a method that is not a module."""
    function = body.mark.function
    if function is None or body.mark.target.kind is not Kind.FUNCTION:
        return
    arguments = function.node.args
    defaults = parameters.default_nodes(arguments)
    ordered = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    method = function.owner is not None and function.binding != "static"
    if method and function.owner is not None and ordered and not function.binding:
        yield from _own_class(body, judge, ordered[0])
    for parameter in ordered[1:] if method else ordered:
        if parameter.arg not in defaults:
            value = _promised(body, parameter.arg)
            span = span_of(function.module.path, function.offset, parameter)
            yield BoundaryArgument(span, parameter.arg, value, judge.argument(value))


def _own_class(body: Interpreted, judge: Boundary, parameter: ast.arg) -> Iterator[BoundaryArgument]:
    function = body.mark.function
    if function is None or function.owner is None or body.marker == "in-graph":
        return
    name = function.owner.name.lower()
    derived = any(
        function.owner in classes.lineage(other)
        for other in body.machine.classes.values()
        if other is not function.owner
    )
    if derived or "mixin" in name or "base" in name or "abstract" in name:
        return
    value = classes.instance_at(body.machine, function.owner, NOWHERE)
    span = span_of(function.module.path, function.offset, parameter)
    yield BoundaryArgument(span, parameter.arg, value, judge.argument(value))


def _promised(body: Interpreted, name: str) -> Value:
    """What the annotation of a parameter says."""
    function = body.mark.function
    if function is None:
        return UNKNOWN
    arguments = function.node.args
    ordered = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    annotation = next((one.annotation for one in ordered if one.arg == name), None)
    definition = parameters.definition_frame(body.machine.module_frame(function.module), function)
    named = canonical(definition, annotation)
    if named in _CALLABLES:
        return Value(Kind.BOUND, NOWHERE, Bound(UNKNOWN, UNKNOWN))
    if named in _TYPES:
        return Value(Kind.EXTERNAL, NOWHERE, "builtins.int")
    return promised_value(definition, annotation, NOWHERE)


# -- results ------------------------------------------------------------------------------------------------------


def boundary_results(body: Interpreted, dynamic: Callable[[], bool]) -> list[BoundaryResult]:
    """What the function returns, `return` by `return`, and the None of running off its end.

    `dynamic` tells whether sizes of an argument are symbolic.
    """
    function = body.mark.function
    if function is None or body.mark.target.kind is Kind.CLASS or body.mark.disabled or _hands_over(function):
        return []
    if has_no_effect(body, function):
        return []
    judge = Boundary(body.machine, body.marker, body.torch)
    results = [one for one in body.summary.held.items() if isinstance(one[0], ast.Return) or one[0] is function.node]
    found = [_one(body, judge, function, node, value, dynamic) for node, value in results]
    if runs_off(function.node) and body.summary.open_end:
        maybe = bool(found)
        if not (maybe and in_choice_by_value(function.node)):
            found.append(BoundaryResult(_header(function), NONE, judge.result(NONE), implicit=True, maybe=maybe))
    return found


def _hands_over(function: Function) -> bool:
    """Whether calling the function only makes a generator or coroutine."""
    if isinstance(function.node, ast.AsyncFunctionDef):
        return True
    return any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in own_scope(function.node))


def _one(
    body: Interpreted, judge: Boundary, function: Function, node: ast.AST, value: Value, dynamic: Callable[[], bool]
) -> BoundaryResult:
    shown = node.body if isinstance(node, ast.Lambda) else getattr(node, "value", None) or node
    value = _with_absent(body, function, value)
    maybe = value.kind is Kind.UNION and judge.result(value, sure=False) is None
    maybe = maybe or judge.result(_without_none(value)) is None
    refused = judge.result(value)
    alone = refused is None and body.marker == "in-graph"
    if what := _number_alone(value, dynamic) if alone and isinstance(shown, ast.expr) else "":
        refused, maybe = (
            pytree_support.Refused(what, "return it together with a tensor, or use `nonstrict_trace`"),
            False,
        )
    return BoundaryResult(span_of(function.module.path, function.offset, shown), value, refused, maybe=maybe)


def _number_alone(value: Value, dynamic: Callable[[], bool]) -> str:
    """What a value is that `allow_in_graph` does not take: one whole number or flag; "" if it is, or may be, another.

    Measured on torch 2.13: what comes of a size that is dynamic is taken, as it is symbolic then; `dynamic` tells so.
    """
    what = "only a bool" if value.kind is Kind.BOOL else "only an int" if value.is_whole else ""
    return "" if what and value.const is NO_CONSTANT and dynamic() else what


def _without_none(value: Value, depth: int = 0) -> Value:
    """The value without None that is read, as in `getattr(module, "bias", None)`."""
    if value.kind is Kind.UNION:
        kept = tuple(one for one in value.alternatives() if one.kind is not Kind.NONE or one.place == FRESH)
        return value.with_alternatives(kept) if len(kept) > 1 else kept[0] if kept else value
    if value.kind is Kind.TUPLE and value.heap is not None and depth < 2:
        items = [_without_none(item, depth + 1) for item in value.heap.items.values()]
        return _tuple_of(value, items)
    return value


def _with_absent(body: Interpreted, function: Function, value: Value) -> Value:
    """The value where a parameter that compiled calls leave out, with the default None, is None."""
    absent = _absent(body, function)
    if not absent:
        return value
    if value.kind is Kind.TUPLE and value.heap is not None:
        return _tuple_of(value, [_or_none(item, absent) for item in value.heap.items.values()])
    return _or_none(value, absent)


def _or_none(value: Value, absent: frozenset[str]) -> Value:
    place = value.place
    return NONE if place.root is Root.ARGUMENT and not place.path and place.name in absent else value


def _tuple_of(value: Value, items: list[Value]) -> Value:
    made = pytree_support.tuple_of(items)
    return value._replace(heap=made.heap)


def _absent(body: Interpreted, function: Function) -> frozenset[str]:
    defaults = parameters.default_nodes(function.node.args)
    candidates = {name for name, node in defaults.items() if _is_none(node) and not _asks_for(function, name)}
    sites = [site for site in body.sites if site.compiled]
    return frozenset(name for name in candidates if any(name not in site.arguments for site in sites))


def _header(function: Function) -> Span:
    """The `def` and the name of a function."""
    whole = span_of(function.module.path, function.offset, function.node)
    keyword = "async def " if isinstance(function.node, ast.AsyncFunctionDef) else "def "
    return whole._replace(end_line=whole.line, end_column=whole.column + len(keyword) + len(function.name))
