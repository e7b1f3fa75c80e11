"""Calls of things outside the program: torch's operators, builtins, the standard library, NumPy, native code."""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING

from nonstrict.events import Change, Drawn, Event, Pointed, Taken
from nonstrict.facts.library_calls import called
from nonstrict.facts.putting_back import only_put_back
from nonstrict.findings import Output
from nonstrict.knowledge.markers import MARKERS
from nonstrict.knowledge.operators import torch_function, torch_kind
from nonstrict.models.entries import ANY, OUTPUTS, Doing, Entry, Form
from nonstrict.models.library import SHIPPED
from nonstrict.program.domain.access_paths import FRESH, AccessPath, Root
from nonstrict.program.domain.effects import Summary
from nonstrict.program.domain.values import BOOL, NONE, NUMPY, UNKNOWN, AbstractObject, Flag, Kind, Value
from nonstrict.program.externals import (
    arrays,
    builtin_calls,
    custom_operators,
    held_modules,
    shallow_copies,
    torch_calls,
    unbound_methods,
)
from nonstrict.program.linking import schemas
from nonstrict.program.objects import coverage, default_factories, naming, releases, stores, typed
from nonstrict.program.state import checked_symbols
from nonstrict.program.state.frames import Frame

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.models.entries import CallEffect, Type

_IN_MEMORY = frozenset({"io.StringIO", "io.BytesIO"})
_NAMESPACES = frozenset({"types.SimpleNamespace", "argparse.Namespace"})
#: Functions of numbers that give whole ones of whole ones (Built-in Functions in the documentation of Python).
_KEEPING_WHOLE = frozenset({"builtins.abs", "builtins.round"})
_DLPACK = frozenset({"torch.from_dlpack", "torch.utils.dlpack.from_dlpack"})
_NATIVE_LOADERS = frozenset(
    {
        "torch.utils.cpp_extension.load",
        "torch.utils.cpp_extension.load_inline",
        "ctypes.CDLL",
        "ctypes.cdll.LoadLibrary",
        "ctypes.PyDLL",
        "cffi.FFI",
        "pybind11.load",
    }
)


def _tell(frame: Frame, node: ast.AST, name: str, positional: list[Value], keywords: dict[str, Value]) -> None:
    """A call in a region may break the graph; `torch._check` tells of numbers that follow from data."""
    frame.observer.called(frame, node, name, positional, keywords)
    if not frame.region and name.startswith("torch._check"):
        checked_symbols.told(frame, node, positional, keywords)
    known = frame.machine.models.called(name)
    for parameter in known.changes if known is not None else ():
        given = positional[parameter.position] if 0 <= parameter.position < len(positional) else None
        changed = keywords.get(parameter.name, given)
        if changed is not None and changed.kind is Kind.NUMPY and parameter.position != 0:
            stores.array_written(frame, node, changed, name.rpartition(".")[2])


def call(frame: Frame, node: ast.AST, name: str, positional: list[Value], keywords: dict[str, Value]) -> Value:
    """The result of calling `name`, and what that does."""
    _tell(frame, node, name, positional, keywords)
    if (layer := held_modules.as_layer(name, positional)) is not None:
        return frame.machine.call(frame, node, layer, positional[1:], keywords)
    if name in _OPERATORS or _is_operator(name):
        return torch_calls.call(frame, node, name, positional, keywords)
    if (applied := frame.machine.contracts.apply(frame, node, name, positional, keywords)) is not None:
        return applied
    if (thing := _thing(frame, name, positional, keywords)) is not None:
        return thing
    if name in _DLPACK:
        return _from_dlpack(frame, node, [*positional, *keywords.values()])
    if (special := builtin_calls.SPECIAL.get(name)) is not None:
        return special(frame, node, positional, keywords)
    if (told := unbound_methods.call(frame, node, name, positional, keywords)) is not None:
        return told
    values = [*positional, *keywords.values()]
    known = frame.machine.models.called(name)
    if known is not None and (told := _described(frame, node, known, positional, keywords)) is not None:
        return told
    if name.startswith("torch.") and torch_calls.knows(name):
        return torch_calls.call(frame, node, name, positional, keywords)
    return _other(frame, node, name, known, values)


