"""The ways in which a finding can be taken out of a program: edits of its text after which it does not count any more.

All but the first replace what a finding stands in by something that eager code runs too. Where it can be, that has the
same value, so that what is judged beside it computes what it did.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple, TypeGuard

from nonstrict.confirm.spans import Span
from nonstrict.findings import Applicability, LocatedEdit, LocatedFix, Location
from nonstrict.rules.expectation import OF_CAPTURES, Experiment, Trait

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from nonstrict.confirm.suspects import Suspect

MENDED, WITH_ITS_VALUE, LEFT_OUT, REPLACED, REPLACED_OTHERWISE = range(5)
#: Statements that do nothing but what is left out with them.
_SIMPLE = (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Delete, ast.Assert, ast.Raise)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
#: Nodes with a condition.
_ASKING = (ast.If, ast.While, ast.IfExp, ast.Assert)
#: What holds a statement, and lets another one stand on its line before it.
_ONE_LINE = (*_SIMPLE, ast.Return, ast.Pass, ast.Import, ast.ImportFrom)


class Way(NamedTuple):
    """Edits after which a finding no longer counts, and what they are in words.

    It is `constant` if what is computed in its place depends on nothing that a trace follows.
    """

    done: str
    fix: LocatedFix
    constant: bool = False


class Text(NamedTuple):
    """A text of a program, by lines, its tree, and the lines that are executed, if that is known."""

    lines: list[str]
    tree: ast.Module
    ran: Collection[int] | None = None


def ways(text: Text, rival: Suspect, kind: int, spared: Suspect) -> Iterator[Way]:
    """The ways of one kind to take a finding out of a text, but for mending it; another one is `spared`."""
    if rival.has(Trait.IN_FAKES):
        # What a fake returns in its place is another mismatch.
        return
    found = _expression(text.tree, rival)
    if kind == WITH_ITS_VALUE:
        yield from _with_its_value(text, rival, found, spared)
    elif kind == LEFT_OUT:
        yield from _left_out(text, rival, found)
    elif kind in {REPLACED, REPLACED_OTHERWISE} and found is not None and _is_replaceable(text.tree, found):
        first = kind == REPLACED
        value = "1" if first else "None"
        if (asking := _asking(text.tree, found)) is not None:
            value = str(first is _holds(text, asking))
        yield _way(rival, text, found, value, f"replaced by {value}", constant=True)


def told(rival: Suspect, done: str) -> str:
    """What was done about a finding, for people."""
    return f"{rival.code} ({done}, line {min(rival.lines)})"


def _with_its_value(text: Text, rival: Suspect, found: ast.expr | None, spared: Suspect) -> Iterator[Way]:
    """A captured tensor is made anew in each call, what is stored is kept for the call alone, nothing is cached."""
    if found is None:
        return
    if found in _decorators(text.tree) and not _is_marker(rival, found):
        yield _without_decorator(text, rival, found)
    elif rival.expectation.refusals >= OF_CAPTURES and rival.experiment is Experiment.CHANGE:
        tensor = _captured(rival, found)
        if tensor is not None:
            own = ast.unparse(tensor)
            new = f'__import__("torch").tensor({own}.tolist(), dtype={own}.dtype)'
            yield _way(rival, text, tensor, new, "created again from its numbers", constant=True)
    elif rival.experiment is Experiment.EFFECT:
        yield from _kept_for_the_call(text, rival, spared)


def _captured(rival: Suspect, found: ast.expr) -> ast.expr | None:
    """The captured tensor in an expression that does something with it; None where the subject is not written there."""
    if rival.subject is None:
        return None
    steps = [step for step in rival.subject.path if step != "~"]
    last = steps[-1] if steps else rival.subject.name
    called = [node.func for node in ast.walk(found) if isinstance(node, ast.Call)]
    parts = (part for part in ast.walk(found) if isinstance(part, ast.expr) and part not in called)
    held = [part for part in parts if _is_read(part) and _ends_in(part, last)]
    return min(held, key=lambda part: len(ast.unparse(part)), default=None)


def _ends_in(node: ast.expr, step: str) -> bool:
    """Whether the last step of an expression is a step of an access path, or the variable itself."""
    if step.startswith("["):
        return isinstance(node, ast.Subscript) and (
            step == "[]" or ast.unparse(node.slice) == step[1:-1].replace('"', "'")
        )
    if isinstance(node, ast.Attribute):
        return node.attr == step.removeprefix(".")
    return isinstance(node, ast.Name) and node.id == step


def _left_out(text: Text, rival: Suspect, found: ast.expr | None) -> Iterator[Way]:
    if found is not None and found in _decorators(text.tree):
        return
    statement = _statement(text.tree, rival)
    if statement is not None and not _is_missed(text.tree, statement):
        rows = (statement.end_lineno or statement.lineno) - statement.lineno
        yield _way(rival, text, statement, "pass" + "\n" * rows, "left out")


def _decorators(tree: ast.Module) -> list[ast.expr]:
    return [one for node in ast.walk(tree) for one in getattr(node, "decorator_list", ())]


def _is_marker(rival: Suspect, decorator: ast.expr) -> bool:
    """Whether a decorator is what makes its function one that is marked."""
    return rival.has(Trait.IN_MARKERS) or (rival.path == rival.file and decorator.lineno == rival.marked_line)


def _without_decorator(text: Text, rival: Suspect, decorator: ast.expr) -> Way:
    sign = text.lines[decorator.lineno - 1].rfind(
        "@", 0, _characters(text.lines, decorator.lineno, decorator.col_offset)
    )
    way = _way(rival, text, decorator, "\n" * ((decorator.end_lineno or 0) - decorator.lineno), "left out")
    (edit,) = way.fix.edits
    return way._replace(fix=_fix(edit._replace(location=edit.location._replace(column=sign + 1))))


def _kept_for_the_call(text: Text, rival: Suspect, spared: Suspect) -> Iterator[Way]:
    """What a function stores and reads again is stored in a copy, which is gone when it returns."""
    statement = _statement(text.tree, rival)
    function = _function_around(text.tree, statement) if statement is not None else None
    if function is None or not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return
    (target,) = statement.targets
    holder = target.value if isinstance(target, ast.Subscript) else target
    if not isinstance(holder, (ast.Name, ast.Attribute)) or not _is_outer(function, holder):
        return
    wanted = ast.dump(_loaded(holder))
    same = [node for node in ast.walk(function) if isinstance(node, ast.expr) and ast.dump(_loaded(node)) == wanted]
    if all(node is holder for node in same):
        return
    name, own = f"nonstrict_kept_{statement.lineno}", ast.unparse(holder)
    init = f'{name} = __import__("copy").copy({own})' if isinstance(target, ast.Subscript) else f"{name} = {own}"
    first = _first_statement(function)
    # What another finding is about goes on with what is there.
    edits = [_edit(rival.path, text, node, name) for node in same if not _is_part(node, spared, rival.path)]
    start = _characters(text.lines, first.lineno, first.col_offset)
    between = "; " if isinstance(first, _ONE_LINE) else "\n" + " " * (start - 1)
    edits.append(LocatedEdit(Location(rival.path, first.lineno, start, first.lineno, start), init + between))
    yield Way(told(rival, "kept for the call alone"), _fix(*edits))


def _is_part(node: ast.expr, suspect: Suspect, path: str) -> bool:
    """Whether an expression of a file is a part of that which a finding is about."""
    if suspect.path != path or suspect.span is None:
        return False
    own = Span(node.lineno, node.end_lineno or node.lineno, node.col_offset, node.end_col_offset or 0)
    return suspect.span.covers(own)


def _loaded(node: ast.expr) -> ast.expr:
    """An expression as it is where it is read."""
    if isinstance(node, ast.Name):
        return ast.Name(node.id, ast.Load())
    return ast.Attribute(_loaded(node.value), node.attr, ast.Load()) if isinstance(node, ast.Attribute) else node


def _is_outer(function: ast.FunctionDef | ast.AsyncFunctionDef, holder: ast.expr) -> bool:
    """Whether an expression leads to something through a name that the function does not bind."""
    while isinstance(holder, ast.Attribute):
        holder = holder.value
    if not isinstance(holder, ast.Name):
        return False
    return not any(
        isinstance(node, ast.Name) and node.id == holder.id and isinstance(node.ctx, (ast.Store, ast.Del))
        for node in ast.walk(function)
    )


def _first_statement(function: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.stmt:
    """The first statement behind what must come first."""
    texts = (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant) for one in function.body)
    start = next((number for number, is_text in enumerate(texts) if not is_text), 0)
    rest = function.body[start:]
    return next((one for one in rest if not isinstance(one, (ast.Global, ast.Nonlocal))), rest[0])


def _function_around(tree: ast.Module, node: ast.AST) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The innermost function that a node stands in."""
    around = [one for one in ast.walk(tree) if _is_function(one) and any(part is node for part in ast.walk(one))]
    return max(around, key=lambda one: one.lineno, default=None)


