"""What a tensor is computed of, as far as the texts tell: behind variables, loops, parameters and functions."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.library_calls import called
from nonstrict.facts.scopes import scope_of
from nonstrict.facts.texts import Root, text_of
from nonstrict.facts.use_def import use_def
from nonstrict.facts.walk import walk
from nonstrict.knowledge.operators import is_view_attribute
from nonstrict.program.discovery import callers
from nonstrict.program.domain.values import CONTAINERS, TENSORS, Kind
from nonstrict.program.interpret.loop_targets import iterated, loops_giving
from nonstrict.program.interpret.makers import made_by
from nonstrict.program.objects import naming

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nonstrict.program.domain.values import Value
    from nonstrict.program.interpret.loop_targets import Loop
    from nonstrict.program.state.frames import Frame

_TENSORS = TENSORS | CONTAINERS | {Kind.UNKNOWN, Kind.TUPLE, Kind.ITERATOR, Kind.OBJECT, Kind.INSTANCE}
#: What gives what it is given, one by one, or in batches.
_HANDING_ON = frozenset(
    {
        *(f"builtins.{one}" for one in ("list", "tuple", "iter", "next", "reversed", "zip", "enumerate")),
        *(f"torch.utils.data.{one}" for one in ("DataLoader", "TensorDataset", "Subset", "random_split")),
    }
)


#: How many variables are followed, at most.
_VARIABLES = 4


class Origin(NamedTuple):
    """An expression, and a frame that it is read in."""

    frame: Frame
    expression: ast.expr

    @property
    def call(self) -> ast.Call | None:
        """The call that it is."""
        return self.expression if isinstance(self.expression, ast.Call) else None

    @property
    def value(self) -> Value:
        """What the expression stands for."""
        return self.frame.machine.evaluate(self.frame, self.expression)

    @property
    def may_be_tensor(self) -> bool:
        """Whether that may be a tensor, or hold one."""
        return any(one.kind in _TENSORS for one in self.value.alternatives())


def source(one: Origin) -> Origin:
    """The expression behind the variables that another one is, as far as each is bound to one."""
    for _ in range(_VARIABLES):
        found = _of_variable(one.frame, one.expression) if isinstance(one.expression, ast.Name) else None
        if found is None or len(found) != 1:
            break
        one = found[0]
    return one


def origins(one: Origin, computes: Callable[[ast.Call], bool]) -> list[Origin] | None:
    """What an expression is computed of, one step on; None where that is not known, and [] of what is made anew.

    `computes` says of calls of something else than operators whether the result is one of what they are given.
    """
    if isinstance(one.expression, ast.Name):
        found = _of_variable(one.frame, one.expression)
    elif isinstance(one.expression, ast.Call):
        found = _of_call(one, one.expression, computes)
    else:
        operands = _operands(one.expression)
        found = None if operands is None else [Origin(one.frame, each) for each in operands]
    return None if found is None else [each for each in found if each.may_be_tensor]


def _operands(node: ast.expr) -> Sequence[ast.expr] | None:
    """The operands of what is no call and no variable."""
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return node.elts
    if isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
        return [node.elt]
    if isinstance(node, (ast.Dict, ast.BoolOp)):
        return node.values
    if isinstance(node, ast.Attribute):
        return [node.value] if is_view_attribute(node.attr) else None
    if isinstance(node, ast.UnaryOp):
        return [node.operand]
    if isinstance(node, (ast.Subscript, ast.NamedExpr, ast.Await, ast.Starred, ast.DictComp)):
        return [node.value]
    return [] if isinstance(node, ast.Constant) else None


def _of_call(one: Origin, node: ast.Call, computes: Callable[[ast.Call], bool]) -> list[Origin] | None:
    names = naming.names_at(one.frame)
    call = called(names, node)
    made = made_by(one.frame, node)
    if made.expression is not node:
        return [Origin(made.frame, made.expression)]
    known = call.operator is not None or computes(node) or names(node.func) in _HANDING_ON
    if not known or any(keyword.arg is None for keyword in node.keywords):
        return None
    operand = [call.operand] if call.is_method and call.operand is not None else []
    given = [*operand, *node.args, *(keyword.value for keyword in node.keywords)]
    return [Origin(one.frame, each) for each in given]


def _of_variable(frame: Frame, variable: ast.Name) -> list[Origin] | None:
    made = made_by(frame, variable)
    if made.expression is not variable:
        return [Origin(made.frame, made.expression)]
    function = frame.function
    loops = [*loops_giving(frame, variable, variable)]
    if not loops and function is not None and variable.id not in scope_of(function.node).local:
        outer = naming.closure_of(function) or frame.machine.module_frame(frame.module)
        return [Origin(outer, variable)] if outer is not frame else None
    bound, passed = _bound(frame, variable, loops), _passed(frame, variable)
    return [*bound, *passed] or None if bound is not None and passed is not None else None


def _bound(frame: Frame, variable: ast.Name, loops: Sequence[Loop]) -> list[Origin] | None:
    """What the statements and loops of a text bind a variable to; None where some of it is not known."""
    around = naming.text_of(frame)
    targets = {node for loop in loops for node in walk(loop.target)}
    found = [iterated(frame, loop, variable) for loop in loops]
    for one in use_def(around).every(variable.id):
        value = one.node.value if isinstance(one.node, ast.AugAssign) else one.value
        loop = _loop_of(around, one.node) if value is None else None
        value = loop.iter if isinstance(loop, (ast.For, ast.AsyncFor)) else value
        if value is not None:
            found.append(value)
        elif one.node not in targets and (loop is None or any(node is variable for node in walk(loop))):
            return None  # a comprehension elsewhere has a variable of its own
    return [Origin(frame, value) for value in found]


def _loop_of(around: Root, target: ast.AST) -> ast.AST | None:
    """The loop or comprehension whose target, or a part of that, something is."""
    parents = text_of(around).parents
    while isinstance(parents.get(target), (ast.Tuple, ast.List, ast.Starred)):
        target = parents[target]
    loop = parents.get(target)
    if isinstance(loop, ast.comprehension):
        return parents[loop]
    return loop if isinstance(loop, (ast.For, ast.AsyncFor)) else None


def _passed(frame: Frame, variable: ast.Name) -> list[Origin] | None:
    """What calls pass for a parameter; None where they are not known, and [] of what is none."""
    function = frame.function
    if function is None or variable.id not in scope_of(function.node).parameters:
        return []
    passed = [*callers.passings(frame.machine, function, variable.id)]
    found = [Origin(one.frame, one.expression) for one in passed if one.expression is not None]
    return found if found and len(found) == len(passed) else None
