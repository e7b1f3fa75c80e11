"""NST607 undeclared-mutation.

A leaf function or custom operator changes an argument that it does not declare, or returns one.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import own_scope, walk
from nonstrict.findings import Applicability, Severity
from nonstrict.knowledge.operators import tensor_method, torch_function
from nonstrict.program.contracts.marks.shared_results import sharing
from nonstrict.program.contracts.marks.tensor_forms import mentions, tensors_in
from nonstrict.program.domain.access_paths import HOST, Root
from nonstrict.program.domain.values import Flag, Kind
from nonstrict.rules.base import Rule, report, report_at
from nonstrict.rules.captures import called
from nonstrict.rules.expectation import Expectation, Experiment, Refusal, Trait

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.program.domain.access_paths import AccessPath
    from nonstrict.program.domain.definitions import Operator
    from nonstrict.program.domain.effects import Observed
    from nonstrict.program.domain.values import Value
    from nonstrict.rules.base import Body

#: What makes sequences, and nothing of their elements.
_SEQUENCE_CALLS = frozenset({"list", "tuple", "range", "len", "zip", "enumerate", "reversed", "sorted"})
#: How large a tensor is, which says nothing of its memory.
_SIZES = frozenset({"shape", "size", "ndim", "dim", "numel"})
#: In place of a position: any part of a sequence of unknown length.
_ANY = -2
#: Devices other than the CPU, as operators and their kernels are registered for them.
_DEVICES = frozenset({"cuda", "mps", "xpu", "hpu", "mtia", "xla", "npu"})

_NUMBERS = re.compile(r"\b(int|float|bool|complex|number|Scalar)\b")


def examine(body: Body) -> Iterator[Finding]:
    """Yield changes of arguments that are not declared, and arguments that are returned."""
    operator = body.applied.operator
    if operator is None or operator.node is None or body.applied.takes_anything:
        return
    if operator.mutates is not None and operator.api != "triton_op":
        yield from _mutations(body, operator, operator.mutates)
    if not operator.aliases_declared:
        aliases = list(_aliases(body, operator))
        yield from aliases or _shared(body, operator)


# -- changes ------------------------------------------------------------------------------------------------------


def _mutations(body: Body, operator: Operator, declared: frozenset[str]) -> Iterator[Finding]:
    leaf = operator.api == "leaf_function"
    for seen in body.observed(Event.INPUT_WRITE):
        place = seen.effect.place
        if place.root is not Root.ARGUMENT or _is_declared(place, declared):
            continue
        if not leaf and any(step.startswith(".") for step in place.path):
            continue  # a schema speaks of tensors and lists of them, not of what an object keeps for itself
        name = place.name
        outcome = "torch raises" if leaf else "compiled code does not see the change and may use the old values"
        where = f" if `{name}` is on the CPU," if HOST in place.path else ""
        message = f"`{called(body)}` changes its argument `{name}`{where} without declaring it"
        advice = f"add `{name}` to `mutates_args`, or change a clone"
        if operator.api == "define":
            advice = f"declare it in the schema, as in `Tensor(a!) {name}`, or change a clone"
        severity = _how_sure(body, seen)
        if severity is not None:
            yield report(RULE, body, seen, message, note=outcome, help=advice, severity=severity)


def _is_declared(place: AccessPath, declared: frozenset[str]) -> bool:
    """Whether a declared name, or expression such as `buffers[0]` or `model.mean`, covers a place."""
    text = place.text
    for expression in declared:
        spelled = expression.replace('"', "'")
        root = re.split(r"[.\[]", spelled, maxsplit=1)[0]
        if root == place.name and (root == spelled or "[...]" in text or text.startswith(spelled)):
            return True
        if root == place.name and spelled.startswith(text):
            return True
    return False


def _how_sure(body: Body, seen: Observed) -> Severity | None:
    """Milder where what is changed may be a copy, as a layout makes it if need be; a cast mostly makes one: None."""
    if not seen.effect.place.is_view:
        return Severity.ERROR
    found: set[str] = set()
    for function, expressions in _ways(body, seen):
        if function is None or not expressions:
            return None
        for expression in expressions:
            found |= _conversions(function, expression)
    on_host = HOST in seen.effect.place.path
    if "cast" in found or (on_host and not _runs_on_cpu(body)):
        return None
    return Severity.WARNING if found or on_host else Severity.ERROR


def _ways(body: Body, seen: Observed) -> Iterator[tuple[ast.AST | None, list[ast.expr]]]:
    """The functions that a changed tensor goes through, each with what it passes on, or changes in the end."""
    function: ast.AST | None = body.applied.node
    for edge in seen.chain:
        call = edge.node
        yield function, _passed(call) if isinstance(call, ast.Call) else []
        definition = edge.summary.definition
        function = definition.node if definition is not None else None
    changed = _changed(seen.effect.node)
    yield function, [changed] if changed is not None else []


def _passed(call: ast.Call) -> list[ast.expr]:
    """What a call passes, and what the method is of."""
    receiver = [call.func.value] if isinstance(call.func, ast.Attribute) else []
    return [*receiver, *call.args, *(keyword.value for keyword in call.keywords)]


def _runs_on_cpu(body: Body) -> bool:
    """Whether nothing limits the function to other devices, where `cpu()` copies."""
    node = body.applied.node
    if body.applied.spelling.endswith(".impl") or not isinstance(node, ast.FunctionDef):
        return False
    parts = (part for decorator in node.decorator_list for part in walk(decorator))
    texts = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    return "cpu" in texts or not _DEVICES.intersection(texts)


def _changed(node: ast.AST) -> ast.expr | None:
    """The tensor expression that an in-place call, subscript store or augmented assignment changes."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.value
    if isinstance(node, ast.AugAssign):
        return node.target
    return node if isinstance(node, ast.expr) else None