def _is_function(node: ast.AST) -> TypeGuard[ast.FunctionDef | ast.AsyncFunctionDef]:
    return isinstance(node, _FUNCTIONS)


def _is_missed(tree: ast.Module, statement: ast.stmt) -> bool:
    """Whether a statement alone makes a variable that its function reads."""
    function = _function_around(tree, statement)
    if function is None or not isinstance(statement, (ast.Assign, ast.AnnAssign)):
        return False
    own = {part.id for part in ast.walk(statement) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
    inside = set(ast.walk(statement))
    names = [part for part in ast.walk(function) if isinstance(part, ast.Name) and part not in inside]
    given = {part.arg for part in ast.walk(function.args) if isinstance(part, ast.arg)}
    declared = {
        name for part in ast.walk(function) if isinstance(part, (ast.Global, ast.Nonlocal)) for name in part.names
    }
    elsewhere = {part.id for part in names if isinstance(part.ctx, ast.Store)} | given | declared
    return bool((own - elsewhere) & {part.id for part in names if isinstance(part.ctx, ast.Load)})


def _statement(tree: ast.Module, rival: Suspect) -> ast.stmt | None:
    """The statement that a finding stands in, if it can be left out."""
    around = [node for node in ast.walk(tree) if isinstance(node, ast.stmt) and rival.lines <= _lines(node)]
    inner = min(around, key=lambda node: len(_lines(node)), default=None)
    return inner if isinstance(inner, _SIMPLE) and _lines(inner) >= rival.lines else None


def _expression(tree: ast.Module, rival: Suspect) -> ast.expr | None:
    """The expression that a finding is about; the condition where it is about a statement with one."""
    start, end = (min(rival.lines), rival.column), (max(rival.lines), rival.end_column)
    found = [node for node in ast.walk(tree) if isinstance(node, (ast.expr, *_ASKING))]
    own = next((one for one in found if _starts(one) == start and _ends(one) == end), None)
    return own.test if isinstance(own, (ast.If, ast.While, ast.Assert)) else own


def _is_read(node: ast.expr) -> bool:
    """Whether an expression only reads, however often it is evaluated."""
    parts = [part for part in ast.walk(node) if isinstance(part, ast.expr)]
    plain = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.Tuple, ast.Slice, ast.UnaryOp)
    return all(isinstance(part, plain) for part in parts) and isinstance(getattr(node, "ctx", None), ast.Load)


