"""Where a tensor is made that a call passes: in the text around the call, or in a function of the program called there.

What that function says of it, sizes and dtypes, is told in the words of the call, with arguments for parameters.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts import arguments
from nonstrict.facts.reaching import reaching, source
from nonstrict.facts.scopes import is_deferred, scope_of
from nonstrict.facts.walk import own_scope, walk
from nonstrict.program.discovery import callers
from nonstrict.program.domain.definitions import Function
from nonstrict.program.objects import naming

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from nonstrict.facts.library_calls import Names
    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.facts.use_def import Part
    from nonstrict.program.state.frames import Frame

#: How many functions return what another one made, and how many hand on what they are given, at most.
HOPS = 2


class Origin(NamedTuple):
    """The expression that makes something, the text that it stands in, and what names mean there.

    `given` is what the parameters of that text are in the words of the first call; None where it stands there itself.
    """

    frame: Frame
    around: FunctionNode | ast.Module
    names: Names
    expression: ast.expr
    given: Mapping[str, ast.expr] | None = None

    def told(self, part: ast.expr) -> ast.expr | None:
        """An expression of that text in the words of the text around the first call; None where there are none."""
        if self.given is None or isinstance(self.around, ast.Module):
            return part
        return arguments.in_words_of(self.around, part, self.given)


class Asked(NamedTuple):
    """An expression that is another one in each call of the function around it: where it is passed, by which call."""

    frame: Frame
    call: ast.AST
    expression: ast.expr


def origin(frame: Frame, expression: ast.expr) -> Origin:
    """Where something is made that an expression is in the text that a frame runs."""
    found = Origin(frame, naming.text_of(frame), naming.names_at(frame), expression)
    for _ in range(HOPS):
        inner = _inside(found)
        if inner is None:
            break
        found = inner
    return found


def asked_of_callers(asked: Asked) -> Iterator[Asked]:
    """The same in the words of each call of the function around it, where its parameters tell it."""
    function = asked.frame.function
    if function is None or not arguments.needs_parameters(function.node, asked.expression):
        return
    for frame, call, positional, _ in callers.calls_of_function(asked.frame.machine, function):
        if isinstance(call, ast.Call):
            passed = arguments.passed(function.node, call, len(positional) - len(call.args))
            told = arguments.in_words_of(function.node, asked.expression, passed)
            if told is not None:
                yield Asked(frame, call, told)


def _inside(found: Origin) -> Origin | None:
    """The same in the function that is called there; None where none is, or its text does not tell what it returns."""
    made, part = _bound(found)
    entered = _called(found, made) if isinstance(made, ast.Call) else None
    returned = _returned(entered.function.node, part) if entered is not None else None
    if entered is None or returned is None or not isinstance(made, ast.Call):
        return None
    machine, function = found.frame.machine, entered.function
    passed = arguments.passed(function.node, made, entered.bound)
    given = {name: told for name, one in passed.items() if (told := found.told(one)) is not None}
    names = naming.names_in(machine, function)
    return Origin(machine.module_frame(function.module), function.node, names, returned, given)


class _Entered(NamedTuple):
    """A function that a call runs, and how many of its parameters are bound before that."""

    function: Function
    bound: int


def _bound(found: Origin) -> tuple[ast.expr, Part | None]:
    """What a variable is bound to where it is read, and which part of that."""
    whole = source(found.around, found.expression)
    bound = reaching(found.around, whole.id, whole) if isinstance(whole, ast.Name) else None
    return (whole, None) if bound is None or bound.value is None else (bound.value, bound.part)


def _called(found: Origin, call: ast.Call) -> _Entered | None:
    """The function of the program that a call runs there and then, as it is written."""
    if found.given is not None and not isinstance(found.around, ast.Module):
        names = (node.id for node in walk(call.func) if isinstance(node, ast.Name))
        if any(name in scope_of(found.around).local for name in names):
            return None  # of another text than the one around the call only what is global is known
    called = found.frame.machine.evaluate(found.frame, call.func)
    function = called.bound.function if called.bound is not None else called.function
    if not isinstance(function, Function) or not isinstance(function.node, ast.FunctionDef):
        return None
    plain = not function.node.decorator_list and not is_deferred(function.node)
    return _Entered(function, int(called.bound is not None)) if plain else None


def _returned(function: FunctionNode, part: Part | None) -> ast.expr | None:
    """What a function returns at its one return, or a part of it."""
    returns = [one.value for one in own_scope(function) if isinstance(one, ast.Return)]
    whole = source(function, returns[0]) if len(returns) == 1 and returns[0] is not None else None
    if part is None:
        return whole
    parts = whole.elts if isinstance(whole, (ast.Tuple, ast.List)) else []
    return parts[part.at] if len(parts) == part.number else None
