"""Loading attributes, and which of them no guard watches."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Event, Pointed, Question, Read, Step
from nonstrict.facts.targets import last_name
from nonstrict.knowledge.operators import nn_module, tensor_attribute, tensor_method
from nonstrict.program.domain.access_paths import FRESH, VIEW, AccessPath, Root
from nonstrict.program.domain.effects import NEEDED
from nonstrict.program.domain.references import Alternatives, Bound, ExternalMethod, Super
from nonstrict.program.domain.values import (
    BOOL,
    CALLABLES,
    CONTAINERS,
    NONE,
    NUMBER,
    PARTIAL_METHOD,
    PRIMITIVES,
    SETTING,
    SIZE,
    STRING,
    TENSORS,
    TYPE,
    UNKNOWN,
    Flag,
    Kind,
    Value,
    join,
    relocated,
    without_gradients,
)
from nonstrict.program.objects import (
    asked_types,
    class_attributes,
    classes,
    enumerations,
    namespaces,
    registries,
    releases,
    symbolic_sizes,
)
from nonstrict.program.objects.parameters import argument_value
from nonstrict.program.state.frames import set_later

if TYPE_CHECKING:
    from nonstrict.program.domain.definitions import Class
    from nonstrict.program.state.frames import Frame

_QUERIES = frozenset({"is_leaf", "grad_fn", "grad", "_version"})
#: Attributes that tensors of torch's own subclasses have.
_OF_SUBCLASSES = frozenset({"_local_tensor", "_spec", "_offsets", "_lengths", "_data", "_tensor"})
_CLASS_NAMES = frozenset({"__name__", "__qualname__"})
_ATTRIBUTE_KINDS = {
    "size": SIZE,
    "number": NUMBER._replace(flags=Flag.WHOLE),
    "bool": BOOL,
    "dtype": SETTING,
    "device": SETTING,
    "layout": SETTING,
}
#: What a module registers as a part of itself, and what can hold state besides.
_REGISTERED = frozenset({Kind.MODULE, Kind.PARAMETER})
#: What a plain attribute may hold that decides a result without being read: it is called.
_CHOSEN = frozenset({Kind.EXTERNAL, Kind.FUNCTION, Kind.PARTIAL})
#: Fields of the tuples that operators like `topk` return.
_RESULT_FIELDS = frozenset({"values", "indices"})
_HOLDERS = CONTAINERS | {Kind.TUPLE, Kind.OBJECT, Kind.INSTANCE}
#: Bases that give an object no members of their own.
_EMPTY_BASES = frozenset({"builtins.object", "typing.Generic", "typing.Protocol", "abc.ABC"})
#: What may hold a table that is filled while the program is imported.
_REGISTRIES = frozenset({Kind.OBJECT, Kind.CLASS})
_UNTOLD = frozenset({Kind.UNKNOWN, Kind.EXTERNAL_METHOD})
_POINTER_ATTRIBUTES = frozenset({"__cuda_array_interface__", "__array_interface__"})
#: Attributes of a tensor behind which no gradient flows to it.
_WITHOUT_GRADIENTS = frozenset({"data", "grad"})
_TRANSPOSES = frozenset({"T", "H"})


def _recorded(found: Value, name: str) -> Value:
    """What is read as autograd sees it: parameters need gradients, the data of a tensor does not."""
    if name in _WITHOUT_GRADIENTS:
        kept = frozenset(one for one in found.taint if one.event is not Event.GRADIENT)
        return without_gradients(found).with_taint(kept)
    needs = found.kind is Kind.PARAMETER and not found.flags & Flag.FROZEN
    return found.with_taint(found.taint | {NEEDED}) if needs else found


def load(frame: Frame, node: ast.Attribute, base: Value, name: str) -> Value:
    """The value of `base.name`."""
    if isinstance(base.ref, Alternatives):
        found: Value | None = None
        chosen = frame.observer.is_choice(frame, node, base.ref)
        frame.branches += chosen
        for alternative in base.ref:
            if alternative.kind is not Kind.NONE:
                found = join(found, load(frame, node, alternative, name))
        frame.branches -= chosen
        return found or UNKNOWN
    if base.flags & Flag.RELEASE and (known := releases.attribute(base, name)) is not None:
        return known
    if name == "__dict__" and (held := namespaces.of(base)) is not None:
        return held
    handler = _LOADERS.get(base.kind)
    if handler is None:
        if name in _CLASS_NAMES and asked_types.operand_of(node.value) is not None:
            return STRING
        return Value(Kind.EXTERNAL_METHOD, base.place, ExternalMethod(base, name), taint=base.taint)
    found = handler(frame, node, base, name)
    if frame.differentiates:
        found = _recorded(found, name)
    if name in _CLASS_NAMES and found.kind in _UNTOLD and asked_types.operand_of(node.value) is not None:
        found = STRING
    if base.kind in _REGISTRIES and base.of_class is not None:
        registries.asked(frame, found, base)
    if base.taint and base.kind not in TENSORS:
        return found.with_taint(found.taint | base.taint)
    return found


def entry_of(frame: Frame, node: ast.AST, base: Value, key: Value) -> Value:
    """`vars(base)[key]`."""
    if not isinstance(key.const, str):
        return UNKNOWN
    made = ast.copy_location(ast.Attribute(ast.Name("_", ast.Load()), key.const, ast.Load()), node)
    return load(frame, made, base, key.const)


def _of_python_module(frame: Frame, node: ast.Attribute, base: Value, name: str) -> Value:
    value = frame.machine.module_attribute(frame.module, base.dotted, name)
    registries.asked(frame, value)
    return set_later(frame, value, value.place)


def _of_external(frame: Frame, node: ast.Attribute, base: Value, name: str) -> Value:
    return frame.machine.module_attribute(frame.module, base.dotted, name)


def _of_tensor(frame: Frame, node: ast.Attribute, base: Value, name: str) -> Value:
    kind = tensor_attribute(name)
    if base.of_class is not None:
        member = classes.member(frame.machine, base.of_class, name)
        if member is not None and member[0].kind is Kind.FUNCTION:
            return _method(frame, node, base, member[0])
    if base.ref is not None and kind is None and tensor_method(name) is None:
        return UNKNOWN.at(base.place.step(f".{name}"))
    if kind is None and tensor_method(name) is not None:
        return Value(Kind.EXTERNAL_METHOD, base.place, ExternalMethod(base, name))
    _query_tensor(frame, node, base, name)
    if name in _POINTER_ATTRIBUTES:
        frame.emit(Event.POINTER, node, base.place, base, name, how=Pointed.ADDRESS)
        return UNKNOWN
    simple = _ATTRIBUTE_KINDS.get(kind or "")
    if simple is not None:
        frame.consume(node, base, Read.METADATA)
        taint = symbolic_sizes.fresh(base.taint) if kind == "size" else frozenset[object]()
        if kind == "size" and follows_shape(base):
            return frame.observer.sized(frame, base, Value(Kind.SIZE, flags=Flag.SHAPE, taint=taint), None)
        return simple.with_taint(taint)
    if kind == "tensor":
        frame.consume(node, without_gradients(base) if name in _WITHOUT_GRADIENTS else base)
        if name == "grad":
            gradient = Value(Kind.TENSOR, FRESH)
            given = base.place.root is not Root.FRESH and not base.place.is_view
            return join(gradient, NONE) if given else gradient
        flags = base.flags & (Flag.BOOLEAN | Flag.LITERAL | Flag.ON_CPU) if name == "data" else base.flags
        taint = symbolic_sizes.transposed(base.taint) if name in _TRANSPOSES and not frame.region else base.taint
        return Value(Kind.TENSOR, base.place.step(VIEW), flags=flags, taint=taint)
    if name == "__class__" and base.place.root is Root.ARGUMENT:
        return Value(Kind.INSTANCE, base.place, TYPE)
    if name.startswith("__"):
        return UNKNOWN
    return Value(Kind.EXTERNAL_METHOD, base.place, ExternalMethod(base, name)) if kind is None else UNKNOWN


def follows_shape(tensor: Value) -> bool:
    """Whether the shape of a tensor is that of an argument, or follows from it."""
    return tensor.is_tensor and not tensor.place.captured and not tensor.flags & Flag.LITERAL


def _query_tensor(frame: Frame, node: ast.Attribute, base: Value, name: str) -> None:
    """Ask an argument for what is not guarded: autograd's view of it, or an attribute a user attached."""
    place = base.place
    if place.root is not Root.ARGUMENT or place.is_view or (place.path and base.kind is Kind.PARAMETER):
        return
    attached = tensor_attribute(name) is None and tensor_method(name) is None and not _of_torch(name)
    if name in _QUERIES or attached:
        how = Question.AUTOGRAD if name in _QUERIES else Question.ATTACHED
        frame.emit(Event.QUERY, node, base.place, base, ast.unparse(node), how=how)


