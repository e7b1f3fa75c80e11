"""A change of outer state becomes a result: the function returns what it would store, and its callers store it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.events import Event
from nonstrict.facts.scopes import scope_of
from nonstrict.facts.walk import own_scope
from nonstrict.findings import Applicability, Fix
from nonstrict.fixes.code.edits import removed, replaced, with_comments_above
from nonstrict.fixes.code.names import spelled
from nonstrict.fixes.code.pure import is_pure
from nonstrict.fixes.effects.moving import move_condition, moved
from nonstrict.fixes.effects.removing import removal
from nonstrict.fixes.effects.standing import standing
from nonstrict.fixes.uses.lifting import Lift, Work, nowhere
from nonstrict.fixes.uses.sites import Site, rebinds
from nonstrict.fixes.uses.terms import free_name, is_simple, names_in, root, statement_text
from nonstrict.models.members import CHANGING, SPREADING, STORING
from nonstrict.program.contracts.marked_body import MarkedBody
from nonstrict.program.contracts.regions import crossing
from nonstrict.program.domain.access_paths import Root
from nonstrict.program.domain.values import TENSORS, Kind
from nonstrict.text.trees import tree_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Edit
    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.context import Context
    from nonstrict.program.domain.effects import Observed

_Definition = ast.FunctionDef | ast.AsyncFunctionDef
_CROSSING = TENSORS | {Kind.NUMBER, Kind.BOOL}


class _Change(NamedTuple):
    """A statement that changes state: the changed expression and the stored one, None where nothing is stored."""

    statement: ast.stmt
    target: ast.expr
    value: ast.expr | None
    updates: bool
    """Whether the new state depends on the old one, or on the length of a container."""


def return_value(context: Context) -> Iterator[Fix]:
    """`LOG.append(x.mean())` in a function becomes a further result, and is done by whoever calls the function."""
    seen, document = context.observed(Event.WRITE, Event.LEAK), context.document
    if seen is None or seen.in_hook or document is None:
        return
    change = _change(document, context)
    function = document.function(change.statement) if change is not None else None
    if change is None or not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return
    if change.statement not in function.body:
        return
    whole = list(move_condition(context)) or list(_as_one(context, document, change, seen))
    if whole:
        yield from whole
        return
    result = _result(context, document, function, change, seen)
    if result is None or _crosses_regions(context, seen):
        return
    work, taken_out = result
    if not work.value:
        whole = _whole(context, document, function, change)
        if whole is None:
            return
        taken_out = whole or taken_out
    can_wait, can_be_first = _can_wait(context, function, change), _can_be_first(context, function, change)
    if not can_wait and (work.value or not can_be_first):
        return
    if not can_wait:
        # In front of the call, as what the function reads holds the change already; so no region may do it.
        work = work._replace(stores=nowhere)
    work = work._replace(behind=not can_be_first)
    declared = _declaration(document, function, change)
    done = Lift(context, context.documents.uses).edits(document, function, change.statement, work)
    if done is not None:
        there = f"Move the change of `{document.text(change.target)}` to the caller"
        title = "Return the new value" if work.value else there
        yield Fix(title, Applicability.UNSAFE, (*taken_out, *declared, *done))


def _as_one(context: Context, document: Document, change: _Change, seen: Observed) -> Iterator[Fix]:
    """The call of a helper that does several such things, and nothing else, moves in front of the calls as a whole."""
    alone = standing(context, document, change.statement, together=False)
    places = standing(context, document, change.statement)
    if [one.statement for one in alone] != [change.statement] or len(places) != 1 or not places[0].called:
        return
    if _read_by_others(context, change) or _crosses_regions(context, seen):
        return
    title = f"Move the call of `{places[0].called}` to the caller"
    yield from moved(context, places[0].document, places[0].statement, title)


def _whole(context: Context, document: Document, function: _Definition, change: _Change) -> tuple[Edit, ...] | None:
    """The edits that take the calls of a helper out that does nothing else; none if it does more.

    None if the helper would be left with nothing to do, and calls.
    """
    places = standing(context, document, change.statement, together=False)
    if [one.statement for one in places] == [change.statement]:
        return ()
    calls = context.documents.uses.of(document, function).calls
    statements = {call.document.parent(call.node) for call in calls}
    if not places or statements != {one.statement for one in places}:
        return None
    edits = [removal(one.document, one.statement) for one in places]
    return tuple(edit for edit in edits if edit is not None) if all(edits) else None


# -- what is changed --------------------------------------------------------------------------------------------------


def _change(document: Document, context: Context) -> _Change | None:
    """The change that a finding is about, where it is one of the forms that can move."""
    node = document.at(context.finding.span, ast.expr, ast.stmt)
    statement = document.statement(node) if node is not None else None
    change: _Change | None = None
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        updates = ast.unparse(target) in {ast.unparse(part) for part in ast.walk(statement.value)}
        change = _Change(statement, target, statement.value, updates)
    elif isinstance(statement, ast.AugAssign):
        change = _Change(statement, statement.target, statement.value, updates=True)
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        change = _method(statement, statement.value)
    if change is None or root(change.target) is None or not is_pure(document, change.target):
        return None
    return change if _is_plain(change.target) else None


def _method(statement: ast.stmt, call: ast.Call) -> _Change | None:
    if not isinstance(call.func, ast.Attribute) or call.keywords:
        return None
    name, target = call.func.attr, call.func.value
    if name in STORING and call.args and all(is_simple(argument) for argument in call.args[:-1]):
        return _Change(statement, target, call.args[-1], updates=True)
    if not call.args and any(name in methods for methods in CHANGING.values()):
        return _Change(statement, target, None, updates=True)
    return None


def _is_plain(node: ast.expr) -> bool:
    """Whether a place is a name with attributes and constant entries."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, (ast.Constant, ast.Name)):
            return False
        node = node.value
    return isinstance(node, ast.Name)


