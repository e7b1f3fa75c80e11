"""Work for another thread or process is done where it was handed over: tasks of an executor or a pool.

`pool.submit(f, x).result()` becomes `f(x)`, `pool.map(f, items)` becomes `map(f, items)`. A pool that the function
makes for its tasks goes with them.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from nonstrict.findings import Applicability, Edit, Fix
from nonstrict.fixes.code.edits import removed, replaced
from nonstrict.fixes.code.names import dotted, imported
from nonstrict.fixes.effects.direct_calls import TITLE, direct, loads, only_value, spread, waits
from nonstrict.fixes.uses.imagined import adds_nothing
from nonstrict.text.lexer import lexemes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.context import Context

#: Methods that give the result, those that give something with `get()`, those that give all results.
_AT_ONCE = frozenset({"apply"})
_LATER = {"submit": "result", "apply_async": "get"}
_ALL = frozenset({"map", "imap", "imap_unordered"})
#: What ends a pool, or waits for its tasks.
_ENDS = frozenset({"shutdown", "close", "join", "terminate"})
#: What takes any iterable, and goes through it at once.
_TAKERS = frozenset({"list", "tuple", "sum", "set", "dict", "sorted", "max", "min", "any", "all"})
_COLON = re.compile(r"\s*\)?\s*:[ \t]*(?:#[^\n]*)?\n")


def call_here(context: Context) -> Iterator[Fix]:
    """Call what an executor was to call, with the same arguments."""
    document = context.document
    call = document.at(context.finding.span, ast.Call) if document is not None else None
    function = document.function(call) if document is not None and call is not None else None
    if document is None or call is None or function is None:
        return
    edits = _of_local_pool(document, function, call) or _task(document, function, call)
    if edits and adds_nothing(context, document, call, edits):
        yield Fix(TITLE, Applicability.UNSAFE, tuple(edits))


# -- pools of the function --------------------------------------------------------------------------------------------


def _of_local_pool(document: Document, function: FunctionNode, call: ast.Call) -> list[Edit]:
    """All tasks of the pool that a call uses, and the pool; none if it has another use."""
    pool = call.func.value if isinstance(call.func, ast.Attribute) else None
    if not isinstance(pool, ast.Name):
        return []
    block = _block(document, function, pool.id)
    bound = only_value(document, function, pool.id) if block is None else None
    if block is None and bound is None:
        return []
    edits: list[Edit] = []
    for use in loads(function, pool.id):
        mended = _use(document, function, use)
        if not mended:
            return []
        edits += mended
    ends = _unwrapped(document, block) if block is not None else [removed(document, bound)] if bound is not None else []
    return [*edits, *(edit for edit in ends if edit is not None)] if ends and all(ends) else []


def _block(document: Document, function: FunctionNode, name: str) -> ast.With | None:
    """The `with` statement that alone binds a pool, and does nothing else."""
    stored = [one for one in ast.walk(function) if isinstance(one, ast.Name) and one.id == name]
    stored = [one for one in stored if not isinstance(one.ctx, ast.Load)]
    item = document.parent(stored[0]) if len(stored) == 1 else None
    block = document.parent(item) if isinstance(item, ast.withitem) else None
    return block if isinstance(block, ast.With) and len(block.items) == 1 else None


def _use(document: Document, function: FunctionNode, pool: ast.Name) -> list[Edit]:
    """One use of a pool: a task, or its end."""
    attribute = document.parent(pool)
    call = document.parent(attribute) if isinstance(attribute, ast.Attribute) else None
    if not isinstance(attribute, ast.Attribute) or not isinstance(call, ast.Call) or call.func is not attribute:
        return []
    statement = document.parent(call)
    if attribute.attr in _ENDS and isinstance(statement, ast.Expr):
        edit = removed(document, statement)
        return [edit] if edit is not None else []
    return _task(document, function, call)


def _unwrapped(document: Document, block: ast.With) -> list[Edit]:
    """A block without its `with`: the first line taken out, the others one level up; none where that is not told."""
    body = block.body[0]
    if body.lineno == block.lineno or document.begins_cell(document.bounds(block)[0]):
        return []
    start, end = document.bounds(block)
    head = document.bounds(block.items[0].optional_vars or block.items[0].context_expr)[1]
    colon = _COLON.match(document.code, head)
    code = document.code[start:end]
    if colon is None or any(
        token.kind == "string" and "\n" in code[token.start : token.end] for token in lexemes(code)
    ):
        return []
    outer = document.indentation(block)
    more = document.indentation(body).removeprefix(outer)
    edits = [Edit(document.range(document.offset(block.lineno, 0), colon.end()), "")]
    for line in range(document.position(colon.end())[0], (block.end_lineno or block.lineno) + 1):
        text = document.lines[line - 1]
        if text.startswith(outer + more):
            first = document.offset(line, 0) + len(outer)
            edits.append(Edit(document.range(first, first + len(more)), ""))
        elif text.strip() and not text.lstrip().startswith("#"):
            return []
    return edits


# -- tasks ------------------------------------------------------------------------------------------------------------


def _task(document: Document, function: FunctionNode, call: ast.Call) -> list[Edit]:
    """One task, done at once where it was handed over, and what is asked of it later."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if any(isinstance(one, ast.Starred) for one in call.args[:1]) or not call.args:
        return []
    if dotted(document, call.func) == "asyncio.to_thread":
        return _awaited(document, call, _called(document, call, 0))
    if name == "run_in_executor":
        return _awaited(document, call, _called(document, call, 1))
    if name in _ALL:
        text = _mapped(document, call)
        return [replaced(document, call, text)] if text else []
    text = _called(document, call, 0) if name == "submit" else spread(document, *_applied(call))
    if not text or (name not in _AT_ONCE and name not in _LATER):
        return []
    if name in _AT_ONCE or isinstance(document.parent(call), ast.Expr):
        return [replaced(document, call, text)]
    return _answered(document, function, call, text, _LATER[name])


