"""A tensor of a region with CUDA graphs is made on the GPU, where it is moved to, or used as an index (NST808)."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.findings import Applicability, Edit, Fix
from nonstrict.fixes.code.edits import with_argument
from nonstrict.fixes.code.names import meaning
from nonstrict.program.contracts.regions.capturing import Part
from nonstrict.program.domain.definitions import DEFAULT_BACKEND
from nonstrict.program.domain.values import Kind
from nonstrict.program.objects import dtypes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.context import Context

_MADE = frozenset({Part.DRAWN, Part.INDEX, Part.STORED_INDEX, Part.MADE})
_OF_NUMBERS = frozenset({Part.INDEX, Part.STORED_INDEX, Part.MADE})
_DEVICE = "torch.device"


class _Moved(NamedTuple):
    """Where a tensor goes to: the device as code, and the call that moves it, if one does."""

    device: str
    by: ast.Call | None = None


def made_there(context: Context) -> Iterator[Fix]:
    """`torch.randn(4).to(x.device)` becomes `torch.randn(4, device=x.device)`, which draws other numbers."""
    left_out = context.body.cuda_graphs.left_out
    one = next((one for one in left_out if one.seen.effect.span == context.finding.span), None)
    document = context.document
    call = document.at(context.finding.span, ast.Call) if document is not None else None
    # What is made of numbers begins on the CPU in any case: only Inductor takes it for a constant of the GPU.
    made = _MADE if context.body.backend == DEFAULT_BACKEND else _MADE - _OF_NUMBERS
    if one is None or one.part not in made or document is None or call is None:
        return
    moved = _moved(context, document, call)
    if moved is None:
        return
    edits = [with_argument(document, call, f"device={moved.device}")]
    if moved.by is not None:
        edits.append(Edit(document.range(document.bounds(call)[1], document.bounds(moved.by)[1]), ""))
    sure = Applicability.UNSAFE if one.part is Part.DRAWN else Applicability.SAFE
    yield Fix(f"Make it on the device with `device={moved.device}`", sure, tuple(edits))


def _moved(context: Context, document: Document, call: ast.Call) -> _Moved | None:
    around = document.parent(call)
    if isinstance(around, ast.Subscript) and around.slice is call and isinstance(around.value, ast.Name):
        return _Moved(f"{document.text(around.value)}.device")
    by = document.parent(around) if isinstance(around, ast.Attribute) else None
    if not isinstance(around, ast.Attribute) or not isinstance(by, ast.Call) or by.func is not around:
        return None
    given = [*by.args, *(one.value for one in by.keywords if one.arg == "device")]
    if around.attr == "cuda" and not by.args and not by.keywords:
        return _Moved('"cuda"', by)
    if around.attr != "to" or len(given) != 1 or len(given) != len(by.args) + len(by.keywords):
        return None
    return _Moved(document.text(given[0]), by) if _is_device(context, document, given[0]) else None


def _is_device(context: Context, document: Document, node: ast.expr) -> bool:
    """Whether an expression surely gives a device, no tensor and no dtype."""
    value = context.body.held.at(document.span(node))
    if isinstance(node, ast.Call):
        return meaning(document)(node.func) == _DEVICE
    if value is None or dtypes.is_dtype(value):
        return False
    return value.kind is Kind.SETTING or isinstance(value.const, str)
