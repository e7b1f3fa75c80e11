"""Comparisons of a dimension with a number, where a caller marked the dimension as dynamic (`mark_dynamic`)."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts import handlers
from nonstrict.facts.key_sizes import sized, whole_number
from nonstrict.facts.library_calls import called
from nonstrict.facts.memo import remembered
from nonstrict.facts.reaching import reaching
from nonstrict.facts.steps import steps_of
from nonstrict.facts.use_def import use_def
from nonstrict.facts.walk import walk
from nonstrict.findings import Related
from nonstrict.program.contracts.boundary.boundary_values import handed_on
from nonstrict.program.contracts.boundary.varying import given_expressions
from nonstrict.program.domain.effects import span_of
from nonstrict.program.interpret.loop_targets import loops_giving
from nonstrict.program.interpret.rounds import holds
from nonstrict.program.objects import naming

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.domain.effects import Effect
    from nonstrict.program.state.frames import Frame

#: What tells torch that a size varies, in front of the first call.
MARKS = frozenset({"mark_dynamic", "maybe_mark_dynamic", "mark_unbacked"})
#: What torch raises where a dimension is marked as dynamic and is not.
_VIOLATION = "ConstraintViolationError"
_BLOCKS = (ast.If, ast.For, ast.AsyncFor, ast.While)


def fixed(body: Interpreted, effect: Effect) -> tuple[Related, ...]:
    """The calls of `mark_dynamic` that a comparison contradicts."""
    node = effect.node
    if not isinstance(node, ast.Compare) or len(node.ops) != 1 or not isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
        return ()
    found = [size_of(side) or unpacked(body, side) for side in (node.left, node.comparators[0])]
    sizes = [one for one in found if one is not None]
    if len(sizes) != 1:
        return ()
    parameter, dimension = sizes[0]
    return tuple(
        mark
        for mark, name, dimensions in marked(body)
        if name == parameter and (dimension is None or dimension in dimensions)
    )


def size_of(node: ast.expr) -> tuple[str, int | None] | None:
    """The variable and dimension of `x.shape[0]` and `x.size(0)`; no dimension for `x.shape`."""
    found = sized(node)
    return (found.tensor.id, found.dimension) if found is not None and isinstance(found.tensor, ast.Name) else None


def unpacked(body: Interpreted, node: ast.expr) -> tuple[str, int | None] | None:
    """The same for a variable: `rows, columns = x.shape`, `rows = x.shape[0]`."""
    function = body.mark.function
    if not isinstance(node, ast.Name) or function is None:
        return None
    for statement in walk(function.node):
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            continue
        target, source = statement.targets[0], size_of(statement.value)
        if source is None:
            continue
        if isinstance(target, ast.Name) and target.id == node.id:
            return source
        if isinstance(target, ast.Tuple) and source[1] is None:
            for index, part in enumerate(target.elts):
                if isinstance(part, ast.Name) and part.id == node.id:
                    return source[0], index
    return None


def marked(body: Interpreted) -> Iterator[tuple[Related, str, frozenset[int]]]:
    """For each `mark_dynamic` of a tensor that a region gets and passes on: the call, the parameter, the dimensions."""
    for site in body.sites:
        caller = site.call.caller if site.call is not None else None
        if not site.compiled or caller is None:
            continue
        for name, span in site.argument_spans.items():
            source = handed_on(site, span)
            for frame, call, expression in given_expressions(body.machine, caller, source) if source else ():
                yield from ((mark, name, dims) for mark, dims in marks(frame, call, expression))


def marks(frame: Frame, call: ast.AST, tensor: ast.expr) -> Iterator[tuple[Related, frozenset[int]]]:
    """The calls of `mark_dynamic` of the tensor that a call passes, and which dimensions they say vary.

    Measured on 2.13: a negative number names no dimension; nobody is told.
    """
    for node in marking(frame, tensor, frozenset({"mark_dynamic"})):
        if not _is_passed(frame, node, call, tensor):
            continue
        given = [*node.args[1:2], *(keyword.value for keyword in node.keywords if keyword.arg == "index")]
        parts = [part for one in given for part in (one.elts if isinstance(one, (ast.Tuple, ast.List)) else [one])]
        span = span_of(frame.module.path, frame.offset, node)
        dims = (whole_number(part) for part in parts)
        yield Related(span, "marked as dynamic here"), frozenset(one for one in dims if one is not None and one >= 0)


def _is_passed(frame: Frame, mark: ast.Call, call: ast.AST, tensor: ast.expr) -> bool:
    """Whether what is marked surely is the tensor that a call passes, before the call; not where it means to fail."""
    around, name = naming.text_of(frame), steps_of(tensor)[0]
    both = [node for node in walk(around) if isinstance(node, _BLOCKS) and holds([node], mark)]
    if any(isinstance(node, ast.If) and not holds([node], call) for node in both):
        return False
    if _VIOLATION in handlers.around(around, call):
        return False
    looped = any(not isinstance(node, ast.If) and holds([node], call) for node in both)
    if not looped and _starts(mark) > _starts(call):
        return False
    bound = reaching(around, name, tensor)
    return not use_def(around).every(name) or (bound is not None and bound is reaching(around, name, mark))


def _starts(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _is_about(frame: Frame, mark: ast.Call, steps: tuple[str, ...]) -> bool:
    """Whether a call is given what some steps lead to, by itself or as one of those that a loop lists."""
    listed = [loop.iterable for loop in loops_giving(frame, mark, mark.args[0])]
    each = (one for among in listed if isinstance(among, (ast.Tuple, ast.List)) for one in among.elts)
    return any(steps_of(one) == steps for one in (mark.args[0], *each))


def marking(frame: Frame, tensor: ast.expr, among: frozenset[str]) -> Iterator[ast.Call]:
    """The calls in a frame that tell torch, by one of some functions of `torch._dynamo`, that a size varies."""
    steps = steps_of(tensor)
    for node, name in _of_torch(frame) if steps else ():
        if name in among and _is_about(frame, node, steps):
            yield node


class _OfTorch:
    """By text, the calls of functions of torch that are given something, with their names."""

    def __init__(self) -> None:
        self.known: dict[ast.AST, tuple[tuple[ast.Call, str], ...]] = {}


def _of_torch(frame: Frame) -> tuple[tuple[ast.Call, str], ...]:
    known, text = frame.machine.part(_OfTorch).known, naming.text_of(frame)
    if text not in known:
        names = naming.names_at(frame)
        given = ((node, called(names, node)) for node in _given(text))
        known[text] = tuple((node, call.name) for node, call in given if call.library == "torch")
    return known[text]


def _given(text: ast.AST) -> tuple[ast.Call, ...]:
    """The calls of a text that are given something."""
    return remembered(
        text,
        "_nonstrict_given",
        lambda root: tuple(node for node in walk(root) if isinstance(node, ast.Call) and node.args),
    )
