"""Where the text of a program applies `torch.compile`, and why it is not known what is compiled there.

The interpreter tells of the places that it came to (`compilations.py`); the text tells of all of them.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.memo import remembered
from nonstrict.facts.scopes import receiver_of
from nonstrict.facts.targets import choices, held_as, last_name
from nonstrict.facts.walk import walk
from nonstrict.knowledge.markers import MARKERS
from nonstrict.knowledge.operators import BASE_MODULES
from nonstrict.program.contracts.marks import compiling
from nonstrict.program.discovery import roots
from nonstrict.program.domain.access_paths import Root
from nonstrict.program.domain.values import Kind
from nonstrict.program.externals.held_modules import may_call_others
from nonstrict.program.objects.naming import names_below

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

    from nonstrict.facts.library_calls import Names
    from nonstrict.program.domain.definitions import CompileSite, Function
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.domain.values import Value
    from nonstrict.program.state.machine import Machine

#: The keyword by which `torch.compile` is given what it compiles.
_MODEL = MARKERS["torch.compile"].argument
_DEFINITION = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Written(NamedTuple):
    """An application in the text: a call and the expression that it is given, or a decorator."""

    node: ast.expr
    given: ast.expr | None


def written(root: ast.AST, names: Names, words: AbstractSet[str]) -> Iterator[Written]:
    """The applications in a part of a module: `torch.compile(m)`, `torch.compile(...)(m)`, `@torch.compile`.

    `words` are those by which the module names a compiler: what any other name stands for is not asked.
    """
    calls, decorated, imported = remembered(root, "_nonstrict_applications", _parts)
    renamed = {alias for name, alias in imported if name in words} | held_as(root, words)
    known = words | renamed
    names = _asked_of(names, known)
    for name, call in calls:
        given = _given(call, names) if name in known else None
        if given is not None:
            yield Written(call, given)
    for definition in decorated:
        for decorator in definition.decorator_list:
            made_by = (one.func if isinstance(one, ast.Call) else one for one in choices(decorator))
            if any(_is_compiler(names(one)) for one in made_by):
                yield Written(decorator, None)


class _Parts(NamedTuple):
    """What of a tree may apply a compiler: calls by the last name, decorated definitions, imports under another name.

    What a call makes is called by the name of that call: `torch.compile(...)(m)`.
    """

    calls: tuple[tuple[str, ast.Call], ...]
    decorated: tuple[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, ...]
    renamed: tuple[tuple[str, str], ...]


def _parts(root: ast.AST) -> _Parts:
    nodes = list(walk(root))
    imports = (node for node in nodes if isinstance(node, ast.ImportFrom))
    return _Parts(
        tuple((last_name(node.func), node) for node in nodes if isinstance(node, ast.Call)),
        tuple(node for node in nodes if isinstance(node, _DEFINITION) and node.decorator_list),
        tuple((one.name, one.asname) for node in imports for one in node.names if one.asname),
    )


def _asked_of(names: Names, words: AbstractSet[str]) -> Names:
    return lambda node: names(node) if last_name(node) in words else ""


def _given(call: ast.Call, names: Names) -> ast.expr | None:
    """What a call compiles; None if it compiles nothing."""
    if isinstance(call.func, ast.Call):
        makes = _is_compiler(names(call.func.func)) and _model(call.func, names) is None
        return call.args[0] if makes and len(call.args) == 1 else None
    return _model(call, names)


def _model(call: ast.Call, names: Names) -> ast.expr | None:
    """The argument of a compiler that is to be compiled; None if there is none, as it makes a decorator."""
    name = names(call.func)
    if not _is_compiler(name) or compiling.makes_decorator(name):
        return None
    return next((one.value for one in call.keywords if one.arg == _MODEL), next(iter(call.args), None))


def _is_compiler(name: str) -> bool:
    return name in MARKERS and MARKERS[name].kind == "compiled"


def in_module(machine: Machine, module: Module) -> Iterator[tuple[int, Written]]:
    """The applications in the text of a module, each with the offset of its part."""
    words = roots.compilers(machine, module)
    outside, chunks = roots.compiling(module, words)
    if outside:
        shell = module.outline.shell
        yield from ((0, one) for one in written(shell, names_below(machine, module, shell), words))
    for chunk in chunks:
        node = module.outline.node(chunk)
        if node is not None:
            yield from ((chunk.offset, one) for one in written(node, names_below(machine, module, node), words))


def unknown(site: CompileSite | None, node: ast.AST) -> str:
    """Why it is not known what is compiled at a place; "" where nothing of the program is, or nothing at all."""
    given = site.given if site is not None else None
    if site is None or given is None:
        return f"it is not known what `{_target(node)}` is"
    if given.kind is Kind.NONE:
        return ""
    is_any = given.kind is Kind.UNKNOWN or given.dotted in BASE_MODULES
    if given.dotted and not is_any:
        package = given.dotted.partition(".")[0]
        if package != "torch":
            return f"`{_target(node)}` is of `{package}`, which is not analyzed"
        return f"what `{_target(node)}` calls is not analyzed" if may_call_others(given) else ""
    if is_any and given.place.root is Root.ARGUMENT and site.within is not None and not _is_own(site.within, given):
        name = given.place.name + "".join(given.place.path)
        return f"`{name}` is what callers of `{site.within.qualname}` give it, and no call that tells was found"
    return f"it is not known what `{_target(node)}` is"


def _is_own(method: Function, given: Value) -> bool:
    """Whether something is of the object that a method is called on."""
    return method.owner is not None and given.place.name == receiver_of(method.node)


def _target(node: ast.AST) -> str:
    """The expression for what is compiled: the first argument, else what a method is called on."""
    if not isinstance(node, ast.Call):
        return ast.unparse(node)
    plain = (one for one in node.args if not isinstance(one, ast.Starred))
    given = [*plain, *(keyword.value for keyword in node.keywords if keyword.arg == _MODEL)]
    if given:
        return ast.unparse(given[0])
    return ast.unparse(node.func.value if isinstance(node.func, ast.Attribute) else node)
