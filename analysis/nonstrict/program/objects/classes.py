"""Classes of the program: members along the bases, what kind of object an instance is, and instances."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, TypeAlias

from nonstrict.facts.fields import annotated
from nonstrict.facts.memo import remembered
from nonstrict.facts.targets import last_name
from nonstrict.knowledge.operators import nn_module, torch_kind
from nonstrict.knowledge.standard_library import EVER
from nonstrict.program.domain import symbols
from nonstrict.program.domain.access_paths import FRESH, NOWHERE, AccessPath
from nonstrict.program.domain.effects import Summary
from nonstrict.program.domain.references import Bound, ExternalMethod
from nonstrict.program.domain.values import CONTAINERS, NONE, AbstractObject, Flag, Kind, Value, join
from nonstrict.program.linking import fixtures
from nonstrict.program.objects import default_factories, definition_values
from nonstrict.program.objects.annotations import promised_value
from nonstrict.program.state.frames import Frame

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from nonstrict.program.domain.definitions import Class
    from nonstrict.program.state.machine import Machine

_ENUMS = frozenset({"enum.Enum", "enum.IntEnum", "enum.StrEnum", "enum.Flag", "enum.IntFlag"})
_DATACLASS = frozenset({"dataclasses.dataclass", "attr.s", "attrs.define", "attr.define", "attrs.frozen"})
_MAX_BASES = 40
#: Packages of which no class makes `forward` of a call; those of torch that do are told by their names.
_WITHOUT_CALLS = frozenset({"builtins", "torch", "typing_extensions", *EVER})
#: What a property gives to decorate other functions with.
_ACCESSORS = frozenset({"getter", "setter", "deleter"})
_Binding: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign


def lineage(cls: Class) -> Iterator[Class | str]:
    """The class and its bases, depth first; external bases as dotted names."""
    seen: set[object] = set()
    pending: list[Class | str] = [cls]
    while pending and len(seen) < _MAX_BASES:
        current = pending.pop(0)
        if current in seen:
            continue
        seen.add(current)
        yield current
        if isinstance(current, str):
            continue
        bases = (alternative for base in current.bases for alternative in base.alternatives())
        nearer = [base.of_class or base.dotted for base in bases if base.kind in (Kind.CLASS, Kind.EXTERNAL)]
        pending = nearer + pending


def external_bases(cls: Class) -> set[str]:
    """Dotted names of the bases outside the program."""
    return {base for base in lineage(cls) if isinstance(base, str)}


def is_module(cls: Class) -> bool:
    """Whether instances are `nn.Module`s."""
    return any(torch_kind(base) == "nn-module-class" or nn_module(base) for base in external_bases(cls))


def is_tensor(cls: Class) -> bool:
    """Whether instances are tensors."""
    return any(torch_kind(base) == "tensor-class" for base in external_bases(cls))


def is_enum(cls: Class) -> bool:
    """Whether the class is an enumeration."""
    return bool(external_bases(cls) & _ENUMS)


def is_dataclass(cls: Class) -> bool:
    """Whether fields come from annotations and `__init__` is generated."""
    return any(
        base == "typing.NamedTuple" if isinstance(base, str) else not _DATACLASS.isdisjoint(base.decorators)
        for base in lineage(cls)
    )


def is_autograd_function(cls: Class) -> bool:
    """Whether the class is a `torch.autograd.Function`."""
    return any(base.endswith(("autograd.Function", "function.Function")) for base in external_bases(cls))


def member(machine: Machine, cls: Class, name: str, *, after: Class | None = None) -> tuple[Value, Class] | None:
    """A class member and the class that defines it; with `after`, only from the bases behind that class."""
    active = after is None
    for base in lineage(cls):
        if isinstance(base, str):
            continue
        if active:
            found = own_member(machine, base, name)
            if found is not None:
                return found, base
        active = active or base is after
    return None


def own_member(machine: Machine, cls: Class, name: str) -> Value | None:
    """A member that the class body itself binds."""
    if name in cls.members:
        return cls.members[name]
    found: Value | None = None
    for statement in _bindings(cls.node).get(name, ()):
        bound = _bound_by(machine, cls, statement)
        if bound is not None:
            found = _as_property(found, bound, statement)
    if found is not None:
        cls.members[name] = found
    return found


def _as_property(before: Value | None, bound: Value, statement: _Binding) -> Value:
    """What a member is once a statement bound it anew: `@scale.setter` adds to the property that is there."""
    decorators = statement.decorator_list if not isinstance(statement, (ast.Assign, ast.AnnAssign)) else []
    parts = [one.attr for one in decorators if isinstance(one, ast.Attribute) and one.attr in _ACCESSORS]
    function, known = bound.function, before.function if before is not None else None
    if not parts or function is None or before is None or known is None or known.binding != "property":
        return bound
    if parts[0] == "getter":
        function.binding, function.setter = "property", known.setter
        return bound
    if parts[0] == "setter":
        known.setter = function
    return before


def setter_of(machine: Machine, base: Value, name: str) -> Value | None:
    """What runs where an attribute of an object is assigned to, if its class makes it a property."""
    if base.kind not in (Kind.OBJECT, Kind.MODULE) or base.of_class is None:
        return None
    found = member(machine, base.of_class, name)
    function = found[0].function if found is not None else None
    setter = function.setter if function is not None and function.binding == "property" else None
    return Value(Kind.BOUND, base.place, Bound(base, setter)) if setter is not None else None


def is_static(cls: Class, name: str) -> bool:
    """Whether the body of a class, or of the nearest base that binds a name, makes a `staticmethod` of it."""
    for base in lineage(cls):
        bound = _bindings(base.node).get(name, ()) if not isinstance(base, str) else ()
        if bound:
            last = bound[-1]
            around = [last.value] if isinstance(last, (ast.Assign, ast.AnnAssign)) else last.decorator_list
            return any(one is not None and last_name(one) == "staticmethod" for one in around)
    return False


def _bindings(node: ast.ClassDef) -> Mapping[str, tuple[_Binding, ...]]:
    """By name, the statements of a class body that bind it, in their order."""
    return remembered(node, "_nonstrict_bindings", _find_bindings)


def _find_bindings(node: ast.ClassDef) -> Mapping[str, tuple[_Binding, ...]]:
    found: dict[str, tuple[_Binding, ...]] = {}
    for statement in _statements(node.body):
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names = {statement.name}
        elif isinstance(statement, ast.Assign):
            names = {target.id for target in statement.targets if isinstance(target, ast.Name)}
        elif isinstance(statement, ast.AnnAssign):
            names = {getattr(statement.target, "id", "")}
        else:
            continue
        for name in names:
            found[name] = (*found.get(name, ()), statement)
    return found


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        if isinstance(statement, (ast.If, ast.Try)):
            yield from _statements(statement.body)
            yield from _statements(statement.orelse)
        else:
            yield statement


def _bound_by(machine: Machine, cls: Class, statement: _Binding) -> Value | None:
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return definition_values.define(_frame(machine, cls), statement, cls.offset, cls)
    value = statement.value
    if value is None or (isinstance(statement, ast.AnnAssign) and _is_field(value)):
        return None
    if value in machine.defaults:
        return None  # `scale = mark(scaler.scale)` in the class of `scaler`: the name is not bound yet
    machine.defaults.add(value)
    try:
        return machine.evaluate(_frame(machine, cls), value)
    finally:
        machine.defaults.discard(value)


def declared(machine: Machine, cls: Class, name: str, place: AccessPath) -> Value | None:
    """What the class body's annotations say of an instance attribute that nothing was seen to set."""
    for base in lineage(cls):
        if isinstance(base, str):
            continue
        for statement in base.node.body:
            if isinstance(statement, ast.AnnAssign) and getattr(statement.target, "id", "") == name:
                return promised_value(_frame(machine, base), statement.annotation, place)
    return None


