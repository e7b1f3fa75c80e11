"""Calls of functions of libraries, and of methods, by what their names stand for.

What a name stands for is told by whoever resolves names across files (`nonstrict.program.objects.naming`).
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from nonstrict.knowledge.operators import tensor_method, torch_function

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nonstrict.knowledge.operators import Operator

#: Tells of an expression which dotted name it stands for outside the program, "" where none is known.
Names: TypeAlias = "Callable[[ast.AST], str]"


class Called(NamedTuple):
    """A call of a function of a library, or of a method.

    `library` is the package the function is of, "" for a method; `operand` is what a method is called on, or the first
    argument; `given` are the positional arguments behind it; `dotted` is the whole name of the function.
    """

    library: str
    name: str
    operand: ast.expr | None
    given: Sequence[ast.expr]
    dotted: str = ""

    @property
    def is_method(self) -> bool:
        """Whether this is a method, or may be one."""
        return not self.library

    @property
    def operator(self) -> Operator | None:
        """What torch says of the function, or of the method, which is taken for one of a tensor; None for others."""
        return tensor_method(self.name) if self.is_method else torch_function(self.dotted)


def called(names: Names, node: ast.Call) -> Called:
    """What a call calls: the function of a library that its name stands for, else a method; "" for anything else."""
    known = names(node.func)
    if known:
        library, _, rest = known.partition(".")
        return Called(library, rest.rpartition(".")[2], next(iter(node.args), None), node.args[1:], known)
    if isinstance(node.func, ast.Attribute):
        return Called("", node.func.attr, node.func.value, node.args)
    return Called("", "", None, ())