def _conversions(function: ast.AST, node: ast.expr, seen: frozenset[str] = frozenset()) -> set[str]:
    """The conversions that an expression goes through, `cast` and `layout`; none if it surely is a view."""
    if isinstance(node, ast.IfExp):
        return _conversions(function, node.body, seen) | _conversions(function, node.orelse, seen)
    found: set[str] = set()
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Call):
            found |= _converting(last_name(node))
            if not isinstance(node.func, ast.Attribute):
                return found
            node = node.func.value
        elif isinstance(node, (ast.Subscript, ast.Attribute)):
            node = node.value
        else:
            return found
    if node.id in seen or not isinstance(function, ast.FunctionDef):
        return found
    for part in own_scope(function):
        if isinstance(part, ast.Assign) and any(getattr(target, "id", "") == node.id for target in part.targets):
            found |= _conversions(function, part.value, seen | {node.id})
    return found


def _converting(name: str) -> set[str]:
    """How a method, or a function of torch, may give its operand or a view of it: where there is nothing to convert.

    `cpu()` is told by where its result is.
    """
    operator = tensor_method(name) or torch_function(f"torch.{name}")
    told = {"cast": operator.casts and name != "cpu", "layout": operator.lays_out} if operator is not None else {}
    return {kind for kind, is_so in told.items() if is_so}


# -- results ------------------------------------------------------------------------------------------------------


def _aliases(body: Body, operator: Operator) -> Iterator[Finding]:
    unchecked = operator.api in ("leaf_function", "define")
    told: set[ast.expr] = set()
    results = list(_results(body.returned))
    for index, value in results:
        at = _returning(body, index, value.place.name) if _is_argument(value, untyped=unchecked) else None
        if at is None or (index == _ANY and _may_convert(body.applied.node)):
            continue
        if at not in told and not _chooses_copy(at) and not _is_told_apart(body.applied.node, at, value.place):
            told.add(at)
            others = [other for position, other in results if position == index and other.kind is not Kind.NONE]
            alone = not value.flags & Flag.MAYBE and all(_is_argument(other, untyped=True) for other in others)
            sure = alone or _is_another(body.applied.node, at, value.place)
            yield from _alias(body, operator, value.place, at, unchecked=unchecked, sure=sure)


def _shared(body: Body, operator: Operator) -> Iterator[Finding]:
    """Results that share memory with one another: torch compares what a `custom_op` returns."""
    node = body.applied.node
    if operator.api != "custom_op" or not isinstance(node, ast.FunctionDef) or node.returns is None:
        return
    if _NUMBERS.search(ast.unparse(node.returns)):
        return

    def is_tensor(part: ast.expr) -> bool:
        value = body.held.at(body.applied.span_of(part))
        return value is not None and value.is_tensor

    for at in sharing(node, body.applied.names, is_tensor):
        message, note = f"two results of `{called(body)}` share their memory", "torch raises, compiled or not"
        yield report_at(RULE, body, body.applied.span_of(at), message, note=note, help="return copies: `.clone()`")


