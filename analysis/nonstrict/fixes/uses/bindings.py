"""Bindings taken out one by one: an import without a name, an assignment, a helper, a parameter, a declaration."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, TypeAlias

from nonstrict.facts.execution import is_main_guard
from nonstrict.facts.words import identifiers
from nonstrict.findings import Edit
from nonstrict.fixes.code.edits import removed
from nonstrict.fixes.code.imports import without_import
from nonstrict.fixes.code.lists import arguments_of, without_element
from nonstrict.fixes.code.names import dotted, meaning
from nonstrict.fixes.code.pure import is_pure

if TYPE_CHECKING:
    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.uses.calls import Call
    from nonstrict.fixes.uses.computing import Computing

Definition: TypeAlias = "ast.FunctionDef | ast.AsyncFunctionDef"


def without_name(document: Document, statement: ast.Import | ast.ImportFrom, name: str) -> Edit | None:
    """An import without a name; None where a comment says that it is there for others."""
    line = document.lines[(statement.end_lineno or statement.lineno) - 1]
    first = document.lines[statement.lineno - 1]
    guarded = any(isinstance(one, (ast.Try, ast.ExceptHandler)) for one in document.around(statement))
    if guarded or "noqa" in first or "noqa" in line or getattr(statement, "module", "") == "__future__":
        return None
    for alias in statement.names:
        if alias.asname and alias.asname == alias.name:
            return None
        if (alias.asname or alias.name) == name:
            return without_import(document, statement, alias)
    return None


def without_function(document: Document, function: Definition) -> Edit | None:
    """A function taken out, with the comment above it and the blank lines behind it."""
    if function.decorator_list:
        return None
    edit = removed(document, function)
    if edit is None or edit.text or document.ends_cell(document.bounds(function)[1]):
        return edit
    first = edit.span.line
    while first > 1 and document.lines[first - 2].startswith(f"{document.indentation(function)}#"):
        first -= 1
    end = document.offset(edit.span.end_line, edit.span.end_column)
    while end < len(document.code) and document.code[end] == "\n" and not document.ends_cell(end):
        end += 1
    return Edit(document.range(document.offset(first, 0), end), "")


def assignment(document: Document, node: ast.AST, computing: Computing) -> ast.stmt | None:
    """The statement that does nothing but bind one variable to what is computed; None if it does more."""
    statement = document.parent(node)
    if isinstance(statement, ast.Assign) and statement.targets != [node]:
        return None
    if not isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)) or not isinstance(node, ast.Name):
        return None
    value = statement.value
    return statement if value is None or computing.only(document, value) or is_logger(document, [node]) else None


def unnamed(document: Document, node: ast.AST, computing: Computing) -> Edit | None:
    """A call whose result has no name any more, as it does more than compute; None if it can go as a whole."""
    statement = document.parent(node)
    if not isinstance(statement, ast.Assign) or statement.targets != [node]:
        return None
    start, end = document.bounds(statement)[0], document.bounds(statement.value)[0]
    plain = document.code[document.bounds(statement.targets[0])[1] : end].strip() == "="
    acts = isinstance(statement.value, ast.Call) and not computing.only(document, statement.value)
    return Edit(document.range(start, end), "") if plain and acts else None


def uncounted(document: Document, node: ast.AST) -> list[Edit]:
    """A loop without the number that nothing asks for: `for i, x in enumerate(xs)`."""
    target = document.parent(node)
    loop = document.parent(target) if target is not None else None
    if not isinstance(loop, ast.For) or loop.target is not target or not isinstance(target, ast.Tuple):
        return []
    counted = loop.iter
    whole = isinstance(counted, ast.Call) and meaning(document)(counted.func) == "builtins.enumerate"
    if len(target.elts) != _PAIR or target.elts[0] is not node or not whole or not isinstance(counted, ast.Call):
        return []
    if len(counted.args) != 1 or counted.keywords or isinstance(counted.args[0], (ast.Starred, ast.GeneratorExp)):
        return []
    start, end = document.bounds(counted)
    first, last = document.bounds(counted.args[0])
    name = Edit(document.span(target), document.text(target.elts[1]))
    return [name, Edit(document.range(start, first), ""), Edit(document.range(last, end), "")]


#: The number and the element that `enumerate` gives.
_PAIR = 2


def is_logger(document: Document, bindings: list[ast.AST]) -> bool:
    """Whether a variable is bound to a logger of the standard library, which nobody else asks for."""
    statements = [document.parent(one) for one in bindings]
    return bool(statements) and all(
        isinstance(one, ast.Assign)
        and isinstance(one.value, ast.Call)
        and dotted(document, one.value.func) == "logging.getLogger"
        for one in statements
    )


def is_script(document: Document) -> bool:
    """Whether a file is run, so that its names are its own: `if __name__ == "__main__":`."""
    return any(is_main_guard(one) for one in document.tree.body)


def may_shrink(document: Document, function: Definition, parameter: ast.arg) -> bool:
    """Whether a function may lose a parameter: nobody is told of it, and no other class has a method like it."""
    arguments = function.args
    named = parameter in (*arguments.args, *arguments.kwonlyargs)
    method = isinstance(document.parent(function), ast.ClassDef)
    docstring = ast.get_docstring(function) or ""
    told = parameter.arg in identifiers(docstring)
    first = bool(arguments.args) and arguments.args[0] is parameter and method
    last = arguments.kwonlyargs == [parameter] and arguments.vararg is None
    return named and not told and not first and not last and not (method and not function.name.startswith("_"))


def not_given(call: Call, given: ast.expr, name: str) -> Edit | None:
    """A call without an argument, if the argument only computes."""
    document = call.document
    if not is_pure(document, given):
        return None
    keyword = next((one for one in call.node.keywords if one.arg == name), None)
    return without_element(document, arguments_of(document, call.node), document.bounds(keyword or given)[0])


def fewer(document: Document, statement: ast.Global | ast.Nonlocal, name: str) -> Edit | None:
    """A declaration without one of its names."""
    names = ", ".join(one for one in statement.names if one != name)
    word = "global" if isinstance(statement, ast.Global) else "nonlocal"
    return Edit(document.span(statement), f"{word} {names}")