# -- whether it can wait ----------------------------------------------------------------------------------------------


def _can_wait(context: Context, function: _Definition, change: _Change) -> bool:
    """Whether nothing between the change and the end of the function can tell that it has not happened yet."""
    base = root(change.target)
    if base is None:
        return False
    later = function.body[function.body.index(change.statement) + 1 :]
    for statement in later:
        for part in ast.walk(statement):
            if isinstance(part, ast.Name) and part.id == base.id and not _is_apart(context, part, change):
                return False
    return not _read_by_others(context, change)


def _can_be_first(context: Context, function: _Definition, change: _Change) -> bool:
    """Whether nothing in the function before a change has to do with what is changed."""
    base = root(change.target)
    if base is None:
        return False
    earlier = function.body[: function.body.index(change.statement)]
    named = (part for one in earlier for part in ast.walk(one) if isinstance(part, ast.Name) and part.id == base.id)
    return all(_is_apart(context, name, change) for name in named) and not _read_by_others(context, change)


def _is_apart(context: Context, name: ast.Name, change: _Change) -> bool:
    """Whether a use of the variable has nothing to do with what is changed: another attribute, another entry."""
    document = context.document
    outer = document.parent(name) if document is not None else None
    if document is None or not isinstance(name.ctx, ast.Load):
        return False
    changed = change.target
    steps: list[ast.expr] = []
    while isinstance(changed, (ast.Attribute, ast.Subscript)):
        steps.append(changed)
        changed = changed.value
    if isinstance(outer, ast.Attribute) and steps and isinstance(steps[-1], ast.Attribute):
        called = document.parent(outer)
        method = isinstance(called, ast.Call) and called.func is outer and _is_method(document, outer)
        return outer.attr != steps[-1].attr and not method
    if not isinstance(outer, ast.Subscript) or outer.value is not name or not isinstance(outer.slice, ast.Constant):
        return False
    if steps and isinstance(steps[-1], ast.Subscript):
        key = steps[-1].slice
        return isinstance(key, ast.Constant) and key.value != outer.slice.value
    grows = isinstance(change.statement, ast.Expr) and change.value is not None
    return not steps and grows and isinstance(outer.slice.value, int) and outer.slice.value >= 0


def _is_method(document: Document, access: ast.Attribute) -> bool:
    """Whether what is called on an object is a method that this file defines."""
    return any(node.name == access.attr for node in document.of(ast.FunctionDef, ast.AsyncFunctionDef))