def _of_torch(name: str) -> bool:
    """Whether an attribute that `torch.Tensor` does not have is none that a user attached either."""
    return name.startswith(("__", "_dynamo_")) or name in _OF_SUBCLASSES


def _of_object(frame: Frame, node: ast.Attribute, base: Value, name: str) -> Value:
    """An attribute of an instance of a class of the program."""
    frame.observer.attribute_read(frame, node, base)
    cls = base.of_class
    if cls is None:
        return _of_external_instance(frame, node, base, name)
    heap = base.heap
    place = base.place.step(f".{name}")
    if base.kind is Kind.MODULE and name == "training":
        return _mode(frame, node, base)
    if heap is not None and name in heap.attributes:
        value = _as_constructed(frame, base, name, heap.attributes[name])
        found = relocated(value, place) if base.place.root is not Root.FRESH else value
        found = _with_replacements(frame, base, name, found)
        _plain_attribute(frame, node, base, found, name)
        return held(base, found)
    # An instance that is captured may get an attribute of its own in place of the class's.
    at = place if base.place.captured else class_attributes.place_of(base, name)
    inherited = classes.class_attribute(frame.machine, cls, name, at)
    if inherited is not None:
        inherited = frame.machine.contracts.in_place_of_member(frame, cls, name, inherited)
        if inherited.kind is Kind.FUNCTION:
            frame.identified(node, base)
            return _method(frame, node, base, _exchanged(frame, node, cls, inherited, name))
        if inherited.const == PARTIAL_METHOD:
            return _partial_method(frame, node, base, inherited)
        inherited = set_later(frame, set_later(frame, inherited, base.place, name), cls.place, name)
        if inherited.kind in CALLABLES:
            return held(base, class_attributes.with_exchanged(frame, inherited, cls, name))
        _plain_attribute(frame, node, base, inherited, name)
        return held(base, inherited)
    declared = classes.declared(frame.machine, cls, name, place)
    if declared is not None and declared.kind is not Kind.UNKNOWN:
        return declared
    if base.kind is Kind.MODULE:
        layer = _of_layer(classes.as_inherited(base), name, place)
        return layer or Value(Kind.EXTERNAL_METHOD, base.place, ExternalMethod(base, name))
    computed = classes.special(frame, node, base, "__getattr__", [STRING._replace(const=name)])
    if computed is not None:
        return computed
    stored = frame.machine.mutations.stored_in(base.place, name) if base.place.root is Root.GLOBAL else None
    if stored is not None:
        return relocated(stored, place)
    inherits = heap is None or heap.open or bool(classes.external_bases(cls) - _EMPTY_BASES)
    return Value(Kind.EXTERNAL_METHOD, place, ExternalMethod(base, name)) if inherits else UNKNOWN.at(place)


