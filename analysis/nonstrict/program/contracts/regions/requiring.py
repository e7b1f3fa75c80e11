"""What a tensor that a call passes is to autograd: a plain one, one that needs gradients, a parameter.

It is what the last of these says in front of the call: the expression that makes it, `requires_grad_()`, an assignment
to `requires_grad`. Source: a leaf needs gradients as it is told to, and what `detach` gives needs none.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.library_calls import called
from nonstrict.facts.memo import remembered
from nonstrict.facts.reaching import last_before, reaching
from nonstrict.facts.scopes import scope_of
from nonstrict.facts.shapes import PARAMETERS
from nonstrict.facts.use_def import Definition, use_def
from nonstrict.facts.walk import own_scope
from nonstrict.program.objects import naming

if TYPE_CHECKING:
    from nonstrict.facts.library_calls import Called, Names
    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.program.state.frames import Frame

PLAIN, GRADIENTS, PARAMETER = "plain", "gradients", "parameter"
#: What makes a tensor from data, or of a number of elements.
_FROM_DATA = frozenset({"tensor", "arange"})
_METHOD, _ATTRIBUTE = "requires_grad_", "requires_grad"
#: How many expressions a tensor is followed through.
_STEPS = 8


class _Text(NamedTuple):
    """The text of a function or module, in the frame that tells what its global names are."""

    frame: Frame
    around: FunctionNode | ast.Module
    names: Names
    steps: int = _STEPS


def form(frame: Frame, expression: ast.expr) -> str:
    """What a tensor is to autograd: `plain`, `gradients` where it needs them, `parameter`; "" where it is not known."""
    return _form(_Text(frame, naming.text_of(frame), naming.names_at(frame)), expression)


def is_switched(around: FunctionNode | ast.Module, name: str) -> bool:
    """Whether code of a function says of a variable whether it needs gradients."""
    return bool(_switches(around, name))


def _form(text: _Text, expression: ast.expr) -> str:
    text = text._replace(steps=text.steps - 1)
    if not text.steps:
        return ""
    if isinstance(expression, ast.Name):
        return _of_variable(text, expression)
    if isinstance(expression, ast.Attribute):
        return PLAIN if expression.attr == "data" else ""
    return _of_call(text, expression) if isinstance(expression, ast.Call) else ""


def _of_variable(text: _Text, variable: ast.Name) -> str:
    bound = reaching(text.around, variable.id, variable)
    made = _form(text, bound.value) if bound is not None and bound.value and not bound.part else ""
    switches = _switches(text.around, variable.id)
    if not switches:
        return made
    last = last_before(text.around, [*use_def(text.around).every(variable.id), *switches], variable)
    return _switched(made, last.value) if last in switches and last is not None else made if last == bound else ""


def _switches(around: FunctionNode | ast.Module, name: str) -> tuple[Definition, ...]:
    """Where code says of a variable whether it needs gradients: with which value, None where it is told none."""
    return remembered(around, "_nonstrict_gradient_switches", _switched_by).get(name, ())


def _switched_by(around: FunctionNode | ast.Module) -> dict[str, tuple[Definition, ...]]:
    """The same of all variables of a text."""
    found: dict[str, tuple[Definition, ...]] = {}
    for node in own_scope(around):
        if isinstance(node, ast.Assign):
            members = [(one, node.value) for one in node.targets if getattr(one, "attr", "") == _ATTRIBUTE]
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == _METHOD:
            members = [(node.func, _told(node))]
        else:
            continue
        for member, value in members:
            if isinstance(member, ast.Attribute) and isinstance(member.value, ast.Name):
                at = node if isinstance(node, ast.Call) else member
                found[member.value.id] = (*found.get(member.value.id, ()), Definition(at, value))
    return found


def _told(call: ast.Call) -> ast.expr | None:
    return next(iter([*call.args, *(one.value for one in call.keywords)]), ast.Constant(value=True))


def _switched(made: str, told: ast.expr | None) -> str:
    """What a tensor is behind code that says whether it needs gradients."""
    if not isinstance(told, ast.Constant) or made == PARAMETER:
        return PARAMETER if isinstance(told, ast.Constant) and told.value is True else ""
    return GRADIENTS if told.value else PLAIN


def _of_call(text: _Text, node: ast.Call) -> str:
    call = called(text.names, node)
    if call.is_method and call.name == _METHOD and call.operand is not None:
        return _switched(_form(text, call.operand), _told(node))
    if call.dotted in PARAMETERS or _makes(call):
        return _of_maker(call, node)
    operator = call.operator
    if operator is None:
        return _returned(text, node)
    if operator.detaches and operator.keeps_values and operator.views:
        return PLAIN
    kept = operator.keeps_shape and not call.given and call.operand is not None
    made = _form(text, call.operand) if kept and call.operand is not None else ""
    return made if made == PLAIN else ""


def _makes(call: Called) -> bool:
    operator = call.operator
    makes = operator is not None and (operator.sized or operator.like or bool(operator.sizes))
    return call.library == "torch" and (makes or call.name in _FROM_DATA)


def _of_maker(call: Called, node: ast.Call) -> str:
    """What is made anew needs gradients if it is told so; a parameter does if it is not told otherwise."""
    told = {keyword.arg: keyword.value for keyword in node.keywords}
    switch = told.get(_ATTRIBUTE)
    if None in told or not (switch is None or isinstance(switch, ast.Constant)):
        return ""
    needs = switch is not None and bool(switch.value)
    if call.dotted in PARAMETERS:
        return PARAMETER if switch is None or needs else ""
    return GRADIENTS if needs else PLAIN


def _returned(text: _Text, node: ast.Call) -> str:
    """What a function of the program returns, in all its returns."""
    local = scope_of(text.around).local if not isinstance(text.around, ast.Module) else frozenset[str]()
    if not isinstance(node.func, ast.Name) or node.func.id in local:
        return ""
    function = text.frame.machine.evaluate(text.frame, node.func).function
    if function is None or not isinstance(function.node, ast.FunctionDef) or function.node.decorator_list:
        return ""
    machine = text.frame.machine
    inner = _Text(machine.module_frame(function.module), function.node, naming.names_in(machine, function), text.steps)
    returns = [one.value for one in own_scope(function.node) if isinstance(one, ast.Return)]
    forms = {_form(inner, one) if one is not None else "" for one in returns}
    return forms.pop() if len(forms) == 1 else ""
