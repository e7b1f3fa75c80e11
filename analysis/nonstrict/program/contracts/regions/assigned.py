"""What the text of a program sets under a name: attributes of a module of settings, entries of the environment."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.walk import walk
from nonstrict.program.discovery.together import may_run_with
from nonstrict.program.domain.values import NO_CONSTANT
from nonstrict.program.objects.naming import is_chain, names_below

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nonstrict.facts.library_calls import Names
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.state.machine import Machine

#: The options of Dynamo, and the environment: dotted names of what holds settings.
CONFIG, ENVIRONMENT = "torch._dynamo.config", "os.environ"
_CHANGES = frozenset({"add", "update", "append", "extend"})
#: What patches options, beside the method of their module.
_PATCHES = frozenset({"torch._dynamo.patch_dynamo_config", "torch._dynamo.decorators.patch_dynamo_config"})


class Assigned(NamedTuple):
    """Something is set under `name`: an attribute or entry of what `holder` gives; no value where one is added.

    `node` is what sets it, in `part` of the file at `path`, whose lines begin after `offset`. A value that is set
    `for_now` is taken back, or not taken if there is one already.
    """

    name: str
    holder: str
    value: ast.expr | None
    node: ast.AST
    path: str
    part: ast.AST
    offset: int
    for_now: bool = False


class Setting(NamedTuple):
    """A file sets an option to a value, `NO_CONSTANT` where that is not known; `for_now` as of what is assigned."""

    path: str
    value: object
    for_now: bool


class Settings:
    """What was found out: by option of torch where it is set, and what switches torch off or on."""

    def __init__(self) -> None:
        #: the modules whose code names something, by its name
        self.named: dict[str, tuple[Module, ...]] = {}
        self.options: dict[str, tuple[Setting, ...]] = {}
        self.switches: tuple[Assigned, ...] | None = None


def assigned(machine: Machine, module: Module, names: Iterable[str]) -> Iterator[Assigned]:
    """What a module sets under one of some names."""
    names = [name for name in names if name]
    for part, offset in parts(module, names):
        known = names_below(machine, module, part)
        for name in names:
            for one in _set_in(part, known, name):
                yield Assigned(name, one.holder, one.value, one.node, module.path, part, offset, one.for_now)


def is_named(machine: Machine, name: str, path: str) -> bool:
    """Whether code of a program that runs a file names something: a function, a method, what is imported."""
    return any(True for _ in modules_naming(machine, name, path))


def modules_naming(machine: Machine, name: str, path: str) -> Iterator[Module]:
    """The modules that may run together with a file and whose code names something; comments do not count."""
    known = machine.part(Settings).named
    if name not in known:
        known[name] = tuple(_naming(machine, name))
    return (module for module in known[name] if may_run_with(machine, path, module.path))


def _naming(machine: Machine, name: str) -> Iterator[Module]:
    for path in machine.elsewhere.files_with(name.encode()):
        module = machine.project.module(path)
        texts = (part for part, _ in parts(module, (name,))) if module is not None else ()
        if module is not None and any(_names(node, name) for text in texts for node in walk(text)):
            yield module


def _names(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.alias):
        return node.name == name
    return getattr(node, "attr", getattr(node, "id", None)) == name


def parts(module: Module, words: Sequence[str]) -> Iterator[tuple[ast.AST, int]]:
    """The definitions of a module, and what stands outside of them, that hold one of some words, with their offsets."""
    if any(True for _ in module.outside(words)):
        yield module.outline.shell, 0
    for chunk in module.chunks_with(words):
        node = module.outline.node(chunk)
        if node is not None:
            yield node, chunk.offset


class _Set(NamedTuple):
    holder: str
    value: ast.expr | None
    node: ast.AST
    for_now: bool = False


def _set_in(part: ast.AST, names: Names, name: str) -> Iterator[_Set]:
    for node in walk(part):
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                yield from (_Set(names(holder), node.value, node) for holder in _holders(target, name))
        elif isinstance(node, ast.AugAssign):
            yield from (_Set(names(holder), None, node) for holder in _holders(node.target, name))
        elif isinstance(node, ast.Call):
            yield from _by_call(node, names, name)


def _holders(target: ast.expr, name: str) -> Iterator[ast.expr]:
    """Of what a target of an assignment is the attribute or entry of a name."""
    is_entry = isinstance(target, ast.Subscript) and _says(target.slice, name)
    if isinstance(target, (ast.Attribute, ast.Subscript)) and (is_entry or getattr(target, "attr", "") == name):
        yield target.value


def _by_call(node: ast.Call, names: Names, name: str) -> Iterator[_Set]:
    function = node.func
    if len(node.args) == 3 and _says(node.args[1], name) and names(function) == "builtins.setattr":
        yield _Set(names(node.args[0]), node.args[2], node)
    patched = [*_patched(node, name)]
    if patched and names(function) in _PATCHES:
        yield from (_Set(CONFIG, value, node, for_now=True) for value in patched)
    if not isinstance(function, ast.Attribute):
        return
    if function.attr in _CHANGES and isinstance(function.value, ast.Attribute) and function.value.attr == name:
        yield _Set(names(function.value.value), None, node)
    if function.attr in ("patch", "update", "setdefault"):
        for value in patched:
            yield _Set(names(function.value), value, node, for_now=function.attr != "update")


def _patched(node: ast.Call, name: str) -> Iterator[ast.expr]:
    """What a call sets under a name: by keyword, by a literal dict, or by its name and the value."""
    yield from (keyword.value for keyword in node.keywords if keyword.arg == name)
    first = node.args[0] if node.args else None
    spread = [keyword.value for keyword in node.keywords if keyword.arg is None]
    for given in (first, *spread):
        if isinstance(given, ast.Dict):
            pairs = zip(given.keys, given.values, strict=True)
            yield from (value for key, value in pairs if key is not None and _says(key, name))
    if first is not None and len(node.args) == 2 and _says(first, name):
        yield node.args[1]


def _says(node: ast.expr, text: str) -> bool:
    return isinstance(node, ast.Constant) and node.value == text


def constant_of(machine: Machine, module: Module, value: ast.expr | None) -> object:
    """The constant that an expression is, or that a name at the top level of its module holds."""
    if isinstance(value, ast.Constant):
        return value.value
    held = machine.evaluate(machine.module_frame(module), value) if is_chain(value) else None
    return held.const if held is not None and not held.place.path else NO_CONSTANT
