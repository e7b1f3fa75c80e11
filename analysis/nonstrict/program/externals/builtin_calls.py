"""Builtins and small standard functions whose result depends on what they are given."""

from __future__ import annotations

import ast
import itertools
from typing import TYPE_CHECKING, Any

from nonstrict.events import Event, Question, Read, Taken
from nonstrict.facts.targets import last_name
from nonstrict.knowledge.markers import TRACE_QUESTIONS
from nonstrict.knowledge.operators import tensor_attribute, tensor_method, torch_kind
from nonstrict.program.domain import symbols
from nonstrict.program.domain.access_paths import FRESH, Root
from nonstrict.program.domain.effects import coarsened
from nonstrict.program.domain.references import Super
from nonstrict.program.domain.values import (
    BOOL,
    BYTES,
    COMPLEX,
    GLOBALS,
    NO_CONSTANT,
    NUMBER,
    RANGE,
    REVERSED,
    STRING,
    TENSORS,
    TYPE,
    UNKNOWN,
    AbstractObject,
    Flag,
    Kind,
    Value,
    container,
    holding,
)
from nonstrict.program.externals import arranged, bound_callables, named_tuples, reflection, shallow_copies, strings
from nonstrict.program.objects import (
    attributes,
    classes,
    container_flow,
    deciding,
    iteration,
    known_tensors,
    releases,
    strict_switch,
    symbolic_sizes,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from nonstrict.program.state.frames import Frame

    Handler = Callable[[Frame, ast.AST, list[Value], dict[str, Value]], Value]


#: Kinds of containers whose elements have numbers.
_ORDERED = frozenset({Kind.LIST, Kind.TUPLE, Kind.ITERATOR, Kind.SET})


#: What ranges and enumerations give.
_COUNTED = NUMBER._replace(flags=Flag.WHOLE)


def _pending(values: list[Value]) -> frozenset[object]:
    return frozenset[object]().union(*(value.taint for value in values))


def _argument_node(node: ast.AST, index: int) -> ast.AST:
    return node.args[index] if isinstance(node, ast.Call) and index < len(node.args) else node


def _complex(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    return _number(frame, node, positional, keywords)._replace(ref=COMPLEX)


def _real(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    made = _number(frame, node, positional, keywords)
    return made._replace(flags=made.flags | Flag.FLOATING)


def _whole(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    made = _number(frame, node, positional, keywords)
    return made._replace(flags=made.flags | Flag.WHOLE)


def _number(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    """`int(x)`, `float(x)`: of a tensor, its data is needed."""
    if not positional:
        return NUMBER
    value = frame.consume(node, positional[0])
    if (part := releases.number(value)) is not None:
        return part
    for alternative in value.alternatives() if not value.is_variant else ():
        if alternative.kind in TENSORS and not alternative.flags & Flag.LITERAL:
            if frame.region:
                whole = last_name(node) == "int" and frame.observer.knows_number(frame, alternative)
                return NUMBER if whole else frame.unbacked(node, alternative, "`item()`", Taken.ITEM)
            name = ast.unparse(node.func) if isinstance(node, ast.Call) else "int"
            frame.emit(Event.ESCAPE, node, alternative.place, alternative, f"`{name}()` of a tensor")
            return NUMBER
    frame.needed(value, exactly=True)
    known = Flag.NONE if frame.region else known_tensors.literals(value)
    return Value(Kind.NUMBER, flags=value.flags & Flag.SHAPE | known, taint=value.taint)


def _bool(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    if positional:
        value = frame.consume(node, positional[0])
        if value.flags & Flag.TRACE_GUARD:
            return value
        if frame.region:
            # The number may depend on data; only a branch on it may not.
            return (
                BOOL.with_taint(frame.unbacked(node, value, "`item()`", Taken.ITEM).taint) if value.is_tensor else BOOL
            )
        deciding.on_value(frame, node, value)
    return BOOL


def _text(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    if positional and positional[0].is_tensor:
        value = positional[0]
        frame.consume(node, value)
        strings.tensor_written(frame, node, value)
    return STRING.with_taint(_pending(positional))


def _string(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    made = strings.written(positional[0]) if len(positional) == 1 else None
    text = _text(frame, node, positional, keywords)
    return text if made is None else text._replace(const=made)


def _bytes(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    if positional and positional[0].is_tensor:
        frame.emit(Event.ESCAPE, node, positional[0].place, positional[0], "`bytes()` of a tensor")
    return Value(Kind.STRING, ref=BYTES)


def _length(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    if not positional:
        return NUMBER
    value = positional[0]
    classes.special(frame, node, value, "__len__", [])
    frame.consume(node, value, Read.METADATA if value.is_tensor else Read.DATA)
    shape = Flag.SHAPE if attributes.follows_shape(value) else Flag.NONE
    # How many dimensions there are does not follow from data, nor how long a list is.
    taint = value.taint if value.is_tensor else _drawn(value.taint)
    if value.is_tensor and not frame.region:
        taint = symbolic_sizes.dimension(taint, Value(Kind.NUMBER, const=0))
        frame.needed(value.with_taint(symbolic_sizes.rows(value)), exactly=True)
    found = Value(Kind.NUMBER, flags=shape | Flag.WHOLE, taint=taint)
    sized = frame.observer.sized(frame, value, found, 0) if value.is_tensor else found
    return iteration.count(frame, value) or sized


def _drawn(taint: frozenset[Any]) -> frozenset[Any]:
    """Without what follows from data."""
    return frozenset(effect for effect in taint if effect.event is not Event.ESCAPE)


def _extreme(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    """`max(a, b)`, `sorted(xs)` of tensors compare by value, or by what the `key` makes of them."""
    key = keywords.get("key")
    if key is not None and key.kind is not Kind.NONE and positional:
        element = positional[0]
        if len(positional) == 1:
            element = iteration.elements_of(frame, node, frame.consume(node, positional[0]))
        compared = frame.machine.call(frame, node, key, [element], {})
        if compared.is_tensor:
            frame.emit(Event.ESCAPE, node, compared.place, compared, "comparing tensors by value")
        frame.observer.extreme_by(frame, node, element, compared)
        return element
    candidates = positional
    if len(positional) == 1:
        candidates = [iteration.elements_of(frame, node, frame.consume(node, positional[0]))]
        if positional[0].is_tensor:
            candidates = [Value(Kind.TENSOR)]
    for value in candidates:
        frame.consume(node, value)
        if value.is_tensor:
            frame.emit(Event.ESCAPE, node, value.place, value, "comparing tensors by value")
            return Value(Kind.TENSOR)
        frame.needed(value)
    result = _computed(candidates) if all(value.kind is Kind.NUMBER for value in candidates) else UNKNOWN
    return result.with_taint((frozenset if result.is_real else coarsened)(_pending(candidates)))


def _computed(numbers: list[Value]) -> Value:
    """The largest of some numbers, or their sum: it is whole, or real, if they all are."""
    real = Flag.FLOATING * all(one.is_real for one in numbers)
    return Value(Kind.NUMBER, flags=Flag.WHOLE if all(one.is_whole for one in numbers) else real)


def _sorted(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    key = keywords.get("key")
    if key is not None and positional:
        element = iteration.elements_of(frame, node, frame.consume(node, positional[0]))
        found = frame.machine.call(frame, node, key, [element], {})
        if found.is_tensor:
            frame.emit(Event.ESCAPE, node, found.place, found, "comparing tensors by value")
        frame.observer.ordered_by(frame, node, found)
        return container(Kind.LIST, element)
    element = _extreme(frame, node, positional, keywords)
    frame.observer.ordered_by(frame, node, element)
    known = arranged.in_order(frame, positional[0], keywords) if positional else None
    return iteration.listed(Kind.LIST, known, element) if known is not None else container(Kind.LIST, element)


def _sum(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    if not positional:
        return NUMBER
    element = iteration.elements_of(frame, node, positional[0])
    frame.consume(node, element if element.is_tensor else positional[0])
    starts = [*positional[1:], *keywords.values()]
    for start in starts:
        frame.consume(node, start)
    if element.is_tensor or any(start.is_tensor for start in starts):
        return Value(Kind.TENSOR, taint=element.taint)
    taint = _pending([*positional, *starts]) | element.taint
    if not frame.region:
        taint = symbols.added_up(taint)
    return (_computed([element, *starts]) if element.kind is Kind.NUMBER else UNKNOWN).with_taint(taint)


def _any(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    if positional:
        element = iteration.elements_of(frame, node, frame.consume(node, positional[0]))
        deciding.on_value(frame, _argument_node(node, 0), element)
    return BOOL


def _range(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    for value in positional:
        frame.consume(node, value)
        if value.is_tensor:
            frame.emit(Event.ESCAPE, node, value.place, value, "using a tensor as a Python integer")
        frame.needed(value, exactly=True)
    numbers = iteration.numbers(positional) if frame.static or frame.region else []
    made = iteration.listed(Kind.LIST, numbers, _COUNTED) if numbers else container(Kind.LIST, _COUNTED)
    return made._replace(ref=RANGE, taint=_drawn(_pending(positional)))


def _enumerate(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    element = iteration.elements_of(frame, node, frame.consume(node, positional[0])) if positional else UNKNOWN
    start = positional[1] if len(positional) > 1 else keywords.get("start", NUMBER._replace(const=0))
    pairs = iteration.enumerated(frame, positional[0], start) if positional else []
    return iteration.listed(Kind.ITERATOR, pairs, container(Kind.TUPLE, _COUNTED, element))


def _zip(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    elements = [iteration.elements_of(frame, node, frame.consume(node, value)) for value in positional]
    return iteration.listed(Kind.ITERATOR, iteration.zipped(frame, positional), container(Kind.TUPLE, *elements))


def _filter(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    element = UNKNOWN
    if len(positional) > 1:
        element = iteration.elements_of(frame, node, frame.consume(node, positional[1]))
    if positional and positional[0].kind is not Kind.NONE:
        kept = frame.machine.call(frame, node, positional[0], [element], {})
        deciding.on_value(frame, node, kept)
    return container(Kind.ITERATOR, element)


def _collect(kind: Kind) -> Handler:
    """`list(xs)` and the like: a new container with the elements of another value."""

    def handler(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
        heap = AbstractObject()
        taint: frozenset[object] = frozenset()
        if positional:
            source = frame.consume(node, positional[0])
            held, taint = source.heap, source.taint
            if held is not None and source.kind is Kind.DICT and kind is Kind.DICT:
                taken = container_flow.taken(frame, source)
                heap.items, heap.element = taken.items, taken.element
            else:
                element = iteration.elements_of(frame, node, source)
                heap.element = container_flow.second(element) if kind is Kind.DICT else element
                if kind is Kind.DICT and source.place.root is Root.FRESH and held is not None:
                    heap.items = container_flow.paired(held)
                elif held is not None and {source.kind, kind} <= _ORDERED:
                    heap.items = container_flow.taken(frame, source).items
                elif kind in _ORDERED:
                    heap.items = dict(enumerate(iteration.known(frame, source) or ()))
        if kind is Kind.DICT:
            for name, value in keywords.items():
                heap.store(name, value)
        return Value(kind, heap=heap, taint=taint)

    return handler


def _ordered_dict(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    return _collect(Kind.DICT)(frame, node, positional, keywords)._replace(ref="collections.OrderedDict")


def _reversed(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    return _collect(Kind.LIST)(frame, node, positional, keywords)._replace(ref=REVERSED)


def _iter(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    if not positional:
        return UNKNOWN
    return holding(Kind.ITERATOR, iteration.elements_of(frame, node, frame.consume(node, positional[0])))


def _next(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    if not positional:
        return UNKNOWN
    iterator = positional[0]
    if iterator.place.captured and iterator.kind in (Kind.ITERATOR, Kind.INSTANCE):
        return frame.random(node, f"advances the iterator `{iterator.place.text}`", Kind.UNKNOWN)
    element = iterator.heap.element if iterator.heap is not None else None
    return element or UNKNOWN


def _isinstance(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    if len(positional) < 2:
        return BOOL
    value, asked = positional[0], positional[1]
    frame.identified(node, value)
    names = _class_names(asked)
    if any(_answers_otherwise(one, names) for one in value.alternatives()):
        frame.emit(Event.QUERY, node, value.place, value, ast.unparse(node), how=Question.KIND)
    return BOOL


_REGISTERED = frozenset(
    f"torch.nn.{name}" for name in ("Parameter", "Buffer", "parameter.Parameter", "parameter.Buffer")
)


def _answers_otherwise(value: Value, names: set[str]) -> bool:
    """Whether `isinstance` of an argument with the classes of these names says something else while tracing."""
    if value.place.root is not Root.ARGUMENT:
        return False
    # Those of a module argument arrive as plain tensors too.
    reached = value.kind is Kind.PARAMETER or all(step.startswith("[") for step in value.place.path)
    if reached and (value.is_tensor or value.kind is Kind.UNKNOWN):
        return bool(names & _REGISTERED)
    return value.kind is Kind.NUMBER and names == {"builtins.int"}


def _class_names(asked: Value) -> set[str]:
    if asked.kind is Kind.TUPLE and asked.heap is not None:
        return {name for value in asked.heap.items.values() for name in _class_names(value)}
    if asked.kind is Kind.UNION:
        return {name for value in asked.alternatives() for name in _class_names(value)}
    return {asked.dotted} if asked.kind is Kind.EXTERNAL else set()


def _type(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    if len(positional) != 1:
        return UNKNOWN
    value = positional[0]
    if value.is_tensor and value.place.root is Root.ARGUMENT:
        return Value(Kind.INSTANCE, value.place, TYPE)
    if value.kind in (Kind.OBJECT, Kind.MODULE) and value.of_class is not None:
        return Value(Kind.CLASS, FRESH, value.ref)
    return UNKNOWN


def _identity(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    if positional and positional[0].is_tensor and positional[0].place.root is Root.ARGUMENT:
        frame.emit(Event.QUERY, node, positional[0].place, positional[0], ast.unparse(node), how=Question.IDENTITY)
    return NUMBER


def _import_module(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    name = positional[0].const if len(positional) == 1 else None
    if isinstance(name, str) and (torch_kind(name) == "module" or frame.machine.project.find(name, frame.module)):
        return Value(Kind.PYTHON_MODULE, FRESH, name)
    return UNKNOWN


def _hasattr(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    if len(positional) == 2 and isinstance(positional[1].const, str):
        value, name = positional[0], positional[1].const
        if value.kind is Kind.PYTHON_MODULE and torch_kind(f"{value.ref}.{name}") is not None:
            return BOOL._replace(const=True, flags=Flag.RELEASE)
        known = tensor_attribute(name) is not None or tensor_method(name) is not None
        if value.is_tensor and value.place.root is Root.ARGUMENT and not known:
            frame.emit(Event.QUERY, node, value.place, value, ast.unparse(node), how=Question.ATTACHED)
        if not value.is_tensor:
            attributes.asked_for(frame, node, value, name, BOOL)
    return BOOL


def _super(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    function = frame.function
    after = positional[0].of_class if len(positional) == 2 and positional[0].kind is Kind.CLASS else None
    if after is not None:
        return Value(Kind.SUPER, positional[1].place, Super(positional[1], after))
    if function is None or function.owner is None or not function.node.args.args:
        return UNKNOWN
    receiver = frame.env.get(function.node.args.args[0].arg, UNKNOWN)
    return Value(Kind.SUPER, receiver.place, Super(receiver, function.owner))


def _wraps(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    return Value(Kind.EXTERNAL, FRESH, "nonstrict.identity")


def _same(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    return positional[0] if positional else UNKNOWN


def _reduce(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    if len(positional) < 2:
        return UNKNOWN
    element = iteration.elements_of(frame, node, frame.consume(node, positional[1]))
    return frame.machine.call(frame, node, positional[0], [element, element], {})


def _trace_guard(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    return Value(Kind.BOOL, FRESH, const=True if frame.region else NO_CONSTANT, flags=Flag.TRACE_GUARD)


def _never(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    """What is true only while TorchScript or the exporter to ONNX work: Dynamo answers no, as plain Python does."""
    return Value(Kind.BOOL, FRESH, const=False)


def _globals(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    return Value(Kind.INSTANCE, FRESH, GLOBALS)


#: Functions that need more than an entry in the tables of knowledge.
SPECIAL: dict[str, Handler] = {
    **dict.fromkeys(strict_switch.SWITCHES, strict_switch.switch),
    "builtins.globals": _globals,
    "builtins.staticmethod": _same,
    "builtins.int": _whole,
    "builtins.float": _real,
    "builtins.complex": _complex,
    "operator.index": _whole,
    "builtins.bool": _bool,
    "builtins.str": _string,
    "builtins.repr": _text,
    "builtins.format": _text,
    "builtins.bytes": _bytes,
    "builtins.len": _length,
    "builtins.max": _extreme,
    "builtins.min": _extreme,
    "builtins.sorted": _sorted,
    "builtins.sum": _sum,
    "builtins.any": _any,
    "builtins.all": _any,
    "builtins.range": _range,
    "builtins.enumerate": _enumerate,
    "builtins.zip": _zip,
    "itertools.product": arranged.rows_of(itertools.product),
    "itertools.combinations": arranged.rows_of(itertools.combinations, counted=True),
    "itertools.permutations": arranged.rows_of(itertools.permutations, counted=True),
    "itertools.chain": arranged.chained,
    "itertools.islice": arranged.sliced,
    "builtins.map": arranged.mapped,
    "builtins.filter": _filter,
    "builtins.list": _collect(Kind.LIST),
    "builtins.tuple": _collect(Kind.TUPLE),
    "builtins.set": _collect(Kind.SET),
    "builtins.frozenset": _collect(Kind.SET),
    "builtins.dict": _collect(Kind.DICT),
    "collections.OrderedDict": _ordered_dict,
    "builtins.reversed": _reversed,
    "builtins.iter": _iter,
    "builtins.next": _next,
    "builtins.isinstance": _isinstance,
    "builtins.type": _type,
    "builtins.id": _identity,
    "builtins.getattr": reflection.get_attribute,
    "builtins.hasattr": _hasattr,
    "importlib.import_module": _import_module,
    **dict.fromkeys(
        ("builtins.setattr", "builtins.object.__setattr__", "torch.nn.Module.__setattr__"), reflection.set_attribute
    ),
    **dict.fromkeys(("builtins.delattr", "builtins.object.__delattr__"), reflection.delete_attribute),
    "builtins.vars": reflection.vars_of,
    "unittest.mock.patch.object": reflection.replace_for_a_while,
    "builtins.super": _super,
    "collections.namedtuple": named_tuples.made,
    "typing.NamedTuple": named_tuples.made,
    "functools.partial": bound_callables.partial,
    "types.MethodType": bound_callables.method,
    **dict.fromkeys(("types.FunctionType", "types.LambdaType"), bound_callables.copied),
    "functools.partialmethod": bound_callables.partial_method,
    "functools.wraps": _wraps,
    "functools.update_wrapper": _same,
    "nonstrict.identity": _same,
    "functools.reduce": _reduce,
    "copy.copy": shallow_copies.shallow,
    **dict.fromkeys(("dataclasses.replace", "copy.replace"), shallow_copies.changed),
    "typing.cast": lambda frame, node, positional, keywords: positional[-1] if positional else UNKNOWN,
    **dict.fromkeys(TRACE_QUESTIONS, _trace_guard),
    **dict.fromkeys(("torch.jit.is_scripting", "torch.jit.is_tracing", "torch.onnx.is_in_onnx_export"), _never),
}
