"""Arguments that torch refuses and that a tuple says as well: sets, ranges and iterators that are only gone through.

A slice crosses as its numbers, and is made of them again in the function.
"""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.targets import last_name
from nonstrict.findings import Applicability, Edit, Fix
from nonstrict.fixes.code.edits import at_top_of_body, replaced
from nonstrict.fixes.code.lists import arguments_of
from nonstrict.fixes.code.names import bound
from nonstrict.fixes.code.pure import is_pure
from nonstrict.fixes.uses.calls import argument
from nonstrict.program.domain.values import TENSORS, Kind
from nonstrict.program.objects.parameters import default_nodes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.context import Context
    from nonstrict.program.domain.values import Value

#: Builtins that go through what they get once, and keep nothing of it.
_CONSUMERS = frozenset(
    {"all", "any", "dict", "enumerate", "frozenset", "list", "max", "min", "set", "sorted", "sum", "tuple", "zip"}
)
#: Those whose result does not depend on the order.
_UNORDERED = frozenset({"all", "any", "frozenset", "len", "max", "min", "set", "sorted"})
_MAKES_ITERATOR = frozenset({"enumerate", "filter", "iter", "map", "reversed", "zip"})
_CROSSING = frozenset({*TENSORS, Kind.NUMBER, Kind.BOOL, Kind.STRING})
#: Annotations that a tuple does not meet.
_NAMED_SO = frozenset({"set", "frozenset", "range", "Set", "FrozenSet", "AbstractSet", "Iterator"})
_LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.comprehension, ast.Lambda, ast.FunctionDef)


class _Given(NamedTuple):
    """An argument, and the parameter that it is for in the marked function."""

    document: Document
    node: ast.expr
    name: str
    value: Value
    where: Document
    function: FunctionNode


def pass_tuple(context: Context) -> Iterator[Fix]:
    """`f(x, range(3))` becomes `f(x, tuple(range(3)))`, where the function only goes through it."""
    given = _given(context)
    if given is None or "tuple" in bound(given.document):
        return
    once = _is_iterator(given)
    if not once and not _is_collection(given):
        return
    reads = _reads(given)
    if once and (len(reads) != 1 or _is_repeated(given, reads[0]) or not is_pure(given.document, given.node)):
        return
    if not reads or not all(_is_gone_through(given, read, once=once) for read in reads):
        return
    text = given.document.text(given.node)
    written = f"tuple({text})"
    if isinstance(given.node, ast.Set) and _is_distinct(given.node) and all(_is_unordered(given, one) for one in reads):
        written = f"({text[1:-1]},)" if len(given.node.elts) == 1 and "," not in text else f"({text[1:-1]})"
    elif isinstance(given.node, ast.GeneratorExp):
        written = f"(tuple{text})" if _is_alone(given) else f"tuple{text}"
    sure = Applicability.UNSAFE if once or any(_is_compared(given, read) for read in reads) else Applicability.SAFE
    edits = (replaced(given.document, given.node, written), *_of_elements(given))
    yield Fix(f"Pass `{given.name}` as a tuple", sure, edits)


def pass_slice(context: Context) -> Iterator[Fix]:
    """`f(x, slice(0, 2))` becomes `f(x, (0, 2))`, of which the function makes the slice."""
    given = _given(context)
    if given is None or not isinstance(given.function, ast.FunctionDef) or "slice" in bound(given.where):
        return
    arguments = given.function.args
    if given.name not in {one.arg for one in (*arguments.posonlyargs, *arguments.args)} or arguments.defaults:
        return
    uses = context.documents.uses.of(given.where, given.function)
    if uses.obstacles or not uses.calls:
        return
    edits: list[Edit | None] = [_rebuilt(given)]
    for call in uses.calls:
        passed = argument(given.function, call, given.name)
        edits.append(_numbers(call.document, passed) if passed is not None else None)
    edits += _annotated(given)
    known = [edit for edit in edits if edit is not None]
    if len(known) == len(edits):
        yield Fix(f"Pass the numbers of the slice `{given.name}`", Applicability.UNSAFE, tuple(known))


def _given(context: Context) -> _Given | None:
    document, function = context.document, context.body.mark.function
    node = document.at(context.finding.span, ast.expr) if document is not None else None
    found = context.definition(function) if function is not None else None
    taken = next((one for one in context.body.boundary_arguments if one.span == context.finding.span), None)
    if document is None or node is None or found is None or taken is None or not taken.name or taken.site is None:
        return None
    return _Given(document, node, taken.name, taken.value, *found)


# -- what is passed ---------------------------------------------------------------------------------------------------


def _is_collection(given: _Given) -> bool:
    """Whether an argument surely is a set or a range, of what torch takes."""
    if _called(given) == "range":
        return True
    heap = given.value.heap
    if given.value.kind is not Kind.SET or heap is None or heap.open or heap.element is None:
        return False
    return all(one.kind in _CROSSING for one in heap.element.alternatives())


