"""Names that a function tests for being set before it sets them: the idiom of lazy initialisation."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.memo import remembered
from nonstrict.facts.walk import walk
from nonstrict.models.members import PUTTING_BY_KEY

if TYPE_CHECKING:
    from nonstrict.facts.scopes import FunctionNode


#: Methods by which entries are asked for.
ENTRIES = frozenset({"get", "items", "keys", "values"})
#: What makes a copy of the keys or entries that it is given.
_COPIES = frozenset({"dict", "frozenset", "list", "set", "sorted", "tuple"})
_TARGET = (ast.Attribute, ast.Subscript, ast.Name)


def tests_before_use(function: FunctionNode, name: str) -> bool:
    """Whether a function asks if a name (`CACHE`) or attribute (`.table`) is None, empty, or lacks a key.

    A flag that is only ever set to a constant, and a value computed from the one before, are no lazy initialisation:
    what the function does depends on how often it ran.
    """
    facts = _facts(function)
    return name in facts.tested and name not in facts.counting


def is_lazy(function: FunctionNode, name: str, store: ast.AST) -> bool:
    """Whether a store into a name or attribute sets up what was not there yet."""
    return tests_before_use(function, name) or completes(function, store) or fills_missing(function, store)


def fills(function: FunctionNode, name: str) -> bool:
    """Whether a function tests a name or attribute before use and stores into it: a lazily filled cache."""
    return tests_before_use(function, name) and name in _facts(function).stored


def completes(function: FunctionNode, store: ast.AST) -> bool:
    """Whether a store sets up what the same branch has just put into a cache: `C.one = made`, then `C.one.size = 2`."""
    return store in remembered(function, "_nonstrict_completing", _completing)


def fills_missing(function: FunctionNode, store: ast.AST) -> bool:
    """Whether a store is under the name of the attribute that an object was asked for and does not have.

    Python calls `__getattr__` for those alone (data model, "Customizing attribute access").
    """
    if getattr(function, "name", "") != "__getattr__" or len(function.args.args) != 2:
        return False
    named = {node.id for node in walk(store) if isinstance(node, ast.Name)}
    return named >= {one.arg for one in function.args.args}


def _completing(function: FunctionNode) -> frozenset[ast.AST]:
    """The statements, and the targets in them, that set up what they stand behind in a branch that fills a cache."""
    found: set[ast.AST] = set()
    for branch in walk(function):
        for block in (branch.body, branch.orelse) if isinstance(branch, ast.If) else ():
            made: set[str] = set()
            for statement in block:
                for target in statement.targets if isinstance(statement, ast.Assign) else ():
                    part = ast.unparse(target.value) if isinstance(target, (ast.Attribute, ast.Subscript)) else ""
                    if part in made:
                        found |= {statement, target}
                    if part in made or fills(function, root_of(target)):
                        made.add(ast.unparse(target))
    return frozenset(found)


def sets_itself(function: FunctionNode, name: str) -> bool:
    """Whether a function tests a name or attribute that it stores into, be it a cache, a flag or a running value."""
    facts = _facts(function)
    return name in facts.tested and name in facts.stored


def tests_something(function: FunctionNode) -> bool:
    """Whether a function asks if anything is None, empty or lacks a key, or whether an attribute is there."""
    asked = (node for node in walk(function) if isinstance(node, ast.Call))
    return (
        bool(_facts(function).tested)
        or any(isinstance(node, ast.If) and not isinstance(node.test, ast.Compare) for node in walk(function))
        or any(getattr(node.func, "id", "") == "hasattr" for node in asked)
    )


def is_docstring(statement: ast.stmt) -> bool:
    """Whether a statement is a text by itself."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


class _Facts(NamedTuple):
    tested: set[str]
    stored: set[str]
    counting: set[str]


def _facts(function: FunctionNode) -> _Facts:
    return remembered(function, "_nonstrict_laziness", _collect)


def _collect(function: FunctionNode) -> _Facts:
    stored = _stored(function)
    counting = {
        name
        for name, values in stored.items()
        if _counts(name, values) and not (_is_constant(values) and _only_gives(function, name))
    }
    return _Facts(_tested(function), set(stored), counting)


def _counts(name: str, values: list[ast.AST | None]) -> bool:
    """Whether what is stored tells how often the function ran: flags, counters, running values."""
    if all(isinstance(value, ast.Constant) and value.value is not None for value in values):
        return True
    return any(isinstance(value, ast.AugAssign) or (value is not None and _reads(value, name)) for value in values)


def _is_constant(values: list[ast.AST | None]) -> bool:
    """Whether one constant is stored, at one place."""
    return len(values) == 1 and isinstance(values[0], ast.Constant)


