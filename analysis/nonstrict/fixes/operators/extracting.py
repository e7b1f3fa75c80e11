"""A call that a region must not trace becomes an operator of its own, with a fake that a person has to complete."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.targets import last_name
from nonstrict.findings import Applicability, Fix
from nonstrict.fixes.code.edits import before, replaced
from nonstrict.fixes.code.names import fresh, operator_name, outermost, spelled
from nonstrict.fixes.operators.differentiable import may_train
from nonstrict.fixes.operators.fakes import TO_DO
from nonstrict.program.domain.values import TENSORS, UNKNOWN, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.fixes.context import Context


def as_operator(context: Context) -> Iterator[Fix]:
    """Make an operator of a call into compiled code that gets tensors by their names, and constants."""
    document = context.document
    call = document.at(context.finding.span, ast.Call) if document is not None else None
    outer = outermost(document, call) if document is not None and call is not None else None
    if document is None or call is None or outer is None or call.keywords:
        return
    tensors = [one.id for one in call.args if isinstance(one, ast.Name) and _may_be_tensor(context, one.id)]
    constants = [one for one in call.args if isinstance(one, ast.Constant)]
    if not tensors or len(set(tensors)) + len(constants) != len(call.args):
        return
    if may_train(context.documents.uses, document, context.body):
        return  # the operator has no derivative, and its result would need gradients
    name = fresh(document, last_name(call), outer)
    library, tensor = spelled(document, "torch.library.custom_op"), spelled(document, "torch.Tensor")
    like = spelled(document, "torch.empty_like")
    if library.edits:
        return
    parameters = ", ".join(f"{one}: {tensor.text}" for one in tensors)
    lines = [
        f'@{library.text}("{operator_name(document, name)}", mutates_args="unknown")',
        f"def {name}({parameters}) -> {tensor.text}:",
        f"{document.step}return {document.text(call)}",
        "",
        "",
        f"@{name}.register_fake",
        f"def _({', '.join(tensors)}):",
        f"{document.step}return {like.text}({tensors[0]})  # {TO_DO}",
        "",
        "",
    ]
    added = before(document, outer, lines)
    if added is not None:
        title = f"Turn the call into a custom operator `{name}` with a fake to fill in"
        called = replaced(document, call, f"{name}({', '.join(tensors)})")
        yield Fix(title, Applicability.DISPLAY, (added, called, *tensor.edits, *like.edits))


def _may_be_tensor(context: Context, name: str) -> bool:
    """Whether a name may stand for a tensor: nothing says that it is something else."""
    return context.body.arguments.get(name, UNKNOWN).kind in (*TENSORS, Kind.UNKNOWN)
