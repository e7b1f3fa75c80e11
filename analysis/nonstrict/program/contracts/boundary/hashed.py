"""Uses of a symbolic integer that need its hash, and of an enumeration member that need its class."""

from __future__ import annotations

import ast
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.scopes import scope_of
from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import walk
from nonstrict.models.members import LOOKING_UP
from nonstrict.program.contracts.boundary.derived_sizes import derived_sizes
from nonstrict.program.contracts.boundary.dynamic_sizes import size_of
from nonstrict.program.domain.effects import span_of
from nonstrict.program.domain.values import Kind
from nonstrict.program.objects.naming import names_in
from nonstrict.program.state.frames import closure_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from nonstrict.findings import Span
    from nonstrict.program.contracts.boundary.sizes import Sizes
    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.domain.definitions import Function

#: Through how many helpers a number is followed, at most.
_HOPS = 3
_HASHED = frozenset({Kind.DICT, Kind.SET})
_CHANGES = frozenset({"add", "discard", "remove"})
_BUILT = (ast.Dict, ast.DictComp, ast.Set, ast.SetComp)
#: What makes a dict or set; of what is given first, the elements are hashed by those that hold nothing else.
_MAKERS = frozenset({"builtins.dict", "collections.defaultdict", "collections.OrderedDict"})
_HOLDERS = frozenset({"builtins.set", "builtins.frozenset", "collections.Counter"})


def hashed(body: Interpreted, name: str) -> list[Span]:
    """Where the marked function and its helpers use a parameter as the key of a dict, or of a cached function."""
    function = body.mark.function
    return [] if function is None else _uses(body, function, Symbolic(frozenset({name})), _HOPS)


def hashed_sizes(body: Interpreted, name: str, sizes: Sizes) -> list[Span]:
    """Where they use a size of a tensor that varies in the same way."""
    function = body.mark.function
    if function is None or not (sizes.dimensions or sizes.everything):
        return []
    return _uses(body, function, Symbolic(frozenset(), _tensors(body, function, name, sizes)), _HOPS)


def _tensors(body: Interpreted, function: Function, name: str, sizes: Sizes) -> dict[str, Sizes]:
    """The tensors of a function whose sizes vary: a parameter, and what is made of it."""
    return {**derived_sizes(function, names_in(body.machine, function), name, sizes), name: sizes}


def _uses(body: Interpreted, function: Function, given: Symbolic, hops: int) -> list[Span]:
    """Where a function hashes symbolic integers, by itself or in a function of the program that it hands them to."""
    kept = frozenset(name for name in given.names if not _is_fixed(function, name, given))
    symbolic = _symbolic_names(function, given._replace(names=kept))
    found: list[Span] = []
    for node in walk(function.node):
        if isinstance(node, ast.expr) and any(_is_symbolic(key, symbolic) for key in _keys(body, function, node)):
            found.append(span_of(function.module.path, function.offset, node))
        elif isinstance(node, ast.Call) and hops and (helper := _helper(body, function, node.func)) is not None:
            handed = _handed(body, helper, node, symbolic)
            found += _uses(body, helper, handed, hops - 1) if handed.names or handed.tensors else []
    return list(dict.fromkeys(found))


def _is_fixed(function: Function, name: str, symbolic: Symbolic) -> bool:
    """Whether a variable is bound to something that is not symbolic any more, as by `n = int(n)`."""
    bound = (node for node in walk(function.node) if isinstance(node, ast.Assign))
    return any(
        getattr(target, "id", "") == name and not _is_symbolic(node.value, symbolic)
        for node in bound
        for target in node.targets
    )


def _helper(body: Interpreted, function: Function, callee: ast.expr) -> Function | None:
    """The function of the program that is called by a name from around the function; None for anything else."""
    root = callee
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name) or root.id in scope_of(function.node).local:
        return None
    frame = closure_of(function) or body.machine.module_frame(function.module)
    found = body.machine.evaluate(frame, callee)
    return found.function if found.function is not None and not found.function.binding else None


