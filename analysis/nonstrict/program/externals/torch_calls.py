"""Calls of torch's functions and classes, by the operator tables."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from nonstrict.events import Event, Read, Taken
from nonstrict.knowledge.operators import Operator, nn_module, torch_function, torch_kind
from nonstrict.program.domain import symbols
from nonstrict.program.domain.access_paths import CAPTURED, FRESH, HOST, VIEW, Root
from nonstrict.program.domain.effects import Sight
from nonstrict.program.domain.values import (
    BOOL,
    FALSE,
    NONE,
    NUMBER,
    TENSORS,
    UNKNOWN,
    AbstractObject,
    Flag,
    Kind,
    Value,
    container,
    holding,
    relocated,
    without_gradients,
)
from nonstrict.program.externals import functional_calls, gradients, held_modules, storages
from nonstrict.program.objects import (
    attributes,
    container_flow,
    dimensions,
    dtypes,
    known_tensors,
    placement,
    subscripts,
    symbolic_sizes,
    typed,
)
from nonstrict.program.state import checked_symbols

if TYPE_CHECKING:
    from nonstrict.program.state.frames import Frame

#: Functions that make a tensor of an array without a copy.
_SHARING = frozenset({"torch.from_numpy", "torch.as_tensor", "torch.asarray"})
_GENERATORS = frozenset({"torch.Generator", "torch._C.Generator", "torch.default_generator"})
_PARAMETERS = frozenset({"torch.nn.Parameter", "torch.nn.parameter.Parameter", "torch.nn.UninitializedParameter"})
_BUFFERS = frozenset({"torch.nn.Buffer", "torch.nn.parameter.Buffer"})
#: Operators that are more than their entry in the tables says, besides those that hand on what they are given.
_SPECIAL_NAMES = frozenset({"where", "one_hot"})
_NUMBERS = frozenset({Kind.NUMBER, Kind.BOOL})
#: Options of torch's layers without which parameters are None.
_PARAMETER_OPTIONS = {"bias": ("bias",), "elementwise_affine": ("weight", "bias"), "affine": ("weight", "bias")}
#: Operators whose result says how large a tensor is.
_SHAPE_RESULTS = frozenset({"size", "numel", "nelement", "__len__"})


def knows(name: str) -> bool:
    """Whether the tables of torch's public names have a name."""
    return torch_function(name) is not None or torch_kind(name) is not None


def call(frame: Frame, node: ast.AST, name: str, positional: list[Value], keywords: dict[str, Value]) -> Value:
    """The result of calling a torch function or class."""
    operator = torch_function(name)
    if operator is not None:
        return apply(frame, node, name, operator, positional, keywords)
    if name in _PARAMETERS:
        needs = keywords.get("requires_grad", positional[1] if len(positional) > 1 else UNKNOWN)
        return Value(Kind.PARAMETER, flags=Flag.FROZEN if needs.const is False else Flag.NONE)
    if name in _BUFFERS:
        return dtypes.registered(positional[0] if positional else keywords.get("data", UNKNOWN))
    if name in _GENERATORS:
        return Value(Kind.GENERATOR)
    kind = torch_kind(name)
    if kind == "nn-module-class" or nn_module(name) is not None:
        return _module(name, positional, keywords)
    if kind == "tensor-class":
        return Value(Kind.TENSOR, flags=Flag.NONE if positional or keywords else Flag.EMPTY)
    if (called := functional_calls.called(frame, node, name, positional, keywords)) is not None:
        return called
    values = [*positional, *keywords.values()]
    for value in values:
        container_flow.consume_all(frame, node, value)
        frame.sink(value)
    functional_calls.call_given(frame, node, values)
    if kind in ("class", "context-manager", "optimizer-class"):
        return Value(Kind.INSTANCE, FRESH, name, placement.device_named(name, positional))
    if name == "torch.autograd.grad":
        return gradients.computed(frame, keywords)
    if any(value.kind in (Kind.FUNCTION, Kind.BOUND, Kind.PARTIAL) for value in positional[:1]):
        return functional_calls.transformed(positional)
    made = typed.result(frame.machine.models, frame.machine.models.result(name))
    return made._replace(flags=Flag.FLOATING) if made.is_tensor else UNKNOWN


