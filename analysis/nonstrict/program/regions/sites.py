"""Where a program applies `torch.compile`, and what of that is known: no region may be left out in silence.

The interpreter tells of the places that it came to (`applied`, `open_to`); the text tells of all of them (`named_in`).
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.discarded import is_statement
from nonstrict.facts.walk import walk
from nonstrict.knowledge.markers import MARKERS
from nonstrict.program.definitions import Compiled, CompileSite
from nonstrict.program.naming import names_below
from nonstrict.program.places import Origin
from nonstrict.program.values import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nonstrict.facts.outline import Chunk
    from nonstrict.program.definitions import Function
    from nonstrict.program.frames import Frame
    from nonstrict.program.machine import Machine
    from nonstrict.program.modules import Module
    from nonstrict.program.values import Value

#: What `Module.compile` takes. Source: `torch/nn/modules/module.py` and the signature of `torch.compile` of torch 2.13.
_OPTIONS = frozenset({"fullgraph", "dynamic", "backend", "mode", "options", "disable"})
#: The keyword by which `torch.compile` is given what it compiles.
_MODEL = MARKERS["torch.compile"].argument
_DEFINITION = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def applied(frame: Frame, node: ast.AST, function: Function) -> None:
    """A compiler was given a function."""
    path, offset, at = frame.application or (frame.module.path, frame.offset, node)
    site = _site(frame, node)
    if not any(one.function.node is function.node and one.node is at for one in site.compiled):
        site.compiled.append(Compiled(path, offset, at, function))


def open_to(frame: Frame, node: ast.AST, given: Value) -> None:
    """A compiler was given something of which no function is known."""
    if isinstance(node, ast.Call) and node.func in frame.machine.compile_sites:
        return  # what the compiler returned is called
    _site(frame, node).given = given


def method(frame: Frame, node: ast.AST, receiver: Value, name: str) -> None:
    """A method is called on an object that may be anything: that of a module, if it is called `compile`."""
    if name == "compile" and frame.static and receiver.kind is Kind.UNKNOWN and _may_be_of_module(frame, node):
        _site(frame, node).given = receiver


def _site(frame: Frame, node: ast.AST) -> CompileSite:
    sites = frame.machine.compile_sites
    if node not in sites:
        sites[node] = CompileSite(frame.module.path, frame.offset, node, within=frame.function)
    return sites[node]


def _may_be_of_module(frame: Frame, node: ast.AST) -> bool:
    """Whether a call gives what `Module.compile` takes, or takes nothing of it: that returns None."""
    if not isinstance(node, ast.Call) or node.args:
        return False
    around = frame.function.node if frame.function is not None else frame.module.outline.shell
    return all(keyword.arg in _OPTIONS for keyword in node.keywords) and is_statement(around, node)


def named_in(machine: Machine, module: Module, chunks: Iterable[Chunk], *, outside: bool) -> Iterator[CompileSite]:
    """The places where some definitions of a module, and what is outside of them, call a compiler by its name."""
    if outside:
        yield from _named(machine, module, module.outline.shell, 0)
    for chunk in chunks:
        node = module.outline.node(chunk)
        if node is not None:
            yield from _named(machine, module, node, chunk.offset)


def _named(machine: Machine, module: Module, root: ast.AST, offset: int) -> Iterator[CompileSite]:
    names = names_below(machine, module, root)
    for inner in walk(root):
        if isinstance(inner, ast.Call) and _is_compiler(names(inner.func)):
            if inner.args or any(keyword.arg == _MODEL for keyword in inner.keywords):
                yield CompileSite(module.path, offset, inner)
        elif isinstance(inner, _DEFINITION):
            for decorator in inner.decorator_list:
                if _is_compiler(names(decorator.func if isinstance(decorator, ast.Call) else decorator)):
                    yield CompileSite(module.path, offset, decorator)


def _is_compiler(name: str) -> bool:
    return name in MARKERS and MARKERS[name].kind == "compiled"


def unknown(site: CompileSite) -> str:
    """Why it is not known what is compiled at a place; "" where nothing of the program is, or nothing at all."""
    given = site.given
    if given is None:
        return f"it is not known what `{_target(site.node)}` is"
    if given.kind is Kind.NONE:
        return ""
    if isinstance(given.ref, str) and given.kind is not Kind.UNKNOWN:
        package = given.ref.partition(".")[0]
        return "" if package == "torch" else f"`{_target(site.node)}` is of `{package}`, which is not looked into"
    if given.kind is Kind.UNKNOWN and given.place.origin is Origin.ARGUMENT and site.within is not None:
        name = given.place.name + "".join(given.place.path)
        return f"`{name}` is what callers of `{site.within.qualname}` give it, and no call that tells was found"
    return f"it is not known what `{_target(site.node)}` is"


def _target(node: ast.AST) -> str:
    """The expression for what is compiled: the first argument, else what a method is called on."""
    if not isinstance(node, ast.Call):
        return ast.unparse(node)
    given = [*node.args, *(keyword.value for keyword in node.keywords if keyword.arg == _MODEL)]
    if given:
        return ast.unparse(given[0])
    return ast.unparse(node.func.value if isinstance(node.func, ast.Attribute) else node)
