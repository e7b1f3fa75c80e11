"""What a tensor that a call of a region passes is made as: of which dtypes, a parameter, needing gradients or not."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.library_calls import called
from nonstrict.facts.reaching import source
from nonstrict.facts.walk import walk
from nonstrict.knowledge.dtypes import DTYPES, named_dtype
from nonstrict.program.contracts.marks.form_tables import UNKNOWN
from nonstrict.program.contracts.marks.tensor_forms import Forms
from nonstrict.program.contracts.regions import outward, requiring
from nonstrict.program.interpret.makers import made_by
from nonstrict.program.interpret.rounds import entries_in_loop
from nonstrict.program.objects import naming

if TYPE_CHECKING:
    from nonstrict.facts.library_calls import Names
    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.program.contracts.marks.form_tables import Form
    from nonstrict.program.domain.values import Value
    from nonstrict.program.state.frames import Frame

#: The dtype of what is told none, where the program sets no other.
_DEFAULT = "float32"
_SETS_DEFAULT = frozenset({"set_default_dtype", "set_default_tensor_type"})
#: What a dtype is told by beside a keyword.
_CONVERSIONS = frozenset({"to", "type"})


class Made(NamedTuple):
    """The dtypes that a tensor has, several in a loop that goes through them, and what it is to autograd.

    What is not known is empty.
    """

    dtypes: frozenset[str] = frozenset()
    form: str = ""


def made(frame: Frame, call: ast.AST, expression: ast.expr) -> Made:
    """How the tensor is made that a call passes."""
    making = made_by(frame, expression)
    told = _told_dtype(naming.names_at(making.frame), making.expression)
    said = making.told(told) if told is not None else None
    looped = _dtypes(frame, call, said, outward.HOPS) if said is not None else None
    if looped:
        dtypes = looped if looped <= DTYPES else frozenset[str]()
    else:
        forms = _Forms(naming.text_of(making.frame), naming.names_at(making.frame))
        dtype = forms.of(making.expression).dtype
        dtype = _DEFAULT if dtype == "default" and not _sets_default(frame) else dtype
        dtypes = frozenset({dtype}) & DTYPES
    return Made(dtypes, requiring.form(frame, expression))


def _dtypes(frame: Frame, call: ast.AST, told: ast.expr, hops: int) -> frozenset[str]:
    """The dtypes that are told in the rounds of a loop, or in the calls of the function around it; none if unknown."""
    entries = entries_in_loop(frame, call, told)
    if entries or not hops:
        return frozenset(map(_dtype_of, entries))
    outer = list(outward.asked_of_callers(outward.Asked(frame, call, told)))
    if not outer:
        return frozenset({named} if (named := _dtype_of(frame.machine.evaluate(frame, told))) in DTYPES else ())
    return frozenset[str]().union(*(_dtypes(*one, hops - 1) for one in outer))


def _dtype_of(entry: Value) -> str:
    return named_dtype(entry.dotted) if entry.dotted else entry.const if isinstance(entry.const, str) else ""


class _Forms(Forms):
    """The forms of expressions, in which variables are what they are bound to where they are read."""

    def __init__(self, around: FunctionNode | ast.Module, names: Names) -> None:
        super().__init__(around, names)
        self._around = around
        self._followed = frozenset[ast.expr]()

    def of(self, node: ast.expr) -> Form:
        """The form of the tensor that an expression makes, or that a variable holds there."""
        bound = source(self._around, node)
        if bound is node or isinstance(bound, ast.Name) or bound in self._followed:
            return super().of(node) if bound is node else UNKNOWN
        before, self._followed = self._followed, self._followed | {bound}
        found = self.of(bound)
        self._followed = before
        return found


def _told_dtype(names: Names, source: ast.expr) -> ast.expr | None:
    """What a call that makes a tensor is told as its dtype."""
    if not isinstance(source, ast.Call):
        return None
    call = called(names, source)
    first = call.given[0] if call.is_method and call.name in _CONVERSIONS and call.given else None
    return next((keyword.value for keyword in source.keywords if keyword.arg == "dtype"), first)


def _sets_default(frame: Frame) -> bool:
    """Whether the file sets the dtype of tensors that are told none."""
    module = frame.module
    if not any(map(module.holds, _SETS_DEFAULT)):
        return False
    texts = [module.outline.shell, *(module.outline.node(chunk) for chunk in module.chunks_with(set(_SETS_DEFAULT)))]
    return any(_calls_any(naming.names_below(frame.machine, module, text), text) for text in texts if text is not None)


def _calls_any(names: Names, text: ast.AST) -> bool:
    calls = (called(names, node) for node in walk(text) if isinstance(node, ast.Call))
    return any(call.library == "torch" and call.name in _SETS_DEFAULT for call in calls)
