"""Regions that are given what their call before returned: `h = layer(h)`, after a first call with a plain tensor.

What modules with parameters compute needs gradients, and the tensor of the first call does not: Dynamo compiles for
both (measured on torch 2.13). That holds where gradients are on, and nothing in the region cuts them off.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.facts.library_calls import called
from nonstrict.facts.loops import looping
from nonstrict.facts.reaching import last_before
from nonstrict.facts.use_def import use_def
from nonstrict.facts.walk import own_scope, walk
from nonstrict.knowledge.operators import nn_module
from nonstrict.program.contracts.boundary import varying
from nonstrict.program.contracts.regions import requiring, torch_states
from nonstrict.program.domain.values import Kind
from nonstrict.program.interpret.rounds import holds
from nonstrict.program.objects import naming

if TYPE_CHECKING:
    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.state.frames import Frame

#: What switches gradients off.
_OFF = frozenset({"torch.no_grad", "torch.inference_mode", "torch.set_grad_enabled"})


def is_first_plain(region: Interpreted, frame: Frame, call: ast.Call, passed: ast.expr) -> bool:
    """Whether a call passes a plain tensor in the first round of a loop, and what the region returned in the others."""
    if not isinstance(passed, ast.Name) or not _is_fed_back(frame, call, passed):
        return False
    return _begins_plain(frame, call, passed) and _trains(region) and torch_states.are_gradients_on(frame, call)


def _is_fed_back(frame: Frame, call: ast.Call, passed: ast.Name) -> bool:
    """Whether all that a loop around a call binds to a variable is the result of the call."""
    loop = _loop(frame, call)
    inside = [node for part in loop.body for node in walk(part)] if loop is not None else []
    bound = [node for node in inside if isinstance(node, ast.Name) and node.id == passed.id and _stores(node)]
    fed = [node for node in inside if isinstance(node, ast.Assign) and node.value is call]
    return bool(bound) and all(any(target is node for one in fed for target in one.targets) for node in bound)


def _loop(frame: Frame, call: ast.AST) -> ast.For | ast.AsyncFor | None:
    """The innermost loop over something around a call."""
    loops = (node for node in looping(naming.text_of(frame)) if isinstance(node, (ast.For, ast.AsyncFor)))
    around = [loop for loop in loops if holds(loop.body, call)]
    return min(around, key=lambda loop: sum(1 for _ in walk(loop)), default=None)


def _stores(node: ast.Name) -> bool:
    return not isinstance(node.ctx, ast.Load)


def _begins_plain(frame: Frame, call: ast.AST, passed: ast.Name) -> bool:
    """Whether a variable holds a plain tensor in front of the loop, bound there or passed by all callers."""
    around, loop = naming.text_of(frame), _loop(frame, call)
    if loop is None or isinstance(around, ast.Lambda):
        return False
    inside = {node for part in loop.body for node in walk(part)}
    outside = [one for one in use_def(around).every(passed.id) if one.node not in inside]
    if outside:
        bound = last_before(around, outside, loop)
        whole = bound.value if bound is not None and bound.part is None else None
        return whole is not None and requiring.form(frame, whole) == requiring.PLAIN
    function = frame.function
    given = list(varying.given_expressions(frame.machine, function, passed.id)) if function is not None else []
    return bool(given) and all(requiring.form(there, one) == requiring.PLAIN for there, _, one in given)


def _trains(region: Interpreted) -> bool:
    """Whether a region computes with parameters, and nothing in its text cuts off their gradients."""
    function, target = region.mark.function, region.mark.target
    layers = [seen.effect.value for seen in region.observed(Event.LAYER)]
    known = (nn_module(one.dotted) for one in (target, *layers) if one.kind is Kind.MODULE and one.dotted)
    reads = any(seen.effect.value.kind is Kind.PARAMETER for seen in region.observed(Event.GUARD))
    if not reads and not any(one is not None and one.has_parameters for one in known):
        return False
    if function is None:
        return True
    names = naming.names_in(region.machine, function)
    nodes = list(own_scope(function.node))
    made = (called(names, node).operator for node in nodes if isinstance(node, ast.Call))
    switched = any(names(node) in _OFF for node in nodes if isinstance(node, (ast.Name, ast.Attribute)))
    detached = any(operator is not None and operator.detaches for operator in made)
    return not switched and not detached
