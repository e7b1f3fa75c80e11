"""Functions that torch cannot trace become operators that it does not look into, with generated fakes."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.events import Event
from nonstrict.facts.targets import last_name
from nonstrict.findings import Applicability, Edit, Fix
from nonstrict.fixes.code.edits import after, before, inserted, replaced
from nonstrict.fixes.code.lists import parameters_of
from nonstrict.fixes.code.names import dotted, is_importable, operator_name, spelled
from nonstrict.fixes.marks.markers import unused_after
from nonstrict.fixes.operators.differentiable import changes_gradients
from nonstrict.fixes.operators.fakes import Fake, fake_lines, fake_of, returns_of, told_by
from nonstrict.fixes.operators.observed import Call, tensors_in, types_in
from nonstrict.knowledge.markers import LEAF_COMPILES
from nonstrict.program.contracts.marked_body import MarkedBody
from nonstrict.program.domain.access_paths import FRESH, Root
from nonstrict.program.domain.definitions import Mark, Operator
from nonstrict.program.domain.values import NO_CONSTANT, TENSORS, UNKNOWN, Kind, Value
from nonstrict.program.objects.parameters import default_nodes
from nonstrict.text.trees import tree_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Span
    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.context import Context
    from nonstrict.program.domain.definitions import Function

#: What the annotations of an operator may be made of (`torch/_library/infer_schema.py` of torch 2.13).
_TYPES = frozenset({"torch.Tensor", "torch.dtype", "torch.device", "torch.types.Number", "torch.SymInt"})
_BUILTIN = frozenset({"int", "float", "bool", "str"})
_GENERIC = frozenset({"typing.Optional", "typing.List", "typing.Sequence", "collections.abc.Sequence"})
_OF_NUMBERS = frozenset({int, float, bool, str})
#: What stands for a number that is not known.
_UNKNOWN = frozenset({type(None), type(NO_CONSTANT)})
_CONTAINERS = (Kind.LIST, Kind.TUPLE)


class Candidate(NamedTuple):
    """A function that may become an operator: its definition, what it does as one, and its recorded calls."""

    function: Function
    document: Document
    node: ast.FunctionDef
    body: MarkedBody
    marked: bool
    calls: tuple[Call, ...]


def as_custom_op(context: Context) -> Iterator[Fix]:
    """Make a custom operator of the function of a finding: the smallest one that can be one.

    The compiler calls it as it is, at every call; it has no derivative until one is registered.
    """
    for candidate in _candidates(context):
        fix = _custom_op(context, candidate)
        if fix is not None:
            yield fix
            return


def as_leaf(context: Context) -> Iterator[Fix]:
    """Make a leaf function of the marked function, on a torch and for backends that compile one."""
    applied = context.body.applied
    backends = [call.backend for call in applied.compiled_calls]
    compiles = context.body.torch >= LEAF_COMPILES or (backends and "inductor" not in backends)
    marked = next((one for one in _candidates(context) if one.marked), None)
    if not compiles or marked is None or marked.node.decorator_list[1:]:
        return
    changed = _changed(marked)
    marker = spelled(marked.document, "torch._dynamo.decorators.leaf_function")
    names = "{" + ", ".join(f'"{name}"' for name in sorted(changed)) + "}"
    text = f"{marker.text}(mutates_args={names})" if changed else marker.text
    at = _marking(context, marked, text)
    fake = _fake(context, marked)
    added = after(marked.document, marked.node, ["", "", *fake_lines(marked.document, marked.node, fake)])
    if at is None or added is None or _returns_argument(marked):
        return
    title = f"Turn `{marked.node.name}` into a leaf function with a fake"
    yield Fix(title + told_by(fake), _how_sure(fake), (*marker.edits, *at, added))


def _fake(context: Context, candidate: Candidate) -> Fake:
    numbers = _numbers(context, candidate)
    return fake_of(candidate.document, candidate.node, _tensors(candidate), numbers, candidate.calls)


def _how_sure(fake: Fake) -> Applicability:
    return Applicability.UNSAFE if fake.complete else Applicability.DISPLAY


# -- which function ---------------------------------------------------------------------------------------------------


def _candidates(context: Context) -> Iterator[Candidate]:
    """The functions around a finding that nothing keeps from being an operator, the innermost first."""
    seen: set[int] = set()
    for function, marked in _functions(context):
        found = context.definition(function)
        node = found[1] if found is not None else None
        if found is None or id(node) in seen or not isinstance(node, ast.FunctionDef):
            continue
        document = found[0]
        seen.add(id(node))
        generator = any(isinstance(one, (ast.Yield, ast.YieldFrom)) for one in ast.walk(node))
        takes_anything = node.args.vararg is not None or node.args.kwarg is not None
        top_level = isinstance(document.parent(node), ast.Module) and is_importable(document, "torch")
        if top_level and not generator and not takes_anything:
            calls = context.documents.calls(document, node)
            yield Candidate(function, document, node, _supposed(context, function), marked, calls)


def _functions(context: Context) -> Iterator[tuple[Function, bool]]:
    """The functions from the one that holds the finding to the marked one."""
    at = context.finding.span
    chains = [seen.chain for event in Event for seen in context.body.observed(event) if seen.effect.span == at]
    for edge in reversed(min(chains, key=len, default=())):
        if edge.summary.definition is not None and not edge.deferred:
            yield edge.summary.definition, False
    if context.body.mark.function is not None and context.body.marker != "compiled":
        yield context.body.mark.function, True


def _supposed(context: Context, function: Function) -> MarkedBody:
    """A function as if it were an operator that declares nothing: what it changes and returns."""
    own = context.body.mark
    target = Value(Kind.FUNCTION, FRESH, function)
    mark = Mark("custom-op", "custom_op", target, function.module.path, function.offset, function.node, function)
    mark.operator = Operator("", "leaf_function", mutates=frozenset())
    mark.calls = own.calls if own.function is function else []
    return MarkedBody(context.machine, mark, context.body.torch)


# -- custom operators -------------------------------------------------------------------------------------------------


def _custom_op(context: Context, candidate: Candidate) -> Fix | None:
    document, node = candidate.document, candidate.node
    changed = _changed(candidate)
    if changes_gradients(context.documents.uses, document, candidate.body, mutates=bool(changed)):
        return None
    fake = _fake(context, candidate)
    annotations = _annotations(context, candidate, fake)
    lost = not changed and (fake.tensors == 0 or _is_dropped(context, candidate))
    if annotations is None or lost or _returns_argument(candidate) or (changed and _returns_tuple_of_one(node)):
        return None
    named = operator_name(document, node.name)
    marker = spelled(document, "torch.library.custom_op")
    names = ", ".join(f'"{name}"' for name in sorted(changed))
    declared = f"({names},)" if len(changed) == 1 else f"({names})"
    at = _marking(context, candidate, f'{marker.text}("{named}", mutates_args={declared})')
    added = after(document, node, ["", "", *fake_lines(document, node, fake)])
    if at is None or added is None:
        return None
    title = f"Turn `{node.name}` into a custom operator with a fake{told_by(fake)}"
    return Fix(title, _how_sure(fake), (*marker.edits, *at, *annotations, added))


def _marking(context: Context, candidate: Candidate, decorator: str) -> tuple[Edit, ...] | None:
    """The edits that put a decorator on a function, in place of its marker."""
    document, node = candidate.document, candidate.node
    if not candidate.marked or context.body.marker == "make-fx":
        edit = before(document, node, [f"@{decorator}"]) if not node.decorator_list else None
        return (edit,) if edit is not None else None
    marker = document.at(context.body.marked_at, ast.expr)
    if marker is not None and marker in node.decorator_list:
        return (replaced(document, marker, decorator),) if len(node.decorator_list) == 1 else None
    where = context.documents.document(context.body.marked_at.path)
    call = where.at(context.body.marked_at, ast.Call) if where is not None else None
    if where is None or call is None or len(call.args) + len(call.keywords) != 1 or node.decorator_list:
        return None
    target = (*call.args, *(keyword.value for keyword in call.keywords))[0]
    edit = before(document, node, [f"@{decorator}"])
    if edit is None or not isinstance(target, (ast.Name, ast.Attribute)) or last_name(target) != node.name:
        return None
    statement = where.parent(call)
    alone = isinstance(statement, ast.Assign) and where.parent(statement) is where.tree
    if alone and isinstance(statement, ast.Assign) and [last_name(one) for one in statement.targets] == [node.name]:
        return None  # the name of the function itself
    return (replaced(where, call, where.text(target)), edit)


def _is_dropped(context: Context, candidate: Candidate) -> bool:
    """Whether a call does not use the result: the compiler removes it, and the function's effect with it."""
    for site in context.body.sites if candidate.marked else ():
        document = context.documents.document(site.span.path)
        call = document.at(site.span, ast.Call) if document is not None else None
        if document is None or call is None or isinstance(document.parent(call), ast.Expr):
            return True
    return False


