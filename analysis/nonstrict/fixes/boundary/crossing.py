"""What crosses the boundary of a marked function and need not: a `None` that is passed, a result that is missing."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.walk import own_scope
from nonstrict.findings import Applicability, Edit, Fix
from nonstrict.fixes.code.edits import after, inserted, replaced
from nonstrict.fixes.code.lists import arguments_of, without_element
from nonstrict.knowledge.operators import tensor_method
from nonstrict.program.contracts.boundary.pytree_support import Crossing
from nonstrict.program.discovery.callers import parameter_names
from nonstrict.program.domain.values import TENSORS, Kind
from nonstrict.program.objects.parameters import default_nodes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.context import Context


def leave_out(context: Context) -> Iterator[Fix]:
    """Leave out an argument that is None: the default of its parameter, or one that can be.

    What is passed behind it by position is passed by name.
    """
    document = context.document
    node = document.at(context.finding.span, ast.Constant) if document is not None else None
    call = document.parent(node) if document is not None and node is not None else None
    given: ast.expr | ast.keyword | None = node
    if isinstance(call, ast.keyword) and document is not None:
        given, call = call, document.parent(call)
    function = context.body.mark.function
    if document is None or node is None or node.value is not None or not isinstance(call, ast.Call) or given is None:
        return
    name = next((one.name for one in context.body.boundary_arguments if one.span == context.finding.span), "")
    if function is None or not name:
        return
    edits = _left_out(context, document, call, given)
    default = default_nodes(function.node.args).get(name)
    if default is None:
        edits += [_with_default(context, name)]
    elif not _is_none(default):
        return
    known = [edit for edit in edits if edit is not None]
    if len(known) == len(edits):
        yield Fix(f"Leave out `{name}`", Applicability.SAFE, tuple(known))


def _left_out(context: Context, document: Document, call: ast.Call, given: ast.expr | ast.keyword) -> list[Edit | None]:
    """The edits of a call without one of its arguments."""
    if given not in call.args or given is call.args[-1]:
        return [without_argument(document, call, given)]
    function = context.body.mark.function
    names = parameter_names(context.body.mark)
    behind = call.args[call.args.index(given) + 1 :]  # type: ignore[arg-type]
    plain = context.body.mark.target.kind in (Kind.FUNCTION, Kind.BOUND)
    starred = any(isinstance(one, ast.Starred) for one in call.args)
    if function is None or not plain or starred or len(call.args) > len(names):
        return [None]
    positional = {one.arg for one in function.node.args.posonlyargs}
    named = names[len(call.args) - len(behind) : len(call.args)]
    edits: list[Edit | None] = [without_element(document, arguments_of(document, call), document.bounds(given)[0])]
    for one, name in zip(behind, named, strict=True):
        edits.append(inserted(document, _start(document, one), f"{name}=") if name not in positional else None)
    return edits


def _start(document: Document, node: ast.expr) -> int:
    """Where an argument begins, with the parentheses around it."""
    call = document.parent(node)
    start = document.bounds(node)[0]
    elements = arguments_of(document, call).elements if isinstance(call, ast.Call) else ()
    return next((one.start for one in elements if one.start <= start < one.end), start)


def _with_default(context: Context, name: str) -> Edit | None:
    """None as the default of a parameter that has none, where all behind it have one."""
    function = context.body.mark.function
    plain = context.body.mark.target.kind in (Kind.FUNCTION, Kind.BOUND)
    found = context.definition(function) if function is not None and plain else None
    if found is None or not isinstance(found[1], ast.FunctionDef):
        return None
    document, node = found
    arguments = node.args
    ordered = [*arguments.posonlyargs, *arguments.args]
    required = ordered[: len(ordered) - len(arguments.defaults)]
    bare = [one for one in arguments.kwonlyargs if one.arg == name]
    parameter = bare[0] if bare else required[-1] if required and required[-1].arg == name else None
    if parameter is None:
        return None
    if parameter.annotation is not None and "None" not in (text := document.text(parameter.annotation)):
        return None if "Optional" not in text else _defaulted(document, parameter)
    return _defaulted(document, parameter)


def _defaulted(document: Document, parameter: ast.arg) -> Edit:
    end = document.bounds(parameter)[1]
    return inserted(document, end, "=None" if parameter.annotation is None else " = None")


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def without_argument(document: Document, call: ast.Call, given: ast.expr | ast.keyword) -> Edit | None:
    """A call without one of its arguments; None where another one would take its place."""
    if given in call.args and (given is not call.args[-1] or any(isinstance(one, ast.Starred) for one in call.args)):
        return None
    return without_element(document, arguments_of(document, call), document.bounds(given)[0])


def return_the_tensor(context: Context) -> Iterator[Fix]:
    """Return the tensor that a function changes and returns nothing of."""
    result = next((one for one in context.body.boundary_results if one.span == context.finding.span), None)
    function = context.body.mark.function
    found = context.definition(function) if function is not None else None
    if result is None or not result.implicit or result.maybe or found is None:
        return
    document, node = found
    if not isinstance(node, ast.FunctionDef) or any(isinstance(one, ast.Return) for one in own_scope(node)):
        return
    if node.returns is not None:
        return
    changed = _changed(context, node)
    last = node.body[-1]
    if isinstance(last, ast.Expr) and _changes(last.value) in changed:
        edit: Edit | None = inserted(document, document.bounds(last)[0], "return ")
        name = _changes(last.value)
    else:
        name = next(iter(changed), "")
        edit = after(document, last, [f"return {name}"]) if name else None
    if edit is not None:
        yield Fix(f"Return `{name}`", Applicability.UNSAFE, (edit,))


def drop_none(context: Context) -> Iterator[Fix]:
    """Drop a `None` of a returned tuple, where every call takes the tuple apart and uses no such part."""
    found = _with_calls(context)
    returned = found[0].at(context.finding.span, ast.Tuple) if found is not None else None
    if found is None or returned is None or found[1].returns is not None:
        return
    document, node, calls = found
    returns = [one for one in own_scope(node) if isinstance(one, ast.Return)]
    empty = [index for index, one in enumerate(returned.elts) if isinstance(one, ast.Constant) and one.value is None]
    if len(returns) != 1 or len(empty) != 1 or len(returned.elts) < 2:
        return
    edits: list[Edit | None] = [_without_part(document, returned, empty[0])]
    edits += [_taken_apart(document, call, empty[0], len(returned.elts)) for call in calls]
    if None not in edits:
        known = tuple(edit for edit in edits if edit is not None)
        yield Fix("Drop the `None`", Applicability.UNSAFE, known)


def name_outside(context: Context) -> Iterator[Fix]:
    """Return a plain tuple where a named one is refused, and name its parts where the function is called."""
    found = _with_calls(context)
    if found is None:
        return
    document, node, calls = found
    returned = [one.value for one in own_scope(node) if isinstance(one, ast.Return)]
    made = [one for one in returned if isinstance(one, ast.Call) and one.args and not one.keywords]
    names = {_loaded(one.func) for one in made}
    name = next(iter(names), "")
    starred = any(isinstance(part, ast.Starred) for one in made for part in one.args)
    refused = next((one.refused for one in context.body.boundary_results if one.span == context.finding.span), None)
    if not name or len(names) != 1 or len(made) != len(returned) or starred:
        return
    if refused is None or refused.crossing is not Crossing.NAMED_TUPLE or refused.inside:
        return
    if node.returns is not None and _loaded(node.returns) != name:
        return
    edits = [replaced(document, one, _plain(document, one)) for one in made]
    edits += [replaced(document, node.returns, "tuple")] if node.returns is not None else []
    for call in calls:
        start, end = document.bounds(call)
        edits += [inserted(document, start, f"{name}(*"), inserted(document, end, ")")]
    yield Fix(f"Return a plain tuple, and make `{name}` of it outside", Applicability.UNSAFE, tuple(edits))


def _plain(document: Document, made: ast.Call) -> str:
    """The parts of a named tuple as a plain one."""
    parts = [document.text(part) for part in made.args]
    text = f"{parts[0]}," if len(parts) == 1 else ", ".join(parts)
    return f"({text})" if len(parts) == 1 or "\n" in text else text


def _with_calls(context: Context) -> tuple[Document, ast.FunctionDef, list[ast.Call]] | None:
    """The marked function, and its calls if all of them, and no other uses, are known and in the same file."""
    function = context.body.mark.function
    found = context.definition(function) if function is not None else None
    node = found[1] if found is not None else None
    if found is None or not isinstance(node, ast.FunctionDef) or not isinstance(found[0].parent(node), ast.Module):
        return None
    document = found[0]
    calls = [document.at(site.span, ast.Call) for site in context.body.sites]
    known = [call for call in calls if call is not None]
    uses = sum(_loaded(one) == node.name for one in document.of(ast.Name))
    return (document, node, known) if known and len(known) == len(calls) == uses else None


def _loaded(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) else ""


def _taken_apart(document: Document, call: ast.Call, index: int, count: int) -> Edit | None:
    """`a, _ = f(x)` without the name of a part that nothing reads."""
    statement = document.parent(call)
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    if not isinstance(target, ast.Tuple) or len(target.elts) != count:
        return None
    name = target.elts[index]
    around = document.function(call)
    if not isinstance(name, ast.Name) or around is None:
        return None
    return None if any(_loaded(one) == name.id for one in ast.walk(around)) else _without_part(document, target, index)


def _without_part(document: Document, node: ast.Tuple, index: int) -> Edit:
    """A tuple without one of its parts; the one that is left of two stands for itself."""
    kept = [one for number, one in enumerate(node.elts) if number != index]
    start, end = document.bounds(node)
    if len(kept) == 1:
        return Edit(document.range(start, end), document.text(kept[0]))
    if index:
        return Edit(document.range(document.bounds(node.elts[index - 1])[1], document.bounds(node.elts[index])[1]), "")
    return Edit(document.range(document.bounds(node.elts[0])[0], document.bounds(node.elts[1])[0]), "")


def _changed(context: Context, node: ast.FunctionDef) -> dict[str, None]:
    """The parameters, all of them tensors, that the statements of a function change in place, in their order."""
    tensors = {name for name, value in context.body.arguments.items() if value.kind in TENSORS}
    stored = {one.id for one in own_scope(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    calls = (one for one in ast.walk(node) if isinstance(one, ast.Call))
    return {name: None for one in calls if (name := _changes(one)) in tensors - stored}


def _changes(node: ast.expr) -> str:
    """The name whose tensor a method changes and returns: `x` of `x.mul_(2)`."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return ""
    method = tensor_method(node.func.attr)
    in_place = method is not None and method.mutates == (0,) and method.returns == "tensor"
    return getattr(node.func.value, "id", "") if in_place and node.func.attr.endswith("_") else ""