def _module(name: str, positional: list[Value], keywords: dict[str, Value]) -> Value:
    """A module of torch: with its children, and whether its arguments switch on what depends on the mode."""
    heap = AbstractObject()
    made = Value(Kind.MODULE, FRESH, name, heap=heap)
    held_modules.hold(made, positional, keywords)
    heap.switched = held_modules.is_switched(name, positional, keywords)
    for option, names in _PARAMETER_OPTIONS.items():
        if keywords.get(option, UNKNOWN).const is False:
            heap.attributes.update(dict.fromkeys(names, NONE))
    return made


def apply(
    frame: Frame,
    node: ast.AST,
    name: str,
    operator: Operator,
    positional: list[Value],
    keywords: dict[str, Value],
) -> Value:
    """The result of an operator, and its effects: in-place writes, data that escapes, sizes that depend on data."""
    plan = _PLAIN.get(name)
    if plan is None:
        plan = _PLAIN[name] = _is_plain(name, operator)
    if not plan:
        result = storages.made(name, operator, positional, _applied(frame, node, name, operator, positional, keywords))
    else:
        result = _plain(frame, node, name, operator, positional, keywords)
    if keywords and gradients.asked_for(keywords) and result.is_tensor:
        result = gradients.needing(result)
    if result.is_tensor:
        last = name.rpartition(".")[2]
        flags = result.flags & ~Flag.ON_CPU | dimensions.of_result(operator, last, positional, keywords)
        flags |= placement.of_result(operator, last, positional, keywords)
        result = result if flags == result.flags else result._replace(flags=flags)
    if not frame.region and positional and positional[0].flags & Flag.LITERAL:
        return _of_literals(frame, node, name, operator, positional, keywords, result)
    return result


def _of_literals(
    frame: Frame,
    node: ast.AST,
    name: str,
    operator: Operator,
    positional: list[Value],
    keywords: dict[str, Value],
    result: Value,
) -> Value:
    """What an operator gives for a tensor that torch knows while tracing: it may know that too, or forget its own."""
    if known_tensors.folds(operator, positional, keywords):
        return known_tensors.known(result)
    if 0 in operator.mutates:
        known_tensors.forget(frame, _selected_from(node, name))
        return result._replace(flags=result.flags & ~Flag.LITERAL)
    return result


def _applied(
    frame: Frame,
    node: ast.AST,
    name: str,
    operator: Operator,
    positional: list[Value],
    keywords: dict[str, Value],
) -> Value:
    last = name.rpartition(".")[2]
    values = [*positional, *keywords.values()]
    for index, value in enumerate(values):
        fills = operator.sized and not operator.spread and index == len(positional) - 1 > 0
        cuts = operator.cuts_gradients and not fills
        sized = not fills and symbolic_sizes.takes_sizes(operator, last)
        _consume_argument(frame, node, value, _read(name, operator, value), cuts=cuts, sized=sized)
    _writes(frame, node, operator, positional, keywords, last)
    first = positional[0] if positional else keywords.get("input", UNKNOWN)
    if last == "one_hot" and len(positional) < 2 and "num_classes" not in keywords:
        frame.emit(Event.ESCAPE, node, first.place, first, "`one_hot` without `num_classes`", how=Taken.SIZE)
    if operator.of_data:
        return _made(frame, node, name, operator, values, keywords)
    if last == "where" and len(values) == 1:
        taint = frame.unbacked(
            node, first, "`where` with one argument", Taken.MASK, sight=Sight(along=0, behind=-1)
        ).taint
        return holding(Kind.TUPLE, Value(Kind.TENSOR, FRESH, taint=taint)).with_taint(taint)
    if operator.data_dependent and operator.returns not in ("tensor", "tensors"):
        return _forced(frame, node, name, operator, first)
    return _result(frame, node, name, operator, first, values, keywords)