def _described(
    frame: Frame, node: ast.AST, known: Entry, positional: list[Value], keywords: dict[str, Value]
) -> Value | None:
    """What a model tells of a call besides the type of its result."""
    values = [*positional, *keywords.values()]
    if known.changes_self:
        holder = known.name.rpartition(".")[0]
        place = AccessPath(Root.GLOBAL, holder.rpartition(".")[0], holder)
        stores.write(frame, node, place, next(iter(values), UNKNOWN), Change.METHOD, known.name.rpartition(".")[2])
    if known.effect is not None and not _is_pure(known.effect, positional, keywords):
        result = _EFFECTS.get(known.effect.doing, _ignored)(frame, node, known, known.effect.what, values)
        if result is not None:
            return result
    return positional[known.gives] if 0 <= known.gives < len(positional) else None


def _thing(frame: Frame, name: str, positional: list[Value], keywords: dict[str, Value]) -> Value | None:
    """What a call makes that is told from objects of no known class by its name."""
    if name in _NATIVE_LOADERS:
        return Value(Kind.INSTANCE, FRESH, name, flags=Flag.NATIVE)
    if name in _IN_MEMORY:
        return Value(Kind.INSTANCE, FRESH, name)
    if name in _NAMESPACES:
        return _namespace(name, keywords)
    if name == schemas.INFER_SCHEMA:
        return schemas.infer_schema(positional, keywords)
    return releases.made(frame.machine, name, positional)


_OPERATORS: set[str] = set()
_OTHERS: set[str] = set()


def _is_operator(name: str) -> bool:
    """Whether a name is an operator of torch and nothing else; remembered."""
    if name in _OTHERS or not name.startswith("torch."):
        return False
    special = name in MARKERS or name in builtin_calls.SPECIAL or name in _DLPACK or name in _NATIVE_LOADERS
    plain = not special and SHIPPED.find(name) is None and torch_function(name) is not None
    (_OPERATORS if plain else _OTHERS).add(name)
    return plain


def _namespace(name: str, keywords: dict[str, Value]) -> Value:
    heap = AbstractObject()
    heap.attributes.update(keywords)
    return Value(Kind.INSTANCE, FRESH, name, heap=heap)


def _is_pure(known: CallEffect, positional: list[Value], keywords: dict[str, Value]) -> bool:
    """Whether its arguments spare a call its effect: `print(line, file=buffer)` with a buffer made in traced code."""
    if known.doing is not Doing.IO and known.doing not in OUTPUTS:
        return bool(known.pure_with) and len(positional) >= known.pure_with
    stream = keywords.get("file", keywords.get("stream", UNKNOWN))
    return stream.kind is Kind.INSTANCE and stream.dotted in _IN_MEMORY and stream.place.root is Root.FRESH


def described(frame: Frame, node: ast.AST, known: Entry, effect: CallEffect, values: list[Value]) -> Value:
    """The result of calling a method that a model describes, and what that does."""
    result = _EFFECTS.get(effect.doing, _ignored)(frame, node, known, effect.what, values)
    return result if result is not None else _other(frame, node, known.name, known, values)


def _other(frame: Frame, node: ast.AST, name: str, known: Entry | None, values: list[Value]) -> Value:
    used = values
    first = known is not None and any(parameter.position == 0 for parameter in known.changes)
    if first and values and stores.first_changed(frame, node, name.rpartition(".")[2], values):
        used = values[1:]
    for value in used:
        frame.consume(node, value)
        if name.startswith("itertools."):
            frame.advance(node, value)
        elif name.startswith("torch.") and not value.is_tensor:
            frame.sized_elements(value, unknown=True)  # collectives take sizes of parts
    if name.startswith("torch.ops."):
        custom_operators.note_call(frame, node, custom_operators.by_name(frame.machine.operators, name))
    _run_callbacks(frame, node, values)
    taint = checked_symbols.computed(frame, name, values)
    if "." in name and not name.startswith("builtins."):
        path = frame.machine.project.find_installed(name.rpartition(".")[0])
        if path is not None and not path.endswith(".py"):
            return native(frame, node, name, values)
    if known is None or known.returns == ANY:
        return _unknown(frame, node, name, known, values)
    made = _made(frame, known.returns, name, values).with_taint(taint)
    whole = name in _KEEPING_WHOLE and all(value.is_whole for value in values)
    return made._replace(flags=made.flags | Flag.WHOLE) if whole else made


