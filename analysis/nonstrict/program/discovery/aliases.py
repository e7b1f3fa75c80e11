"""The names by which a module applies a marker beside the marker's own: imports, assignments, wrappers."""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.strings import is_code
from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import walk
from nonstrict.knowledge.markers import MARKERS, WRAPPABLE, compiles, traces_exports
from nonstrict.models.members import PUTTING
from nonstrict.program.discovery import wrappers
from nonstrict.program.domain.marker_words import COMMON_WORDS
from nonstrict.program.domain.values import Kind
from nonstrict.program.externals.bound_callables import holds_marker, is_marker

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from nonstrict.facts.outline import Chunk
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.domain.values import Value
    from nonstrict.program.state.machine import Machine

#: Where nodes hold a name, or a string that may be one.
NAMING: dict[type[ast.AST], str] = {ast.Name: "id", ast.Attribute: "attr", ast.Constant: "value"}
#: Words of markers that are no business of what stores or returns a function: they trace or compile it.
_AT_ONCE = frozenset(name.rpartition(".")[2] for name in MARKERS) - WRAPPABLE
#: Words that mark what they are given, and make no decorators.
_ITSELF = frozenset(name.rpartition(".")[2] for name in MARKERS)
#: What a class may compile that it is given.
_COMPILING = frozenset(name.rpartition(".")[2] for name, marker in MARKERS.items() if marker.kind == "compiled")
_KEPT = re.compile(r"^[ \t]+\w+\.\w+\s*=\s*(?:\w+\.)*\w+\(\s*(?:\w+\.)?\w+\s*,", re.MULTILINE)
#: Longer classes do more than keep what they compile.
_CLASS_LENGTH = 10_000
#: What helpers apply to a function that they are given.
_HANDED = frozenset(name.rpartition(".")[2] for name, one in MARKERS.items() if one.kind != "disable") - {"define"}
#: Helpers that call helpers are followed so far.
_LAYERS = 4
#: Longer functions do more than hand a function to a marker.
_WRAPPER_LENGTH = 2_500
#: The start of a function behind its decorators, to its name.
_HEADER = re.compile(r"^(?:async[ \t]+)?def[ \t]+\w+", re.MULTILINE)
#: What stands before a name that a line imports.
_IMPORT = re.compile(r"[ \t]*from[ \t]+[\w.]+[ \t]+import\b[^;\"']*")
_RENAMED = re.compile(r"[\s\\]+as\b")
#: What stands before a name that a class attribute is set to: `trace = torch.compiler.`, `trace = staticmethod(`.
_SET_TO = re.compile(r"=[\s\\]*\(?\s*(?:[\w.]*staticmethod\(\s*)?[\w.]*$")
_LONGEST_SET_TO = 200
_CALLED = re.compile(r"[ \t]*\(")
_APPLIED = re.compile(r"[ \t]*[(,)]")
#: What a function does with what it made: without any of these it is no wrapper.
_KEEPS = re.compile(rf"\breturn\b|\]\s*=|\.\w+\s*=(?!=)|\bsetattr\(|\.(?:{'|'.join(sorted(PUTTING))})\(")
#: An attribute that is looked up by a string: `getattr(namespace, "nonstrict_trace", None)`.
LOOKED_UP = re.compile(r"\bgetattr\(\s*[\w.]+,\s*[\"'](\w+)[\"']")
#: What stands behind a name that is neither applied nor handed on: an attribute of it is read, or it is a parameter.
_OTHERWISE = re.compile(r"\s*(?:\.|:|=(?!=))")


def aliases(machine: Machine, module: Module, words: AbstractSet[str]) -> set[str]:
    """Top-level names that a marker word was used to bind: imports under another name, assignments, wrappers."""
    found = renamed(machine, module, words)
    found |= _wrapping(module, words | found)
    return found | made_by(machine, module, found | (words - _ITSELF))


def renamed(machine: Machine, module: Module, words: AbstractSet[str]) -> set[str]:
    """The top-level names that imports under another name and assignments bind to what a word means."""
    found: set[str] = set()
    for name, bindings in module.bindings.items() if words and _may_rename(module, words) else ():
        for binding in bindings:
            if binding.kind == "import" and binding.attribute in words and name != binding.attribute:
                found.add(name)
            elif binding.kind == "assign" and binding.node is not None and _may_alias(binding.node, words | found):
                value = machine.global_value(module, name)
                found |= {name} if _gives_marker(value, words | found) else set[str]()
    return found


def _wrapping(module: Module, wanted: AbstractSet[str]) -> set[str]:
    """The functions and classes of a module that mark what they are given, or give a marker."""
    found: set[str] = set()
    for chunk in module.chunks_with(wanted):
        names = wanted | found
        if chunk.is_class:
            found |= _of_class(module, chunk, names)
        elif chunk.length < _WRAPPER_LENGTH and _may_wrap(module, chunk, names):
            node = module.outline.glimpse(chunk)
            if isinstance(node, ast.FunctionDef) and wrappers.marks(node, names, names - _AT_ONCE):
                found.add(chunk.name)
    return found | _in_blocks(module, wanted | found)


