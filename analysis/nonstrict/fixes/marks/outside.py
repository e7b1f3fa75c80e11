"""What a region must not do itself: definitions and objects that move out of it, to the level of the module."""

from __future__ import annotations

import ast
import builtins
import re
from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.facts.scopes import FunctionNode, scope_of
from nonstrict.facts.targets import last_name
from nonstrict.facts.use_def import use_def
from nonstrict.findings import Applicability, Edit, Fix
from nonstrict.fixes.code.documents import first_line
from nonstrict.fixes.code.edits import above_definition, before, comment_behind, removed, replaced
from nonstrict.fixes.code.names import bindings, dotted, fresh, outermost
from nonstrict.fixes.code.pure import is_pure
from nonstrict.knowledge.operators import torch_function
from nonstrict.program.contracts.boundary import soundness
from nonstrict.program.domain.values import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.context import Context
    from nonstrict.program.contracts.boundary.boundary_values import BoundaryArgument
    from nonstrict.program.contracts.boundary.pytrees import Registration
    from nonstrict.program.domain.values import Value

_PARTIAL = "functools.partial"


# -- markers ----------------------------------------------------------------------------------------------------------


def move_marker(context: Context) -> Iterator[Fix]:
    """Apply a marker at the level of the module, where what it is applied to captures nothing of the region."""
    document = context.document
    node = document.at(context.finding.span, ast.expr) if document is not None else None
    seen = context.observed(Event.MARKS)
    if document is None or node is None or seen is None:
        return
    function = document.parent(node)
    if isinstance(function, ast.FunctionDef) and node in function.decorator_list:
        yield from _definition_out(document, function)
    elif isinstance(node, ast.Call) and len(node.args) + len(node.keywords) == 1:
        yield from _call_out(document, node, seen.effect.value)


def _definition_out(document: Document, function: ast.FunctionDef) -> Iterator[Fix]:
    """`def` and its decorators."""
    outer = outermost(document, function)
    several = any(
        isinstance(one, (ast.Constant, ast.JoinedStr)) and one.end_lineno != one.lineno for one in ast.walk(function)
    )
    if outer is None or several or not _stands_alone(document, function, outer, own=function.name):
        return
    if not _has_fixed_defaults(function.args) or _binds_module(document, function.name):
        return
    if _count(document, function.name, ast.Store):
        return
    indent = document.indentation(function)
    lines = [_dedented(line, indent) for line in document.lines[first_line(function) - 1 : function.end_lineno]]
    added = before(document, outer, [*lines, "", ""])
    gone = taken_out(document, function)
    if added is not None and gone is not None:
        yield Fix(f"Move `{function.name}` out of the region", Applicability.SAFE, (added, gone))


def _dedented(line: str, indent: str) -> str:
    """A line without an indentation; one that is indented less, as in brackets or as a comment, without any."""
    return line.removeprefix(indent) if line.startswith(indent) else line.lstrip()


def _call_out(document: Document, call: ast.Call, target: Value) -> Iterator[Fix]:
    """The marker's call, bound to a name of the module."""
    given = (*call.args, *(keyword.value for keyword in call.keywords))[0]
    if target.kind is Kind.MARKED and isinstance(given, (ast.Name, ast.Attribute)):
        text = document.text(given)
        yield Fix(f"Use `{text}`, which is marked already", Applicability.SAFE, (replaced(document, call, text),))
        return
    outer = outermost(document, call)
    value, local = _value_of(document, given)
    if outer is None or value is None or not _is_fixed(document, value):
        return
    if not _stands_alone(document, value, outer) or not _stands_alone(document, call.func, outer):
        return
    named = _named(document, call, value, local, outer)
    if named is None:
        return
    name, edits = named
    written = replaced_text(document, call, given, document.text(value))
    gone = (one for one in (document.parent(call), document.statement(value)) if isinstance(one, ast.Assign))
    removed_lines = {edit.span.line for edit in edits if not edit.text}
    comment = next((comment_behind(document, one) for one in gone if one.lineno in removed_lines), "")
    added = above_definition(document, outer, f"{name} = {written}{comment}")
    if added is not None:
        yield Fix(f"Mark `{name}` outside the region", Applicability.SAFE, (*edits, added))