def _unknown(frame: Frame, node: ast.AST, name: str, known: Entry | None, values: list[Value]) -> Value:
    """The result of calling what no model tells the result of: told by the text of the package, where it is there."""
    defined = frame.machine.installed(name)
    if defined is not None and defined.of_class is not None and defined.kind is Kind.CLASS:
        coverage.external(frame, node, name)
        return frame.machine.instance_at(defined.of_class, FRESH)
    held = frame.machine.outside(Value(Kind.EXTERNAL, FRESH, name), ask=False)
    if held.kind in (Kind.MODULE, Kind.OBJECT) and not frame.static:
        return frame.machine.call(frame, node, held, values, {})
    if known is None:
        coverage.external(frame, node, name)
    for value in values:
        frame.sink(value)
    return UNKNOWN


def _made(frame: Frame, result: Type, name: str, values: list[Value]) -> Value:
    """The value for a type of result, with what the arguments tell of it."""
    made = typed.result(frame.machine.models, result, values)
    if result.name == "collections.defaultdict" and values and made.heap is not None:
        made.heap.missing = default_factories.made_by(frame, values[0])
    small = made.kind is Kind.NUMPY and arrays.is_small(name, values)
    return made._replace(flags=made.flags | Flag.SMALL) if small else made


def _run_callbacks(frame: Frame, node: ast.AST, values: Sequence[Value]) -> None:
    """Functions handed to code outside the program may be called by it."""
    for value in values:
        if value.kind in (Kind.FUNCTION, Kind.BOUND) and not frame.static:
            frame.machine.call(frame, node, value, [], {})


# -- effects by kind ----------------------------------------------------------------------------------------------


def _io(
    frame: Frame, node: ast.AST, known: Entry, what: str, values: list[Value], *, output: Output = Output.NONE
) -> Value:
    for value in values:
        frame.consume(node, value)
    frame.emit(Event.IO, node, what=what, output=output)
    return typed.result(frame.machine.models, known.returns, values)


def _random(
    frame: Frame, node: ast.AST, known: Entry, what: str, values: list[Value], source: Drawn = Drawn.OTHER
) -> Value | None:
    drawn = frame.random(node, what, drawn=source)
    shuffled = next((one.position for one in known.changes), -1)
    if 0 <= shuffled < len(values):
        _taint(frame, node, shuffled, drawn)
        return NONE
    made = typed.result(frame.machine.models, known.returns, values)
    if made.kind in (Kind.UNKNOWN, Kind.NONE):
        return drawn._replace(kind=Kind.UNKNOWN)
    return drawn if made.kind is Kind.NUMBER else made.with_taint(drawn.taint)


def _taint(frame: Frame, node: ast.AST, index: int, drawn: Value) -> None:
    """An argument is changed in place by chance: the variable carries that from here on."""
    argument = node.args[index] if isinstance(node, ast.Call) and index < len(node.args) else None
    if isinstance(argument, ast.Name) and argument.id in frame.env:
        held = frame.env[argument.id]
        frame.env[argument.id] = held.with_taint(held.taint | drawn.taint)
        return
    frame.sink(drawn)


def _seed(frame: Frame, node: ast.AST, known: Entry, what: str, values: list[Value]) -> Value | None:
    frame.emit(Event.TORCH_STATE, node, what=what)
    return NONE


def _program(frame: Frame, node: ast.AST, known: Entry, what: str, values: list[Value]) -> Value | None:
    """A program that is run is an effect, and one that is given a function or tensors is handed work."""
    handed = any(_is_work(value) for value in values)
    return _thread(frame, node, known, what, values) if handed else _io(frame, node, known, what, values)


