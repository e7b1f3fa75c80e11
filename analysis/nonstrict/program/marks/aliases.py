"""The names by which a module applies a marker beside the marker's own: imports, assignments, wrappers."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import walk
from nonstrict.facts.words import places
from nonstrict.knowledge.markers import MARKERS, WRAPPABLE
from nonstrict.program.values import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from collections.abc import Set as AbstractSet

    from nonstrict.program.machine import Machine
    from nonstrict.program.modules import Module
    from nonstrict.program.values import Value

#: Where nodes hold a name, or a string that may be one.
NAMING: dict[type[ast.AST], str] = {ast.Name: "id", ast.Attribute: "attr", ast.Constant: "value"}
#: Longer functions do more than hand a function to a marker.
_WRAPPER_LENGTH = 2_500
#: The start of a function behind its decorators, to its name.
_HEADER = re.compile(r"^(?:async[ \t]+)?def[ \t]+\w+", re.MULTILINE)
#: What stands before a name that a line imports, in a comment, and behind the `@` of a decorator.
_IMPORT = re.compile(r"[ \t]*from[ \t]+[\w.]+[ \t]+import\b[^;\"']*")
_COMMENT = re.compile(r"[^\"'#]*#[^\"']*")
_DECORATOR = re.compile(r"[ \t]*@[\w.]*")
_RENAMED = re.compile(r"[\s\\]+as\b")
_CALLED = re.compile(r"[ \t]*\(")


def aliases(machine: Machine, module: Module, words: Iterable[str]) -> set[str]:
    """Top-level names that a marker word was used to bind: imports under another name, assignments, wrappers."""
    wanted = set(words)
    found: set[str] = set()
    for name, bindings in module.bindings.items() if _may_rename(module, wanted) else ():
        for binding in bindings:
            if binding.kind == "import" and binding.attribute in wanted and name != binding.attribute:
                found.add(name)
            elif binding.kind == "assign" and binding.node is not None and _may_alias(binding.node, wanted | found):
                value = machine.global_value(module, name)
                if any(_is_marker(alternative) for alternative in value.alternatives()):
                    found.add(name)
    for chunk in module.chunks_with(wanted | found):
        names = wanted | found
        if chunk.is_class:
            if _may_hold(chunk.text, names):
                found |= _held_by_class(module.outline.glimpse(chunk), names)
        elif chunk.length < _WRAPPER_LENGTH and _may_wrap(chunk.text, names):
            node = module.outline.glimpse(chunk)
            if isinstance(node, ast.FunctionDef) and _is_wrapper(node, names):
                found.add(chunk.name)
    return found


def _may_rename(module: Module, words: AbstractSet[str]) -> bool:
    """Whether a word stands outside definitions otherwise than in a comment or an import under its own name."""
    code = module.source.code
    for start, end in module.outside(words):
        line = _line_before(code, start)
        if not _COMMENT.fullmatch(line) and (not _IMPORT.fullmatch(line) or _RENAMED.match(code, end)):
            return True
    return False


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


def _is_marker(value: Value) -> bool:
    if value.kind is Kind.PARTIAL:
        return _is_marker(value.ref[0])
    return value.kind is Kind.EXTERNAL and value.ref in MARKERS


def _may_hold(text: str, words: AbstractSet[str]) -> bool:
    """Whether a word stands in the text of a class where it is not called, and neither in a comment nor a decorator."""
    for start, end in places(text, words):
        line = _line_before(text, start)
        if not (_CALLED.match(text, end) or _COMMENT.fullmatch(line) or _DECORATOR.fullmatch(line)):
            return True
    return False


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


def _may_wrap(text: str, words: AbstractSet[str]) -> bool:
    """Whether a function returns something, and its text holds a word behind its own decorators and name."""
    if "return" not in text:
        return False
    header = _HEADER.search(text)
    return any(True for _ in places(text[header.end() :] if header else text, words))


def _is_wrapper(node: ast.FunctionDef | ast.AsyncFunctionDef, words: AbstractSet[str]) -> bool:
    """Whether a function returns what a marker makes of a parameter or of a function defined in it."""
    marked = {
        inner.name
        for inner in walk(node)
        if isinstance(inner, ast.FunctionDef) and inner is not node and _decorated(inner, words)
    }
    for inner in walk(node):
        if isinstance(inner, ast.Assign) and isinstance(inner.value, ast.Call) and last_name(inner.value) in words:
            marked |= {last_name(target) for target in inner.targets}
    inner_functions = {inner.name for inner in walk(node) if isinstance(inner, ast.FunctionDef)} - {node.name}
    for inner in walk(node):
        if not isinstance(inner, ast.Return) or inner.value is None:
            continue
        for value in _choices(inner.value):
            if last_name(value) in words or (isinstance(value, ast.Name) and value.id in marked):
                return True
            if isinstance(value, ast.Call) and any(last_name(argument) in words for argument in value.args):
                return True
            if isinstance(value, ast.Name) and value.id in inner_functions and _returns_marked(node, value.id, words):
                return True
            if isinstance(value, ast.Lambda) and last_name(value.body) in words:
                return True
    return False


def _choices(value: ast.expr) -> Iterator[ast.expr]:
    """The expressions that `a if test else b` and `a or b` choose from."""
    if isinstance(value, ast.IfExp):
        yield from _choices(value.body)
        yield from _choices(value.orelse)
    elif isinstance(value, ast.BoolOp):
        for part in value.values:
            yield from _choices(part)
    else:
        yield value


def _decorated(node: ast.FunctionDef, words: AbstractSet[str]) -> bool:
    return any(last_name(decorator) in words for decorator in node.decorator_list)


def _returns_marked(outer: ast.AST, name: str, words: AbstractSet[str]) -> bool:
    """Whether a function nested in a decorator factory returns what a marker makes."""
    for inner in walk(outer):
        if isinstance(inner, ast.FunctionDef) and inner.name == name and inner is not outer:
            return _is_wrapper(inner, words)
    return False