def replaced_text(document: Document, outer: ast.AST, inner: ast.AST, text: str) -> str:
    """The text of a node, one of its parts written anew."""
    start, end = document.bounds(outer)
    first, last = document.bounds(inner)
    return document.code[start:first] + text + document.code[last:end]


def _named(
    document: Document, call: ast.Call, value: ast.expr, local: str | None, outer: ast.stmt
) -> tuple[str, list[Edit]] | None:
    """The name for a marked function outside the region, and the edits that use it there."""
    edits: list[Edit | None] = []
    statement = document.parent(call)
    assigned = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    unused = local is not None and _count(document, local, ast.Load) == 1
    if isinstance(assigned, ast.Name) and isinstance(statement, ast.Assign):
        name = assigned.id
        if _binds_module(document, name) or _count(document, name, ast.Store) != 1:
            return None
        edits.append(taken_out(document, statement))
    else:
        free = local is not None and unused and not _binds_module(document, local)
        name = local if local is not None and free else fresh(document, _name_for(value, local), outer)
        edits.append(replaced(document, call, name))
    definition = document.statement(value)
    if unused and definition is not None:
        edits.append(taken_out(document, definition))
    known = [edit for edit in edits if edit is not None]
    return (name, known) if len(known) == len(edits) else None


def _value_of(document: Document, node: ast.expr) -> tuple[ast.expr | None, str | None]:
    """What a local variable is set to, and its name; or the expression itself."""
    function = document.function(node)
    if not isinstance(node, ast.Name) or function is None or node.id not in scope_of(function).assigned:
        return node, None
    value = use_def(function).value(node.id)
    return (value, node.id) if value is not None else (None, None)


def _is_fixed(document: Document, node: ast.expr) -> bool:
    """Whether an expression gives a function that holds no state: marking it once is marking it at each call."""
    if isinstance(node, ast.Lambda):
        return _has_fixed_defaults(node.args)
    if isinstance(node, ast.Call) and dotted(document, node.func) == _PARTIAL:
        given = (*node.args[1:], *(keyword.value for keyword in node.keywords))
        return all(isinstance(one, ast.Constant) for one in given)
    name = dotted(document, node)
    return bool(name) and torch_function(name) is not None


def _has_fixed_defaults(arguments: ast.arguments) -> bool:
    return all(isinstance(one, ast.Constant) for one in (*arguments.defaults, *arguments.kw_defaults) if one)


def _name_for(value: ast.expr, local: str | None) -> str:
    if local is not None:
        return local
    of = last_name(value.args[0]) if isinstance(value, ast.Call) and value.args else last_name(value)
    return f"marked_{of}" if of else "marked"


# -- constants --------------------------------------------------------------------------------------------------------


def move_constant(context: Context) -> Iterator[Fix]:
    """Make a constant object at the level of the module, where it is made of literals."""
    document = context.document
    node = document.at(context.finding.span, ast.expr) if document is not None else None
    if document is None or node is None:
        return
    value, local = _value_of(document, node)
    outer = outermost(document, node)
    if outer is None or not isinstance(value, ast.Call) or not _stands_alone(document, value, outer):
        return
    given = (*value.args, *(keyword.value for keyword in value.keywords))
    if not isinstance(value.func, ast.Name) or not all(_is_literal(one) for one in given):
        return
    if _may_change(context) or (local is not None and not _is_only_read(document, local)):
        return
    if local is None:
        name = fresh(document, _snake(value.func.id), outer)
        edit: Edit | None = replaced(document, node, name)
        comment = ""
    else:
        statement = document.statement(value)
        name, comment = local, comment_behind(document, statement) if isinstance(statement, ast.Assign) else ""
        edit = taken_out(document, statement) if statement is not None and not _binds_module(document, name) else None
    added = above_definition(document, outer, f"{name} = {document.text(value)}{comment}")
    if added is not None and edit is not None:
        sure = Applicability.SAFE if _only_keeps(context) else Applicability.UNSAFE
        yield Fix(f"Make `{name}` outside the region", sure, (edit, added))