def _thread(frame: Frame, node: ast.AST, known: Entry, what: str, values: list[Value]) -> Value | None:
    if known.form is Form.CLASS:
        # A thread or executor is made here; work is handed over when it starts or is given a task.
        heap = AbstractObject()
        heap.open = any(_is_work(value) for value in values)
        return Value(Kind.INSTANCE, FRESH, known.returns.name, heap=heap)
    if any(_is_work(value) for value in values):
        frame.emit(Event.THREAD, node, what=_callee(node))
    return UNKNOWN


def start_thread(frame: Frame, node: ast.AST, thread: Value) -> Value:
    """`thread.start()`: an effect if the thread was given work, or is one by its class."""
    if thread.kind is Kind.OBJECT or (thread.heap is not None and thread.heap.open):
        frame.emit(Event.THREAD, node, what=_callee(node))
    return NONE


_CALLED = frozenset({Kind.FUNCTION, Kind.BOUND, Kind.PARTIAL, Kind.MARKED, Kind.MODULE})


def _is_work(value: Value) -> bool:
    if value.kind is Kind.EXTERNAL:
        return torch_function(value.dotted) is not None
    return value.kind in _CALLED or value.holds_tensor


def _callee(node: ast.AST) -> str:
    return f"`{ast.unparse(node.func)}()`" if isinstance(node, ast.Call) else "this"


def _pointed(frame: Frame, node: ast.AST, known: Entry, what: str, values: list[Value], asked: Pointed) -> Value:
    tensor = next((value for value in values if value.is_tensor), None)
    if tensor is not None:
        frame.emit(Event.POINTER, node, tensor.place, tensor, what, how=asked)
    return UNKNOWN


def _from_dlpack(frame: Frame, node: ast.AST, values: list[Value]) -> Value:
    """A tensor that has the memory of another."""
    tensor = next((value for value in values if value.is_tensor), None)
    if tensor is None:
        return UNKNOWN
    frame.emit(Event.POINTER, node, tensor.place, tensor, "shares memory through DLPack", how=Pointed.ADDRESS)
    return Value(Kind.TENSOR)


def native(frame: Frame, node: ast.AST, name: str, values: Sequence[Value]) -> Value:
    """A call into compiled code outside torch: fake tensors have no data for it."""
    for value in values:
        frame.consume(node, value)
    frame.observer.native_called(frame, node, name)
    given = next((value for value in values if value.holds_tensor), None)
    if given is not None:
        frame.emit(Event.NATIVE, node, given.place, given, name, how=_as_array(name))
    return UNKNOWN


def _native(frame: Frame, node: ast.AST, known: Entry, what: str, values: list[Value]) -> Value | None:
    given = next((value for value in values if value.is_tensor), None)
    if given is None:
        return None
    frame.consume(node, given)
    frame.emit(Event.NATIVE, node, given.place, given, known.name, how=_as_array(known.name))
    return NUMPY if known.name.startswith("numpy.") else UNKNOWN


def _torch_state(frame: Frame, node: ast.AST, known: Entry, what: str, values: list[Value]) -> Value | None:
    if torch_kind(known.name) in ("context-manager", "class"):
        return Value(Kind.INSTANCE, FRESH, known.name)
    frame.emit(Event.TORCH_STATE, node, what=what)
    return NONE


def _torch_guarded(frame: Frame, node: ast.AST, known: Entry, what: str, values: list[Value]) -> Value | None:
    return Value(Kind.INSTANCE, FRESH, known.name) if known.name == "torch.set_grad_enabled" else None


def _torch_query(frame: Frame, node: ast.AST, known: Entry, what: str, values: list[Value]) -> Value | None:
    if not (known.name.endswith(".get_rng_state") and _only_put_back(frame, node)):
        frame.emit(Event.AMBIENT, node, what=what)
    return BOOL


def _only_put_back(frame: Frame, node: ast.AST) -> bool:
    """Whether the state of a generator of torch decides nothing: it is kept to be set again."""
    function = frame.function
    if function is None:
        return False
    owner = function.owner.node if function.owner is not None else function.node
    names = naming.names_below(frame.machine, frame.module, owner)
    return only_put_back((function.node, owner), node, lambda call: called(names, call).name == "set_rng_state")


