"""A tensor that a module holds as a plain attribute becomes a buffer, which moves with the module (NST808)."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.scopes import receiver_of
from nonstrict.findings import Applicability, Fix
from nonstrict.fixes.code.edits import replaced
from nonstrict.program.contracts.regions.capturing import Part
from nonstrict.program.objects.classes import is_module

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.fixes.context import Context

_HELD = frozenset({Part.SCALAR, Part.MOVED})


def as_buffer(context: Context) -> Iterator[Fix]:
    """`self.scale = torch.tensor(2.0)` becomes `self.register_buffer("scale", torch.tensor(2.0), persistent=False)`.

    Checkpoints stay as they are. The buffer is cast with the module, too.
    """
    span, left_out = context.finding.span, context.body.cuda_graphs.left_out
    if not any(one.part in _HELD and one.seen.effect.span == span for one in left_out):
        return
    value = context.body.held.at(span)
    owners = [one for one in context.body.owners_at(value.place) if one is not None] if value is not None else []
    known = context.class_definition(owners[-1]) if owners and is_module(owners[-1]) else None
    if value is None or known is None:
        return
    (document, definition), name = known, value.place.path[-1].removeprefix(".")
    made = [one for one in ast.walk(definition) if isinstance(one, ast.Attribute) and one.attr == name]
    stored = [one for one in made if not isinstance(one.ctx, ast.Load)]
    statement = document.statement(stored[0]) if len(stored) == 1 else None
    function = document.function(stored[0]) if statement is not None else None
    if not isinstance(statement, ast.Assign) or not isinstance(function, ast.FunctionDef) or len(statement.targets) > 1:
        return
    of_itself = isinstance(stored[0].value, ast.Name) and stored[0].value.id == receiver_of(function)
    if function.name == "__init__" and of_itself and statement in function.body:
        given = f'"{name}", {document.text(statement.value)}, persistent=False'
        edit = replaced(document, statement, f"{document.text(stored[0].value)}.register_buffer({given})")
        yield Fix(f"Register `{name}` as a buffer", Applicability.UNSAFE, (edit,))
