"""Registrations of the project's classes with torch's pytrees, recorded where code that registers is interpreted."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.knowledge.pytrees import REGISTRARS
from nonstrict.program.domain.effects import span_of
from nonstrict.program.domain.values import UNKNOWN, Kind, Value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nonstrict.findings import Span
    from nonstrict.program.domain.definitions import Class
    from nonstrict.program.state.frames import Frame


class Registration(NamedTuple):
    """One registration of a class; `kind` as in `nonstrict.knowledge.pytrees.REGISTRARS`.

    `flatten` and `unflatten` are what a `node` is registered with; `fields` and `dropped` the names that a `dataclass`
    is registered with, `fields` None if they are those of the class.
    """

    kind: str
    cls: Class
    path: str
    offset: int
    node: ast.AST
    flatten: Value = UNKNOWN
    unflatten: Value = UNKNOWN
    fields: frozenset[str] | None = None
    dropped: frozenset[str] = frozenset()

    @property
    def span(self) -> Span:
        """The call or decorator that registers."""
        return span_of(self.path, self.offset, self.node)


class Registrations:
    """What was seen to be registered so far."""

    def __init__(self) -> None:
        self.of: dict[Class, list[Registration]] = {}
        #: classes from outside the program that are registered, by their dotted names
        self.foreign: set[str] = set()
        #: files in which something is registered of which is not known what
        self.unresolved: set[str] = set()
        #: the files that may register something, with the names by which they do; None until asked for
        self.files: dict[str, frozenset[str]] | None = None
        #: tables whose entries are registered, and functions that know these
        self.tables: set[str] = set()
        #: files whose registrations are recorded
        self.searched: set[str] = set()

    def add(self, found: Registration) -> None:
        """Record a registration once."""
        known = self.of.setdefault(found.cls, [])
        if not any(other.node is found.node and other.kind == found.kind for other in known):
            known.append(found)


def register(frame: Frame, node: ast.AST, name: str, positional: Sequence[Value], keywords: dict[str, Value]) -> Value:
    """A call of one of the functions that register a class."""
    classes = positional[0] if positional else keywords.get("cls", keywords.get("class_", UNKNOWN))
    for registered in classes.alternatives():
        if registered.kind is Kind.CLASS and registered.of_class is not None:
            frame.machine.part(Registrations).add(_made(frame, node, name, registered.of_class, positional, keywords))
        elif registered.kind is Kind.EXTERNAL:
            frame.machine.part(Registrations).foreign.add(registered.dotted)
        elif positional and not _is_parameter(frame, node):
            frame.machine.part(Registrations).unresolved.add(frame.module.path)
    return UNKNOWN


def _made(
    frame: Frame, node: ast.AST, name: str, cls: Class, positional: Sequence[Value], keywords: dict[str, Value]
) -> Registration:
    kind = REGISTRARS[name]
    path, offset, at = frame.module.path, frame.offset, node
    if frame.application is not None and _is_parameter(frame, node):
        path, offset, at = frame.application  # a helper of the project registers what it is given
    found = Registration(kind, cls, path, offset, at)
    if kind == "node":
        given = dict(zip(("cls", "flatten_fn", "unflatten_fn"), positional, strict=False)) | keywords
        return found._replace(flatten=given.get("flatten_fn", UNKNOWN), unflatten=given.get("unflatten_fn", UNKNOWN))
    if kind == "dataclass":
        fields = keywords.get("field_names")
        dropped = frozenset(_strings(keywords.get("drop_field_names", UNKNOWN)))
        return found._replace(fields=None if fields is None else frozenset(_strings(fields)), dropped=dropped)
    return found


def _strings(value: Value) -> Iterator[str]:
    for item in value.heap.items.values() if value.heap is not None else ():
        if isinstance(item.const, str):
            yield item.const


def _is_parameter(frame: Frame, node: ast.AST) -> bool:
    """Whether the class that is registered is what the function around the call was given."""
    function = frame.function
    if function is None or not isinstance(node, ast.Call) or not node.args:
        return False
    first = node.args[0]
    arguments = function.node.args
    every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    names = {argument.arg for argument in every} | {getattr(arguments.vararg, "arg", "")}
    return _holds(first, names) or _is_loop_name(function.node, first, names)


def _is_loop_name(function: ast.AST, name: ast.expr, parameters: set[str]) -> bool:
    """Whether a name is that of a loop over what the function was given."""
    loops = (inner for inner in ast.walk(function) if isinstance(inner, (ast.For, ast.comprehension)))
    return isinstance(name, ast.Name) and any(
        _holds(loop.target, {name.id}) and _holds(loop.iter, parameters) for loop in loops
    )


def _holds(node: ast.AST, names: set[str]) -> bool:
    return any(isinstance(inner, ast.Name) and inner.id in names for inner in ast.walk(node))
