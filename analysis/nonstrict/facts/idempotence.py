"""What a method of an object changes once more when it runs again on the fields that it left behind."""

from __future__ import annotations

import ast
import copy
from typing import TYPE_CHECKING, Any, NamedTuple

from nonstrict.facts.comparing import COMPARISONS
from nonstrict.facts.computing import (
    Guard,
    Resolver,
    Subject,
    changes,
    changes_by,
    changes_together,
    computing,
    excluded,
    required,
)
from nonstrict.facts.fields import of_self
from nonstrict.facts.library_calls import called
from nonstrict.facts.scopes import receiver_of
from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import own_scope, walk
from nonstrict.knowledge.operators import tensor_method, torch_function
from nonstrict.truth import of_condition

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from nonstrict.facts.library_calls import Names
    from nonstrict.facts.scopes import FunctionNode

#: Something that is not None and of which no more is known, a tensor, and what may be anything.
PRESENT: Any = object()
TENSOR: Any = object()
_ANYTHING: Any = object()
#: What methods that are looked at here call their receiver.
SELF = "self"
_UNTOLD = Guard(None, holds=True)
_LEAVES = (ast.Return, ast.Continue, ast.Break)
_SHAPES = frozenset({"dim", "ndim", "shape", "size", "numel", "ndimension"})
_APPENDING = frozenset({"append", "extend", "insert"})


class Rebuilt(NamedTuple):
    """What is known of the fields of an object that is made anew from those that were `kept`.

    The fields `reset` begin with their defaults each time. `objects` are the constants, `PRESENT` or `TENSOR` that
    the fields of the objects hold, as far as they are known.
    """

    kept: frozenset[str]
    reset: frozenset[str]
    objects: tuple[Mapping[str, object], ...]


class _Change(NamedTuple):
    node: ast.AST
    attribute: str
    guards: tuple[Guard, ...]
    value: ast.expr | None = None


def changes_again(function: FunctionNode, rebuilt: Rebuilt, resolver: Resolver) -> ast.AST | None:
    """Where a method computes a kept field from its own value, so that it changes it again when it runs again."""
    if isinstance(function, ast.Lambda):
        return None
    normal = _with_self(function)
    method = _Method(normal, rebuilt, resolver)
    return next((change.node for change in method.changes(normal.body, ()) if method.happens_again(change)), None)