#: Operators that compute a new tensor from their arguments and do nothing else, by name.
_PLAIN: dict[str, bool] = {}
_PLAIN_RESULTS = {
    flags: Value(Kind.TENSOR, FRESH, flags=flags)
    for flags in (Flag.NONE, Flag.ATTACHED, Flag.FLOATING, Flag.ATTACHED | Flag.FLOATING)
}


def _is_plain(name: str, operator: Operator) -> bool:
    last = name.rpartition(".")[2]
    special = (
        operator.casts
        or last in _SPECIAL_NAMES
        or operator.of_data
        or operator.keeps_values
        or operator.dynamic_arity
        or symbolic_sizes.takes_sizes(operator, last)
        or last.endswith("_")
    )
    acts = operator.mutates or operator.views or operator.data_dependent or operator.dynamic_shape or operator.metadata
    return operator.returns == "tensor" and not operator.dim_returns and not (special or acts or operator.reduces)


def _plain(
    frame: Frame, node: ast.AST, name: str, operator: Operator, positional: list[Value], keywords: dict[str, Value]
) -> Value:
    if "out" in keywords or "inplace" in keywords or "dtype" in keywords:
        _writes(frame, node, _INPLACE, positional, keywords, name.rpartition(".")[2])
    flags = dtypes.of_result(operator, name.rpartition(".")[2], positional, keywords)
    taint: frozenset[object] = frozenset()
    for value in (*positional, *keywords.values()) if keywords else positional:
        if value.kind is Kind.TENSOR and value.place.root not in CAPTURED:
            flags |= value.flags & Flag.ATTACHED
            if value.taint:
                frame.sink(value)
                taint |= value.taint
        else:
            _consume_argument(frame, node, value, Read.DATA)
            if value.heap is not None and not frame.region:
                taint |= symbols.held_in(value)
            if value.kind in TENSORS:
                flags |= value.flags & Flag.ATTACHED
                taint |= value.taint
    known = _PLAIN_RESULTS.get(flags)
    if known is not None and not taint:
        return known
    if not frame.region:
        taint = symbolic_sizes.left(name.rpartition(".")[2], operator, [*positional, *keywords.values()], keywords)
    return Value(Kind.TENSOR, FRESH, flags=flags, taint=taint)


_INPLACE = Operator(out=True, inplace=True)


def _read(name: str, operator: Operator, value: Value) -> Read:
    """What an operator takes of an argument."""
    if operator.metadata:
        return Read.FORM if operator.returns == "tensor" else Read.METADATA
    return Read.MEMORY if name in _SHARING and value.kind is Kind.NUMPY else Read.DATA


def _consume_argument(
    frame: Frame, node: ast.AST, value: Value, how: Read, *, cuts: bool = False, sized: bool = False
) -> None:
    element = value.heap.element if value.heap is not None and value.kind in (Kind.LIST, Kind.TUPLE) else None
    if element is not None and element.is_tensor and value.place.captured:
        value = relocated(element, value.place.step("[]"))  # `torch.stack(TENSORS)` reads what the list holds
    frame.consume(node, without_gradients(value) if cuts else value, how)
    if value.kind in (Kind.FUNCTION, Kind.BOUND) and not frame.static:
        functional_calls.call_given(frame, node, [value])
    if sized and value.kind not in TENSORS:
        frame.sized_elements(value)
    frame.sink(value)
    if element is not None:
        for member in container_flow.captured_in(value):
            frame.consume(node, member, how)


def _writes(
    frame: Frame, node: ast.AST, operator: Operator, positional: list[Value], keywords: dict[str, Value], last: str
) -> None:
    written = [positional[index] for index in operator.mutates if index < len(positional)]
    if operator.inplace and positional and keywords.get("inplace", UNKNOWN).const is True:
        written.append(positional[0])
    out = keywords.get("out")
    if out is not None:
        frame.observer.output_given(frame, node)
        written.extend(out.heap.items.values() if out.heap is not None else [out])
    for value in written:
        tensor = gradients.of_list(value)
        if tensor.is_tensor and last != "record_stream":
            frame.written(node, tensor, f"`{last}`")


