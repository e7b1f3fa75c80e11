"""Registers classes with torch's pytrees, in the way that loses nothing of their objects and that torch takes."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts import fields
from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import walk
from nonstrict.findings import Applicability, Edit, Fix
from nonstrict.fixes.boundary.crossing import without_argument
from nonstrict.fixes.code.edits import after, with_condition
from nonstrict.fixes.code.names import imported, spelled
from nonstrict.fixes.marks.outside import taken_out
from nonstrict.program.contracts.boundary import soundness
from nonstrict.program.contracts.boundary.boundary_values import BoundaryArgument
from nonstrict.program.contracts.boundary.pytree_support import Boundary, Crossing
from nonstrict.program.contracts.boundary.pytrees import Registration, Registrations
from nonstrict.program.contracts.boundary.soundness import Flaw
from nonstrict.program.domain.values import Kind
from nonstrict.program.objects import classes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.fixes.code.documents import Document
    from nonstrict.fixes.context import Context
    from nonstrict.program.domain.definitions import Class
    from nonstrict.program.domain.values import Value

_PYTREE = "torch.utils._pytree"


class Way(NamedTuple):
    """One way to register a class: the code that does, and how far it can be trusted."""

    function: str
    lines: tuple[str, ...]
    applicability: Applicability
    edits: tuple[Edit, ...] = ()


# -- classes that nothing registers -----------------------------------------------------------------------------------


def register_argument(context: Context) -> Iterator[Fix]:
    """Register the class of an argument; `allow_in_graph` takes no objects, registered or not."""
    if context.body.marker == "in-graph":
        return
    for argument in context.body.boundary_arguments:
        refused = argument.refused
        if argument.span == context.finding.span and refused is not None and refused.cls is not None:
            yield from _registered(context, refused.cls, argument, constant=not argument.made)
            return


def register_result(context: Context) -> Iterator[Fix]:
    """Register the class of a result, or register it as something else than a constant."""
    for result in context.body.boundary_results:
        refused = result.refused
        if result.span != context.finding.span or refused is None or refused.cls is None:
            continue
        argument = BoundaryArgument(result.span, "", result.value, refused)
        if refused.crossing is Crossing.CONSTANT:
            call = _constant_registration(context, refused.cls)
            if call is not None:
                yield from _registered_otherwise(context, refused.cls, argument, *call)
        elif refused.crossing is Crossing.UNREGISTERED:
            yield from _registered(context, refused.cls, argument, constant=False)
        return


def _registered(context: Context, cls: Class, argument: BoundaryArgument, *, constant: bool) -> Iterator[Fix]:
    found = context.class_definition(cls)
    if found is None or not isinstance(found[0].parent(found[1]), ast.Module):
        return
    document, node = found
    way = _way(context, document, cls, argument, constant=constant)
    added = after(document, node, ["", "", *way.lines]) if way is not None else None
    if way is not None and added is not None:
        title = f"Register `{cls.name}` with `{way.function}`"
        yield Fix(title, way.applicability, (added, *way.edits))


def _way(context: Context, document: Document, cls: Class, argument: BoundaryArgument, *, constant: bool) -> Way | None:
    """How to register a class so that nothing is lost and torch takes its parts."""
    if _is_dataclass(cls):
        return _as_dataclass(context, document, cls, argument)
    if constant and _is_constant(context, cls, argument):
        return _simply(document, cls, "register_constant")
    return _as_node(context, document, cls, argument)


def _simply(document: Document, cls: Class, function: str) -> Way:
    spelling = spelled(document, f"{_PYTREE}.{function}")
    # Who imports a file that does without torch would need it from then on.
    sure = Applicability.SAFE if _imports_torch(document) else Applicability.UNSAFE
    return Way(function, (f"{spelling.text}({cls.name})",), sure, spelling.edits)


def _imports_torch(document: Document) -> bool:
    return any(name.partition(".")[0] == "torch" for name in imported(document).values())


def _is_dataclass(cls: Class) -> bool:
    return any(last_name(decorator) == "dataclass" for decorator in cls.node.decorator_list)


def _as_dataclass(context: Context, document: Document, cls: Class, argument: BoundaryArgument) -> Way | None:
    registration = Registration("dataclass", cls, cls.module.path, cls.offset, cls.node)
    faults = list(soundness.faults(context.body, argument, registration))
    own = [base for base in classes.lineage(cls) if not isinstance(base, str)]
    names = frozenset(name for base in own for name in fields.annotated(base.node))
    if faults or not all(map(_is_dataclass, own)) or _refused_field(context, argument, names):
        return None
    return _simply(document, cls, "register_dataclass")


def _is_constant(context: Context, cls: Class, argument: BoundaryArgument) -> bool:
    """Whether objects of a class are values without tensors that compare by all that they hold."""
    own = {statement.name for statement in cls.node.body if isinstance(statement, ast.FunctionDef)}
    if not {"__eq__", "__hash__"} <= own:
        return False
    registration = Registration("constant", cls, cls.module.path, cls.offset, cls.node)
    return not list(soundness.faults(context.body, argument, registration))


def _refused_field(context: Context, argument: BoundaryArgument, names: frozenset[str]) -> bool:
    """Whether torch refuses what an object surely holds in one of its fields."""
    judge = Boundary(context.machine, context.body.marker, context.body.torch)
    for value in argument.value.alternatives():
        for name, field in value.heap.attributes.items() if value.heap is not None else ():
            if name in names and field.kind is not Kind.NONE and judge.argument(field) is not None:
                return True
    return False


# -- classes that are taken apart field by field ----------------------------------------------------------------------


def _as_node(context: Context, document: Document, cls: Class, argument: BoundaryArgument) -> Way | None:
    held = _held(context, cls, argument)
    if held is None:
        return None
    spelling = spelled(document, f"{_PYTREE}.register_pytree_node")
    name = _snake(cls.name)
    step = document.step
    parts = ", ".join(f"{name}.{field}" for field in held)
    lines = (
        f"def _flatten_{name}({name}):",
        f"{step}return [{parts}], None",
        "",
        "",
        f"def _unflatten_{name}(values, _):",
        f"{step}{name} = {cls.name}.__new__({cls.name})",
        f"{step}{f'({parts},)' if len(held) == 1 else parts} = values",
        f"{step}return {name}",
        "",
        "",
        f"{spelling.text}({cls.name}, _flatten_{name}, _unflatten_{name})",
    )
    if f"_flatten_{name}" in document.code or f"_unflatten_{name}" in document.code:
        return None
    return Way("register_pytree_node", lines, Applicability.UNSAFE, spelling.edits)


def _held(context: Context, cls: Class, argument: BoundaryArgument) -> list[str] | None:
    """The attributes of the objects of a plain class; None where they cannot be told, or torch refuses one."""
    node = cls.node
    plain = not node.bases and not node.decorator_list and not node.keywords
    given = fields.set_by_init(node)
    names = sorted(given, key=lambda name: (given[name].lineno, given[name].col_offset))
    if not plain or not names or any(_binds(statement, "__slots__") for statement in node.body):
        return None
    if not _stored_by(node) <= set(names):
        return None
    attributes = _attributes(argument)
    if attributes is None or not set(attributes) <= set(names):
        return None
    judge = Boundary(context.machine, context.body.marker, context.body.torch)
    for name in names:
        value = attributes.get(name)
        kinds = {one.kind for one in value.alternatives()} if value is not None else set[Kind]()
        if value is not None and (Kind.MODULE in kinds or judge.argument(value) is not None):
            return None
    return names


def _attributes(argument: BoundaryArgument) -> dict[str, Value] | None:
    """What the object that is passed is known to hold; None where it is one of several kinds of objects."""
    value = argument.value
    if value.kind is not Kind.OBJECT:
        return None
    return dict(value.heap.attributes) if value.heap is not None else {}


def _stored_by(node: ast.ClassDef) -> set[str]:
    """The attributes that the methods of a class set on their first parameter."""
    found: set[str] = set()
    for method in (one for one in node.body if isinstance(one, ast.FunctionDef) and one.args.args):
        own = method.args.args[0].arg
        for inner in walk(method):
            stores = isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Store)
            if stores and isinstance(inner, ast.Attribute) and getattr(inner.value, "id", "") == own:
                found.add(inner.attr)
    return found


def _binds(statement: ast.stmt, name: str) -> bool:
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    return any(getattr(target, "id", "") == name for target in targets)


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().strip("_")


# -- registrations that lose something --------------------------------------------------------------------------------


def repair(context: Context) -> Iterator[Fix]:
    """Make a registration keep what it loses, or register the class in another way."""
    for argument in context.body.boundary_arguments:
        for registration in argument.registrations:
            if registration.span == context.finding.span:
                yield from _repaired(context, argument, registration)
                return


def _repaired(context: Context, argument: BoundaryArgument, registration: Registration) -> Iterator[Fix]:
    document = context.document
    call = document.at(registration.span, ast.Call) if document is not None else None
    if document is None or call is None:
        return
    if registration.kind == "dataclass":
        yield from _all_fields(context, document, call, argument, registration)
    elif registration.kind == "constant":
        faults = list(soundness.faults(context.body, argument, registration))
        if faults and faults[0].flaw is Flaw.NOT_COMPARED:
            yield from _compared(context, registration.cls, faults[0].field)
        else:
            yield from _registered_otherwise(context, registration.cls, argument, document, call)
    elif registration.kind == "node" and _loses_a_field(context, argument, registration):
        yield from _registered_otherwise(context, registration.cls, argument, document, call)


def _loses_a_field(context: Context, argument: BoundaryArgument, registration: Registration) -> bool:
    faults = soundness.faults(context.body, argument, registration)
    return any(fault.flaw is Flaw.NOT_FLATTENED for fault in faults)


def _all_fields(
    context: Context, document: Document, call: ast.Call, argument: BoundaryArgument, registration: Registration
) -> Iterator[Fix]:
    """A dataclass of which no field is dropped."""
    dropping = next((one for one in call.keywords if one.arg == "drop_field_names"), None)
    whole = registration._replace(dropped=frozenset(), fields=None)
    if dropping is None or list(soundness.faults(context.body, argument, whole)):
        return
    if _refused_field(context, argument, registration.dropped):
        return
    edits = [edit for edit in (without_argument(document, call, dropping),) if edit is not None]
    named = next((one for one in call.keywords if one.arg == "field_names"), None)
    if named is not None:
        if not isinstance(named.value, (ast.List, ast.Tuple)) or not named.value.elts:
            return
        last = document.bounds(named.value.elts[-1])[1]
        more = "".join(f', "{name}"' for name in sorted(registration.dropped))
        edits.append(Edit(document.range(last, last), more))
    kept = ", ".join(f"`{name}`" for name in sorted(registration.dropped))
    yield Fix(f"Register {kept} too", Applicability.SAFE, tuple(edits))


def _compared(context: Context, cls: Class, field: str) -> Iterator[Fix]:
    """An `__eq__` that compares one more field."""
    found = context.class_definition(cls)
    compares = fields.method(found[1], "__eq__") if found is not None else None
    if found is None or compares is None or len(compares.args.args) != 2:
        return
    document = found[0]
    last = compares.body[-1]
    conjunction = isinstance(last, ast.Return) and (
        isinstance(last.value, ast.Compare)
        or (isinstance(last.value, ast.BoolOp) and isinstance(last.value.op, ast.And))
    )
    if not conjunction or not isinstance(last, ast.Return) or last.value is None:
        return
    mine, other = (one.arg for one in compares.args.args)
    edit = with_condition(document, last.value, f"{other}.{field} == {mine}.{field}")
    yield Fix(f"Compare `{field}` in `__eq__`", Applicability.UNSAFE, (edit,))


def _registered_otherwise(
    context: Context, cls: Class, argument: BoundaryArgument, document: Document, call: ast.Call
) -> Iterator[Fix]:
    """Another registration in place of one: that of a dataclass, or one that keeps every attribute."""
    statement = document.parent(call)
    if not isinstance(statement, ast.Expr) or not isinstance(document.parent(statement), ast.Module):
        return
    way = _way(context, document, cls, argument, constant=False)
    if way is None or (_is_dataclass(cls) and last_name(call) == way.function):
        return
    edit = Edit(document.span(statement), "\n".join(way.lines))
    gone = _unused_functions(document, call)
    yield Fix(f"Register `{cls.name}` with `{way.function}`", Applicability.UNSAFE, (edit, *gone, *way.edits))


def _unused_functions(document: Document, call: ast.Call) -> Iterator[Edit]:
    """The edits that take out the functions of a registration that nothing else uses."""
    names = [node.id for node in document.of(ast.Name)]
    given = (*call.args[1:], *(keyword.value for keyword in call.keywords))
    alone = {one.id for one in given if isinstance(one, ast.Name) and names.count(one.id) == 1}
    for statement in document.tree.body:
        if isinstance(statement, ast.FunctionDef) and statement.name in alone:
            edit = taken_out(document, statement)
            if edit is not None:
                yield edit


def _constant_registration(context: Context, cls: Class) -> tuple[Document, ast.Call] | None:
    for registration in context.machine.part(Registrations).of.get(cls, []):
        document = context.documents.document(registration.path)
        call = document.at(registration.span, ast.Call) if document is not None else None
        if registration.kind == "constant" and document is not None and call is not None:
            return document, call
    return None