_CONSTRUCTED = frozenset({Root.ARGUMENT, Root.CELL})


def _as_constructed(frame: Frame, base: Value, name: str, value: Value) -> Value:
    """An attribute of an argument, or of what a closure holds, that only the constructions of its class tell of."""
    if value.kind is not Kind.UNKNOWN or frame.static or base.place.root not in _CONSTRUCTED:
        return value
    cls = base.of_class
    given = frame.machine.contracts.given_by_constructions(frame.machine, cls, name) if cls is not None else None
    if given is None or given.kind is Kind.PARAMETER or given.flags & Flag.REGISTERED:
        return value if given is None else given
    return argument_value(given, base.place.step(f".{name}"))


def _with_replacements(frame: Frame, base: Value, name: str, found: Value) -> Value:
    """A marked function in an attribute of a global object, and those that the module puts there later."""
    if found.kind is Kind.NONE:
        return set_later(frame, found, base.place, name)
    if found.kind is not Kind.MARKED or base.place.root is not Root.GLOBAL or base.place.path:
        return found
    stored = frame.machine.mutations.stored_in(base.place, name)
    return found if stored is None else join(found, stored)


def _exchanged(frame: Frame, node: ast.AST, cls: Class, method: Value, name: str) -> Value:
    """A method of an object, in whose place the program puts another: which one it is decides."""
    function = method.function
    looks = function is not None and function.binding != "property" and not (frame.static or frame.plain)
    if looks and frame.machine.mutations.exchanges(cls, name):
        frame.consume(node, class_attributes.with_exchanged(frame, method, cls, name))
    return method