def _environ_read(frame: Frame, node: ast.AST, known: Entry, what: str, values: list[Value]) -> Value | None:
    variable = values[0] if values and known.name.startswith("os.") else UNKNOWN
    frame.emit(Event.AMBIENT, node, value=variable, what=what)
    return typed.result(frame.machine.models, known.returns)


def _as_array(name: str) -> Taken | None:
    return Taken.ARRAY if name.startswith("numpy.") else None


def _escape(frame: Frame, node: ast.AST, known: Entry, what: str, values: list[Value]) -> Value | None:
    deep = known.name == "copy.deepcopy"
    if frame.static and deep:
        return shallow_copies.shallow(frame, node, values, {})  # what it leads to is of the same kinds
    copied = values[:1] if deep else []
    tensor = next((value for value in values[:2] if value.holds_tensor), None)
    tensor = tensor or next((value for value in copied if _has_parameters(value)), None)
    if tensor is None:
        return None
    frame.consume(node, values[0])
    frame.emit(Event.ESCAPE, node, tensor.place, tensor, what, how=_as_array(known.name))
    return NUMPY if known.name.startswith("numpy.") else values[0].at(FRESH)


def _hook(frame: Frame, node: ast.AST, known: Entry, what: str, values: list[Value]) -> Value | None:
    for value in values:
        if value.kind in (Kind.FUNCTION, Kind.BOUND, Kind.PARTIAL):
            run_deferred(frame, node, value, "hook", [Value(Kind.TENSOR)] * 3)
    return UNKNOWN


def _ignored(frame: Frame, node: ast.AST, known: Entry, what: str, values: list[Value]) -> Value | None:
    """What ends the process: nothing that was compiled is wrong for it."""
    return None


_EFFECTS = {
    **{doing: partial(_io, output=output) for doing, output in OUTPUTS.items()},
    Doing.IO: _io,
    Doing.ENVIRON_WRITE: _io,
    Doing.ENVIRON_READ: _environ_read,
    Doing.RANDOM: _random,
    Doing.DRAW: partial(_random, source=Drawn.NUMBER),
    Doing.CLOCK: partial(_random, source=Drawn.CLOCK),
    Doing.IDENTITY: _random,
    Doing.SEED: _seed,
    Doing.THREAD: _thread,
    Doing.PROCESS: _thread,
    Doing.PROGRAM: _program,
    Doing.POINTER: partial(_pointed, asked=Pointed.ADDRESS),
    Doing.STORAGE: partial(_pointed, asked=Pointed.STORAGE),
    Doing.NATIVE: _native,
    Doing.TORCH_STATE: _torch_state,
    Doing.TORCH_GUARDED: _torch_guarded,
    Doing.TORCH_QUERY: _torch_query,
    Doing.ESCAPE: _escape,
    Doing.HOOK: _hook,
}


def _has_parameters(value: Value) -> bool:
    """Whether a module that is passed in surely has parameters or buffers."""
    if value.kind is not Kind.MODULE or value.place.root is not Root.ARGUMENT or value.heap is None:
        return False
    return any(held.is_tensor or _has_parameters(held.at(value.place)) for held in value.heap.attributes.values())


def run_deferred(frame: Frame, node: ast.AST, function: Value, how: str, arguments: Sequence[Value]) -> None:
    """Interpret a hook or backward function: what it does happens while tracing only."""
    holder = Summary("hook")
    inner = Frame(frame.machine, frame.module, frame.offset, holder, caller=frame, static=frame.static)
    inner.scope, inner.env, inner.function = frame.scope, frame.env, frame.function
    given = list(arguments)
    if function.function is not None and function.function.owner is None and not function.function.node.args.vararg:
        given = given[: len(function.function.node.args.args)]
    frame.machine.call(inner, node, function, given, {})
    if not frame.static:
        frame.followed(node, "hook", holder, how, cached=False, keyed=False)