# -- what it does -----------------------------------------------------------------------------------------------------


def _changed(candidate: Candidate) -> frozenset[str]:
    """The tensor arguments that a function changes, or may change by their address."""
    seen = (one.effect.place for one in candidate.body.observed(Event.INPUT_WRITE))
    changed = {place.name for place in seen if place.root is Root.ARGUMENT}
    for event in (Event.NATIVE, Event.POINTER):
        for one in candidate.body.observed(event):
            if one.effect.place.root is Root.ARGUMENT and not _is_inert(candidate.document, one.effect.span, event):
                changed.add(one.effect.place.name)
    return frozenset(changed) & _tensors(candidate)


def _is_inert(document: Document, span: Span, event: Event) -> bool:
    """Whether an address is only compared or computed with, or a native function is one that changes nothing."""
    node = document.at(span, ast.expr)
    if node is None:
        return False
    if event is Event.NATIVE:
        return isinstance(node, ast.Call) and dotted(document, node.func).startswith("numpy.") and not node.keywords
    around = document.parent(node)
    while isinstance(around, (ast.BinOp, ast.UnaryOp)):
        around = document.parent(around)
    return isinstance(around, (ast.Compare, ast.BoolOp, ast.If, ast.IfExp, ast.Assert))


def _returns_tuple_of_one(node: ast.FunctionDef) -> bool:
    """Whether a result is `(tensor,)`, which AOTAutograd of torch 2.13 refuses of operators that change arguments."""
    return any(isinstance(value, ast.Tuple) and len(value.elts) == 1 for value in returns_of(node))