def _read_by_others(context: Context, change: _Change) -> bool:
    """Whether a function that is called reads, or changes too, what is changed."""
    seen = context.observed(Event.WRITE, Event.LEAK)
    if seen is None:
        return True
    place = seen.effect.place
    others = context.body.observed(Event.READ, Event.WRITE, Event.LEAK, Event.ATTRIBUTE)
    own = seen.chain[-1].summary if seen.chain else None
    return any(
        (other.chain[-1].summary if other.chain else None) is not own
        and other.effect.place[:3] == place[:3]
        and _overlap(other.effect.place.path, place.path)
        for other in others
    )


def _crosses_regions(context: Context, seen: Observed) -> bool:
    """Whether another marked function reads, in the region that would do the change, what is changed.

    What a region writes is seen once its compiled code has run.
    """
    body, place = context.body, seen.effect.place
    function = body.mark.function
    for region, _ in crossing.calls(body.machine, body.mark, body.torch):
        marks = {seen.effect.value.mark for seen in region.seen_by_others(Event.CALLED)}
        for mark in marks:
            if mark is None or mark.function is function:
                continue
            other = MarkedBody(body.machine, mark, body.torch)
            if any(
                read.effect.place[:3] == place[:3] and _overlap(read.effect.place.path, place.path)
                for read in other.observed(Event.READ, Event.WRITE, Event.LEAK, Event.ATTRIBUTE)
            ):
                return True
    return False


