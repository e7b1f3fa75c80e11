"""Whether a registration keeps what its class holds: torch takes objects apart and builds others from the parts."""

from __future__ import annotations

import ast
import enum
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts import fields, filtered, idempotence
from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import walk
from nonstrict.findings import Related
from nonstrict.program.contracts.boundary import changed, compared, flatten_order, pytree_support, rebuilt, registered
from nonstrict.program.domain.definitions import Function
from nonstrict.program.domain.effects import reachable, span_of
from nonstrict.program.domain.values import NESTED_CONTAINERS, TENSORS, Kind
from nonstrict.program.objects import classes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.program.contracts.boundary.boundary_values import BoundaryArgument
    from nonstrict.program.contracts.boundary.pytrees import Registration
    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.domain.definitions import Class
    from nonstrict.program.domain.values import Value


class Flaw(enum.Enum):
    """What sort of thing is wrong with a registration, where something can be done about it."""

    NOT_COMPARED = "`__eq__` ignores a field"
    NOT_FLATTENED = "the registered functions leave out a field"
    OTHER = "anything else"


class Fault(NamedTuple):
    """What is wrong with a registration, what follows, and what to do; the `field` that it is about, if it is one."""

    message: str
    note: str
    advice: str
    evidence: tuple[Related, ...] = ()
    flaw: Flaw = Flaw.OTHER
    field: str = ""


def faults(body: Interpreted, argument: BoundaryArgument, registration: Registration) -> Iterator[Fault]:
    """What goes wrong with the registration of an object that is passed to a marked function."""
    if registration.kind == "constant":
        yield from _constant(body, argument, registration)
    elif registration.kind == "dataclass":
        yield from _dataclass(body, argument, registration)
    elif registration.kind == "node":
        yield from _node(body, argument, registration)


# -- constants ----------------------------------------------------------------------------------------------------


def _constant(body: Interpreted, argument: BoundaryArgument, registration: Registration) -> Iterator[Fault]:
    cls = registration.cls
    if fields.is_frozen(cls.node):
        yield Fault(
            f"`{cls.name}` is a frozen dataclass, which torch cannot rebuild as a constant",
            "passing one to a marked function fails to compile",
            "use `@dataclass(unsafe_hash=True)` without `frozen`, or `register_dataclass`",
        )
        return
    tensor = _tensor_field(body, argument, cls)
    if tensor:
        yield Fault(
            f"`{cls.name}` is registered as a constant and holds the tensor `{tensor}`",
            "the tensor is frozen into the graph, which does not compile with inductor",
            "register the class with `register_dataclass` or `register_pytree_node`, so that the tensor is an input",
        )
        return
    ignored = sorted(compared.ignored(body.machine, cls) & _read_names(body))
    if ignored:
        yield Fault(
            f"`__eq__` of `{cls.name}` ignores `{ignored[0]}`",
            f"torch guards a constant by `__eq__` alone, so the first value of `{ignored[0]}` is kept",
            f"compare `{ignored[0]}` in `__eq__` and `__hash__`",
            flaw=Flaw.NOT_COMPARED,
            field=ignored[0],
        )
        return
    if places := _changes(body, argument, cls):
        yield Fault(
            f"`{cls.name}` is registered as a constant, but the project changes its objects",
            "the values of the first call are kept",
            "make a new object for each value, or register the class with `register_dataclass`",
            tuple(places[:3]),
        )


def _tensor_field(body: Interpreted, argument: BoundaryArgument, cls: Class) -> str:
    heaps = [classes.template(body.machine, cls)]
    heaps += [one.heap for one in rebuilt.objects(argument.value, cls) if one.heap is not None]
    for heap in heaps:
        for name, value in heap.attributes.items():
            if any(one.kind in TENSORS for one in value.alternatives()):
                return name
    return ""


def _changes(body: Interpreted, argument: BoundaryArgument, cls: Class) -> list[Related]:
    """Where the project changes objects of a class that may have been passed already."""
    names = compared.stored_fields(_own(cls)) | frozenset(
        name for base in _own(cls) for name in fields.annotated(base.node)
    )
    found = changed.changes(body, argument, cls, names & _read_names(body))
    return [change.related for change in found if not change.early]


# -- dataclasses --------------------------------------------------------------------------------------------------


