"""The edits that fixes are made of: insert, replace and remove parts of code, in the style of what is around them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.findings import Edit
from nonstrict.fixes.code.documents import first_line
from nonstrict.fixes.code.lists import arguments_of, parameters_of, separator, with_element
from nonstrict.text.trees import tree_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.fixes.code.documents import Document


def replaced(document: Document, node: ast.AST, text: str) -> Edit:
    """A node, written anew."""
    return Edit(document.span(node), text)


def inserted(document: Document, offset: int, text: str) -> Edit:
    """A text, inserted at a position in the code."""
    return Edit(document.range(offset, offset), text)


# -- statements -------------------------------------------------------------------------------------------------------


def before(document: Document, statement: ast.stmt, lines: Sequence[str]) -> Edit | None:
    """Lines of code above a statement and its decorators, indented as it is; None if it shares its line."""
    if not _begins_line(document, statement):
        return None
    indent = document.indentation(statement)
    return inserted(document, document.offset(first_line(statement), 0), _indented(lines, indent))


def after(document: Document, statement: ast.stmt, lines: Sequence[str]) -> Edit | None:
    """Lines of code below a statement, indented as it is; None if another one shares one of its lines."""
    end = _line_end(document, document.bounds(statement)[1])
    if end is None or not _begins_line(document, statement):
        return None
    # At the end of the line, not at the start of the next one: that may belong to another cell.
    text = _indented(lines, document.indentation(statement))
    return inserted(document, end, "\n" + text.removesuffix("\n"))


def removed(document: Document, statement: ast.stmt) -> Edit | None:
    """A statement taken out with its lines and the comment behind it; `pass` where its block would be empty.

    None if it shares its line with other code.
    """
    start, end = document.offset(first_line(statement), 0), document.bounds(statement)[1]
    last = _line_end(document, end)
    if last is None or not _begins_line(document, statement):
        return None
    if len(document.block(statement)) == 1 and not isinstance(document.parent(statement), ast.Module):
        return Edit(document.range(start, last), f"{document.indentation(statement)}pass")
    if not document.ends_cell(end):
        return Edit(document.range(start, last + 1), "")
    return Edit(document.range(start if document.begins_cell(start) else start - 1, last), "")


def at_top_of_body(
    document: Document, function: ast.FunctionDef | ast.AsyncFunctionDef, lines: Sequence[str]
) -> Edit | None:
    """Lines at the beginning of a function, behind its docstring; None if the body shares the line of `def`."""
    first = function.body[0]
    constant = first.value if isinstance(first, ast.Expr) else None
    if isinstance(constant, ast.Constant) and isinstance(constant.value, str):
        return after(document, first, lines)
    return before(document, first, lines)


def _begins_line(document: Document, statement: ast.stmt) -> bool:
    """Whether only blanks stand before a statement on its line."""
    line = first_line(statement)
    start = document.bounds(statement)[0] if line == statement.lineno else -1
    return start < 0 or not document.code[document.offset(line, 0) : start].strip()


def _line_end(document: Document, end: int) -> int | None:
    """Where the last line of a statement ends; None if something but a comment follows the statement on it."""
    found = document.code.find("\n", end)
    found = len(document.code) if found < 0 else found
    rest = document.code[end:found].strip()
    return None if rest and not rest.startswith("#") else found


def _indented(lines: Sequence[str], indent: str) -> str:
    return "".join(f"{indent}{line}".rstrip() + "\n" for line in lines)


# -- calls and signatures ---------------------------------------------------------------------------------------------


def with_argument(document: Document, call: ast.Call, text: str) -> Edit:
    """One more argument at the end of a call: `value`, or `name=value`."""
    known = arguments_of(document, call)
    first = call.args[0] if call.args else None
    if isinstance(first, ast.GeneratorExp) and document.bounds(first)[0] < known.opening:
        # Alone, a generator needs no parentheses of its own.
        alone = document.code[known.opening : known.closing]
        return Edit(document.range(known.opening, known.closing), f"({alone}), {text}")
    return with_element(document, known, text)


def with_parameter(document: Document, function: FunctionNode, text: str, *, keyword_only: bool = False) -> Edit:
    """One more parameter: the last that can be passed by position, or a keyword-only one.

    Before it, no parameter may have a default if it has none, unless it is keyword-only.
    """
    known = parameters_of(document, function)
    arguments = function.args
    kwargs = len(known.elements) - 1 if arguments.kwarg is not None else None
    if keyword_only:
        bare = not arguments.kwonlyargs and arguments.vararg is None
        star = f"*{separator(document, known)}" if bare else ""
        return with_element(document, known, star + text, kwargs)
    star = len(arguments.posonlyargs) + bool(arguments.posonlyargs) + len(arguments.args)
    return with_element(document, known, text, star if star < len(known.elements) else None)


# -- imports ----------------------------------------------------------------------------------------------------------


def with_import(document: Document, text: str) -> Edit | None:
    """An import statement behind the imports at the head of a module; None if it is there already."""
    wanted = ast.dump(tree_of(text).body[0])
    body = document.tree.body
    if any(ast.dump(statement) == wanted for statement in body):
        return None
    imports = [statement for statement in body if isinstance(statement, (ast.Import, ast.ImportFrom))]
    if imports:
        head = [one for one in imports if body.index(one) - imports.index(one) == body.index(imports[0])]
        return after(document, head[-1], [text])
    head_end = 1 if body and ast.get_docstring(document.tree, clean=False) is not None else 0
    if head_end < len(body):
        return before(document, body[head_end], [text, ""])
    return after(document, body[-1], ["", text]) if body else inserted(document, 0, f"{text}\n")
