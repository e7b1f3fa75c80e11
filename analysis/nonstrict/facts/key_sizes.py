"""What keys tell of the sizes of tensors: `key = (x.shape, x.dtype)` tells them all, `key = x.dtype` tells none."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.scopes import FunctionNode, parameter_names
from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import children, walk
from nonstrict.knowledge.operators import is_sizeless_member

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Functions that tell no size of a tensor that they are given.
_ASKING_OTHERWISE = frozenset({"type", "isinstance", "callable"})


class Asked(NamedTuple):
    """An expression that stands for a tensor, and which of its sizes matters; None for all of them."""

    tensor: ast.expr
    dimension: int | None = None


def sized(node: ast.AST) -> Asked | None:
    """The tensor and dimension of `x.shape[0]` and `x.size(0)`; no dimension for `x.shape`."""
    if isinstance(node, ast.Subscript) and (dimension := whole_number(node.slice)) is not None:
        whole = sized(node.value)
        return Asked(whole.tensor, dimension) if whole is not None and whole.dimension is None else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "size":
        return Asked(node.func.value, whole_number(node.args[0]) if node.args else None)
    if isinstance(node, ast.Call) and last_name(node) in ("len", "int") and len(node.args) == 1:
        inner = node.args[0]
        if last_name(node) == "len":
            return Asked(inner, 0) if isinstance(inner, ast.Name) else None
        return sized(inner)
    if isinstance(node, ast.Attribute) and node.attr == "shape":
        return Asked(node.value)
    return None


def whole_number(node: ast.AST) -> int | None:
    """The number that is written there: `1`, `-1`."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = whole_number(node.operand)
        return -inner if inner is not None else None
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, int) else None


def may_tell(around: FunctionNode | ast.Module, key: ast.expr, asked: Asked) -> bool:
    """Whether tensors of other sizes may have another key, in a function or module that holds both expressions.

    What a key is made of in a way that is not known may tell anything.
    """
    return _Reader(around, asked).tells(key)


class _Reader:
    def __init__(self, around: FunctionNode | ast.Module, asked: Asked) -> None:
        self._around = around
        tensor = asked.tensor.value if isinstance(asked.tensor, ast.Starred) else asked.tensor
        self._dimension = asked.dimension if isinstance(tensor, ast.Name) else None
        #: the tensor; where it is made in the same function, also whatever it is made of
        made = [*self._bound(tensor.id)] if isinstance(tensor, ast.Name) else [] if is_place(tensor) else [tensor]
        own = [one for value in made for one in walk(value) if self._is_own(one)]
        spread = isinstance(asked.tensor, ast.Starred) and isinstance(tensor, ast.Subscript)
        whole = [tensor.value] if spread and isinstance(tensor, ast.Subscript) else []  # of `*args[1]`: `args`
        self._parts = {ast.dump(one) for one in (tensor, *own, *whole)}
        #: variables of comprehensions that stand for the tensor
        self._each: set[str] = set()
        self._followed: set[str] = set()

    def tells(self, key: ast.AST) -> bool:
        """Whether a part of a key tells the sizes."""
        if self._is_tensor(key):
            return True
        size = sized(key)
        if size is not None:
            told = self._is_tensor(size.tensor) and _may_be_same(size.dimension, self._dimension)
            return told or self._of_part(size.tensor)
        if isinstance(key, ast.Name):
            return self._follows(key.id) and any(map(self.tells, self._bound(key.id)))
        if isinstance(key, ast.Attribute) and is_sizeless_member(key.attr):
            return self._of_part(key.value)
        if isinstance(key, ast.Call):
            return self._of_call(key)
        if isinstance(key, (ast.GeneratorExp, ast.ListComp, ast.SetComp)):
            self._each |= {name for one in key.generators if self._goes_through(one) for name in _stored(one.target)}
            return self.tells(key.elt)
        return any(self.tells(child) for child in children(key))

    def _follows(self, name: str) -> bool:
        """Whether a variable has not been looked into yet."""
        new = name not in self._followed
        self._followed.add(name)
        return new

    def _of_part(self, node: ast.AST) -> bool:
        """The same for what something is asked of that tells no sizes: not the tensor itself."""
        return not self._is_tensor(node) and not isinstance(node, ast.Name) and self.tells(node)

    def _of_call(self, call: ast.Call) -> bool:
        method = call.func if isinstance(call.func, ast.Attribute) else None
        if method is not None and is_sizeless_member(method.attr) and self._is_tensor(method.value):
            return False
        if last_name(call) in (_ASKING_OTHERWISE | {"len"}) and method is None:
            return False
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        return any(self.tells(one) for one in (*given, *([method.value] if method is not None else [])))

    def _is_tensor(self, node: ast.AST) -> bool:
        node = node.value if isinstance(node, ast.Starred) else node
        return (isinstance(node, ast.Name) and node.id in self._each) or ast.dump(node) in self._parts

    def _goes_through(self, generator: ast.comprehension) -> bool:
        return any(self._is_tensor(part) for part in walk(generator.iter))

    def _is_own(self, node: ast.AST) -> bool:
        """Whether an expression names what a variable of the function or module holds, or a part of it."""
        while isinstance(node, (ast.Attribute, ast.Subscript)):
            node = node.value
        if not isinstance(node, ast.Name):
            return False
        stored = (one for one in walk(self._around) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store))
        return node.id in self._given() or any(one.id == node.id for one in stored)

    def _given(self) -> tuple[str, ...]:
        return parameter_names(self._around.args) if isinstance(self._around, FunctionNode) else ()

    def _bound(self, name: str) -> Iterator[ast.AST]:
        """What assignments bind to a variable, or take it out of."""
        for node in walk(self._around) if name not in self._given() else ():
            if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr)):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if node.value is not None and any(name in _stored(target) for target in targets):
                    yield node.value


def _may_be_same(told: int | None, asked: int | None) -> bool:
    """Whether a size that is told tells the one that is asked for; one counted from the end may be any."""
    return told is None or asked is None or told == asked or (told < 0) != (asked < 0)


def is_place(node: ast.AST) -> bool:
    """Whether an expression names something: a variable, an attribute or entry of one."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return isinstance(node, ast.Name)


def _stored(target: ast.AST) -> Iterator[str]:
    return (one.id for one in walk(target) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store))
