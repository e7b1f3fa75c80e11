"""A side effect is taken out: the statement that prints, logs, writes, or computes what nothing uses."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.findings import Applicability, Edit, Fix
from nonstrict.fixes.code.edits import removed, replaced
from nonstrict.fixes.code.names import dotted, meaning
from nonstrict.fixes.code.pure import is_pure, is_pure_call
from nonstrict.fixes.effects.standing import guard, standing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.context import Context

#: What gives each element on: a progress bar in it shows the same.
_PASSING_ON = frozenset({"builtins.enumerate", "builtins.zip"})


def remove(context: Context, applicability: Applicability = Applicability.UNSAFE) -> Iterator[Fix]:
    """Take the statement of a finding out: a call for its effect, or an assignment to an attribute or an entry.

    What else the statement computes must have no effect. A condition that then guards nothing goes with it; of a
    helper that does nothing else, its calls in traced code go.
    """
    document = context.document
    node = document.at(context.finding.span, ast.expr) if document is not None else None
    if document is None or node is None:
        return
    statement = _whole(document, document.statement(node))
    title = _title(document, statement, node) if statement is not None else ""
    if statement is None or not title:
        return
    seen = context.observed(Event.IO)
    lasting = seen is not None and not seen.effect.output
    if lasting or not isinstance(statement, ast.Expr | ast.With):
        # Somebody may read what is not written, or not set, then.
        applicability = min(applicability, Applicability.DISPLAY)
    yield from _taken_out(context, document, statement, title, applicability)


def _taken_out(
    context: Context, document: Document, statement: ast.stmt, title: str, applicability: Applicability
) -> Iterator[Fix]:
    """A statement taken out; the calls of its function, if the function would be empty."""
    places = standing(context, document, statement)
    edits = [edit for one in places if (edit := removal(one.document, one.statement)) is not None]
    if not places or len(edits) < len(places):
        return
    called = places[0].called
    if called:
        title = f"Remove the call{'s' if len(places) > 1 else ''} of `{called}`"
    yield Fix(title, applicability, tuple(edits))


def remove_progress_bar(context: Context) -> Iterator[Fix]:
    """Iterate over what a progress bar wraps: `tqdm(items)` becomes `items`."""
    document = context.document
    call = document.at(context.finding.span, ast.Call) if document is not None else None
    if document is None or call is None or dotted(document, call.func).rpartition(".")[2] not in ("tqdm", "trange"):
        return
    loop, iterated = document.parent(call), call
    if isinstance(loop, ast.Call) and meaning(document)(loop.func) in _PASSING_ON and call in loop.args:
        loop, iterated = document.parent(loop), loop
    if not isinstance(loop, (ast.For, ast.comprehension)) or loop.iter is not iterated or not call.args:
        return
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return
    text = document.text(call.args[0])
    ranged = dotted(document, call.func).endswith("trange")
    plain = f"range({', '.join(document.text(argument) for argument in call.args)})" if ranged else text
    yield Fix("Remove the progress bar", Applicability.UNSAFE, (replaced(document, call, plain),))


def remove_unused(context: Context) -> Iterator[Fix]:
    """Take out a statement around the finding that has no use: a message, or a value that nothing takes."""
    document = context.document
    node = document.at(context.finding.span, ast.expr) if document is not None else None
    statement = document.statement(node) if document is not None and node is not None else None
    if document is None or not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return
    call = statement.value
    tells = _tells(document, call)
    if not (tells and _arguments_are_pure(document, call)) and not is_pure(document, call):
        return
    name = document.text(call.func)
    title = f"Remove the call of `{name}`" if tells else f"Remove the call of `{name}`, whose result is not used"
    yield from _taken_out(context, document, statement, title, Applicability.UNSAFE)


def _tells(document: Document, call: ast.Call) -> bool:
    """Whether a call only tells people something: `print`, logging, warnings."""
    if isinstance(call.func, ast.Name):
        return call.func.id == "print"
    name = dotted(document, call.func)
    return name.startswith(("logging.", "warnings.warn"))


def _whole(document: Document, statement: ast.stmt | None) -> ast.stmt | None:
    """A statement, or the block that only opens a file for it."""
    holder = document.parent(statement) if statement is not None else None
    alone = isinstance(holder, ast.With) and len(holder.body) == 1
    return holder if alone and isinstance(holder, ast.With) and _only_writes(document, holder) else statement


def _title(document: Document, statement: ast.stmt, node: ast.expr) -> str:
    """What is removed, in the words of a title; "" if the statement is not to be removed."""
    if isinstance(statement, ast.Expr):
        calls = list(links(statement.value))
        if node not in calls or not all(_arguments_are_pure(document, call) for call in calls):
            return ""
        return f"Remove the call of `{document.text(calls[0].func)}`"
    if isinstance(statement, ast.With):
        return "Remove the `with` statement" if _only_writes(document, statement) else ""
    if not isinstance(statement, (ast.Assign, ast.AugAssign)) or not is_pure(document, statement.value):
        return ""
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    if targets != [node] or not isinstance(node, (ast.Attribute, ast.Subscript)):
        return ""
    return f"Remove the assignment to `{document.text(node)}`"


def links(node: ast.expr) -> Iterator[ast.Call]:
    """A call and those that its receiver comes from: `getLogger("x").info("y")`."""
    while True:
        if isinstance(node, ast.Call):
            yield node
            node = node.func
        elif isinstance(node, ast.Attribute):
            node = node.value
        else:
            return


def _arguments_are_pure(document: Document, call: ast.Call) -> bool:
    given = (*call.args, *(keyword.value for keyword in call.keywords))
    return all(is_pure(document, argument) for argument in given)


def _only_writes(document: Document, statement: ast.With) -> bool:
    """Whether a block opens one file, and each statement in it is a call that gets the file."""
    item = statement.items[0]
    node = item.context_expr
    if len(statement.items) != 1 or not isinstance(item.optional_vars, ast.Name):
        return False
    opened = isinstance(node, ast.Call) and _arguments_are_pure(document, node)
    file = item.optional_vars.id
    return opened and all(_writes_to(document, inner, file) for inner in statement.body)


def _writes_to(document: Document, statement: ast.stmt, file: str) -> bool:
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    inner = [part for part in ast.walk(statement.value) if isinstance(part, ast.Call)]
    named = any(isinstance(part, ast.Name) and part.id == file for part in ast.walk(statement.value))
    return named and all(is_pure_call(document, part) for part in inner if part is not statement.value)


def _emptied(document: Document, statement: ast.stmt) -> ast.stmt:
    """The outermost condition or loop that guards nothing but a statement, else the statement itself."""
    holder = guard(document, statement)
    return statement if holder is None or len(holder.body) != 1 else _emptied(document, holder)


def removal(document: Document, statement: ast.stmt) -> Edit | None:
    """The edit that takes a statement out, with a condition that then guards nothing.

    Of a condition that does more than compute, the call that does so stays.
    """
    last = _emptied(document, statement)
    holder = document.parent(last)
    if isinstance(holder, ast.If) and _guards_only(document, holder) and isinstance(holder.test, ast.Call | ast.BoolOp):
        lines = _acting(document, holder.test)
        if lines:
            indent = document.indentation(holder)
            return replaced(document, holder, f"\n{indent}".join(lines))
    return _without_else(document, last) or removed(document, last)


def _without_else(document: Document, statement: ast.stmt) -> Edit | None:
    """The edit that takes out the `else` of a condition with the only statement in it; None for any other statement."""
    holder, edit = document.parent(statement), removed(document, statement)
    if not isinstance(holder, ast.If) or holder.orelse != [statement] or isinstance(statement, ast.If) or edit is None:
        return None
    first, last = holder.body[-1].end_lineno or 0, edit.span.line
    lines = [number for number in range(first + 1, last) if document.lines[number - 1].strip() == "else:"]
    end = document.offset(edit.span.end_line, edit.span.end_column)
    if len(lines) != 1 or document.ends_cell(end):
        return None
    return Edit(document.range(document.offset(lines[0], 0), end + 1), "")


def _guards_only(document: Document, holder: ast.If) -> bool:
    """Whether a condition guards one statement, and is no part of another one."""
    return not holder.orelse and len(holder.body) == 1 and not document.text(holder).startswith("elif")


def _acting(document: Document, test: ast.Call | ast.BoolOp) -> list[str]:
    """The lines that do what evaluating a condition does: `f()`, or `if debug:` and `f()` for `debug and f()`."""
    if isinstance(test, ast.Call):
        return [document.text(test)]
    called = test.values[-1]
    before = test.values[:-1]
    pure = isinstance(test.op, ast.And) and all(is_pure(document, one) for one in before)
    if not pure or not isinstance(called, ast.Call):
        return []
    # Parentheses around the parts are no part of them.
    text = document.code[document.bounds(before[0])[0] : document.bounds(before[-1])[1]]
    plain = len(before) == 1 and isinstance(before[0], (ast.Name, ast.Attribute))
    return [f"if {text}:", f"{document.step}{document.text(called)}"] if plain else []
