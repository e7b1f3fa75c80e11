"""Parameters of modules that a loop gives a region one after the other: each has sizes of its own.

That is so where the file makes layers whose parameters are not all of one size; of others nothing is known.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.memo import remembered
from nonstrict.facts.shapes import PARAMETERS
from nonstrict.facts.walk import walk
from nonstrict.knowledge.operators import nn_module
from nonstrict.program.contracts.regions import rates
from nonstrict.program.domain.values import Kind
from nonstrict.program.interpret.loop_targets import iterated, loops_giving
from nonstrict.program.objects import naming

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.facts.library_calls import Names
    from nonstrict.program.state.frames import Frame

#: The argument by which a layer has one parameter less.
_BIAS = "bias"
_SEVERAL = 2


def is_given(frame: Frame, call: ast.AST, passed: ast.expr) -> bool:
    """Whether a call is given the parameters of modules, one after the other, which are of several sizes."""
    is_parameter = frame.machine.evaluate(frame, passed).kind is Kind.PARAMETER
    loops = loops_giving(frame, call, passed)
    given = any(is_parameter or rates.are_parameters(frame, iterated(frame, loop, passed)) for loop in loops)
    return given and _are_of_several_sizes(frame)


def _are_of_several_sizes(frame: Frame) -> bool:
    """Whether the layers that a file makes have parameters of several sizes."""
    return len(remembered(frame.module.outline.shell, "_nonstrict_parameters", lambda _: {*_made(frame)})) >= _SEVERAL


def _made(frame: Frame) -> Iterator[tuple[str, ...]]:
    """The parameters of the layers that a file makes: which they are, and what says their sizes."""
    module = frame.module
    texts = [module.outline.shell, *map(module.outline.node, module.outline.chunks)]
    for text in texts:
        names = naming.names_below(frame.machine, module, text) if text is not None else None
        for node in walk(text) if text is not None else ():
            if names is not None and isinstance(node, (ast.ListComp, ast.GeneratorExp)) and _varies(names, node):
                yield from (("parameter", str(at)) for at in range(_SEVERAL))
            known = nn_module(names(node.func)) if names is not None and isinstance(node, ast.Call) else None
            if known is not None and known.sized and isinstance(node, ast.Call):
                told = {one.arg: one.value for one in node.keywords}
                bias = told.get(_BIAS)
                without = isinstance(bias, ast.Constant) and bias.value is False
                sizes = [*node.args[: len(known.sized)], *(told[name] for name, _ in known.sized if name in told)]
                spelled = tuple(map(ast.dump, sizes))
                for parameter in sorted(known.parameters - ({_BIAS} if without else set[str]())):
                    yield parameter, *spelled


def _varies(names: Names, made: ast.ListComp | ast.GeneratorExp) -> bool:
    """Whether a comprehension makes parameters of what it goes through: `[Parameter(torch.ones(n)) for n in sizes]`."""
    targets = {one.id for part in made.generators for one in walk(part.target) if isinstance(one, ast.Name)}
    parameters = (one for one in walk(made.elt) if isinstance(one, ast.Call) and names(one.func) in PARAMETERS)
    return any(isinstance(one, ast.Name) and one.id in targets for call in parameters for one in walk(call))