def _is_replaceable(tree: ast.Module, node: ast.expr) -> bool:
    """Whether a constant can stand in the place of an expression."""
    return isinstance(getattr(node, "ctx", ast.Load()), ast.Load) and node not in _decorators(tree)


def _starts(node: ast.expr | ast.stmt) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _ends(node: ast.expr | ast.stmt) -> tuple[int | None, int | None]:
    return node.end_lineno, node.end_col_offset


def _asking(tree: ast.Module, node: ast.expr) -> ast.AST | None:
    """What an expression is the condition of."""
    return next((other for other in ast.walk(tree) if isinstance(other, _ASKING) and other.test is node), None)


def _holds(text: Text, asking: ast.AST) -> bool:
    """Whether a condition holds where the program is run, as far as that is known."""
    body = asking.body if isinstance(asking, (ast.If, ast.While)) else []
    return not body or text.ran is None or any(body[0].lineno <= line <= body[-1].lineno for line in text.ran)


def _lines(node: ast.stmt) -> frozenset[int]:
    return frozenset(range(node.lineno, (node.end_lineno or node.lineno) + 1))


def _way(rival: Suspect, text: Text, node: ast.stmt | ast.expr, new: str, done: str, *, constant: bool = False) -> Way:
    return Way(told(rival, done), _fix(_edit(rival.path, text, node, new)), constant)


def _edit(path: str, text: Text, node: ast.stmt | ast.expr, new: str) -> LocatedEdit:
    end_row, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
    start = _characters(text.lines, node.lineno, node.col_offset)
    return LocatedEdit(Location(path, node.lineno, start, end_row, _characters(text.lines, end_row, end_column)), new)


def _fix(*edits: LocatedEdit) -> LocatedFix:
    return LocatedFix("", Applicability.UNSAFE, edits)


def _characters(lines: list[str], row: int, column: int) -> int:
    """A column from 1 in code points, of one from 0 in UTF-8 bytes."""
    line = lines[row - 1].encode("utf-8", "surrogatepass")[:column]
    return len(line.decode("utf-8", "surrogatepass")) + 1