def _applied(call: ast.Call) -> tuple[ast.expr, ast.expr | None, ast.expr | None]:
    """`apply(f, args, kwds)`: the function, its arguments and its keywords."""
    given = {word.arg: word.value for word in call.keywords}
    rest = [*call.args[1:3], None, None]
    return call.args[0], rest[0] or given.get("args"), rest[1] or given.get("kwds")


def _called(document: Document, call: ast.Call, skipped: int) -> str:
    """`submit(f, x, k=1)` as a call of `f`."""
    given = [document.text(one) for one in call.args[skipped + 1 :]]
    given += [f"{word.arg}={document.text(word.value)}" if word.arg else "" for word in call.keywords]
    return direct(document, call.args[skipped], given) if len(call.args) > skipped and all(given) else ""


def _awaited(document: Document, call: ast.Call, text: str) -> list[Edit]:
    outer = document.parent(call)
    return [replaced(document, outer, text)] if isinstance(outer, ast.Await) and text else []


def _mapped(document: Document, call: ast.Call) -> str:
    """`pool.map(f, items)` as `map(f, items)`, its results in a list where they are not asked for at once."""
    other = any(word.arg not in ("timeout", "chunksize", "buffersize") for word in call.keywords)
    texts = [document.text(one) for one in call.args]
    if other or len(texts) < 2 or any("\n" in text for text in texts) or waits(document, call.args[0]):
        return ""
    if len(texts) > 2 and any(name.startswith("multiprocessing") for name in imported(document).values()):
        return ""  # the third argument may be the size of chunks
    text = f"map({', '.join(texts)})"
    outer = document.parent(call)
    taken = isinstance(outer, (ast.For, ast.comprehension, ast.Starred)) or (
        isinstance(outer, ast.Call) and isinstance(outer.func, ast.Name) and outer.func.id in _TAKERS
    )
    unpacked = isinstance(outer, ast.Assign) and all(isinstance(one, ast.Tuple) for one in outer.targets)
    return text if taken or unpacked else f"list({text})"


# -- what tasks give --------------------------------------------------------------------------------------------------


def _answered(document: Document, function: FunctionNode, call: ast.Call, text: str, getter: str) -> list[Edit]:
    """A task whose result is asked for at once, by a variable, or by the elements of a list."""
    asked = _asked(document, call, getter)
    if asked is not None:
        return [replaced(document, asked, text)]
    outer = document.parent(call)
    made: ast.AST | None = outer
    if isinstance(outer, ast.ListComp) and outer.elt is call:
        made = document.parent(outer)
    target = made.targets[0] if isinstance(made, ast.Assign) and len(made.targets) == 1 else None
    if not isinstance(target, ast.Name) or only_value(document, function, target.id) is not made:
        return []
    edits = [replaced(document, call, text)]
    for use in loads(function, target.id):
        mended = _read(document, use, getter) if outer is made else _read_all(document, use, getter)
        if not mended:
            return []
        edits += mended
    return edits


def _asked(document: Document, task: ast.expr, getter: str) -> ast.Call | None:
    """The call that asks a task for its result."""
    attribute = document.parent(task)
    outer = document.parent(attribute) if isinstance(attribute, ast.Attribute) and attribute.attr == getter else None
    return outer if isinstance(outer, ast.Call) and outer.func is attribute else None


def _read(document: Document, task: ast.Name, getter: str) -> list[Edit]:
    asked = _asked(document, task, getter)
    return [replaced(document, asked, task.id)] if asked is not None else []


def _read_all(document: Document, tasks: ast.Name, getter: str) -> list[Edit]:
    """`[task.result() for task in tasks]`, also in the order in which they end, and waiting for all."""
    outer = document.parent(tasks)
    edits: list[Edit] = []
    if isinstance(outer, ast.Call) and dotted(document, outer.func).startswith("concurrent.futures."):
        statement = document.parent(outer)
        if isinstance(statement, ast.Expr):
            edit = removed(document, statement)
            return [edit] if edit is not None else []
        if not dotted(document, outer.func).endswith(".as_completed"):
            return []
        edits.append(replaced(document, outer, tasks.id))
        tasks, outer = outer, document.parent(outer)  # type: ignore[assignment]
    if not isinstance(outer, (ast.comprehension, ast.For)) or outer.iter is not tasks:
        return []
    loop = outer if isinstance(outer, ast.For) else document.parent(outer)
    if not isinstance(outer.target, ast.Name) or loop is None:
        return []
    named = (one for one in ast.walk(loop) if isinstance(one, ast.Name) and one.id == outer.target.id)
    for use in named:
        if use is not outer.target:
            mended = _read(document, use, getter)
            if not mended:
                return []
            edits += mended
    return edits
