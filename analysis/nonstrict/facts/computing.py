"""Expressions that compute another value from one, so that doing it again to the result gives a third."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.library_calls import called
from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import children, walk
from nonstrict.knowledge.operators import torch_function

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from nonstrict.facts.library_calls import Called, Names
    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.knowledge.operators import Operator

#: Methods of lists after which these hold more.
_APPENDING = frozenset({"append", "extend", "insert"})
#: Functions of Python, and choices, that may undo a computation as an operator that settles does: the whole is the same
#: for its own result (`int((x + 7) / 8) * 8`, a wrapped angle).
_SETTLING = frozenset({"abs", "bool", "int", "max", "min", "round", "unique", "where"})
_SETTLED_BY = (ast.FloorDiv, ast.Mod, ast.BitAnd, ast.BitOr)
#: Reductions that are something else again only where they are told over what.
_TOTALS = frozenset({"sum", "mean"})
#: Functions of Python that hand on what they are given.
_PLAIN = frozenset({"tuple", "list", "float", "complex"})
_PARTING = frozenset({"unbind", "chunk", "split", "tensor_split"})
_NEUTRAL: dict[type[ast.operator], int] = {ast.Add: 0, ast.Sub: 0, ast.Mult: 1, ast.Div: 1, ast.Pow: 1}
#: Functions that are called with the value are looked into so far.
_FOLLOWED_CALLS = 3


class Guard(NamedTuple):
    """A test that lets something happen, and how it has to come out; no test if it cannot be told."""

    test: ast.expr | None
    holds: bool


class Reached(NamedTuple):
    """A function of the program that a call reaches, and which of its parameters the first argument becomes."""

    function: FunctionNode
    first: int
    resolver: Resolver


class Resolver(NamedTuple):
    """Tells of calls in the text of a function what their names stand for, and what of the program they reach."""

    names: Names
    reached: Callable[[ast.Call], Reached | None]


class Subject(NamedTuple):
    """What is looked for in an expression: whether a node is the value, and the names of its disjoint parts."""

    is_it: Callable[[ast.AST], bool]
    parts: frozenset[str]
    resolver: Resolver
    depth: int = 0

    def call(self, node: ast.Call) -> Called:
        """What a call calls."""
        return called(self.resolver.names, node)

    def is_direct(self, node: ast.AST) -> bool:
        """Whether a node is the value, or a part of it."""
        if isinstance(node, ast.Call) and _hands_on(call := self.call(node)):
            return any(self.is_direct(part) for part in (call.operand, *node.args[:1]) if part is not None)
        return self.is_it(node) or self._is_slice(node) or self._is_part(node)

    def mentioned(self, node: ast.AST) -> bool:
        """Whether an expression reads the value."""
        return any(self.is_it(inner) or self._is_part(inner) for inner in walk(node))

    def _names(self, node: ast.expr) -> set[str]:
        return {inner.id for inner in walk(node) if isinstance(inner, ast.Name) and inner.id in self.parts}

    def _is_slice(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Subscript) and self.is_it(node.value)

    def _is_part(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and node.id in self.parts

    def apart(self, left: ast.expr, right: ast.expr) -> bool:
        """Whether two expressions surely read different parts of the value."""
        whole = [node for side in (left, right) for node in walk(side) if self.is_it(node)]
        if not whole:
            return self._names(left).isdisjoint(self._names(right))
        return self._is_slice(left) and self._is_slice(right) and _complementary(left, right)


def _complementary(left: ast.expr, right: ast.expr) -> bool:
    """Whether one of two subscripts ends where the other begins."""
    slices = [_last_slice(node) for node in (left, right)]
    for one, other in (slices, reversed(slices)):
        if one is not None and other is not None and one.upper is not None and other.lower is not None:
            first = one.lower is None and other.upper is None
            if first and ast.dump(one.upper) == ast.dump(other.lower):
                return True
    return False


def _last_slice(node: ast.expr) -> ast.Slice | None:
    index = node.slice if isinstance(node, ast.Subscript) else None
    if isinstance(index, ast.Tuple) and index.elts:
        index = index.elts[-1]
    return index if isinstance(index, ast.Slice) and index.step is None else None


def computing(value: ast.AST, subject: Subject, guards: tuple[Guard, ...] = ()) -> Iterator[tuple[Guard, ...]]:
    """The conditions under which an expression computes another value from a subject, each with the given ones."""
    if isinstance(value, ast.IfExp):
        yield from computing(value.body, subject, (*guards, *required(value.test)))
        yield from computing(value.orelse, subject, (*guards, *excluded(value.test)))
    elif isinstance(value, (ast.Lambda, ast.BoolOp, ast.Compare)):
        return
    elif isinstance(value, ast.BinOp):
        yield from _operator(value, subject, guards)
    elif isinstance(value, ast.Call):
        yield from _call(value, subject, guards)
    else:
        negates = isinstance(value, ast.UnaryOp) and isinstance(value.op, (ast.USub, ast.Not, ast.Invert))
        if isinstance(value, ast.UnaryOp) and negates and subject.is_direct(value.operand):
            yield guards
        for child in children(value):
            yield from computing(child, subject, guards)


def required(test: ast.expr) -> tuple[Guard, ...]:
    """What has to hold for a test to hold, condition by condition."""
    whole = isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And)
    parts = test.values if isinstance(test, ast.BoolOp) and whole else [test]
    return tuple(Guard(part, holds=True) for part in parts)


def excluded(test: ast.expr) -> tuple[Guard, ...]:
    """What has to fail for a test to fail, condition by condition."""
    whole = isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or)
    parts = test.values if isinstance(test, ast.BoolOp) and whole else [test]
    return tuple(Guard(part, holds=False) for part in parts)


def _operator(value: ast.BinOp, subject: Subject, guards: tuple[Guard, ...]) -> Iterator[tuple[Guard, ...]]:
    if isinstance(value.op, _SETTLED_BY):
        # Alone `x // 2` goes on halving; with more around it or in it, it rounds.
        if isinstance(value.op, ast.FloorDiv) and subject.is_direct(value.left) and not subject.mentioned(value.right):
            yield guards
        return
    if not any(map(_floors, (value.left, value.right))):
        both = subject.mentioned(value.left) and subject.mentioned(value.right)
        if both and not _mixes(value, subject):
            return  # `x - x.mean()`, `x / x.norm()`: once it is done, it does nothing
        if changes_by(value.op, value.left, value.right, subject):
            yield guards
        for side in (value.left, value.right):
            yield from computing(side, subject, guards)


def _mixes(value: ast.BinOp, subject: Subject) -> bool:
    """Whether an operator joins several readings of a value so that its result is another one for its own result."""
    direct = subject.is_direct(value.left) and subject.is_direct(value.right)
    if direct and isinstance(value.op, (ast.Add, ast.MatMult)):
        return True
    if direct and subject.is_it(value.left) and subject.is_it(value.right):
        return isinstance(value.op, (ast.Mult, ast.Pow))
    return subject.apart(value.left, value.right)


def changes_by(op: ast.operator, left: ast.expr, right: ast.expr, subject: Subject) -> bool:
    """Whether an operator gives something else for its own result: `x * 2`, but not `x | 2`, `x * 1`, `x * mask`."""
    if not (subject.is_direct(left) or subject.is_direct(right)) or isinstance(op, (ast.Mod, ast.BitAnd, ast.BitOr)):
        return False
    other = right if subject.is_direct(left) else left
    if isinstance(other, ast.Constant) and other.value == _NEUTRAL.get(type(op), object()):
        return False
    masks = isinstance(other, ast.Compare) or any("mask" in last_name(node) for node in walk(other))
    return not (isinstance(op, ast.Mult) and masks)


def _call(value: ast.Call, subject: Subject, guards: tuple[Guard, ...]) -> Iterator[tuple[Guard, ...]]:
    call = subject.call(value)
    name = call.name
    operator = operator_of(call)
    if name in _SETTLING or (operator is not None and _may_undo(operator)):
        return
    if _floors(value) and not any(subject.is_direct(part) for part in (call.operand, *call.given) if part is not None):
        return
    reached = subject.resolver.reached(value) if subject.depth < _FOLLOWED_CALLS else None
    if reached is not None:
        if _in_function(value, reached, subject):
            yield guards
        return
    if name in _APPENDING or changes(operator, name):
        parts = [part for part in (call.operand, *call.given) if part is not None]
        if not _reduces_all(value, call) and changes_together(parts, subject):
            yield guards
    elif _grows(call) and call.operand is not None and subject.is_direct(call.operand):
        yield guards
    elif isinstance(value.func, ast.Name) and call.library in ("", "builtins") and name not in _PLAIN:
        return
    operands = [part for part in (call.operand, *call.given) if part is not None and subject.mentioned(part)]
    if operator is not None and operator.pointwise and len(operands) > 1:
        return  # `atan2(sin(x), cos(x))` is the same for its own result, as `x / x.norm()` is
    for child in children(value):
        yield from computing(child, subject, guards)


def _may_undo(operator: Operator) -> bool:
    """Whether an operator may undo what was computed of its operand: it settles, or it is the same for many operands.

    Where no gradient flows though each element is computed from those in its place, they are steps: `floor_divide`,
    `heaviside`, `gt`.
    """
    steps = operator.pointwise and operator.cuts_gradients and not (operator.keeps_values or operator.changes)
    return operator.may_undo or steps


def _floors(node: ast.expr) -> bool:
    """Whether an expression is `x // 8`, or a division that is told to round."""
    if isinstance(node, ast.Call):
        told = (one.value for one in node.keywords if one.arg == "rounding_mode")
        return any(not isinstance(one, ast.Constant) or one.value is not None for one in told)
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv)


def changes_together(parts: Sequence[ast.expr], subject: Subject) -> bool:
    """Whether one of the operands of a call is the value, and no other reads it."""
    direct = [part for part in parts if subject.is_direct(part)]
    return len(direct) == 1 and not any(subject.mentioned(part) for part in parts if part is not direct[0])


def _reduces_all(node: ast.Call, call: Called) -> bool:
    """Whether a sum or mean gives one number, or keeps its dimensions: again, it does nothing."""
    if call.name not in _TOTALS:
        return False
    operator = operator_of(call)
    named = {one.arg or "**": one.value for one in node.keywords}
    given = [node.func, *call.given]
    keeps = operator is not None and operator.keeping(given, named, None) is not None
    return keeps or (not call.given and not node.keywords)


def operator_of(call: Called) -> Operator | None:
    """What torch says of a call; of a function of NumPy or `math` what it says of its own of that name."""
    alike = call.library in ("numpy", "math")
    return torch_function(f"torch.{call.name}") if alike else call.operator


def changes(operator: Operator | None, name: str) -> bool:
    """Whether an operator gives something else for its own result."""
    return operator is not None and (operator.changes or name in _TOTALS)


def _hands_on(call: Called) -> bool:
    """Whether a call gives the same values in another form."""
    operator = operator_of(call)
    return operator is not None and (operator.keeps_values or operator.of_data)


def _grows(call: Called) -> bool:
    """Whether a call pads a tensor by widths that are numbers."""
    return call.name == "pad" and call.library == "torch" and bool(call.given) and _is_growth(call.given[0])


def _is_growth(widths: ast.expr) -> bool:
    """Whether the widths of a padding are numbers, which do not depend on how large the tensor is already."""
    numbers = widths.elts if isinstance(widths, (ast.Tuple, ast.List)) else []
    values = [number.value for number in numbers if isinstance(number, ast.Constant)]
    return len(values) == len(numbers) and any(values)


# -- functions of the program ----------------------------------------------------------------------------------------


def _in_function(call: ast.Call, reached: Reached, subject: Subject) -> bool:
    """Whether a function of the program, all of whose statements run, computes another value from an argument."""
    given = [index for index, part in enumerate(call.args) if subject.is_direct(part)]
    if len(given) != 1 or any(subject.mentioned(part) for part in call.args if part is not call.args[given[0]]):
        return False
    function = reached.function
    parameters = [*function.args.posonlyargs, *function.args.args]
    index = given[0] + reached.first
    if index >= len(parameters):
        return False
    if isinstance(function, ast.Lambda):
        inner = _parameter(parameters[index].arg, frozenset(), reached, subject.depth + 1)
        return any(not guards for guards in computing(function.body, inner))
    *before, last = function.body
    if not isinstance(last, ast.Return) or last.value is None:
        return False
    parts = _parts(before, parameters[index].arg, reached.resolver)
    if parts is None:
        return False
    inner = _parameter(parameters[index].arg, parts, reached, subject.depth + 1)
    return any(not guards for guards in computing(last.value, inner))


def _parameter(name: str, parts: frozenset[str], reached: Reached, depth: int) -> Subject:
    def is_it(node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and node.id == name

    return Subject(is_it, parts, reached.resolver, depth)


def _parts(statements: Sequence[ast.stmt], name: str, resolver: Resolver) -> frozenset[str] | None:
    """The names of the parts that a parameter is taken apart into; None if more than that is done."""
    found: set[str] = set()
    for statement in statements:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            continue
        target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
        if not isinstance(statement, ast.Assign) or not isinstance(target, ast.Tuple) or found:
            return None
        names = {element.id for element in target.elts if isinstance(element, ast.Name)}
        if len(names) != len(target.elts) or name in names or not _takes_apart(statement.value, name, resolver):
            return None
        found |= names
    return frozenset(found)


def _takes_apart(value: ast.expr, name: str, resolver: Resolver) -> bool:
    """Whether an expression gives the disjoint parts of a parameter: itself, `x.unbind(-1)`, `(x[:2], x[2:])`."""
    if isinstance(value, ast.Name):
        return value.id == name
    if isinstance(value, ast.Call):
        call = called(resolver.names, value)
        return call.name in _PARTING and isinstance(call.operand, ast.Name) and call.operand.id == name
    if not isinstance(value, ast.Tuple) or len(value.elts) != 2:
        return False
    of_it = all(getattr(getattr(part, "value", None), "id", "") == name for part in value.elts)
    return of_it and _complementary(value.elts[0], value.elts[1])
