"""The observer of compiled regions: hands what the interpreter comes to on to what knows of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.events import Event, Step
from nonstrict.knowledge.operators import nn_module
from nonstrict.program.contracts.regions import (
    arguments,
    assertions,
    breaks,
    callees,
    dispatch,
    folding,
    guarded,
    ignored,
    items,
    layers,
    operations,
    outputs,
    sequences,
    sizes,
)
from nonstrict.program.domain.access_paths import FRESH, Root
from nonstrict.program.domain.observer import Observer
from nonstrict.program.domain.values import BOOL, NO_CONSTANT, Flag, Kind, Value

if TYPE_CHECKING:
    import ast
    from collections.abc import Sequence

    from nonstrict.program.domain.definitions import Function
    from nonstrict.program.state.frames import Frame

#: What the table of graph breaks calls steps.
_STATEMENTS = {
    Step.BACKWARD_HOOK: "module-backward-hook",
    Step.ENVIRONMENT_WRITE: "environ-write",
    Step.CHAINED_COMPARISON: "chained-comparison-tensor",
    Step.TENSOR_IN_PERCENT: "percent-format-tensor",
    Step.TENSOR_IN_FSTRING: "fstring-tensor-format",
    Step.CLASS_DEFINITION: "class-definition",
    Step.AWAIT: "await",
    Step.CACHED_PROPERTY: "object-cached-property",
}


class RegionObserver(Observer["Frame", "Function"]):
    """Tells what breaks the graph, and answers what Dynamo decides while it traces."""

    is_of_region = True

    def called(
        self, frame: Frame, node: ast.AST, name: str, positional: Sequence[Value], keywords: dict[str, Value]
    ) -> None:
        """The table knows constructs by the names of what is called."""
        breaks.called(frame, node, name, positional, keywords)
        guarded.called(frame, node, name, positional, keywords)

    def method_called(
        self,
        frame: Frame,
        node: ast.AST,
        receiver: Value,
        name: str,
        positional: Sequence[Value],
        keywords: dict[str, Value],
    ) -> None:
        """The table knows methods by the kinds of their receivers."""
        breaks.method(frame, node, receiver, name, positional, keywords)
        guarded.method(frame, node, receiver, name, positional, keywords)

    def callee_evaluated(self, frame: Frame, node: ast.Call) -> None:
        """Dynamo guards the code of functions that it is given."""
        callees.called(frame, node)

    def native_called(self, frame: Frame, node: ast.AST, callee: str) -> None:
        """Dynamo does not know what is neither of torch, nor of NumPy or Triton."""
        breaks.native(frame, node, callee)

    def disabled_called(self, frame: Frame, node: ast.AST, callee: Value) -> None:
        """Eager code runs between two graphs."""
        breaks.emit(frame, node, breaks.DISABLED_MODULE if callee.kind is Kind.MODULE else breaks.DISABLED)

    def function_called(self, frame: Frame, node: ast.AST, function: Function) -> None:
        """A decorator may have it do what Dynamo does not trace."""
        breaks.decorated(frame, node, function)

    def module_called(self, frame: Frame, node: ast.AST, module: Value) -> None:
        """Some layers are refused; all run their hooks."""
        layers.called(frame, node, module)
        frame.emit(Event.LAYER, node, module.place, module)

    def layer_called(self, frame: Frame, node: ast.AST, module: Value, given: Sequence[Value]) -> None:
        """A layer of torch computes with what it is given."""
        known = nn_module(module.dotted)
        if known is not None:
            guarded.layered(frame, node, module, known, given)

    def is_choice(self, frame: Frame, node: ast.AST, alternatives: Sequence[Value]) -> bool:
        """Dynamo traces one of the entries of a container, and of several layers those that it does not refuse."""
        return dispatch.is_choice(frame, node) or layers.is_choice(alternatives)

    def reached(self, alternatives: Sequence[Value]) -> Sequence[Value]:
        """Beside a function that Dynamo knows stands what is called where nothing compiles."""
        return dispatch.met(alternatives)

    def left_out(self, frame: Frame, node: ast.AST, function: Function) -> Value | None:
        """Functions that are disabled, and those that an option names."""
        return ignored.left_out(frame, node, function)

    def truth(self, frame: Frame, test: ast.expr) -> bool | None:
        """What nothing rebinds is constant while tracing."""
        return folding.truth(frame, test)

    def truth_of(self, frame: Frame, value: Value) -> bool | None:
        """What nothing rebinds is constant while tracing."""
        return folding.of_value(frame, value)

    def decided(self, frame: Frame, node: ast.AST, value: Value) -> None:
        """What follows from data cannot be decided on."""
        breaks.decided(frame, node, value)
        guarded.decided(frame, node, value)

    def asserted(self, frame: Frame, statement: ast.Assert) -> bool:
        """Some assertions become operators of the graph."""
        assertions.asserted(frame, statement)
        return True

    def raised(self, frame: Frame, statement: ast.Raise) -> None:
        """The compiled function may do nothing else."""
        breaks.raised(frame, statement)

    def gradient_required(self, frame: Frame, node: ast.AST, tensor: Value) -> Value:
        """The graph breaks if the region returns what follows of it."""
        return breaks.needs_gradient(frame, node, tensor)

    def computed(self, frame: Frame, node: ast.AST, value: Value) -> None:
        """Graphs are told apart by what is computed between breaks."""
        operations.note(frame, node, value)

    def operated(self, frame: Frame, node: ast.BinOp | ast.UnaryOp, *operands: Value) -> Value | None:
        """There are numbers that Dynamo does not compute with."""
        guarded.computed(frame, node, *operands)
        return breaks.operated(frame, node, *operands)

    def loaded(self, frame: Frame, node: ast.AST, value: Value) -> Value:
        """Dynamo guards what the region has from outside."""
        return guarded.loaded(frame, node, value)

    def output_given(self, frame: Frame, node: ast.AST) -> None:
        """It has to have the shape of the result."""
        outputs.check(frame, node)

    def knows_number(self, frame: Frame, tensor: Value) -> bool:
        """Dynamo guards whole numbers that it is given."""
        return arguments.guards_item(tensor)

    def selected(self, frame: Frame, node: ast.Subscript, base: Value, index: Value) -> Value:
        """Dynamo has to know which entry it is: of a key that all calls of the region pass, it does."""
        breaks.selected(frame, node, base, index)
        guarded.selected(frame, node, base, index)
        if base.kind is Kind.DICT and index.const is NO_CONSTANT:
            return index._replace(const=dispatch.key(frame, node.slice))
        return index

    def indexed(self, frame: Frame, node: ast.Subscript, index: Value) -> None:
        """What is selected by data has a size that is not known."""
        items.indexed(frame, node, index)
        guarded.indexed(frame, node, items.parts(index))

    def sought(self, frame: Frame, node: ast.Compare, element: Value, holder: Value) -> Value | None:
        """Among tensors the answer is a tensor; among the numbers of one, a constant is never found."""
        guarded.sought(frame, node, element, holder)
        if items.sought(frame, node, element, holder):
            return Value(Kind.TENSOR, FRESH, flags=Flag.BOOLEAN)
        return BOOL if len(node.ops) == 1 and breaks.never_found(frame, node, element, holder) else None

    def iterated(self, frame: Frame, node: ast.AST, iterable: Value) -> None:
        """Dynamo has to know how many there are."""
        sequences.iterated(frame, node, iterable)
        guarded.iterated(frame, node, iterable)

    def looped_over(self, frame: Frame, node: ast.AST, iterable: Value) -> None:
        """An iterator that the region is given would be used up."""
        if iterable.kind is Kind.ITERATOR and iterable.place.root is Root.ARGUMENT:
            breaks.statement(frame, node, "for-iterator-argument")

    def identified(self, frame: Frame, node: ast.AST, value: Value) -> None:
        """Dynamo guards whether there is a value."""
        guarded.identified(frame, node, value)

    def ordered_by(self, frame: Frame, node: ast.AST, compared: Value) -> None:
        """Dynamo sorts by constants."""
        sequences.sorted_by(frame, node, compared)

    def extreme_by(self, frame: Frame, node: ast.AST, element: Value, compared: Value) -> None:
        """Dynamo compares constants."""
        sequences.extreme_by(frame, node, element, compared)

    def attribute_read(self, frame: Frame, node: ast.AST, base: Value) -> None:
        """Of what Dynamo refuses it sees no attributes."""
        layers.read(frame, node, base)

    def attribute_stored(self, frame: Frame, node: ast.AST, tensor: Value, name: str) -> None:
        """What a tensor is cannot be changed everywhere."""
        breaks.attribute_stored(frame, node, tensor, name)

    def part_stored(self, frame: Frame, node: ast.AST, index: Value) -> None:
        """A number taken out of a tensor is no index beside another one."""
        items.stored(frame, node, index)
        operations.stored(frame, node)
        guarded.indexed(frame, node, items.parts(index), stores=True)

    def entry_stored(self, frame: Frame, node: ast.AST, holder: Value, index: Value) -> None:
        """Dynamo has to know which entry it is."""
        guarded.stored(frame, node, holder, index)

    def part_augmented(self, frame: Frame, node: ast.Subscript, index: Value) -> None:
        """The part is selected before it is set."""
        items.augmented(frame, node, index)
        guarded.indexed(frame, node, items.parts(index), stores=True)

    def entered(self, frame: Frame, node: ast.AST, manager: Value) -> None:
        """The table knows context managers by what makes them."""
        breaks.entered(frame, node, manager)

    def yielded(self, frame: Frame, node: ast.AST) -> None:
        """The compiled function must not be a generator."""
        breaks.yielded(frame, node)

    def formatted(self, frame: Frame, node: ast.AST, given: Value) -> None:
        """Numbers taken out of tensors cannot."""
        items.formatted(frame, node, given)
        guarded.written(frame, node, given)

    def written(self, frame: Frame, node: ast.AST, given: Value) -> None:
        """A constant is written."""
        guarded.written(frame, node, given)

    def sized(self, frame: Frame, tensor: Value, size: Value, dimension: int | None) -> Value:
        """Dynamo guards sizes."""
        return sizes.of_tensor(tensor, size, dimension)

    def size_taken(self, frame: Frame, whole: Value, part: Value, dimension: int | None) -> Value:
        """Each by itself."""
        return sizes.part_of(whole, part, dimension)

    def bounded(self, frame: Frame, node: ast.AST, base: Value, bound: Value) -> None:
        """A slice may be bounded by what varies."""
        guarded.bounded(frame, node, base, bound)

    def came_to(self, frame: Frame, node: ast.AST, step: Step) -> None:
        """The table knows it as a statement of its own kind."""
        breaks.statement(frame, node, _STATEMENTS[step])