def _may_convert(function: FunctionNode | None) -> bool:
    """Whether a function calls something that may make copies of the parts of what it returns."""
    for part in own_scope(function) if function is not None else ():
        if isinstance(part, ast.Call):
            plain = isinstance(part.func, ast.Name) and part.func.id not in _SEQUENCE_CALLS
            if plain or _converting(last_name(part)):
                return True
    return False


def _chooses_copy(node: ast.expr) -> bool:
    """Whether an expression takes a copy if need be: `y.clone() if y is x else y`.

    That is a question about the tensor; what a flag or a size decides copies on one way only.
    """
    if not isinstance(node, ast.IfExp) or "clone" not in {last_name(side) for side in (node.body, node.orelse)}:
        return False
    chosen = {part.id for side in (node.body, node.orelse) for part in walk(side) if isinstance(part, ast.Name)}
    return _compares_identity(node.test) or not chosen.isdisjoint(_asked(node.test))


def _compares_identity(test: ast.expr) -> bool:
    """Whether a test compares two objects with `is`, and not one with None."""
    for part in walk(test):
        if isinstance(part, ast.Compare) and any(isinstance(one, (ast.Is, ast.IsNot)) for one in part.ops):
            return not any(isinstance(side, ast.Constant) for side in (part.left, *part.comparators))
    return False


def _asked(test: ast.expr) -> set[str]:
    """The variables of which a test asks more than how large they are, or whether they are one constant."""
    told: set[int] = set()
    for part in walk(test):
        if isinstance(part, ast.Attribute) and part.attr in _SIZES:
            told.add(id(part.value))
        elif isinstance(part, ast.Call) and last_name(part) == "len":
            told.update(map(id, part.args))
        elif isinstance(part, ast.Compare) and any(isinstance(side, ast.Constant) for side in part.comparators):
            told.add(id(part.left))
    return {part.id for part in walk(test) if isinstance(part, ast.Name) and id(part) not in told}


def _is_told_apart(function: FunctionNode | None, at: ast.expr, place: AccessPath) -> bool:
    """Whether a conversion is compared with the argument and copied if it is that: `if y is x:`."""
    made = _compared(function, at, place)
    method = tensor_method(last_name(made)) if made is not None else None
    if method is not None and method.itself_or_copy:
        return True
    if function is None or not place.is_view or not _conversions(function, at):
        return False
    tests = (part.test for part in own_scope(function) if isinstance(part, (ast.If, ast.IfExp)))
    names = {place.name, at.id} if isinstance(at, ast.Name) else {place.name}
    return any(not names.isdisjoint(_asked(test)) for test in tests)


def _is_another(function: FunctionNode | None, at: ast.expr, place: AccessPath) -> bool:
    """Whether a view, always another object than the argument, is copied only if it is the argument."""
    made = _compared(function, at, place)
    works_in_place = made is not None and last_name(made).endswith("_")
    return made is not None and function is not None and not works_in_place and not _conversions(function, made)


def _compared(function: FunctionNode | None, at: ast.expr, place: AccessPath) -> ast.Call | None:
    """The method of an argument that made a name, which is then compared with the argument: `if y is x:`."""
    if not isinstance(function, ast.FunctionDef) or not isinstance(at, ast.Name) or not place.is_view:
        return None
    statements = function.body
    made = [one for one in statements if isinstance(one, ast.Assign) and last_name(one.targets[0]) == at.id]
    value = made[0].value if len(made) == 1 else None
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
        return None
    if getattr(value.func.value, "id", "") != place.name:
        return None
    told_apart = any(_replaces(one, at.id, place.name) for one in statements[statements.index(made[0]) :])
    return value if told_apart else None


