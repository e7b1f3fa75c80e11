"""What shapes the values in a function have, read off its text for arguments with some numbers of dimensions."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from nonstrict.facts.library_calls import called
from nonstrict.facts.targets import last_name
from nonstrict.facts.use_def import use_def
from nonstrict.knowledge.operators import reshapes
from nonstrict.program.contracts.marks.shape_subscripts import subscript
from nonstrict.program.domain.shape_rules import (
    UNKNOWN,
    Given,
    Tensor,
    Value,
    broadcast,
    is_size,
    items,
    transposed,
)
from nonstrict.program.domain.shape_table import result
from nonstrict.program.domain.shape_terms import ImpossibleError, Symbol, World, product, term

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nonstrict.facts.library_calls import Called, Names
    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.program.domain.shape_terms import Size

_NUMBERS = frozenset({"int", "float", "bool"})


class WantedError(Exception):
    """The shape depends on how many dimensions the argument at a position has."""

    def __init__(self, argument: int) -> None:
        super().__init__()
        self.argument = argument


class UnknownError(Exception):
    """The text does not tell."""


def read(function: FunctionNode, names: Names, kinds: list[str], world: World) -> Value:
    """The shape that a function returns; raises `WantedError`, `ImpossibleError` or `UnknownError`.

    `kinds` tell what its arguments are (`kinds_of`).
    """
    reader = Reader(names, _ordered(function), kinds, world)
    if isinstance(function, ast.Lambda):
        return reader.value(function.body)
    found = reader.run(function.body)
    if found is None:
        raise UnknownError
    return reader.value(found)


def tensors_of(function: FunctionNode, names: Names, world: World) -> dict[str, tuple[Size | None, ...]] | None:
    """The shapes of the local variables that are bound once, as far as the text tells.

    Only the arguments whose number of dimensions is assumed are known; None where they cannot have it.
    """
    if isinstance(function, ast.Lambda):
        return {}
    reader = Reader(names, _ordered(function), kinds_of(function, names), world)
    reader.partial = True
    try:
        reader.run(function.body)
    except ImpossibleError:
        return None
    except UnknownError:
        pass
    bound = use_def(function)
    tensors = {name: value for name, value in reader.variables.items() if isinstance(value, Tensor)}
    return {name: one.dims for name, one in tensors.items() if one.dims is not None and bound.only(name)}


def _ordered(function: FunctionNode) -> list[str]:
    arguments = function.args
    return [one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]


def kinds_of(function: FunctionNode, names: Names) -> list[str]:
    """What the annotations of the parameters say: `tensor`, `number`, `other`, or "" where there is none."""
    arguments = function.args
    ordered = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    kinds: list[str] = []
    for one in ordered:
        text = names(one.annotation) or last_name(one.annotation) if one.annotation is not None else ""
        text = text.rpartition(".")[2]
        known = "tensor" if text in ("Tensor", "Parameter") else "number" if text in _NUMBERS else "other"
        kinds.append(known if one.annotation is not None else "")
    return kinds


class _Argument:
    """A parameter of which nothing tells yet whether it is a tensor or a number."""

    def __init__(self, position: int) -> None:
        self.position = position


class Reader:
    """Goes through the statements of one function."""

    def __init__(self, names: Names, parameters: list[str], kinds: list[str], world: World) -> None:
        self._names = names
        self._kinds = kinds
        self._world = world
        #: whether nothing is known of arguments of which no number of dimensions is assumed
        self.partial = False
        self.variables: dict[str, Any] = {name: _Argument(at) for at, name in enumerate(parameters)}

    def run(self, body: list[ast.stmt]) -> ast.expr | None:
        """Go through statements up to the returned expression."""
        for statement in body:
            if isinstance(statement, ast.Return):
                return statement.value
            if isinstance(statement, (ast.With, ast.AsyncWith)):
                returned = self.run(statement.body)
                if returned is not None:
                    return returned
            else:
                self._statement(statement)
        return None

    def _statement(self, statement: ast.stmt) -> None:
        if isinstance(statement, ast.Assign):
            value = self.value(statement.value)
            for target in statement.targets:
                self._bind(target, value)
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            self._bind(statement.target, self.value(statement.value))
        elif isinstance(statement, ast.AugAssign):
            value = self.value(ast.BinOp(_loaded(statement.target), statement.op, statement.value))
            self._bind(statement.target, value)
        elif isinstance(statement, ast.Assert):
            self._require(statement.test, wanted=True)
        elif isinstance(statement, ast.If) and isinstance(statement.body[-1], ast.Raise) and not statement.orelse:
            self._require(statement.test, wanted=False)
        elif not isinstance(statement, (ast.Expr, ast.Pass, ast.Import, ast.ImportFrom)):
            self._forget(statement)
        self._spoil(statement)

    def _spoil(self, statement: ast.stmt) -> None:
        """Forget the shapes of tensors that get another one in place, and lists that may hold something else."""
        for node in ast.walk(statement):
            if isinstance(node, ast.Call):
                receiver = node.func.value if isinstance(node.func, ast.Attribute) else None
                of_torch = self._names(node.func).startswith(("torch.", "builtins."))
                for one in [receiver] if of_torch else [receiver, *node.args]:
                    name = getattr(one, "id", "")
                    if items(self.variables.get(name)) is not None or (one is receiver and reshapes(last_name(node))):
                        self.variables[name] = None
            elif isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
                name = getattr(node.value, "id", "")
                if items(self.variables.get(name)) is not None:
                    self.variables[name] = None

    def _forget(self, statement: ast.stmt) -> None:
        for node in ast.walk(statement):
            if isinstance(node, ast.Return):
                raise UnknownError
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.variables[node.id] = None

    def _bind(self, target: ast.expr, value: Any) -> None:
        if isinstance(target, ast.Name):
            self.variables[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            parts = items(value)
            starred = any(isinstance(one, ast.Starred) for one in target.elts)
            if parts is not None and len(parts) != len(target.elts) and not starred:
                raise ImpossibleError
            for at, one in enumerate(target.elts):
                known = parts is not None and not starred
                self._bind(one.value if isinstance(one, ast.Starred) else one, parts[at] if known and parts else None)

    def _require(self, test: ast.expr, *, wanted: bool) -> None:
        """Take a condition for fulfilled, or for not fulfilled."""
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And if wanted else ast.Or):
            for one in test.values:
                self._require(one, wanted=wanted)
        if not isinstance(test, ast.Compare) or len(test.ops) != 1:
            return
        left, right = self.value(test.left), self.value(test.comparators[0])
        if isinstance(test.ops[0], ast.Eq if wanted else ast.NotEq):
            self._equate(left, right)
        elif isinstance(left, int) and isinstance(right, int):
            order: dict[type[ast.cmpop], bool] = {
                ast.Gt: left > right,
                ast.GtE: left >= right,
                ast.Lt: left < right,
                ast.LtE: left <= right,
            }
            order |= {ast.Eq: left == right, ast.NotEq: left != right}
            if order.get(type(test.ops[0]), wanted) is not wanted:
                raise ImpossibleError

    def _equate(self, left: Any, right: Any) -> None:
        mine, its = items(left), items(right)
        if mine is not None and its is not None:
            if len(mine) != len(its):
                raise ImpossibleError
            for one, other in zip(mine, its, strict=True):
                self._equate(one, other)
        elif is_size(left) and is_size(right):
            self._world.equate(left, right)

    # -- values -------------------------------------------------------------------------------------------------------

    def value(self, node: ast.expr) -> Any:
        """What an expression is; None where that is not known."""
        return self._settled(self._value(node))

    def _settled(self, value: Any) -> Any:
        """A parameter as what it is declared to be; a tensor where nothing declares it."""
        if not isinstance(value, _Argument):
            return value
        at = value.position
        kind = self._kinds[at] if at < len(self._kinds) else "other"
        if kind == "number":
            return Symbol(at, -1)
        if kind == "other":
            return None
        if at not in self._world.ranks:
            if self.partial:
                return None
            raise WantedError(at)
        return Tensor(tuple(Symbol(at, index) for index in range(self._world.ranks[at])))

    def _value(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Name):
            return self.named(node)
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, int) else 0 if node.value is ... else _text(node)
        if isinstance(node, (ast.Tuple, ast.List)):
            return self._sequence(node.elts)
        if isinstance(node, ast.Attribute):
            return self._attribute(node)
        if isinstance(node, ast.Subscript):
            return subscript(self.value(node.value), node.slice, self.value, self.is_mask)
        if isinstance(node, (ast.BinOp, ast.Compare, ast.UnaryOp)):
            return self._operation(node)
        return self._call(node) if isinstance(node, ast.Call) else None

    def named(self, node: ast.Name) -> Any:
        """What a variable holds."""
        return self.variables.get(node.id)

    def is_mask(self, _index: ast.expr) -> bool | None:
        """Whether a tensor that is an index selects where it is true; None where that is not known."""
        return None

    def _sequence(self, nodes: Iterable[ast.expr]) -> list[Any] | None:
        values: list[Any] = []
        for node in nodes:
            value = self.value(node.value if isinstance(node, ast.Starred) else node)
            if isinstance(node, ast.Starred):
                several = items(value)
                if several is None:
                    return None
                values += several
            else:
                values.append(value)
        return values

    def _attribute(self, node: ast.Attribute) -> Any:
        value = self.value(node.value)
        pair = items(value)
        if pair is not None and node.attr in ("values", "indices"):
            return pair[0 if node.attr == "values" else 1] if len(pair) > 1 else None
        if not isinstance(value, Tensor):
            return f"{node.attr}" if self._names(node).startswith("torch.") else None
        if node.attr == "shape":
            return list(value.dims) if value.dims is not None else None
        if node.attr == "ndim":
            return len(value.dims) if value.dims is not None else None
        if node.attr in ("T", "mT"):
            return transposed(Given(self._world, [value, -1, -2], {})) if len(value.dims or ()) > 1 else value
        return value if node.attr in ("data", "real") else None

    def _operation(self, node: ast.BinOp | ast.Compare | ast.UnaryOp) -> Any:
        if isinstance(node, ast.UnaryOp):
            value = self.value(node.operand)
            if isinstance(value, Tensor) or not isinstance(node.op, ast.USub):
                return value if isinstance(value, Tensor) else None
            return term("Sub", 0, value) if is_size(value) else None
        if isinstance(node, ast.Compare) and len(node.comparators) > 1:
            return None
        other = node.right if isinstance(node, ast.BinOp) else node.comparators[0]
        left, right = self.value(node.left), self.value(other)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            return result("matmul", None, Given(self._world, [left, right], {}))
        if isinstance(left, Tensor) or isinstance(right, Tensor):
            known = left is not None and right is not None
            tensors = [one.dims for one in (left, right) if isinstance(one, Tensor)]
            return broadcast(self._world, tensors) if known else UNKNOWN
        return self._of_numbers(node, left, right) if isinstance(node, ast.BinOp) else None

    def _of_numbers(self, node: ast.BinOp, left: Any, right: Any) -> Any:
        first, second = items(left), items(right)
        if first is not None:
            if second is not None:
                return [*first, *second] if isinstance(node.op, ast.Add) else None
            return first * right if isinstance(right, int) and isinstance(node.op, ast.Mult) else None
        known = is_size(left) and is_size(right)
        return term(type(node.op).__name__, left, right) if known else None

    # -- calls --------------------------------------------------------------------------------------------------------

    def _call(self, node: ast.Call) -> Any:
        call = called(self._names, node)
        if call.library == "builtins" or (isinstance(node.func, ast.Name) and call.library == ""):
            return self._builtin(node)
        if call.library not in ("", "torch", "math") or not call.name:
            return None
        starting = [call.operand] if call.operand is not None else []
        values = self._sequence([*starting, *call.given])
        if values is None:
            return UNKNOWN
        if call.library == "math":
            return None
        named = {one.arg or "**": self.value(one.value) for one in node.keywords}
        return self.of_torch(call, Given(self._world, values, named))

    def of_torch(self, call: Called, given: Given) -> Any:
        """What a function of torch, or a method, gives."""
        name, is_method, operator = call.name, call.is_method, call.operator
        operand = given.at(0, "input")
        if is_method and name in ("size", "dim", "numel", "nelement"):
            return _metadata(name, given)
        if operator is not None and operator.sized:
            behind = 1 if is_method else 0
            sizes = given.rest(behind, "size") if operator.spread else given.at(behind, "size")
            return Tensor(tuple(_size(one) for one in sizes)) if isinstance(sizes, list) else UNKNOWN
        if name == "arange" and not is_method:
            return Tensor((_size(operand),)) if len(given.values) == 1 else UNKNOWN
        if name == "tensor" and not is_method:
            return _of_literal(operand)
        if is_method and not isinstance(operand, Tensor):
            return None
        return result(name, operator, given)

    def _builtin(self, node: ast.Call) -> Any:
        name, values = last_name(node), self._sequence(node.args)
        if values is None or node.keywords:
            return None
        if name == "len" and values:
            sequence, tensor = items(values[0]), values[0]
            if sequence is not None:
                return len(sequence)
            return tensor.dims[0] if isinstance(tensor, Tensor) and tensor.dims else None
        if name in ("max", "min") and len(values) > 1 and all(is_size(one) for one in values):
            found = values[0]
            for one in values[1:]:
                found = term(name, found, one)
            return found
        same = name in ("int", "list", "tuple") and len(values) == 1
        return values[0] if same and (is_size(values[0]) or items(values[0]) is not None) else None


def _of_literal(data: Any) -> Tensor:
    """The tensor that `torch.tensor` makes of numbers, and of lists of them."""
    if is_size(data) or isinstance(data, str):
        return Tensor(())
    parts = items(data)
    inner = None if parts is None else _of_literal(parts[0]).dims if parts else ()
    return UNKNOWN if parts is None or inner is None else Tensor((len(parts), *inner))


def _metadata(name: str, given: Given) -> Any:
    shape = given.first
    if shape is None:
        return None
    if name == "dim":
        return len(shape)
    if name in ("numel", "nelement"):
        return product(shape)
    at = given.at(1, "dim")
    if not given.has(1, "dim"):
        return list(shape)
    if isinstance(at, int) and not -len(shape) <= at < len(shape):
        raise ImpossibleError
    return shape[at] if isinstance(at, int) else None


def _size(value: Any) -> Any:
    return value if is_size(value) else None


def _text(node: ast.Constant) -> str:
    return str(type(node.value).__name__)


def _loaded(target: ast.expr) -> ast.expr:
    return ast.Name(target.id, ast.Load()) if isinstance(target, ast.Name) else target