def _returns_argument(candidate: Candidate) -> bool:
    """Whether a result may be an argument or a view of one, which operators must not return."""
    for value in candidate.body.returned.alternatives():
        held = list(value.heap.items.values()) if value.kind in _CONTAINERS and value.heap is not None else [value]
        for one in (inner for each in held for inner in each.alternatives()):
            if one.place.root is Root.ARGUMENT and one.kind in (*TENSORS, Kind.UNKNOWN):
                return True
    return False


# -- annotations ------------------------------------------------------------------------------------------------------


def _tensors(candidate: Candidate) -> frozenset[str]:
    """The parameters that are tensors: as they are passed, or as the function uses them."""
    known = {name for name, value in candidate.body.arguments.items() if value.kind in TENSORS}
    used = (one.effect.place for one in candidate.body.observed(Event.POINTER, Event.NATIVE, Event.INPUT_WRITE))
    used_so = {place.name for place in used if place.root is Root.ARGUMENT and not place.path}
    return frozenset(known | used_so | tensors_in(candidate.calls))


def _numbers(context: Context, candidate: Candidate) -> dict[str, str]:
    """The types of the parameters that are numbers and not annotated."""
    arguments = candidate.node.args
    defaults = default_nodes(arguments)
    ordered = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    names = [one.arg for one in ordered if one.annotation is None and one.arg not in _tensors(candidate)]
    types = {name: _type_of(context, candidate, name, defaults.get(name)) for name in names}
    return {name: text for name, text in types.items() if text is not None}


def _annotations(context: Context, candidate: Candidate, fake: Fake) -> tuple[Edit, ...] | None:
    """The annotations that an operator needs, where they are missing; None where one cannot be given."""
    document, node = candidate.document, candidate.node
    arguments = node.args
    defaults = default_nodes(arguments)
    ordered = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    edits: list[Edit] = []
    for one in ordered:
        if one.annotation is not None:
            if not _is_type(document, one.annotation):
                return None
            continue
        text = _type_of(context, candidate, one.arg, defaults.get(one.arg))
        if text is None:
            return None
        edits.append(_annotated(document, one, text, defaults.get(one.arg)))
    if node.returns is not None:
        return _importing(document, edits) if _is_result(document, node.returns) else None
    result = _result_type(candidate, fake)
    if result is None:
        return None
    edits.append(inserted(document, parameters_of(document, node).closing + 1, f" -> {result}"))
    return _importing(document, edits)


def _importing(document: Document, annotations: list[Edit]) -> tuple[Edit, ...]:
    """Annotations, and the import of `Tensor` if one of them needs it."""
    tensor = spelled(document, "torch.Tensor")
    return (*annotations, *(tensor.edits if any(tensor.text in one.text for one in annotations) else ()))


def _annotated(document: Document, parameter: ast.arg, text: str, default: ast.expr | None) -> Edit:
    end = document.bounds(parameter)[1]
    if default is None:
        return inserted(document, end, f": {text}")
    return Edit(document.range(end, document.bounds(default)[0]), f": {text} = ")