def _is_field(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and last_name(value) in {"field", "Field"}


def _frame(machine: Machine, cls: Class) -> Frame:
    """A static frame in which the class body is evaluated: names of the class itself come first."""
    frame = Frame(machine, cls.module, cls.offset, Summary(cls.qualname), static=True)
    if cls.closure is not None:
        frame.function = cls.closure.function
        frame.scope = cls.closure.scope
        frame.env = dict(cls.closure.env)
    if frame.scope is None:
        if cls.functions is None:
            nodes = [node for node in cls.node.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
            functions = (definition_values.function_of(frame, node, cls.offset, cls) for node in nodes)
            cls.functions = {function.name: Value(Kind.FUNCTION, FRESH, function) for function in functions}
        frame.env.update(cls.functions)
    return frame


def fields(machine: Machine, cls: Class) -> dict[str, Value]:
    """The annotated fields of a dataclass or named tuple, bases first."""
    found: dict[str, Value] = {}
    for base in reversed([base for base in lineage(cls) if not isinstance(base, str)]):
        for statement in base.node.body:
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                frame = _frame(machine, base)
                found[statement.target.id] = promised_value(frame, statement.annotation, NOWHERE)
    return found


def instance_kind(cls: Class) -> Kind:
    """The kind of an instance."""
    if is_module(cls):
        return Kind.MODULE
    return Kind.TENSOR if is_tensor(cls) else Kind.OBJECT


def template(machine: Machine, cls: Class) -> AbstractObject:
    """The attributes that `__init__` gives an instance, its arguments unknown."""
    if cls.template is not None and cls.template.heap is not None:
        return cls.template.heap
    heap = AbstractObject()
    cls.template = Value(instance_kind(cls), NOWHERE, cls, heap=heap)
    if cls.preparing:
        return heap
    cls.preparing = True
    if is_dataclass(cls):
        heap.attributes.update(fields(machine, cls))
    initialise(machine, cls, cls.template)
    if cls.template.kind is Kind.MODULE:
        symbols.forget(heap)
    cls.preparing = False
    return heap


def initialise(machine: Machine, cls: Class, instance: Value) -> None:
    """Interpret `__init__`, and what a framework runs before other methods, on an instance with unknown arguments."""
    for name in ("__init__", *fixtures.run_before(external_bases(cls))):
        found = member(machine, cls, name)
        if found is not None and found[0].function is not None:
            machine.static_frame(found[0].function, receiver=instance)


def bare_instance(cls: Class, place: AccessPath) -> Value:
    """An instance of a class of which nothing is asked but its class."""
    return Value(Kind.SETTING if is_enum(cls) else instance_kind(cls), place, cls)


def instance_at(machine: Machine, cls: Class, place: AccessPath) -> Value:
    """An instance of a class that lives at `place`, made by code that was not followed."""
    bare = bare_instance(cls, place)
    return bare if bare.kind in (Kind.SETTING, Kind.TENSOR) else bare._replace(heap=template(machine, cls))


def construct(
    machine: Machine, frame: Frame, node: ast.AST, cls: Class, positional: Sequence[Value], keywords: dict[str, Value]
) -> Value:
    """A new instance: `__init__` runs on it with the given arguments."""
    kind = instance_kind(cls)
    if is_enum(cls):
        return Value(Kind.SETTING, FRESH, cls)
    if kind is Kind.TENSOR:
        return Value(Kind.TENSOR, FRESH, cls)
    heap = AbstractObject()
    instance = Value(kind, FRESH, cls, heap=heap)
    found = member(machine, cls, "__init__")
    if found is not None and found[0].function is not None:
        bound = Value(Kind.BOUND, FRESH, Bound(instance, found[0].function))
        machine.call(frame, node, bound, positional, keywords)
    elif is_dataclass(cls):
        _note(frame, node, instance, positional, keywords)
        names = list(fields(machine, cls).items())
        for (name, declared), given in zip(names, positional, strict=False):
            heap.attributes[name] = given if given.kind is not Kind.UNKNOWN else declared
        for name, declared in names[len(positional) :]:
            heap.attributes[name] = keywords[name] if name in keywords else _default(machine, cls, name, declared)
        post = member(machine, cls, "__post_init__")
        if post is not None and post[0].function is not None:
            machine.call(frame, node, Value(Kind.BOUND, FRESH, Bound(instance, post[0].function)), [], {})
    elif kind is Kind.MODULE:
        _note(frame, node, instance, positional, keywords)
        inherited = Value(Kind.EXTERNAL_METHOD, FRESH, ExternalMethod(instance, "__init__"))
        machine.call(frame, node, inherited, positional, keywords)  # containers hold what they are given
    elif any(isinstance(base, str) and base != "builtins.object" for base in lineage(cls)) and kind is Kind.OBJECT:
        heap.open = True
    for value in (*positional, *keywords.values()):
        heap.element = join(heap.element, value)
    if frame.static and kind is Kind.MODULE:
        symbols.forget(heap)  # modules are made outside compiled code
    return instance


def _note(
    frame: Frame, node: ast.AST, instance: Value, positional: Sequence[Value], keywords: dict[str, Value]
) -> None:
    """Record where an object of a class without a constructor of its own is made."""
    if frame.static and instance.of_class is not None:
        made = (frame, node, (instance, *positional), dict(keywords))
        frame.machine.static_calls.setdefault(instance.of_class.node, []).append(made)


def _default(machine: Machine, cls: Class, name: str, declared: Value) -> Value:
    """The field of a dataclass that a call leaves out: None, or a container, if that is its default."""
    found = member(machine, cls, name)
    if found is not None and found[0].kind is Kind.NONE:
        return NONE
    made = _made_anew(machine, cls, name)
    return made if made is not None and made.kind in CONTAINERS else declared


def _made_anew(machine: Machine, cls: Class, name: str) -> Value | None:
    """What `field(default_factory=lambda: {"fast": False})` makes for every object."""
    for base in lineage(cls):
        value = annotated(base.node).get(name) if not isinstance(base, str) else None
        if isinstance(base, str) or value is None or not _is_field(value):
            continue
        given = (keyword.value for keyword in getattr(value, "keywords", ()) if keyword.arg == "default_factory")
        factory = next(given, None)
        if not isinstance(factory, ast.Lambda):
            return None
        frame = _frame(machine, base)
        return default_factories.of_lambda(frame, machine.evaluate(frame, factory))
    return None


def call_target(machine: Machine, value: Value) -> Value | None:
    """What calling an instance runs: `forward` of a module, else `__call__`."""
    cls = value.of_class
    name = "forward" if value.kind is Kind.MODULE else "__call__"
    found = member(machine, cls, name) if cls is not None else None
    called = _left_as_it_is(*found) if found is not None else None
    if called is None or called.function is None:
        return called
    return Value(Kind.BOUND, value.place, Bound(value, called.function))


def _left_as_it_is(found: Value, cls: Class) -> Value | None:
    """A method, which a decorator may wrap or leave as it is: told as if it did that. None if it is no method."""
    if found.kind is Kind.UNION and all(one.kind is Kind.FUNCTION for one in found.alternatives()):
        return next((one for one in found.alternatives() if one.function and one.function.owner is cls), None)
    return found if found.kind in (Kind.FUNCTION, Kind.MARKED) else None


def inherited_call(machine: Machine, value: Value) -> Value | None:
    """`forward` of an object that is called by what a base class outside the program makes of a call.

    That is told where calling the object is what it is for: a compiler is given it.
    """
    cls = value.of_class
    found = member(machine, cls, "forward") if cls is not None else None
    if cls is None or found is None or found[0].function is None or member(machine, cls, "__call__") is not None:
        return None
    outside = {base.partition(".")[0] for base in external_bases(cls)}
    return Value(Kind.BOUND, value.place, Bound(value, found[0].function)) if outside - _WITHOUT_CALLS else None


def as_inherited(module: Value) -> Value:
    """A module whose `forward` is that of a base class outside the program, as an instance of this base."""
    bases = (base for base in lineage(module.of_class) if isinstance(base, str)) if module.of_class is not None else ()
    base, known = next(((base, known) for base in bases if (known := nn_module(base)) is not None), ("", None))
    if known is None:
        return module
    if known.container or module.heap is None:
        return module._replace(ref=base)
    heap = AbstractObject()
    heap.switched = module.heap.switched
    return module._replace(ref=base, heap=heap)


def special(frame: Frame, node: ast.AST, value: Value, name: str, arguments: Sequence[Value]) -> Value | None:
    """The result of a special method of an object of the program, such as `__mul__`; None if its class has none."""
    if value.kind is not Kind.OBJECT or value.of_class is None:
        return None
    found = member(frame.machine, value.of_class, name)
    if found is None or found[0].function is None:
        return None
    bound = Value(Kind.BOUND, value.place, Bound(value, found[0].function))
    return frame.machine.call(frame, node, bound, arguments, {})


def class_attribute(machine: Machine, cls: Class, name: str, place: AccessPath) -> Value | None:
    """A member read through an instance: functions become bound, properties stay functions to be called."""
    found = member(machine, cls, name)
    if found is None:
        return None
    value = found[0]
    if value.kind in (Kind.FUNCTION, Kind.MARKED):
        return value
    return value.at(place)._replace(flags=value.flags | Flag.CLASS_ATTRIBUTE)