def _method(frame: Frame, node: ast.AST, base: Value, member: Value) -> Value:
    function = member.function
    if function is None or function.binding == "static":
        return member
    if function.binding == "class":
        return Value(Kind.BOUND, FRESH, Bound(Value(Kind.CLASS, FRESH, base.ref), function))
    bound = Value(Kind.BOUND, base.place, Bound(base, function))
    if function.binding == "property":
        if function.cached_at is not None and last_name(function.cached_at) == "cached_property":
            frame.observer.came_to(frame, node, Step.CACHED_PROPERTY)
        return frame.machine.call(frame, node, bound, [], {})
    return bound


def _partial_method(frame: Frame, node: ast.AST, base: Value, member: Value) -> Value:
    """A method with some of its arguments given: `twice = partialmethod(scale, factor=2)`."""
    if (partial := member.partial) is None:
        return UNKNOWN
    bound = _method(frame, node, base, partial.function) if partial.function.kind is Kind.FUNCTION else UNKNOWN
    return Value(Kind.PARTIAL, FRESH, partial._replace(function=bound))


def _plain_attribute(frame: Frame, node: ast.AST, base: Value, value: Value, name: str) -> None:
    """Plain Python attributes of a module argument are not guarded, whatever torch says of its parameters."""
    if base.kind is not Kind.MODULE or base.place.root is not Root.ARGUMENT:
        return
    for alternative in value.alternatives():
        if alternative.flags & Flag.REGISTERED:
            continue
        plain_tensor = alternative.kind is Kind.TENSOR
        if plain_tensor and alternative.flags & Flag.CLASS_ATTRIBUTE:
            frame.emit(Event.READ, node, alternative.place, alternative, how=Read.DATA)
        elif plain_tensor or alternative.kind in PRIMITIVES or alternative.kind is Kind.NUMPY or _chosen(alternative):
            frame.emit(Event.ATTRIBUTE, node, base.place.step(f".{name}"), alternative, name)


def _chosen(value: Value) -> bool:
    return value.kind in _CHOSEN and not value.flags & Flag.CLASS_ATTRIBUTE


def held(base: Value, found: Value) -> Value:
    """What was found in a value, marked if a plain attribute of a module argument holds it.

    Numbers and tensors that are such attributes themselves are told where they are loaded.
    """
    of_module = base.kind is Kind.MODULE and base.place.root is Root.ARGUMENT
    if not of_module and not base.flags & Flag.INSIDE:
        return found
    if found.kind is Kind.UNION:
        return found.with_alternatives(held(base, alternative) for alternative in found.alternatives())
    inside = base.flags & Flag.INSIDE
    if found.kind is Kind.PARAMETER or (found.kind is Kind.MODULE and not inside):
        return found
    if of_module and found.kind not in _HOLDERS and not inside:
        return found
    return found._replace(flags=found.flags | Flag.INSIDE)


def asked_for(frame: Frame, node: ast.AST, base: Value, name: str, answer: Value) -> None:
    """Whether an object or module has an attribute decides, and nothing is known that gives it one."""
    place = base.place.step(f".{name}")
    if frame.static or answer.kind not in PRIMITIVES or frame.initialises(answer.at(place)):
        return
    if base.kind is Kind.MODULE and base.place.root is Root.ARGUMENT:
        if _gives_itself(base, name):
            return
        frame.emit(Event.ATTRIBUTE, node, place, answer, name)
    elif base.kind in (Kind.OBJECT, Kind.INSTANCE) and base.place.captured:
        frame.emit(Event.READ, node, place, answer, how=Read.DATA)


def _gives_itself(module: Value, name: str) -> bool:
    """Whether a parameter, buffer or submodule has that name: Dynamo guards those."""
    known = module.heap.attributes.get(name) if module.heap is not None else None
    return known is not None and (known.kind in _REGISTERED or bool(known.flags & Flag.REGISTERED))


def _mode(frame: Frame, node: ast.AST, base: Value) -> Value:
    if base.place.root is Root.ARGUMENT:
        frame.emit(Event.MODE, node, base.place, base, "training")
        return BOOL
    return BOOL.at(base.place.step(".training")) if base.place.captured else BOOL


def _of_external_instance(frame: Frame, node: ast.Attribute, base: Value, name: str) -> Value:
    """An attribute of an object whose class lies outside the program, torch's own modules among them."""
    if name in _CLASS_NAMES and asked_types.asks_for_type(base):
        frame.emit(Event.QUERY, node, base.place, base, ast.unparse(node), how=Question.CLASS)
        return STRING
    place = base.place.step(f".{name}")
    if base.heap is not None and name in base.heap.attributes:
        found = _with_replacements(frame, base, name, relocated(base.heap.attributes[name], place))
        _plain_attribute(frame, node, base, found, name)
        return held(base, found)
    if base.kind is Kind.MODULE:
        if name == "training":
            return _mode(frame, node, base)
        if (own := _of_layer(base, name, place)) is not None:
            return own
    stored = frame.machine.mutations.stored_in(base.place, name) if base.place.root is Root.GLOBAL else None
    if stored is not None:
        return relocated(stored, place)
    return Value(Kind.EXTERNAL_METHOD, place, ExternalMethod(base, name))