def _registration(context: Context) -> tuple[BoundaryArgument, Registration] | None:
    """The object that a finding is about, and the registration of its class as a constant."""
    for taken in context.body.boundary_arguments:
        for one in taken.registrations if taken.span == context.finding.span else ():
            if one.kind == "constant":
                return taken, one
    return None


def _may_change(context: Context) -> bool:
    """Whether one object for all calls may be another one than each call made, as something changes it."""
    known = _registration(context)
    return known is None or any(True for _ in soundness.faults(context.body, *known))


def _is_only_read(document: Document, name: str) -> bool:
    """Whether a variable is only passed, and asked for attributes: no method is called on it."""
    for node in document.of(ast.Name):
        if node.id == name and isinstance(node.ctx, ast.Load):
            outer = document.parent(node)
            if isinstance(outer, ast.Attribute):
                called = document.parent(outer)
                if not isinstance(outer.ctx, ast.Load) or (isinstance(called, ast.Call) and called.func is outer):
                    return False
            elif not isinstance(outer, (ast.Call, ast.keyword)):
                return False
    return True


def _only_keeps(context: Context) -> bool:
    """Whether making an object does nothing but to store what it is given."""
    known = _registration(context)
    found = context.class_definition(known[1].cls) if known is not None else None
    if found is None:
        return False
    document, node = found
    methods = [one for one in node.body if isinstance(one, ast.FunctionDef)]
    made = [one for one in methods if one.name in ("__init__", "__new__", "__post_init__")]
    stores = (part for one in made for part in one.body)
    return not node.bases and all(
        isinstance(one, (ast.Assign, ast.AnnAssign)) and one.value is not None and is_pure(document, one.value)
        for one in stores
    )


def _is_literal(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp):
        return _is_literal(node.operand)
    return isinstance(node, ast.Constant) or (isinstance(node, ast.Tuple) and all(map(_is_literal, node.elts)))


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


# -- where to ---------------------------------------------------------------------------------------------------------


def _stands_alone(document: Document, node: ast.AST, outer: ast.stmt, own: str = "") -> bool:
    """Whether code reads nothing but names of the module that are bound above a statement, and builtins."""
    inner: set[str] = {own}
    for one in ast.walk(node):
        if isinstance(one, FunctionNode):
            inner |= set(scope_of(one).local) | {getattr(one, "name", "")}
        elif isinstance(one, (ast.Nonlocal, ast.Await, ast.Yield, ast.YieldFrom)):
            return False
        elif isinstance(one, ast.comprehension):
            inner |= {name.id for name in ast.walk(one.target) if isinstance(name, ast.Name)}
    names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)} - inner
    around = [one for one in document.around(node) if isinstance(one, FunctionNode)]
    local = {name for one in around for name in scope_of(one).local}
    above = document.tree.body[: document.tree.body.index(outer)]
    known = {name for statement in above for name in bindings(statement)} | set(dir(builtins))
    return not names & local and names <= known


def _binds_module(document: Document, name: str) -> bool:
    """Whether the module has a name already, or a function declares it as one of the module."""
    declared = any(name in one.names for one in document.of(ast.Global))
    return declared or any(name in bindings(statement) for statement in document.tree.body)


def _count(document: Document, name: str, context: type[ast.expr_context]) -> int:
    """How often a file reads or sets a name."""
    return sum(one.id == name and isinstance(one.ctx, context) for one in document.of(ast.Name))


def taken_out(document: Document, statement: ast.stmt) -> Edit | None:
    """A statement taken out with the blank lines behind it."""
    edit = removed(document, statement)
    if edit is None or edit.text or document.ends_cell(document.bounds(statement)[1]):
        return edit
    end = document.offset(edit.span.end_line, edit.span.end_column)
    while end < len(document.code) and document.code[end] == "\n" and not document.ends_cell(end):
        end += 1
    return Edit(document.range(document.offset(edit.span.line, edit.span.column), end), "")
