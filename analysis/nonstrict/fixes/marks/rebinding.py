"""A marker that was called for effect: bind its result to the name of the function."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.findings import Applicability, Fix
from nonstrict.fixes.code.edits import inserted
from nonstrict.program.contracts.boundary import registered
from nonstrict.program.objects import classes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.context import Context
    from nonstrict.program.domain.definitions import Class


def rebind(context: Context) -> Iterator[Fix]:
    """`nonstrict_trace(f)` becomes `f = nonstrict_trace(f)`, where `f` is a name or an attribute."""
    document = context.document
    call = document.at(context.finding.span, ast.Call) if document is not None else None
    if document is None or call is None or len(call.args) + len(call.keywords) != 1:
        return
    target = (*call.args, *(keyword.value for keyword in call.keywords))[0]
    if not isinstance(document.parent(call), ast.Expr) or not isinstance(target, (ast.Name, ast.Attribute)):
        return
    if document.function(call) is not None and isinstance(target, ast.Name):
        return  # the name would become a local of the function around
    if isinstance(target, ast.Name) and _is_of_loop(document, target):
        return  # the next turn of the loop gives the name to another function
    function = context.body.mark.function
    if function is not None and function.owner is not None and not _is_taken(context, function.owner):
        return  # marked, the method would be given what torch refuses
    text = ast.unparse(target)  # on one line: within the brackets of the call it may stand on several
    edit = inserted(document, document.bounds(call)[0], f"{text} = ")
    yield Fix(f"Bind the marked function to `{text}`", Applicability.SAFE, (edit,))


def _is_of_loop(document: Document, name: ast.Name) -> bool:
    loops = (one for one in document.around(name) if isinstance(one, (ast.For, ast.AsyncFor)))
    targets = (part for loop in loops for part in ast.walk(loop.target))
    return any(isinstance(part, ast.Name) and part.id == name.id for part in targets)


def _is_taken(context: Context, owner: Class) -> bool:
    """Whether torch takes objects of a class as arguments."""
    return classes.is_module(owner) or bool(registered.registrations(context.machine, owner))