def _only_gives(function: FunctionNode, name: str) -> bool:
    """Whether a function gives its callers what it stores under a name, whenever it is called, and nothing else."""
    results = [node.value for node in walk(function) if isinstance(node, ast.Return)]
    given = all(isinstance(one, (ast.Name, ast.Attribute)) and root_of(one) == name for one in results)
    return bool(results) and given


def _reads(value: ast.AST, name: str) -> bool:
    return any(isinstance(node, (ast.Name, ast.Attribute)) and root_of(node) == name for node in walk(value))


def _stored(function: FunctionNode) -> dict[str, list[ast.AST | None]]:
    """What is stored into names and attributes: the value's expression, None where it is not to be had."""
    found: dict[str, list[ast.AST | None]] = {}
    plain: set[ast.AST] = set()
    for node in walk(function):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                plain.add(target)
                found.setdefault(root_of(target), []).append(node.value)
        elif isinstance(node, ast.AugAssign):
            plain.add(node.target)
            found.setdefault(root_of(node.target), []).append(node)
        elif isinstance(node, ast.Call) and puts_by_key(node) and isinstance(node.func, ast.Attribute):
            found.setdefault(root_of(node.func.value), []).append(node.args[-1] if node.args else None)
        elif isinstance(node, _TARGET) and node not in plain and not isinstance(node.ctx, ast.Load):
            found.setdefault(root_of(node), []).append(None)
    found.pop("", None)
    return found


def _tested(function: FunctionNode) -> set[str]:
    found: set[str] = set()
    for node in walk(function):
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            operator, right = node.ops[0], node.comparators[0]
            if isinstance(operator, (ast.Is, ast.IsNot)) and isinstance(right, ast.Constant) and right.value is None:
                left = node.left.target if isinstance(node.left, ast.NamedExpr) else node.left
                found.add(root_of(left))
            elif isinstance(operator, (ast.In, ast.NotIn)):
                found.add(root_of(right))
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            found.add(root_of(node.operand))
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "hasattr":
            found.add(asked_for(node))
        elif isinstance(node, ast.Try) and any(catches_missing(handler) for handler in node.handlers):
            for statement in node.body:
                found.update(root_of(inner) for inner in walk(statement) if isinstance(inner, ast.Subscript))
    taken = _taken_from(function)
    pending = list(found)
    while pending:
        new = taken.get(pending.pop(), set()) - found
        found |= new
        pending += new
    return found - {""}


def _taken_from(function: FunctionNode) -> dict[str, set[str]]:
    """Variables with the container whose entry or keys they hold: `entry = CACHE.get(key)`, `keys = list(CACHE)`."""
    found: dict[str, set[str]] = {}
    for node in walk(function):
        if isinstance(node, (ast.Assign, ast.NamedExpr)):
            container = _container_of(node.value)
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name) and container:
                    found.setdefault(target.id, set()).add(container)
    return found


def _container_of(value: ast.AST) -> str:
    """What an expression takes an entry, the keys or all entries of; "" for other expressions."""
    if isinstance(value, (ast.ListComp, ast.SetComp, ast.GeneratorExp)) and len(value.generators) == 1:
        return _container_of(value.generators[0].iter) or root_of(value.generators[0].iter)
    if not isinstance(value, ast.Call):
        return ""
    if isinstance(value.func, ast.Attribute):
        return root_of(value.func.value) if value.func.attr in ENTRIES else ""
    if isinstance(value.func, ast.Name) and value.func.id in _COPIES and len(value.args) == 1:
        return _container_of(value.args[0]) or root_of(value.args[0])
    return ""


def asked_for(call: ast.Call) -> str:
    """The attribute that `hasattr(holder, "attribute")` or `getattr(holder, "attribute", None)` asks for; else ""."""
    function = getattr(call.func, "id", "")
    absent = call.args[2] if function == "getattr" and len(call.args) == 3 else None
    asks = (function == "hasattr" and len(call.args) == 2) or (isinstance(absent, ast.Constant) and not absent.value)
    name = call.args[1] if asks else None
    return f".{name.value}" if isinstance(name, ast.Constant) else ""


def puts_by_key(node: ast.AST) -> bool:
    """`CACHE.setdefault(key, made)`, `CACHE.update({key: made})`."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in PUTTING_BY_KEY


def is_lookup(value: ast.AST) -> bool:
    """`CACHE.get(key)`."""
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "get"


def catches_missing(handler: ast.ExceptHandler) -> bool:
    """`except KeyError`."""
    return getattr(handler.type, "id", "") == "KeyError"


def root_of(node: ast.AST) -> str:
    """What a test or store is about: `CACHE` for a name or its items, `.table` for an attribute or its items."""
    if isinstance(node, ast.Call):
        return asked_for(node)
    attribute = ""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        attribute = f".{node.attr}" if isinstance(node, ast.Attribute) else attribute
        node = node.value
    return attribute or (node.id if isinstance(node, ast.Name) else "")
