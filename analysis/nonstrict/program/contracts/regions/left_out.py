"""What a region does that torch leaves out of its CUDA graphs, or for which it runs the region without them.

Which it is the table says (`nonstrict.knowledge.cuda_graphs`); here is looked for what its rows are about.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.events import Event
from nonstrict.facts import succession
from nonstrict.facts.library_calls import called
from nonstrict.facts.reaching import source
from nonstrict.facts.texts import text_of
from nonstrict.facts.walk import own_scope
from nonstrict.findings import Related
from nonstrict.knowledge import cuda_graphs
from nonstrict.knowledge.operators import tensor_method
from nonstrict.program.contracts.regions import calls, devices, options
from nonstrict.program.contracts.regions.capturing import LeftOut, Part
from nonstrict.program.domain.access_paths import AccessPath, Root
from nonstrict.program.domain.effects import Effect, Observed, reachable, span_of
from nonstrict.program.domain.values import Flag, Kind
from nonstrict.program.mutations import writes
from nonstrict.program.objects import naming, placement
from nonstrict.program.objects.classes import is_module

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nonstrict.facts.library_calls import Called, Names
    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.domain.definitions import Function
    from nonstrict.program.domain.effects import Reached
    from nonstrict.program.domain.values import Value
    from nonstrict.program.state.frames import Frame

_CONDITIONS = frozenset({"torch.cond", "torch.ops.higher_order.cond", "functorch.experimental.control_flow.cond"})
_GPU = "cuda:"
_PASSED = "passed here"
#: What is held outside of the region.
_HELD = frozenset({Part.SCALAR, Part.MOVED, Part.GLOBAL_SCALAR})
_COUNTING = "capture_dynamic_output_shape_ops"


class _Text(NamedTuple):
    """The text of a function of the region, what its names stand for, and what its expressions held."""

    region: Interpreted
    function: Function
    names: Names
    reached: Reached

    def is_left_there(self, value: Value) -> bool:
        """Whether nothing is known to move what lives outside of the region: a global, or an attribute of a module."""
        region, place = self.region, value.place
        if place.root is Root.GLOBAL and not place.path:
            return not writes.changes(region.machine, place)  # also by what runs before anything is compiled
        if place.root is not Root.ARGUMENT or not place.path:
            return False
        owner = (region.owners_at(place) or [None])[-1]
        return owner is not None and is_module(owner)

    @property
    def counts(self) -> bool:
        """Whether the program has Dynamo trace operators whose results are as large as data decides."""
        return options.is_set(self.region.machine, _COUNTING, self.region.mark.path)

    def holds(self, node: ast.AST | None) -> Value | None:
        """What an expression held; None where it was not come to."""
        return self.reached.summary.held.get(node) if node is not None else None

    def is_on_cpu(self, node: ast.AST | None) -> bool:
        """Whether an expression surely gives a tensor of the CPU."""
        value = self.holds(node)
        return value is not None and devices.is_made_there(value)

    def always(self, node: ast.AST) -> bool:
        """Whether each call of the region comes to an expression."""
        is_reached = not any(edge.conditional for edge in self.reached.chain)
        return is_reached and succession.surely_runs(self.function.node, node)

    def uses(self, made: ast.expr) -> Iterator[ast.expr]:
        """Where what an expression gives is used: itself, or wherever the variable is read that it is bound to."""
        around = text_of(self.function.node).parents.get(made)
        if not isinstance(around, (ast.Assign, ast.AnnAssign)):
            if not isinstance(around, ast.Expr):
                yield made
            return
        for one in own_scope(self.function.node):
            if not isinstance(one, ast.Name) or not isinstance(one.ctx, ast.Load):
                continue
            if source(self.function.node, one) is made:
                yield one

    def makes_on_cpu(self, node: ast.Call, call: Called) -> bool:
        """Whether a call makes a tensor on the CPU, of nothing that is there, with which is computed."""
        return self.is_on_cpu(node) and not self.is_on_cpu(call.operand) and self.is_computed_with(node)

    def has_number_there(self, node: ast.expr, value: Value) -> bool:
        """Whether an expression always gives a tensor without dimensions that is held, and left, on the CPU."""
        is_there = bool(value.flags & Flag.SCALAR) and self.is_on_cpu(node) and self.is_left_there(value)
        return is_there and self.always(node)

    def is_computed_with(self, made: ast.expr) -> bool:
        """Whether each call computes with what an expression gives, and something comes of that."""
        return any(self.always(one) and self.is_operand(one) for one in self.uses(made))

    def is_operand(self, node: ast.expr) -> bool:
        """Whether something is computed of an expression, beyond what it is, that is not lost."""
        parents = text_of(self.function.node).parents
        around = parents.get(node)
        call = parents.get(around) if isinstance(around, ast.Attribute) else around
        if isinstance(around, ast.Attribute) and isinstance(call, ast.Call) and call.func is around:
            operator = tensor_method(around.attr)
            if operator is None or operator.metadata or operator.returns not in ("tensor", "tensors"):
                return False
        elif isinstance(around, ast.Call):
            operator = called(self.names, around).operator
            if operator is None or operator.metadata:
                return False
        elif not isinstance(around, (ast.BinOp, ast.UnaryOp, ast.Subscript, ast.Compare)) or _asks_which(around):
            return False
        return not self._is_lost(node)

    def _is_lost(self, node: ast.AST) -> bool:
        """Whether the statement around an expression binds variables alone, and nothing reads them."""
        parents, statement = text_of(self.function.node).parents, node
        while not isinstance(statement, ast.stmt):
            statement = parents[statement]
        if not isinstance(statement, ast.Assign) or not all(isinstance(one, ast.Name) for one in statement.targets):
            return False
        return not any(True for _ in self.uses(statement.value))

    def told(self, node: ast.expr, part: Part, name: str = "", row: str = "") -> Iterator[LeftOut]:
        """What torch does with a part of a region, if it does not capture it."""
        function, reached = self.function, self.reached
        effect = _effect(function.module.path, function.offset, node, name)
        yield from _judged(self.region, Observed(effect, reached.chain, reached.in_hook), part, row)


def _asks_which(node: ast.AST) -> bool:
    """Whether a comparison asks which object something is."""
    return isinstance(node, ast.Compare) and all(isinstance(one, (ast.Is, ast.IsNot)) for one in node.ops)


def of_region(region: Interpreted) -> Iterator[LeftOut]:
    """What is left out of the CUDA graphs of a region, each place once."""
    found: dict[ast.AST, LeftOut] = {}
    has_default = devices.has_default(region)  # then nobody knows what is on the CPU
    for text in _texts(region):
        for one in _in_text(text):
            if not (has_default and one.part.is_on_cpu):
                found.setdefault(one.seen.effect.node, one)
    for one in (*_assigned(region), *_whole(region)):
        found.setdefault(one.seen.effect.node, one)
    is_unsure = any(one.part in _HELD for one in found.values()) and devices.may_move(region)
    yield from (one for one in found.values() if not (is_unsure and one.part in _HELD))


def of_dynamic_sizes(region: Interpreted, seen: Observed) -> Iterator[LeftOut]:
    """What follows from a size that varies, where the program has Inductor leave that out."""
    option = f"{options.INDUCTOR}.triton.cudagraph_skip_dynamic_graphs"
    if options.is_always(region.machine, option, region.mark.path, value=True):
        yield from _judged(region, seen, Part.DYNAMIC)


def _judged(region: Interpreted, seen: Observed, part: Part, row: str = "") -> Iterator[LeftOut]:
    """What torch does with a part of a region, if it does not capture it: its row says so, or another one."""
    group, name = part.value
    kept = cuda_graphs.captured(group, row or name, region.backend)
    if kept is None or not (kept.apart or kept.skipped):
        return
    # A graph that is not split has all of it skipped.
    partition = f"{options.INDUCTOR}.graph_partition"
    is_whole = options.is_always(region.machine, partition, region.mark.path, value=False)
    yield LeftOut(seen, part, skipped=not kept.recorded or is_whole)


def _effect(path: str, offset: int, node: ast.expr, name: str = "") -> Effect:
    return Effect(Event.LEFT_OUT, path, offset, node, AccessPath(Root.UNKNOWN, "", name or ast.unparse(node)))


def _whole(region: Interpreted) -> Iterator[LeftOut]:
    """All of a region, where an option of Inductor's has none."""
    mark, option = region.mark, f"{options.INDUCTOR}.cpp_wrapper"
    if isinstance(mark.node, ast.expr) and options.is_always(region.machine, option, mark.path, value=True):
        effect = _effect(mark.path, mark.offset, mark.node, option)
        yield from _judged(region, Observed(effect, (), in_hook=False), Part.CPP_WRAPPER)


