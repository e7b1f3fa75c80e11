"""Which shapes tensors have where a region computes with them, as far as its text and that of its callers tells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nonstrict.facts.use_def import use_def
from nonstrict.program.contracts.marks.shape_reading import Reader
from nonstrict.program.domain.shape_rules import UNKNOWN, Given, Tensor, is_size, items
from nonstrict.program.domain.shape_terms import ImpossibleError, Symbol, World
from nonstrict.program.domain.values import Flag, Kind
from nonstrict.program.objects import naming

if TYPE_CHECKING:
    import ast
    from collections.abc import Sequence

    from nonstrict.facts.library_calls import Called
    from nonstrict.facts.use_def import Definition
    from nonstrict.program.state.frames import Frame


def shape(frame: Frame, expression: ast.expr) -> tuple[int | None, ...] | None:
    """The sizes of a tensor, None for those that are not known; no sizes for a number, None where nothing is known."""
    reader = _AtFrame(frame)
    try:
        return reader.sizes(reader.value(expression))
    except ImpossibleError:
        return None


class _AtFrame(Reader):
    """Reads single expressions: variables are looked up as they are asked for, of a region also in its callers."""

    def __init__(self, frame: Frame) -> None:
        self._world = World({})
        super().__init__(naming.names_at(frame), [], [], self._world)
        self._frame = frame
        function = frame.function
        self._bound = use_def(function.node if function is not None else frame.module.outline.shell)
        self._numbers = 0

    def named(self, node: ast.Name) -> Any:
        """What a variable holds by all of its bindings, or what the interpreter knows for a number."""
        if node.id not in self.variables:
            self.variables[node.id] = None
            self.variables[node.id] = self._held(node)
        return self.variables[node.id]

    def is_mask(self, index: ast.expr) -> bool:
        """Whether the interpreter knows a tensor for one of truth values."""
        return bool(self._frame.machine.evaluate(self._frame, index).flags & Flag.BOOLEAN)

    def of_torch(self, call: Called, given: Given) -> Any:
        """What a function of torch gives, or a method that is taken for one of a tensor."""
        if call.operator is not None and given.values and given.values[0] is None:
            given = given._replace(values=[UNKNOWN, *given.values[1:]])
        return super().of_torch(call, given)

    def sizes(self, value: Any) -> tuple[int | None, ...] | None:
        """The sizes of a value as numbers."""
        if is_size(value) or isinstance(value, str):
            return ()
        dims = value.dims if isinstance(value, Tensor) else None
        known = [self._world.resolved(size) if size is not None else None for size in dims or ()]
        return None if dims is None else tuple(size if isinstance(size, int) else None for size in known)

    def _held(self, node: ast.Name) -> Any:
        known = self._frame.machine.evaluate(self._frame, node)
        if known.kind is Kind.NUMBER:
            return known.const if type(known.const) is int else self._number()
        parameters = self._frame.scope.parameters if self._frame.scope is not None else ()
        bound = self._bound.every(node.id)
        if node.id in parameters:
            return self._passed(node.id) if not bound and self._frame.caller is None else None
        if len(bound) == 1:
            return self._given(bound[0])
        # What it is bound to by what it holds, as in a loop, has the shape of what it is bound to elsewhere.
        first = next((one for one in self._assumed(node.id, None, bound) if self.sizes(one) is not None), None)
        sizes = self.sizes(first)
        assumed = Tensor((None,) * len(sizes)) if isinstance(first, Tensor) and sizes is not None else first
        return self._joined([self.sizes(one) for one in self._assumed(node.id, assumed, bound)])

    def _number(self) -> Symbol:
        self._numbers += 1
        return Symbol(self._numbers, -1)

    def _given(self, definition: Definition) -> Any:
        value = self.value(definition.value) if definition.value is not None else None
        if definition.part is None:
            return value
        parts = items(value)
        return parts[definition.part.at] if parts is not None and len(parts) == definition.part.number else None

    def _assumed(self, name: str, value: Any, bound: Sequence[Definition]) -> list[Any]:
        """What several bindings give where a variable holds a value before."""
        variables = self.variables
        self.variables = {**variables, name: value}
        found = [self._given(one) for one in bound]
        self.variables = variables
        return found

    def _passed(self, name: str) -> Any:
        """What all callers of a region pass."""
        from nonstrict.program.contracts.boundary.varying import given_expressions

        function = self._frame.function
        passed = given_expressions(self._frame.machine, function, name) if function is not None else ()
        return self._joined([shape(caller, expression) for caller, _, expression in passed])

    def _joined(self, shapes: Sequence[tuple[int | None, ...] | None]) -> Tensor | None:
        """A tensor with what several have in common."""
        first = shapes[0] if shapes else None
        if first is None or any(one is None or len(one) != len(first) for one in shapes):
            return None
        several = zip(*(one for one in shapes if one is not None), strict=True)
        return Tensor(tuple(sizes[0] if len(set(sizes)) == 1 else None for sizes in several))
