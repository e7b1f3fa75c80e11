"""Sizes that torch is told to vary before it compiles a region for the first one: `mark_dynamic` (NST803, NST804).

Measured on 2.13: the mark counts in the first call, for tensors of two elements and more along the dimension; without
it later ones cost another compilation. Tensors that meet along it have to be marked all.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.events import Event
from nonstrict.facts.shapes import shape
from nonstrict.findings import Applicability, Fix
from nonstrict.fixes.code.edits import before
from nonstrict.fixes.code.names import spelled
from nonstrict.fixes.marks.staying import recompilation
from nonstrict.program.contracts.boundary import varying
from nonstrict.program.contracts.boundary.dynamic_sizes import marking
from nonstrict.program.contracts.regions import between, calls, sizes, specialized
from nonstrict.program.contracts.regions.tensors import difference
from nonstrict.program.domain.access_paths import Root
from nonstrict.program.domain.effects import span_of
from nonstrict.program.domain.values import NO_CONSTANT, Kind
from nonstrict.program.objects import naming

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Edit
    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.context import Context
    from nonstrict.program.contracts.marked_body import MarkedBody
    from nonstrict.program.contracts.regions.recompilations import Recompilation
    from nonstrict.program.state.frames import Frame

_MARK = "torch._dynamo.mark_dynamic"
#: What says of a tensor which of its sizes vary.
_MARKS = frozenset({"mark_dynamic", "maybe_mark_dynamic", "mark_unbacked", "mark_static"})
#: What the table of guards calls sizes that vary, none of which is known to be 0 or 1.
_SIZES = frozenset({"size", "two sizes"})
#: Arguments that have no size, and bring none into the region that varies.
_SIZELESS = frozenset({Kind.BOOL, Kind.STRING, Kind.NONE, Kind.SETTING, Kind.MODULE, Kind.FUNCTION, Kind.CLASS})
#: Statements that evaluate all they hold, once, when they are reached.
_SIMPLE = (ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return)
_INNER = (ast.Lambda, ast.comprehension, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.NamedExpr)


class _Line(NamedTuple):
    """What is to stand in front of a statement of a file."""

    document: Document
    statement: ast.stmt
    text: str


def marked(context: Context) -> Iterator[Fix]:
    """`torch._dynamo.mark_dynamic(x, 0)` in front of all calls of a region, for all tensors whose sizes vary."""
    found, region = recompilation(context), context.body
    function = region.mark.function
    if found is None or function is None or region.dynamic is not None or not found.kinds <= _SIZES:
        return
    varies = _varying(region, found)
    lines = [line for name, along in varies.items() for line in _lines(context, name, along)] if varies else []
    if not varies or None in lines:
        return
    edits = list(_edits([line for line in lines if line is not None]))
    if edits and None not in edits:
        text = " and ".join(f"`{name}`" for name in varies)
        unique = tuple(dict.fromkeys(edit for edit in edits if edit is not None))
        yield Fix(f"Mark {text} as dynamic before the first call", Applicability.UNSAFE, unique)


def _varying(region: MarkedBody, found: Recompilation) -> dict[str, tuple[int, ...]] | None:
    """The arguments whose sizes vary, that of the finding first, and along which dimensions.

    None where that is not known of all of them, or where the region may make a constant of such a size.
    """
    size = sizes.at(found.place)
    place = found.place if size is None else size.tensor
    if place.root is not Root.ARGUMENT or place.path:
        return None
    told = {parameter.name: _along(region, parameter.name) for parameter in region.parameters}
    varies = {name: along for name, along in told.items() if along}
    own = varies.pop(place.name, ())
    others = (one for one in region.recompilations if one.place.name not in (place.name, *varies))
    if not own or None in told.values() or any("int" in one.kinds for one in others) or _has_other_tensors(region):
        return None
    varies = {place.name: own, **varies}
    fixed = any(specialized.may_fix(region, name, along) for name, along in varies.items())
    return None if fixed else {name: tuple(one for one in along if one >= 0) for name, along in varies.items()}


def _along(region: MarkedBody, name: str) -> tuple[int, ...] | None:
    """The dimensions along which an argument has several sizes, from both ends; None where it may have others."""
    given = list(calls.given(region, name))
    if any(True for frame, _, passed in given for _ in marking(frame, passed, _MARKS)):
        return None
    values = [frame.machine.evaluate(frame, passed) for frame, _, passed in given]
    if all(value.kind in _SIZELESS for value in values):
        return ()
    if all(value.kind is Kind.NUMBER for value in values):
        known = {value.const for value in values}
        return () if len(known) == 1 and NO_CONSTANT not in known else None
    if not all(value.is_tensor for value in values):
        return None
    if (found := difference(region, name)) is not None:
        return tuple(sorted(found.along)) if found.kind in _SIZES and found.along else None
    told = [shape(naming.names_at(frame), naming.text_of(frame), passed) for frame, _, passed in given]
    known = [all(isinstance(size, ast.Constant) for size in one) if one is not None else False for one in told]
    return () if all(known) and len({ast.dump(ast.Tuple([*one])) for one in told if one is not None}) == 1 else None


def _has_other_tensors(region: MarkedBody) -> bool:
    """Whether a region uses tensors that no call passes, and in whose place others are put between the calls."""
    used = {one.effect.place for one in region.observed(Event.GUARD) if one.effect.value.is_tensor}
    return any(between.written(region, place) for place in used if place.path or place.root is not Root.ARGUMENT)


def _lines(context: Context, name: str, along: tuple[int, ...]) -> Iterator[_Line | None]:
    """The lines in front of the calls that pass an argument; None for one that has no place there."""
    region, function = context.body, context.body.mark.function
    if function is None:
        return
    passing = {node for _, node, _ in varying.given_expressions(region.machine, function, name)}
    if passing != {call[1] for call in calls.of(region)}:
        yield None
    dimensions = str(along[0]) if len(along) == 1 else str([*along])
    for frame, node, passed in calls.given(region, name):
        yield _line(context, frame, node, passed, dimensions)


def _line(context: Context, frame: Frame, call: ast.Call, passed: ast.expr, dimensions: str) -> _Line | None:
    document = context.documents.document(frame.module.path)
    node = document.at(span_of(frame.module.path, frame.offset, call), ast.Call) if document is not None else None
    statement = document.statement(node) if document is not None and node is not None else None
    if document is None or node is None or not isinstance(statement, _SIMPLE) or not isinstance(passed, ast.Name):
        return None
    traced = frame.function is not None and frame.function.node in frame.machine.regions
    inner = any(isinstance(one, _INNER) for one in ast.walk(statement))
    spelling = spelled(document, _MARK)
    if traced or inner or spelling.edits:
        return None
    return _Line(document, statement, f"{spelling.text}({passed.id}, {dimensions})")


def _edits(lines: list[_Line]) -> Iterator[Edit | None]:
    """One edit for each statement, with all that is to stand in front of it."""
    for statement in dict.fromkeys(line.statement for line in lines):
        here = [line for line in lines if line.statement is statement]
        yield before(here[0].document, statement, list(dict.fromkeys(line.text for line in here)))