def _texts(region: Interpreted) -> Iterator[_Text]:
    for reached in reachable(region.summary):
        function = reached.summary.definition if reached.chain else region.mark.function
        if function is not None:
            yield _Text(region, function, naming.names_in(region.machine, function), reached)


def _in_text(text: _Text) -> Iterator[LeftOut]:
    gpus: set[str] = set()
    for node in own_scope(text.function.node):
        if isinstance(node, ast.Call):
            yield from _of_call(text, node, gpus)
        elif isinstance(node, ast.Subscript):
            yield from _of_index(text, node)
        elif isinstance(node, ast.BinOp):
            yield from _of_operands(text, (node.left, node.right))


def _of_call(text: _Text, node: ast.Call, gpus: set[str]) -> Iterator[LeftOut]:
    call = called(text.names, node)
    if call.dotted in _CONDITIONS and _decides_by_data(text, node):
        yield from text.told(node, Part.CONDITION, call.dotted)
    yield from _on_other_gpu(text, node, call, gpus)
    operator = call.operator
    if operator is None:
        return
    if operator.dynamic_shape and text.counts:
        yield from text.told(node, Part.COUNTED)
    if operator.pointwise:
        yield from _of_operands(text, _operands(node))
    if placement.is_moved(call, ()):
        yield from _moved(text, node, call)
    elif not call.is_method and text.makes_on_cpu(node, call):
        part, row = (Part.DRAWN, f"drawn by {call.dotted}") if operator.random else (Part.MADE, "")
        yield from text.told(node, part, ast.unparse(node.func), row)


