"""The edits that fixes are made of: insert, replace and remove parts of code, in the style of what is around them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.findings import Edit
from nonstrict.fixes.code.documents import first_line
from nonstrict.fixes.code.lists import arguments_of, parameters_of, separator, with_element

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.fixes.code.documents import Document


#: The longest line that formatters are commonly told to leave.
_MAX_COLUMNS = 120


def replaced(document: Document, node: ast.AST, text: str) -> Edit:
    """A node, written anew."""
    return Edit(document.span(node), text)


def with_condition(document: Document, node: ast.expr, text: str) -> Edit:
    """A conjunction or comparison with one more condition; each on a line of its own where one line is too short."""
    whole = f"{document.text(node)} and {text}"
    line = document.lines[node.lineno - 1]
    statement = document.statement(node)
    fits = len(line) + len(whole) - len(document.text(node)) <= _MAX_COLUMNS
    values = node.values if isinstance(node, ast.BoolOp) else [node]
    plain = all(isinstance(one, (ast.Call, ast.Compare, ast.Name, ast.Attribute)) for one in values)
    if fits or not plain or "\n" in whole or statement is None or not line.rstrip().endswith(document.text(node)):
        return replaced(document, node, whole)
    outer = document.indentation(statement)
    parts = [*map(document.text, values), text]
    inner = f"\n{outer}{document.step}"
    return replaced(document, node, f"({inner}{f'{inner}and '.join(parts)}\n{outer})")


def alone(document: Document, node: ast.expr, name: str) -> Edit:
    """A name in place of an expression and of the parentheses that only group it."""
    start, end = document.bounds(node)
    around = document.parent(node)
    while isinstance(around, (ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.Return, ast.Assign)):
        inner, outer = document.code[:start].rstrip(), document.code[end:].lstrip()
        first, last = document.bounds(around)
        if not inner.endswith("(") or not outer.startswith(")") or len(inner) - 1 < first:
            break
        closing = len(document.code) - len(outer) + 1
        if closing > last:
            break
        start, end = len(inner) - 1, closing
    return Edit(document.range(start, end), name)


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


def comment_behind(document: Document, statement: ast.stmt) -> str:
    """The comment behind a statement, with the blanks before it."""
    rest = document.code[document.bounds(statement)[1] :].partition("\n")[0]
    return rest.rstrip() if rest.lstrip().startswith("#") else ""


def comments_above(document: Document, statement: ast.stmt) -> list[str]:
    """The comments on the lines directly above a statement, as far indented as it is."""
    indent, line = document.indentation(statement), first_line(statement)
    found: list[str] = []
    while not document.begins_cell(document.offset(line, 0)):
        line -= 1
        text = document.lines[line - 1]
        if not text.startswith(f"{indent}#"):
            break
        found.insert(0, text.strip())
    return found


def with_comments_above(document: Document, statement: ast.stmt, edit: Edit) -> Edit:
    """An edit that takes a statement out, and the comments above it, which go where the statement goes."""
    above = len(comments_above(document, statement))
    if not above or edit.text.strip() not in ("", "pass") or edit.span.line != first_line(statement):
        return edit
    start = document.offset(first_line(statement) - above, 0)
    return edit._replace(span=document.range(start, document.offset(edit.span.end_line, edit.span.end_column)))


def above_definition(document: Document, definition: ast.stmt, line: str) -> Edit | None:
    """An assignment of the module above a definition: one blank line behind imports, two before the definition."""
    first = first_line(definition)
    block = document.tree.body
    index = block.index(definition) if definition in block else 0
    last = block[index - 1] if index else None
    apart = first - (last.end_lineno or last.lineno) if last is not None else 0
    if not isinstance(last, (ast.Import, ast.ImportFrom)) or apart != _APART or document.source.cells:
        return before(document, definition, [line, "", ""])
    return inserted(document, document.offset(first - 1, 0), f"{line}\n\n")


#: The lines from an import to the definition two blank lines behind it.
_APART = 3


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