def _made(
    frame: Frame, node: ast.AST, name: str, operator: Operator, values: list[Value], keywords: dict[str, Value]
) -> Value:
    """`torch.tensor(data)`: single numbers are known while tracing, tensors among the data have no value there."""
    of_receiver = name.startswith("torch.Tensor.")
    data = next(iter(values[of_receiver:]), UNKNOWN)
    element = data.heap.element if data.heap is not None else None
    if element is not None and _tensor_inside(frame, element):
        frame.emit(Event.ESCAPE, node, element.place, element, "building a tensor from the values of tensors")
    if not frame.region:
        frame.needed(data.with_taint(symbols.held_in(data)), exactly=True)
    known = Flag.LITERAL if operator.folds and _is_told(frame, data) else Flag.NONE
    if data.is_tensor:
        copied = of_receiver or name.endswith(".tensor")
        return data if not copied else Value(Kind.TENSOR, flags=Flag.NONE if frame.region else known)
    dtype = values[0].flags & dtypes.KNOWN if of_receiver and "dtype" not in keywords else None
    return Value(Kind.TENSOR, flags=known | (dtypes.of_data(data, keywords) if dtype is None else dtype))


def _is_told(frame: Frame, data: Value) -> bool:
    """Whether torch knows the only number of which a tensor is made: it does, unless that follows from data."""
    if not known_tensors.is_single(data):
        return False
    one = next(iter(data.heap.items.values()), None) if data.heap is not None and not frame.region else data
    if one is not None and one.kind in _NUMBERS and not (frame.static or one.heap is not None):
        return not checked_symbols.depends_on_data(frame, one)
    return known_tensors.is_known(data)


def _tensor_inside(frame: Frame, value: Value) -> bool:
    if value.kind is Kind.UNION:
        return any(_tensor_inside(frame, alternative) for alternative in value.alternatives())
    return value.is_tensor and not (frame.region and value.flags & Flag.LITERAL)


def _selected_from(node: ast.AST, name: str) -> ast.expr | None:
    """The expression of the first argument of an operator."""
    if not isinstance(node, ast.Call):
        return None
    if name.startswith("torch.Tensor.") and isinstance(node.func, ast.Attribute):
        return node.func.value
    return node.args[0] if node.args else None


#: What gives Python the data of a tensor, as a number or as numbers.
_TAKEN = {"item": Taken.ITEM, "tolist": Taken.LIST}
#: What torch counts the elements of a mask for: once.
_OF_MASKS = frozenset({"nonzero", "argwhere"})


def _forced(frame: Frame, node: ast.AST, name: str, operator: Operator, first: Value) -> Value:
    last = name.rpartition(".")[2]
    if first.kind is Kind.TENSOR and known_tensors.is_known(first):
        return NUMBER if frame.region else NUMBER._replace(flags=Flag.LITERAL)
    if last in _TAKEN:
        if last == "item" and frame.observer.knows_number(frame, first):
            return NUMBER
        made = frame.unbacked(node, first, f"`{last}()`", _TAKEN[last], of=_selected_from(node, name))
        if last == "item":
            return made
        made = made if frame.region else symbols.each(made)
        return container(Kind.LIST, made).with_taint(made.taint)
    # These take nothing but tensors: an argument of which nothing is known is one.
    if first.kind in TENSORS or (first.kind is Kind.UNKNOWN and first.place.root is Root.ARGUMENT):
        frame.emit(Event.ESCAPE, node, first.place, first, f"`{last}()`", how=Taken.ARRAY if last == "numpy" else None)
    if last == "numpy":
        # What declares the arguments that it changes may change them through an array, which shares their memory.
        return Value(Kind.NUMPY, first.place if frame.opaque and first.is_tensor else FRESH)
    return BOOL if operator.returns == "bool" else NUMBER