def _decides_by_data(text: _Text, node: ast.Call) -> bool:
    """Whether the first argument of `torch.cond` is a tensor: of what Python knows, Dynamo traces one side."""
    given = [*node.args[:1], *(keyword.value for keyword in node.keywords if keyword.arg == "pred")]
    values = [text.holds(one) for one in given]
    return any(value is not None and value.is_tensor for value in values)


def _moved(text: _Text, node: ast.Call, call: Called) -> Iterator[LeftOut]:
    """A tensor is copied from one device to another."""
    moved, result = text.holds(call.operand), text.holds(node)
    if moved is None or result is None or call.operand is None:
        return
    if moved.place.root is Root.ARGUMENT and not moved.place.path and _goes_to_gpu(text, node, call, moved.place):
        yield from _of_argument(text, call.operand, moved, Part.ARGUMENT_MOVED)
    elif not moved.is_tensor:
        return
    elif text.is_on_cpu(call.operand):
        if not text.is_on_cpu(node) and text.always(node) and text.is_left_there(moved):
            yield from text.told(call.operand, Part.MOVED)
    elif text.is_on_cpu(node) and text.is_computed_with(node):
        yield from text.told(node, Part.COPIED_BACK)


def _goes_to_gpu(text: _Text, node: ast.Call, call: Called, moved: AccessPath) -> bool:
    """Whether a call surely moves what a place holds to a GPU: a device that it names, or that of another tensor."""
    told = next((one.value for one in node.keywords if one.arg == "device"), next(iter(node.args), None))
    is_gpu = placement.is_gpu(call, text.holds(told))
    if told is None or is_gpu:
        return is_gpu
    whose = told.value if isinstance(told, ast.Attribute) and told.attr == "device" else told
    value, region = text.holds(whose), text.region
    if value is None or not value.is_tensor or text.is_on_cpu(whose) or value.place == moved:
        return False
    if value.place.root is Root.ARGUMENT and not value.place.path:
        return not devices.is_passed_from_cpu(region, region.parameter_at(value.place))
    return not devices.may_be_on_cpu(region)


def _operands(node: ast.Call) -> list[ast.expr]:
    return [*([node.func.value] if isinstance(node.func, ast.Attribute) else []), *node.args]


