"""The fields of a class as its text tells them: annotated ones, those that `__init__` sets, and what methods do."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nonstrict.facts.scopes import FunctionNode

#: Methods and functions that may be applied again to their own result without changing it.
_CHANGING_METHODS = frozenset(
    {
        "add",
        "add_",
        "append",
        "cos",
        "cumsum",
        "div",
        "div_",
        "exp",
        "exp_",
        "extend",
        "flip",
        "insert",
        "log",
        "mean",
        "mul",
        "mul_",
        "neg",
        "neg_",
        "permute",
        "pow",
        "pow_",
        "roll",
        "sigmoid",
        "sin",
        "softmax",
        "sqrt",
        "sqrt_",
        "square",
        "sub",
        "sub_",
        "sum",
        "t",
        "t_",
        "tanh",
        "transpose",
        "transpose_",
        "unsqueeze",
        "unsqueeze_",
    }
)
#: Functions of torch, and methods, that give something else for their own result.
_CHANGING_FUNCTIONS = frozenset(
    {"deg2rad", "rad2deg", "tan", "sinh", "cosh", "exp2", "expm1", "log1p", "log2", "log10", "gelu", "silu"}
    | {"softplus", "rsqrt", "reciprocal", "logit", "erf", "cumprod", "rot90", "diff"}
)
_TORCH = frozenset({"torch", "F", "nn"})


class Read(NamedTuple):
    """Which attributes of a parameter a function reads; `all` if it may read any."""

    names: frozenset[str]
    all: bool


def method(cls: ast.ClassDef, name: str) -> ast.FunctionDef | None:
    """A method that the class body defines."""
    found = (node for node in cls.body if isinstance(node, ast.FunctionDef) and node.name == name)
    return next(found, None)


def annotated(cls: ast.ClassDef) -> dict[str, ast.expr | None]:
    """The annotated names of a class body, with what they are set to."""
    return {
        statement.target.id: statement.value
        for statement in cls.body
        if isinstance(statement, ast.AnnAssign)
        and isinstance(statement.target, ast.Name)
        and "ClassVar" not in ast.dump(statement.annotation)
    }


def set_by_init(cls: ast.ClassDef) -> dict[str, ast.expr]:
    """The attributes of `self` that `__init__` sets, with what they are set to."""
    init = method(cls, "__init__")
    found: dict[str, ast.expr] = {}
    for node in walk(init) if init is not None else ():
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
        for target, given in _pairs(targets, value) if value is not None else ():
            if _of_self(target) and isinstance(target, ast.Attribute):
                found[target.attr] = given
    return found


def _pairs(targets: Sequence[ast.expr], value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Each target with what it is set to: `self.a, self.b = a, b` part by part."""
    for target in targets:
        if isinstance(target, ast.Tuple):
            parts = value.elts if isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts) else None
            yield from zip(target.elts, parts or [value] * len(target.elts), strict=True)
        else:
            yield target, value


def option(node: ast.expr | None, name: str) -> object:
    """A keyword of a call that is a constant, such as `init=False` of `field(...)`; None if it has none."""
    for keyword in node.keywords if isinstance(node, ast.Call) else ():
        if keyword.arg == name and isinstance(keyword.value, ast.Constant):
            return keyword.value.value
    return None


def is_frozen(cls: ast.ClassDef) -> bool:
    """Whether the class is a frozen dataclass."""
    decorators = (node for node in cls.decorator_list if last_name(node) == "dataclass")
    return any(option(node, "frozen") is True for node in decorators)


def reads(function: FunctionNode, index: int, cls: ast.ClassDef | None = None) -> Read:
    """Which attributes of one of its parameters a function reads; methods of the class `cls` are looked into."""
    arguments = [*function.args.posonlyargs, *function.args.args]
    if index >= len(arguments):
        return Read(frozenset(), all=True)
    name = arguments[index].arg
    body = function.body if isinstance(function.body, list) else [function.body]
    names: set[str] = set()
    wholesale = False
    known: set[int] = set()
    for part in body:
        for node in walk(part):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name:
                known.add(id(node.value))
                called = method(cls, node.attr) if cls is not None else None
                if called is not None and called is not function:
                    inner = reads(called, 0)
                    names |= inner.names
                    wholesale = wholesale or inner.all
                wholesale = wholesale or node.attr == "__dict__"
                names.add(node.attr)
            elif isinstance(node, ast.Name) and node.id == name and id(node) not in known:
                wholesale = wholesale or not _harmless(part, node)
    return Read(frozenset(names), wholesale)


def _harmless(part: ast.AST, name: ast.Name) -> bool:
    """Whether a bare use of an object only asks what it is."""
    for node in walk(part):
        if isinstance(node, ast.Call) and name in node.args and last_name(node) in ("isinstance", "type", "id"):
            return True
        if isinstance(node, ast.Attribute) and node.value is name:
            return True
        if isinstance(node, ast.Compare) and (node.left is name or name in node.comparators):
            return True
    return False


def changes_again(function: FunctionNode, kept: frozenset[str] = frozenset()) -> ast.AST | None:
    """Where a method gives an attribute of `self` a value that it computes from the same attribute's own value.

    What a test of one of the attributes `kept` lets happen only once does not count.
    """
    once = {id(node) for part in _done_once(function, kept) for node in walk(part)}
    return next((node for node in walk(function) if id(node) not in once and _changes(node)), None)


