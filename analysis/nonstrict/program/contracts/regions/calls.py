"""The calls of a region that were seen, and what they pass: of its function, or of the module of torch that it is."""

from __future__ import annotations

import ast
import itertools
from typing import TYPE_CHECKING

from nonstrict.facts.scopes import is_as_passed
from nonstrict.program.contracts.boundary import dynamic_sizes, varying
from nonstrict.program.contracts.regions import requiring
from nonstrict.program.contracts.regions.compilations import Compilations
from nonstrict.program.discovery import callers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.state.frames import Frame
    from nonstrict.program.state.machine import StaticCall


#: How many functions hand on what a region is given, at most.
_HOPS = 2


def of(region: Interpreted) -> list[StaticCall]:
    """The calls of a region."""
    function = region.mark.function
    if function is not None:
        return callers.calls_of_function(region.machine, function)
    return region.machine.part(Compilations).calls.get(region.mark.node, [])


def given(region: Interpreted, name: str) -> Iterator[tuple[Frame, ast.Call, ast.expr]]:
    """What calls of a region pass for one parameter, and where: of a module of torch, as `argument` names it.

    Of a function that hands on what it is given it is what its calls pass.
    """
    for frame, node, passed in _given(region, name):
        yield from _handed_on(frame, node, passed, _HOPS)


def _handed_on(frame: Frame, node: ast.Call, passed: ast.expr, hops: int) -> Iterator[tuple[Frame, ast.Call, ast.expr]]:
    """What a call passes, or where it hands on a parameter of its function, what the calls of that pass."""
    function, outer = frame.function, list[tuple["Frame", ast.Call, ast.expr]]()
    if function is not None and hops and isinstance(passed, ast.Name) and _hands_on(frame, function.node, passed):
        callers.calls_of_function(frame.machine, function)  # looks for them
        outer = list(varying.given_expressions(frame.machine, function, passed.id))
    for call in outer:
        yield from _handed_on(*call, hops - 1)
    if not outer:
        yield frame, node, passed


def _hands_on(frame: Frame, function: FunctionNode, passed: ast.Name) -> bool:
    """Whether a function passes a parameter as it got it, and says nothing else of its gradients and its sizes."""
    changes = requiring.is_switched(function, passed.id) or any(
        dynamic_sizes.marking(frame, passed, dynamic_sizes.MARKS)
    )
    return is_as_passed(function, passed.id) and not changes


def _given(region: Interpreted, name: str) -> Iterator[tuple[Frame, ast.Call, ast.expr]]:
    function = region.mark.function
    if function is not None:
        yield from varying.given_expressions(region.machine, function, name)
        return
    for frame, node, _, _ in of(region):
        passed = _by_name(node).get(name)
        if isinstance(node, ast.Call) and passed is not None:
            yield frame, node, passed


def written(node: ast.AST, name: str) -> str:
    """What a call passes for an argument of a module of torch, or unpacks for it, as it is written; "" if nothing."""
    unpacked = (one for one in node.args if isinstance(one, ast.Starred)) if isinstance(node, ast.Call) else ()
    passed = _by_name(node).get(name) or next(iter(unpacked), None)
    return ast.unparse(passed) if passed is not None else ""


def _by_name(node: ast.AST) -> dict[str, ast.expr]:
    """What a call of a module of torch passes, by the names of its arguments, as far as it unpacks nothing."""
    if not isinstance(node, ast.Call):
        return {}
    plain = itertools.takewhile(lambda one: not isinstance(one, ast.Starred), node.args)
    named = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg is not None}
    return {argument(at): one for at, one in enumerate(plain)} | named


def argument(position: int) -> str:
    """What Dynamo calls an argument of a module of torch, in whose place it traces a function of its own."""
    return f"args[{position}]"