def _of_layer(module: Value, name: str, place: AccessPath) -> Value | None:
    """A parameter or buffer that a layer of torch registers for itself; None if there is none of that name."""
    layer = nn_module(module.dotted) if module.dotted else None
    registered = layer.registers(name) if layer is not None else ""
    if registered == "parameter":
        return Value(Kind.PARAMETER, place)
    return Value(Kind.TENSOR, place, flags=Flag.REGISTERED) if registered else None


def _of_function(frame: Frame, node: ast.Attribute, base: Value, name: str) -> Value:
    """What a module stores under an attribute of one of its functions."""
    function = base.function
    if function is None:
        return UNKNOWN
    if name == "__name__" and function.closure is None:
        return STRING._replace(const=function.name)
    place = function.module.place(function.name)
    plain = function.closure is None and function.owner is None and not name.startswith("__")
    stored = frame.machine.mutations.stored_in(place, name) if plain else None
    if stored is None:
        return Value(Kind.EXTERNAL_METHOD, base.place, ExternalMethod(base, name), taint=base.taint)
    return relocated(stored, place.step(f".{name}"))


def _of_super(frame: Frame, node: ast.Attribute, base: Value, name: str) -> Value:
    if not isinstance(base.ref, Super):
        return UNKNOWN
    receiver, owner = base.ref
    found = classes.member(frame.machine, receiver.of_class, name, after=owner) if receiver.of_class else None
    if found is not None and found[0].kind is Kind.MARKED:
        return found[0]
    if found is None or found[0].kind is not Kind.FUNCTION:
        return Value(Kind.EXTERNAL_METHOD, receiver.place, ExternalMethod(receiver, name))
    return _method(frame, node, receiver, found[0])


def _of_unknown(frame: Frame, node: ast.Attribute, base: Value, name: str) -> Value:
    return Value(Kind.EXTERNAL_METHOD, base.place.step(f".{name}"), ExternalMethod(base, name))


def _of_tuple(frame: Frame, node: ast.Attribute, base: Value, name: str) -> Value:
    """A field of a named tuple, or a method."""
    found = base.heap.attributes.get(name) if base.heap is not None else None
    if found is None and name in _RESULT_FIELDS and base.heap is not None and base.heap.element is not None:
        found = base.heap.element if base.heap.element.is_tensor else None
    if found is None:
        return Value(Kind.EXTERNAL_METHOD, base.place, ExternalMethod(base, name), taint=base.taint)
    outside = base.place.root not in (Root.FRESH, Root.UNKNOWN)
    return relocated(found, base.place.step(f".{name}")) if outside else found


def _of_setting(frame: Frame, node: ast.Attribute, base: Value, name: str) -> Value:
    """The type of a device is a string, and so is what many members of enumerations hold."""
    if name == "type" and base.ref is None:
        return STRING
    told = enumerations.attribute(frame.machine, base.of_class, name) if base.of_class is not None else None
    if told is not None:
        return told
    return Value(Kind.EXTERNAL_METHOD, base.place, ExternalMethod(base, name), taint=base.taint)


def _of_marked(frame: Frame, node: ast.Attribute, base: Value, name: str) -> Value:
    """Methods of operators register what belongs to them; nothing else is known of a marked function."""
    method = base.mark is not None and base.mark.operator is not None and name.startswith("register_")
    return Value(Kind.EXTERNAL_METHOD, base.place, ExternalMethod(base, name)) if method else UNKNOWN


_LOADERS = {
    Kind.PYTHON_MODULE: _of_python_module,
    Kind.EXTERNAL: _of_external,
    Kind.TENSOR: _of_tensor,
    Kind.PARAMETER: _of_tensor,
    Kind.OBJECT: _of_object,
    Kind.MODULE: _of_object,
    Kind.INSTANCE: _of_external_instance,
    Kind.CLASS: class_attributes.load,
    Kind.FUNCTION: _of_function,
    Kind.SUPER: _of_super,
    Kind.UNKNOWN: _of_unknown,
    Kind.MARKED: _of_marked,
    Kind.TUPLE: _of_tuple,
    Kind.SETTING: _of_setting,
}
