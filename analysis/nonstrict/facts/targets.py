"""What a marker is applied to, as far as the text of one definition tells."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.memo import remembered
from nonstrict.facts.scopes import parameter_names
from nonstrict.facts.walk import walk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

_Function = (ast.FunctionDef, ast.AsyncFunctionDef)
_Path = (ast.Name, ast.Attribute)
_UNNAMED = frozenset({""})


def last_name(node: ast.AST) -> str:
    """The last part of a dotted name, of what a call calls, of what is indexed; "" for anything else."""
    if isinstance(node, ast.Call):
        node = node.func
    while isinstance(node, ast.Subscript):
        node = node.value
    return getattr(node, "attr", getattr(node, "id", ""))


def choices(value: ast.expr) -> Iterator[ast.expr]:
    """The expressions that `a if test else b` and `a or b` choose from."""
    if isinstance(value, ast.IfExp):
        yield from choices(value.body)
        yield from choices(value.orelse)
    elif isinstance(value, ast.BoolOp):
        for part in value.values:
            yield from choices(part)
    else:
        yield value


def decorators(definition: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> Iterator[ast.expr]:
    """The decorators of a function or class, all of those between which a condition chooses."""
    return (choice for decorator in definition.decorator_list for choice in choices(decorator))


def held_as(definition: ast.AST, names: AbstractSet[str]) -> set[str]:
    """The names and attributes to which assignments bind one of some names itself: `mark = torch.compile`."""
    found: set[str] = set()
    for named, held in remembered(definition, "_nonstrict_held_as", _handovers):
        if not named.isdisjoint(names):
            found |= held
    return found


def _handovers(definition: ast.AST) -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    """The assignments in a definition of what has a name: the names that are chosen from, and those that are bound."""
    found: list[tuple[frozenset[str], frozenset[str]]] = []
    for value, targets in _assignments(definition):
        named = frozenset(map(_named_by, choices(value)))
        if named != _UNNAMED:
            found.append((named, frozenset(last_name(target) for target in targets if isinstance(target, _Path))))
    return tuple(found)


def _assignments(definition: ast.AST) -> Iterator[tuple[ast.expr, list[ast.expr]]]:
    """The values that are assigned in a definition, and what each is assigned to."""
    for inner in walk(definition):
        value = inner.value if isinstance(inner, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) else None
        if value is not None:
            yield value, inner.targets if isinstance(inner, ast.Assign) else [getattr(inner, "target", value)]


def _named_by(value: ast.expr) -> str:
    """The last part of a dotted name, or the name that `getattr` is given."""
    if isinstance(value, ast.Call):
        name = value.args[1] if last_name(value) == "getattr" and len(value.args) > 1 else None
        return name.value if isinstance(name, ast.Constant) and isinstance(name.value, str) else ""
    return last_name(value) if isinstance(value, _Path) else ""


def bound_from(definition: ast.AST, names: AbstractSet[str]) -> set[str]:
    """The names and attributes that assignments bind to a value, or a part of one, in which one of some names stands.

    `self.step, reset = make_step(2)` binds `step` and `reset` to what `make_step` made.
    """
    found: set[str] = set()
    for named, bound in remembered(definition, "_nonstrict_bound_from", _bindings):
        if not named.isdisjoint(names):
            found |= bound
    return found - {""}


def _bindings(definition: ast.AST) -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    """The assignments in a definition: the names that stand in the value, and those that are bound."""
    return tuple(
        (
            frozenset(last_name(part) for part in walk(value) if isinstance(part, _Path)),
            frozenset(last_name(part) for target in targets for part in _bound(target)),
        )
        for value, targets in _assignments(definition)
    )


def _bound(target: ast.expr) -> Iterator[ast.expr]:
    """What a target of an assignment stores to."""
    if isinstance(target, (ast.Tuple, ast.List)):
        for element in target.elts:
            yield from _bound(element)
    else:
        yield target.value if isinstance(target, ast.Starred) else target


def promising(
    definition: ast.AST, names: AbstractSet[str], handed: AbstractSet[str], bound: AbstractSet[str] = frozenset()
) -> bool:
    """Whether a marker is applied to something that the program may define.

    `names` are words for markers, `handed` those that count also where they are only an argument: `map(mark, fns)`.
    `bound` are the names at the top level of the module that may be of the program: so may be what calls of them make.

    What a function traces that was made elsewhere (`fn = load(); make_fx(fn)(*args)`) is not of the program;
    infrastructure is full of these.
    """
    calls: list[ast.Call] = []
    for inner in walk(definition):
        if isinstance(inner, (*_Function, ast.ClassDef)):
            if any(last_name(decorator) in names for decorator in decorators(inner)):
                return True
        elif isinstance(inner, ast.Call):
            if last_name(inner.func) in names:
                calls.append(inner)
            elif any(last_name(value) in handed for value in inner.args):
                return True
    if not calls:
        return False
    inside = {inner.name for inner in walk(definition) if isinstance(inner, (*_Function, ast.ClassDef))}
    unknown = _unknown_names(definition, bound) - inside
    return any(_marks_known(call, unknown) for call in calls)


def _marks_known(call: ast.Call, unknown: AbstractSet[str]) -> bool:
    """Whether a call of a marker is given something that the program may define, or nothing yet."""
    if not call.args and not call.keywords:
        return True
    first = call.args[0] if call.args else call.keywords[0].value
    targets = [first, *(keyword.value for keyword in call.keywords if _is_target(keyword))]
    return any(not _is_unknown(value, unknown) for value in targets)


def _is_target(keyword: ast.keyword) -> bool:
    return keyword.arg in {"traceable_fn", "fn", "f", "mod", "func"}


def _is_unknown(value: ast.expr, unknown: AbstractSet[str]) -> bool:
    return isinstance(value, ast.Name) and value.id in unknown


def _unknown_names(definition: ast.AST, bound: AbstractSet[str]) -> set[str]:
    """Locals bound to the results of calls in which no name of the program stands: nothing is known of what they hold.

    A call of what the module binds, or that is handed or made on such a thing, keeps it known: `Model().to(device)`,
    `Sequential(Model())`. So do parameters, which callers tell of; a name that is also bound otherwise is known.
    """
    known: set[str] = set(bound)
    calls: list[tuple[set[str], ast.AST]] = []
    for inner in walk(definition):
        if isinstance(inner, (*_Function, ast.Lambda)):
            known.update(parameter_names(inner.args))
        if isinstance(inner, (*_Function, ast.ClassDef)):
            known.add(inner.name)
        elif isinstance(inner, ast.Assign):
            names = {name.id for target in inner.targets for name in _stored(target)}
            if isinstance(inner.value, (ast.Call, ast.Await)):
                calls.append((names, inner.value))
            else:
                known |= names
        elif isinstance(inner, (ast.For, ast.AsyncFor, ast.NamedExpr)):
            known.update(name.id for name in _stored(inner.target))
    before = -1
    while before != len(known):
        before = len(known)
        for names, value in calls:
            if not names <= known and any(isinstance(one, ast.Name) and one.id in known for one in walk(value)):
                known |= names
    return set[str]().union(*(names for names, _ in calls)) - known


def _stored(target: ast.AST) -> Iterator[ast.Name]:
    return (name for name in walk(target) if isinstance(name, ast.Name))
