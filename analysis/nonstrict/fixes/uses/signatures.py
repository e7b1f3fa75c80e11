"""One more parameter for a function and for those that call it, up to where callers can write the value themselves.

The parameter has the same name everywhere. All calls in the project pass it; if one cannot, nothing is changed.
"""

from __future__ import annotations

import ast
import re
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.scopes import FunctionNode, scope_of
from nonstrict.facts.use_def import use_def
from nonstrict.findings import Edit
from nonstrict.fixes.code.edits import with_argument, with_parameter
from nonstrict.fixes.code.names import spelled as name_spelled

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nonstrict.findings import Span
    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.uses.calls import Call
    from nonstrict.fixes.uses.references import Uses
    from nonstrict.fixes.uses.spots import Spelled

#: So many functions at most get the parameter: a longer way is a design of its own.
_MAX_FUNCTIONS = 12


#: What stands before a parameter that is the first keyword-only one.
_STAR = re.compile(r"\*,\s+(?=\w)")


class Extended(NamedTuple):
    """A function that gets the parameter."""

    document: Document
    node: FunctionNode


class Passing(ABC):
    """What is passed, and how far up.

    `annotation` is the dotted name of its type, "" if it is not known. Each of `functions` gets the parameter, so that
    its callers pass the value; other callers write it. `bound_by` is the statement that gave the name its value so far,
    and goes.
    """

    def __init__(
        self, name: str, annotation: str, functions: frozenset[Span], bound_by: ast.stmt | None = None
    ) -> None:
        self.name = name
        self.annotation = annotation
        self.functions = functions
        self.bound_by = bound_by

    @abstractmethod
    def written(self, function: Extended, call: Call) -> Spelled | None:
        """How the code around a call of a changed function writes the value; None where it cannot."""

    def reaches(self, document: Document, function: FunctionNode) -> bool:
        """Whether a function may get the value from its callers: not if it gives what is passed another value."""
        return True

    def is_value(self, document: Document, node: ast.Name) -> bool:
        """Whether a name that a changed function reads is the value: then the parameter may have that name."""
        return False

    def agrees(self, function: Extended, call: Call, caller: Extended) -> bool:
        """Whether the parameter of a function is the value that its call of another changed function needs."""
        return True

    def shares(self, function: Extended, override: Extended) -> bool:
        """Whether a method that may be called in place of a changed one may get the parameter too."""
        return False


class Change(NamedTuple):
    """The functions that get the parameter, the one that needs it first, and the edits of signatures and calls."""

    functions: tuple[Extended, ...]
    edits: tuple[Edit, ...]


def passed(uses: Uses, document: Document, node: ast.AST, passing: Passing) -> Change | None:
    """The change by which a value reaches an expression as a parameter; None if some use stands in the way."""
    first = home(uses, document, node, passing)
    if first is None:
        return None
    functions = [first]
    edits: list[Edit] = []
    seen: set[ast.Call] = set()
    for function in _growing(functions):
        found = uses.of(function.document, function.node)
        if len(functions) > _MAX_FUNCTIONS or found.obstacles or not found.calls or not _is_free(function, passing):
            return None
        edits += _with_parameter(function, passing)
        family = [function, *(Extended(*one) for one in found.overrides)]
        if not _shared(passing, functions, function, family[1:]):
            return None
        for call in found.calls:
            if call.node in seen:
                continue  # of a method that overrides another one, which was changed before
            seen.add(call.node)
            if any(keyword.arg == passing.name for keyword in call.node.keywords):
                return None  # taken by `**named`
            caller = home(uses, call.document, call.node, passing)
            if caller is not None:
                if not passing.agrees(function, call, caller):
                    return None
                value, more = passing.name, ()
                if caller not in functions:
                    functions.append(caller)
            else:
                written = passing.written(function, call)
                if written is None:
                    return None
                value, more = written.text, written.edits
            edits += (*more, _with_argument(family, call, passing.name, value))
    return Change(tuple(functions), tuple(edits))


def _shared(passing: Passing, functions: list[Extended], function: Extended, overrides: list[Extended]) -> bool:
    """Have the methods that may be called in place of a function changed too; whether that can be."""
    for override in overrides:
        if override not in functions:
            if not passing.shares(function, override):
                return False
            functions.append(override)
    passing.functions |= {one.document.span(one.node) for one in overrides}
    return True


def together(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """The edits of several changes as one: what they add at one place stands in a row there."""
    found: dict[Span, Edit] = {}
    others: list[Edit] = []
    for edit in dict.fromkeys(edits):
        known = found.setdefault(edit.span, edit)
        text = _STAR.sub("", edit.text, count=1) if _STAR.search(known.text) else edit.text
        if edit.span[1:3] != edit.span[3:]:
            # The comment behind the last element was written anew, with a line for the new element.
            text = "," + text[text.rfind("\n") :] if "\n" in text else ""
        if not text:
            others.append(edit)  # overlaps: cannot be made
        elif known is not edit:
            found[edit.span] = Edit(edit.span, known.text + text)
    return (*found.values(), *(edit for edit in others if found[edit.span] is not edit))


def _growing(functions: list[Extended]) -> Iterator[Extended]:
    done = 0
    while done < len(functions):
        yield functions[done]
        done += 1


def home(uses: Uses, document: Document, node: ast.AST, passing: Passing) -> Extended | None:
    """The outermost function around a node that the value passes through: functions in it see its parameter."""
    functions = uses.scopes(document).text.functions(node)
    around = [one for one in functions if document.span(one) in passing.functions and passing.reaches(document, one)]
    return Extended(document, around[-1]) if around else None


def _is_free(function: Extended, passing: Passing) -> bool:
    """Whether a name can be a parameter: nothing in the function binds it, and reads of it are reads of the value."""
    statements = function.node.body if not isinstance(function.node, ast.Lambda) else []
    if passing.bound_by is not None and passing.bound_by in statements:
        return use_def(function.node).only(passing.name) is not None
    for node in ast.walk(function.node):
        if isinstance(node, FunctionNode):
            scope = scope_of(node)
            if passing.name in scope.local | scope.global_names | scope.nonlocal_names:
                return False
        elif isinstance(node, ast.Name) and node.id == passing.name and not passing.is_value(function.document, node):
            return False
    return True


def takes_keyword(function: FunctionNode) -> bool:
    """Whether a new parameter has to be passed by its name: others may be left out, or take all that follows."""
    return bool(function.args.defaults) or function.args.vararg is not None


def _with_parameter(function: Extended, passing: Passing) -> Iterator[Edit]:
    text = passing.name
    if passing.annotation and _is_annotated(function.node):
        known = name_spelled(function.document, passing.annotation) if "." in passing.annotation else None
        text += f": {known.text if known is not None else passing.annotation}"
        yield from known.edits if known is not None else ()
    yield with_parameter(function.document, function.node, text, keyword_only=takes_keyword(function.node))


def _is_annotated(function: FunctionNode) -> bool:
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    own = [argument for argument in arguments if argument.arg not in ("self", "cls")]
    return bool(own) and all(argument.annotation is not None for argument in own)


def _with_argument(family: list[Extended], call: Call, name: str, value: str) -> Edit:
    by_position = not call.node.keywords and all(_is_next(one.node, call) for one in family)
    return with_argument(call.document, call.node, value if by_position else f"{name}={value}")


def _is_next(function: FunctionNode, call: Call) -> bool:
    """Whether an argument behind all others of a call is for a new parameter of a function."""
    given = len(call.node.args) + (call.bound is not None)
    complete = given == len(function.args.posonlyargs) + len(function.args.args)
    return complete and not takes_keyword(function)