def _handed(body: Interpreted, helper: Function, call: ast.Call, symbolic: Symbolic) -> Symbolic:
    """What of that which a call hands to a helper is symbolic there, or a tensor whose sizes vary."""
    arguments = helper.node.args
    names = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
    unpacks = any(isinstance(one, ast.Starred) for one in call.args)
    given = {} if unpacks else dict(zip(names, call.args, strict=False))
    given |= {one.arg: one.value for one in call.keywords if one.arg is not None}
    numbers = frozenset(name for name, value in given.items() if _is_symbolic(value, symbolic))
    tensors: dict[str, Sizes] = {}
    for name, value in given.items():
        sizes = symbolic.tensors.get(value.id) if isinstance(value, ast.Name) else None
        if sizes is not None:
            tensors |= _tensors(body, helper, name, sizes)
    return Symbolic(numbers, tensors)


def _keys(body: Interpreted, function: Function, node: ast.expr) -> Iterator[ast.expr]:
    """The expressions that a node hashes."""
    if isinstance(node, ast.Subscript) and _hashes(body, function, node.value):
        yield node.slice
    elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
        if _hashes(body, function, node.comparators[0]):
            yield node.left
    elif isinstance(node, ast.Dict):
        yield from (key for key in node.keys if key is not None)
    elif isinstance(node, ast.Set):
        yield from node.elts
    elif isinstance(node, (ast.DictComp, ast.SetComp)):
        yield from _of_comprehension(node)
    elif isinstance(node, ast.Call):
        yield from _given(body, function, node)


def _given(body: Interpreted, function: Function, node: ast.Call) -> Iterator[ast.expr]:
    """What a call hashes of its arguments."""
    first = next(iter(node.args), None)
    if isinstance(node.func, ast.Attribute) and node.func.attr in LOOKING_UP | _CHANGES and first is not None:
        if _hashes(body, function, node.func.value):
            yield first
    elif last_name(node) == "hash" or _is_cached(body, function, node.func):
        yield from node.args
    elif isinstance(first, (ast.List, ast.Tuple)):
        of_keys = isinstance(node.func, ast.Attribute) and node.func.attr == "fromkeys"
        made = node.func.value if isinstance(node.func, ast.Attribute) and of_keys else node.func
        if names_in(body.machine, function)(made) in (_MAKERS if of_keys else _HOLDERS):
            yield from first.elts


def _of_comprehension(node: ast.DictComp | ast.SetComp) -> Iterator[ast.expr]:
    """The keys that a comprehension makes: also the elements that are its keys one by one."""
    key = node.key if isinstance(node, ast.DictComp) else node.elt
    yield key
    for generator in node.generators:
        one_by_one = isinstance(generator.target, ast.Name) and generator.target.id == getattr(key, "id", "")
        if one_by_one and isinstance(generator.iter, (ast.List, ast.Tuple)):
            yield from generator.iter.elts


def _hashes(body: Interpreted, function: Function, container: ast.expr) -> bool:
    """Whether an expression is a dict or set, as far as is known."""
    if isinstance(container, _BUILT):
        return True
    root = container
    while isinstance(root, (ast.Attribute, ast.Subscript)):
        root = root.value
    if not isinstance(root, ast.Name):
        return False
    if isinstance(container, ast.Name) and container.id in scope_of(function.node).local:
        return any(_makes_hashed(body, function, node, container.id) for node in walk(function.node))
    if root.id in scope_of(function.node).local:
        return False
    frame = closure_of(function) or body.machine.module_frame(function.module)
    return body.machine.evaluate(frame, container).kind in _HASHED


def _makes_hashed(body: Interpreted, function: Function, node: ast.AST, name: str) -> bool:
    """Whether a node binds a name to a new dict or set."""
    if not isinstance(node, (ast.Assign, ast.AnnAssign)):
        return False
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    value = node.value
    made = isinstance(value, ast.Call) and names_in(body.machine, function)(value.func) in _MAKERS | _HOLDERS
    return (made or isinstance(value, _BUILT)) and any(getattr(target, "id", "") == name for target in targets)


