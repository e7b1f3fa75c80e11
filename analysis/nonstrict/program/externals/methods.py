"""Method calls on values: tensors, containers, modules, and objects of classes outside the program."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Change, Event, Pointed
from nonstrict.facts.context_variables import variable
from nonstrict.knowledge.operators import BASE_MODULE, nn_module, rebinds, tensor_method
from nonstrict.models.entries import Doing, Entry
from nonstrict.models.members import CHANGING_ARRAYS, RETURNING_MODULE
from nonstrict.program.domain.access_paths import FRESH, Root
from nonstrict.program.domain.values import (
    BOOL,
    BYTES,
    GLOBALS,
    NO_CONSTANT,
    NONE,
    NUMBER,
    STRING,
    TENSORS,
    UNKNOWN,
    Flag,
    Kind,
    Value,
    container,
    holding,
    join,
    relocated,
)
from nonstrict.program.externals import (
    autograd_functions,
    container_methods,
    external_calls,
    functional_calls,
    gradients,
    held_modules,
    hooks,
    module_contents,
    named_tuples,
    reflection,
    storages,
    strings,
    torch_calls,
)
from nonstrict.program.objects import classes, coverage, dtypes, iteration, namespaces, releases, stores, typed

if TYPE_CHECKING:
    from nonstrict.program.state.frames import Frame

#: What iterates over the modules in a module; `named_modules` has parameters that change what it gives.
_CHILDREN = frozenset({"children", "modules", "named_children", "values", "items"})
_POINTERS = frozenset({"data_ptr", "_data_ptr", "const_data_ptr", "mutable_data_ptr", "__dlpack__"})
_HOOKS = frozenset(
    {
        "register_hook",
        "register_post_accumulate_grad_hook",
        "register_forward_hook",
        "register_forward_pre_hook",
        "register_full_backward_hook",
        "register_full_backward_pre_hook",
        "register_backward_hook",
        "register_module_forward_hook",
    }
)
_THREADS = frozenset({"threading.Thread", "multiprocessing.Process", "multiprocessing.process.BaseProcess"})
_BUFFERS = frozenset({"register_buffer", "register_parameter", "add_module", "register_module"})
_DRAWING = frozenset({Doing.RANDOM, Doing.DRAW})
_TEXT_RESULTS = {
    **dict.fromkeys(("find", "rfind", "index", "rindex", "count"), NUMBER),
    **dict.fromkeys(("startswith", "endswith", *(name for name in dir(str) if name.startswith("is"))), BOOL),
    **dict.fromkeys(("partition", "rpartition"), UNKNOWN),
    "encode": Value(Kind.STRING, ref=BYTES),
}
_ARRAY_RESULTS = {"item": Kind.NUMBER, "tolist": Kind.UNKNOWN, "tobytes": Kind.STRING}


def call(
    frame: Frame, node: ast.AST, receiver: Value, name: str, positional: list[Value], keywords: dict[str, Value]
) -> Value:
    """The result of `receiver.name(...)`."""
    frame.observer.method_called(frame, node, receiver, name, positional, keywords)
    if receiver.kind is Kind.UNION:
        found: Value | None = None
        for alternative in receiver.alternatives():
            if alternative.kind is not Kind.NONE:
                found = join(found, call(frame, node, alternative, name, positional, keywords))
        return found or UNKNOWN
    if receiver.flags & Flag.RELEASE and (made := releases.method(receiver, name, positional)) is not None:
        return made
    if (made := named_tuples.method(receiver, name, keywords)) is not None:
        return made
    handler = _HANDLERS.get(receiver.kind)
    if handler is not None:
        return handler(frame, node, receiver, name, positional, keywords)
    if receiver.dotted == GLOBALS and name in ("update", "__setitem__"):
        return _of_method(frame, node, receiver, name, positional, keywords)
    if receiver.kind is Kind.INSTANCE and receiver.dotted:
        return _external(frame, node, receiver, name, positional, keywords)
    if receiver.kind is Kind.CLASS and name == "apply":
        return autograd_functions.applied(frame, node, receiver, positional, keywords)
    frame.advance(node, receiver, by=name)
    if receiver.kind is Kind.UNKNOWN and name in storages.OF_TENSORS and not frame.static:
        return _tensor(frame, node, receiver._replace(kind=Kind.TENSOR), name, positional, keywords)
    return _other(frame, node, receiver, name, positional, keywords)


# -- tensors ------------------------------------------------------------------------------------------------------


def _tensor(
    frame: Frame, node: ast.AST, receiver: Value, name: str, positional: list[Value], keywords: dict[str, Value]
) -> Value:
    if name == "type" and not positional and not keywords:
        return STRING
    if name == "as_subclass" and positional and positional[0].kind is Kind.CLASS:
        return receiver._replace(ref=positional[0].ref)
    if name in _POINTERS:
        frame.emit(Event.POINTER, node, receiver.place, receiver, f"`{name}()`", how=Pointed.ADDRESS)
        return Value(Kind.NUMBER, FRESH, flags=Flag.POINTER)
    if name == "storage_offset" and receiver.place.root is Root.ARGUMENT:
        frame.emit(Event.STORAGE, node, receiver.place, receiver)
    if name in storages.METHODS:
        return storages.of(receiver)
    storages.given_to(frame, node, receiver, name, positional)
    if rebinds(name):
        return gradients.told(_rebind(frame, node, receiver, name), name, positional, keywords)
    if name == "backward":
        return _backward(frame, node, receiver)
    if name in _HOOKS:
        hooks.register(frame, node, receiver, name, positional)
        return UNKNOWN
    if name in ("apply_", "map_") and positional:
        frame.machine.call(frame, node, positional[0], [NUMBER], {})
    operator = tensor_method(name)
    if operator is None:
        for value in (receiver, *positional, *keywords.values()):
            frame.consume(node, value)
        return UNKNOWN
    return torch_calls.apply(frame, node, f"torch.Tensor.{name}", operator, [receiver, *positional], keywords)


def _rebind(frame: Frame, node: ast.AST, receiver: Value, name: str) -> Value:
    """A method that changes what a tensor is; it returns the tensor."""
    if not receiver.place.is_view:
        if receiver.place.root is Root.ARGUMENT:
            frame.emit(Event.REBIND_DATA, node, receiver.place, receiver, _text(node))
        elif receiver.place.captured:
            frame.emit(Event.TENSOR_WRITE, node, receiver.place, receiver, f"`{name}`")
    if name == "requires_grad_":
        return frame.observer.gradient_required(frame, node, receiver)
    return gradients.cut(receiver) if name == "detach_" else receiver


def _text(node: ast.AST) -> str:
    return ast.unparse(node.func) + "()" if isinstance(node, ast.Call) else ast.unparse(node)


def _backward(frame: Frame, node: ast.AST, receiver: Value) -> Value:
    frame.consume(node, receiver)
    if receiver.flags & Flag.ATTACHED:
        frame.emit(Event.REBIND_DATA, node, receiver.place, receiver, _text(node), how=Change.GRADIENT)
    return NONE


# -- modules ------------------------------------------------------------------------------------------------------


def call_module(
    frame: Frame, node: ast.AST, module: Value, positional: list[Value], keywords: dict[str, Value]
) -> Value:
    """Call a module whose `forward` is not of the program: does the result depend on its mode?"""
    for value in (*positional, *keywords.values()):
        frame.consume(node, value)
        frame.sink(value)
    coverage.module_call(frame, node, module)
    frame.machine.contracts.module_called(frame, node, module, positional, keywords)
    dependent = functional_calls.mode_dependent(module) or _guards_mode(frame, module)
    if dependent and module.place.root is Root.ARGUMENT:
        frame.emit(Event.MODE, node, module.place, module, dependent)
    if module.place.root is Root.ARGUMENT and module.dotted.startswith("torch.") and "Dropout" in module.dotted:
        frame.emit(Event.ATTRIBUTE, node, module.place.step(".p"), NUMBER, "p")
    frame.observer.module_called(frame, node, module)
    frame.observer.layer_called(frame, node, module, positional)
    if held_modules.is_in_place(module) and positional and positional[0].is_tensor:
        frame.written(node, positional[0], f"`{module.dotted.rpartition('.')[2]}`")
    _run_children(frame, node, module, positional)
    taint: frozenset[object] = frozenset[object]().union(*(value.taint for value in positional if value.is_tensor))
    attached = Flag.ATTACHED if any(value.flags & Flag.ATTACHED for value in positional) else Flag.NONE
    unseen = Flag.OUTPUT if coverage.is_unseen(frame, module) else Flag.NONE
    return Value(Kind.TENSOR, FRESH, flags=attached | unseen, taint=taint)


def _guards_mode(frame: Frame, module: Value) -> str:
    """In a region a layer reads its mode, and Dynamo guards it, also where its arguments leave it nothing to do."""
    known = nn_module(module.dotted) if frame.region and module.dotted else None
    return known.name if known is not None and known.mode_dependent else ""


def _run_children(frame: Frame, node: ast.AST, module: Value, positional: list[Value]) -> None:
    """The modules of the program inside a `Sequential` run their `forward`, all of them their hooks."""
    if module.heap is None or not module.dotted:
        return
    hooks.run_inside(frame, node, module)
    seen: set[int] = set()
    children = [*module.heap.items.values(), *([module.heap.loose] if module.heap.loose is not None else [])]
    children += list(held_modules.called(module)) if frame.region else []
    for held in children:
        alternatives = held.alternatives()
        if len(alternatives) > 1 and any(one.kind is Kind.UNKNOWN for one in alternatives):
            continue  # it may not be there
        frame.branches += len(alternatives) > 1
        for child in alternatives:
            if child.kind is Kind.MODULE and child.of_class is not None and id(child.heap) not in seen:
                seen.add(id(child.heap))
                placed = child.at(module.place.step("[]")) if module.place.root is Root.ARGUMENT else child
                frame.machine.call(frame, node, placed, positional or [Value(Kind.TENSOR)], {})
        frame.branches -= len(alternatives) > 1


def _module(
    frame: Frame, node: ast.AST, module: Value, name: str, positional: list[Value], keywords: dict[str, Value]
) -> Value:
    if name in _BUFFERS:
        _register(module, name, positional, keywords)
        return UNKNOWN
    if name in _HOOKS:
        hooks.register(frame, node, module, name, positional)
        return UNKNOWN
    if (done := reflection.inherited(frame, node, module, name, positional)) is not None:
        return done
    for value in (*positional, *keywords.values()):
        frame.consume(node, value)
    if name in ("compile", "apply"):
        return _with_parts(frame, node, module, name, positional, keywords)
    if name in ("forward", "__call__", "_call_impl"):
        # One of the program is a bound method: this is the one of torch that `super().forward` names.
        return frame.machine.call(frame, node, held_modules.inherited(frame, module), positional, keywords)
    if name in ("train", "eval") and stores.outer(module.place):
        frame.emit(Event.WRITE, node, module.place.step(".training"), BOOL, name)
    if name in module_contents.METHODS:
        return module_contents.method(frame, node, module, name, positional, keywords)
    hooked = hooks.member(frame, module, name)
    if (name in _CHILDREN or hooked is not None) and not positional:
        child = hooked or _child(module, attributes=name != "modules")
        named = child if name in ("children", "modules", "values") else container(Kind.TUPLE, STRING, child)
        if hooked is None and name in ("values", "items") and module.dotted:
            return (iteration.values if name == "values" else iteration.pairs)(frame, module, named)
        return holding(Kind.ITERATOR, named)
    if name in ("append", "extend", "insert", "__init__"):
        _fill(module, name, positional, keywords)
    coverage.method(frame, node, module, name)
    return gradients.told(module, name, positional, keywords) if name in RETURNING_MODULE else UNKNOWN


def _with_parts(
    frame: Frame, node: ast.AST, module: Value, name: str, positional: list[Value], keywords: dict[str, Value]
) -> Value:
    """Methods that concern a module and all in it: one compiles it, the other calls a function with each."""
    if name == "compile":
        frame.machine.contracts.compile_called(frame, node, module, keywords)
        return NONE
    for part in (_child(module, attributes=True), module) if frame.static and positional else ():
        frame.machine.call(frame, node, positional[0], [part], {})
    if not frame.static:
        coverage.method(frame, node, module, name)
    return module


def _fill(module: Value, how: str, positional: list[Value], keywords: dict[str, Value]) -> None:
    """Put modules into a container of modules: those that it is made of, or that are added to it."""
    if how == "__init__":
        held = classes.as_inherited(module)
        held_modules.hold(held, positional, keywords)
        if module.heap is not None and held.dotted:
            module.heap.switched = held_modules.is_switched(held.dotted, positional, keywords)
    elif module.heap is not None:
        extended = (child for given in positional if given.heap is not None for child in given.heap.members())
        for child in extended if how == "extend" else positional[-1:]:
            module.heap.store(NO_CONSTANT, child)


def _child(module: Value, *, attributes: bool) -> Value:
    """What a module holds: what is known of its entries, and of its attributes if they are asked for; else a module."""
    place = module.place.step("[]")
    element = held_modules.any_of(module, attributes=attributes)
    if element is None:
        return Value(Kind.MODULE, place, BASE_MODULE)
    return element if place.root is Root.FRESH else relocated(element, place)


def _register(module: Value, how: str, positional: list[Value], keywords: dict[str, Value]) -> None:
    name = positional[0].const if positional else keywords.get("name", UNKNOWN).const
    given = positional[1] if len(positional) > 1 else keywords.get("tensor", keywords.get("module", UNKNOWN))
    if module.heap is None or not isinstance(name, str):
        if module.heap is not None and given.kind is Kind.MODULE:
            module.heap.store(NO_CONSTANT, given)
        return
    if how in ("register_buffer", "register_parameter") and given.kind is Kind.NONE:
        module.heap.attributes[name] = NONE._replace(flags=Flag.REGISTERED)
    elif how == "register_buffer":
        module.heap.attributes[name] = dtypes.registered(given)
    elif how == "register_parameter":
        module.heap.attributes[name] = Value(Kind.PARAMETER)
    else:
        module.heap.attributes[name] = given
        if module.dotted:
            # `Sequential` runs what it holds, however that was put in.
            module.heap.store(NO_CONSTANT, given)


# -- the rest -----------------------------------------------------------------------------------------------------


def _is_seeded_here(receiver: Value) -> bool:
    """Whether a random generator was made in the body, with a seed."""
    return bool(receiver.flags & Flag.LITERAL) and receiver.place.root is Root.FRESH


def _changed(frame: Frame, node: ast.AST, receiver: Value, name: str, known: Entry, values: list[Value]) -> None:
    """An object that lives outside changes; tensors handed to others are work for them, which is told as such."""
    handed = known.effect is not None and any(value.holds_tensor for value in values)
    if known.changes_self and receiver.place.captured and not handed:
        stores.write(frame, node, receiver.place, values[0] if values else UNKNOWN, Change.METHOD, name)


def _seeded(frame: Frame, node: ast.AST, receiver: Value, values: list[Value]) -> Value:
    """A random generator that was made in the body gets a seed: nobody else draws from it."""
    for value in (receiver, *values):
        frame.consume(node, value)
    return NONE


def _external(
    frame: Frame, node: ast.AST, receiver: Value, name: str, positional: list[Value], keywords: dict[str, Value]
) -> Value:
    values = [*positional, *keywords.values()]
    if receiver.flags & Flag.NATIVE:
        return external_calls.native(frame, node, _text(node).removesuffix("()"), values)
    registered = frame.machine.contracts.apply_method(frame, node, receiver, name, positional, keywords)
    if registered is not None:
        return registered
    models = frame.machine.models
    known = models.member(receiver.dotted, name)
    effect = known.effect if known is not None else None
    if name == "start" and models.is_a(receiver.dotted, "threading.Thread"):
        return external_calls.start_thread(frame, node, receiver)
    if known is not None:
        _changed(frame, node, receiver, name, known, values)
    if effect is not None and effect.doing is Doing.SEED and receiver.place.root is Root.FRESH:
        return _seeded(frame, node, receiver, values)
    if effect is not None and effect.doing is Doing.ENVIRON_READ and variable(node) in frame.held_variables(node):
        return UNKNOWN
    drawn_here = effect is not None and effect.doing in _DRAWING and _is_seeded_here(receiver) and not frame.static
    if known is not None and effect is not None and not drawn_here:
        return external_calls.described(frame, node, known, effect, values)
    for value in values:
        frame.consume(node, value)
        frame.sink(value)
    if receiver.place.captured:
        frame.consume(node, receiver)
    if known is None:
        coverage.method(frame, node, receiver, name)
    return typed.result(models, known.returns) if known is not None else UNKNOWN


def _runs_itself(frame: Frame, receiver: Value) -> bool:
    """Whether an object of the program is a thread or process whose `run` does the work."""
    if receiver.kind is not Kind.OBJECT or receiver.of_class is None:
        return False
    return bool(classes.external_bases(receiver.of_class) & _THREADS) and bool(
        classes.member(frame.machine, receiver.of_class, "run")
    )


def _other(
    frame: Frame, node: ast.AST, receiver: Value, name: str, positional: list[Value], keywords: dict[str, Value]
) -> Value:
    registered = frame.machine.contracts.apply_method(frame, node, receiver, name, positional, keywords)
    if registered is not None:
        return registered
    values = [*positional, *keywords.values()]
    frame.consume(node, receiver)
    if frame.opaque and receiver.kind is Kind.UNKNOWN and name.endswith("_") and tensor_method(name) is not None:
        frame.written(node, receiver, f"`{name}`")
    for value in values:
        frame.consume(node, value)
    if receiver.kind is Kind.STRING:
        if name == "format":
            for value in values:
                if value.is_tensor:
                    strings.tensor_written(frame, node, value)
        made = strings.method(frame, receiver, name, positional, keywords)
        return (
            made
            or _TEXT_RESULTS.get(name)
            or (STRING if name not in ("split", "rsplit", "splitlines") else container(Kind.LIST, STRING))
        )
    for value in values:
        frame.sink(value)
    if receiver.flags & Flag.NATIVE:
        return external_calls.native(frame, node, _text(node).removesuffix("()"), values)
    coverage.method(frame, node, receiver, name)
    if frame.static and receiver.kind is Kind.UNKNOWN and name in module_contents.OF_ALL:
        return module_contents.tensors_of(receiver, name)
    if name == "compile":
        frame.machine.contracts.compile_called(frame, node, receiver, keywords)
    return UNKNOWN.with_taint(receiver.taint)


def _array(
    frame: Frame, node: ast.AST, receiver: Value, name: str, positional: list[Value], keywords: dict[str, Value]
) -> Value:
    if name in CHANGING_ARRAYS and stores.array_written(frame, node, receiver, name):
        return NONE
    for value in (receiver, *positional, *keywords.values()):
        frame.consume(node, value)
    result = _ARRAY_RESULTS.get(name, Kind.NUMPY)
    return Value(result, ref=BYTES if result is Kind.STRING else None, taint=receiver.taint)


def _object(
    frame: Frame, node: ast.AST, receiver: Value, name: str, positional: list[Value], keywords: dict[str, Value]
) -> Value:
    """A method that an object of the program inherits from a class outside it."""
    if name == "start" and _runs_itself(frame, receiver):
        return external_calls.start_thread(frame, node, receiver)
    if (done := reflection.inherited(frame, node, receiver, name, positional)) is not None:
        return done
    frame.advance(node, receiver, by=name)
    return _other(frame, node, receiver, name, positional, keywords)


def _generator(
    frame: Frame, node: ast.AST, receiver: Value, name: str, positional: list[Value], keywords: dict[str, Value]
) -> Value:
    """A method of a `torch.Generator`; one that seeds it returns it."""
    result = _other(frame, node, receiver, name, positional, keywords)
    return receiver if name == "manual_seed" else result


def _of_method(
    frame: Frame, node: ast.AST, receiver: Value, name: str, positional: list[Value], keywords: dict[str, Value]
) -> Value:
    """A method of something reached through an object of which little is known: of its `__dict__`, or of a part."""
    owner = namespaces.holder(receiver)
    if owner is not None:
        found = reflection.method(frame, node, owner, name, positional, keywords)
        if found is not None:
            return found
    frame.advance(node, receiver, by=name)
    return _other(frame, node, receiver, name, positional, keywords)


_HANDLERS = {
    Kind.EXTERNAL_METHOD: _of_method,
    Kind.OBJECT: _object,
    Kind.GENERATOR: _generator,
    **dict.fromkeys(TENSORS, _tensor),
    **dict.fromkeys((*container_methods.NAMES, Kind.TUPLE), container_methods.call),
    Kind.MODULE: _module,
    Kind.STORAGE: storages.call,
    Kind.NUMPY: _array,
}