def _is_distinct(node: ast.Set) -> bool:
    """Whether the elements of a set are written out, and no two of them are equal."""
    values = [one.value for one in node.elts if isinstance(one, ast.Constant)]
    return len(values) == len(node.elts) == len(set(values))


def _is_iterator(given: _Given) -> bool:
    return isinstance(given.node, ast.GeneratorExp) or _called(given) in _MAKES_ITERATOR


def _called(given: _Given) -> str:
    """The builtin whose call an argument is."""
    name = given.node.func.id if isinstance(given.node, ast.Call) and isinstance(given.node.func, ast.Name) else ""
    return name if hasattr(builtins, name) and name not in bound(given.document) else ""


def _is_alone(given: _Given) -> bool:
    """Whether the parentheses of a generator are those of the call."""
    call = given.document.parent(given.node)
    start = given.document.bounds(given.node)[0]
    return isinstance(call, ast.Call) and arguments_of(given.document, call).opening > start


def _of_elements(given: _Given) -> Iterator[Edit]:
    """The annotation `set[int]` or `range` as that of a tuple."""
    node = next((one.annotation for one in _parameters(given) if one.arg == given.name), None)
    default = default_nodes(given.function.args).get(given.name)
    if default is not None and not isinstance(default, ast.Tuple):
        return  # it is what the annotation says
    element = node.slice if isinstance(node, ast.Subscript) else None
    name = last_name(node.value if isinstance(node, ast.Subscript) else node) if node is not None else ""
    if node is None or name not in _NAMED_SO or isinstance(element, ast.Tuple):
        return
    of = given.where.text(element) if element is not None else "int" if name == "range" else ""
    yield replaced(given.where, node, f"tuple[{of}, ...]" if of else "tuple")


def _parameters(given: _Given) -> list[ast.arg]:
    arguments = given.function.args
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]


# -- what the function does with it -----------------------------------------------------------------------------------


def _reads(given: _Given) -> list[ast.Name]:
    """The uses of the parameter; none where it is given another value."""
    names = [one for one in ast.walk(given.function) if isinstance(one, ast.Name) and one.id == given.name]
    return names if all(isinstance(one.ctx, ast.Load) for one in names) else []


def _is_gone_through(given: _Given, read: ast.Name, *, once: bool) -> bool:
    """Whether a use of the parameter asks for its elements, which a tuple has in the same order."""
    outer = given.where.parent(read)
    if isinstance(outer, (ast.For, ast.comprehension)):
        return outer.iter is read
    if isinstance(outer, ast.Compare):
        return outer.comparators == [read] and isinstance(outer.ops[0], (ast.In, ast.NotIn))
    if not isinstance(outer, ast.Call) or not isinstance(outer.func, ast.Name) or read not in outer.args:
        return False
    name = outer.func.id
    return name not in bound(given.where) and (name in _CONSUMERS or (name == "len" and not once))


def _is_unordered(given: _Given, read: ast.Name) -> bool:
    """Whether a use of the parameter, which is gone through, gives the same in whatever order the elements come."""
    outer = given.where.parent(read)
    return isinstance(outer, ast.Compare) or (isinstance(outer, ast.Call) and last_name(outer.func) in _UNORDERED)


def _is_compared(given: _Given, read: ast.Name) -> bool:
    """Whether a tuple would compare what is looked for, of which a set asks the hash first: it may be a tensor."""
    outer = given.where.parent(read)
    return isinstance(outer, ast.Compare) and not isinstance(outer.left, ast.Constant)


def _is_repeated(given: _Given, read: ast.Name) -> bool:
    """Whether a use of the parameter may happen more than once, or never begin."""
    inner: ast.AST = read
    for outer in given.where.around(read):
        if outer is given.function:
            return False
        first = isinstance(outer, (ast.For, ast.comprehension)) and outer.iter is inner
        if isinstance(outer, _LOOPS) and not first:
            return True
        inner = outer
    return False


# -- slices -----------------------------------------------------------------------------------------------------------


def _rebuilt(given: _Given) -> Edit | None:
    if not isinstance(given.function, ast.FunctionDef):
        return None
    return at_top_of_body(given.where, given.function, [f"{given.name} = slice(*{given.name})"])


def _numbers(document: Document, node: ast.expr) -> Edit | None:
    """`slice(a, b)` as `(a, b)`."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id != "slice":
        return None
    empty = any(isinstance(one, ast.Constant) and one.value is None for one in node.args)
    starred = any(isinstance(one, ast.Starred) for one in node.args)
    if node.keywords or empty or starred or not node.args or "slice" in bound(document):
        return None
    parts = [document.text(one) for one in node.args]
    return replaced(document, node, f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})")


def _annotated(given: _Given) -> Iterator[Edit | None]:
    """The annotation of what is passed now."""
    for one in _parameters(given):
        if one.arg == given.name and one.annotation is not None:
            plain = isinstance(one.annotation, ast.Name) and one.annotation.id == "slice"
            yield replaced(given.where, one.annotation, "tuple[int, ...]") if plain else None