def _overlap(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    return all(one == other for one, other in zip(left, right, strict=False))


# -- what the callers do ----------------------------------------------------------------------------------------------


def _result(
    context: Context, document: Document, function: _Definition, change: _Change, seen: Observed
) -> tuple[Work, tuple[Edit, ...]] | None:
    """What the callers have to do, and the edits that take it out of the function."""
    statement, value = change.statement, change.value
    declares = _declares(function, change)
    stores = _Stores(context, change)
    kind = seen.effect.value.kind
    if value is None or _is_known_outside(document, function, value, crosses=kind in _CROSSING):
        edit = removal(document, statement)
        work = Work(statement_text(document, statement), declares=declares, stores=stores, uses=_uses)
        return (work, (with_comments_above(document, statement, edit),)) if edit is not None else None
    if kind not in _CROSSING or _spreads(change):
        return None
    name, edits = _named(document, function, change, value)
    if not edits:
        return None
    # Where the value is still computed, the comments stay with that.
    text = statement_text(document, statement, (value, name), comments=not edits[0].text.strip())
    annotation = ""
    if kind in TENSORS and function.returns is not None:
        spelling = spelled(document, "torch.Tensor")
        annotation, edits = spelling.text, (*edits, *spelling.edits)
    return Work(text, name, annotation or _python_type(kind, value), declares, stores=stores, uses=_uses), edits


def _spreads(change: _Change) -> bool:
    call = change.statement.value if isinstance(change.statement, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in SPREADING


def _python_type(kind: Kind, value: ast.expr) -> str:
    if kind is Kind.BOOL:
        return "bool"
    return "int" if isinstance(value, ast.Constant) and isinstance(value.value, int) else ""


def _is_known_outside(document: Document, function: _Definition, value: ast.expr, *, crosses: bool) -> bool:
    """Whether callers can write what is stored: it is made of what they pass.

    What could be a result as well (`crosses`) they write only if it computes next to nothing.
    """
    unwanted = (ast.Lambda, ast.Call) if crosses else ast.Lambda
    if not is_pure(document, value) or any(isinstance(part, unwanted) for part in ast.walk(value)):
        return False
    arguments = function.args
    parameters = {one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    local = scope_of(function).local - scope_of(function).global_names
    used = names_in(value)
    if any(name in local and (name not in parameters or rebinds(function, name)) for name in used):
        return False
    computes = any(isinstance(part, (ast.BinOp, ast.UnaryOp, ast.Compare)) for part in ast.walk(value))
    return not crosses or not computes or not used & (parameters - {"self"})


def _named(document: Document, function: _Definition, change: _Change, value: ast.expr) -> tuple[str, tuple[Edit, ...]]:
    """The name of the further result, and the edit that computes it in place of the change."""
    statement = change.statement
    if isinstance(value, ast.Name) and not _bound_behind(function, value, statement):
        edit = removed(document, statement)
        return value.id, (with_comments_above(document, statement, edit),) if edit is not None else ()
    name, text = free_name(function, _base_name(change)), document.text(value)
    wrapped = f"({text})" if "\n" in text and text[-1] not in ")]}" else text
    return name, (replaced(document, statement, f"{name} = {wrapped}"),)


def _bound_behind(function: _Definition, value: ast.Name, statement: ast.stmt) -> bool:
    later = function.body[function.body.index(statement) + 1 :]
    return any(
        isinstance(part, ast.Name) and part.id == value.id and not isinstance(part.ctx, ast.Load)
        for one in later
        for part in ast.walk(one)
    )


def _base_name(change: _Change) -> str:
    """A name for what is stored: that of the attribute, entry or variable it goes to."""
    target = change.target
    if isinstance(change.statement, ast.Expr):
        return "value"
    if isinstance(target, ast.Subscript):
        key = target.slice.value if isinstance(target.slice, ast.Constant) else None
        return key if isinstance(key, str) and key.isidentifier() else "value"
    name = target.attr if isinstance(target, ast.Attribute) else ast.unparse(target)
    return name.strip("_").lower() or "value"


def _declares(function: _Definition, change: _Change) -> tuple[str, ...]:
    """The outer variable that a change binds, which needs a declaration wherever it is bound."""
    binds = isinstance(change.statement, (ast.Assign, ast.AugAssign)) and isinstance(change.target, ast.Name)
    return (change.target.id,) if binds and isinstance(change.target, ast.Name) else ()


def _declaration(document: Document, function: _Definition, change: _Change) -> tuple[Edit, ...]:
    """The edit that takes a `global` statement out which declares nothing else, and which nothing needs any more."""
    names = _declares(function, change)
    if not names:
        return ()
    others = [node for node in own_scope(function) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)]
    bound = [node for node in others if node.id == names[0]]
    for statement in function.body:
        if isinstance(statement, (ast.Global, ast.Nonlocal)) and statement.names == [names[0]] and len(bound) == 1:
            edit = removed(document, statement)
            return (edit,) if edit is not None else ()
    return ()


class _Stores:
    """Whether a caller that is compiled can do the change itself: Dynamo repeats it, and compiles once."""

    def __init__(self, context: Context, change: _Change) -> None:
        seen = context.observed(Event.WRITE, Event.LEAK)
        self._cell = seen is not None and seen.effect.place.seen_as is Root.CELL
        self._updates = change.updates
        self._entry = isinstance(change.target, ast.Subscript) and not isinstance(change.target.slice, ast.Constant)

    def __call__(self, site: Site, text: str) -> bool:
        """Answers for a call and the change as its caller writes it."""
        place, function = _changed(text), site.function
        variable = root(place) if place is not None else None
        if function is None or place is None or variable is None:
            return False
        base = variable.id
        known = scope_of(function)
        arguments = {part.arg for part in ast.walk(function.args) if isinstance(part, ast.arg)}
        if base in known.local and base not in arguments and base not in known.global_names:
            return True
        if self._cell or not (self._updates or self._entry):
            return True
        # A region that uses the state has to see the change, and is guarded by it already.
        return _uses(site, text)


def _changed(text: str) -> ast.expr | None:
    """The expression that a statement changes."""
    statement = tree_of(text).body[0]
    if isinstance(statement, ast.Assign):
        return statement.targets[0]
    if isinstance(statement, ast.AugAssign):
        return statement.target
    call = statement.value if isinstance(statement, ast.Expr) else None
    return call.func.value if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else None


def _uses(site: Site, text: str) -> bool:
    """Whether a caller uses what a statement changes, beside the call: its first attribute, if it has one."""
    place = _changed(text)
    inside = {id(part) for part in ast.walk(site.call)}
    steps: list[str] = []
    while isinstance(place, (ast.Attribute, ast.Subscript)):
        steps = [place.attr] if isinstance(place, ast.Attribute) else []
        place = place.value
    base = place if isinstance(place, ast.Name) else None
    body = site.function.body if site.function is not None else []
    parts = (
        part for one in (body if isinstance(body, list) else [body]) for part in ast.walk(one) if id(part) not in inside
    )
    if steps:
        return any(isinstance(part, ast.Attribute) and part.attr == steps[0] for part in parts)
    return base is not None and any(isinstance(part, ast.Name) and part.id == base.id for part in parts)