def _in_blocks(module: Module, names: AbstractSet[str]) -> set[str]:
    """Functions that wrap a marker and are defined in a branch: `if hasattr(torch._dynamo, "nonstrict_trace"):`."""
    found: set[str] = set()
    for name, bindings in module.bound_outside.items() if _may_rename(module, names) else ():
        for node in (binding.node for binding in bindings if binding.kind == "def"):
            if isinstance(node, ast.FunctionDef) and wrappers.marks(node, names, names - _AT_ONCE):
                found.add(name)
    return found


def _of_class(module: Module, chunk: Chunk, names: AbstractSet[str]) -> set[str]:
    """The attributes of a class that are a marker, and the names by which it marks what it is given."""
    found = _held_by_class(module.outline.glimpse(chunk), names) if _may_hold(module, chunk, names) else set[str]()
    marking = names - _AT_ONCE
    if _may_apply(module, chunk, marking) or _may_wrap(module, chunk, marking):
        node = module.outline.glimpse(chunk)
        found |= wrappers.marking_members(node, marking) if isinstance(node, ast.ClassDef) else set[str]()
    short = chunk.length < _CLASS_LENGTH and compiles(chunk.text)
    compiling = names & _COMPILING if short and _KEPT.search(chunk.text) else frozenset[str]()
    if _may_apply(module, chunk, compiling):
        # By its own name alone: every other class has a method called `prepare` or `setup`.
        node = module.outline.glimpse(chunk)
        found |= {chunk.name} & (wrappers.marking_members(node, compiling) if isinstance(node, ast.ClassDef) else set())
    return found


def makers(module: Module, known: AbstractSet[str] = frozenset(), *, methods: bool = False) -> set[str]:
    """Top-level functions and classes that apply a marker to what they, or functions inside them, are given.

    What they return need not be the marked function: `return make_fx(fn)(*example)`, `self.graph = make_fx(fn)(x)`,
    `LIB.impl(name, fn)`. `known` are names of other modules that do so. `methods` are the names of the methods that do
    so as well: any other class may have a `run`.
    """
    found: set[str] = set()
    words = _handed_to(module) | known
    lambdas = _applying_lambdas(module, words)
    tops = {chunk.name for chunk in module.outline.chunks} | lambdas
    found |= lambdas
    applying = words | lambdas
    for _ in range(_LAYERS if words else 0):
        new = [_applying(module, chunk, applying) for chunk in module.chunks_with(applying)]
        found |= set[str]().union(*(names for names, _ in new))
        leading = set[str]().union(*(names for _, names in new)) & tops
        if leading <= applying:
            break
        applying |= leading
    return found if methods else found & tops


def _applying_lambdas(module: Module, words: AbstractSet[str]) -> set[str]:
    """The top-level names of lambdas that apply one of some words to what they are given."""
    if "lambda" not in module.source.code or not words or not _may_rename(module, words):
        return set()
    return {
        name
        for name, bindings in module.bound_outside.items()
        for binding in bindings
        if isinstance(binding.node, ast.Lambda) and wrappers.applies_to_given(binding.node, words)
    }


def _handed_to(module: Module) -> set[str]:
    """The words of a module by which helpers may apply a marker to what they are given."""
    code = module.source.code
    words = {word for word in _HANDED if word in code}
    words -= set() if "Library" in code else {"impl"}
    return words if traces_exports(code) else words - COMMON_WORDS


def _applying(module: Module, chunk: Chunk, words: AbstractSet[str]) -> tuple[set[str], set[str]]:
    """The names by which a definition applies one of some words to what it is given; those whose call does so."""
    own = words if compiles(chunk.text) else words - _COMPILING
    length = _CLASS_LENGTH if chunk.is_class else _WRAPPER_LENGTH
    if chunk.name == "_" or chunk.length >= length or not _may_apply(module, chunk, own):
        return set(), set()
    node = module.outline.glimpse(chunk)
    if isinstance(node, ast.ClassDef):
        members = wrappers.applying_members(node, own)
        found = {*members.methods, node.name} if members.methods or members.made else set[str]()
        return found, {node.name} if members.made else set()
    applies = isinstance(node, ast.FunctionDef) and wrappers.applies_to_given(node, own)
    found = {chunk.name} if applies else set[str]()
    return found, found


def made_by(machine: Machine, module: Module, factories: set[str]) -> set[str]:
    """Top-level names that hold what a function of the module returned: a marker, or a decorator that applies one."""
    found: set[str] = set()
    for name, bindings in module.bindings.items() if factories else ():
        made = (binding.node for binding in bindings if binding.kind == "assign")
        called = any(isinstance(node, ast.Call) and last_name(node) in factories for node in made)
        if called and any(map(_decorates, machine.global_value(module, name).alternatives())):
            found.add(name)
    return found


