"""Numbers that must stay plain: a context of a registered object, or the argument of a function with a constant result.

Neither takes a number that became symbolic, as one that varies between calls of the region does.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts import fields
from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import walk
from nonstrict.findings import Related
from nonstrict.program.contracts.boundary import boundary_values, pytree_support, varying
from nonstrict.program.contracts.boundary.varying import Variation
from nonstrict.program.domain.effects import span_of
from nonstrict.program.domain.values import NESTED_CONTAINERS, Kind
from nonstrict.program.interpret.rounds import rounds
from nonstrict.program.objects import classes, naming

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.program.contracts.boundary.boundary_values import BoundaryArgument
    from nonstrict.program.contracts.boundary.pytrees import Registration
    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.domain.definitions import Class
    from nonstrict.program.domain.values import Value
    from nonstrict.program.state.frames import Frame
    from nonstrict.program.state.machine import Machine

_CONVERSIONS = frozenset({"int", "float", "tuple"})


def variation(body: Interpreted, argument: BoundaryArgument) -> Variation:
    """How an argument varies from call to call of the region: what a context keeps of it, or the argument itself."""
    call = argument.site.call if argument.site is not None else None
    region = call.caller if call is not None else None
    if region is None or varying.compiled_with(body.machine, region, "dynamic", value=False):
        return varying.variation(body, argument)
    found = _as_constant(body, argument) if body.marker == "constant-result" else _in_context(body, argument)
    return found or varying.variation(body, argument)


def _as_constant(body: Interpreted, argument: BoundaryArgument) -> Variation | None:
    """How a number varies of which a constant result is made."""
    site = argument.site
    region = site.call.caller if site is not None and site.call is not None else None
    passed = boundary_values.handed_on(site, argument.span) if site is not None else ""
    if region is None or not passed:
        return None
    found = _varies(body.machine, varying.given_expressions(body.machine, region, passed))
    return found._replace(kept=f"`{argument.name}` of `{body.function}`") if found is not None else None


def _in_context(body: Interpreted, argument: BoundaryArgument) -> Variation | None:
    """How a number varies that the registration of an object keeps in its context."""
    for registration in argument.registrations:
        for name in sorted(kept(registration)) if registration.kind == "node" else ():
            found = _varies(body.machine, _given(body, argument, registration.cls, name))
            if found is not None:
                evidence = (*found.evidence, Related(registration.span, "registered here"))
                return found._replace(evidence=evidence, kept=f"`{name}` of `{registration.cls.name}`")
    return None


def kept(registration: Registration) -> set[str]:
    """The attributes that a flatten function puts into the context as they are."""
    flatten = registration.flatten
    if flatten.function is None:
        return set()
    function: FunctionNode = flatten.function.node
    parameters = [*function.args.posonlyargs, *function.args.args]
    ends = [node.value for node in walk(function) if isinstance(node, ast.Return)]
    ends += [function.body] if isinstance(function, ast.Lambda) else []
    flat = [end.elts[1] for end in ends if isinstance(end, ast.Tuple) and len(end.elts) == 2]
    return {name for end in flat for name in _attributes(function, end, parameters[0].arg)} if parameters else set()


def _attributes(function: FunctionNode, node: ast.expr, owner: str, depth: int = 0) -> Iterator[str]:
    if depth > NESTED_CONTAINERS:
        return
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == owner:
        yield node.attr
    elif isinstance(node, (ast.Tuple, ast.List)):
        for part in node.elts:
            yield from _attributes(function, part, owner, depth + 1)
    elif isinstance(node, ast.Dict):
        for part in node.values:
            yield from _attributes(function, part, owner, depth + 1)
    elif isinstance(node, ast.Name) and node.id != owner:
        given = _assigned(function, node.id)
        if given is not None:
            yield from _attributes(function, given, owner, depth + 1)


def _assigned(around: ast.AST, name: str) -> ast.expr | None:
    """What a variable is set to, if it is set once."""
    given = [
        node.value
        for node in walk(around)
        if isinstance(node, ast.Assign) and any(isinstance(to, ast.Name) and to.id == name for to in node.targets)
    ]
    return given[0] if len(given) == 1 else None


def _varies(machine: Machine, given: Iterable[tuple[Frame, ast.Call, ast.expr]]) -> Variation | None:
    """How what calls of a region pass varies, if it is a number; None if it is not known to."""
    distinct: set[str] = set()
    for frame, call, expression in given:
        if not _holds_number(machine.evaluate(frame, expression)):
            continue
        times = rounds(frame, call, expression)
        if times <= 1 and _is_literal(expression):
            distinct.add(ast.dump(expression))
        if times > 1 or len(distinct) > 1:
            where = Related(span_of(frame.module.path, frame.offset, call), "called with several values here")
            return Variation(max(times, len(distinct)), evidence=(where,))
    return None


def _given(
    body: Interpreted, argument: BoundaryArgument, cls: Class, name: str
) -> Iterator[tuple[Frame, ast.Call, ast.expr]]:
    """What calls of the region make an attribute of the objects of: the call, and the expression in it."""
    site = argument.site
    region = site.call.caller if site is not None and site.call is not None else None
    if site is None or region is None:
        return
    passed = boundary_values.handed_on(site, argument.span)
    if passed:
        for frame, call, expression in varying.given_expressions(body.machine, region, passed):
            part = _part(_made(frame, expression), cls, name)
            if part is not None:
                yield frame, call, part
        return
    part = _part(boundary_values.argument_node(site, argument.span), cls, name)
    if isinstance(part, ast.Name) and part.id in {
        one.arg for one in (*region.node.args.args, *region.node.args.kwonlyargs)
    }:
        yield from varying.given_expressions(body.machine, region, part.id)


def _made(frame: Frame, expression: ast.expr) -> ast.expr | None:
    """The expression that makes an object which a variable holds."""
    if not isinstance(expression, ast.Name):
        return expression
    return _assigned(naming.text_of(frame), expression.id)


def _part(node: ast.expr | None, cls: Class, name: str) -> ast.expr | None:
    """What a call of a class gives for the parameter of which its constructor makes an attribute."""
    if not isinstance(node, ast.Call) or last_name(node) != cls.name:
        return None
    if any(isinstance(one, ast.Starred) for one in node.args):
        return None
    order, taken = parameter(cls, name)
    named = next((one.value for one in node.keywords if one.arg == taken and taken), None)
    index = order.index(taken) if taken in order else len(node.args)
    return named if named is not None else node.args[index] if index < len(node.args) else None


def parameter(cls: Class, name: str) -> tuple[list[str], str]:
    """The positional parameters of a constructor, and that of which it makes an attribute; "" if it is none."""
    for base in classes.lineage(cls):
        init = fields.method(base.node, "__init__") if not isinstance(base, str) else None
        if init is None or isinstance(base, str):
            continue
        value = fields.set_by_init(base.node).get(name)
        if isinstance(value, ast.Call) and last_name(value) in _CONVERSIONS and len(value.args) == 1:
            value = value.args[0]
        return [one.arg for one in init.args.args[1:]], value.id if isinstance(value, ast.Name) else ""
    own = [base for base in reversed(list(classes.lineage(cls))) if not isinstance(base, str)]
    order = list(dict.fromkeys(field for base in own for field in fields.annotated(base.node)))
    return order, name if name in order else ""


def _holds_number(value: Value, depth: int = 0) -> bool:
    """Whether a value is a number, or holds one; truth values are none."""
    if value.kind is Kind.UNION:
        return all(_holds_number(one, depth) for one in value.alternatives())
    if value.kind is Kind.NUMBER:
        return not isinstance(value.const, bool)
    return depth < NESTED_CONTAINERS and any(
        _holds_number(element, depth + 1) for element in pytree_support.elements(value)
    )


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except ValueError:
        return False
    return True