def _is_cached(body: Interpreted, function: Function, callee: ast.expr) -> bool:
    if not isinstance(callee, ast.Name) or callee.id in scope_of(function.node).local:
        return False
    frame = closure_of(function) or body.machine.module_frame(function.module)
    found = body.machine.evaluate(frame, callee)
    return found.function is not None and found.function.cached_at is not None


class Symbolic(NamedTuple):
    """What is a symbolic integer in a function: variables, and sizes of tensors."""

    names: frozenset[str]
    tensors: Mapping[str, Sizes] = MappingProxyType({})


def _symbolic_names(function: Function, symbolic: Symbolic) -> Symbolic:
    """The same with the variables that are computed from it."""
    for _ in range(3):
        for node in walk(function.node):
            if isinstance(node, (ast.Assign, ast.NamedExpr)):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                found = {name for target in targets for name in _bound_symbols(target, node.value, symbolic)}
                symbolic = symbolic._replace(names=symbolic.names | found)
    return symbolic


def _bound_symbols(target: ast.expr, value: ast.expr, symbolic: Symbolic) -> Iterator[str]:
    """The variables that an assignment makes symbolic; of `rows, columns = x.shape` those of varying dimensions."""
    if isinstance(target, ast.Name):
        if _is_symbolic(value, symbolic):
            yield target.id
    elif isinstance(target, (ast.Tuple, ast.List)):
        whole = size_of(value)
        for index, part in enumerate(target.elts):
            known = whole is not None and whole[1] is None and _varies(symbolic, whole[0], index)
            if isinstance(part, ast.Name) and known:
                yield part.id


def _varies(symbolic: Symbolic, tensor: str, dimension: int | None) -> bool:
    sizes = symbolic.tensors.get(tensor)
    if sizes is None:
        return False
    return sizes.everything or (bool(sizes.dimensions) if dimension is None else dimension in sizes.dimensions)


def _is_symbolic(node: ast.AST, symbolic: Symbolic) -> bool:
    """Whether an expression stays symbolic: arithmetic and text do, `int(n)` does not."""
    if isinstance(node, ast.Name):
        return node.id in symbolic.names
    if isinstance(node, ast.NamedExpr):
        return _is_symbolic(node.value, symbolic)
    if isinstance(node, ast.BinOp):
        return _is_symbolic(node.left, symbolic) or _is_symbolic(node.right, symbolic)
    if isinstance(node, ast.JoinedStr):
        parts = (part.value for part in node.values if isinstance(part, ast.FormattedValue))
        return any(_is_symbolic(part, symbolic) for part in parts)
    if isinstance(node, ast.Tuple):
        return any(_is_symbolic(part, symbolic) for part in node.elts)
    named = getattr(node.func, "id", "") if isinstance(node, ast.Call) else ""
    if isinstance(node, ast.Call) and named in ("str", "abs", "max", "min", "tuple"):
        return any(_is_symbolic(part, symbolic) for part in node.args)
    fixed = named in ("int", "len")
    size = size_of(node) if symbolic.tensors and isinstance(node, ast.expr) and not fixed else None
    return size is not None and _varies(symbolic, size[0], size[1])


def needs_class(body: Interpreted, name: str) -> list[Span]:
    """Where the marked function asks a parameter for more than its number: `is`, `isinstance`, `.name`, `.value`."""
    function = body.mark.function
    found: list[Span] = []
    for node in walk(function.node) if function is not None else ():
        asked: list[ast.AST] = []
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            asked = [node.left, *node.comparators]
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            asked = [node.comparators[0]]
        elif isinstance(node, ast.Call) and last_name(node) in ("isinstance", "type", "repr", "str"):
            asked = [*node.args]
        elif isinstance(node, (ast.Attribute, ast.FormattedValue)):
            asked = [node.value]
        if function is not None and any(isinstance(one, ast.Name) and one.id == name for one in asked):
            found.append(span_of(function.module.path, function.offset, node))
    return found