def _type_of(context: Context, candidate: Candidate, name: str, default: ast.expr | None) -> str | None:
    """The annotation of a parameter: what its callers pass, or what its default is."""
    if name in _tensors(candidate):
        optional = isinstance(default, ast.Constant) and default.value is None
        tensor = spelled(candidate.document, "torch.Tensor").text
        return f"{tensor} | None" if optional else None if default is not None else tensor
    constants = [default.value] if isinstance(default, ast.Constant) else []
    given = [site.arguments.get(name) for site in context.body.sites] if candidate.marked else []
    known = [value for value in given if value is not None] or [candidate.body.arguments.get(name, UNKNOWN)]
    alternatives = (one for value in known for one in value.alternatives())
    constants += [one.const if one.kind in (Kind.NUMBER, Kind.BOOL, Kind.STRING) else None for one in alternatives]
    types = {type(constant) for constant in constants}
    if types == {int, float}:
        return "float"
    if len(types) == 1 and types <= _OF_NUMBERS:
        return next(iter(types)).__name__
    optional = isinstance(default, ast.Constant) and default.value is None
    return types_in(candidate.calls).get(name) if types <= _UNKNOWN and not optional else None


def _is_type(document: Document, node: ast.expr) -> bool:
    """Whether an operator may have a parameter with an annotation."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return _is_type(document, tree_of(node.value, "eval").body) if node.value.isidentifier() else False
    if isinstance(node, (ast.Name, ast.Attribute)):
        return getattr(node, "id", "") in _BUILTIN or dotted(document, node) in _TYPES
    if isinstance(node, ast.Subscript):
        generic = getattr(node.value, "id", "") == "list" or dotted(document, node.value) in _GENERIC
        return generic and _is_type(document, node.slice)
    if isinstance(node, ast.BinOp) and isinstance(node.right, ast.Constant):
        return node.right.value is None and _is_type(document, node.left)
    return False


def _is_result(document: Document, node: ast.expr) -> bool:
    if isinstance(node, ast.Constant) and node.value is None:
        return True
    if isinstance(node, ast.Subscript) and getattr(node.value, "id", last_name(node.value)) in ("tuple", "Tuple"):
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return bool(parts) and all(dotted(document, part) == "torch.Tensor" for part in parts)
    if isinstance(node, ast.Subscript):
        return last_name(node.value) in ("list", "List") and dotted(document, node.slice) == "torch.Tensor"
    return dotted(document, node) == "torch.Tensor"


def _result_type(candidate: Candidate, fake: Fake) -> str | None:
    tensor = spelled(candidate.document, "torch.Tensor").text
    returned = returns_of(candidate.node)
    if fake.tensors == 0:
        return "None"
    if any(value is None for value in returned):
        return None
    if fake.tensors > 0:
        lists = fake.result.startswith("[")
        return f"list[{tensor}]" if lists else f"tuple[{', '.join([tensor] * fake.tensors)}]"
    known = fake.complete or all(one.kind in TENSORS for one in candidate.body.returned.alternatives())
    return tensor if known or candidate.marked else None


# -- leaf functions ---------------------------------------------------------------------------------------------------


def leaf_as_custom_op(context: Context) -> Iterator[Fix]:
    """Make a custom operator of a leaf function that has a fake: every backend of every torch compiles it."""
    operator = context.body.applied.operator
    candidate = next((one for one in _candidates(context) if one.marked), None)
    marker = candidate.document.at(context.finding.span, ast.expr) if candidate is not None else None
    if operator is None or candidate is None or marker is None or not operator.fakes:
        return
    document, node = candidate.document, candidate.node
    fake = _fake(context, candidate)
    annotations = _annotations(context, candidate, fake)
    changed = _changed(candidate) | {name for name in operator.mutates or () if name in _tensors(candidate)}
    if annotations is None or node.decorator_list != [marker] or _returns_argument(candidate):
        return
    if changes_gradients(context.documents.uses, document, candidate.body, mutates=bool(changed)):
        return
    lost = not changed and (fake.tensors == 0 or _is_dropped(context, candidate))
    if lost or (changed and _returns_tuple_of_one(node)):
        return
    spelling = spelled(document, "torch.library.custom_op")
    names = ", ".join(f'"{name}"' for name in sorted(changed))
    declared = f"({names},)" if len(changed) == 1 else f"({names})"
    text = f'{spelling.text}("{operator_name(document, node.name)}", mutates_args={declared})'
    unused = unused_after(document, marker.func if isinstance(marker, ast.Call) else marker)
    edits = (replaced(document, marker, text), *spelling.edits, *annotations, *((unused,) if unused else ()))
    yield Fix(f"Turn `{node.name}` into a custom operator", Applicability.UNSAFE, edits)