def computed_from_others(function: FunctionNode, names: frozenset[str]) -> frozenset[str]:
    """Those of some attributes of `self` that a method sets, of none of them and of none of its parameters."""
    given = {each.arg for each in (*function.args.args[1:], *function.args.kwonlyargs)}
    found: set[str] = set()
    for node in (each for each in walk(function) if isinstance(each, ast.Assign)):
        for target in node.targets:
            if not isinstance(target, ast.Attribute) or target.attr not in names or not _of_self(target):
                continue
            read = {getattr(part, "id", getattr(part, "attr", "")) for part in walk(node.value)}
            if not read & (given | names):
                found.add(target.attr)
    return frozenset(found)


def _changes(node: ast.AST) -> bool:
    """Whether a statement or call changes what an attribute of `self` holds, and would do so again."""
    if isinstance(node, ast.AugAssign):
        return _of_self(node.target)
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Attribute):
        return _of_self(node.targets[0]) and _computes(node.value, node.targets[0].attr)
    if not isinstance(node, ast.Call):
        return False
    if last_name(node) == "__setattr__" and len(node.args) >= 2:
        named = node.args[-2]
        return isinstance(named, ast.Constant) and _computes(node.args[-1], str(named.value))
    if isinstance(node.func, ast.Attribute) and _of_self(node.func.value):
        name = node.func.attr
        return (name in _CHANGING_METHODS and name.endswith("_")) or name in ("append", "extend", "insert")
    return False


def _done_once(function: FunctionNode, kept: frozenset[str]) -> Iterator[ast.AST]:
    """Statements behind a test of an attribute that they themselves make fail the next time."""
    body = function.body if kept and isinstance(function.body, list) else []
    for index, statement in enumerate(body):
        if not isinstance(statement, ast.If):
            continue
        leaves = len(statement.body) == 1 and isinstance(statement.body[0], ast.Return)
        behind = body[index + 1 :] if leaves else statement.body
        for test in _conjuncts(statement.test) if not leaves else [statement.test]:
            name, value = _asked(test)
            if name in kept and any(_settles(part, name, not value if leaves else value) for part in behind):
                yield from behind


def _conjuncts(test: ast.expr) -> list[ast.expr]:
    return test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]


def _asked(test: ast.expr) -> tuple[str, bool]:
    """The attribute of `self` that a test asks for, and whether it has to be true."""
    negated = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
    asked = test.operand if isinstance(test, ast.UnaryOp) and negated else test
    return (asked.attr, not negated) if isinstance(asked, ast.Attribute) and _of_self(asked) else ("", False)


def _settles(statement: ast.AST, name: str, asked: bool) -> bool:
    """Whether a statement sets an attribute to the opposite of what a test asked for."""
    if isinstance(statement, ast.Assign):
        sets, value = any(_is_attribute(target, name) for target in statement.targets), statement.value
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) and len(statement.value.args) >= 2:
        *_, named, value = statement.value.args
        sets = last_name(statement.value) == "__setattr__" and isinstance(named, ast.Constant) and named.value == name
    else:
        return False
    return sets and isinstance(value, ast.Constant) and bool(value.value) is not asked


def _computes(value: ast.expr, attribute: str) -> bool:
    """Whether an expression computes another value from `self.attribute`, so that doing it twice gives a third."""
    for node in walk(value):
        parts: list[ast.expr] = []
        if isinstance(node, ast.BinOp):
            parts = [node.left, node.right]
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.Not, ast.Invert)):
            parts = [node.operand]
        elif isinstance(node, ast.Call) and last_name(node) in _CHANGING_METHODS:
            parts = [*node.args, *([node.func.value] if isinstance(node.func, ast.Attribute) else [])]
        elif isinstance(node, ast.Call):
            parts = _operand(node)
        if any(_is_attribute(part, attribute) for part in parts):
            return True
    return False


def _operand(call: ast.Call) -> list[ast.expr]:
    """What a function or method that is known to belong to torch computes something else of."""
    if not isinstance(call.func, ast.Attribute):
        return []
    root = call.func.value
    while isinstance(root, ast.Attribute):
        root = root.value
    of_torch = isinstance(root, ast.Name) and root.id in _TORCH
    if call.func.attr == "pad" and of_torch and len(call.args) > 1 and _is_growth(call.args[1]):
        return call.args[:1]
    if call.func.attr not in _CHANGING_FUNCTIONS:
        return []
    return call.args[:1] if of_torch else [call.func.value]


def _is_growth(widths: ast.expr) -> bool:
    """Whether the widths of a padding are numbers, which do not depend on how large the tensor is already."""
    numbers = widths.elts if isinstance(widths, (ast.Tuple, ast.List)) else []
    values = [number.value for number in numbers if isinstance(number, ast.Constant)]
    return len(values) == len(numbers) and any(values)


def _is_attribute(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == name and _of_self(node)


def _of_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def mentions(cls: ast.ClassDef, names: frozenset[str]) -> bool:
    """Whether the text of a class reads, sets or defines one of some names."""
    return any(
        getattr(node, field, "") in names
        for node in walk(cls)
        for field in ("id", "attr", "name")
        if isinstance(getattr(node, field, ""), str)
    )


def stores(node: ast.AST, names: frozenset[str]) -> Iterator[ast.Attribute]:
    """Assignments to attributes with one of the given names, not those of `self`."""
    for inner in walk(node):
        stored = isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Store) and inner.attr in names
        if stored and isinstance(inner, ast.Attribute) and not _of_self(inner):
            yield inner