def _result_flags(
    frame: Frame,
    operator: Operator,
    last: str,
    returns: str,
    positional: list[Value],
    tensors: list[Value],
    keywords: dict[str, Value],
) -> int:
    """What is known of the dtype of a result, and whether autograd connects it with an argument."""
    first = positional[0] if positional else keywords.get("input", UNKNOWN)
    flags = Flag.MAYBE if frame.region and operator.itself_or_copy else first.flags & Flag.MAYBE
    if last not in ("detach", "detach_"):
        for value in tensors:
            flags |= value.flags & Flag.ATTACHED
    # Values and their indices are of two dtypes.
    if operator.pairs and (returns == "tensors" or positional[1:] or keywords):
        return flags
    return flags | dtypes.of_result(operator, last, positional, keywords)


def _carried(frame: Frame, last: str, tensors: list[Value], *, reduced: bool) -> frozenset[Any]:
    """What a result takes over from tensors: the sizes of all but reductions, and in regions the need of gradients."""
    held = frozenset[Any]().union(*(value.taint for value in tensors))
    gradients = frozenset[Any](effect for effect in held if frame.region and effect.event is Event.BREAK)
    kept = gradients if reduced else held
    return kept - gradients if last == "detach" else kept


def _takes_first(dim: Value) -> bool:
    """Whether a reduction is over the first dimension, the one whose size may follow from data."""
    over = dim.heap.items.values() if dim.heap is not None else [dim]
    return any(one.const == 0 and one.kind is Kind.NUMBER for one in over)


def _sizes(
    frame: Frame, name: str, operator: Operator, values: list[Value], keywords: dict[str, Value], over: Value | None
) -> frozenset[Any]:
    """What a result takes over: the sizes that its arguments have, and those that it is made with."""
    last = name.rpartition(".")[2]
    taint = symbolic_sizes.left(last, operator, values, keywords)
    if symbolic_sizes.is_loss(last):
        taint = symbolic_sizes.reduced(taint, None) if symbolic_sizes.spans(last, values, keywords) else taint
    elif operator.reduces:
        kept = operator.keeping(values[: len(values) - len(keywords)], keywords, FALSE)
        taint = symbolic_sizes.reduced(taint, over, kept)
    for value in symbolic_sizes.specialized(operator, values):
        frame.needed(value)
    taint = taint if operator.views else symbolic_sizes.fresh(taint)
    if symbolic_sizes.takes_sizes(operator, last):
        taint |= symbolic_sizes.sized(name, operator, values[: len(values) - len(keywords)], keywords)
    return taint


def _selection(
    frame: Frame, node: ast.AST, name: str, operator: Operator, values: list[Value], keywords: dict[str, Value]
) -> frozenset[Any]:
    """The size that an operator gives its result by the data of a tensor."""
    last = name.rpartition(".")[2]
    first = values[0] if values else UNKNOWN
    chosen = _counts(values, keywords) if last == "repeat_interleave" else first if operator.dynamic_shape else None
    known = not frame.region and operator.folds and chosen is not None and known_tensors.is_known(chosen)
    if chosen is None or known or last in ("where", "one_hot"):
        return frozenset()
    rest = values[2 if last == "repeat_interleave" else 1 : len(values) - len(keywords)]
    sight = symbolic_sizes.made_by(last, rest, keywords)
    taken = Taken.MASK if last in _OF_MASKS else Taken.SIZE
    return frame.unbacked(node, chosen, f"`{last}`", taken, of=_selected_from(node, name), sight=sight).taint


def _several(last: str, values: list[Value], keywords: dict[str, Value], first: Value) -> Value | None:
    """The tensors that a selection gives beside the selected elements, if it is asked for them."""
    if last == "nonzero" and keywords.get("as_tuple", UNKNOWN).const is True:
        return holding(Kind.TUPLE, first)
    if last not in ("unique", "unique_consecutive") or len(values) - len(keywords) > 1:
        return None
    # Where each element went is as large as the tensor was.
    inverse = Value(Kind.TENSOR, FRESH)
    asked = [keywords.get(name, UNKNOWN).const is True for name in ("return_inverse", "return_counts")]
    parts = [part for part, wanted in zip((inverse, first), asked, strict=True) if wanted]
    return container(Kind.TUPLE, first, *parts) if parts else None