def _replaces(statement: ast.stmt, name: str, other: str) -> bool:
    """Whether a statement is `if name is other:` and puts a copy in place of the name, or returns one."""
    if not isinstance(statement, ast.If) or not isinstance(statement.test, ast.Compare):
        return False
    test, last = statement.test, statement.body[-1]
    compared = {getattr(side, "id", "") for side in (test.left, *test.comparators)}
    if compared != {name, other} or not isinstance(test.ops[0], ast.Is) or statement.orelse:
        return False
    if isinstance(last, ast.Assign) and [last_name(target) for target in last.targets] != [name]:
        return False
    value = last.value if isinstance(last, (ast.Assign, ast.Return)) else None
    return isinstance(value, ast.Call) and last_name(value) == "clone"


def _alias(
    body: Body, operator: Operator, place: AccessPath, at: ast.expr, *, unchecked: bool, sure: bool
) -> Iterator[Finding]:
    """A result that is an argument; a warning where only some calls return it."""
    node = body.applied.node
    conversion = _conversions(node, at) if place.is_view and node is not None else set[str]()
    on_host = HOST in place.path
    casts = "cast" in conversion or on_host
    if (casts and unchecked) or (on_host and not _runs_on_cpu(body)):
        return
    view = "a view of its argument" if place.is_view and not casts else "its argument"
    severity = Severity.NOTE if casts else Severity.WARNING if conversion or not sure else Severity.ERROR
    outcome = "torch raises, compiled or not"
    if unchecked:
        severity = min(severity, Severity.NOTE if operator.api == "leaf_function" else Severity.WARNING)
        outcome = "compiled code treats it as a separate tensor: changes to one do not reach the other"
    condition = " if the conversion is a no-op" if conversion or on_host else ""
    message = f"`{called(body)}` returns {view} `{place.name}`{condition}"
    advice = f"return a clone: `{place.name}.clone()`"
    yield report_at(RULE, body, body.applied.span_of(at), message, note=outcome, help=advice, severity=severity)


def _results(returned: Value) -> Iterator[tuple[int, Value]]:
    """The values that are returned, each with its position in a tuple; -1 where there is none, or that of any part."""
    for value in returned.alternatives():
        if value.kind in (Kind.TUPLE, Kind.LIST, Kind.DICT) and value.heap is not None:
            for key, item in value.heap.items.items():
                for alternative in item.alternatives():
                    yield key if isinstance(key, int) else -1, alternative
            if value.heap.element is not None and not value.heap.items:
                for alternative in value.heap.element.alternatives():
                    yield _ANY, alternative
        else:
            yield -1, value


def _is_argument(value: Value, *, untyped: bool) -> bool:
    """Whether a value is an argument; with `untyped` also one of which only is known that it is passed on."""
    tensor = value.is_tensor or (untyped and value.kind is Kind.UNKNOWN)
    return tensor and value.place.root is Root.ARGUMENT


def _returning(body: Body, index: int, name: str) -> ast.expr | None:
    """The returned expression that an argument is part of; the first one if its name does not stand there."""
    parts = [tensors_in(value) for value in body.applied.returned()]
    if len(parts) == 1 and 0 <= index < len(parts[0]):
        return parts[0][index]
    copied = {
        one.span
        for one in body.boundary_results
        if not any(_is_argument(each, untyped=True) for _, each in _results(one.value))
    }
    returned = [part for group in parts for part in group if body.applied.span_of(part) not in copied]
    named = [part for part in returned if mentions(part, name)]
    plain = [part for part in named if isinstance(part, ast.Name)]
    rooted = [part for part in named if _begins_with(part, name)]
    return next(iter((*plain, *rooted, *named, *returned)), None)


def _begins_with(node: ast.expr, name: str) -> bool:
    """Whether an expression is made of a name by attributes, subscripts and methods."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return isinstance(node, ast.Name) and node.id == name


def fixes(context: Context) -> Iterator[Fix]:
    """Declare the change, or return a copy."""
    from nonstrict.fixes.operators.declaring import declare

    yield from declare(context)


RULE = Rule(
    code="NST607",
    name="undeclared-mutation",
    severity=Severity.ERROR,
    summary="A leaf function or custom operator changes an argument that it does not declare, or returns one.",
    markers=frozenset({"leaf", "custom-op"}),
    examine=examine,
    fixes=fixes,
    surest=Applicability.SAFE,
    expectation=Expectation(
        Experiment.REFUSAL,
        refusals=frozenset({Refusal.UNDECLARED_MUTATION}),
        traits=Trait.OPERATOR | Trait.IN_MARKERS | Trait.NEEDS_REGION,
        opcheck="test_schema",
    ),
)