def _decorates(value: Value) -> bool:
    """Whether a value is a marker, a function made in another that takes one argument, or an object of the program."""
    if value.function is not None:
        return value.function.closure is not None and len(value.function.node.args.args) == 1
    return value.kind is Kind.OBJECT or is_marker(value)


def _may_rename(module: Module, words: AbstractSet[str]) -> bool:
    """Whether a word stands outside definitions otherwise than in an import under its own name."""
    code = module.source.code
    return any(not _is_imported(code, start, end) for start, end in module.outside(words))


def _is_imported(code: str, start: int, end: int) -> bool:
    """Whether a line imports a word under its own name."""
    return _IMPORT.fullmatch(_line_before(code, start)) is not None and not _RENAMED.match(code, end)


def _line_before(text: str, position: int) -> str:
    return text[text.rfind("\n", 0, position) + 1 : position]


def _may_alias(node: ast.AST, names: AbstractSet[str]) -> bool:
    """Whether an assigned value may be a marker: it mentions one, and is not what one made of a function."""
    marked = isinstance(node, ast.Call) and last_name(node) in WRAPPABLE and bool(node.args)
    return not marked and _mentions(node, names)


def _mentions(node: ast.AST, names: AbstractSet[str]) -> bool:
    """Whether a name is read, or is an attribute, or stands as a string."""
    for inner in walk(node):
        field = NAMING.get(type(inner))
        if field is not None and getattr(inner, field) in names:
            return True
    return False


def _gives_marker(value: Value, words: AbstractSet[str]) -> bool:
    """Whether a value may be a marker, a table of markers, or a lambda that applies one."""
    return holds_marker(value) or any(_is_wrapping_lambda(one, words) for one in value.alternatives())


def _is_wrapping_lambda(value: Value, words: AbstractSet[str]) -> bool:
    node = value.function.node if value.function is not None else None
    return isinstance(node, ast.Lambda) and wrappers.Meanings(node, words).returns_marked()


def _may_hold(module: Module, chunk: Chunk, words: AbstractSet[str]) -> bool:
    """Whether the text of a class sets something to a word, and not to what calling it gives."""
    code = module.source.code
    return any(
        not _CALLED.match(code, end) and _SET_TO.search(code, max(0, start - _LONGEST_SET_TO), start)
        for start, end in module.places_in(chunk, words)
    )


def _held_by_class(node: ast.AST | None, words: AbstractSet[str]) -> set[str]:
    """Class attributes that are a marker: `trace = nonstrict_trace`, `trace = staticmethod(nonstrict_trace)`."""
    found: set[str] = set()
    for statement in node.body if isinstance(node, ast.ClassDef) else ():
        if isinstance(statement, ast.Assign):
            value = statement.value
            if isinstance(value, ast.Call) and last_name(value) == "staticmethod" and value.args:
                value = value.args[0]
            if not isinstance(value, ast.Call) and last_name(value) in words:
                found |= {last_name(target) for target in statement.targets}
    return found


def _may_wrap(module: Module, chunk: Chunk, words: AbstractSet[str]) -> bool:
    """Whether a function returns or stores something, and applies a word, or hands one on, behind its name."""
    keeping = _keeping(chunk.text)
    if keeping is None:
        return False
    if not words.isdisjoint(keeping.looked_up):
        return True
    code, strings = module.source.code, module.outline.strings
    first = chunk.start + keeping.header
    return any(
        start >= first
        and not _OTHERWISE.match(code, end)
        and not _is_imported(code, start, end)
        and is_code(code, strings, start)
        for start, end in module.places_in(chunk, words)
    )


class _Keeping(NamedTuple):
    """A function that returns or stores something: where its header ends, and the attributes it looks up by strings."""

    header: int
    looked_up: frozenset[str]


@lru_cache(maxsize=2048)  # an edit leaves all definitions of a file but one as they were
def _keeping(text: str) -> _Keeping | None:
    """What the text of a function tells of it; None if it returns and stores nothing."""
    if not _KEEPS.search(text):
        return None
    header = _HEADER.search(text)
    return _Keeping(header.end() if header else 0, frozenset(LOOKED_UP.findall(text)))


def _may_apply(module: Module, chunk: Chunk, words: AbstractSet[str]) -> bool:
    """Whether the text of a definition calls a word, or hands it on, elsewhere than in a decorator."""
    code, strings = module.source.code, module.outline.strings
    return any(
        _APPLIED.match(code, end)
        and not _line_before(code, start).lstrip().startswith("@")
        and is_code(code, strings, start)
        for start, end in module.places_in(chunk, words)
    )