def _with_self(function: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.FunctionDef | ast.AsyncFunctionDef:
    """The method with `self` for whatever it calls its receiver: its nodes stand where those of the method do."""
    receiver = receiver_of(function)
    if receiver in (SELF, ""):
        return function
    normal = copy.deepcopy(function)
    for node in walk(normal):
        if isinstance(node, ast.Name) and node.id == receiver:
            node.id = SELF
        elif isinstance(node, ast.arg) and node.arg == receiver:
            node.arg = SELF
    return normal


def _of_self(node: ast.AST) -> bool:
    return of_self(node, SELF)


class _Method:
    """A method that runs on a new object, and again on another one that is made of the fields of the first."""

    def __init__(self, function: FunctionNode, rebuilt: Rebuilt, resolver: Resolver) -> None:
        self.rebuilt = rebuilt
        self.resolver = resolver
        arguments = function.args
        every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        self.parameters = {argument.arg for argument in every} - {SELF}
        self.locals: dict[str, list[ast.expr]] = {}
        self.assigned: dict[str, list[tuple[int, ast.expr]]] = {}
        self.renewed: list[tuple[str, tuple[Guard, ...]]] = []
        for node in own_scope(function):
            for target, value in _assignments(node):
                if isinstance(target, ast.Name):
                    self.locals.setdefault(target.id, []).append(value)
                elif isinstance(target, ast.Attribute):
                    self.assigned.setdefault(target.attr, []).append((getattr(node, "lineno", 0), value))

    # -- what is changed, behind which tests

    def changes(self, body: Sequence[ast.stmt], guards: tuple[Guard, ...]) -> Iterator[_Change]:
        """The statements that compute a field from itself, in order."""
        for statement in body:
            yield from self._in_statement(statement, guards)
            guards = (*guards, *_afterwards(statement))

    def _in_statement(self, statement: ast.stmt, guards: tuple[Guard, ...]) -> Iterator[_Change]:
        if isinstance(statement, ast.If):
            yield from self.changes(statement.body, (*guards, *required(statement.test)))
            yield from self.changes(statement.orelse, (*guards, *excluded(statement.test)))
        elif isinstance(statement, ast.While):
            yield from self.changes(statement.body, (*guards, *required(statement.test)))
        elif isinstance(statement, (ast.For, ast.With)):
            yield from self.changes(statement.body, guards)
        elif isinstance(statement, ast.Try):
            for part in (statement.body, statement.orelse, statement.finalbody):
                yield from self.changes(part, guards)
        elif isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr)):
            yield from self._simple(statement, guards)

    def _simple(self, statement: ast.stmt, guards: tuple[Guard, ...]) -> Iterator[_Change]:
        if isinstance(statement, ast.AugAssign):
            yield from self._augmented(statement, guards)
        for target, value in _assignments(statement):
            if not isinstance(target, ast.Attribute):
                continue
            name = target.attr
            for conditions in computing(value, self._subject(name), guards):
                yield _Change(statement, name, conditions, value)
            read = self._read(value)
            if read is None or name not in read:
                self.renewed.append((name, guards))
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            yield from self._in_place(statement.value, guards)

    def _augmented(self, statement: ast.AugAssign, guards: tuple[Guard, ...]) -> Iterator[_Change]:
        target = statement.target
        if isinstance(target, ast.Attribute) and _of_self(target):
            subject = self._subject(target.attr)
            reads_itself = subject.mentioned(statement.value)
            if not reads_itself and changes_by(statement.op, target, statement.value, subject):
                yield _Change(statement, target.attr, guards, ast.BinOp(target, statement.op, statement.value))

    def _in_place(self, call: ast.Call, guards: tuple[Guard, ...]) -> Iterator[_Change]:
        holder = call.func.value if isinstance(call.func, ast.Attribute) else None
        if not isinstance(holder, ast.Attribute) or not _of_self(holder):
            return
        name = last_name(call)
        changing = (changes(tensor_method(name), name) and name.endswith("_")) or name in _APPENDING
        if changing and changes_together([holder, *call.args], self._subject(holder.attr)):
            yield _Change(call, holder.attr, guards, call)

    def _subject(self, name: str) -> Subject:
        def is_it(node: ast.AST) -> bool:
            return _is_attribute(node, name)

        return Subject(is_it, frozenset(), self.resolver)

    # -- whether that happens again

    def happens_again(self, change: _Change) -> bool:
        """Whether the tests before a change let it happen twice, as far as is known."""
        if change.attribute not in self.rebuilt.kept:
            return False
        if change.value is not None and any(self._is_parameter(node) for node in walk(change.value)):
            return False  # such as an `InitVar`, which has its default the second time
        if any(name == change.attribute and change.guards[: len(at)] == at for name, at in self.renewed):
            return False
        if not all(self._stays(guard, change) for guard in change.guards):
            return False
        return not change.guards or any(self._lets(change, known) for known in self.rebuilt.objects)

    def _is_parameter(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and node.id in self.parameters

    def _stays(self, guard: Guard, change: _Change) -> bool:
        """Whether a test comes out the second time as it did the first time."""
        read = self._read(guard.test) if guard.test is not None else None
        if not read or guard.test is None:
            return False
        if change.attribute in read and not _outlasts(guard, change, self.resolver.names):
            return False
        return all(self._same(name, guard.test) for name in read - {change.attribute})

    def _same(self, name: str, test: ast.expr) -> bool:
        """Whether a field has the same value before a test both times."""
        stores = self.assigned.get(name, [])
        if name in self.rebuilt.kept:
            return not stores
        if name not in self.rebuilt.reset:
            return False
        return all(line > test.lineno and isinstance(value, ast.Constant) for line, value in stores)

    def _lets(self, change: _Change, known: Mapping[str, object]) -> bool:
        """Whether an object surely passes the tests before a change."""
        for guard in change.guards:
            if guard.test is None:
                return False
            of_shape = _asks_shape(guard.test, change.attribute)
            if not of_shape and _outcome(guard.test, known, self.resolver.names) is not guard.holds:
                return False
        return True

    def _read(self, expression: ast.AST, seen: frozenset[str] = frozenset()) -> frozenset[str] | None:
        """The fields that an expression follows from, through local names; None if that is not known."""
        found: set[str] = set()
        fields = self.rebuilt.kept | self.rebuilt.reset
        inner = {id(node.value) for node in walk(expression) if isinstance(node, ast.Attribute) and _of_self(node)}
        for node in walk(expression):
            if isinstance(node, ast.Attribute) and _of_self(node):
                if node.attr not in fields:
                    return None  # perhaps a property
                found.add(node.attr)
            elif isinstance(node, ast.Name) and id(node) not in inner and node.id not in seen:
                if node.id == SELF or node.id in self.parameters:
                    return None
                for value in self.locals.get(node.id, []):
                    read = self._read(value, seen | {node.id})
                    if read is None:
                        return None
                    found |= read
        return frozenset(found)


def _is_attribute(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == name and _of_self(node)


def _assignments(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The names and attributes of `self` that a statement sets, with what they are set to or computed from."""
    targets: list[ast.expr] = []
    value: ast.expr | None = None
    if isinstance(node, ast.Assign):
        targets, value = node.targets, node.value
    elif isinstance(node, ast.AnnAssign):
        targets, value = [node.target], node.value
    elif isinstance(node, ast.For):
        targets, value = [node.target], node.iter
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and last_name(node.value) == "__setattr__":
        *_, named, value = [None, None, *node.value.args]
        if isinstance(named, ast.Constant) and isinstance(value, ast.expr):
            targets = [ast.Attribute(ast.Name(SELF, ast.Load()), str(named.value), ast.Store())]
    for target in targets:
        for part in target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]:
            if value is not None and (isinstance(part, ast.Name) or _of_self(part)):
                yield part, value


def _afterwards(statement: ast.stmt) -> tuple[Guard, ...]:
    """What has to be for control to come past a statement."""
    if isinstance(statement, ast.If):
        if isinstance(statement.body[-1], _LEAVES):
            return excluded(statement.test)
        if statement.orelse and isinstance(statement.orelse[-1], _LEAVES):
            return required(statement.test)
    nested = isinstance(statement, (ast.If, ast.For, ast.While, ast.Try, ast.With, ast.Match))
    returns = nested and any(isinstance(node, _LEAVES[:2]) for node in walk(statement))
    return (_UNTOLD,) if returns else ()


# -- tests -----------------------------------------------------------------------------------------------------------


def _outlasts(guard: Guard, change: _Change, names: Names) -> bool:
    """Whether the text shows that a test of a value comes out the same for the value that was computed from it."""
    test = guard.test
    if test is None:
        return False
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _outlasts(Guard(test.operand, not guard.holds), change, names)
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and _is_attribute(test.left, change.attribute):
        none = isinstance(test.comparators[0], ast.Constant) and test.comparators[0].value is None
        if none and isinstance(test.ops[0], (ast.Is, ast.IsNot)):
            return isinstance(test.ops[0], ast.IsNot) is guard.holds
    if _asks_tensor(test, change.attribute, names):
        return guard.holds
    return _asks_shape(test, change.attribute) and _keeps_shape(change, names)


def _asks_tensor(test: ast.expr, attribute: str, names: Names) -> bool:
    """Whether a test asks whether a field is a tensor."""
    if not isinstance(test, ast.Call) or not test.args or not _is_attribute(test.args[0], attribute):
        return False
    asking = names(test.func)
    of_class = asking == "builtins.isinstance" and len(test.args) == 2
    return asking == "torch.is_tensor" or (of_class and names(test.args[1]) == "torch.Tensor")


def _asks_shape(test: ast.expr, attribute: str) -> bool:
    """Whether a test asks for nothing of a field but its shape."""
    found = [node for node in walk(test) if _is_attribute(node, attribute)]
    shapes = [
        node
        for node in walk(test)
        if isinstance(node, ast.Attribute) and _is_attribute(node.value, attribute) and node.attr in _SHAPES
    ]
    return bool(found) and len(found) == len(shapes)


def _keeps_shape(change: _Change, names: Names) -> bool:
    """Whether a change computes element by element, with numbers alone."""
    value = change.value
    if isinstance(value, ast.BinOp) and not isinstance(value.op, ast.MatMult):
        sides = [value.left, value.right]
        return any(_is_attribute(side, change.attribute) for side in sides) and any(
            isinstance(side, ast.Constant) for side in sides
        )
    if isinstance(value, ast.UnaryOp):
        return _is_attribute(value.operand, change.attribute)
    if not isinstance(value, ast.Call):
        return False
    call = called(names, value)
    operands = [part for part in (call.operand, *call.given) if part is not None]
    tensors = [operand for operand in operands if _is_attribute(operand, change.attribute)]
    others = [operand for operand in operands if not _is_attribute(operand, change.attribute)]
    plain = all(isinstance(other, ast.Constant) for other in others) and not value.keywords
    # Torch says of the operator, and so of what it does in place, whether its result has the shape of its operand.
    operator = tensor_method(call.name.rstrip("_")) if call.is_method else torch_function(call.dotted.rstrip("_"))
    if operator is None or operator.returns != "tensor":
        return False
    return len(tensors) == 1 and plain and (operator.pointwise or operator.keeps_shape)


def _outcome(test: ast.expr, known: Mapping[str, object], names: Names) -> bool | None:
    """How a test comes out for an object of which some fields are known; None if that is not known."""
    return of_condition(test, lambda part: _of_part(part, known, names))


def _of_part(test: ast.expr, known: Mapping[str, object], names: Names) -> bool | None:
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return _compared(test, known)
    if isinstance(test, ast.Call):
        asked = test.args[0] if test.args else None
        name = asked.attr if isinstance(asked, ast.Attribute) and _of_self(asked) else ""
        return True if known.get(name) is TENSOR and _asks_tensor(test, name, names) else None
    found = _constant(test, known)
    return None if found is _ANYTHING or _is_opaque(found) else bool(found)


def _compared(test: ast.Compare, known: Mapping[str, object]) -> bool | None:
    left, right = _constant(test.left, known), _constant(test.comparators[0], known)
    if left is _ANYTHING or right is _ANYTHING:
        return None
    if _is_opaque(left) or _is_opaque(right):
        identity = isinstance(test.ops[0], (ast.Is, ast.IsNot)) and (left is None or right is None)
        return isinstance(test.ops[0], ast.IsNot) if identity else None
    compare = COMPARISONS.get(type(test.ops[0]))
    try:
        return compare(left, right) if compare is not None else None
    except TypeError:
        return None


def _constant(node: ast.expr, known: Mapping[str, object]) -> object:
    """What a constant or a known field is."""
    if isinstance(node, ast.Attribute) and _of_self(node):
        return known.get(node.attr, _ANYTHING)
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return _ANYTHING


def _is_opaque(value: object) -> bool:
    return value is PRESENT or value is TENSOR
