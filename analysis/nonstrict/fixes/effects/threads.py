"""Work for another thread or process is done where it was handed over: a thread that is started.

`Thread(target=f, args=(x,)).start()` becomes `f(x)`. Threads that are told apart only when they run, such as those of a
list, are run instead of started: `thread.run()`.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.findings import Applicability, Fix
from nonstrict.fixes.code.edits import removed, replaced
from nonstrict.fixes.code.names import dotted
from nonstrict.fixes.effects.direct_calls import TITLE, called, loads, only_value, spread, waits
from nonstrict.fixes.uses.imagined import adds_nothing
from nonstrict.fixes.uses.terms import names_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.findings import Edit
    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.context import Context

_THREADS = frozenset({"Thread", "Process"})
_NEW = frozenset({"_thread.start_new_thread", "_thread.start_new"})
#: What a thread that is not started has no use for.
_WAITING = frozenset({"join"})


def run_here(context: Context) -> Iterator[Fix]:
    """Call what a thread is to run, in place of its start; the thread is not made, and nobody waits for it."""
    document = context.document
    call = document.at(context.finding.span, ast.Call) if document is not None else None
    function = document.function(call) if document is not None and call is not None else None
    if document is None or call is None or function is None:
        return
    edits = _of_function(document, call) or _of_thread(document, function, call) or _of_many(document, function, call)
    if edits and adds_nothing(context, document, call, edits):
        yield Fix(TITLE, Applicability.UNSAFE, tuple(edits))


def _of_function(document: Document, call: ast.Call) -> list[Edit]:
    """`_thread.start_new_thread(f, (x,))`."""
    if dotted(document, call.func) not in _NEW or len(call.args) not in (2, 3) or call.keywords:
        return []
    text = spread(document, *call.args)
    return [replaced(document, call, text)] if text else []


def _of_thread(document: Document, function: FunctionNode, call: ast.Call) -> list[Edit]:
    """`Thread(target=f).start()`, or the same with a variable that holds the thread, and `thread.join()`."""
    if not isinstance(call.func, ast.Attribute) or not isinstance(document.parent(call), ast.Expr):
        return []
    made = call.func.value
    edits: list[Edit | None] = []
    if isinstance(made, ast.Name):
        name, bound = made, only_value(document, function, made.id)
        if bound is None or not _follows(document, bound, document.parent(call)):
            return []
        made = bound.value
        edits = [removed(document, bound)]
        for other in loads(function, name.id):
            if other is not name:
                edits.append(_without(document, other))
    text = _work(document, made) if isinstance(made, ast.Call) else ""
    edits.append(replaced(document, call, text))
    return [edit for edit in edits if edit is not None] if text and all(edits) else []


def _follows(document: Document, made: ast.Assign, start: ast.AST | None) -> bool:
    """Whether what a thread gets is the same when it starts as when it was made."""
    block = document.block(made)
    if not isinstance(start, ast.Expr) or start not in block or block.index(start) < block.index(made):
        return False
    between = block[block.index(made) + 1 : block.index(start)]
    bound = {part.id for one in between for part in ast.walk(one) if isinstance(part, ast.Name) and _binds(part)}
    return not bound & names_in(made.value)


def _binds(name: ast.Name) -> bool:
    return not isinstance(name.ctx, ast.Load)


def _without(document: Document, thread: ast.Name) -> Edit | None:
    """What takes out a statement that waits for a thread, or sets what kind of thread it is."""
    attribute, statement = document.parent(thread), document.statement(thread)
    if not isinstance(attribute, ast.Attribute) or statement is None:
        return None
    if isinstance(statement, ast.Assign):
        alone = statement.targets == [attribute] and attribute.attr in ("daemon", "name")
    else:
        alone = _waits(statement) and document.parent(attribute) is getattr(statement, "value", None)
    return removed(document, statement) if alone else None


def _waits(statement: ast.stmt) -> bool:
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in _WAITING


def _work(document: Document, made: ast.Call) -> str:
    """The call that a thread makes."""
    if dotted(document, made.func).rpartition(".")[2] not in _THREADS or len(made.args) > 2:
        return ""
    given = {word.arg: word.value for word in made.keywords}
    target = made.args[1] if len(made.args) == 2 else given.get("target")
    if target is None or None in given:
        return ""
    return spread(document, target, given.get("args"), given.get("kwargs"))


def _may_wait(document: Document, function: FunctionNode) -> bool:
    """Whether a thread that is made in a function is a timer, or runs what may wait for others.

    A thread by its class runs the method `run`.
    """
    if waits(document, ast.Name("run", ast.Load())):
        return True
    for made in (one for one in ast.walk(function) if isinstance(one, ast.Call)):
        given = (word.value for word in made.keywords if word.arg == "target")
        if dotted(document, made.func) == "threading.Timer" or any(waits(document, one) for one in given):
            return True
    return False


def _of_many(document: Document, function: FunctionNode, call: ast.Call) -> list[Edit]:
    """`thread.start()` of a thread whose work only the thread knows: `thread.run()`, for which nobody waits."""
    thread = call.func.value if isinstance(call.func, ast.Attribute) and call.func.attr == "start" else None
    if not isinstance(thread, ast.Name) or call.args or call.keywords or _may_wait(document, function):
        return []
    loop = next((one for one in document.around(call) if isinstance(one, ast.For)), None)
    of_loop = loop is not None and isinstance(loop.target, ast.Name) and loop.target.id == thread.id
    edits: list[Edit | None] = [replaced(document, call, f"{document.text(thread)}.run()")]
    for other in called(function, _WAITING):
        waiting = document.parent(other)
        if not isinstance(waiting, ast.Expr) or not isinstance(other.func, ast.Attribute) or len(other.args) > 1:
            continue  # `", ".join(names)`
        holder = document.parent(waiting)
        if isinstance(holder, ast.For) and of_loop and loop is not None and holder is not loop:
            same = document.text(holder.iter) == document.text(loop.iter) and holder.body == [waiting]
            edits.append(removed(document, holder) if same and not holder.orelse else None)
        elif isinstance(other.func.value, ast.Name) and other.func.value.id == thread.id:
            edits.append(removed(document, waiting))
    return [edit for edit in edits if edit is not None] if all(edits) else []
