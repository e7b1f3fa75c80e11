"""What the interpreter tells of what it comes to, and what it asks about it: the observer of a frame.

Frames of compiled regions have one that knows what Dynamo does there (`contracts.regions.observer`). Nobody
observes the others: what is told has no effect, and what is asked is answered as plain Python would.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    import ast
    from collections.abc import Sequence

    from nonstrict.events import Step
    from nonstrict.program.domain.values import Value

FrameT = TypeVar("FrameT")
FunctionT = TypeVar("FunctionT")


class Observer(Generic[FrameT, FunctionT]):
    """Hears of everything that a frame comes to, by the name of what happens; this one does not listen.

    Of each it is told the frame, the node where it happens, and the values that take part.
    """

    #: whether what it observes is a region, which Dynamo traces
    is_of_region = False

    # -- calls ----------------------------------------------------------------------------------------------------

    def called(
        self, frame: FrameT, node: ast.AST, name: str, positional: Sequence[Value], keywords: dict[str, Value]
    ) -> None:
        """A function or class outside the program is called."""

    def method_called(
        self,
        frame: FrameT,
        node: ast.AST,
        receiver: Value,
        name: str,
        positional: Sequence[Value],
        keywords: dict[str, Value],
    ) -> None:
        """A method of a value outside the program is called."""

    def callee_evaluated(self, frame: FrameT, node: ast.Call) -> None:
        """It is known what a call is of."""

    def native_called(self, frame: FrameT, node: ast.AST, callee: str) -> None:
        """Compiled code outside torch is called."""

    def disabled_called(self, frame: FrameT, node: ast.AST, callee: Value) -> None:
        """What `torch.compiler.disable` returned is called."""

    def function_called(self, frame: FrameT, node: ast.AST, function: FunctionT) -> None:
        """A function of the program is called."""

    def module_called(self, frame: FrameT, node: ast.AST, module: Value) -> None:
        """A module is called, of torch or of the program."""

    def layer_called(self, frame: FrameT, node: ast.AST, module: Value, given: Sequence[Value]) -> None:
        """A module whose `forward` is not of the program is called with something."""

    def is_choice(self, frame: FrameT, node: ast.AST, alternatives: Sequence[Value]) -> bool:
        """Whether it decides what happens which of several things a value is that is used at a node."""
        return False

    def reached(self, alternatives: Sequence[Value]) -> Sequence[Value]:
        """Those that are called of the things that a callee may be."""
        return alternatives

    def left_out(self, frame: FrameT, node: ast.AST, function: FunctionT) -> Value | None:
        """What the call of a function gives back that is not looked into; None for all others."""
        return None

    # -- decisions ------------------------------------------------------------------------------------------------

    def truth(self, frame: FrameT, test: ast.expr) -> bool | None:
        """Whether a condition is known to hold, so that only one way is gone; None where that is open."""
        return None

    def truth_of(self, frame: FrameT, value: Value) -> bool | None:
        """The same for a value."""
        return None

    def decided(self, frame: FrameT, node: ast.AST, value: Value) -> None:
        """The truth of a value is asked for."""

    def asserted(self, frame: FrameT, statement: ast.Assert) -> bool:
        """An assertion is made; whether it was decided here, otherwise than a branch is."""
        return False

    def raised(self, frame: FrameT, statement: ast.Raise) -> None:
        """An exception is raised that the function does not handle."""

    # -- tensors --------------------------------------------------------------------------------------------------

    def gradient_required(self, frame: FrameT, node: ast.AST, tensor: Value) -> Value:
        """`requires_grad_` of a tensor; the tensor from here on."""
        return tensor

    def computed(self, frame: FrameT, node: ast.AST, value: Value) -> None:
        """An expression that may compute a tensor has a value."""

    def loaded(self, frame: FrameT, node: ast.AST, value: Value) -> Value:
        """A variable, an attribute or an entry is read; the value, with what is known here of where it comes from."""
        return value

    def operated(self, frame: FrameT, node: ast.BinOp | ast.UnaryOp, *operands: Value) -> Value | None:
        """An operator has its operands; what it gives, None where that is what it is in plain Python."""
        return None

    def output_given(self, frame: FrameT, node: ast.AST) -> None:
        """An operator of torch is given the tensor that it writes into."""

    def knows_number(self, frame: FrameT, tensor: Value) -> bool:
        """Whether the number that is taken out of a tensor is a plain one."""
        return False

    # -- parts ----------------------------------------------------------------------------------------------------

    def selected(self, frame: FrameT, node: ast.Subscript, base: Value, index: Value) -> Value:
        """An entry of a container is asked for; the index, as far as it is known here."""
        return index

    def indexed(self, frame: FrameT, node: ast.Subscript, index: Value) -> None:
        """A part of a tensor is read."""

    def sought(self, frame: FrameT, node: ast.Compare, element: Value, holder: Value) -> Value | None:
        """Something is sought in a container; the answer, None where that is what it is in plain Python."""
        return None

    def iterated(self, frame: FrameT, node: ast.AST, iterable: Value) -> None:
        """The elements of a value are asked for one by one."""

    def looped_over(self, frame: FrameT, node: ast.AST, iterable: Value) -> None:
        """A `for` statement begins."""

    def identified(self, frame: FrameT, node: ast.AST, value: Value) -> None:
        """Which object a value is decides something: `x is None`."""

    def ordered_by(self, frame: FrameT, node: ast.AST, compared: Value) -> None:
        """Elements are sorted by a value that each has, the element itself if there is no key."""

    def extreme_by(self, frame: FrameT, node: ast.AST, element: Value, compared: Value) -> None:
        """The largest or smallest element by a key is asked for."""

    def attribute_read(self, frame: FrameT, node: ast.AST, base: Value) -> None:
        """An attribute of an object is read."""

    # -- stores ---------------------------------------------------------------------------------------------------

    def attribute_stored(self, frame: FrameT, node: ast.AST, tensor: Value, name: str) -> None:
        """An attribute of a tensor is set."""

    def part_stored(self, frame: FrameT, node: ast.AST, index: Value) -> None:
        """A part of a tensor is set."""

    def entry_stored(self, frame: FrameT, node: ast.AST, holder: Value, index: Value) -> None:
        """Something is put into a container under a key, or at a position."""

    def sized(self, frame: FrameT, tensor: Value, size: Value, dimension: int | None) -> Value:
        """The size of a tensor is asked for: all of them, or one of a dimension, if known; what it is then."""
        return size

    def size_taken(self, frame: FrameT, whole: Value, part: Value, dimension: int | None) -> Value:
        """One of the sizes of a tensor is taken, or some; what that is then."""
        return part

    def bounded(self, frame: FrameT, node: ast.AST, base: Value, bound: Value) -> None:
        """A number bounds a slice of something."""

    def part_augmented(self, frame: FrameT, node: ast.Subscript, index: Value) -> None:
        """A part of a tensor is changed in place, by an operator."""

    # -- the rest -------------------------------------------------------------------------------------------------

    def entered(self, frame: FrameT, node: ast.AST, manager: Value) -> None:
        """A context manager is entered."""

    def yielded(self, frame: FrameT, node: ast.AST) -> None:
        """The first `yield` of a function: it is a generator."""

    def formatted(self, frame: FrameT, node: ast.AST, given: Value) -> None:
        """Something is put into a string by `%`."""

    def written(self, frame: FrameT, node: ast.AST, given: Value) -> None:
        """Something is put into an f-string."""

    def came_to(self, frame: FrameT, node: ast.AST, step: Step) -> None:
        """Something is done of which there is no more to tell than what it is."""


#: Of code that is no part of a region.
NOBODY: Observer[Any, Any] = Observer()