def _dataclass(body: Interpreted, argument: BoundaryArgument, registration: Registration) -> Iterator[Fault]:
    cls = registration.cls
    read = _read_names(body)
    owner = next((base for base in _own(cls) if fields.method(base.node, "__post_init__")), cls)
    post = fields.method(owner.node, "__post_init__")
    renewed = fields.computed_from_others(post, registration.dropped) if post is not None else frozenset[str]()
    dropped = sorted((registration.dropped - renewed) & read)
    if dropped:
        message = f"the registration of `{cls.name}` drops `{dropped[0]}`"
        yield _lost(dropped[0], message, f"register `{dropped[0]}` as a field")
        return
    declared = {name: value for base in _own(cls) for name, value in fields.annotated(base.node).items()}
    recomputed = frozenset(_set_in(post)) if post is not None else frozenset[str]()
    uninitialised = {name for name, value in declared.items() if fields.option(value, "init") is False}
    outside = sorted((uninitialised - recomputed) & read)
    if outside:
        message = f"`{outside[0]}` of `{cls.name}` is not a parameter of the constructor"
        yield _lost(outside[0], message, f"let `__init__` take `{outside[0]}`")
        return
    again = _runs_again(body, argument, registration, owner, post) if post is not None else None
    if again is not None:
        where = Related(span_of(owner.module.path, owner.offset, again), "computed again here")
        yield Fault(
            f"`__post_init__` of `{cls.name}` runs again on values that it has already changed",
            "torch rebuilds the object inside the marked function by calling the class, and computes with other values",
            "compute in a function that makes the object, and let `__post_init__` only check",
            (where,),
        )
    elif registration.fields is not None and not declared:
        forgotten = sorted((_given_to_init(cls) - registration.fields) & read)
        if forgotten:
            message = f"`{forgotten[0]}` of `{cls.name}` is not among the registered fields"
            yield _lost(forgotten[0], message, f"add `{forgotten[0]}` to `field_names`")


def _runs_again(
    body: Interpreted, argument: BoundaryArgument, registration: Registration, owner: Class, post: FunctionNode
) -> ast.AST | None:
    """What a `__post_init__` changes once more in the object that torch makes of the registered fields."""
    cls = registration.cls
    declared = {name: value for base in reversed(_own(cls)) for name, value in fields.annotated(base.node).items()}
    reset = frozenset(name for name, value in declared.items() if fields.option(value, "init") is False)
    kept = (registration.fields or frozenset(declared)) - registration.dropped - reset
    objects = rebuilt.known_fields(body, argument, cls, declared, reset)
    resolver = rebuilt.resolver_of(body.machine, owner, post)
    return idempotence.changes_again(post, idempotence.Rebuilt(kept, reset, objects), resolver)


def _own(cls: Class) -> list[Class]:
    """The class and its bases in the program."""
    return [base for base in classes.lineage(cls) if not isinstance(base, str)]


def _lost(field: str, message: str, advice: str, flaw: Flaw = Flaw.OTHER) -> Fault:
    note = "the marked function gets an object rebuilt without it: the attribute has its default or is missing"
    return Fault(message, note, advice, flaw=flaw, field=field)


def _set_in(function: FunctionNode) -> Iterator[str]:
    for node in walk(function):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
        elif isinstance(node, ast.Call) and last_name(node) == "__setattr__" and len(node.args) >= 2:
            named = node.args[-2]
            if isinstance(named, ast.Constant):
                yield str(named.value)


# -- nodes with functions of their own ----------------------------------------------------------------------------


def _node(body: Interpreted, argument: BoundaryArgument, registration: Registration) -> Iterator[Fault]:
    cls = registration.cls
    flatten = _function_node(registration.flatten)
    if flatten is None:
        return
    lost = _forgotten(body, argument, registration, flatten)
    if lost:
        message = f"flatten and unflatten of `{cls.name}` lose `{lost}`"
        yield _lost(lost, message, f"flatten `{lost}` too", Flaw.NOT_FLATTENED)
        return
    moved = flatten_order.moved(registration)
    if set(moved) & _read_names(body):
        field, source = next((field, source) for field, source in moved.items() if field in _read_names(body))
        yield Fault(
            f"flatten and unflatten of `{cls.name}` order the children differently",
            f"torch rebuilds the object inside the marked function with the value of `{source}` as `{field}`",
            "flatten the attributes in the order in which the constructor takes them",
        )
        return
    context = _context(body, argument, registration)
    if context:
        yield Fault(
            f"the pytree context of `{cls.name}` holds {context}",
            "torch cannot keep that as a constant: compilation fails",
            "keep plain values in the context, or register the class of the object with `register_constant`",
        )


def _forgotten(body: Interpreted, argument: BoundaryArgument, registration: Registration, flatten: FunctionNode) -> str:
    """A field that the marked function reads and that the registered functions do not keep; "" if there is none."""
    cls = registration.cls
    given = _given_to_init(cls)
    reads = fields.reads(flatten, 0, cls.node)
    carried = given & (reads.names - _ignored_context(flatten, registration))
    if reads.all:
        kept = filtered.kept(flatten)
        listed = flatten_order.listed(body.machine, registration)
        carried = frozenset(name for name in given if kept is None or not kept.leaves_out(name))
        carried = carried if listed is None else given & (listed | reads.names)
    missing = (given - carried) & _read_names(body)
    lost = sorted(name for name in missing if not fields.follows(cls.node, name, carried))
    return lost[0] if lost else _rewritten(body, argument, registration, missing)


