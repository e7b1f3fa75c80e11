"""One marker for another: by the name that the torch at hand has, with the imports that it takes."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.findings import Applicability, Edit, Fix
from nonstrict.fixes.code.edits import inserted, replaced
from nonstrict.fixes.code.imports import without_import
from nonstrict.fixes.code.names import bound, dotted, imported, spelled
from nonstrict.knowledge.markers import MARKERS, spellings
from nonstrict.program.contracts.marked_body import MarkedBody
from nonstrict.program.domain.definitions import Mark
from nonstrict.program.domain.values import NESTED_CONTAINERS, Kind
from nonstrict.program.objects import classes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.context import Context
    from nonstrict.program.domain.values import Value

_PLAIN_TYPES = frozenset({"", "torch.Tensor", *(f"builtins.{name}" for name in ("int", "float", "bool", "str"))})
_PLAIN_KINDS = frozenset({Kind.TENSOR, Kind.NUMBER, Kind.BOOL})
_HOLDERS = frozenset({Kind.TUPLE, Kind.LIST, Kind.DICT})
_PUBLIC = "torch.compiler.nonstrict_trace"


def replace_missing(context: Context) -> Iterator[Fix]:
    """Use the marker by a name that the torch at hand has."""
    marker = MARKERS.get(context.body.applied.spelling)
    others = spellings(marker.kind, context.body.torch) if marker is not None else []
    document, node = _marker(context)
    if not others or context.body.applied.spelling in others or document is None or node is None:
        return
    edits = renamed(document, node, others[0])
    if edits:
        yield Fix(f"Use `{others[0]}`", Applicability.SAFE, edits)


def replace_refusing(context: Context) -> Iterator[Fix]:
    """`nonstrict_trace` for `allow_in_graph`, where that refuses what the other one takes."""
    if context.body.marker == "in-graph":
        yield from replace_deprecated(context)


def replace_deprecated(context: Context) -> Iterator[Fix]:
    """`nonstrict_trace` for `allow_in_graph`, bound to the name of the function where that was called for effect."""
    document, node = _marker(context)
    if document is None or node is None or not _is_replaceable(context):
        return
    names = spellings("nonstrict", context.body.torch)
    known = [name for name in names if name in imported(document).values()]
    edits = renamed(document, node, known[0] if known else _PUBLIC if _PUBLIC in names else names[0])
    call = document.parent(node)
    if edits is None:
        return
    if isinstance(call, ast.Call) and node is call.func and isinstance(document.parent(call), ast.Expr):
        target = (*call.args, *(keyword.value for keyword in call.keywords))[0]
        if not _is_own_function(document, call, target):
            return
        edits = (*edits, inserted(document, document.bounds(call)[0], f"{document.text(target)} = "))
        edits = (*edits, *_renamed_keywords(document, call))
    elif isinstance(call, ast.Call) and node is call.func:
        edits = (*edits, *_renamed_keywords(document, call))
    sure = Applicability.SAFE if _is_plain(context) else Applicability.UNSAFE
    yield Fix("Use `nonstrict_trace`", sure, _merged(document, edits))


def _merged(document: Document, edits: tuple[Edit, ...]) -> tuple[Edit, ...]:
    """Edits of which an insertion at the start of a replaced range is made part of the replacement."""
    starts = {edit.span[1:3]: edit for edit in edits if edit.span[1:3] != edit.span[3:]}
    merged: list[Edit] = []
    for edit in edits:
        if edit.span[1:3] == edit.span[3:] and edit.span[1:3] in starts:
            wider = starts[edit.span[1:3]]
            merged.remove(wider)
            merged.append(Edit(wider.span, edit.text + wider.text))
        else:
            merged.append(edit)
    return tuple(merged)


def _renamed_keywords(document: Document, call: ast.Call) -> Iterator[Edit]:
    for keyword in call.keywords:
        start = document.bounds(keyword)[0]
        if keyword.arg == "fn":
            yield Edit(document.range(start, start + len("fn")), "traceable_fn")


def _marker(context: Context) -> tuple[Document | None, ast.expr | None]:
    """The name of the marker as it is applied."""
    span = context.body.marked_at
    document = context.documents.document(span.path)
    node = document.at(span, ast.expr) if document is not None else None
    if isinstance(node, ast.Call):
        node = node.func
    direct = document is not None and node is not None and dotted(document, node) in MARKERS
    return document, node if direct else None


def _is_own_function(document: Document, call: ast.Call, target: ast.expr) -> bool:
    """Whether a name is that of a function defined in the same block of the file."""
    statement = document.statement(call)
    if not isinstance(target, ast.Name) or statement is None:
        return False
    block = document.block(statement)
    return any(isinstance(one, ast.FunctionDef) and one.name == target.id for one in block)


def _is_replaceable(context: Context) -> bool:
    """Whether `nonstrict_trace` takes the function, and what it is given and returns."""
    body, function = context.body, context.body.mark.function
    if function is None or body.mark.target.kind is not Kind.FUNCTION or body.mark.disabled:
        return False
    if function.binding in ("class", "property") or body.applied.yields:
        return False
    if function.owner is not None and not function.binding and not classes.is_module(function.owner):
        return False
    old = body.mark
    mark = Mark("nonstrict", "nonstrict_trace", old.target, old.path, old.offset, old.node, function)
    mark.calls, mark.within = old.calls, old.within
    other = MarkedBody(context.machine, mark, body.torch)
    if other.applied.is_called_by_module:
        return False
    above = {applied.name.rpartition(".")[2] for applied in body.applied.stack.above}
    refused = any(one.refused for one in other.boundary_arguments) or any(one.refused for one in other.boundary_results)
    return not refused and not above & {"classmethod", "disable", "leaf_function", "property", "cached_property"}


def _is_plain(context: Context) -> bool:
    """Whether a function surely takes and returns tensors and numbers: no method, whose body Dynamo traced before."""
    body, function = context.body, context.body.mark.function
    known = all(one.annotation in _PLAIN_TYPES for one in body.parameters)
    given = all(_is_known(one.value) for one in body.boundary_results)
    return known and given and function is not None and function.owner is None


def _is_known(value: Value, depth: int = 0) -> bool:
    for one in value.alternatives():
        held = list(one.heap.items.values()) if one.kind in _HOLDERS and one.heap is not None else []
        inner = bool(held) and depth < NESTED_CONTAINERS and all(_is_known(item, depth + 1) for item in held)
        if one.kind not in _PLAIN_KINDS and not inner:
            return False
    return True


# -- names and imports ------------------------------------------------------------------------------------------------


def renamed(document: Document, node: ast.expr, name: str) -> tuple[Edit, ...] | None:
    """The edits that write another dotted name in place of one; an import that nothing else uses goes with it."""
    new = spelled(document, name)
    if not isinstance(node, ast.Name):
        return (replaced(document, node, new.text), *new.edits)
    statement, alias = _import_of(document, node.id)
    last = name.rpartition(".")[2]
    if statement is None or alias is None:
        return (replaced(document, node, new.text), *new.edits)
    if _uses(document, node.id) > 1:
        return (replaced(document, node, new.text), *new.edits)
    module = name.rpartition(".")[0]
    behind = f" as {alias.asname}" if alias.asname else ""
    local = alias.asname or last
    free = name not in imported(document).values() and (local == node.id or last not in bound(document))
    used = () if local == node.id else (replaced(document, node, local),)
    if free and len(statement.names) == 1:
        return (replaced(document, statement, f"from {module} import {last}{behind}"), *used)
    if free and statement.module == module:
        return (replaced(document, alias, f"{last}{behind}"), *used)
    dropped = without_import(document, statement, alias)
    return (replaced(document, node, new.text), *new.edits, *((dropped,) if dropped is not None else ()))


def unused_after(document: Document, node: ast.expr) -> Edit | None:
    """The edit that drops the import of a name that is used in one place only, which goes."""
    if not isinstance(node, ast.Name) or _uses(document, node.id) != 1:
        return None
    statement, alias = _import_of(document, node.id)
    return without_import(document, statement, alias) if statement is not None and alias is not None else None


def _import_of(document: Document, name: str) -> tuple[ast.ImportFrom | None, ast.alias | None]:
    for statement in document.tree.body:
        for alias in statement.names if isinstance(statement, ast.ImportFrom) else ():
            if (alias.asname or alias.name) == name and isinstance(statement, ast.ImportFrom):
                return statement, alias
    return None, None


def _uses(document: Document, name: str) -> int:
    """How often a name stands in a file, in `__all__` too."""
    read = sum(node.id == name for node in document.of(ast.Name))
    return read + sum(node.value == name for node in document.of(ast.Constant))
