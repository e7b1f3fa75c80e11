"""NST608 fake-mismatch: A fake differs from the function that it describes, or reads tensors from outside."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Event, Read
from nonstrict.facts.walk import own_scope
from nonstrict.findings import Applicability, Related, Severity
from nonstrict.program.contracts.marks.fake_arguments import untaken
from nonstrict.program.contracts.marks.form_differences import difference, is_default
from nonstrict.program.contracts.marks.shape_differences import Shapes, Told
from nonstrict.program.contracts.marks.tensor_forms import Forms, tensors_in
from nonstrict.program.domain.access_paths import Root
from nonstrict.program.domain.values import NO_CONSTANT, Kind
from nonstrict.program.externals import module_state
from nonstrict.rules.base import Rule, report_at
from nonstrict.rules.expectation import OF_CAPTURES, Expectation, Experiment, Trait

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.program.domain.effects import Effect
    from nonstrict.program.domain.values import Value
    from nonstrict.rules.base import Body

_SEQUENCES = (Kind.TUPLE, Kind.LIST)
_KNOWN = frozenset({Kind.TENSOR, Kind.TUPLE, Kind.LIST, Kind.DICT, Kind.NONE})
_NAMES = {
    Kind.TENSOR: "a tensor",
    Kind.TUPLE: "a tuple",
    Kind.LIST: "a list",
    Kind.DICT: "a dict",
    Kind.NONE: "nothing",
}


def examine(body: Body) -> Iterator[Finding]:
    """Yield how the fakes visibly differ from the implementation; the first difference of each is enough."""
    operator = body.applied.operator
    if operator is None or operator.traced or body.applied.node is None or body.applied.takes_anything:
        return
    for fake in body.applied.fakes if len(operator.fakes) == 1 else ():
        yield from _captures(body, fake)
        yield from _first(_arguments(body, fake), _structure(body, fake), _tensors(body, fake))


def _first(*told: Iterator[Finding]) -> Iterator[Finding]:
    for findings in told:
        found = list(findings)
        if found:
            yield from found
            return


def _finding(
    body: Body,
    fake: Body,
    node: ast.AST,
    message: str,
    advice: str,
    severity: Severity | None = None,
    note: str = "",
) -> Finding:
    returned = next(iter(body.applied.returned()), None)
    declared = Related(body.marked_at, f"the fake of `{body.function}`, which is declared here")
    real = () if returned is None else (Related(body.applied.span_of(returned), "what the function returns"),)
    found = report_at(RULE, body, fake.applied.span_of(node), message, note=note, help=advice, severity=severity)
    return found._replace(related=(declared, *real))


# -- what a fake may not do ---------------------------------------------------------------------------------------


def _captures(body: Body, fake: Body) -> Iterator[Finding]:
    for seen in fake.observed(Event.READ):
        noun = _captured(seen.effect)
        if noun:
            name = seen.effect.place.text
            message = f"the fake of `{body.function}` {noun} `{name}` from outside"
            note = "it fails to compile"
            advice = "use the arguments only: a fake describes shapes and dtypes"
            sometimes = seen.effect.conditional or any(edge.conditional for edge in seen.chain)
            severity = Severity.WARNING if sometimes else Severity.ERROR
            yield report_at(RULE, body, seen.effect.span, message, note=note, help=advice, severity=severity)


def _captured(read: Effect) -> str:
    """What a read of a fake takes from outside: a tensor, or the parameters of a module; "" of anything else."""
    if not read.place.captured or read.how is Read.METADATA:
        return ""
    if read.value.is_tensor:
        return "reads the tensor"
    whole = read.value.kind is Kind.MODULE and module_state.holds(read.value) is module_state.Holds.PARAMETERS
    return "uses the module" if whole else ""


# -- arguments ----------------------------------------------------------------------------------------------------


def _arguments(body: Body, fake: Body) -> Iterator[Finding]:
    real, other, taken = body.applied.passed, fake.applied.node, fake.applied.passed
    if real is None or other is None or taken is None or fake.applied.binding in ("class", "property"):
        return
    told = untaken(real, taken, lambda: body.sites)
    if told is not None:
        message = f"the fake of `{body.function}` {told.text}"
        severity = Severity.ERROR if told.happens else Severity.NOTE
        yield _finding(body, fake, _head(other), message, "give the fake the parameters of the function", severity)


def _head(node: FunctionNode) -> ast.AST:
    """The first line of a definition."""
    if isinstance(node, ast.Lambda):
        return node
    head = ast.Name(node.name, ast.Load())
    head.lineno = head.end_lineno = node.lineno
    head.col_offset, head.end_col_offset = node.col_offset, node.col_offset + len("def ") + len(node.name)
    return head


# -- structure ----------------------------------------------------------------------------------------------------


def _structure(body: Body, fake: Body) -> Iterator[Finding]:
    leaf = body.marker == "leaf"
    real, other = body.returned, fake.returned
    node = next(iter(fake.applied.returned()), None) or (fake.applied.node and _head(fake.applied.node))
    if node is None or real.kind not in _KNOWN or other.kind not in _KNOWN:
        return
    both = real.kind in _SEQUENCES and other.kind in _SEQUENCES
    if real.kind is not other.kind and (leaf or not both):
        told = f"returns {_NAMES[other.kind]} where the function returns {_NAMES[real.kind]}"
        yield _finding(body, fake, node, f"the fake of `{body.function}` {told}", "return the same structure")
        return
    told = _contents(real, other) if real.kind is not Kind.TENSOR else ""
    if told:
        yield _finding(body, fake, node, f"the fake of `{body.function}` {told}", "return the same structure")
    elif leaf:
        yield from _numbers(body, fake, real)


def _contents(real: Value, other: Value) -> str:
    if real.heap is None or other.heap is None or _is_open(real) or _is_open(other):
        return ""
    if real.kind is Kind.DICT:
        if set(real.heap.items) != set(other.heap.items):
            return "returns other keys than the function"
        return ""
    left, right = len(real.heap.items), len(other.heap.items)
    results = "1 result" if right == 1 else f"{right} results"
    return f"returns {results} where the function returns {left}" if left != right else ""


def _is_open(value: Value) -> bool:
    """Whether a container may hold more than was seen."""
    heap = value.heap
    return heap is None or heap.open or heap.loose is not None or (heap.element is not None and not heap.items)


def _numbers(body: Body, fake: Body, real: Value) -> Iterator[Finding]:
    """Numbers that a leaf function computes: compiled code has those of the fake."""
    returned = next(iter(body.applied.returned()), None)
    if real.kind not in _SEQUENCES or real.heap is None or not isinstance(returned, (ast.Tuple, ast.List)):
        return
    for index, node in enumerate(returned.elts):
        value = real.heap.items.get(index)
        if value is None or value.kind not in (Kind.NUMBER, Kind.BOOL) or value.place.root is Root.ARGUMENT:
            continue
        if value.const is NO_CONSTANT or value.place.captured:
            message, note = (
                f"`{body.function}` returns a number",
                "compiled code always uses the fake's number",
            )
            advice = "return it as a tensor"
            yield report_at(RULE, body, body.applied.span_of(node), message, note=note, help=advice)


# -- tensors ------------------------------------------------------------------------------------------------------


def _tensors(body: Body, fake: Body) -> Iterator[Finding]:
    real_node, fake_node = body.applied.node, fake.applied.node
    real, other = list(body.applied.returned()), list(fake.applied.returned())
    if real_node is None or fake_node is None or len(real) != 1 or len(other) != 1:
        return
    left, right = tensors_in(real[0]), tensors_in(other[0])
    if len(left) != len(right):
        return
    real_forms, fake_forms = Forms(real_node, body.applied.names), Forms(fake_node, fake.applied.names)
    shapes = Shapes(Told(real_node, body.applied.names), Told(fake_node, fake.applied.names))
    for at, (mine, its) in enumerate(zip(left, right, strict=True)):
        real_form, fake_form = real_forms.of(mine), fake_forms.of(its)
        told = shapes.difference(at) or difference(real_form, fake_form)
        if told:
            message = f"the fake's result {told}"
            single = Severity.NOTE if told.endswith("is float32") else None
            yield _finding(body, fake, its, message, "make the fake's result like the function's", single)
        elif isinstance(its, ast.Name) and _is_parameter(fake_node, its.id) and not isinstance(mine, ast.Name):
            yield _returned_argument(body, fake, its)
        elif is_default(real_form, fake_form):
            message = f"the fake of `{body.function}` returns the default dtype, the function an argument's"
            advice = "use `torch.empty_like`, `new_empty`, or pass `dtype`"
            yield _finding(body, fake, its, message, advice, Severity.NOTE)


def _is_parameter(function: FunctionNode, name: str) -> bool:
    """Whether a name is that of a parameter, and stays what was passed."""
    arguments = function.args
    if any(isinstance(node, ast.Name) and node.id == name and _binds(node) for node in own_scope(function)):
        return False
    return any(name == each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs))


def _binds(name: ast.Name) -> bool:
    return not isinstance(name.ctx, ast.Load)


def _returned_argument(body: Body, fake: Body, node: ast.Name) -> Finding:
    message = f"the fake of `{body.function}` returns its argument `{node.id}`"
    note = "compiled code takes the result and the argument for one tensor"
    severity = Severity.NOTE if body.marker == "leaf" else None
    return _finding(body, fake, node, message, f"return `torch.empty_like({node.id})`", severity, note)


def fixes(context: Context) -> Iterator[Fix]:
    """Make the fake like the function."""
    from nonstrict.fixes.operators.declaring import like_the_function

    yield from like_the_function(context)


RULE = Rule(
    code="NST608",
    name="fake-mismatch",
    severity=Severity.WARNING,
    summary="A fake differs from the function that it describes, or reads tensors from outside.",
    markers=frozenset({"leaf", "custom-op"}),
    examine=examine,
    fixes=fixes,
    surest=Applicability.SAFE,
    expectation=Expectation(
        Experiment.REFUSAL, refusals=OF_CAPTURES, traits=Trait.OPERATOR | Trait.IN_FAKES, opcheck="test_faketensor"
    ),
)