def _rewritten(body: Interpreted, argument: BoundaryArgument, registration: Registration, names: frozenset[str]) -> str:
    """One of some fields that the project gives another value than the constructor does, which is lost."""
    rebuild = registration.unflatten
    made_by = rebuild.bound.function if rebuild.bound is not None else rebuild.function
    functions = [one for one in (registration.flatten.function, made_by) if isinstance(one, Function)]
    if not names or len(functions) != 2:
        return ""
    node = functions[1].node
    called = (fields.method(registration.cls.node, last_name(inner)) for inner in walk(node))
    restored = {name for part in (node, *called) if part is not None for name in _set_in(part)}
    inside = [*changed.traced(body), *(span_of(one.module.path, one.offset, one.node) for one in functions)]
    for change in changed.changes(body, argument, registration.cls, names - restored):
        if not any(changed.within(change.related.span, span) for span in inside):
            return min(change.fields)
    return ""


def _function_node(value: Value) -> FunctionNode | None:
    if value.function is not None:
        return value.function.node
    if value.bound is not None and isinstance(value.bound.function, Function):
        return None  # a class method: its first parameter is the class
    return None


def _ignored_context(flatten: FunctionNode, registration: Registration) -> set[str]:
    """The fields that are put into the context, if the function that rebuilds the object does not look at it."""
    rebuild = _function_node(registration.unflatten)
    if rebuild is None:
        return set()
    arguments = [*rebuild.args.posonlyargs, *rebuild.args.args]
    if len(arguments) < 2:
        return set()
    body = rebuild.body if isinstance(rebuild.body, list) else [rebuild.body]
    name = arguments[1].arg
    used = any(isinstance(node, ast.Name) and node.id == name for part in body for node in walk(part))
    if used:
        return set()
    ends = [node.value for node in walk(flatten) if isinstance(node, ast.Return)]
    ends += [flatten.body] if isinstance(flatten, ast.Lambda) else []
    found: set[str] = set()
    for end in ends:
        if isinstance(end, ast.Tuple) and len(end.elts) == 2:
            children = {node.attr for node in walk(end.elts[0]) if isinstance(node, ast.Attribute)}
            found |= {node.attr for node in walk(end.elts[1]) if isinstance(node, ast.Attribute)} - children
    return found


def _given_to_init(cls: Class) -> frozenset[str]:
    return frozenset(fields.set_by_init(cls.node)) | frozenset(fields.annotated(cls.node))


def _context(body: Interpreted, argument: BoundaryArgument, registration: Registration) -> str:
    """What in the context of a flattened object torch cannot keep; "" if nothing is known to be."""
    machine, cls = body.machine, registration.cls
    frame = machine.module_frame(cls.module)
    for one in rebuilt.objects(argument.value, cls):
        flat = machine.call(frame, registration.node, registration.flatten, [one], {})
        context = flat.heap.load(1) if flat.kind is Kind.TUPLE and flat.heap is not None else None
        found = _unkeepable(body, context) if context is not None else ""
        if found:
            return found
    return ""


def _unkeepable(body: Interpreted, value: Value, depth: int = 0) -> str:
    if value.kind in TENSORS:
        return "a tensor"
    if value.kind is Kind.MODULE:
        return "a module"
    if value.kind is Kind.NUMPY:
        return "a NumPy value"
    if value.kind is Kind.OBJECT and value.of_class is not None and not registered.is_named_tuple(value.of_class):
        known = registered.registrations(body.machine, value.of_class)
        constant = known is None or any(one.kind == "constant" for one in known)
        return "" if constant else f"an object of the class `{value.of_class.name}`"
    if depth < NESTED_CONTAINERS:
        for element in pytree_support.elements(value):
            found = _unkeepable(body, element, depth + 1)
            if found:
                return found
    return ""


# -- what the body reads ------------------------------------------------------------------------------------------


def _read_names(body: Interpreted) -> frozenset[str]:
    """The attributes that the marked function, and what it calls, read."""
    function = body.mark.function
    nodes = [function.node] if function is not None else []
    called = (reached.summary.definition for reached in reachable(body.summary))
    nodes += [definition.node for definition in called if definition is not None]
    return frozenset(
        inner.attr
        for node in nodes
        for inner in walk(node)
        if isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Load)
    )