def _counts(values: list[Value], keywords: dict[str, Value]) -> Value | None:
    """The tensor that says how often `repeat_interleave` repeats what, without a size of the result."""
    given = keywords.get("repeats", values[1] if len(values) > 1 else UNKNOWN)
    return given if given.is_tensor and "output_size" not in keywords else None


def _result(
    frame: Frame,
    node: ast.AST,
    name: str,
    operator: Operator,
    first: Value,
    values: list[Value],
    keywords: dict[str, Value],
) -> Value:
    last = name.rpartition(".")[2]
    named_dim = "dim" in keywords or (len(values) > 1 and values[1].kind in (Kind.NUMBER, Kind.TUPLE, Kind.LIST))
    returns = operator.dim_returns if operator.dim_returns and named_dim else operator.returns
    shape = Flag.SHAPE if last in _SHAPE_RESULTS and attributes.follows_shape(first) else Flag.NONE
    asked = keywords.get("dim", values[1] if values[1:] else None)
    later = asked is not None and subscripts.later_dimension(frame, asked)
    along = asked.const if asked is not None and isinstance(asked.const, int) else None
    if returns == "number":
        sized = last in _SHAPE_RESULTS and not later
        flags = shape | (Flag.WHOLE if operator.metadata else Flag.NONE)
        found = Value(Kind.NUMBER, flags=flags, taint=symbolic_sizes.fresh(first.taint) if sized else frozenset())
        return frame.observer.sized(frame, first, found, along) if last in _SHAPE_RESULTS else found
    if returns == "bool":
        return BOOL
    if returns == "size":
        taint = frozenset[Any]() if later else symbolic_sizes.fresh(first.taint)
        if asked is not None and not frame.region:
            taint = symbolic_sizes.dimension(first.taint, asked)
        kind = Kind.NUMBER if named_dim or values[1:] else Kind.SIZE
        return frame.observer.sized(frame, first, Value(kind, flags=shape | Flag.WHOLE, taint=taint), along)
    if returns == "none":
        return NONE
    tensors = [value for value in values if value.is_tensor]
    over = keywords.get("dim", values[1] if values[1:] else UNKNOWN) if named_dim else None
    if frame.region:
        gone = operator.reduces and (over is None or _takes_first(over))
        taint = _carried(frame, last, tensors, reduced=gone)
    else:
        taint = _sizes(frame, name, operator, values, keywords, over)
    taint |= _selection(frame, node, name, operator, values, keywords)
    positional = values[: len(values) - len(keywords)]
    flags = _result_flags(frame, operator, last, returns, positional, tensors, keywords)
    # Only an operator is asked whether it returns its argument, or changes it unsaid.
    casts = frame.opaque and operator.casts and name.startswith("torch.Tensor.")
    copied = last == "to" and keywords.get("copy", UNKNOWN).const is True
    shares = (operator.views or casts) and first.is_tensor and not copied
    place = first.place.step(VIEW) if shares else FRESH
    if last == "cpu" and frame.opaque and first.is_tensor:
        place = first.place.step(VIEW).step(HOST)
    several = _several(last, values, keywords, Value(Kind.TENSOR, place, flags=flags, taint=taint))
    if several is not None and not frame.region:
        return several
    if returns == "tensors":
        element = Value(Kind.TENSOR, place, flags=flags, taint=taint)
        return holding(Kind.TUPLE, element).with_taint(taint)
    if returns == "tensor" or (returns == "other" and operator.dynamic_shape):
        if last.endswith("_") and not last.endswith("__") and first.is_tensor:
            return first
        return Value(Kind.TENSOR, place, flags=flags, taint=taint)
    return UNKNOWN.with_taint(taint)