def _of_index(text: _Text, node: ast.Subscript) -> Iterator[LeftOut]:
    """A tensor is indexed by one that is made of numbers: torch makes an index that counts, or draws, where it is."""
    base, mask = text.holds(node.value), text.holds(node.slice)
    if text.counts and mask is not None and mask.flags & Flag.BOOLEAN and isinstance(node.ctx, ast.Load):
        yield from text.told(node, Part.SELECTED)
    if base is None or not (base.is_tensor or base.kind is Kind.UNKNOWN) or text.is_on_cpu(node.value):
        return
    for index in node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]:
        made, value = source(text.function.node, index), text.holds(index)
        operator = called(text.names, made).operator if isinstance(made, ast.Call) else None
        if operator is None or not operator.of_data or not text.is_on_cpu(index) or not text.is_computed_with(made):
            continue
        if value is not None and not value.flags & Flag.SCALAR:  # which is a number to torch
            stores = isinstance(node.ctx, ast.Store)
            yield from text.told(made, Part.STORED_INDEX if stores else Part.INDEX, ast.unparse(node.value))


def _of_operands(text: _Text, operands: Sequence[ast.expr]) -> Iterator[LeftOut]:
    """A tensor without dimensions, from outside of the region, is computed with beside one on the GPU."""
    for operand in operands:
        others = (text.holds(one) for one in operands if one is not operand and not text.is_on_cpu(one))
        value = text.holds(operand)
        if value is None or not any(one is not None and one.is_tensor for one in others):
            continue
        if value.place.root is Root.ARGUMENT and not value.place.path:
            yield from _of_argument(text, operand, value, Part.ARGUMENT_SCALAR)
        elif text.has_number_there(operand, value):
            is_global = value.place.root is Root.GLOBAL and not value.place.path
            yield from text.told(operand, Part.GLOBAL_SCALAR if is_global else Part.SCALAR)


def _of_argument(text: _Text, operand: ast.expr, value: Value, part: Part) -> Iterator[LeftOut]:
    """An argument of the region which a call passes from the CPU: any that is moved, else one without dimensions."""
    region = text.region
    if text.reached.chain or not text.always(operand):
        return
    for frame, _, given in calls.given(region, region.parameter_at(value.place)):
        passed = frame.machine.evaluate(frame, given)
        is_one = part is Part.ARGUMENT_MOVED or bool(passed.flags & Flag.SCALAR)
        if is_one and devices.is_made_there(passed) and _is_passed_as_made(region, frame, given, passed):
            there = Related(span_of(frame.module.path, frame.offset, given), _PASSED)
            yield from (one._replace(evidence=(there,)) for one in text.told(operand, part))
            return


def _is_passed_as_made(region: Interpreted, frame: Frame, given: ast.expr, passed: Value) -> bool:
    """Whether nothing is known to move what a call passes: in between, or where another text makes it."""
    around, place = naming.text_of(frame), passed.place
    is_global = place.root is Root.GLOBAL and not place.path
    if writes.changes(region.machine, place) if is_global else region.writers(place):
        return False
    made = source(around, given) if not isinstance(around, ast.ClassDef) else given
    is_made_here = isinstance(made, ast.Call) and called(naming.names_at(frame), made).operator is not None
    return is_made_here or not devices.may_move(region)


def _on_other_gpu(text: _Text, node: ast.Call, call: Called, gpus: set[str]) -> Iterator[LeftOut]:
    """A call names another GPU than one before."""
    named = [keyword.value for keyword in node.keywords if keyword.arg == "device"]
    if placement.is_moved(call, ()):
        named += node.args[:1]
    for one in named:
        value = text.holds(one)
        name = value.const if value is not None else None
        name = f"{_GPU}{name}" if type(name) is int else name
        if isinstance(name, str) and name.startswith(_GPU):
            if gpus and name not in gpus:
                yield from text.told(one, Part.OTHER_GPU, name)
            gpus.add(name)


def _assigned(region: Interpreted) -> Iterator[LeftOut]:
    """What gives a tensor from outside of the region other memory: `x.data = ...`."""
    for seen in region.observed(Event.REBIND_DATA, Event.TENSOR_WRITE, Event.INPUT_WRITE):
        node = seen.effect.node
        node = node.target if isinstance(node, ast.AugAssign) else node
        is_data = isinstance(node, ast.Attribute) and node.attr == "data" and isinstance(node.ctx, ast.Store)
        outside = seen.effect.place.captured or seen.effect.place.root is Root.ARGUMENT
        if is_data and outside:
            yield from _judged(region, seen, Part.DATA)
