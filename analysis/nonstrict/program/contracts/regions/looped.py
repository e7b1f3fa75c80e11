"""What a loop gives a variable round by round, as the expressions that its text lists: `for x in (a, a.t())`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.reaching import source
from nonstrict.facts.walk import walk
from nonstrict.program.interpret.loop_targets import loops_giving
from nonstrict.program.interpret.rounds import holds
from nonstrict.program.objects import naming

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.program.state.frames import Frame


#: What ends a round before its end; statements that may leave out a call inside.
_LEAVES = (ast.Continue, ast.Break, ast.Return)
_CHOOSES = (
    *(ast.If, ast.IfExp, ast.BoolOp, ast.Lambda, ast.Try, ast.While, ast.Match),
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef),
)


def entries(frame: Frame, call: ast.AST, expression: ast.expr) -> Sequence[ast.expr]:
    """What a call passes in the rounds of a loop, one after the other; the expression itself where that is not known.

    Of a comprehension that is the one element that it repeats.
    """
    for loop in loops_giving(frame, call, expression):
        listed = source(naming.text_of(frame), loop.iterable)
        several = listed.elts if isinstance(listed, (ast.List, ast.Tuple)) else []
        several = [listed.elt] if isinstance(listed, (ast.ListComp, ast.GeneratorExp)) else several
        taken = [_taken(loop.target, one, ast.unparse(expression)) for one in several]
        known = [one for one in taken if one is not None]
        if known and len(known) == len(taken) and _always(loop.body, call) and not _binds(loop.body, expression):
            return known
    return [expression]


def _taken(target: ast.expr, entry: ast.expr, name: str) -> ast.expr | None:
    """The part of an entry that the target gives a variable; None where that is not written out."""
    if isinstance(target, ast.Name):
        return entry if target.id == name and not isinstance(entry, ast.Starred) else None
    if isinstance(target, (ast.Tuple, ast.List)) and isinstance(entry, (ast.Tuple, ast.List)):
        parts = zip(target.elts, entry.elts, strict=False) if len(target.elts) == len(entry.elts) else ()
        return next((found for part in parts if (found := _taken(*part, name)) is not None), None)
    return None


def _always(body: Sequence[ast.AST], call: ast.AST) -> bool:
    """Whether each round of a loop comes to a call, as far as its statements tell."""
    own = next(one for one in body if holds([one], call))
    if any(isinstance(node, _LEAVES) for part in body for node in walk(part)) or isinstance(own, _CHOOSES):
        return False
    inner: Sequence[ast.AST] = getattr(own, "body", [])
    return not holds(inner, call) or _always(inner, call)


def _binds(body: Sequence[ast.AST], expression: ast.expr) -> bool:
    names = (node for part in body for node in walk(part) if isinstance(node, ast.Name))
    return any(not isinstance(node.ctx, ast.Load) and node.id == ast.unparse(expression) for node in names)
