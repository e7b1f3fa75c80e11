"""Generated fakes: functions that tell the compiler what an operator returns.

It is told by the text of the operator, else by its annotations, else by recorded calls.
"""

from __future__ import annotations

import ast
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.walk import own_scope
from nonstrict.fixes.code.names import bound
from nonstrict.fixes.code.shapes import Shapes
from nonstrict.fixes.operators.observed import Call, observed, shown
from nonstrict.fixes.operators.promised import is_several, promised
from nonstrict.program.objects.parameters import default_nodes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from nonstrict.fixes.code.documents import Document

#: What is left to do for whoever takes over a fake that is not complete.
TO_DO = "TODO: the shape and dtype of the result"


class Fake(NamedTuple):
    """The result that a fake returns.

    `complete` says that nothing is left to fill in, `exact` that it holds for every dtype. `tensors` is how many
    there are, -1 for one that is not in a tuple or list, 0 for None. `recorded` says that recorded calls told it,
    `notes` are comments on it.
    """

    result: str
    complete: bool
    tensors: int = -1
    exact: bool = True
    recorded: bool = False
    notes: tuple[str, ...] = ()


def fake_of(
    document: Document,
    function: ast.FunctionDef,
    tensors: AbstractSet[str],
    numbers: Mapping[str, str] = MappingProxyType({}),
    calls: Sequence[Call] = (),
) -> Fake:
    """What a fake of a function returns.

    `tensors` are the parameters that surely are tensors, `numbers` the types of those that are numbers, where no
    annotation says so; `calls` are what was recorded of it.
    """
    shapes = Shapes(document, function, tensors, numbers)
    returned = returns_of(function)
    if not any(returned):
        return Fake("None", complete=True, tensors=0)
    found = {_structure(shapes, value) if value is not None else None for value in returned}
    single = next(iter(found)) if len(found) == 1 else None
    if single is not None:
        return single._replace(exact=not shapes.assumed)
    if not all(returned):
        return _skeleton(shapes.torch, function, tensors, returned)
    told = _promised(document, function, shapes.torch) or _recorded(function, shapes.torch, calls)
    if told is not None and told.complete:
        return told
    skeleton = told or _skeleton(shapes.torch, function, tensors, returned)
    return skeleton._replace(notes=tuple(shown(_parameters(function), calls)))


def _promised(document: Document, function: ast.FunctionDef, torch: str) -> Fake | None:
    """What annotations of shapes tell; nobody has to have checked them."""
    results = promised(document, function, torch)
    if results is None:
        return None
    structure = "tuple" if is_several(document, function) else "tensor"
    return _assembled(results, structure)._replace(exact=False)


def _recorded(function: ast.FunctionDef, torch: str, calls: Sequence[Call]) -> Fake | None:
    found = observed(torch, _parameters(function), calls)
    if found is None:
        return None
    fake = _assembled(found.results, found.structure)
    return fake._replace(complete=found.certain, exact=False, recorded=True)


def _assembled(results: Sequence[str], structure: str) -> Fake:
    """A tensor, or a tuple or list of them."""
    inner = ", ".join(results)
    if structure == "tensor":
        return Fake(inner, complete=True)
    if structure == "list":
        return Fake(f"[{inner}]", complete=True, tensors=len(results))
    return Fake(f"({inner},)" if len(results) == 1 else inner, complete=True, tensors=len(results))


def _parameters(function: ast.FunctionDef) -> list[str]:
    arguments = function.args
    return [one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]


def told_by(fake: Fake) -> str:
    """What the title of a fix says of its fake."""
    if not fake.complete:
        return " to fill in"
    return ", as recorded calls tell" if fake.recorded else ""


def returns_of(function: ast.FunctionDef) -> list[ast.expr | None]:
    """What a function returns, `return` by `return`; nothing for a function that has none."""
    found = [node.value for node in own_scope(function) if isinstance(node, ast.Return)]
    return [None if isinstance(value, ast.Constant) and value.value is None else value for value in found]


def _structure(shapes: Shapes, value: ast.expr) -> Fake | None:
    if isinstance(value, (ast.Tuple, ast.List)):
        parts = [shapes.result(one) for one in value.elts]
        known = [part for part in parts if part]
        structure = "list" if isinstance(value, ast.List) else "tuple"
        return _assembled(known, structure) if len(known) == len(parts) else None
    result = shapes.result(value)
    return Fake(result, complete=True) if result is not None else None


def _skeleton(
    torch: str, function: ast.FunctionDef, tensors: AbstractSet[str], returned: Sequence[ast.expr | None]
) -> Fake:
    """A fake that a person has to complete: results like the first tensor."""
    first = next((name for name in _parameters(function) if name in tensors), None)
    like = f"{torch}.empty_like({first})" if first is not None else f"{torch}.empty(0)"
    counts = {len(value.elts) if isinstance(value, ast.Tuple) else -1 for value in returned}
    count = next(iter(counts)) if len(counts) == 1 else -1
    if count <= 0:
        return Fake(like, complete=False)
    return Fake(f"({like},)" if count == 1 else ", ".join([like] * count), complete=False, tensors=count)


def fake_lines(document: Document, function: ast.FunctionDef, fake: Fake, operator: str = "") -> list[str]:
    """The lines that register a fake for the operator that a name stands for: that of the function by default."""
    note = "" if fake.complete else f"  # {TO_DO}"
    name = "_" if "_" not in bound(document) or _fakes_are_underscores(document) else f"_{function.name}_fake"
    return [
        f"@{operator or function.name}.register_fake",
        f"def {name}({parameters_of(document, function)}):",
        *(f"{document.step}{line}" for line in fake.notes),
        f"{document.step}return {fake.result}{note}",
    ]


def _fakes_are_underscores(document: Document) -> bool:
    """Whether `_` is nothing but what functions are called that nobody calls."""
    nodes = [node for node in document.of(ast.Name) if node.id == "_"]
    imports = document.of(ast.Import, ast.ImportFrom)
    imported = any((alias.asname or alias.name) == "_" for node in imports for alias in node.names)
    return not imported and not any(isinstance(node.ctx, ast.Load) for node in nodes)


def parameters_of(
    document: Document, function: ast.FunctionDef, annotated: Mapping[str, str] = MappingProxyType({})
) -> str:
    """The parameters of a function with their defaults, and with no annotations but those of `annotated`."""
    arguments = function.args
    defaults = default_nodes(arguments)

    def written(one: ast.arg) -> str:
        annotation = annotated.get(one.arg)
        name, equals = (one.arg, "=") if annotation is None else (f"{one.arg}: {annotation}", " = ")
        return f"{name}{equals}{document.text(defaults[one.arg])}" if one.arg in defaults else name

    parts = [written(one) for one in arguments.posonlyargs]
    parts += ["/"] if parts else []
    parts += [written(one) for one in arguments.args]
    parts += ["*"] if arguments.kwonlyargs else []
    parts += [written(one) for one in arguments.kwonlyargs]
    return ", ".join(parts)
