"""Changes that the code takes back: a flag set and reset, a stack pushed and popped, also by `with`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.memo import remembered
from nonstrict.facts.walk import own_scope, walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_Function = ast.FunctionDef | ast.AsyncFunctionDef
#: What takes back a call of a method: the method to call then, and whether it is given the same arguments.
_OPPOSITES = {
    "append": (("pop", False), ("remove", True)),
    "appendleft": (("popleft", False), ("remove", True)),
    "add": (("discard", True), ("remove", True)),
}
_BLOCKS = ("body", "orelse", "finalbody")
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
#: Among so many changes that are not taken back yet the one is looked for that a call takes back.
_LAST = 8
#: Changes further before a `try` than so many statements do not belong to it.
_NEAR = 20


class _Change(NamedTuple):
    """One change: how (`set`, `del`, an operator, a method), of what, with what, and the nodes that stand for it.

    It is `looped` where it may happen many times.
    """

    how: str
    of: str
    given: tuple[str, ...]
    nodes: tuple[ast.AST, ...]
    value: ast.expr | None = None
    looped: bool = False

    @property
    def line(self) -> int:
        """The line it stands on."""
        return getattr(self.nodes[0], "lineno", 0)


#: By a name that is bound once, and the expression whose value it keeps: the line of that.
_Saved = dict[tuple[str, str], int]


def restored(function: ast.AST) -> frozenset[ast.AST]:
    """The nodes in a function that change something which the function puts back, and those that put it back."""
    return remembered(function, "_nonstrict_restored", _restored)


def restored_on_exit(cls: ast.ClassDef) -> frozenset[ast.AST]:
    """The same for what `__enter__` changes and `__exit__` puts back."""
    return remembered(cls, "_nonstrict_restored_on_exit", _on_exit)


def _restored(function: ast.AST) -> frozenset[ast.AST]:
    if not isinstance(function, _Function):
        return frozenset()
    saved = _saved_in(own_scope(function))
    found: set[ast.AST] = set()
    for block in _blocks(function.body):
        found |= _in_sequence(block, saved)
        for position, statement in enumerate(block):
            if isinstance(statement, ast.Try) and statement.finalbody:
                done = [*_own(_before(block, position)), *_changes(statement.body)]
                found |= _taken_back([*done, *_changes(statement.finalbody)], saved)
    return frozenset(found)


def _on_exit(cls: ast.ClassDef) -> frozenset[ast.AST]:
    methods = {method.name: method for method in cls.body if isinstance(method, _Function)}
    entered, left = methods.get("__enter__"), methods.get("__exit__")
    if entered is None or left is None:
        return frozenset()
    saved = _saved_in(own_scope(entered))
    return frozenset(_taken_back([*_changes(entered.body), *_changes(left.body)], saved))


def _before(block: Sequence[ast.stmt], position: int) -> list[ast.stmt]:
    """The statements right before one, as far as the function does not return in them."""
    found: list[ast.stmt] = []
    for statement in reversed(block[max(0, position - _NEAR) : position]):
        if _leaves(statement):
            break
        found.insert(0, statement)
    return found


def _in_sequence(block: Sequence[ast.stmt], saved: _Saved) -> set[ast.AST]:
    """Changes that a later statement of the same block takes back, unless the function may return in between."""
    found: set[ast.AST] = set()
    part: list[ast.stmt] = []
    for statement in block:
        part.append(statement)
        if _leaves(statement):
            found |= _taken_back(_own(part), saved)
            part = []
    return found | _taken_back(_own(part), saved)


def _leaves(statement: ast.stmt) -> bool:
    return any(isinstance(node, ast.Return) for node in walk(statement))


def _taken_back(row: list[_Change], saved: _Saved) -> set[ast.AST]:
    """The nodes of changes, and of what takes each of them back: one for one, but for values that are put back."""
    return _undone(row) | _put_back(row, saved)


def _undone(row: list[_Change]) -> set[ast.AST]:
    found: set[ast.AST] = set()
    open_changes: dict[str, list[_Change]] = {}
    for change in row:
        known = open_changes.setdefault(change.of, [])
        first = next((one for one in reversed(known[-_LAST:]) if _takes_back(one, change)), None)
        if first is not None:
            known.remove(first)
            if not first.looped and not change.looped:
                found.update((*first.nodes, *change.nodes))
        else:
            known.append(change)
    return found


def _takes_back(change: _Change, other: _Change) -> bool:
    if change.how == "set":
        return other.how in ("del", "pop") and other.given[:1] == change.given[:1] != ()
    if change.how == "token":
        return other.how == "reset" and other.given == change.given
    if {change.how, other.how} == {"+=", "-="}:
        return change.given == other.given
    if change.how == "insert" and other.how == "pop":
        return change.given[:1] == other.given
    return any(
        other.how == method and other.given == (change.given if same else ())
        for method, same in _OPPOSITES.get(change.how, ())
    )


def _put_back(row: list[_Change], saved: _Saved) -> set[ast.AST]:
    found: set[ast.AST] = set()
    last: dict[tuple[str, tuple[str, ...]], _Change] = {}
    for change in reversed(row):
        if change.how != "set":
            continue
        key = (change.of, change.given)
        if key in last and _puts_back(change, last[key], saved):
            found.update((*change.nodes, *last[key].nodes))
        else:
            last[key] = change
    return found


def _puts_back(change: _Change, other: _Change, saved: _Saved) -> bool:
    """Whether what is stored last is what was there before: it was saved, or says that nothing is under way."""
    if other.value is None:
        return False
    if isinstance(other.value, ast.Constant):
        same = isinstance(change.value, ast.Constant) and change.value.value is other.value.value
        return not same and (other.value.value is None or other.value.value is False)
    place = change.of + "".join(f"[{key}]" for key in change.given)
    line = saved.get((ast.unparse(_as_read(other.value)), place))
    return line is not None and line <= change.line


def _as_read(stored: ast.expr) -> ast.expr:
    """What is stored, as reading it gives it: the function of `staticmethod(function)`."""
    wraps = isinstance(stored, ast.Call) and getattr(stored.func, "id", "") in ("staticmethod", "classmethod")
    return stored.args[0] if wraps and isinstance(stored, ast.Call) and len(stored.args) == 1 else stored


# -- what is changed and saved ------------------------------------------------------------------------------------


def _blocks(body: list[ast.stmt]) -> Iterator[list[ast.stmt]]:
    """A block and those inside of it, without those of functions and classes."""
    yield body
    for statement in body:
        if not isinstance(statement, (*_FUNCTIONS, ast.ClassDef)):
            for field in _BLOCKS:
                inner: list[ast.stmt] = getattr(statement, field, [])
                if inner:
                    yield from _blocks(inner)


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def _own(block: Sequence[ast.stmt]) -> list[_Change]:
    """What the statements of a block themselves change."""
    return [change for statement in block for change in _changes_at(statement)]


def _changes(body: Sequence[ast.stmt], *, looped: bool = False) -> list[_Change]:
    """What statements change, those inside of them too."""
    found: list[_Change] = []
    for statement in body:
        found += (change._replace(looped=looped) for change in _changes_at(statement))
        if not isinstance(statement, (*_FUNCTIONS, ast.ClassDef)):
            for field in _BLOCKS:
                again = looped or isinstance(statement, _LOOPS)
                found += _changes(getattr(statement, field, []), looped=again)
    return found


def _changes_at(statement: ast.stmt) -> Iterator[_Change]:
    """What one statement itself changes."""
    if isinstance(statement, ast.Assign):
        for target in statement.targets:
            for part, value in _matched(target, statement.value):
                yield _stored(part, value, (part, statement))
        yield from _token(statement)
    elif isinstance(statement, ast.AugAssign) and isinstance(statement.op, (ast.Add, ast.Sub)):
        how = "+=" if isinstance(statement.op, ast.Add) else "-="
        given = (ast.unparse(statement.value),)
        yield _Change(how, ast.unparse(statement.target), given, (statement, statement.target))
    elif isinstance(statement, ast.Delete):
        for target in statement.targets:
            if isinstance(target, ast.Subscript):
                yield _Change("del", ast.unparse(target.value), (ast.unparse(target.slice),), (target, statement))
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        yield from _called(statement.value)


def _stored(target: ast.expr, value: ast.expr | None, nodes: tuple[ast.AST, ...]) -> _Change:
    if isinstance(target, ast.Subscript):
        return _Change("set", ast.unparse(target.value), (ast.unparse(target.slice),), nodes, value)
    return _Change("set", ast.unparse(target), (), nodes, value)


def _called(call: ast.Call) -> Iterator[_Change]:
    given = tuple(ast.unparse(argument) for argument in call.args)
    if isinstance(call.func, ast.Attribute):
        yield _Change(call.func.attr, ast.unparse(call.func.value), given, (call,))
    elif getattr(call.func, "id", "") == "setattr" and len(given) == 3:
        yield _Change("set", _attribute(call), (), (call,), call.args[2])


def _token(statement: ast.Assign) -> Iterator[_Change]:
    """`token = variable.set(value)`."""
    call, target = statement.value, statement.targets[0]
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "set":
        yield _Change("token", ast.unparse(call.func.value), (ast.unparse(target),), (call,))


def _saved_in(nodes: Iterable[ast.AST]) -> _Saved:
    bound: dict[str, list[tuple[str, int]]] = {}
    for node in nodes:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                for part, value in _matched(target, node.value):
                    read = _read(value) if value is not None else ""
                    bound.setdefault(ast.unparse(part), []).append((read, node.lineno))
    return {(name, kept[0][0]): kept[0][1] for name, kept in bound.items() if len(kept) == 1}


def _read(value: ast.expr) -> str:
    """What an expression reads: `d.get(k)` is `d[k]`, `getattr(o, "n")` is `o.n`."""
    if isinstance(value, ast.Call) and value.args:
        if isinstance(value.func, ast.Attribute) and value.func.attr == "get":
            return f"{ast.unparse(value.func.value)}[{ast.unparse(value.args[0])}]"
        if getattr(value.func, "id", "") == "getattr" and len(value.args) > 1:
            return _attribute(value)
    return ast.unparse(value)


def _attribute(call: ast.Call) -> str:
    """The attribute that `getattr` and `setattr` mean."""
    base, name = call.args[:2]
    literal = name.value if isinstance(name, ast.Constant) else None
    return f"{ast.unparse(base)}.{literal if isinstance(literal, str) else f'({ast.unparse(name)})'}"


def _matched(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """The single targets of an assignment with what each is given, as far as the text tells."""
    if not isinstance(target, (ast.Tuple, ast.List)):
        yield target, value
        return
    several = isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts)
    for index, part in enumerate(target.elts):
        yield part, value.elts[index] if several and isinstance(value, (ast.Tuple, ast.List)) else None
